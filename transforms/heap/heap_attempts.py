"""Attempts among changes of objects: what an exception leaves of the heap.

What is changed of objects that the body of a `try` has made is seen by nobody after an exception, so that
the handlers go on with the heap before the `try`. A `finally` that reads objects is written twice, as what
follows the body and what follows an exception, which goes on.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import gast

from ..analyses.liveness import ends_in_raise
from ..trees.nodes import assign, assigned_names, blocks_of, find_nodes, load, located, names_read
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
    s = map_blocks(s, to.inner)
    resumes = [h for h in s.handlers if not ends_in_raise(h.body)]
    blocks = [n for n in s.body if blocks_of(n) and to.heap in assigned_names([n])]
    if resumes and blocks:
        for change in changes_of_others(to, s.body):
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


def changes_of_others(to: Writer, body: list[Node]) -> list[Node]:
    """The lowered statements that change objects other than those that they make. What enters the heap is not
    changed by that.
    """
    enter, reference = to.values.helper("heap_enter"), to.values.helper("reference")
    known = to.objects.all_bindings()
    made: dict[str, bool] = {}  # by name: whether all its values are displays or new objects
    changes: list[Node] = []
    for n in (n for s in body for n in find_nodes(s, gast.Assign)):
        function = known.get(getattr(getattr(n.value, "func", None), "id", ""))
        match n.targets[0], n.value:
            case gast.Name(id=to.heap), gast.Call():
                if function is not enter:
                    changes.append(n)
            case gast.Name(id=to.heap), _:
                pass
            case gast.Name(id=name), gast.List() | gast.Dict():
                made.setdefault(name, True)
            case gast.Name(id=name), gast.Call(args=[gast.Name(id=source)]) if function is reference:
                made[name] = made.get(name, True) and made.get(source, False)
            case gast.Name(id=name), _:
                made[name] = False
            case gast.Tuple(elts=elts), _:
                made.update((e.id, False) for e in elts)
                changes += [n] * (elts[0].id == to.heap)
    return [c for c in changes if not made.get(_changed(c), False)]


def _changed(change: Node) -> str:
    """The name of the object that a lowered statement changes."""
    args = [a.id for a in change.value.args if isinstance(a, gast.Name)]
    return str(args[1] if len(args) > 1 else args[0])
