"""Traces: the residuals of a forward loop, and the reverse loop over them.

A trace is a list with one entry for each iteration: the values that the iteration assigned and the reverse
body reads. Its length is the trip count. A loop without residuals has no trace. Only this module knows the
layout.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import gast

from ..analyses.liveness import AssignedBefore, ends_in_raise, is_exit, live_before
from ..trees.nodes import (
    assign,
    assigned_names,
    attribute,
    blocks_of,
    bound_counts,
    call,
    children,
    constant,
    for_each,
    load,
    located,
    names_read,
    store,
    subscript,
    tuple_of,
)
from ..trees.rebuild import rebuilt, substitute, with_blocks
from ..trees.remember import remembered
from .adjoint import Sweep
from .rematerialisation import function_of, rematerialised
from .reverse_state import Reverse

__all__ = ["Loop", "asked_for_shapes", "fill_unbound", "function_of", "with_trace"]


@dataclass
class Loop:
    """A loop whose body has been differentiated."""

    forward: list[Any]
    back: list[Any]
    before: list[Any] = field(default_factory=list)  # reverse code that runs before the reverse loop
    test: int | None = None  # the index of a while loop's `if not c: break` in the forward body


def with_trace(reverse: Reverse, s: Any, forward: Any, loop: Loop, index: str | None) -> Sweep:
    """The forward loop with its trace, and the reverse loop over it."""
    assigned = set(assigned_names(forward))

    def needed(code: list[Any]) -> list[str]:
        own = {index, *assigned_names(code)}
        return [n for n in names_read(code) if n in assigned and n not in own]

    again = rematerialised(reverse, s, forward, needed(loop.back))
    fresh = {name: load(reverse.names.temporary(name)) for name in assigned_names(again)}
    for name, copy in fresh.items():
        reverse.kinds[copy.id] = reverse.kinds[name]
    back = [*again, *loop.back]
    if fresh:
        back = [substitute(b, fresh) for b in back]
    order = {n: k for k, n in enumerate([*assigned_names(s), *assigned_names(forward)])}
    saved = sorted(needed(back), key=lambda n: order[n])
    position = _place(forward.body, saved)
    ahead = _unassigned_before(reverse, s, saved, forward.body[:position])
    _fill(reverse, forward.body, saved, position)
    outside = reverse.read_outside()
    if reverse.split or len(reverse.open) > 1:  # what runs before the reverse loop runs again after it
        outside |= set(names_read(loop.before))
    rename = {n: load(reverse.names.temporary(n)) for n in saved if n in outside}
    if rename:
        back = [substitute(b, rename) for b in back]
    fields = [rename[n].id if n in rename else n for n in saved]
    header, count = _untraced(reverse, s, forward, dict(zip(saved, fields, strict=True)), index)
    if header is None and count is None:
        trace = reverse.names.fresh("trace")
        reverse.traces.append(trace)
        ahead.append(assign(trace, gast.List(elts=[], ctx=gast.Load()), s))
        shaped = asked_for_shapes(reverse, dict(zip(fields, saved, strict=True)), back)
        kept = [call(reverse.helper("like"), load(n)) if n in shaped else load(n) for n in saved]
        entry = kept[0] if len(kept) == 1 else tuple_of(kept)
        forward.body.insert(
            position, located(gast.Expr(value=call(attribute(load(trace), "append"), entry)), s)
        )
        target = store(fields[0]) if len(fields) == 1 else tuple_of([store(n) for n in fields], gast.Store())
        if index is None:
            header = (target, subscript(load(trace), _backwards()))
        else:
            header = (store(index), _down(reverse, call(reverse.bind("len", len), load(trace))))
            back = [assign(target, subscript(load(trace), load(index))), *back]
    elif header is None:
        trips = reverse.names.fresh("trips")
        ahead.append(assign(trips, constant(0), s))
        forward.body.insert(
            position, assign(trips, gast.BinOp(left=load(trips), op=gast.Add(), right=constant(1)), s)
        )
        header = _counted(reverse, load(trips), index)
    loop_back = for_each(header[0], header[1], back)
    return [*ahead, _finished(forward)], [*loop.before, loop_back]


def _finished(s: Any) -> Any:
    """A copy of the statement, as facts remembered for the old node predate the inserted statements."""
    if isinstance(s, gast.FunctionDef) or not blocks_of(s):
        return s
    new = rebuilt(s)
    return with_blocks(new, [[_finished(inner) for inner in block] for block in blocks_of(s)])


def asked_for_shapes(reverse: Reverse, fields: dict[str, str], back: list[Any]) -> set[str]:
    """The saved names (keys are their names in the reverse body) whose shape and dtype alone the reverse body
    reads.
    """
    read: set[str] = set()

    def visit(node: Any) -> None:
        if isinstance(node, gast.Name):
            read.add(node.id)
        elif isinstance(node, gast.Call):
            function = reverse.object_of(node.func)
            takes = reverse.primitives.takes_likeness(function)
            spared = reverse.primitives.shape_only(function) if takes else ()
            visit(node.func)
            for k, argument in enumerate([*node.args, *(keyword.value for keyword in node.keywords)]):
                if k not in spared or not isinstance(argument, gast.Name):
                    visit(argument)
        else:
            for child in children(node):
                visit(child)

    for s in back:
        visit(s)
    return {
        n
        for field, n in fields.items()
        if field not in read and reverse.domain.is_array(reverse.facts.kind_of_name(n))
    }


def _backwards() -> Any:
    return gast.Slice(lower=None, upper=None, step=constant(-1))


def _down(reverse: Reverse, count: Any) -> Any:
    """`range(count - 1, -1, -1)`."""
    return call(
        reverse.bind("range", range),
        gast.BinOp(left=count, op=gast.Sub(), right=constant(1)),
        constant(-1),
        constant(-1),
    )


def _counted(reverse: Reverse, count: Any, index: str | None) -> tuple[Any, Any]:
    """The header of a reverse loop with this many iterations, and the loop variable `index`."""
    if index is not None:
        return store(index), _down(reverse, count)
    return store(_unused(reverse)), call(reverse.bind("range", range), count)


def _unused(reverse: Reverse) -> str:
    """The name of a loop variable that is not read."""
    return reverse.names.fresh("_") if "_" in names_read(reverse.program.tree) else "_"


def _leaves_early(forward: Any) -> bool:
    return bool(forward.body) and is_exit(forward.body[-1])


def _untraced(
    reverse: Reverse, s: Any, forward: Any, saved: dict[str, str], index: str | None
) -> tuple[Any, Any]:
    """A header that needs no trace, or None; and "count" where a counter replaces the trace. `saved` maps the
    saved names to those of the reverse body.
    """
    if isinstance(s, gast.For) and isinstance(s.target, gast.Name) and not _leaves_early(forward):
        ranged = function_of(reverse, s.iter) is range
        if ranged and index is None and saved.keys() == {s.target.id} and _stable(forward, s.iter):
            down = _reversed_range(reverse, s.iter)
            if down is not None:
                return (store(saved[s.target.id]), down), None
        if ranged and index is None and not saved and _stable(forward, s.iter):
            return (store(_unused(reverse)), s.iter), None
        if (
            not isinstance(s.iter, gast.Call)
            and not saved
            and _stable(forward, s.iter)
            and reverse.domain.has_length(reverse.kind(s.iter))
            and not (isinstance(s.iter, gast.Name) and reverse.changes.may_grow(s.iter.id))
        ):
            return _counted(reverse, call(reverse.bind("len", len), s.iter), index), None
    return None, None if saved else "count"


def _stable(forward: Any, node: Any) -> bool:
    """Whether the loop assigns none of the names that its header reads."""
    return not set(names_read(node)) & set(assigned_names(forward))


def _reversed_range(reverse: Reverse, node: Any) -> Any:
    """The reverse of a range with step 1 or -1, or None."""
    args = node.args
    if node.keywords or not 1 <= len(args) <= 3:
        return None
    low, high = (constant(0), args[0]) if len(args) == 1 else args[:2]
    step = 1 if len(args) < 3 else _integer(args[2])
    if step not in (1, -1):
        return None
    return call(reverse.bind("range", range), _plus(high, -step), _plus(low, -step), constant(-step))


def _integer(node: Any) -> int | None:
    if isinstance(node, gast.Constant) and isinstance(node.value, int):
        return node.value
    if (
        isinstance(node, gast.UnaryOp)
        and isinstance(node.operand, gast.Constant)
        and isinstance(node.operand.value, int)
    ):
        return -node.operand.value
    return None


def _plus(node: Any, offset: int) -> Any:
    known = _integer(node)
    if known is not None:
        return constant(known + offset)
    return gast.BinOp(left=node, op=gast.Add() if offset > 0 else gast.Sub(), right=constant(abs(offset)))


def _place(body: list[Any], saved: list[str]) -> int:
    """The position in the forward body where all saved values are bound and no carried one is updated yet."""
    head = live_before(body, frozenset(), frozenset())[0]
    stop = len(body) - (1 if body and is_exit(body[-1]) else 0)
    for k, statement in enumerate(body[:stop]):
        if isinstance(statement, gast.Assign) and any(
            n in head and n in saved for n in assigned_names(statement)
        ):
            return k
    return stop


def _unassigned_before(reverse: Reverse, s: Any, saved: list[str], body: list[Any]) -> list[Any]:
    """Placeholders for saved names that the loop carries and that are unbound before it; `body` is the part
    of an iteration before they are saved.
    """
    targets = assigned_names(s.target) if isinstance(s, gast.For) else []
    own = {*targets, *assigned_names(body)}
    carried = [n for n in saved if n not in own]
    if not carried:
        return []
    everywhere, inside = _bound(reverse.program.tree), _bound(s)
    return [assign(n, _placeholder(reverse, n), s) for n in carried if everywhere[n] == inside[n]]


@remembered
def _bound(tree: Any) -> Counter[str]:
    """How often names are bound in a tree."""
    return bound_counts(tree)


def _fill(reverse: Reverse, body: list[Any], saved: list[str], position: int) -> None:
    """Assigns saved names a placeholder on the paths that leave them unbound."""
    head = live_before(body, frozenset(), frozenset())[0]
    assigned = AssignedBefore(body[:position]).at_end()
    for name in saved:
        if name not in head and name not in assigned:
            _fill_name(reverse, body, name)


def fill_unbound(reverse: Reverse, body: list[Any]) -> None:
    """Assigns a placeholder to the variables that the reverse sweep reads and that a path through `body`, the
    forward sweep of a function, leaves unbound.
    """
    assigned = AssignedBefore(body).at_end()
    for name in reverse.may_be_unbound:
        if name not in assigned:
            _fill_name(reverse, body, name)


def _fill_name(reverse: Reverse, body: list[Any], name: str) -> None:
    for k, statement in enumerate(body):
        if name not in assigned_names(statement):
            continue
        if isinstance(statement, gast.If):
            for arm in (statement.body, statement.orelse):
                if name in AssignedBefore(arm).at_end() or ends_in_raise(arm):
                    continue
                if name in assigned_names(arm):
                    _fill_name(reverse, arm, name)
                else:
                    arm[:] = [n for n in arm if not isinstance(n, gast.Pass)]
                    arm.insert(0, assign(name, _placeholder(reverse, name), statement))
        elif isinstance(statement, gast.With) or (isinstance(statement, gast.Try) and not statement.handlers):
            for block in blocks_of(statement):
                _fill_name(reverse, block, name)
        elif isinstance(statement, gast.Try):
            _fill_attempt(reverse, statement, name)
        elif isinstance(statement, (gast.For, gast.While)):
            body.insert(k, assign(name, _placeholder(reverse, name), statement))
        return


def _fill_attempt(reverse: Reverse, s: Any, name: str) -> None:
    """Assigns a name a placeholder on the paths through a `try` that leave it unbound."""
    if name not in AssignedBefore([*s.body, *s.orelse]).at_end():
        block = s.orelse if name in assigned_names(s.orelse) else s.body
        _fill_block(reverse, block, name, s)
    for h in s.handlers:
        if name not in AssignedBefore(h.body).at_end():
            _fill_block(reverse, h.body, name, s)


def _fill_block(reverse: Reverse, block: list[Any], name: str, like: Any) -> None:
    if name in assigned_names(block):
        _fill_name(reverse, block, name)
    else:
        block.append(assign(name, _placeholder(reverse, name), like))


def _placeholder(reverse: Reverse, name: str) -> Any:
    kind = reverse.facts.kind_of_name(name)
    if reverse.domain.is_real_scalar(kind):
        return constant(0.0)
    if reverse.domain.is_integer(kind):
        return constant(0)
    return constant(None)
