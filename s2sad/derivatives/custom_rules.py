"""The derivatives of functions with a rule of the user's, as functions that call the rule.

Contract: `by_rule` gives what a generator would: `f_fprop(*args)` returns `(out, bprop)`, `f_jvp(*args,
*tangents)` returns `(out, tangent)`. They are plain Python, so that they can be differentiated again.

A rule without a part for one mode gives it by transposition: what it does to a cotangent (or to tangents) is
linear, so the derivative of that, once more, is its transpose.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from types import FunctionType
from typing import Any

from ..primitives.provided import provide, provided
from ..primitives.record import Rule, stands_in
from ..primitives.template import Template
from ..runtime.adjoints import zeros_like
from ..runtime.custom_rules import (
    Expected,
    check_forward,
    gradient_of,
    outline,
    pairing,
    tangent_of,
    zero_tangent,
)
from ..runtime.records import snapshot_of
from ..source.compiling import make_function
from ..source.forwarders import forwarder
from ..source.read import read_source
from ..transforms.analyses.template_slots import differentiable_slots
from ..transforms.errors import MissingRuleError, NonDifferentiableError, NoSourceError
from ..transforms.trees.program import Names, Scope
from ..values.custom_rule import CustomRule, give_rule
from .argnums import plain_parameters, plain_signature

__all__ = ["by_rule", "forwarding", "is_readable"]

Function = Callable[..., Any]
HELPERS = {
    f.__name__: f
    for f in (snapshot_of, check_forward, gradient_of, outline, pairing, tangent_of, zero_tangent, zeros_like)
}


def by_rule(
    rule: CustomRule,
    form: str,
    wrt: Sequence[str],
    is_bare: bool,
    expected: Expected,
    outlived: bool = False,
) -> FunctionType:
    """The derivative of the rule's function by the parameters `wrt`, in the form "vjp" or "jvp". With
    `outlived`, the objects that it is given may be changed before `bprop` is called.
    """
    return Writer(rule, tuple(wrt), is_bare, expected, outlived).written(form)


class Writer:
    """Writes the derivatives by one rule."""

    def __init__(
        self,
        rule: CustomRule,
        wrt: tuple[str, ...],
        is_bare: bool,
        expected: Expected,
        outlived: bool = False,
    ) -> None:
        self.rule, self.wrt, self.is_bare, self.outlived = rule, wrt, is_bare, outlived
        self.parameters = plain_parameters(plain_signature(rule.function), rule.function)
        code = rule.function.__code__
        self.by_position = self.parameters[: code.co_argcount]
        self.by_name = self.parameters[code.co_argcount :]
        self.names = Names(self.parameters)
        stem = rule.function.__name__
        self.stem = self.names.fresh(stem if stem.isidentifier() else "function")
        self.bindings: dict[str, Any] = {}
        self.expected = expected
        self.helpers = {name: self.bind(name, helper) for name, helper in HELPERS.items()}
        self.out, self.dout = self.names.fresh("out"), self.names.fresh("dout")
        self.residuals = self.names.fresh("residuals")
        self.made = self.names.fresh("made")
        self.tangents = {p: self.names.fresh(f"d{p}") for p in self.parameters}
        self.outlines = {p: self.names.fresh(f"{p}_outline") for p in wrt}

    def bind(self, name: str, value: Any) -> str:
        """A free name of the text that means `value`."""
        found = self.names.fresh(name)
        self.bindings[found] = value
        return found

    def helper(self, name: str, *args: str) -> str:
        return f"{self.helpers[name]}({', '.join(args)})"

    def written(self, form: str) -> FunctionType:
        constant = [p for k, p in enumerate(self.parameters) if k in self.rule.constants and p in self.wrt]
        if constant:
            raise NonDifferentiableError(
                f"the argument `{constant[0]}` of {self.rule.name} carries a derivative",
                why="the rule of the function names it among those that carry none",
                instead="pass a constant, or leave it out of nondiff_argnums",
            )
        if self.rule.forward is self.rule.push is None:
            raise MissingRuleError(
                f"{self.rule.name} has no derivative yet",
                why="its derivative is declared after the function",
                instead="call its defvjp, or its defjvp, first",
            )
        if form == "vjp":
            return self.fprop() if self.rule.backward is not None else self.transposed_fprop()
        return self.push() if self.rule.push is not None else self.transposed_push()

    # ------------------------------------------------------------ parts of texts

    def listed(self) -> str:
        """The parameters of a definition."""
        return ", ".join([*self.by_position, *(["*", *self.by_name] if self.by_name else [])])

    def passed(self) -> str:
        """The arguments of a call."""
        return ", ".join([*self.by_position, *(f"{p}={p}" for p in self.by_name)])

    def function(self, name: str, lines: list[str], parameters: str | None = None) -> FunctionType:
        given = self.listed() if parameters is None else parameters
        body = "".join(f"    {line}\n" for line in lines)
        text = f"def {name}({given}):\n{body}"
        own = self.rule.function
        defaults = (own.__defaults__, own.__kwdefaults__) if parameters is None else (None, None)
        return make_function(text, name, Scope({}), self.bindings, *defaults, like=own)

    def checked(self, call: str, second: str) -> list[str]:
        """Statements that call a rule, and bind the two things that it returns."""
        args = f"({''.join(f'{p}, ' for p in self.parameters)})"
        expected = self.bind("expected", self.expected)
        return [
            f"{self.made} = {call}",
            self.helper("check_forward", self.made, repr(self.rule.name), expected, args),
            f"{self.out}, {second} = {self.made}",
        ]

    def outlined(self) -> list[str]:
        found = {o: self.helper("outline", p) for p, o in self.outlines.items()}
        if self.outlived:
            found = {o: self.helper("snapshot_of", outline) for o, outline in found.items()}
        return [f"{o} = {outline}" for o, outline in found.items()]

    def cotangents(self) -> FunctionType:
        """The gradients of the arguments `wrt`, as a function of residuals, cotangent and outlines."""
        rule, count = self.rule, len(self.parameters)
        gradients = self.names.fresh("gradients")
        backward = self.bind(f"{self.stem}_backward", rule.backward)
        places = [(str(self.parameters.index(p)), str(count), o, p) for p, o in self.outlines.items()]
        found = [
            self.helper("gradient_of", gradients, k, n, o, repr(rule.name), repr(p)) for k, n, o, p in places
        ]
        lines = [f"{gradients} = {backward}({self.residuals}, {self.dout})", self.returned(found)]
        given = ", ".join([self.residuals, self.dout, *self.outlines.values()])
        return self.function(f"{self.stem}_cotangents", lines, given)

    def returned(self, found: list[str]) -> str:
        return f"return {found[0] if self.is_bare else '(' + ''.join(f'{t}, ' for t in found) + ')'}"

    # ------------------------------------------------------------ the derivatives

    def fprop(self) -> FunctionType:
        forward = self.bind(f"{self.stem}_forward", self.rule.forward)
        cotangents = self.bind(f"{self.stem}_cotangents", self.cotangents())
        bprop = self.names.fresh(f"{self.stem}_bprop")
        given = ", ".join([self.residuals, self.dout, *self.outlines.values()])
        kept = [f"{self.residuals} = {self.helper('snapshot_of', self.residuals)}"] if self.outlived else []
        lines = [
            *self.checked(f"{forward}({self.passed()})", self.residuals),
            *kept,
            *self.outlined(),
            f"def {bprop}({self.dout}):",
            f"    return {cotangents}({given})",
            f"return {self.out}, {bprop}",
        ]
        return self.function(f"{self.stem}_fprop", lines)

    def push(self) -> FunctionType:
        push = self.bind(f"{self.stem}_push", self.rule.push)
        given = [
            self.tangents[p] if p in self.wrt else self.helper("zero_tangent", p)
            for k, p in enumerate(self.parameters)
            if k not in self.rule.constants
        ]
        tangent = self.helper("tangent_of", self.dout, self.out, repr(self.rule.name))
        lines = [
            *self.checked(f"{push}({', '.join([*self.parameters, *given])})", self.dout),
            f"return {self.out}, {tangent}",
        ]
        return self.function(f"{self.stem}_jvp", lines, self.with_tangents())

    def with_tangents(self) -> str:
        return ", ".join([*self.parameters, *(self.tangents[p] for p in self.wrt)])

    def transposed_push(self) -> FunctionType:
        """Forward mode from the backward part: `J v` is the gradient of `<J' dout, v>` by `dout`."""
        forward = self.bind(f"{self.stem}_forward", self.rule.forward)
        self.is_bare = False  # of the cotangents; the tangent is one value
        cotangents_ = self.bind(f"{self.stem}_cotangents", self.cotangents())
        given = [self.residuals, self.dout, *self.outlines.values()]
        tangents = [self.tangents[p] for p in self.wrt]
        v = f"({''.join(f'{t}, ' for t in tangents)})"
        found = f"{cotangents_}({', '.join(given)})"
        lines = [f"return {self.helper('pairing', found, v)}"]
        paired = self.function(f"{self.stem}_transposed", lines, ", ".join([*given, *tangents]))
        gradient = self.bind(f"{self.stem}_transposed", derivative_by(paired, "grad", 1))
        given[1] = self.helper("zeros_like", self.out)
        lines = [
            *self.checked(f"{forward}({self.passed()})", self.residuals),
            *self.outlined(),
            f"return {self.out}, {gradient}({', '.join([*given, *tangents])})",
        ]
        return self.function(f"{self.stem}_jvp", lines, self.with_tangents())

    def transposed_fprop(self) -> FunctionType:
        """Reverse mode from the forward rule: the transpose of what it does to the tangents."""
        push = self.bind(f"{self.stem}_jvp", self.push())
        tangent_text = [f"{self.out}, {self.dout} = {push}({self.with_tangents()})", f"return {self.dout}"]
        tangent = self.function(f"{self.stem}_tangent", tangent_text, self.with_tangents())
        count = len(self.parameters)
        places = range(count, count + len(self.wrt))
        pull = derivative_by(tangent, "vjp", places[0] if self.is_bare else tuple(places))
        pulled = self.bind(f"{self.stem}_tangent_fprop", pull)
        primal = self.bind(self.stem, self.rule.function)
        zeros = [self.helper("zero_tangent", p) for p in self.wrt]
        transposed = self.names.fresh("transposed")
        lines = [
            f"{self.out} = {primal}({self.passed()})",
            f"_, {transposed} = {pulled}({', '.join([*self.parameters, *zeros])})",
            f"return {self.out}, {transposed}",
        ]
        return self.function(f"{self.stem}_fprop", lines)


def derivative_by(function: FunctionType, form: str, argnums: str | int | tuple[int, ...]) -> Any:
    """A derivative of a function that is written here."""
    return provided("Derivative")(function, form, argnums, is_linked=True)


@lru_cache(maxsize=1024)
def with_forward(rule: Rule) -> Rule:
    """The rule of a primitive with a forward template, the transpose of the reverse template.

    Raises MissingRuleError for a rule with a variable number of arguments.
    """
    own = rule.template
    name, names = own.function.__name__, Names([*own.parameters, "out", "dout"])
    slots = differentiable_slots(own)
    tangents = {p: f"d{p}" for k, p in enumerate(own.parameters) if k in slots}
    if own.vararg is not None or own.kwarg is not None or not names.taken.isdisjoint(tangents.values()):
        raise MissingRuleError(
            f"the rule {own.function.__qualname__} has no forward part",
            why="forward mode transposes rules with a fixed number of arguments alone, none named `d` and "
            "another",
            instead=f"give it one with @{name}.jvp, or a structure word",
        )
    bindings = {b: names.fresh(b) for b in ("pairing", "zeros_like", name, f"{name}_transposed")}
    called = ", ".join(f"{p}={p}" for p in (*own.parameters, "out", "dout"))
    listed = [*own.parameters, "out", "dout", *tangents.values()]
    given = "".join(f"{tangents.get(p)}, " for p in own.parameters[: own.gradients])
    gradients = f"{bindings[name]}({called})"
    gradients = f"({gradients},)" if own.is_bare else gradients
    text = f"return {bindings['pairing']}({gradients}, ({given}))"
    means = {bindings["pairing"]: pairing, bindings[name]: own.function}
    paired = _function(f"{name}_transposed", listed, text, means)
    transposed = derivative_by(paired, "grad", "dout")
    listed.remove("dout")
    zero = f"{bindings['zeros_like']}(out)"
    passed = ", ".join([*own.parameters, "out", zero, *tangents.values()])
    transposed_ = bindings[f"{name}_transposed"]
    pushed = _function(
        f"{name}_jvp",
        ["*", *listed],
        f"return {transposed_}({passed})",
        {bindings["zeros_like"]: zeros_like, transposed_: transposed},
        {p: v for p, v in own.defaults.items() if p in own.parameters},
    )
    return replace(rule, jvp_template=Template(pushed))


def _function(
    name: str, listed: list[str], line: str, bindings: dict[str, Any], defaults: dict[str, Any] | None = None
) -> FunctionType:
    text = f"def {name}({', '.join(listed)}):\n    {line}\n"
    return make_function(text, name, Scope({}), bindings, kwdefaults=defaults)


def give_residual_rule(f: Function, forward: Function, backward: Function) -> Function:
    """The rule of a function that exists: `forward(*args)` is `(out, residuals)`, `backward(residuals, dout)`
    the tuple of gradients.
    """
    function = f if isinstance(f, FunctionType) and is_readable(f) else forwarding(f)
    name = getattr(f, "__qualname__", getattr(f, "__name__", repr(f)))
    give_rule(CustomRule(function, name, forward, backward))
    if function is not f:
        stands_in(f)(function)
    return backward


def is_readable(f: FunctionType) -> bool:
    try:
        read_source(f)
    except NoSourceError:
        return False
    return True


def forwarding(f: Callable[..., Any], signature: inspect.Signature | None = None) -> FunctionType:
    """A function with the parameters of `f` that calls it."""
    name = getattr(f, "__name__", "")
    name = name if name.isidentifier() else "function"
    signature = inspect.signature(f) if signature is None else signature
    made = forwarder(f"{name}_", signature, name, "", {name: f})
    made.__name__ = made.__qualname__ = name
    return made


provide(with_forward=with_forward, give_residual_rule=give_residual_rule)
