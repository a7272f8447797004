"""Reverse mode of reading parts of objects, and of making objects of their parts."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import takewhile
from typing import Any

import gast

from ..analyses.operations import Build, Item
from ..lowering.hoist_items import field_read, item_read
from ..trees.nodes import call, constant, load, tuple_of
from .adjoint import (
    Adjoint,
    Display,
    Env,
    ListOfChoices,
    Ownership,
    Plain,
    Shadow,
    Spread,
    Sweep,
    field_of,
    masked,
    owned_if,
    part_of,
)
from .adjoints import (
    accumulate,
    accumulate_at,
    accumulate_item,
    atom_for,
    captured_part,
    full_adjoint,
    gradient_of,
    pass_on,
)
from .bind_captured import bind_captured, is_function_tangent
from .indices import adds_in_place, is_whole
from .length_one_axes import squeezing
from .masks import mask_of_item, of_view
from .reverse_state import Block, Reverse

__all__ = [
    "items_first", "reverse_build", "reverse_definition", "reverse_first_items", "reverse_item",
    "reverse_unpacking",
]  # fmt: skip


def reverse_item(
    reverse: Reverse, operation: Item, name: str, adjoint: Adjoint, env: Env, back: list[Any]
) -> None:
    """The reverse of `name = base[index]`."""
    base, index, domain = operation.base, operation.index, reverse.domain
    if base.id not in reverse.shadows and is_whole(index, domain.rank(reverse.kind(base))):
        pass_on(reverse, env, base.id, adjoint, back)
    elif base.id not in reverse.shadows and (whole := squeezing(reverse.facts, base, index)) is not None:
        mask = of_view(reverse, base.id, adjoint, lambda test: part_of(test, whole), back)
        value = part_of(full_adjoint(reverse, name, adjoint, back), whole)
        if base.id not in env:
            value = atom_for(reverse, base.id, value, back)
        new = masked(value, mask, owned_if(adjoint.is_owned), adjoint.partial)
        pass_on(reverse, env, base.id, new, back)
    elif domain.is_scalar(reverse.kind(base)):  # of NumPy: `x[()]`, `x[None]`
        value = full_adjoint(reverse, name, adjoint, back)
        plan = domain.unbroadcast_plan(reverse.kind(base), reverse.kind(load(name)))
        if plan != "none":
            value = reverse.summed_by(plan, value) or call(reverse.helper("unbroadcast"), value, base)
        accumulate(reverse, env, base.id, value, back)
    elif isinstance(adjoint, Spread) and adjoint.mask is None and adds_in_place(reverse, base.id, index):
        accumulate_at(reverse, env, base.id, index, adjoint.value, back)
    else:
        value = full_adjoint(reverse, name, adjoint, back)
        if not accumulate_item(reverse, env, base.id, index, value, back):
            accumulate_at(reverse, env, base.id, index, value, back)


def reverse_build(
    reverse: Reverse, operation: Build, name: str, adjoint: Adjoint, env: Env, back: list[Any]
) -> None:
    """The reverse of a display, or of a call of a class: each item gets its part."""
    items, keys = operation.items, operation.keys
    if isinstance(operation.node, gast.Call):
        for item, key in zip(items, keys, strict=True):
            if reverse.is_active(item):
                is_place = isinstance(key, int)
                part = part_of(adjoint.value, constant(key)) if is_place else field_of(adjoint.value, key)
                accumulate(reverse, env, item.id, part, back)
        return
    missing = adjoint.missing if isinstance(adjoint, Display) else ()
    masks = adjoint.masks if isinstance(adjoint, ListOfChoices) else None
    for k, item in enumerate(items):
        if k in missing or not reverse.is_active(item):
            continue
        if item.id in reverse.shadows and name in reverse.shadows:
            continue
        if is_function_tangent(keys):
            part = captured_part(reverse, adjoint.value, keys[k].value, item.id)
        else:
            part = part_of(adjoint.value, keys[k] if keys else constant(k))
        if isinstance(operation.node, gast.List) and is_made_complex(reverse, item, items):
            part = call(reverse.helper("unbroadcast"), part, item)
        mask = mask_of_item(reverse, masks, k, item.id, back)
        pass_on(reverse, env, item.id, masked(part, mask), back)


def reverse_unpacking(reverse: Reverse, s: Any, env: Env) -> Sweep:
    targets = [t.id for t in s.targets[0].elts]
    found = [env.pop(t, None) for t in targets]
    found = [None if isinstance(a, Shadow) else a for a in found]
    back: list[Any] = []
    if not any(found):
        return [s], back
    parts = [full_adjoint(reverse, t, a, back) for t, a in zip(targets, found, strict=True)]
    kind = reverse.facts.kind_of_name(s.value.id)
    owned = all(
        a is None or a.is_owned or reverse.domain.is_scalar(reverse.facts.kind_of_name(t))
        for t, a in zip(targets, found, strict=True)
    )
    if reverse.domain.is_tuple(kind):
        missing = frozenset(k for k, a in enumerate(found) if a is None)
        display = Display(tuple_of(parts), ownership=owned_if(owned), missing=missing)
        pass_on(reverse, env, s.value.id, display, back)
    else:
        is_vector = reverse.domain.is_vector_of_floats(kind)
        value = gast.List(elts=parts, ctx=gast.Load())
        if is_vector:
            value = reverse.array_call("array", value)
        elif not reverse.domain.is_list(kind):
            value = call(reverse.helper("pack_like"), load(s.value.id), *parts)
        elif s.value.id not in env and all(map(reverse.has_adjoint, targets)):
            value = atom_for(reverse, s.value.id, value, back)
            reverse.complete.add(value.id)
        is_new = is_vector or (owned and isinstance(value, (gast.List, gast.Name)))
        new = Plain(value, ownership=owned_if(is_new), partial=not all(found))
        pass_on(reverse, env, s.value.id, new, back)
    return [s], back


def reverse_definition(reverse: Reverse, s: Any, name: str, env: Env) -> Sweep:
    """A nested function used as a value: its adjoint holds those of its captured variables, by name."""
    adjoint = env.pop(name, None)
    back: list[Any] = []
    if adjoint is not None:
        s, captured = bind_captured(reverse.program, s, reverse.active, reverse.names)
        for key, free in captured:
            accumulate(reverse, env, free, captured_part(reverse, adjoint.value, key, free), back)
    return [s], back


def is_made_complex(reverse: Reverse, item: Any, items: tuple[Any, ...]) -> bool:
    """Whether a real item of a list is beside a complex one: where lists have one type of items, the
    adjoint of each is complex.
    """
    if not reverse.domain.is_real(reverse.kind(item)):
        return False
    domain = reverse.domain
    numbers = [k for k in map(reverse.kind, items) if domain.is_numeric(k) or domain.is_array(k)]
    return not all(map(domain.is_real, numbers))


def items_first(statements: list[Any], parameters: list[str]) -> int:
    """The number of leading statements that read attributes of parameters, or items by literal keys."""
    fields = list(takewhile(lambda s: field_read(s, parameters) is not None, statements))
    items = list(takewhile(lambda s: item_read(s) is not None, statements[len(fields) :]))
    return len(fields) + len(items) if items else 0


def reverse_first_items(reverse: Reverse, reads: list[Any], env: Env, block: Block) -> Sweep:
    """Both sweeps of the leading reads of items of parameters; `env` holds the adjoints after them. Where the
    container has no other reader, its adjoint is a display of theirs.

        w = p["w"]
        b = p["b"]    ->    dp = {"w": dw, "b": db}
    """
    ahead: list[Any] = []
    back: list[Any] = []
    parts: dict[str, dict[Hashable, Any]] = {}

    def take(name: str) -> None:
        if name in parts:
            env[name] = Plain(_display(reverse, name, parts.pop(name)), ownership=Ownership.OWNED)

    for s in reversed(reads):
        found = item_read(s)
        take(s.targets[0].id)
        if found is None:
            first, last = block(reverse, [s], env)
            ahead, back = [*first, *ahead], [*back, *last]
            continue
        name, base, key = found
        keys = reverse.domain.keys_of(reverse.kind(load(base)))
        if key in keys and base not in env and name not in reverse.shadows and base not in reverse.shadows:
            if name in env:
                parts.setdefault(base, {})[key] = gradient_of(reverse, env, name, back)
            ahead.insert(0, s)
        else:
            take(base)
            first, last = block(reverse, [s], env)
            ahead, back = [*first, *ahead], [*back, *last]
    for base in list(parts):
        take(base)
    return ahead, back


def _display(reverse: Reverse, name: str, parts: dict[Hashable, Any]) -> Any:
    """The adjoint of a container, from those of its items."""
    kind = reverse.kind(load(name))
    keys = reverse.domain.keys_of(kind)
    values = [parts[key] if key in parts else reverse.zero_item(name, key) for key in keys]
    if reverse.domain.is_dict(kind):
        return gast.Dict(keys=list(map(constant, keys)), values=values)
    return gast.List(elts=values, ctx=gast.Load()) if reverse.domain.is_list(kind) else tuple_of(values)
