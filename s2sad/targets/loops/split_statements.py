"""Takes statements apart, so that each has one operation on arrays: `s = np.sum(np.exp(x @ w))` becomes
`part = x @ w; s = np.sum(np.exp(part))`, of a product and a reduction of what is computed element by element.
"""

from __future__ import annotations

import ast

from .read_expressions import Reader, is_computed, is_number_text, is_slice

__all__ = ["Splitter"]


class Splitter(Reader):
    """Takes statements apart, so that each is a reduction, a computation element by element, or none of
    these with names for all arrays in it.
    """

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for s in statements:
            self.before: list[ast.stmt] = []
            self.at = s
            new = self.statement(s)
            found += [*self.before, *([new] if new is not None else [])]
        return found

    def statement(self, s: ast.stmt) -> ast.stmt | None:
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
                s.body = self.block(s.body)
                s.orelse = self.block(s.orelse)
                self.before = kept
        return s

    def stored(self, target: ast.Name | ast.Subscript, value: ast.expr) -> ast.expr:
        is_region = isinstance(target, ast.Name) or is_slice(target.slice)
        if not (is_region and self.is_array(target)):
            return self.named(value)
        return self.operation(value)

    def named(self, node: ast.expr) -> ast.expr:
        """The expression, with names for what it computes of arrays."""
        if isinstance(node, ast.Tuple):
            node.elts = [self.named(e) for e in node.elts]
            return node
        if self.is_array(node):
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
        if self.reduction(node) is not None:
            assert isinstance(node, ast.Call)
            node.args[0] = self.elements(node.args[0])
            return node
        if not self.is_array(node):
            return self.scalar(node)
        return self.elements(node, is_whole=True)

    def elements(self, node: ast.expr, is_whole: bool = False) -> ast.expr:
        """The expression with names for what is not computed element by element; with `is_whole` it may be
        so itself.
        """
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
            case ast.Name():
                return node
            case ast.Subscript(value=ast.Name() as base) if self.is_array(base) and is_slice(node.slice):
                return node
            case ast.Subscript(value=base) if self.is_array(base) and is_slice(node.slice):
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
        if self.reduction(node) is not None:
            return self.name_of(self.operation(node))
        if self.is_array(node) and not isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
            new = self.operation(node)
            return self.name_of(new) if self.is_elementwise(new) else new
        return self.scalar(node)

    def is_elementwise(self, node: ast.expr) -> bool:
        return self.is_array(node) and is_computed(node, self)
