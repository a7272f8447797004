"""Writes calls of helpers and of functions that move axes as what is computed element by element:
`np.expand_dims(d, 1)` as `d[:, None]`, `take_at(da, i, v)` as `unbroadcast(+da[i], v)`, `d[i].copy()` as
`+d[i]`, and `to_ties` as the comparisons, the sum and the choice that it makes.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from ...rules.choices import kept_where
from ...rules.reductions import are_ties, to_ties
from ...runtime.adjoints import unbroadcast
from ...runtime.broadcasting import contracted
from ..array_types import Array, Types
from ..literal_indices import constant_of, is_none
from ..matrices import inverse, product, sign_and_log
from .read_expressions import Meaning, Reader

__all__ = ["REWRITTEN", "Helpers"]

OF_MATRIX = {
    np.dot: ("product", 2), np.matmul: ("product", 2), np.linalg.inv: ("inverse", 1),
    np.linalg.slogdet: ("sign_and_log", 1),
}  # fmt: skip
REWRITTEN: frozenset[Any] = frozenset((to_ties, contracted))  # which have no other code
CALLED: dict[str, Any] = {
    "unbroadcast": unbroadcast, "kept_where": kept_where, "are_ties": are_ties, "sum": np.sum,
    "maximum": np.maximum, "product": product, "inverse": inverse, "sign_and_log": sign_and_log,
}  # fmt: skip


class Helpers(Reader):
    """Rewrites calls; `called` are the functions that are called by names of their own."""

    def __init__(self, types: Types, meaning: Meaning, fresh: Callable[[str], str]) -> None:
        super().__init__(types, lambda node: self.called_by(node) or meaning(node), fresh)
        types.meaning = self.meaning
        self.called: dict[str, Any] = {}
        self._names: dict[str, str] = {}

    def called_by(self, node: ast.expr) -> Any:
        return self.called.get(node.id) if isinstance(node, ast.Name) else None

    def name_of(self, node: ast.expr) -> ast.expr:
        """A name for the value of an expression."""
        raise NotImplementedError

    def rewritten(self, node: ast.expr) -> ast.expr:
        """The expression of a call, or the call."""
        match node:
            case ast.BinOp(left=left, op=ast.MatMult(), right=right) if self.have_product(left, right):
                return placed(self.call("product", left, right), node)
        if not isinstance(node, ast.Call):
            return node
        name, count = OF_MATRIX.get(self.meaning(node.func), ("", -1))
        takes = self.have_product if name == "product" else self.are_matrices
        if len(node.args) == count and takes(*node.args) and not node.keywords:
            return placed(self.call(name, *node.args), node)
        new: ast.expr = node
        args = node.args
        match self.numpy_name(node.func) or self.helper_name(node.func), args:
            case "expand_dims", [value, ast.Constant(value=int() as axis)] if self.is_array(value) and (
                0 <= axis <= self.rank_of(value) and not node.keywords
            ):
                before = [ast.Slice() for _ in range(axis)]
                new = ast.Subscript(value, ast.Tuple([*before, ast.Constant(None)], ast.Load()), ast.Load())
            case "transpose", [value] if self.rank_of(value) == 2 and not node.keywords:
                new = ast.Attribute(value, "T", ast.Load())
            case "take_at", [ast.Name() as array, index, ast.Name() as like] if self.is_array(array):
                part = ast.Subscript(array, as_index(index), ast.Load())
                if self.is_region(part) and self.is_real(part):
                    new = self.call("unbroadcast", ast.UnaryOp(ast.UAdd(), part), like)
            case "to_ties", [dout, x, out, axis, *_] if len(args) == 4 and not node.keywords:
                new = self.ties(node, dout, x, out, constant_of(axis))
            case "", []:
                new = self.copied(node)
        return new if new is node else placed(new, node)

    def are_matrices(self, *nodes: ast.expr) -> bool:
        """Whether they are real matrices."""
        return self.is_real(*nodes) and all(self.rank_of(n) == 2 for n in nodes)

    def have_product(self, *nodes: ast.expr) -> bool:
        """Whether they are matrices of floats or complex numbers."""
        types = [self.types.of(n) for n in nodes]
        return all(isinstance(t, Array) and t.rank == 2 and t.kind in "fc" for t in types)

    def copied(self, node: ast.Call) -> ast.expr:
        """The copy of a part of an array, `x[1:].copy()`, as `+x[1:]`."""
        match node.func:
            case ast.Attribute(value=ast.Subscript() as base, attr="copy") if (
                self.is_region(base) and not node.keywords
            ):
                found = self.types.of(base)
                assert isinstance(found, Array)
                return ast.UnaryOp(ast.UAdd(), base) if found.kind in "fc" else node
        return node

    def ties(self, node: ast.expr, dout: ast.expr, x: ast.expr, out: ast.expr, axis: Any) -> ast.expr:
        """The cotangent of `x` from that of its largest elements over an axis, which equal ones share."""
        rank = self.rank_of(x)
        if not (self.is_real(dout, x, out) and type(axis) is int and self.rank_of(out) == rank - 1 > 0):
            return node
        axis %= rank
        x, out, dout = self.name_of(x), self.name_of(out), self.name_of(dout)
        indices: list[ast.expr] = [ast.Constant(None) if k == axis else ast.Slice() for k in range(rank)]
        wide = ast.Tuple(indices, ast.Load())
        hit = self.call("are_ties", x, ast.Subscript(out, wide, ast.Load()))
        terms = placed(self.call("kept_where", hit, ast.Constant(1.0)), node)
        count = self.name_of(placed(self.call("sum", terms, ast.Constant(axis)), node))
        share = ast.BinOp(dout, ast.Div(), self.call("maximum", count, ast.Constant(1.0)))
        named = self.name_of(placed(share, node))
        return self.call("kept_where", copy.deepcopy(hit), ast.Subscript(named, wide, ast.Load()))

    def call(self, function: str, *args: ast.expr) -> ast.Call:
        """A call of a function, by a name that it has here."""
        if function not in self._names:
            self._names[function] = name = self.fresh(function)
            self.called[name] = CALLED[function]
        return ast.Call(ast.Name(self._names[function], ast.Load()), [copy.deepcopy(a) for a in args], [])


def as_index(node: ast.expr) -> ast.expr:
    """The index that a tuple of `slice(...)` and others stands for."""
    match node:
        case ast.Tuple(elts=elts):
            return ast.Tuple([as_index(e) for e in elts], ast.Load())
        case ast.Call(func=ast.Name(id="slice"), args=[lower, upper, step], keywords=[]):
            return ast.Slice(*(None if is_none(b) else b for b in (lower, upper, step)))
    return node


def placed(new: ast.expr, node: ast.expr) -> ast.expr:
    """A new expression at the place of another one."""
    for n in ast.walk(new):
        if isinstance(n, (ast.expr, ast.keyword)) and not hasattr(n, "lineno"):
            ast.copy_location(n, node)
    return new
