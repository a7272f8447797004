"""Names every intermediate value.

Form in: a function after `desugar_jumps`. Form out: the normal form (`tests/support/is_normal.py`), and
`del` of names: each statement computes one operation on names and literals. The order of evaluation is
Python's, left to right; operands that `and`, `or`, `... if ... else` and chained comparisons may skip stand
in an arm of an `if`. Lambdas become nested functions. Temporaries are named after the statement's target.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(to_anf(program_of('''
... def f(x, y):
...     while x < y < 9:
...         x = x * x + (y if x else -y)
...     return g(x)[0]
... ''')).tree))
def f(x, y):
    while True:
        test_1 = x < y
        if test_1:
            test_2 = y < 9
        else:
            test_2 = test_1
        if not test_2:
            break
        x_1 = x * x
        if x:
            x_2 = y
        else:
            x_2 = -y
        x = x_1 + x_2
    out_1 = g(x)
    out = out_1[0]
    return out
<BLANKLINE>
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import gast

from ..analyses.operations import is_pop
from ..trees.evaluation_order import walrus_names
from ..trees.generators import makes_generator
from ..trees.nodes import assign, call, constant, has_stars, load, located, store, walk
from ..trees.program import MISSING, Program
from ..trees.rebuild import map_blocks, rebuilt
from .anf_expressions import ExpressionWriter
from .desugar_assignments import desugar_assignments
from .desugar_comprehensions import consumes, listed, rewritten
from .lazy_iterables import base_name
from .view_loops import is_view

__all__ = ["to_anf"]

Node = Any  # gast publishes no types


def to_anf(program: Program) -> Program:
    """The program in normal form."""
    writer = Writer(program)
    tree = rebuilt(program.tree, body=writer.function_body(program.tree.body))
    return program.with_tree(
        tree,
        names=writer.names,
        bindings=writer.objects.all_bindings(),
    )


class Writer(ExpressionWriter):
    """Writes statements; the base class writes their expressions."""

    # ------------------------------------------------------------ blocks and statements

    def block(self, statements: list[Node]) -> list[Node]:
        """The normalised block; `pass` when it is empty."""
        outer, self.out = self.out, []
        for statement in statements:
            like, base = self.like, self.base
            self.like = statement
            self.statement(statement)
            self.like, self.base = like, base
        result, self.out = self.out, outer
        return result or [located(gast.Pass(), s) for s in statements[:1]]

    def function_body(self, statements: list[Node]) -> list[Node]:
        """A function's block. The name of its result is reserved first: nested functions have results,
        too.
        """
        value = statements[-1].value
        needed = not self.is_atom(value) and not isinstance(value, (gast.Lambda, gast.NamedExpr))
        self.results.append(self.names.fresh("out") if needed else "")
        result = self.block(statements)
        self.results.pop()
        return result

    def statement(self, s: Node) -> None:
        match s:
            case gast.Assign(targets=[target]):
                self.base = target.attr if isinstance(target, gast.Attribute) else base_name(target)
                self.assignment(target, s.value)
            case gast.AugAssign():
                self.base = s.target.attr if isinstance(s.target, gast.Attribute) else base_name(s.target)
                self.augmented(s)
            case gast.Return():
                self.base = "out"
                result = self.result(s.value)
                self.emit(gast.Return(value=gast.Constant(value=None, kind=None) if self.is_left else result))
            case gast.If():
                self.base = "test"
                test = self.atom(s.test)
                body, orelse = self.block(s.body), self.block(s.orelse)
                self.emit(
                    gast.If(
                        test=test,
                        body=body,
                        orelse=[] if all(isinstance(n, gast.Pass) for n in orelse) else orelse,
                    )
                )
            case gast.For():
                self.base = base_name(s.target)
                self.emit(rebuilt(s, iter=self.iterable(s.iter), body=self.block(s.body)))
            case gast.While():
                self.base = "test"
                self.while_loop(s)
            case gast.With(items=[item]):
                self.base = "context"
                context = item.context_expr
                context = self.op(context) if isinstance(context, gast.Call) else self.atom(context)
                self.emit(
                    rebuilt(s, items=[rebuilt(item, context_expr=context)], body=self.block(s.body))
                )
            case gast.Try():
                self.emit(map_blocks(s, self.block))
            case gast.FunctionDef():
                self.base = s.name
                args = self.arguments(s.args)
                self.emit(rebuilt(s, args=args, body=self.function_body(s.body)))
            case gast.Assert():
                self.base = "test"
                self.emit(
                    rebuilt(s, test=self.atom(s.test))
                )  # the message stays: it is evaluated only on failure
            case gast.Expr(value=gast.Yield(value=value)):
                value = value or constant(None)
                self.base = base_name(value)
                self.emit(rebuilt(s, value=rebuilt(s.value, value=self.atom(value))))
            case gast.Expr():
                self.base = "value"
                self.effect(s.value)
            case gast.Pass():
                pass
            case _:  # break; del; raise, whose operands are not differentiated
                self.emit(s)

    def assignment(self, target: Node, value: Node) -> None:
        match target:
            case gast.Name():
                self.into(target.id, value)
            case gast.Subscript():  # Python's order: value, object, index
                (new, base), index = self.operands([value, target.value], target.slice)
                self.emit(assign(rebuilt(target, value=base, slice=index), new))
            case gast.Attribute():
                new, base = self.atoms([value, target.value])
                self.emit(assign(rebuilt(target, value=base), new))
            case _:
                self.emit(assign(target, self.atom(listed(self, value))))

    def run(self, statements: list[Node]) -> None:
        """Writes statements in the form of `desugar_assignments`' input, all at the position of `like`."""
        for n in (n for s in statements for n in walk(s)):
            if isinstance(n, gast.stmt) and not hasattr(n, "lineno"):
                located(n, self.like)
        program = self.program.with_tree(rebuilt(self.program.tree, body=statements), names=self.names)
        simple = desugar_assignments(program)
        self.names = self.objects.names = simple.names
        self.objects.bindings.update(simple.bindings)
        base = self.base
        for statement in simple.tree.body:
            self.statement(statement)
        self.base = base

    def result(self, value: Node) -> Node:
        """The atom that a function returns; the last value that it computes is named `out`."""
        name = self.results[-1]
        return load(self.into(name, value)) if name else self.atom(value)

    def effect(self, value: Node) -> None:
        """An expression as a statement."""
        if isinstance(value, gast.Constant):
            return
        if is_pop(value):
            self.atom(value)
        elif isinstance(value, gast.Call) and not consumes(self, value):
            new = rewritten(self, value)
            if not isinstance(new or value, gast.Call):
                self.atom(new)
                return
            value = new or value
            self.base = getattr(value.func, "attr", getattr(value.func, "id", self.base))
            self.emit(gast.Expr(value=self.op(value)))
        elif isinstance(value, gast.Name):
            self.assign(self.names.temporary(self.base), value)  # raises where the name is unbound
        else:
            self.atom(value)

    def augmented(self, s: Node) -> None:
        if isinstance(s.target, gast.Name):
            if s.target.id in walrus_names([s.value]):  # the old value is read first
                held = self.temporary(load(s.target.id))
                value = self.atom(s.value)
                self.emit(gast.AugAssign(target=store(held.id), op=s.op, value=value))
                self.assign(s.target.id, held)
            else:
                self.emit(rebuilt(s, value=self.atom(s.value)))
            return
        if isinstance(s.target, gast.Attribute):
            (base,) = self.atoms([s.target.value], s.value)
            target = rebuilt(s.target, value=base)
            held = self.temporary(gast.Attribute(value=base, attr=s.target.attr, ctx=gast.Load()))
            self.emit(gast.AugAssign(target=store(held.id), op=s.op, value=self.atom(s.value)))
            self.emit(assign(target, held))
            return
        (base,), index = self.operands([s.target.value], s.target.slice, s.value)
        target = rebuilt(s.target, value=base, slice=index)
        if not self.may_change_elements(s.value):
            self.emit(rebuilt(s, target=target, value=self.atom(s.value)))
            return
        # Python reads the element before it evaluates the value, which may change the element.
        held = self.temporary(gast.Subscript(value=base, slice=index, ctx=gast.Load()))
        self.emit(gast.AugAssign(target=store(held.id), op=s.op, value=self.atom(s.value)))
        self.emit(assign(target, held))

    def may_change_elements(self, value: Node) -> bool:
        """Whether the evaluation of the expression may call a method or the user's own code."""
        package = str(self.program.scope.globals.get("__name__", "")).partition(".")[0]
        for n in gast.walk(value):
            if isinstance(n, gast.NamedExpr):
                return True
            if isinstance(n, gast.Call):
                found = self.program.resolve(n.func)
                module = (getattr(found, "__module__", None) or "").partition(".")[0]
                if found is MISSING or (isinstance(found, (FunctionType, type)) and module in (package, "")):
                    return True
        return False

    def while_loop(self, s: Node) -> None:
        outer, self.out = self.out, []
        if not (isinstance(s.test, gast.Constant) and s.test.value):
            test = self.atom(s.test)
            leave = located(gast.Break(), self.like)
            self.emit(gast.If(test=gast.UnaryOp(op=gast.Not(), operand=test), body=[leave], orelse=[]))
        header, self.out = self.out, outer
        body = [n for n in self.block(s.body) if not (header and isinstance(n, gast.Pass))]
        self.emit(rebuilt(s, test=gast.Constant(value=True, kind=None), body=header + body))

    def iterable(self, node: Node) -> Node:
        """The iterable of a `for`: an atom; `range`, `zip`, `enumerate`, `reversed`, a generator of atoms."""
        if is_view(self.program, node):  # a list: the loop's body cannot change it
            return self.atom(call(self.objects.name(list), node))
        if isinstance(node, gast.Call) and not has_stars(node) and makes_generator(self.program, node):
            return self.op(node)
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name) or not node.args:
            return self.atom(node)
        if has_stars(node):
            return self.atom(node)
        found = self.program.resolve(node.func)
        if found is zip or found is enumerate:
            node = rebuilt(node, args=[listed(self, a) for a in node.args])
        if found is zip or found is enumerate or found is reversed:
            shown = self.objects.name(list)
            args = [call(shown, a) if is_view(self.program, a) else a for a in node.args]
            node = rebuilt(node, args=args)
        if found is enumerate and len(node.args) == 2 and not node.keywords:
            node = rebuilt(node, args=node.args[:1], keywords=[gast.keyword(arg="start", value=node.args[1])])
        if found is enumerate and [k.arg for k in node.keywords] in ([], ["start"]):
            return self.op(node)
        lazy = any(found is builtin for builtin in (range, zip, reversed)) and not node.keywords
        strict = found is zip and [k.arg for k in node.keywords] == ["strict"]
        return self.op(node) if lazy or strict else self.atom(node)
