"""The names that functions, lambdas and comprehensions nested in a function read from it.

Contract: the free names are over-approximated. A scope that holds a construct that is not analysed
(`nonlocal`, `try`, classes ...) is odd: all its names then count as free.
"""
from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import children, loads, walk
from ..trees.remember import remembered

__all__ = ["NestedScope", "children"]

Node = Any  # gast publishes no types

_SCOPES = (gast.FunctionDef, gast.Lambda, gast.GeneratorExp, gast.ListComp, gast.SetComp, gast.DictComp)
_BINDING = (*_SCOPES, gast.NamedExpr)


@remembered
def _only_loads(expression: Node) -> bool:
    """Whether an expression only reads names: it binds none and has no scope of its own."""
    return all(
        isinstance(n.ctx, gast.Load) if isinstance(n, gast.Name) else not isinstance(n, _BINDING)
        for n in walk(expression)
    )


class NestedScope:
    """The names of a nested scope: `loads` are the free ones, `inner` those bound somewhere inside it."""

    _ODD = (gast.Nonlocal, gast.Global, gast.Import, gast.ImportFrom, gast.ClassDef, gast.Try, gast.TryStar,
            gast.Match, gast.Delete, gast.AsyncFunctionDef, gast.NamedExpr)

    def __init__(self) -> None:
        self.loads: set[str] = set()
        self.bound: dict[str, int] = {}
        self.inner: set[str] = set()
        self.mentioned: set[str] = set()
        self.is_odd = False

    def arguments(self, arguments: Node) -> None:
        for node in walk(arguments):
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Param):
                self.bound[node.id] = 1

    def visit(self, node: Node) -> None:
        if isinstance(node, gast.expr) and _only_loads(node):
            self.loads.update(loads(node))
            self.mentioned.update(loads(node))
            return
        if isinstance(node, self._ODD):
            self.is_odd = True
        match node:
            case gast.Name():
                self.mentioned.add(node.id)
                if isinstance(node.ctx, gast.Store):
                    self.bound[node.id] = 1
                elif isinstance(node.ctx, gast.Load):
                    self.loads.add(node.id)
                return
            case gast.Nonlocal() | gast.Global():
                self.mentioned.update(node.names)
            case _ if isinstance(node, _SCOPES):
                self.nested(node)
                return
        for child in children(node):
            self.visit(child)

    def nested(self, node: Node) -> None:
        scope = NestedScope()
        if isinstance(node, (gast.FunctionDef, gast.Lambda)):
            scope.arguments(node.args)
            outside = [*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", [])]
            for part in outside:  # the enclosing scope evaluates these
                if part is not None:
                    self.visit(part)
            for part in node.body if isinstance(node, gast.FunctionDef) else [node.body]:
                scope.visit(part)
            self.loads |= scope.loads - set(scope.bound)
        else:
            for child in children(node):
                scope.visit(child)
            self.loads |= scope.loads
        self.inner |= scope.inner | set(scope.bound)
        self.mentioned |= scope.mentioned | set(scope.bound)
        self.is_odd = self.is_odd or scope.is_odd
        if isinstance(node, gast.FunctionDef):
            self.bound[node.name] = 1
            self.mentioned.add(node.name)
