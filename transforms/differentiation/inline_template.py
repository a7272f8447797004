"""Inlines a rule's template: substitutes its arguments, renames its locals, and decides the branches whose
arguments are known.

The line of the rule is the line of the derivative. Statements for gradients that are not wanted are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gast

from ..analyses.primitive_table import Template
from ..trees.nodes import assign, assigned_names, constant, load, names_read, subscript
from ..trees.program import MISSING, Names
from ..trees.rebuild import substitute

__all__ = ["ZERO", "Inlined", "Zeros", "fold_zeros", "inline_template", "literal_of", "real"]

_TYPES = {"int": int, "float": float, "tuple": tuple, "str": str}
ZERO = "0"  # stands for a symbolic zero during inlining
Inlined = tuple[list[Any], dict[int, Any]]


@dataclass(frozen=True)
class _OfNature:
    """An argument whose value is unknown and whose nature is known."""

    nature: str


def inline_template(
    template: Template,
    arguments: Mapping[str, Any],
    wanted: Sequence[int],
    names: Names,
    bind: Callable[[str, Any], str],
    base: str,
    nature: Callable[[Any], str | None] = lambda node: None,
) -> Inlined:
    """The statements to run first, and the expression of each wanted result of the template.

    `arguments` maps the template's parameters to expressions; `bind(name, object)` gives the name of an
    object that the template reads from its module; temporaries are named after `base`; `nature` says whether
    an expression surely is an "array" or an "integer", and so not None. The tests `a is True`, of an argument
    or a comparison, hold where that is known to be true; `da is None` holds for a symbolic zero. A result for
    which the template returns None is absent.
    """
    arguments = {**template.words, **arguments}
    mapping = dict(arguments)
    known = {k: v for k, v in arguments.items() if literal_of(v) is not MISSING}
    known |= {k: _OfNature(found) for k, v in arguments.items() if k not in known and (found := nature(v))}
    tangents = {t: arguments[t] for t in template.tangents if t in arguments}
    known |= {t: constant(None) if _is_zero(v) else _OfNature("tangent") for t, v in tangents.items()}
    body, local, read = _straight(template) or _with_names(_decide(template.body, known))
    for name in local:
        mapping[name] = load(names.temporary(base))
    for name in read:
        if name not in mapping and name in template.globals:
            mapping[name] = load(bind(template.name_of(name), template.globals[name]))
    if isinstance(body[-1], gast.Return):
        return _results(body, wanted, mapping)
    return _take(substitute(body, mapping), wanted, names, base)


def _with_names(body: list[Any]) -> tuple[list[Any], list[str], Sequence[str]]:
    """A template's statements, their targets, and the names that they read."""
    return body, assigned_names(body), names_read(body)


@lru_cache(maxsize=4096)
def _straight(template: Template) -> tuple[list[Any], list[str], Sequence[str]] | None:
    """The body of a template without branches, None for others."""
    plain = not any(isinstance(s, gast.If) for s in template.body)
    return _with_names(template.body) if plain else None


def _results(body: list[Any], wanted: Sequence[int], mapping: dict[str, Any]) -> Inlined:
    """`_take` of a body without branches; copies only the statements that are needed."""
    last = body[-1].value
    results = last.elts if isinstance(last, gast.Tuple) else [last]
    found = {k: results[k] for k in wanted if k < len(results) and not _is_none(results[k])}
    needed = _needed(body[:-1], set(names_read(list(found.values()))))
    return substitute(needed, mapping), {k: substitute(value, mapping) for k, value in found.items()}


def literal_of(node: Any) -> Any:
    """The value of an expression made of literals, or MISSING."""
    match node:
        case gast.Constant(value=value):
            return value
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=value)):
            return -value
        case gast.Tuple(elts=elts):
            values = [literal_of(e) for e in elts]
            return MISSING if any(v is MISSING for v in values) else tuple(values)
    return MISSING


def _is_zero(node: Any) -> bool:
    return isinstance(node, gast.Name) and (node.id == ZERO or node.id.startswith(ZERO + " "))


def _truth(test: Any, known: Mapping[str, Any]) -> Any:
    """The value of a test, as far as the known arguments decide it, or MISSING."""
    match test:
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            value = _truth(operand, known)
            return value if value is MISSING else not value
        case gast.BoolOp(op=op, values=values):
            found = [_truth(v, known) for v in values]
            decisive = isinstance(op, gast.Or)
            if any(v is not MISSING and bool(v) is decisive for v in found):
                return decisive
            return MISSING if any(v is MISSING for v in found) else not decisive
        case gast.Compare(left=left, ops=[op], comparators=[right]):
            a, b = (literal_of(known.get(n.id, n) if isinstance(n, gast.Name) else n) for n in (left, right))
            if isinstance(left, (gast.Call, gast.Compare)):
                a = _truth(left, known)
            if isinstance(op, (gast.Is, gast.IsNot)) and a is MISSING:
                is_given = isinstance(left, gast.Name) and left.id in known
                return isinstance(op, gast.IsNot) if b is True or is_given else MISSING
            if a is MISSING or b is MISSING:
                return MISSING
            match op:
                case gast.Is():
                    return a is b
                case gast.IsNot():
                    return a is not b
                case gast.Eq():
                    return a == b
                case gast.NotEq():
                    return a != b
            return MISSING
        case gast.Call(func=gast.Name(id="isinstance"), args=[gast.Name(id=name), gast.Name(id=kind)]) if (
            name in known and kind in _TYPES
        ):
            given = known[name]
            if isinstance(given, _OfNature) and given.nature == "integer":
                return MISSING  # NumPy's integers are not instances of int
            return isinstance(literal_of(given), _TYPES[kind])
        case gast.Name(id=name):
            return literal_of(known[name]) if name in known else MISSING
        case gast.Constant(value=value):
            return value
    return MISSING


def _decide(statements: list[Any], known: Mapping[str, Any]) -> list[Any]:
    """The statements with the branches that the known arguments decide replaced by the arm taken."""
    result: list[Any] = []
    for position, s in enumerate(statements):
        if isinstance(s, gast.If):
            truth = _truth(s.test, known)
            if truth is MISSING:
                rest = statements[position + 1 :]
                body, orelse = _decide(s.body, known), _decide(s.orelse, known)
                if any(map(_returns, (body, orelse))):
                    arms = [arm if _returns(arm) else [*arm, *_decide(rest, known)] for arm in (body, orelse)]
                    return [*result, gast.If(test=_undecided(s.test, known), body=arms[0], orelse=arms[1])]
                result.append(gast.If(test=_undecided(s.test, known), body=body, orelse=orelse))
                continue
            result.extend(_decide(s.body if truth else s.orelse, known))
        else:
            result.append(s)
        if _returns(result):
            break
    return result


def _undecided(test: Any, known: Mapping[str, Any]) -> Any:
    """An undecided test without its decided operands."""
    if not isinstance(test, gast.BoolOp):
        return test
    left = [_undecided(v, known) for v in test.values if _truth(v, known) is MISSING]
    return left[0] if len(left) == 1 else gast.BoolOp(op=test.op, values=left)


def _returns(statements: list[Any]) -> bool:
    """Whether every path through decided statements ends in a return."""
    if not statements:
        return False
    last = statements[-1]
    return isinstance(last, gast.Return) or (
        isinstance(last, gast.If) and _returns(last.body) and _returns(last.orelse)
    )


def _take(body: list[Any], wanted: Sequence[int], names: Names, base: str) -> Inlined:
    """Splits a decided body into the statements to run first and the wanted results."""
    last = body[-1]
    if isinstance(last, gast.Return):
        return _results(body, wanted, {})
    arms = [_take(last.body, wanted, names, base), _take(last.orelse, wanted, names, base)]
    chosen = {k: load(names.temporary(base)) for k in wanted if k in arms[0][1] or k in arms[1][1]}
    blocks = [
        [
            *statements,
            *(assign(chosen[k].id, results.get(k, constant(None))) for k in chosen),
        ]
        for statements, results in arms
    ]
    branch = gast.If(test=last.test, body=blocks[0], orelse=blocks[1])
    return _needed([*body[:-1], branch], {c.id for c in chosen.values()}), chosen


def _needed(statements: list[Any], live: set[str]) -> list[Any]:
    """The statements of a template that the wanted results need."""
    kept: list[Any] = []
    for s in reversed(statements):
        if set(assigned_names(s)) & live:
            live |= set(names_read(s))
            kept.append(s)
    return kept[::-1]


def _is_none(node: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


@dataclass(frozen=True)
class Zeros:
    """How symbolic zeros are folded: `materialise` makes an expression for one; `linear` groups the arguments
    of a call that is zero if one whole group is zero.
    """

    materialise: Callable[[Any], Any]
    linear: Callable[[Any], list[list[Any]]]


def fold_zeros(node: Any, zeros: Zeros) -> Any:
    """The expression with symbolic zeros folded through `+ - * @ /`, signs, linear and bilinear functions, or
    None when it is zero.
    """
    match node:
        case gast.Name() if _is_zero(node):
            return None
        case gast.BinOp(left=left, op=op, right=right):
            a, b = fold_zeros(left, zeros), fold_zeros(right, zeros)
            match op:
                case gast.Add():
                    if a is None or b is None:
                        return b if a is None else a
                case gast.Sub():
                    if b is None:
                        return a
                    if a is None:
                        return gast.UnaryOp(op=gast.USub(), operand=b)
                case gast.Mult() | gast.MatMult():
                    if a is None or b is None:
                        return None
                case gast.Div():
                    if a is None:
                        return None
            return gast.BinOp(
                left=a if a is not None else zeros.materialise(left),
                op=op,
                right=b if b is not None else zeros.materialise(right),
            )
        case gast.UnaryOp(op=op, operand=operand):
            inner = fold_zeros(operand, zeros)
            return None if inner is None else gast.UnaryOp(op=op, operand=inner)
        case gast.Attribute(value=value, attr=attr):
            inner = fold_zeros(value, zeros)
            return None if inner is None else gast.Attribute(value=inner, attr=attr, ctx=gast.Load())
        case gast.Subscript(value=value, slice=index):
            inner = fold_zeros(value, zeros)
            return None if inner is None else subscript(inner, index)
        case gast.Call(func=func, args=args, keywords=keywords):
            if any(all(fold_zeros(a, zeros) is None for a in group) for group in zeros.linear(node)):
                return None
            named = [gast.keyword(arg=k.arg, value=real(k.value, zeros)) for k in keywords]
            return gast.Call(func=func, args=[real(a, zeros) for a in args], keywords=named)
    if isinstance(node, gast.AST) and any(
        isinstance(n, gast.Name) and n.id.startswith(ZERO) for n in gast.walk(node)
    ):
        return _written(node, zeros)
    return node


def _written(node: Any, zeros: Zeros) -> Any:
    """The expression with each symbolic zero materialised and nothing folded, which keeps its shape."""
    symbols = {n.id for n in gast.walk(node) if isinstance(n, gast.Name) and n.id.startswith(ZERO)}
    return substitute(node, {z: zeros.materialise(load(z)) for z in symbols})


def real(node: Any, zeros: Zeros) -> Any:
    """The expression with symbolic zeros folded; materialised if it is zero itself, the whole of a subscript
    first.
    """
    folded = fold_zeros(node, zeros)
    if folded is None and any(isinstance(n, gast.Call) for n in gast.walk(node)):
        return _written(node, zeros)
    if folded is None and isinstance(node, gast.Subscript):
        return subscript(real(node.value, zeros), node.slice)
    return zeros.materialise(node) if folded is None else folded
