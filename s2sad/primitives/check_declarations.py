"""Checks rules when they are declared.

Contract: a rule consists of assignments to names, branches and returns, since its lines are inlined into
derivatives where their results are needed; its parameters are those of its function.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

import gast

from ..transforms.analyses.template_slots import differentiable_slots
from ..transforms.errors import NoSourceError, SourceLocation, UnsupportedSyntaxError
from ..transforms.trees.nodes import names_read
from .template import Template

__all__ = ["check_forward_rule", "check_rule", "is_rule"]

OWN = f"{__name__.partition('.')[0]}."


def is_rule(f: Any) -> bool:
    """Whether a function looks like a rule: its last parameters are `out, dout`."""
    return isinstance(f, FunctionType) and [*inspect.signature(f).parameters][-2:] == ["out", "dout"]


def check_rule(template: Template, functions: Iterable[Any]) -> None:
    """Raises for a user's rule with statements that would not run (UnsupportedSyntaxError), without source
    (NoSourceError), or with parameters that do not fit the functions (TypeError).
    """
    if is_own(template):
        return
    check_statements(template)
    for f in functions:
        check_parameters(template, f)
    count = template.gradients
    if template.vararg is None and count > len(template.parameters):
        raise TypeError(
            f"{template.function.__qualname__} returns {count} gradients for "
            f"{len(template.parameters)} parameters ({', '.join(template.parameters)})"
        )


def check_forward_rule(template: Template, reverse: Template) -> None:
    """Raises for a user's forward rule, as `check_rule`, or if it lacks a tangent."""
    name, own = template.function.__qualname__, reverse.function.__qualname__
    known = {*reverse.parameters, *filter(None, (reverse.vararg, reverse.kwarg))}
    extra = [p for p in template.parameters if p not in known]
    extra += [t for t in template.tangents if not t.startswith("d") or t[1:] not in known]
    if extra:
        raise TypeError(f"{name}: {', '.join(extra)} is no parameter of {own}, nor the tangent of one")
    if is_own(template):
        return
    check_statements(template)
    slots = differentiable_slots(reverse)
    wanted = [p for k, p in enumerate(reverse.parameters) if k in slots]
    missing = [p for p in wanted if f"d{p}" not in template.tangents]
    if missing:
        raise TypeError(
            f"{name} has no tangent `d{missing[0]}`, and {own} gives a gradient for `{missing[0]}`: "
            f"its last parameters are `out, {', '.join('d' + p for p in wanted)}`"
        )


def is_own(template: Template) -> bool:
    return f"{template.function.__module__}.".startswith(OWN)


# ---------------------------------------------------------------- statements


def check_statements(template: Template) -> None:
    """Raises UnsupportedSyntaxError for the first statement that does more than bind a name that is read."""
    try:
        body = template.body
    except (OSError, IndentationError) as error:
        raise NoSourceError(
            f"the source of the rule {template.function.__qualname__} cannot be found",
            why=str(error),
            instead="write it in a file: its lines are put into derivatives",
        ) from None
    returned = [n.value for s in body for n in gast.walk(s) if isinstance(n, gast.Return)]
    forms = {len(v.elts) if isinstance(v, gast.Tuple) else None for v in returned}
    if len(forms) > 1:
        raise TypeError(
            f"{template.function.__qualname__} returns results in different numbers: each `return` of a rule "
            "has the same form, with None where there is no derivative"
        )
    given = {*template.parameters, *template.tangents, "out", template.vararg, template.kwarg}
    for s, what in _effects(body, set(names_read(body)), given):
        raise UnsupportedSyntaxError(
            f"{what} in the rule {template.function.__qualname__}",
            _where(template, s),
            why="lines of a rule stand in derivatives where their values are needed: others would not run",
            instead="give each value a name of its own, and return gradients; put everything else into a "
            "function that takes the cotangent and returns it, as in `seen = watched(dout)`",
        )


def _effects(body: list[Any], read: set[str], given: set[Any]) -> Iterator[tuple[Any, str]]:
    """The statements that do more than bind a name that is read, each with a description; `given` are the
    parameters.
    """
    for s in body:
        match s:
            case gast.If():
                yield from _effects([*s.body, *s.orelse], read, given)
            case gast.Return() | gast.Pass():
                pass
            case gast.Assign(targets=targets):
                nodes = [n for t in targets for n in gast.walk(t)]
                names = {n.id for n in nodes if isinstance(n, gast.Name)}
                if any(isinstance(n, (gast.Subscript, gast.Attribute)) for n in nodes):
                    yield s, "an assignment to a part of something"
                elif names & given:
                    yield s, f"a new value for the parameter `{min(names & given)}`"
                elif not names & read:
                    yield s, f"`{', '.join(sorted(names))}`, which nothing reads,"
            case gast.AugAssign():
                yield s, "an assignment in place"
            case gast.Expr():
                yield s, "an expression whose value goes nowhere"
            case _:
                yield s, f"`{type(s).__name__.lower()}`"


def _where(template: Template, s: Any) -> SourceLocation | None:
    """The place of a statement in the rule's file, found by its line."""
    code = template.function.__code__
    line = code.co_firstlineno + template.line_of(s)
    text = linecache.getline(code.co_filename, line).rstrip("\n")
    return SourceLocation(code.co_filename, line, len(text) - len(text.lstrip()), text)


# ---------------------------------------------------------------- parameters


def check_parameters(template: Template, f: Any) -> None:
    """Raises TypeError where the parameters of a rule are not those of its function."""
    try:
        parameters = [*inspect.signature(f).parameters.values()]
    except (TypeError, ValueError):  # a C function without a signature
        return
    kinds = {p.kind for p in parameters}
    if {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds:
        return  # it takes whatever something else takes
    stars = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    plain = [p for p in parameters if p.kind not in stars]
    names = [p.name for p in plain if p.kind is not p.POSITIONAL_ONLY]
    given = [*template.parameters]
    hidden = len(plain) - len(names)
    required = sum(p.default is p.empty for p in plain[:hidden])
    own = given if not hidden else given[hidden:] if len(given) >= hidden else given[required:]
    extra = [p for p in own if p not in names]
    missing = [p for p in names if p not in own]
    if hidden and len(given) < required:
        missing = [p.name for p in plain[len(given) : required]]
    takes_rest = template.vararg is not None or inspect.Parameter.VAR_POSITIONAL not in kinds
    if extra or missing or not takes_rest:
        name = getattr(f, "__qualname__", None) or repr(f)
        told = "takes no `*args`"
        if missing or extra:
            told = f"has no parameter `{missing[0]}`" if missing else f"has a parameter `{extra[0]}`"
        raise TypeError(
            f"the rule {template.function.__qualname__} {told}, and does not fit {name}"
            f"{inspect.signature(f)}: its parameters are those of the function, then `out, dout`"
        )
