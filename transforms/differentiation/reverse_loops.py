"""Reverse mode of loops.

The body is differentiated repeatedly until the set of carried variables with adjoints stays the same. The
residuals of an iteration go through a trace (`traces`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from ..analyses.find_carried_adjoints import find_carried_adjoints
from ..analyses.liveness import is_test
from ..analyses.operations import is_append
from ..normal_form.parallel_copies import parallel_copies
from ..trees.helpers import is_mapping
from ..trees.nodes import (
    assign,
    assigned_names,
    call,
    constant,
    find_nodes,
    for_each,
    load,
    located,
    names_read,
    own_statements,
    statements_in,
    subscript,
    tuple_of,
    walk,
)
from ..trees.rebuild import rebuilt
from .adjoint import Accumulator, Adjoint, Condition, Env, Ownership, Plain, Shadow, Sweep, masked, owned_if
from .adjoints import accumulate_at, copied_adjoint, full_adjoint, is_own
from .masks import marks_before
from .reverse_state import Block, Reverse
from .traces import Loop, function_of, with_trace

__all__ = ["reverse_for", "reverse_while"]

Body = Callable[["Env"], "tuple[list[Any], list[Any], int | None]"]


def reverse_for(reverse: Reverse, s: Any, env: Env, block: Block) -> Sweep:
    """Both sweeps of a `for` loop."""
    index: list[str] = []

    def body(inner: Env) -> tuple[list[Any], list[Any], int | None]:
        forward, back = block(reverse, s.body, inner)
        back[:0] = reverse.shadows.made(s.body)
        index.clear()
        for source, parts, whole in _sources(reverse, s):
            adjoints = [inner.pop(part, None) for part in parts]
            shadows = reverse.shadows
            is_found = shadows.is_container(source.id) or (whole and parts[0] in shadows.by_memory)
            if is_found or not any(adjoints):
                continue
            if not index:
                index.append(reverse.names.fresh("k"))
                reverse.kinds[index[0]] = reverse.domain.INTEGER
            position = load(index[0])
            if function_of(reverse, s.iter) is reversed:
                position = gast.UnaryOp(op=gast.Invert(), operand=position)
            if whole and parts[0] in reverse.shadows:
                back.insert(0, reverse.shadows.element(s, parts[0], reverse.shadows.of(source), position))
                continue
            if source.id in reverse.shadows and any(p in reverse.shadows for p in parts):
                item = subscript(reverse.shadows.of(source), position)
                back[:] = _of_parts(reverse, s, item, dict(zip(parts, adjoints, strict=True)), back)
                continue
            values = [full_adjoint(reverse, p, a, back) for p, a in zip(parts, adjoints, strict=True)]
            value = values[0] if whole else tuple_of(values)
            added: list[Any] = []
            accumulate_at(reverse, inner, source.id, position, value, added)
            ahead, added = reverse.shadows.with_lookups(s, added)
            forward[:0] = ahead
            back.extend(_unless_keys(reverse, source, added))
        for target in assigned_names([located(for_each(s.target, s.iter, []), s)]):
            inner.pop(target, None)
        return forward, back, None

    loop = _differentiate_body(reverse, s, env, body)
    forward = located(for_each(s.target, s.iter, loop.forward), s)
    if not loop.back:
        return [forward], loop.before
    return with_trace(reverse, s, forward, loop, index[0] if index else None)


def _of_parts(
    reverse: Reverse, s: Any, item: Any, adjoints: dict[str, Adjoint | None], back: list[Any]
) -> list[Any]:
    """The reverse of a loop's body, after the shadows of variables that are parts of an item with this
    adjoint; adjoints of numbers are added to it.
    """
    made = [
        reverse.shadows.element(s, name, item, constant(k))
        for k, name in enumerate(adjoints)
        if name in reverse.shadows
    ]
    added: list[Any] = []
    for k, (name, adjoint) in enumerate(adjoints.items()):
        if adjoint is not None and name not in reverse.shadows:  # a number
            value = full_adjoint(reverse, name, adjoint, added)
            place = subscript(item, constant(k))
            total = call(reverse.helper("add"), place, value)
            added.append(assign(rebuilt(place, ctx=gast.Store()), total))
    return [*made, *back, *added]


def _unless_keys(reverse: Reverse, source: Any, added: list[Any]) -> list[Any]:
    """Statements that add to the adjoint of a sequence, guarded where it may be a dict, whose keys have
    none.
    """
    if reverse.domain.item_nature(reverse.kind(source)) != "unknown":
        return added
    test = gast.UnaryOp(op=gast.Not(), operand=call(reverse.bind("is_mapping", is_mapping), source))
    return [gast.If(test=test, body=added, orelse=[])]


def reverse_while(reverse: Reverse, s: Any, env: Env, block: Block) -> Sweep:
    """Both sweeps of a `while` loop. Its test is evaluated once more than its body, so the reverse of the
    test comes first.
    """
    position = next((k for k, n in enumerate(s.body) if is_test(n)), None)
    header = s.body[:position] if position is not None else []
    last = {v: env[v] for v in assigned_names(header) if v in env}
    before: list[Any] = []
    if last:
        ahead, before = block(reverse, header, env)
        if any(isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Tuple) for n in ahead):
            reverse.program.refuse(
                s,
                "a `while` test that calls a function whose derivative is needed after the loop",
                "the last test is outside the trace",
                "assign the value in the loop's body",
            )

    def body(inner: Env) -> tuple[list[Any], list[Any], int | None]:
        if position is None:
            forward, back = block(reverse, s.body, inner)
            return forward, [*reverse.shadows.made(s.body), *back], None
        forward, back = block(reverse, s.body[position + 1 :], inner)
        with reverse.going_on(back):
            head, head_back = block(reverse, header, inner)
        made = reverse.shadows.made(s.body)
        return [*head, s.body[position], *forward], [*made, *back, *head_back], len(head)

    loop = _differentiate_body(reverse, s, env, body)
    loop.before[:0] = before
    forward = located(gast.While(test=s.test, body=loop.forward, orelse=[]), s)
    if not loop.back:
        return [forward], loop.before
    return with_trace(reverse, s, forward, loop, None)


def _sources(reverse: Reverse, s: Any) -> list[tuple[Any, list[str], bool]]:
    """The active sequences that a loop iterates over, each with its loop variable, or with the variables that
    an element is unpacked into.
    """
    function = function_of(reverse, s.iter)
    targets = [n.id for n in walk(s.target) if isinstance(n, gast.Name)]
    single = isinstance(s.target, gast.Name)
    if isinstance(s.iter, gast.Call):
        args = list(s.iter.args)
        sources = (
            args if function in (zip, reversed) else [None, args[0]] if function is enumerate else [None]
        )
    else:
        sources = [s.iter]
    if len(sources) == len(targets):
        whole = not (len(targets) == 1 and not single)
        found = [(source, [target], whole) for source, target in zip(sources, targets, strict=True)]
    else:
        found = [(source, targets, False) for source in sources]
    active = [found_ for found_ in found if found_[0] is not None and reverse.is_active(found_[0])]
    if active and len(sources) > 1 and len(sources) != len(targets):
        reverse.program.refuse(
            s,
            "a loop over several differentiated sequences in this form",
            "which part of an element a variable is cannot be told",
            "give each sequence of the `zip` a variable of its own",
        )
    return active


def _differentiate_body(reverse: Reverse, s: Any, env: Env, body: Body) -> Loop:
    """Differentiates a loop's body until the set of carried variables with adjoints stays the same; `env`
    becomes the adjoints before the loop.
    """
    assigned = set(assigned_names(s))
    outer = [n for n in names_read(s) if n in reverse.active and n not in assigned]
    shadows = {v: a for v, a in env.items() if isinstance(a, Shadow)}
    outer = [v for v in outer if v not in shadows and (v in env or not _is_only_appended(reverse, s, v))]
    carried = [v for v in env if v in assigned and v not in shadows]
    expected = find_carried_adjoints(s, [*env, *outer], assigned, reverse.passed_to)
    expected = [v for v in expected if v not in carried and v not in shadows]
    known, carried = carried, [*carried, *expected]
    used_before = reverse.used
    reverse.shadows.available -= assigned
    buffers = set(_arrays(reverse, carried))
    while True:
        saved = reverse.names.copy(), list(reverse.traces)
        reverse.used = set()
        names = {v: reverse.adjoint_name(v) for v in carried}
        inner: Env = {v: Plain(load(n), ownership=owned_if(v in buffers)) for v, n in names.items()}
        inner.update(shadows)
        for v in outer:
            current = env.get(v)
            if not isinstance(current, Accumulator):
                marks, partial = _marks(reverse, s, v), current is not None and current.partial
                current = Accumulator(load(reverse.adjoint_name(v)), overwritten=marks, partial=partial)
            inner[v] = current
        forward, back, test = body(inner)
        more = [v for v in inner if v in assigned and v not in names and v not in shadows]
        shared = {v for v in buffers if not _is_own(inner, v)}
        missed = [v for v in expected if v not in inner]
        if not more and not shared and not missed:
            break
        if missed:
            carried, more, expected = known, [], []
        carried = [*carried, *more]
        buffers = (buffers | set(_arrays(reverse, more))) - shared
        reverse.names, reverse.traces = saved
    loop = Loop(forward, *_hoisted(reverse, assigned | set(assigned_names(forward)), back), test)
    copies = [(names[v], full_adjoint(reverse, v, inner.get(v), loop.back)) for v in carried]
    loop.back.extend(parallel_copies(copies))
    for v in carried:
        current = env.pop(v, None)
        if current is None:
            start = reverse.zero(v)
        elif v in buffers and not current.is_owned:
            start = copied_adjoint(reverse, current, v)
        else:
            start = full_adjoint(reverse, v, current, loop.before)
        loop.before.append(assign(names[v], start))
    for v in outer:
        current, accumulator = env.get(v), inner[v]
        assert isinstance(accumulator, Accumulator)
        if isinstance(current, Accumulator):
            env[v] = replace(current, partial=accumulator.partial)
        elif v in reverse.used:
            name = accumulator.value.id
            start = (
                reverse.zero(v)
                if current is None
                else current.value
                if is_own(reverse, v, current)
                else copied_adjoint(reverse, current, v)
            )
            loop.before.append(assign(name, start))
            marks = accumulator.overwritten
            mask = None
            if marks is not None:
                loop.before.append(assign(marks, marks_before(reverse, current, name)))
                mask = (Condition(marks, inverted=True),)
            is_buffer = mask is None and not reverse.may_have_no_axes(v)
            ownership = Ownership.CHANGED if is_buffer else Ownership.OWNED
            env[v] = masked(load(name), mask, ownership, accumulator.partial)
    reverse.used |= used_before
    for v in assigned:
        env.pop(v, None)
    for v in carried:
        ownership = owned_if(v in buffers)
        if v in buffers and not reverse.may_have_no_axes(v):
            ownership = Ownership.CHANGED
        partial = v in inner and inner[v].partial
        env[v] = Plain(load(names[v]), ownership=ownership, partial=partial)
    return loop


def _marks(reverse: Reverse, loop: Any, name: str) -> str | None:
    """The name of the mask of elements of `name` that a loop overwrites, where that matters."""
    stores = (s.targets[0] for s in statements_in(loop.body) if isinstance(s, gast.Assign))
    is_stored = any(isinstance(t, gast.Subscript) and getattr(t.value, "id", "") == name for t in stores)
    if not is_stored or name in reverse.shadows or not reverse.is_any_array(name):
        return None
    if not reverse.slopes.meet_infinity(name):
        return None
    marks = reverse.names.temporary("chosen")
    reverse.kinds[marks] = reverse.domain.mask_kind(reverse.kind(load(name)))
    reverse.marks.add(marks)
    return str(marks)


def _is_only_appended(reverse: Reverse, loop: Any, name: str) -> bool:
    """Whether a loop only appends to a list, so that the list has no adjoint before the loop."""
    appends = [s for s in own_statements(loop.body) if is_append(s, reverse.facts)]
    appended = [s.value.func.value.id for s in appends].count(name)
    return appended == [n.id for n in find_nodes(loop, gast.Name)].count(name)


def _hoisted(reverse: Reverse, varying: set[str], back: list[Any]) -> tuple[list[Any], list[Any]]:
    """The reverse body and its loop-invariant lookups, which are hoisted."""
    before = [s for s in back if reverse.shadows.is_lookup(s) and not varying & set(names_read(s.value))]
    return [s for s in back if not any(s is b for b in before)], before


def _arrays(reverse: Reverse, names: list[str]) -> list[str]:
    return [n for n in names if reverse.domain.is_array(reverse.facts.kind_of_name(n))]


def _is_own(inner: Env, variable: str) -> bool:
    """Whether the adjoint that an iteration leaves to a variable has no alias."""
    adjoint = inner.get(variable)
    return adjoint is None or adjoint.is_owned
