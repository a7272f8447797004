"""Guards the assumption that powers of real numbers are real, so that kinds stay real.

`x ** y` becomes `real_power(x, y)`, which raises for a complex result; the derivative is then generated again
without the assumption.
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
from ..transforms.trees.rebuild import rebuilt, rewritten

__all__ = ["guard_powers", "without_needless_guards"]


def guard_powers(program: Program) -> Program:
    """The program, in normal form, with `real_power` in place of all powers that may be complex."""
    names = program.names.copy()
    objects = Objects(program, names)
    found: list[Any] = []

    def guarded(s: Any) -> list[Any] | None:
        operands = _operands(s.value, program) if isinstance(s, gast.Assign) else None
        if operands is None or not _may_be_complex(*operands):
            return None
        found.append(s)
        return [rebuilt(s, value=located(call(objects.name(real_power), *operands), s.value))]

    tree = rewritten(program.tree, guarded, nested=False)
    if not found:
        return program
    return program.with_tree(tree, bindings=objects.all_bindings(), names=names)


def without_needless_guards(facts: Facts) -> Program:
    """The program with plain powers where the guard does not change the kind of the result."""
    program, kind = facts.program, facts.kind

    def is_needless(x: Any, y: Any) -> bool:
        operands = kind(x), kind(y)
        return elementwise_kind(operator.pow, operands) == elementwise_kind(real_power, operands)

    def plain(s: Any) -> list[Any] | None:
        match s:
            case gast.Assign(value=gast.Call(func=gast.Name() as func, args=[x, y]) as made) if (
                program.resolve(func) is real_power and is_needless(x, y)
            ):
                return [rebuilt(s, value=located(gast.BinOp(left=x, op=gast.Pow(), right=y), made))]
        return None

    if not any(value is real_power for value in program.bindings.values()):
        return program
    tree = rewritten(program.tree, plain, nested=False)
    return program if tree is program.tree else program.with_tree(tree)


def _operands(value: Any, program: Program) -> tuple[Any, Any] | None:
    match value:
        case gast.BinOp(op=gast.Pow(), left=x, right=y):
            return x, y
        case gast.Call(args=[x, y], keywords=[]):
            function = program.resolve(value.func)
            return (x, y) if function is pow or function is operator.pow else None
    return None


def _may_be_complex(x: Any, y: Any) -> bool:
    """Whether the power of two atoms may be complex: not for a constant base, which has no sign, nor for an
    integral exponent.
    """
    exponent = y.operand if isinstance(y, gast.UnaryOp) else y
    number = exponent.value if isinstance(exponent, gast.Constant) else 0.5
    return (
        not isinstance(x, gast.Constant)
        and isinstance(number, (int, float))
        and not float(number).is_integer()
    )
