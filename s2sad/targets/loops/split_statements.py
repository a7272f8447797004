"""Takes statements apart, so that each has one operation on arrays: `s = np.sum(np.exp(x @ w))` becomes
`part = x @ w; s = np.sum(np.exp(part))`, of a product and a reduction of what is computed element by element.
Names of views that are read there become the views: `row = a[i, :j]; b = 2.0 * row` has `b = 2.0 * a[i, :j]`.
"""

from __future__ import annotations

import ast
import copy

from .read_expressions import Reader, is_computed, is_number_text
from .rewrite_helpers import Helpers

__all__ = ["Splitter"]


class Splitter(Helpers):
    """Takes the statements of a function apart."""

    views: dict[str, ast.expr]

    def function(self, function: ast.FunctionDef) -> None:
        """Changes the statements of a function in place."""
        self.views = {}  # by their names, where these and those of the arrays mean the same as before
        function.body = self.block(function.body)
        while dead := dead_views(function, self):
            function.body = without(function.body, dead)

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for s in statements:
            self.before: list[ast.stmt] = []
            self.at = s
            new = self.statement(s)
            found += [*self.before, new]
        return found

    def statement(self, s: ast.stmt) -> ast.stmt:
        match s:
            case ast.Assign(targets=[ast.Name()], value=value):
                s.value = self.operation(value)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                s.value = self.stored(target, value)
            case ast.AugAssign(target=ast.Name() | ast.Subscript() as target, value=value):
                s.value = self.stored(target, value)
            case ast.Return(value=ast.expr() as value):
                s.value = self.named(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append")) as call):
                call.args = [self.named(a) for a in call.args]
            case ast.For() | ast.While() | ast.If():
                kept = self.before
                self.forget(s)  # what is bound here may be bound already, in the turn before
                views = dict(self.views)
                s.body = self.block(s.body)
                self.views = views
                s.orelse = self.block(s.orelse)
                self.before, self.views = kept, views
                return s
        self.forget(s)
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and is_view(s.value, self):
            name = s.targets[0].id
            if name not in {n.id for n in ast.walk(s.value) if isinstance(n, ast.Name)}:
                self.views[name] = s.value
        return s

    def forget(self, s: ast.stmt) -> None:
        """Forgets views whose names, arrays or bounds a statement binds again."""
        bound = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for name, view in list(self.views.items()):
            if bound & {name, *(n.id for n in ast.walk(view) if isinstance(n, ast.Name))}:
                del self.views[name]

    def stored(self, target: ast.Name | ast.Subscript, value: ast.expr) -> ast.expr:
        is_whole = isinstance(target, ast.Name) and self.is_array(target)
        if not (is_whole or self.is_region(target)):
            return self.named(value)
        new = self.operation(value)
        is_operand = not self.is_array(new) or is_computed(new, self) or is_view(new, self)
        return new if is_operand and self.reduction(new) is None else self.name_of(new)

    def named(self, node: ast.expr) -> ast.expr:
        """The expression, with names for what it computes of arrays."""
        if isinstance(node, ast.Tuple):
            node.elts = [self.named(e) for e in node.elts]
            return node
        if self.is_array(node) and not isinstance(node, ast.Name):
            new = self.operation(node)
            return self.name_of(new) if self.is_elementwise(new) or self.reduction(new) else new
        return self.inner(node)

    def name_of(self, node: ast.expr) -> ast.expr:
        """A name for the value of an expression."""
        if isinstance(node, (ast.Name, ast.Constant)):
            return node
        name = self.fresh("part")
        found = self.types.of(node)
        assert found is not None
        self.types.names[name] = found
        self.before.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], node), self.at))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def operation(self, node: ast.expr) -> ast.expr:
        """An expression of one kind: elementwise, a reduction of such a one, or another one of names."""
        node = self.rewritten(node)
        if self.reduction(node) is not None:
            return self.reduced(node)
        if not self.is_array(node):
            return self.scalar(node)
        return node if isinstance(node, ast.Name) else self.elements(node, is_whole=True)

    def reduced(self, node: ast.expr) -> ast.expr:
        """A reduction of what is computed element by element."""
        match node:
            case ast.BinOp():
                node.left, node.right = self.operand(node.left), self.operand(node.right)
            case ast.Call(func=func, args=args) if self.numpy_name(func) in ("dot", "matmul", "vecdot"):
                node.args = list(map(self.operand, args))
            case ast.Call(func=func, args=args) if self.helper_name(func) in ("unbroadcast", "contracted"):
                node.args = [*map(self.elements, args[:-1]), args[-1]]
            case ast.Call():
                node.args[0] = self.elements(node.args[0])
        return node

    def operand(self, node: ast.expr) -> ast.expr:
        """An operand of a product: a name of an array, or a part of it."""
        node = self.elements(node)
        is_turned = isinstance(node, ast.Attribute) and self.rank_of(node) == 2
        return node if is_turned or self.is_region(node) else self.name_of(node)

    def elements(self, node: ast.expr, is_whole: bool = False) -> ast.expr:
        """The expression with names for what is not computed element by element; with `is_whole` it may be
        so itself.
        """
        node = self.rewritten(node)
        if not self.is_array(node):
            is_literal = is_number_text(node) or not self.is_number(node)
            return node if is_literal else self.name_of(self.scalar(node))
        match node:
            case ast.BinOp() if self.is_lowered(node):
                node.left, node.right = self.elements(node.left), self.elements(node.right)
                return node
            case ast.UnaryOp() if self.is_lowered(node):
                node.operand = self.elements(node.operand)
                return node
            case ast.Compare() if self.is_lowered(node):
                node.left, node.comparators = self.elements(node.left), [self.elements(node.comparators[0])]
                return node
            case ast.Call() if self.elementwise_call(node):
                node.args = [self.elements(a) for a in node.args]
                return node
            case ast.Name(id=name):
                return copy.deepcopy(self.views.get(name, node))
            case ast.Subscript(value=base) if self.is_array(base) and self.selects_region(node.slice):
                node.value = self.name_of(self.operation(base))
                return node
            case ast.Attribute(attr="T", value=base) if self.is_array(base):
                node.value = self.name_of(self.operation(base))
                return node
        new = self.scalar(node) if self.reduction(node) is None else self.operation(node)
        return new if is_whole else self.name_of(new)

    def scalar(self, node: ast.expr) -> ast.expr:
        """An expression that is no elementwise one, with names for the parts of it that are, and for
        reductions.
        """
        for name, old in ast.iter_fields(node):
            if isinstance(old, ast.expr):
                setattr(node, name, self.inner(old))
            elif isinstance(old, list) and not isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.BoolOp)):
                setattr(node, name, [self.inner(x) if isinstance(x, ast.expr) else x for x in old])
        return node

    def inner(self, node: ast.expr) -> ast.expr:
        if isinstance(node, (ast.IfExp, ast.BoolOp, ast.Lambda)):
            return node  # not all of it is evaluated
        node = self.rewritten(node)
        if self.reduction(node) is not None:
            return self.name_of(self.operation(node))
        if self.is_array(node) and not isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
            new = self.operation(node)
            return self.name_of(new) if self.is_elementwise(new) else new
        return self.scalar(node)

    def is_elementwise(self, node: ast.expr) -> bool:
        return self.is_array(node) and is_computed(node, self)


def is_view(node: ast.expr, reader: Reader) -> bool:
    """Whether an expression is a view that is read element by element."""
    if isinstance(node, ast.Attribute):
        return node.attr == "T" and isinstance(node.value, ast.Name) and reader.is_array(node)
    return reader.is_region(node)


def dead_views(function: ast.FunctionDef, reader: Reader) -> set[str]:
    """The names that stand for nothing but views, and are not read."""
    nodes = list(ast.walk(function))
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    read |= {n.target.id for n in nodes if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    views: set[str] = set()
    others: set[str] = set()
    for n in nodes:
        match n:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                (views if is_view(value, reader) else others).add(name)
            case ast.Assign(targets=targets):
                others |= {t.id for x in targets for t in ast.walk(x) if isinstance(t, ast.Name)}
            case ast.For(target=target):
                others |= {t.id for t in ast.walk(target) if isinstance(t, ast.Name)}
    return views - others - read


def without(statements: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """The statements without the assignments of these names."""
    found = []
    for s in statements:
        for field, inner in ast.iter_fields(s):
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(s, field, without(inner, names) or ([ast.Pass()] if field != "orelse" else []))
        target = s.targets[0] if isinstance(s, ast.Assign) else None
        if not (isinstance(target, ast.Name) and target.id in names):
            found.append(s)
    return found
