"""The stages from a function to its derivative: each printable, each callable.

Contract: stages are in the order of the pipeline. Up to differentiation every stage returns exactly the
result of the function.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import IO, Any

from .derivatives.argnums import Argnums
from .derivatives.derivative import Derivative
from .derivatives.generator import Generator, Request
from .derivatives.unwrap import Target
from .derivatives.variadic import fixed, is_variadic, nothing_for
from .runtime.border import at_border
from .source.compiling import make_function
from .source.locate import GENERATED
from .source.read import FunctionSource, read_source
from .tools.highlight import for_terminal, takes_colours
from .tools.html_page import Listing, Stored, page, page_in_frame
from .transforms import NORMALISE
from .transforms.errors import NonDifferentiableError
from .transforms.trees.printer import to_source_with_places
from .transforms.trees.program import Program

__all__ = ["Explanation", "Stage", "explain"]

FORMS = ("grad", "value_and_grad", "vjp", "jvp")
OTHERS = ("defer_refusals", "closures_to_objects", "inline_calls", "to_ssa", "lower_augmented")
PRIMAL = frozenset({*OTHERS, *(step.__name__ for step in NORMALISE)})


@dataclass(frozen=True, repr=False)
class Stage:
    """The function after one pass; `is_primal` if it still returns the result of the function. `lines` are
    the lines of the user's file that lines of the source come from.
    """

    name: str
    source: str
    function: Callable[..., Any]
    is_primal: bool
    lines: Mapping[int, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"<stage {self.name}>"


@dataclass(frozen=True, repr=False)
class Explanation:
    """All stages, by the name of the pass; the text of the function, and the number of its first line in its
    file. Notebooks show it as a page.
    """

    stages: Mapping[str, Stage]
    original: str = ""
    first: int = 1

    @property
    def derivative(self) -> Stage:
        """The last stage."""
        return list(self.stages.values())[-1]

    def __repr__(self) -> str:
        made = self.derivative.function.__name__
        return f"<{len(self.stages)} stages to {made}: print it, or see `stages`>"

    def __str__(self) -> str:
        return "\n".join(f"# {name}\n{stage.source}" for name, stage in self.stages.items())

    def show(self, file: IO[str] | None = None) -> None:
        """Prints all stages, with colours in a terminal that shows them."""
        out = sys.stdout if file is None else file
        text = str(self)
        print(for_terminal(text) if takes_colours(out, dict(os.environ)) else text, file=out)

    def html(self) -> str:
        """A page of HTML, which loads nothing: the function beside its derivative, linked statement by
        statement, what is stored and why, the helpers that it calls, and each stage.
        """
        last, statements = self.derivative, _Statements(self.original, self.first)
        own = {line - self.first + 1: owner for line, owner in statements.owners.items()}
        sides = [
            Listing("the function", self.original, own, self.first),
            Listing("its derivative", last.source, statements.links(last)),
        ]
        stages = [Listing(name, stage.source, statements.links(stage)) for name, stage in self.stages.items()]
        stored = _stored(last.source, sides[1].links)
        return page(last.function.__qualname__, sides, stored, _called(last.function), stages)

    def _repr_html_(self) -> str:
        return page_in_frame(self.html())


class _Statements:
    """The statements of a function's text, whose first line is `first` in its file. `owners` are, by line of
    the file, the first lines of the innermost statements there, and `parents` those of the statements around.
    """

    def __init__(self, source: str, first: int) -> None:
        self.owners: dict[int, int] = {}
        self.parents: dict[int, int] = {}
        try:
            tree = ast.parse(source)
        except SyntaxError:  # a lambda within a longer statement
            self.owners = dict.fromkeys(range(first, first + source.count("\n") + 1), first)
            return
        for outer in tree.body:
            self._note(getattr(outer, "body", [outer]), first - 1, None)

    def _note(self, body: list[ast.stmt], before: int, parent: int | None) -> None:
        for s in body:
            own = s.lineno + before
            for line in range(own, (s.end_lineno or s.lineno) + before + 1):
                self.owners[line] = own
            if parent is not None:
                self.parents[own] = parent
            for part in (s, *getattr(s, "handlers", ()), *getattr(s, "cases", ())):
                for name in ("body", "orelse", "finalbody"):
                    self._note(getattr(part, name, None) or [], before, own)

    def links(self, stage: Stage) -> dict[int, int]:
        """The statements that the lines of a stage belong to. A comment belongs to what follows it; so does
        the head of a loop or branch, whose statement is the one around.
        """
        found: dict[int, int] = {}
        lines = stage.source.split("\n")
        following: int | None = None
        for number in range(len(lines), 1, -1):  # the first line is the signature
            text = lines[number - 1].strip()
            if text.endswith(":") and not text.startswith("#"):
                around = self.parents.get(following or 0)
                if around is not None and not text.startswith(("else", "def")):
                    found[number] = following = around
                continue
            if text and not text.startswith("#"):
                following = self.owners.get(stage.lines.get(number, 0))
            if text and following is not None:
                found[number] = following
        return found


def _stored(source: str, links: Mapping[int, int]) -> list[Stored]:
    """The values that the forward sweep of a derivative leaves for the reverse sweep."""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    comments = [k for k, line in enumerate(source.split("\n"), 1) if line.lstrip().startswith("#")]
    inner = [s.lineno for s in function.body if isinstance(s, ast.FunctionDef)]
    start = min([*comments, *inner], default=0)  # of the reverse sweep
    return list(_Sweeps(function, start, links).stored()) if start else []


class _Sweeps:
    """A derivative in reverse mode: what is before the line `start` is its forward sweep."""

    def __init__(self, function: ast.FunctionDef, start: int, links: Mapping[int, int]) -> None:
        self.function, self.start, self.links = function, start, links
        self.names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
        self.made: dict[str, tuple[int, str]] = {}  # the line and the expression of each value
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and node.lineno < start:
                for target in node.targets:
                    name, value = ast.unparse(target), ast.unparse(node.value)
                    if value != "None":
                        self.made.setdefault(name, (node.lineno, value))

    def stored(self) -> Iterator[Stored]:
        args = self.function.args
        parameters = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        for name in dict.fromkeys([*parameters, *sorted(self.made, key=lambda n: self.made[n][0])]):
            appended = list(self.appended(name))
            if appended:
                yield from self.in_trace(name, appended)
                continue
            after = [n for n in self.names if n.id == name and n.lineno > self.start]
            readers = self.readers(n.lineno for n in after)
            if readers and not any(isinstance(n.ctx, ast.Store) for n in after):
                yield self.value(name, False, readers)

    def value(self, name: str, is_per_turn: bool, readers: tuple[int, ...]) -> Stored:
        line, expression = self.made.get(name, (0, ""))
        return Stored(name, expression, is_per_turn, self.links.get(line), readers)

    def readers(self, lines: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted({self.links[line] for line in lines if line in self.links}))

    def appended(self, trace: str) -> Iterator[ast.expr]:
        """What a loop appends to a trace each turn."""
        for node in ast.walk(self.function):
            match node:
                case ast.Call(ast.Attribute(ast.Name(id=name), "append"), [value]) if name == trace:
                    yield value

    def in_trace(self, trace: str, appended: list[ast.expr]) -> Iterator[Stored]:
        """The values in a trace, which a loop of the reverse sweep unpacks."""
        for loop in ast.walk(self.function):
            if not isinstance(loop, ast.For) or trace not in names_in(loop.iter):
                continue
            targets = names_in(loop.target)
            for kept in appended:
                values = kept.elts if isinstance(kept, ast.Tuple) else [kept]
                for value, target in zip(values, targets[-len(values) :], strict=False):
                    inner = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name)]
                    readers = self.readers(n.lineno for n in inner if n.id == target)
                    yield self.value(ast.unparse(value), True, readers)


def _called(function: Callable[..., Any]) -> list[Listing]:
    """The texts of the functions that a derivative calls and that are not the user's: derivatives of other
    functions, with those that they call, and helpers.
    """
    found: dict[str, Listing] = {}
    waiting = [function]
    for made in waiting:
        cells = getattr(made, "__closure__", None) or ()
        for name, cell in zip(made.__code__.co_freevars, cells, strict=True):
            called = getattr(cell, "cell_contents", None)
            if not isinstance(called, FunctionType) or called in waiting:
                continue
            is_generated = called.__code__.co_filename.startswith(GENERATED)
            if is_generated or called.__module__.partition(".")[0] == __package__:
                found.setdefault(called.__name__, Listing(name, inspect.getsource(called), {}))
                waiting += [called] if is_generated else []
    return [*found.values()]


def names_in(node: ast.AST) -> list[str]:
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]


@at_border
def explain(f: Callable[..., Any], *args: Any, argnums: Argnums = 0, form: str = "grad") -> Explanation:
    """The stages from `f` to its derivative: to the code for these arguments, or without any to the
    code that `source` shows.

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
    original, first = _text_of(read_source(plain))
    return Explanation(
        {name: _stage(name, program, plain, target, generator) for name, program in found.items()},
        original,
        first,
    )


def _text_of(source: FunctionSource) -> tuple[str, int]:
    """The text of a function in its file, and the number of its first line."""
    tree = source.tree
    lines = source.lines[tree.lineno - 1 : tree.end_lineno]
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return "\n".join(line[min(indents, default=0) :] for line in lines), tree.lineno


def _stage(name: str, program: Program, plain: FunctionType, target: Target, generator: Generator) -> Stage:
    (source, places), is_primal = to_source_with_places(program.tree), name in PRIMAL
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
    lines = {k: place[0] for k, (place, *_) in places.items() if place is not None}
    return Stage(name, source, function, is_primal, lines)
