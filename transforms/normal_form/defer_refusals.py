"""Raises a refusal at run time where the refused statement stands, if it may not be reached.

Form in: a function as its author wrote it, and the position of the refused construct. Form out: the same,
with a `raise` of the refusal for the statement and the rest of its block, or a call that raises (see
`to_anf`) for an expression that may not be evaluated.

    if symbolic:                  if symbolic:
        return expand(x)     ->       raise MissingRuleError("`sympy.expand` has no rule")
    return x * x                  return x * x

A refusal that is surely reached is raised before the run. The body of a `for`, of a nested function, of a
handler, and statements after a `return` in an arm may not be reached; the body of a `try` is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import gast

from ..errors import Refusal, S2sadError
from ..trees.bind_objects import Objects
from ..trees.children import children
from ..trees.nodes import call, constant, load, located, walk_scope
from ..trees.program import MISSING, Program
from ..trees.rebuild import bound_names, map_children, rebuilt

__all__ = ["Point", "calls_of", "defer_refusal", "let_out"]

Node = Any  # gast publishes no types
Point = tuple[int, int]  # line and column

EXPRESSIONS = (gast.expr, gast.keyword, gast.withitem, gast.comprehension, gast.arguments)


def defer_refusal(program: Program, point: Point, refusal: Refusal, what: str) -> Program | None:
    """The program with the refusal raised at the point; None where the point is surely reached, or its block
    binds variables that are read elsewhere, and for a point outside of the program.
    """
    names = program.names.copy()
    objects = Objects(program, names)

    def refused(like: Node) -> Node:
        name = objects.name(refusal, refusal.error.__name__)
        return located(call(name, constant(what)), like)

    body = _Writer(point, refused).block(program.tree.body, may_skip=False)
    if body is None:
        return None
    tree = rebuilt(program.tree, body=body)
    lost = variables(program.tree) - variables(tree) - declared(walk_scope(program.tree.body))
    if lost and not lost.isdisjoint(mentioned(tree)):  # they would become globals
        return None
    return program.with_tree(tree, names=names, bindings=objects.all_bindings())


def let_out(program: Program, errors: Collection[type[S2sadError]]) -> Program:
    """The program with handlers that re-raise refusals before handlers that would catch them as one of the
    errors.
    """
    names = program.names.copy()
    objects = Objects(program, names)

    def takes(handler: Node) -> bool:
        parts = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
        for part in parts:
            cls = MISSING if part is None else program.resolve(part)
            if not isinstance(cls, type) or any(issubclass(error, cls) for error in errors):
                return True
        return False

    def change(node: Node) -> Node:
        new = map_children(node, change)
        if isinstance(new, gast.Try) and any(map(takes, new.handlers)):
            leave = located(gast.Raise(exc=None, cause=None), new)
            error = load(objects.name(S2sadError))
            way_out = located(gast.ExceptHandler(type=error, name=None, body=[leave]), new)
            return rebuilt(new, handlers=[way_out, *new.handlers])
        return new

    tree = rebuilt(program.tree, body=[change(s) for s in program.tree.body])
    return program.with_tree(tree, names=names, bindings=objects.all_bindings())


def variables(tree: Node) -> frozenset[str]:
    """All names that a function binds anywhere in it, imports included."""
    imported = (n.asname or n.name.partition(".")[0] for n in gast.walk(tree) if isinstance(n, gast.alias))
    return bound_names(tree) | frozenset(imported)


def mentioned(tree: Node) -> frozenset[str]:
    """All names that a function reads or declares."""
    return frozenset(n.id for n in gast.walk(tree) if isinstance(n, gast.Name)) | declared(gast.walk(tree))


def declared(nodes: Iterable[Node]) -> frozenset[str]:
    """The names that `global` and `nonlocal` among the nodes declare."""
    return frozenset(name for n in nodes if isinstance(n, (gast.Global, gast.Nonlocal)) for name in n.names)


def calls_of(tree: Node, is_meant: Callable[[Node], bool]) -> list[Point]:
    """The positions of calls whose callee `is_meant` accepts."""
    found = (n for n in gast.walk(tree) if isinstance(n, gast.Call) and hasattr(n, "lineno"))
    return [(n.lineno, n.col_offset) for n in found if is_meant(n.func)]


@dataclass
class _Writer:
    """Puts a refusal at a point. Each method returns the new part, or None where nothing may be skipped."""

    point: Point
    refused: Callable[[Node], Node]

    def block(self, statements: list[Node], may_skip: bool) -> list[Node] | None:
        found = [k for k, s in enumerate(statements) if self.is_in(s)]
        if not found:
            return None
        k = found[-1]  # statements that a pass added have the position of the whole function
        s, may_skip = statements[k], may_skip or any(map(may_jump, statements[:k]))
        new = self.statement(s, may_skip)
        if new is not None:
            return [*statements[:k], new, *statements[k + 1 :]]
        return [*statements[:k], *self.raised(s, statements[k:])] if may_skip else None

    def raised(self, s: Node, dropped: list[Node]) -> list[Node]:
        """The `raise`, after the declarations among the statements that it replaces."""
        found = [n for n in walk_scope(dropped) if isinstance(n, (gast.Global, gast.Nonlocal))]
        return [*found, located(gast.Raise(exc=self.refused(s), cause=None), s)]

    def statement(self, s: Node, may_skip: bool) -> Node | None:
        match s:
            case gast.If() | gast.For() | gast.While():
                is_endless = isinstance(s, gast.While) and is_true(s.test)
                return self.blocks(s, body=may_skip or not is_endless, orelse=True)
            case gast.With():
                return self.blocks(s, body=may_skip)
            case gast.Try():
                return self.listed(s, "handlers") or self.blocks(
                    s, body=may_skip, orelse=may_skip, finalbody=may_skip
                )
            case gast.FunctionDef():
                return self.blocks(s, body=True)
        if type(s).__name__ == "Match":
            return self.listed(s, "cases") or self.expressions(s)
        return self.expressions(s)

    def blocks(self, s: Node, **may_skip: bool) -> Node | None:
        for field, skips in may_skip.items():
            new = self.block(getattr(s, field), skips)
            if new is not None:
                return rebuilt(s, **{field: new})
        return self.expressions(s)

    def listed(self, s: Node, field: str) -> Node | None:
        """The statement with the refusal in one of its handlers or cases."""
        parts = getattr(s, field)
        for k, part in enumerate(parts):
            new = self.blocks(part, body=True)
            if new is not None:
                return rebuilt(s, **{field: [*parts[:k], new, *parts[k + 1 :]]})
        return None

    # ------------------------------------------------------------ expressions

    def expressions(self, node: Node) -> Node | None:
        """A node with the refusal in one of its direct expressions."""
        for child in children(node):
            if isinstance(child, EXPRESSIONS):
                new = self.expression(child)
                if new is not None:
                    return exchanged(node, child, new)
        return None

    def expression(self, node: Node) -> Node | None:
        match node:
            case gast.IfExp():
                return self.replaced(node, node.body, node.orelse) or self.expressions(node)
            case gast.BoolOp():
                for k, value in enumerate(node.values[1:], 1):
                    if self.is_in(value):
                        return rebuilt(node, values=[*node.values[:k], self.skipped(value)])
                return self.expressions(node)
            case gast.ListComp() | gast.SetComp() | gast.GeneratorExp():
                return self.replaced(node, node.elt) or self.generators(node)
            case gast.DictComp():
                return self.replaced(node, node.key, node.value) or self.generators(node)
            case gast.Lambda():
                return self.replaced(node, node.body) or self.expressions(node)
        return self.expressions(node)

    def generators(self, node: Node) -> Node | None:
        """A comprehension with the refusal in an iterable or test."""
        first = node.generators[0]
        for generator in node.generators:
            skipped = [generator.iter, *generator.ifs] if generator is not first else generator.ifs
            new = self.replaced(generator, *skipped)
            if new is not None:
                return rebuilt(node, generators=[new if g is generator else g for g in node.generators])
        return self.expressions(node)

    def replaced(self, node: Node, *parts: Node) -> Node | None:
        """The node with the refusal in one of its parts that may not be evaluated."""
        for part in parts:
            if self.is_in(part):
                return exchanged(node, part, self.skipped(part))
        return None

    def skipped(self, node: Node) -> Node:
        return self.expression(node) or self.refused(node)

    # ------------------------------------------------------------ places

    def is_in(self, node: Node) -> bool:
        """Whether the point lies in a node."""
        if getattr(node, "lineno", None) is None:
            return False
        start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        for decorator in getattr(node, "decorator_list", ()):
            start = min(start, (decorator.lineno, decorator.col_offset))
        return start <= self.point and (end[0] is None or self.point < end)


def exchanged(node: Node, old: Node, new: Node) -> Node:
    """The node with one child replaced."""
    return map_children(node, lambda child: new if child is old else child)


def may_jump(s: Node) -> bool:
    """Whether a statement may end its block, other than by an exception."""
    if isinstance(s, (gast.Return, gast.Break, gast.Continue)):
        return True
    if isinstance(s, (gast.For, gast.While)):
        return any(isinstance(n, gast.Return) for n in walk_scope([s])) or any(map(may_jump, s.orelse))
    if isinstance(s, (gast.FunctionDef, gast.ClassDef, gast.expr)):
        return False
    return any(may_jump(c) for c in children(s) if not isinstance(c, gast.expr))


def is_true(test: Node) -> bool:
    return isinstance(test, gast.Constant) and bool(test.value)
