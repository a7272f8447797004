"""Checks the normal form.

    function := def name(params): stmts; `return atom` (one, last)
    stmt  := name = op | name = atom | (name, ..) = atom | atom[index] = atom
           | name op= atom | atom[index] op= atom | call op | pass | assert atom, .. | raise .. | yield atom
           | with op [as name]: .. | try: .. except: .. else: .. | try: .. finally: ..
           | if atom: .. else: .. | for name(s) in iter: .. | while True: .. | nested function
    iter  := atom | range(atom..) | zip(atom..) | enumerate(atom[, start=atom]) | reversed(atom)
           | a call of a generator function, which is closed when the loop is left
    op    := atom (+ - * ..) atom | -atom | atom < atom | callee([*]atom.., k=atom, **atom) | atom[index]
           | atom.attr | (atom, ..) | f-string of atoms
    index := atom | atom:atom:atom | (those, ..)
    atom  := name | literal | static path (`np.pi`)

A loop is left only by `if atom: break`, last in its body, and a `while` also by its test, `if not atom:
break`. Every statement has a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from s2sad.transforms.trees.generators import makes_generator
from s2sad.transforms.trees.nodes import blocks_of, defaults_of
from s2sad.transforms.trees.program import Program

__all__ = ["find_violations", "is_normal"]

Node = Any  # gast publishes no types


def is_normal(program: Program) -> bool:
    """Whether the program is in normal form."""
    return not find_violations(program)


def find_violations(program: Program) -> tuple[str, ...]:
    """The violations of the normal form, each with its line."""
    return tuple(_Checker(program).function(program.tree))


class _Checker:
    def __init__(self, program: Program) -> None:
        self.program = program

    def wrong(self, node: Node, what: str) -> str:
        return f"line {getattr(node, 'lineno', '?')}: {what}: {type(node).__name__}"

    def function(self, node: Node) -> Iterator[str]:
        *body, last = node.body
        if not isinstance(last, gast.Return) or not self.is_atom(last.value):
            yield self.wrong(last, "a function must end with `return atom`")
        yield from self.located(last)
        yield from self.block(body)
        if node is not self.program.tree:
            for default in defaults_of(node):
                yield from self.atom(default, "a default")
        if node.args.vararg is not None or node.args.kwarg is not None:
            yield self.wrong(node, "star parameters")

    def located(self, node: Node) -> Iterator[str]:
        if not isinstance(getattr(node, "lineno", None), int) or not isinstance(
            getattr(node, "col_offset", None), int
        ):
            yield self.wrong(node, "a statement without a line")

    def block(self, statements: list[Node]) -> Iterator[str]:
        for s in statements:
            yield from self.located(s)
            yield from self.statement(s)

    def statement(self, s: Node) -> Iterator[str]:
        match s:
            case gast.Assign():
                yield from self.assignment(s)
            case gast.AugAssign():
                yield from self.atom(s.value, "the value of an augmented assignment")
                if isinstance(s.target, gast.Subscript):
                    yield from self.op(s.target)
                elif not isinstance(s.target, gast.Name):
                    yield self.wrong(s.target, "a target of an augmented assignment")
            case gast.If():
                yield from self.atom(s.test, "a test")
                if not s.body:
                    yield self.wrong(s, "an empty block")
                yield from self.block(s.body)
                yield from self.block(s.orelse)
            case gast.For():
                if not is_flat_target(s.target):
                    yield self.wrong(s.target, "a loop target")
                yield from self.iterable(s.iter)
                yield from self.loop(s, s.body)
            case gast.While():
                if not (isinstance(s.test, gast.Constant) and s.test.value is True):
                    yield self.wrong(s.test, "a `while` test that is not True")
                yield from self.loop(s, self.without_test(s.body))
            case gast.With():
                yield from self.context(s)
                yield from self.block(s.body)
            case gast.Try():
                if bool(s.handlers) is bool(s.finalbody):
                    yield self.wrong(s, "a `try` with both `except` and `finally`")
                for block in blocks_of(s):
                    yield from self.block(block)
            case gast.FunctionDef():
                if s.decorator_list or s.returns is not None:
                    yield self.wrong(s, "decorators or annotations")
                yield from self.function(s)
            case gast.Expr(value=gast.Yield(value=value)):
                yield from self.atom(value, "a value that is yielded")
            case gast.Expr():
                if not isinstance(s.value, gast.Call):
                    yield self.wrong(s.value, "an expression statement that is not a call")
                yield from self.op(s.value)
            case gast.Assert():
                yield from self.atom(s.test, "an assertion's test")
            case gast.Pass() | gast.Raise():
                pass
            case _:
                yield self.wrong(s, "not a statement of the normal form")

    def context(self, s: Node) -> Iterator[str]:
        if len(s.items) != 1 or not isinstance(s.items[0].optional_vars, (gast.Name, type(None))):
            yield self.wrong(s, "a `with` with several contexts or targets")
        context = s.items[0].context_expr
        if isinstance(context, gast.Call):
            yield from self.op(context)
        else:
            yield from self.atom(context, "a context")

    def without_test(self, body: list[Node]) -> list[Node]:
        """The body of a `while` without its own test."""
        for k, s in enumerate(body):
            if (
                isinstance(s, gast.If)
                and isinstance(s.test, gast.UnaryOp)
                and isinstance(s.test.op, gast.Not)
            ):
                if is_break(s) and self.is_atom(s.test.operand):
                    return body[:k] + body[k + 1 :]
                break
        return body

    def loop(self, s: Node, body: list[Node]) -> Iterator[str]:
        if s.orelse:
            yield self.wrong(s, "a loop with `else`")
        if not s.body:
            yield self.wrong(s, "an empty block")
        if body and isinstance(body[-1], gast.If) and is_break(body[-1]):
            yield from self.atom(body[-1].test, "a test")
            body = body[:-1]
        yield from self.block(body)

    def assignment(self, s: Node) -> Iterator[str]:
        if len(s.targets) != 1:
            yield self.wrong(s, "a chained assignment")
        match s.targets[0]:
            case gast.Name():
                if not self.is_atom(s.value):
                    yield from self.op(s.value)
            case gast.Tuple() as target:
                if not is_flat_target(target):
                    yield self.wrong(target, "a nested target")
                yield from self.atom(s.value, "an unpacked value")
            case gast.Subscript() as target:
                yield from self.op(target)
                yield from self.atom(s.value, "a stored value")
            case gast.Attribute() as target:
                yield from self.atom(target.value, "the object of an attribute")
                yield from self.atom(s.value, "a stored value")
            case target:
                yield self.wrong(target, "a target")

    def iterable(self, node: Node) -> Iterator[str]:
        if self.is_atom(node):
            return
        if isinstance(node, gast.Call) and makes_generator(self.program, node):
            yield from self.op(node)
            return
        name = node.func.id if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) else ""
        if name not in ("range", "zip", "enumerate", "reversed") or [k.arg for k in node.keywords] not in (
            [],
            ["start"],
            ["strict"],
        ):
            yield self.wrong(node, "an iterable")
        else:
            yield from self.op(node)

    def op(self, node: Node) -> Iterator[str]:
        match node:
            case gast.BinOp():
                parts = [node.left, node.right]
            case gast.UnaryOp():
                parts = [node.operand]
            case gast.Compare(ops=[_]):
                parts = [node.left, *node.comparators]
            case gast.Call():
                callee = (
                    node.func.value
                    if isinstance(node.func, gast.Attribute) and not self.is_atom(node.func)
                    else node.func
                )
                args = [a.value if isinstance(a, gast.Starred) else a for a in node.args]
                parts = [callee, *args, *(k.value for k in node.keywords)]
            case gast.Subscript():
                items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
                parts = [node.value]
                for item in items:
                    bounds = (item.lower, item.upper, item.step) if isinstance(item, gast.Slice) else (item,)
                    parts += [bound for bound in bounds if bound is not None]
            case gast.Attribute():
                parts = [node.value]
            case gast.Tuple() | gast.List() | gast.Set():
                parts = node.elts
            case gast.Dict():
                parts = node.keys + node.values
            case gast.JoinedStr():
                parts = [n.value for n in gast.walk(node) if isinstance(n, gast.FormattedValue)]
            case _:
                yield self.wrong(node, "not an operation of the normal form")
                return
        for part in parts:
            yield from self.atom(part, "an operand")

    def is_atom(self, node: Node) -> bool:
        return self.program.is_atom(node)

    def atom(self, node: Node, role: str) -> Iterator[str]:
        if not self.is_atom(node):
            yield self.wrong(node, f"{role} that is not an atom")


def is_flat_target(node: Node) -> bool:
    return isinstance(node, gast.Name) or (
        isinstance(node, gast.Tuple) and all(isinstance(e, gast.Name) for e in node.elts)
    )


def is_break(s: Node) -> bool:
    """Whether the `if` does nothing but break."""
    return len(s.body) == 1 and isinstance(s.body[0], gast.Break) and not s.orelse
