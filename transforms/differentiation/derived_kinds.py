"""The kinds of expressions in templates, and the removal of conversions that these kinds make unnecessary.

A template says `unbroadcast(v, x)` where its cotangent may have more axes than `x`, or be complex. Where the
kinds show that it has the form of `x`, the call is dropped; where it is complex and `x` is real, it is
`v.real`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast

from ..analyses.operations import OPERATORS
from ..trees.nodes import attribute, call, load
from ..trees.program import MISSING
from .rule_application import Emitter

__all__ = ["conformed", "derived_kind", "derived_kinds"]


def derived_kinds(emitter: Emitter, statements: list[Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The kinds of the names that a template's statements assign; `kinds` are those of adjoints."""
    found = dict(kinds)
    for s in statements:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                found[name] = derived_kind(emitter, value, found)
    return found


def derived_kind(emitter: Emitter, node: Any, kinds: Mapping[str, Any]) -> Any:
    """The kind of an expression in a template."""
    domain = emitter.domain

    def kind(part: Any) -> Any:
        return derived_kind(emitter, part, kinds)

    def kind_of_call(function: Any, args: list[Any], keywords: Mapping[str, Any]) -> Any:
        return domain.call_kind(function, args, keywords, emitter.primitives.is_pure)

    match node:
        case gast.Name(id=name) if name in kinds:
            return kinds[name]
        case gast.Name() | gast.Constant():
            return emitter.kind(node)
        case gast.BinOp(left=left, op=op, right=right):
            operands = [kind(left), kind(right)]
            return kind_of_call(emitter.primitives.operator(OPERATORS[type(op)], *operands), operands, {})
        case gast.UnaryOp(op=op, operand=operand) if not isinstance(operand, gast.Constant):
            return kind_of_call(OPERATORS[type(op)], [kind(operand)], {})
        case gast.UnaryOp():
            return emitter.kind(node)
        case gast.Tuple(elts=elts):
            return domain.tuple_kind(list(map(kind, elts)))
        case gast.Attribute(value=value, attr=attr) if emitter.object_of(node) is MISSING:
            return domain.attribute_kind(kind(value), attr)
        case gast.Call(func=func, args=args, keywords=keywords):
            function = emitter.object_of(func)
            starred = any(isinstance(a, gast.Starred) for a in args) or any(k.arg is None for k in keywords)
            if function is not MISSING and not starred:
                return kind_of_call(function, list(map(kind, args)), {k.arg: kind(k.value) for k in keywords})
    return domain.UNKNOWN


def conformed(emitter: Emitter, value: Any, operand: str, kinds: Mapping[str, Any]) -> Any:
    """The gradient of an operand in the operand's form: drops an `unbroadcast` that does nothing, and adds
    one where an array would be the gradient of a number.
    """
    match value:
        case gast.Call(func=func, args=[inner, gast.Name(id=name)]) if name == operand and emitter.is_helper(
            func, "unbroadcast"
        ):
            domain = emitter.domain
            wanted, found = emitter.kind(load(name)), derived_kind(emitter, inner, kinds)
            if domain.unbroadcast_plan(wanted, found) == "none":
                return inner
            real = domain.attribute_kind(found, "real")
            if not domain.is_real(found) and domain.unbroadcast_plan(wanted, real) == "none":
                return attribute(inner, "real")
            return value
    is_number = emitter.domain.is_scalar(emitter.kind(load(operand)))
    is_item = isinstance(value, gast.Subscript)  # an item of the gradients of several operands
    if is_number and not is_item and not emitter.domain.is_scalar(derived_kind(emitter, value, kinds)):
        return call(emitter.helper("unbroadcast"), value, load(operand))
    return value
