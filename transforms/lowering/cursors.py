"""Makes an iterator over a sequence that several statements read a position in a list.

Form in and out: the normal form. For `it = iter(x)`, where nothing changes x afterwards:

    first = next(it)        first = items[place]
    for v in it:       ->   place = place + 1
        ...                 for v in items[place:]:
                                ...

`sum(it)`, or another call that takes all items, gets the rest of the list, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.helpers import refuse_iterator
from ..trees.nodes import (
    assign,
    attribute,
    blocks_of,
    bound_counts,
    call,
    constant,
    find_nodes,
    load,
    located,
    names_in,
    read_counts,
    store,
    tuple_of,
    walk,
)
from ..trees.program import Program
from ..trees.rebuild import bound_names, map_blocks, rebuilt, substitute
from .consumers import takes_all

__all__ = ["with_places"]

Node = Any  # gast publishes no types

LAZY = (enumerate, zip, reversed)  # functions that make an iterator over sequences


def with_places(program: Program, is_effect_free: Callable[[Program, list[Node]], bool]) -> Program:
    """The program with list positions for such iterators; `is_effect_free` tells whether a function's
    statements surely have no effect outside its own variables.
    """
    writer = _Writer(program, is_effect_free)
    if not any(map(writer.is_iterator, find_nodes(program.tree, gast.Call))):
        return program
    tree = rebuilt(program.tree, body=writer.block(program.tree.body))
    if not writer.places:
        return program
    locals_ = program.locals | bound_names(tree)
    return program.with_tree(
        tree, names=writer.objects.names, bindings=writer.objects.all_bindings(), locals=locals_
    )


class _Writer:
    """`places` has the names of the list, the position and the list's length, by the iterator's name."""

    def __init__(self, program: Program, is_effect_free: Callable[[Program, list[Node]], bool]) -> None:
        self.program, self.is_effect_free = program, is_effect_free
        self.objects = Objects(program, program.names.copy())
        self.reads = read_counts(program.tree)
        self.bound = bound_counts(program.tree)
        self.places: dict[str, tuple[str, str, str]] = {}

    def block(self, statements: list[Node]) -> list[Node]:
        result: list[Node] = []
        for k, s in enumerate(statements):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call() as made) if self.is_iterator(
                    made
                ) and self.is_followed(name, statements[k + 1 :]):
                    result += self.begun(s, name, made)
                case gast.Assign() | gast.Expr() if name := self.advanced_by(s):
                    result += self.taken(s, name)
                case gast.For(iter=gast.Name(id=name)) if name in self.places:
                    result += self.rest(s, name, statements[k + 1 :])
                case gast.Assign() | gast.Expr() if taken := self.taken_by(s):
                    result += self.consumed(s, taken)
                case gast.FunctionDef():
                    result.append(s)
                case _:
                    result.append(map_blocks(s, self.block))
        return result

    def is_iterator(self, made: Node) -> bool:
        function = self.program.resolve(made.func)
        if function is iter:
            return len(made.args) == 1
        is_plain = all(k.arg == "strict" and getattr(k.value, "value", True) is False for k in made.keywords)
        return is_plain and any(function is f for f in LAZY)

    def is_followed(self, name: str, rest: list[Node]) -> bool:
        """Whether an iterator is only read by `next` and loops, in statements after it that change no other
        object.
        """
        uses = sum(self.count(s, name) for s in rest)
        is_named = self.bound[name] == 1 and self.reads[name] == uses > 0
        parts = [s for t in rest for s in walk(t)]
        is_cut = any(self.is_next(s, name) or takes_all(self.objects, s, name) for s in parts)
        return is_named and is_cut and self.is_effect_free(self.program, self.without_own_changes(rest, name))

    def without_own_changes(self, rest: list[Node], name: str) -> list[Node]:
        """Statements without those that change no item of the iterator's source: `next(it)` alone, and
        augmented assignments to variables that only hold its items and results of arithmetic.
        """
        bindings: dict[str, list[Node]] = {}
        for s in find_nodes(self.program.tree, gast.Assign, gast.For):
            target = s.target if isinstance(s, gast.For) else s.targets[0]
            for n in names_in(target):
                bindings.setdefault(n, []).append(s)
        own = {n for n in bindings if n not in bound_names(self.program.tree.args)}

        def is_own(s: Node) -> bool:
            if isinstance(s, gast.For):
                return getattr(s.iter, "id", "") == name
            made = isinstance(s.value, (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant))
            return made or self.is_next(s, name) or getattr(s.value, "id", "") in own

        while others := {n for n in own if not all(map(is_own, bindings[n]))}:
            own -= others

        def kept(block: list[Node]) -> list[Node]:
            return [map_blocks(s, kept) for s in block if not is_change(s)]

        def is_change(s: Node) -> bool:
            if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
                return self.program.resolve(s.value.func) is next
            return isinstance(s, gast.AugAssign) and getattr(s.target, "id", "") in own

        return kept(rest)

    def is_next(self, s: Node, name: str) -> bool:
        match s:
            case gast.Assign(targets=[gast.Name()], value=value) | gast.Expr(value=value):
                pass
            case _:
                return False
        match value:
            case gast.Call(func=func, args=[gast.Name(id=read), *rest]):
                return read == name and len(rest) < 2 and self.program.resolve(func) is next
        return False

    def count(self, s: Node, name: str) -> int:
        """The number of reads of the iterator in a statement, in forms that can be rewritten."""
        if isinstance(s, gast.FunctionDef):
            return 0
        is_loop = isinstance(s, gast.For) and getattr(s.iter, "id", "") == name
        own = self.is_next(s, name) or is_loop or takes_all(self.objects, s, name)
        return own + sum(self.count(t, name) for b in blocks_of(s) for t in b)

    def begun(self, s: Node, name: str, made: Node) -> list[Node]:
        names = self.objects.names
        items, place, size = names.temporary("items"), names.temporary("place"), names.temporary("n")
        self.places[name] = items, place, size
        return [
            *self.listed(s, made, items),
            assign(size, call(self.objects.name(len), load(items)), s),
            assign(place, constant(0), s),
        ]

    def listed(self, s: Node, made: Node, items: str) -> list[Node]:
        """Statements that make the list of the items of a new iterator."""
        function, names = self.program.resolve(made.func), self.objects.names
        if function is iter:
            check = call(self.objects.name(refuse_iterator), *made.args)
            value = located(call(self.objects.name(list), *made.args), s)
            return [located(gast.Expr(value=located(check, s)), s), assign(items, value, s)]
        count = 2 if function is enumerate else len(made.args)
        parts, item = [names.temporary("part") for _ in range(count)], names.temporary("item")
        append = located(call(attribute(load(items), "append"), load(item)), s)
        body = [assign(item, tuple_of(map(load, parts)), s), located(gast.Expr(value=append), s)]
        target = gast.Tuple(elts=[store(n) for n in parts], ctx=gast.Store())
        if function is reversed:
            target, body = store(item), body[1:]
        source = rebuilt(made, keywords=[])
        loop = located(gast.For(target=target, iter=source, body=body, orelse=[], type_comment=None), s)
        return [assign(items, gast.List(elts=[], ctx=gast.Load()), s), loop]

    def advanced_by(self, s: Node) -> str | None:
        """The iterator of which a statement takes the next item."""
        return next((name for name in self.places if self.is_next(s, name)), None)

    def taken(self, s: Node, name: str) -> list[Node]:
        """`target = next(it)`, or `next(it, default)`; also without a target."""
        items, place, size = self.places[name]
        default = s.value.args[1:]
        target = s.targets[0] if isinstance(s, gast.Assign) else store(self.objects.names.temporary("item"))
        over = self.objects.names.temporary("over")
        test = gast.Compare(left=load(place), ops=[gast.GtE()], comparators=[load(size)])
        item = gast.Subscript(value=load(items), slice=load(place), ctx=gast.Load())
        found = [assign(target, item, s), self.advanced(s, place)]
        if default:
            other = [assign(target, default[0], s)]
            return [assign(over, test, s), located(gast.If(test=load(over), body=other, orelse=found), s)]
        fail = located(gast.Raise(exc=call(self.objects.name(StopIteration)), cause=None), s)
        return [assign(over, test, s), located(gast.If(test=load(over), body=[fail], orelse=[]), s), *found]

    def advanced(self, s: Node, place: str) -> Node:
        return assign(place, gast.BinOp(left=load(place), op=gast.Add(), right=constant(1)), s)

    def taken_by(self, s: Node) -> str | None:
        """The iterator of which a statement takes all items that are left."""
        return next((name for name in self.places if takes_all(self.objects, s, name)), None)

    def consumed(self, s: Node, name: str) -> list[Node]:
        """A statement that takes all items that are left."""
        _, place, size = self.places[name]
        start, left = self.left(s, name)
        return [start, substitute(s, {name: load(left)}), assign(place, load(size), s)]

    def left(self, s: Node, name: str) -> tuple[Node, str]:
        """The statement that makes the list of the items that are left, and its name."""
        items, place, _ = self.places[name]
        left = self.objects.names.temporary("items")
        part = gast.Slice(lower=load(place), upper=None, step=None)
        return assign(left, gast.Subscript(value=load(items), slice=part, ctx=gast.Load()), s), left

    def rest(self, s: Node, name: str, after: list[Node]) -> list[Node]:
        """`for v in it`: over the rest of the list, where the iterator is not read in the loop or after
        it.
        """
        items, place, size = self.places[name]
        names = self.objects.names
        if not self.is_read_again(s, name, after):
            start, left = self.left(s, name)
            return [start, rebuilt(s, iter=load(left), body=self.block(s.body))]
        more = names.temporary("more")
        test = gast.Compare(left=load(place), ops=[gast.Lt()], comparators=[load(size)])
        ended = gast.UnaryOp(op=gast.Not(), operand=load(more))
        leave = located(gast.If(test=ended, body=[located(gast.Break(), s)], orelse=[]), s)
        item = gast.Subscript(value=load(items), slice=load(place), ctx=gast.Load())
        first = [assign(more, test, s), leave, assign(s.target, item, s), self.advanced(s, place)]
        body = [*first, *self.block(s.body)]
        return [located(gast.While(test=constant(True), body=body, orelse=[]), s)]

    def is_read_again(self, s: Node, name: str, after: list[Node]) -> bool:
        """Whether the iterator is read in a loop's body, after it, or in a later iteration of a loop around
        it.
        """
        later = any(name in names_in(t) for t in [*s.body, *after])
        around = [t for t in find_nodes(self.program.tree, gast.For, gast.While) if t is not s]
        return later or any(s in list(walk(t)) for t in around)
