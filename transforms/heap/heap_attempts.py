"""Attempts among changes of objects: what an exception leaves of the heap.

What is changed of objects that the body of a `try` has made is seen by nobody after an exception, so that
the handlers go on with the heap before the `try`. A `finally` that reads objects is written twice, as what
follows the body and what follows an exception, which goes on.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import TYPE_CHECKING, Any

import gast

from ..analyses.liveness import ends_in_raise
from ..trees.nodes import (
    assign,
    assigned_names,
    blocks_of,
    bound_here,
    header_of,
    load,
    located,
    names_read,
    read_counts,
    statements_in,
)
from ..trees.rebuild import map_blocks, map_children, rebuilt

if TYPE_CHECKING:
    from .heap_writer import Writer

__all__ = ["lower_attempt"]

Node = Any  # gast publishes no types


def lower_attempt(to: Writer, s: Node) -> None:
    """Writes a `try` of the source into the program of `to`."""
    if not s.handlers:
        _with_final(to, map_blocks(s, to.inner))
        return
    outside = read_counts(to.program.tree) - sum(map(read_counts, s.body), Counter())
    s = map_blocks(s, to.inner)
    resumes = [h for h in s.handlers if not ends_in_raise(h.body)]
    blocks = [n for n in s.body if blocks_of(n) and to.heap in assigned_names([n])]
    seen = seen_changes(to, s.body, outside) if resumes and blocks else []
    in_loops = {id(n) for loop in loops_in(s.body) for n in statements_in([loop])}
    if seen and in_loops.isdisjoint(map(id, seen)):
        s = rebuilt(s, body=_apart(to, s.body))
    elif blocks and resumes:
        for change in seen:
            if to.left is not None:  # more is known when the classes of objects are
                to.left.append(to.heap)
                break
            to.program.refuse(
                change,
                f"`{_changed(change)}` is changed in a loop or branch of a `try` and seen after an exception",
                "a partial change would show how far the `try` got",
                "compute the values in the `try`, and make the change in its `else`",
            )
        before = to.names.temporary("heap")
        to.put(before, load(to.heap))
        back = assign(to.heap, load(before), s)
        s = rebuilt(s, handlers=[rebuilt(h, body=[copy.deepcopy(back), *h.body]) for h in s.handlers])
    to.emit(s)


def loops_in(body: list[Node]) -> list[Node]:
    return [n for n in statements_in(body) if isinstance(n, (gast.For, gast.While))]


def _apart(to: Writer, body: list[Node]) -> list[Node]:
    """The statements with a heap of its own for each loop, whose changes nobody sees after an exception."""
    result: list[Node] = []
    for s in body:
        if isinstance(s, (gast.For, gast.While)) and to.heap in assigned_names([s]):
            own = to.names.temporary("heap")
            before, after = assign(own, load(to.heap), s), assign(to.heap, load(own), s)
            result += [before, _renamed(s, to.heap, own), after]
        else:
            result.append(map_blocks(s, lambda block: _apart(to, block)))
    return result


def _renamed(node: Node, old: str, new: str) -> Node:
    if isinstance(node, gast.Name):
        return rebuilt(node, id=new) if node.id == old else node
    return map_children(node, lambda child: _renamed(child, old, new))


def _with_final(to: Writer, s: Node) -> None:
    assigned = set(assigned_names(s.body))
    holders_of, known = to.values.helper("holders_of"), to.objects.all_bindings()

    def after_exception(node: Node) -> Node:
        """A statement after an exception: what the body has bound is lost, so that it holds nothing."""
        new = map_children(node, after_exception)
        if isinstance(new, gast.Call) and known.get(getattr(new.func, "id", "")) is holders_of:
            return rebuilt(new, args=[a for a in new.args if a.id == to.heap or a.id not in assigned])
        return new

    again = [after_exception(f) for f in copy.deepcopy(s.finalbody)]
    if assigned & set(names_read(again)) != {to.heap}:
        to.emit(s)
        return
    again.append(located(gast.Raise(exc=None, cause=None), s))
    exception = load(to.bound(BaseException, "BaseException"))
    handler = located(gast.ExceptHandler(type=exception, name=None, body=again), s)
    to.emit(rebuilt(s, handlers=[handler], finalbody=[]))
    for f in s.finalbody:
        to.emit(f)


def seen_changes(to: Writer, body: list[Node], outside: Counter[str]) -> list[Node]:
    """The lowered statements that change objects which are seen after an exception: others than those that
    they make, and these, too, where a name that may hold one is read `outside`. Nothing else is changed by
    what enters the heap.
    """
    enter, reference = to.values.helper("heap_enter"), to.values.helper("reference")
    known = to.objects.all_bindings()
    made: dict[str, bool] = {}  # by name: whether all its values are displays
    changes: list[Node] = []
    entered: list[Node] = []
    for s in statements_in(body):
        value = getattr(s, "value", None)
        function = known.get(getattr(getattr(value, "func", None), "id", ""))
        match s, value:
            case gast.Assign(targets=[gast.Name(id=to.heap)]), gast.Call():
                (entered if function is enter else changes).append(s)
            case gast.Assign(targets=[gast.Name(id=name)]), gast.List() | gast.Dict():
                made.setdefault(name, True)
            case gast.Assign(targets=[gast.Name(id=name)]), gast.Call(args=[gast.Name(id=source)]) if (
                function is reference
            ):
                made[name] = made.get(name, True) and made.get(source, False)
            case _:
                made.update((name, False) for name in bound_here(s))
    if any(outside[name] for name in _holding({n for n, is_own in made.items() if is_own}, to, body)):
        return [*changes, *entered]
    return [c for c in changes if not made.get(_changed(c), False)]


def _holding(names: set[str], to: Writer, body: list[Node]) -> set[str]:
    """The names that may hold the objects of `names`, or parts of them."""
    while True:
        found = set(names)
        for s in statements_in(body):
            value = getattr(s, "value", None)
            is_number = isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare))
            if not is_number and not found.isdisjoint(names_read(header_of(s))):
                found.update(n for n in bound_here(s) if n != to.heap)
        if found == names:
            return found
        names = found


def _changed(change: Node) -> str:
    """The name of the object that a lowered statement changes."""
    args = [a.id for a in change.value.args if isinstance(a, gast.Name)]
    return str(args[1] if len(args) > 1 else args[0])
