"""The stages from a function to its derivative: each printable, each callable.

Contract: stages are in the order of the pipeline. Up to differentiation every stage returns exactly the
result of the function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from .derivatives.argnums import Argnums
from .derivatives.derivative import Derivative
from .derivatives.generator import Generator, Request
from .derivatives.unwrap import Target
from .derivatives.variadic import fixed, is_variadic, nothing_for
from .runtime.border import at_border
from .source.compiling import make_function
from .transforms import NORMALISE
from .transforms.errors import NonDifferentiableError
from .transforms.trees.printer import to_source
from .transforms.trees.program import Program

__all__ = ["Explanation", "Stage", "explain"]

FORMS = ("grad", "value_and_grad", "vjp", "jvp")
PRIMAL = frozenset(
    {"defer_refusals", *(step.__name__ for step in NORMALISE), "inline_calls", "to_ssa", "lower_augmented"}
)


@dataclass(frozen=True, repr=False)
class Stage:
    """The function after one pass; `is_primal` if it still returns the result of the function."""

    name: str
    source: str
    function: Callable[..., Any]
    is_primal: bool

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"<stage {self.name}>"


@dataclass(frozen=True, repr=False)
class Explanation:
    """All stages, by the name of the pass."""

    stages: Mapping[str, Stage]

    def __repr__(self) -> str:
        made = list(self.stages.values())[-1].function.__name__
        return f"<{len(self.stages)} stages to {made}: print it, or see `stages`>"

    def __str__(self) -> str:
        return "\n".join(f"# {name}\n{stage.source}" for name, stage in self.stages.items())


@at_border
def explain(f: Callable[..., Any], *args: Any, argnums: Argnums = 0, form: str = "grad") -> Explanation:
    """The stages from `f` to its derivative: to the code for these arguments, or without any to the generic
    code.

    `form` is the transform, "grad", "value_and_grad", "vjp" or "jvp", with its `argnums`. Raises the same
    errors.

    >>> stages = explain(lambda x: 3 * x ** 2).stages
    >>> print(stages["to_anf"].source, end="")
    def lambda_(x):
        out_1 = x ** 2
        out = 3 * out_1
        return out
    >>> stages["to_anf"].function(2.0)
    12.0
    """
    if form not in FORMS:
        instead = f"name one of {', '.join(FORMS)}"
        raise NonDifferentiableError(f"form={form!r} is no transform", instead=instead)
    found: dict[str, Program] = {}

    def watch(name: str, program: Program) -> None:
        if name == "defer_refusals":  # generation starts again
            found.clear()
        found[name] = program

    generator = Generator(watch=watch)
    if is_variadic(f):
        f = fixed(f, args or nothing_for(f), {}).function
    target = Derivative(f, form, argnums, writes=True).generate_with(generator, args or None)
    plain = generator.first.function
    return Explanation(
        {name: _stage(name, program, plain, target, generator) for name, program in found.items()}
    )


def _stage(name: str, program: Program, plain: FunctionType, target: Target, generator: Generator) -> Stage:
    source, is_primal = to_source(program.tree), name in PRIMAL
    bindings = {
        k: generator.made[v].function if isinstance(v, Request) else v for k, v in program.bindings.items()
    }
    has_defaults = is_primal or generator.first.form != "jvp"  # tangents stand behind the arguments
    function: Callable[..., Any] = make_function(
        source,
        program.tree.name,
        program.scope,
        bindings,
        plain.__defaults__ if has_defaults else None,
        plain.__kwdefaults__ if has_defaults else None,
        like=plain,
    )
    if is_primal and (target.args or target.keywords):
        function = functools.partial(function, *target.args, **dict(target.keywords))
    return Stage(name, source, function, is_primal)
