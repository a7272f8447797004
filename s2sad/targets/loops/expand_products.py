"""Writes a product of matrices of two rows each as the sum of outer products that a loop can compute.

`np.array([x, y]).T @ np.array([u, v])` becomes `np.outer(x, u) + np.outer(y, v)`, if all are vectors.
"""

from __future__ import annotations

import ast
from functools import reduce

from ..array_types import Array
from .read_expressions import Reader

__all__ = ["expand_products"]


def expand_products(function: ast.FunctionDef, reader: Reader) -> bool:
    """Whether the function had such products; they are replaced in place."""
    expander = _Expander(reader)
    expander.visit(function)
    return expander.has_expanded


class _Expander(ast.NodeTransformer):
    def __init__(self, reader: Reader) -> None:
        self.reader, self.has_expanded = reader, False

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(left=ast.Attribute(value=ast.Call() as first, attr="T"), op=ast.MatMult(),
                           right=ast.Call() as second):  # fmt: skip
                pairs = list(zip(self.rows(first), self.rows(second), strict=False))
                if len(pairs) > 1 and len(self.rows(first)) == len(self.rows(second)):
                    assert isinstance(first.func, ast.Attribute)
                    outer = ast.Attribute(first.func.value, "outer", ast.Load())
                    terms: list[ast.expr] = [ast.Call(outer, [*pair], []) for pair in pairs]
                    self.has_expanded = True
                    return reduce(lambda a, b: ast.copy_location(ast.BinOp(a, ast.Add(), b), node), terms)
        return node

    def rows(self, node: ast.Call) -> list[ast.expr]:
        """The vectors that an array is made of."""
        match node:
            case ast.Call(func=ast.Attribute() as func, args=[ast.List(elts=rows)], keywords=[]) if (
                self.reader.numpy_name(func) == "array"
            ):
                types = map(self.reader.types.of, rows)
                return rows if all(isinstance(t, Array) and t.rank == 1 for t in types) else []
        return []
