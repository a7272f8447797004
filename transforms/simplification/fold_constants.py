"""Folds arithmetic on literals, and drops arithmetic that changes nothing.

Contract: a function definition in, one with the same results, to the bit and the type, out. Identities of
floats are used only where an expression surely is a float or an array of floats; nothing that may raise is
folded. An expression that made a new object may become an alias (`1.0 * e` -> `e`) only if it is a number, or
an operand of arithmetic.

    dx = 1.0 * dout * (2 * x ** (2 - 1))    ->    dx = dout * (2 * x)
    da = db + -dc * y                       ->    da = db - dc * y
    dx[:-1] += dy.copy()                    ->    dx[:-1] += dy
"""
from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import gast

from ..analyses.find_sharing import shared_by
from ..analyses.find_uses import is_pure
from ..differentiation.length_one_axes import is_turned, without_kept_axes
from ..trees.nodes import attribute, constant, fields_of, located, names_read, same, target_names
from ..trees.rebuild import alike, rebuilt
from .facts import GeneratedFacts
from .products import factored_sum, literal_value, simplified_product

__all__ = ["OPPOSITE", "fold_constants", "taken_arm"]

Node = Any  # gast publishes no types


_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv, gast.Mod: operator.mod, gast.Pow: operator.pow}
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    gast.Eq: operator.eq, gast.NotEq: operator.ne, gast.Lt: operator.lt, gast.LtE: operator.le,
    gast.Gt: operator.gt, gast.GtE: operator.ge}
OPPOSITE: dict[type, type] = {gast.Is: gast.IsNot, gast.IsNot: gast.Is, gast.In: gast.NotIn,
                              gast.NotIn: gast.In}
_BLOCKS = frozenset({"body", "orelse", "finalbody"})
_OPERATORS = (gast.BinOp, gast.UnaryOp, gast.Compare)


def fold_constants(tree: Node, facts: GeneratedFacts) -> Node:
    """The function with constant expressions folded, and branches on constants decided; `e + e` becomes `2 *
    e` in code that is not the user's.
    """
    return _Folder(facts).parts(tree, consumed=False)


def taken_arm(s: Node) -> list[Node] | None:
    """The statements that a branch or loop with a literal test runs, or None when the test is no literal."""
    if isinstance(s, gast.If):
        truth = _decided(s.test)
        return None if truth is None else s.body if truth else s.orelse
    if isinstance(s, gast.While) and _decided(s.test) is False:
        return list(s.orelse)
    return None


def _decided(test: Node) -> bool | None:
    """The outcome of a test of a literal, or of `not` before one; None for another test."""
    match test:
        case gast.Constant():
            return bool(test.value)
        case gast.UnaryOp(op=gast.Not()):
            inner = _decided(test.operand)
            return None if inner is None else not inner
    return None


def _bool_literal(node: Node) -> bool | None:
    """The value of `True` or `False`, which count as 1 and 0 beside a number."""
    return node.value if isinstance(node, gast.Constant) and isinstance(node.value, bool) else None


def _integer_sum(node: Node) -> Node:
    """`i` for `i + 1 - 1`, and the like, of integers."""
    match node:
        case gast.BinOp(left=gast.BinOp(left=left, op=gast.Add() | gast.Sub() as first, right=a),
                        op=gast.Add() | gast.Sub() as second, right=b) if (
                isinstance(literal_value(a), int) and isinstance(literal_value(b), int)):
            signed = [(literal_value(n) or 0) * (1 if isinstance(op, gast.Add) else -1)
                      for op, n in ((first, a), (second, b))]
            total = int(sum(signed))
            if total == 0:
                return left
            return rebuilt(node, left=left, op=gast.Add() if total > 0 else gast.Sub(),
                           right=located(constant(abs(total)), node))
    return node


def _is_literal(node: Node, value: int) -> bool:
    """Whether the node is the literal `value`, as an int or a float; the sign of zero counts."""
    found = literal_value(node)
    return found is not None and found == value and (found != 0 or math.copysign(1, found) > 0)


class _Folder:
    """One walk over the function, innermost expressions first."""

    def __init__(self, facts: GeneratedFacts) -> None:
        self.facts, self.purity, self.is_number = facts, facts.is_pure, facts.is_number
        self.is_for_derivative = False  # whether the statement computes a derivative
        self.may_round = False  # whether the expression is a derivative, or linear in it

    # ------------------------------------------------------------ the walk

    def parts(self, node: Node, consumed: bool) -> Node:
        """The node with its children folded."""
        changes: dict[str, Any] = {}
        held = node.__dict__
        for name in fields_of(node.__class__):
            old = held.get(name)
            if isinstance(old, list):
                new: Any = self.block(old) if name in _BLOCKS else [
                    self.fold(v, consumed) if isinstance(v, gast.AST) else v for v in old]
                if not alike(new, old):
                    changes[name] = new or ([] if name == "orelse" else [located(gast.Pass(), node)])
            elif isinstance(old, gast.AST) and old._fields:
                new = self.fold(old, consumed)
                if new is not old:
                    changes[name] = new
        return rebuilt(node, **changes) if changes else node

    def block(self, statements: list[Node]) -> list[Node]:
        result: list[Node] = []
        for s in statements:
            if isinstance(s, (gast.Assign, gast.AugAssign)):
                targets = s.targets if isinstance(s, gast.Assign) else [s.target]
                names = [n for t in targets for n in target_names(t) or names_read(t)[:1]]
                self.is_for_derivative = any(map(self.facts.is_derivative, names))
            self.may_round = self.is_for_derivative and isinstance(s, (gast.Assign, gast.AugAssign))
            new = self.parts(s, consumed=isinstance(s, gast.AugAssign))
            match new:  # NumPy handles overlapping operands of in-place addition
                case gast.AugAssign(
                    value=gast.Call(func=gast.Attribute(value=part, attr="copy"), args=[], keywords=[])
                ) if self.is_float(part):
                    new = rebuilt(new, value=part)
            arm = taken_arm(new)
            result.extend([new] if arm is None else [i for i in arm if not isinstance(i, gast.Pass)])
        return result

    def fold(self, node: Node, consumed: bool = False) -> Node:
        """The expression, folded; `consumed` says that it is an operand, so that the value gets no alias."""
        kind = node.__class__
        if kind is gast.Name or kind is gast.Constant:
            return node
        if kind is gast.Attribute and node.value.__class__ is gast.Name:
            return node
        key = id(node), consumed, self.is_for_derivative, self.may_round
        if key in self.facts.folded:
            return node
        new = self.folded(node, consumed)
        if new is node:
            self.facts.folded[key] = node
        return new

    def folded(self, node: Node, consumed: bool) -> Node:
        """The expression, folded without the memo."""
        if node.__class__ is gast.BinOp:
            left, right = self.fold(node.left, True), self.fold(node.right, True)
            if left is not node.left or right is not node.right:
                node = rebuilt(node, left=left, right=right)
            return self.operation(node, consumed)
        before = self.may_round
        self.may_round = before and not isinstance(node, (gast.Subscript, gast.Compare)) and not (
            isinstance(node, gast.Call) and not self.facts.is_odd(node))
        node = self.parts(node, isinstance(node, _OPERATORS) or self.makes_new(node))
        self.may_round = before
        match node:
            case gast.UnaryOp():
                return self.unary(node, consumed)
            case gast.Compare(ops=[op], comparators=[right]):
                return self.comparison(node, op, right)
            case gast.Call(func=gast.Name(id="range")):
                return rebuilt(node, args=[_integer_sum(a) for a in node.args])
            case gast.IfExp():
                truth = _decided(node.test)
                return node if truth is None else node.body if truth else node.orelse
            case gast.Subscript():
                return self.item(node)
            case gast.Attribute(attr="T", value=gast.BinOp(op=gast.MatMult()) as product):
                return self.transposed_product(product) or node
        return node

    # ------------------------------------------------------------ the rules

    def operation(self, node: Node, consumed: bool) -> Node:
        left, right, op = node.left, node.right, type(node.op)
        a, b = literal_value(left), literal_value(right)
        if a is not None or b is not None:
            a, b = (_bool_literal(left) if a is None else a), (_bool_literal(right) if b is None else b)
        if a is not None and b is not None:
            return self.literal(node, op, a, b)
        if op is gast.Add or op is gast.Sub:
            return self.sum(node, op, consumed)
        if op is gast.Mult:
            for one, other in ((left, right), (right, left)):
                if _is_literal(one, 1) and self.is_float(other):
                    return self.old_object(node, other, consumed)
                if _is_literal(one, -1) and self.is_float(other):
                    return self.unary(located(gast.UnaryOp(op=gast.USub(), operand=other), node), consumed)
            match left, right:
                case gast.UnaryOp(op=gast.USub()), gast.UnaryOp(op=gast.USub()) if (
                        self.is_float(left) and self.is_float(right)):
                    return self.operation(rebuilt(node, left=left.operand, right=right.operand), consumed)
        elif op is gast.Div or op is gast.Pow:
            if _is_literal(right, 1) and self.is_float(left):
                return self.old_object(node, left, consumed)
            if op is gast.Div and _is_literal(right, -1) and self.is_float(left):
                return self.unary(located(gast.UnaryOp(op=gast.USub(), operand=left), node), consumed)
        if op in (gast.Mult, gast.Div) and self.rounds(node):
            return self.product(node, consumed)
        return node

    def product(self, node: Node, consumed: bool) -> Node:
        """A product of a derivative with as few operations on arrays as will do."""
        new = simplified_product(node, self.is_scalar, self.is_array)
        if new is node:
            return node
        if isinstance(new, gast.BinOp) or self.old_object(node, new, consumed) is new:
            return new
        return located(gast.BinOp(left=constant(1.0), op=gast.Mult(), right=new), node)

    def transposed_product(self, node: Node) -> Node | None:
        """`b.T @ a` for `(a.T @ b).T`, a derivative; None where that saves nothing."""
        factors = [node.right, node.left]
        whole = [f.value if isinstance(f, gast.Attribute) and f.attr == "T" else None for f in factors]
        if not any(whole) or not self.is_derivative(node) or not all(map(self.facts.is_matrix, factors)):
            return None
        left, right = (attribute(f, "T") if w is None else w for f, w in zip(factors, whole, strict=True))
        return located(gast.BinOp(left=left, op=node.op, right=right), node)

    def literal(self, node: Node, op: type, a: int | float, b: int | float) -> Node:
        """The value of arithmetic on two literals if it is exact, finite and no longer in print."""
        if op not in _ARITHMETIC or (op is gast.Pow and not (isinstance(b, int) and 0 <= b <= 64)):
            return node
        try:
            value = _ARITHMETIC[op](a, b)
            text = repr(value)
        except (ArithmeticError, ValueError):
            return node
        is_finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
        return located(constant(value), node) if is_finite and len(text) <= len(f"{a} + {b}") else node

    def sum(self, node: Node, op: type, consumed: bool) -> Node:
        left, right = node.left, node.right
        if op is gast.Sub and _is_literal(right, 0) and self.is_float(left):
            return self.old_object(node, left, consumed)
        if op is gast.Add and same(left, right) and self.is_derivative(left) and is_pure(left, self.purity):
            two = constant(2)
            doubled = (two, left) if isinstance(left, gast.Name) else (left, two)  # no other rounding
            return located(gast.BinOp(left=doubled[0], op=gast.Mult(), right=doubled[1]), node)
        positive = self.positive(right)
        if positive is None:
            if op is gast.Add and (self.may_round or self.is_derivative(left)):
                node = self.turned(node)
            return (self.with_common_factor(node) if self.rounds(node) else None) or node
        return self.sum(rebuilt(node, op=gast.Sub() if op is gast.Add else gast.Add(), right=positive),
                        gast.Sub if op is gast.Add else gast.Add, consumed)

    def with_common_factor(self, node: Node) -> Node | None:
        """A sum whose last two terms have a common factor, with the factor taken out, or are outer products,
        as one product of matrices; else None.
        """
        found = factored_sum(node, lambda n: is_pure(n, self.purity))
        if found is not None:
            self.facts.factored = True
            return self.fold(found)
        if isinstance(node.op, gast.Add):
            terms = [node.left, node.right]
            match node.left:
                case gast.BinOp(left=first, op=gast.Add() as op, right=middle):
                    terms = [middle, node.right]
            joined = self.facts.sum_of_outer(*terms)
            if joined is not None:
                joined = located(joined, node)
                return joined if terms[0] is node.left else rebuilt(node, left=first, right=joined)
        match node.left:
            case gast.BinOp(left=first, op=gast.Add() as op, right=middle):
                inner = located(gast.BinOp(left=middle, op=node.op, right=node.right), node)
                found = factored_sum(inner, lambda n: is_pure(n, self.purity))
                if found is not None:
                    self.facts.factored = True
                    return located(gast.BinOp(left=first, op=op, right=self.fold(found)), node)
        return None

    def turned(self, node: Node) -> Node:
        """`b - a` for `-a + b`."""
        positive = self.positive(node.left)
        if positive is None or not is_pure(node, self.purity):
            return node
        return located(gast.BinOp(left=node.right, op=gast.Sub(), right=positive), node)

    def unary(self, node: Node, consumed: bool) -> Node:
        operand = node.operand
        match node.op:
            case gast.Not():
                truth = _decided(operand)
                if truth is not None:
                    return located(constant(not truth), node)
                match operand:
                    case gast.Compare(ops=[op]) if type(op) in OPPOSITE:
                        return rebuilt(operand, ops=[OPPOSITE[type(op)]()])
            case gast.USub() if isinstance(operand, gast.UnaryOp) and isinstance(operand.op, gast.USub):
                inner = operand.operand
                if literal_value(inner) is not None:
                    return inner
                if consumed or self.is_float(inner):
                    return self.old_object(node, inner, consumed)
            case gast.USub() if isinstance(operand, gast.BinOp) and self.is_float(operand):
                return self.unary_first(node, operand)
        return node

    def unary_first(self, node: Node, operand: Node) -> Node:
        """`-a * b` for `-(a * b)`: rounding is the same on both sides of zero."""
        positive = self.positive(operand)
        if positive is not None:
            return positive
        negative = self.negative(operand)
        return node if negative is None or isinstance(negative, gast.UnaryOp) else negative

    def positive(self, node: Node) -> Node | None:
        """`b * c / d` for `-b * c / d`, or None when no sign precedes a float there."""
        match node:
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                return operand if self.is_float(operand) or literal_value(node) is not None else None
            case gast.BinOp(op=gast.Mult() | gast.Div() | gast.MatMult()):
                left = self.positive(node.left)
                return None if left is None else rebuilt(node, left=left)
            case gast.Call(args=[first, *rest]) if self.facts.is_odd(node):
                positive = self.positive(first)
                return None if positive is None else rebuilt(node, args=[positive, *rest])
        return None

    def negative(self, node: Node) -> Node | None:
        """`-b * c / d` for `b * c / d`, or None when b may be no float: unsigned integers wrap around."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div)):
            left = self.negative(node.left)
            return None if left is None else rebuilt(node, left=left)
        is_float = self.is_float(node) or literal_value(node) is not None
        return located(gast.UnaryOp(op=gast.USub(), operand=node), node) if is_float else None

    def comparison(self, node: Node, op: Node, right: Node) -> Node:
        left = node.left
        if not (isinstance(left, gast.Constant) and isinstance(right, gast.Constant)):
            return node
        a, b = left.value, right.value
        if isinstance(op, (gast.Is, gast.IsNot)):
            # the identity of equal numbers or strings depends on the interpreter
            if not any(v is None or v is ... or isinstance(v, bool) for v in (a, b)):
                return node
            return located(constant((a is b) == isinstance(op, gast.Is)), node)
        if type(op) not in _COMPARISONS:
            return node
        try:
            return located(constant(bool(_COMPARISONS[type(op)](a, b))), node)
        except TypeError:
            return node

    def item(self, node: Node) -> Node:
        """`(a, b)[0]` is `a`; an item at a kept axis of a sum is the sum without that axis; a new array
        reversed twice is itself.
        """
        match node:
            case gast.Subscript(value=gast.Subscript(value=gast.BinOp() | gast.Call() as computed) as inner):
                if is_turned(inner.slice) and is_turned(node.slice) and self.purity(computed):
                    return computed
        summed = without_kept_axes(node)
        if summed is not None and is_pure(node.value, self.purity):
            return located(summed, node)
        index = literal_value(node.slice)
        if (not isinstance(index, int) or not isinstance(node.value, (gast.Tuple, gast.List))
                or not isinstance(node.ctx, gast.Load)):
            return node
        items = node.value.elts
        if not -len(items) <= index < len(items) or any(isinstance(e, gast.Starred) for e in items):
            return node
        others = [e for e in items if e is not items[index]]
        return items[index] if all(is_pure(e, self.purity) for e in others) else node

    # ------------------------------------------------------------ queries

    def makes_new(self, node: Node) -> bool:
        """Whether an expression is a call whose result shares no memory with its arguments."""
        return isinstance(node, gast.Call) and self.facts.is_fresh(node) and self.purity(node)

    def rounds(self, node: Node) -> bool:
        """Whether an expression may be computed in another order: it is a derivative."""
        return (self.may_round or self.is_derivative(node)) and self.is_float(node)

    def is_scalar(self, node: Node) -> bool:
        """Whether an expression surely is a number."""
        match node:
            case gast.Name(id=name) if self.facts.is_derivative(name):
                return self.facts.is_number_adjoint(name)
            case gast.Attribute(value=gast.Name(), attr="size"):
                return True
            case gast.Subscript(value=gast.Attribute(value=gast.Name(), attr="shape"), slice=gast.Constant()):
                return True
            case gast.UnaryOp(operand=operand):
                return self.is_scalar(operand)
            case gast.BinOp(left=left, right=right):
                return self.is_scalar(left) and self.is_scalar(right)
        return self.is_number(node)

    def is_array(self, node: Node) -> bool:
        """Whether arithmetic surely is on arrays."""
        match node:
            case gast.Name(id=name):
                return self.facts.is_array(name)
            case gast.UnaryOp(operand=operand):
                return self.is_array(operand)
            case gast.BinOp(left=left, op=op, right=right) if not isinstance(op, gast.MatMult):
                return self.is_array(left) or self.is_array(right)
        return False

    def is_derivative(self, node: Node) -> bool:
        """Whether an expression reads an adjoint or a tangent, so that it is not the user's code."""
        return any(map(self.facts.is_derivative, names_read(node)))

    def is_float(self, node: Node) -> bool:
        """Whether an expression's value surely is a float, or an array of floats."""
        match node:
            case gast.Constant():
                return isinstance(node.value, float)
            case gast.UnaryOp(op=gast.USub() | gast.UAdd()):
                return self.is_float(node.operand)
            case gast.BinOp(op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div() | gast.Pow()
                            | gast.MatMult()):
                return self.is_float(node.left) or self.is_float(node.right)
        return self.facts.is_float(node)

    def old_object(self, node: Node, part: Node, consumed: bool) -> Node:
        """`part` in place of `node`, if no one can see that it is not a new object."""
        return part if consumed or not shared_by(part) or self.is_number(part) else node
