"""Products and sums of products of derivatives: as few operations on arrays as will do.

Literals are multiplied, numbers stand before arrays, and a factor that two terms have in common is taken out
of their sum. Results change by rounding only.

    0.5 / r * d * 2                 ->    d / r
    d * 0.5 * e * scale             ->    0.5 * scale * d * e
    d * a / r - d * b / r           ->    d * (a - b) / r
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast

from ..trees.nodes import constant, find_nodes, located, same

__all__ = ["factored_sum", "literal_value", "simplified_product"]

Node = Any  # gast publishes no types
Factor = tuple[Node, bool]  # and whether it is a divisor
Test = Callable[[Node], bool]

LONGEST = 6  # characters of a literal that stands for two


def literal_value(node: Node) -> int | float | None:
    """The value of a literal int or float, a negative one included."""
    match node:
        case gast.Constant() if type(node.value) in (int, float):
            return node.value  # type: ignore[no-any-return]
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=value)) if type(value) in (int, float):
            return -value  # type: ignore[no-any-return]
    return None


def simplified_product(node: Node, is_number: Test, is_array: Test) -> Node:
    """A product with its literals in one, and its numbers before its arrays; itself where that saves no
    operation.
    """
    parts = [(_split(operand, is_number), inverted) for operand, inverted in _spine(node)]
    numbers = [(n, inverted != divides) for part, inverted in parts for n, divides in part.numbers]
    arrays = [(part.rest, inverted) for part, inverted in parts if part.rest is not None]
    literals = [f for f in numbers if literal_value(f[0]) is not None]
    merged = _merged(literals)
    is_mixed = len(numbers) > 1 and any(is_array(rest) for rest, _ in arrays)
    is_mixed = is_mixed and not all(divides for _, divides in numbers)
    if merged is None and (not is_mixed or _leads(numbers, parts)):
        return node
    literals = literals if merged is None else merged
    others = [f for f in numbers if literal_value(f[0]) is None]
    negative = sum(part.negative for part, _ in parts) % 2 == 1
    if is_mixed and len(literals) + len(others) + negative > 1:
        factors = [*literals, *others, *arrays]
    else:  # in the order in which they stand
        kept, factors = iter(literals), []
        for part, inverted in parts:
            for n, divides in part.numbers:
                factor = (n, inverted != divides) if literal_value(n) is None else next(kept, None)
                factors += [] if factor is None else [factor]
            factors += [] if part.rest is None else [(part.rest, inverted)]
    return _product(factors, node, negative)


def factored_sum(node: Node, is_pure: Test) -> Node | None:
    """A sum of two products with their common factors taken out; None if there are none."""
    left, right = _spine(node.left), _spine(node.right)
    common: list[Factor] = []
    others = list(right)
    rest: list[Factor] = []
    for factor in left:
        twin = None
        if literal_value(factor[0]) is None and is_pure(factor[0]):
            twin = next((f for f in others if f[1] == factor[1] and same(f[0], factor[0])), None)
        if twin is None:
            rest.append(factor)
        else:
            common.append(factor)
            others.remove(twin)
    op = node.op
    a, b = (next((f for f in part if literal_value(f[0]) is not None), None) for part in (rest, others))
    if a is not None and b is not None and min(len(rest), len(others)) > 1 and not (a[1] or b[1]):
        x, y = literal_value(a[0]) or 0, literal_value(b[0]) or 0
        if abs(x) == abs(y):
            common.insert(0, a)
            rest.remove(a)
            others.remove(b)
            op = op if x == y else gast.Sub() if isinstance(op, gast.Add) else gast.Add()
    if not common:
        return None
    total = located(gast.BinOp(left=_product(rest, node), op=op, right=_product(others, node)), node)
    is_first = common[0] is left[0] or literal_value(common[0][0]) is not None
    new = _product([*common, (total, False)] if is_first else [(total, False), *common], node)
    return new if _operations(new) < _operations(node) else None


def _operations(node: Node) -> int:
    return sum(1 for _ in find_nodes(node, gast.BinOp))


def _spine(node: Node) -> list[Factor]:
    """The operands of a product, as it is evaluated."""
    match node:
        case gast.BinOp(left=left, op=gast.Mult() | gast.Div() as op, right=right):
            return [*_spine(left), (right, isinstance(op, gast.Div))]
    return [(node, False)]


@dataclass
class _Part:
    """An operand of a product: the numbers among its factors, what is left of it, and its sign."""

    numbers: list[Factor]
    rest: Node | None
    negative: bool = False


def _split(node: Node, is_number: Test) -> _Part:
    value = literal_value(node)
    if value is not None:
        return _Part([(constant(abs(value)), False)], None, value < 0)
    match node:
        case gast.UnaryOp(op=gast.USub(), operand=operand):
            part = _split(operand, is_number)
            return replace(part, negative=not part.negative)
        case gast.BinOp(left=left, op=gast.Mult() | gast.Div() as op, right=right):
            a, b = _split(left, is_number), _split(right, is_number)
            is_quotient = isinstance(op, gast.Div)
            numbers = [*a.numbers, *((n, divides != is_quotient) for n, divides in b.numbers)]
            if not numbers or (is_quotient and a.rest is None and b.rest is not None):
                return _Part([], node)
            rest = a.rest or b.rest
            if a.rest is not None and b.rest is not None:
                rest = located(gast.BinOp(left=a.rest, op=op, right=b.rest), node)
            return _Part(numbers, rest, a.negative != b.negative)
    return _Part([(node, False)], None) if is_number(node) else _Part([], node)


def _leads(numbers: list[Factor], parts: list[tuple[_Part, bool]]) -> bool:
    """Whether a product starts with its numbers."""
    count = 0
    for part, _ in parts:
        count += len(part.numbers)
        if count == len(numbers):
            return part.rest is None or count == len(part.numbers)
        if part.rest is not None:
            return False
    return True


def _merged(literals: list[Factor]) -> list[Factor] | None:
    """The literals of a product as at most one factor and one divisor; None if these are no fewer."""
    if len(literals) < 2:
        return None
    values = [(literal_value(n), divides) for n, divides in literals]
    above: Any = math.prod(v for v, divides in values if not divides)
    below: Any = math.prod(v for v, divides in values if divides)
    if not all(math.isfinite(v) and v for v in (above, below)):
        return None
    if below != 1 and above / below * below == above and len(repr(above / below)) <= LONGEST:
        above, below = above / below, 1
    new = [(v, divides) for v, divides in ((above, False), (below, True)) if v != 1]
    if len(new) >= len(literals) or any(len(repr(v)) > LONGEST for v, _ in new):
        return None
    return [(constant(v), divides) for v, divides in new]


def _product(factors: list[Factor], like: Node, is_negative: bool = False) -> Node:
    """The product of factors in their order, but that it starts with no divisor."""
    first = next((k for k, (_, divides) in enumerate(factors) if not divides), None)
    result: Node = constant(1.0) if first is None else factors[first][0]
    if is_negative:
        value = literal_value(result)
        negated = gast.UnaryOp(op=gast.USub(), operand=result) if value is None else constant(-value)
        result = located(negated, like)
    for k, (n, divides) in enumerate(factors):
        if k != first:
            op = gast.Div() if divides else gast.Mult()
            result = located(gast.BinOp(left=result, op=op, right=n), like)
    return result
