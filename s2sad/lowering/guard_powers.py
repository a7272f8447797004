"""Derivatives are made for powers of real numbers that are real: `real_power` says so, and with it the kinds
of all that follows. Where one is complex all the same, the derivative is made again without that assumption.
"""

from __future__ import annotations

import operator
from typing import Any

import gast

from ..kinds.elementwise import elementwise_kind
from ..runtime.real_power import real_power
from ..transforms.analyses.facts import Facts
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import call, located
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import map_blocks, rebuilt

__all__ = ["guard_powers", "without_needless_guards"]


def guard_powers(program: Program) -> Program:
    """The program, in normal form, with `real_power` in place of all powers that may be complex."""
    names = program.names.copy()
    objects = Objects(program, names)
    found: list[Any] = []

    def guarded(s: Any) -> Any:
        operands = _operands(s.value, program) if isinstance(s, gast.Assign) else None
        if operands is None or not _may_be_complex(*operands):
            return s
        found.append(s)
        return rebuilt(s, value=located(call(objects.name(real_power), *operands), s.value))

    body = _mapped(program.tree.body, guarded)
    if not found:
        return program
    tree = rebuilt(program.tree, body=body)
    return program.with_tree(tree, bindings=objects.all_bindings(), names=names)


def without_needless_guards(facts: Facts) -> Program:
    """The program with plain powers again where the kinds of atoms tell no less of these."""
    program, kind, changed = facts.program, facts.kind, False

    def is_needless(x: Any, y: Any) -> bool:
        operands = kind(x), kind(y)
        return elementwise_kind(operator.pow, operands) == elementwise_kind(real_power, operands)

    def plain(s: Any) -> Any:
        nonlocal changed
        match s:
            case gast.Assign(value=gast.Call(func=gast.Name() as func, args=[x, y]) as made) if (
                program.resolve(func) is real_power and is_needless(x, y)
            ):
                changed = True
                return rebuilt(s, value=located(gast.BinOp(left=x, op=gast.Pow(), right=y), made))
        return s

    if not any(value is real_power for value in program.bindings.values()):
        return program
    body = _mapped(program.tree.body, plain)
    return program.with_tree(rebuilt(program.tree, body=body)) if changed else program


def _mapped(statements: list[Any], change: Any) -> list[Any]:
    """The statements changed, but those of nested functions."""
    return [
        s if isinstance(s, gast.FunctionDef) else map_blocks(change(s), lambda block: _mapped(block, change))
        for s in statements
    ]


def _operands(value: Any, program: Program) -> tuple[Any, Any] | None:
    match value:
        case gast.BinOp(op=gast.Pow(), left=x, right=y):
            return x, y
        case gast.Call(args=[x, y], keywords=[]):
            function = program.resolve(value.func)
            return (x, y) if function is pow or function is operator.pow else None
    return None


def _may_be_complex(x: Any, y: Any) -> bool:
    """Whether the power of two atoms may be: not that of a constant, which is written without a sign, nor one
    with an exponent that is written as an integer.
    """
    exponent = y.operand if isinstance(y, gast.UnaryOp) else y
    number = exponent.value if isinstance(exponent, gast.Constant) else 0.5
    return (
        not isinstance(x, gast.Constant)
        and isinstance(number, (int, float))
        and not float(number).is_integer()
    )
