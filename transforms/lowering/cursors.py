"""Makes an iterator over a sequence that several statements read a position in a list.

Form in and out: the normal form. For `it = iter(x)`, where nothing changes x afterwards:

    first = next(it)        first = items[place]
    for v in it:       ->   place = place + 1
        ...                 for v in items[place:]:
                                ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.helpers import refuse_iterator
from ..trees.nodes import (
    assign,
    blocks_of,
    bound_counts,
    call,
    constant,
    find_nodes,
    load,
    located,
    names_in,
    read_counts,
    walk,
)
from ..trees.program import Program
from ..trees.rebuild import bound_names, map_blocks, rebuilt

__all__ = ["with_places"]

Node = Any  # gast publishes no types


def with_places(program: Program, is_effect_free: Callable[[Program, list[Node]], bool]) -> Program:
    """The program with list positions for such iterators; `is_effect_free` tells whether a function's
    statements surely have no effect outside its own variables.
    """
    calls = [c for c in find_nodes(program.tree, gast.Call) if program.resolve(c.func) is iter]
    if not calls:
        return program
    writer = _Writer(program, is_effect_free)
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
                case gast.Assign(
                    targets=[gast.Name(id=name)], value=gast.Call(args=[x], keywords=[]) as made
                ) if self.program.resolve(made.func) is iter and self.is_followed(name, statements[k + 1 :]):
                    result += self.begun(s, name, x)
                case gast.Assign(targets=[target], value=gast.Call(args=[gast.Name(id=name), *default])) if (
                    name in self.places
                ):
                    result += self.taken(s, target, name, default)
                case gast.For(iter=gast.Name(id=name)) if name in self.places:
                    result += self.rest(s, name, statements[k + 1 :])
                case gast.FunctionDef():
                    result.append(s)
                case _:
                    result.append(map_blocks(s, self.block))
        return result

    def is_followed(self, name: str, rest: list[Node]) -> bool:
        """Whether an iterator is only read by `next` and loops, in statements after it that change no other
        object.
        """
        uses = sum(self.count(s, name) for s in rest)
        is_named = self.bound[name] == 1 and self.reads[name] == uses > 0
        has_next = any(self.is_next(s, name) for t in rest for s in walk(t))
        return is_named and has_next and self.is_effect_free(self.program, rest)

    def is_next(self, s: Node, name: str) -> bool:
        match s:
            case gast.Assign(
                targets=[gast.Name()], value=gast.Call(func=func, args=[gast.Name(id=read), *rest])
            ):
                return read == name and len(rest) < 2 and self.program.resolve(func) is next
        return False

    def count(self, s: Node, name: str) -> int:
        """The number of reads of the iterator in a statement, in forms that can be rewritten."""
        if isinstance(s, gast.FunctionDef):
            return 0
        own = self.is_next(s, name) or (isinstance(s, gast.For) and getattr(s.iter, "id", "") == name)
        return own + sum(self.count(t, name) for b in blocks_of(s) for t in b)

    def begun(self, s: Node, name: str, x: Node) -> list[Node]:
        names = self.objects.names
        items, place, size = names.temporary("items"), names.temporary("place"), names.temporary("n")
        self.places[name] = items, place, size
        check = located(call(self.objects.name(refuse_iterator), x), s)
        return [
            located(gast.Expr(value=check), s),
            assign(items, located(call(self.objects.name(list), x), s), s),
            assign(size, call(self.objects.name(len), load(items)), s),
            assign(place, constant(0), s),
        ]

    def taken(self, s: Node, target: Node, name: str, default: list[Node]) -> list[Node]:
        """`target = next(it)`, or `next(it, default)`."""
        items, place, size = self.places[name]
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

    def rest(self, s: Node, name: str, after: list[Node]) -> list[Node]:
        """`for v in it`: over the rest of the list, where the iterator is not read in the loop or after
        it.
        """
        items, place, size = self.places[name]
        names = self.objects.names
        if not self.is_read_again(s, name, after):
            left = names.temporary("items")
            part = gast.Slice(lower=load(place), upper=None, step=None)
            value = gast.Subscript(value=load(items), slice=part, ctx=gast.Load())
            return [assign(left, value, s), rebuilt(s, iter=load(left), body=self.block(s.body))]
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
