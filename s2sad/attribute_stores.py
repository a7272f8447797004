"""Stores into `a.flat`, `z.real` and `z.imag`, and of all of these, as stores into the array itself; and what
reads `a.flat`, which is `a` in one row where it is read at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast
import numpy as np

from . import domain
from . import write_templates as templates
from .changing import changed
from .kinds import List
from .primitives import PRIMITIVES
from .rules.complex_parts import with_imag, with_real
from .rules.places import flat_places
from .sharing import sharing
from .transforms.analyses.operations import IN_PLACE_OPERATORS, Apply, Call, Opaque, Pop, classify
from .transforms.lowering.lower_writes import Writer
from .transforms.normal_form.expand_item_updates import index_value
from .transforms.trees.nodes import (
    assign,
    assigned_names,
    attribute,
    call,
    constant,
    find_nodes,
    load,
    located,
    names_read,
    statements_in,
    target_names,
)
from .transforms.trees.program import Program
from .transforms.trees.rebuild import parameter_names, rebuilt, substitute

__all__ = ["ATTRIBUTES", "attribute_views", "read_flat", "stored_attribute", "stored_in_part"]

WITH_PART = {"real": with_real, "imag": with_imag}
ATTRIBUTES = ("flat", *WITH_PART)


def attribute_views(program: Program) -> Mapping[str, Any]:
    """The names for `a.flat` and the like, with that expression."""
    return {
        n.targets[0].id: n.value
        for n in find_nodes(program.tree, gast.Assign)
        if isinstance(n.targets[0], gast.Name)
        and isinstance(n.value, gast.Attribute)
        and n.value.attr in ATTRIBUTES
        and isinstance(n.value.value, gast.Name)
    }


def stored_in_part(s: Any, target: Any, part: Any, writer: Writer) -> list[Any]:
    """What the store `s` into an element of a part of an array is."""
    base = part.value
    if part.attr in WITH_PART:
        return _with_part(s, rebuilt(target, value=base), part.attr, writer)
    index = index_value(target.slice, "slice")
    if isinstance(s, gast.AugAssign):
        places = writer.names.temporary(base.id)
        found = call(writer.bound(flat_places, "flat_places"), base, index)
        return [
            assign(places, located(found, s), s),
            rebuilt(s, target=rebuilt(target, value=base, slice=load(places))),
        ]
    set_flat = writer.bound(templates.set_flat, "set_flat")
    return [located(gast.Expr(value=located(call(set_flat, base, index, s.value), s)), s)]


def stored_attribute(s: Any, target: Any, writer: Writer, is_complex: bool) -> list[Any]:
    """What `a.flat = v` and the like are."""
    whole = gast.Subscript(value=target.value, slice=constant(...), ctx=gast.Store())
    if target.attr == "flat":
        set_flat = writer.bound(templates.set_all_flat, "set_all_flat")
        return [located(gast.Expr(value=located(call(set_flat, target.value, s.value), s)), s)]
    if not is_complex:
        return [assign(whole, s.value, s)]
    return _with_part(s, whole, target.attr, writer)


def read_flat(
    s: Any, flats: Mapping[str, Any], program: Program, kind: Any, writer: Writer
) -> list[Any] | None:
    """What a statement is that reads `a.flat` by one of these names, each with the array: elements of it, or
    all of it by what keeps nothing of it, or by a loop that changes nothing. None for other statements.
    """

    def in_one_row(read: list[str], field: str) -> list[Any]:
        """The statement with arrays of one row in the place of the names that it reads."""
        rows = {name: writer.names.temporary(flats[name].id) for name in read}
        made = {name: located(call(attribute(flats[name], "flatten")), s) for name in read}
        changed = substitute(getattr(s, field), {name: load(row) for name, row in rows.items()})
        return [*(assign(rows[name], made[name], s) for name in read), rebuilt(s, **{field: changed})]

    def is_kept(value: Any) -> bool:
        operation = classify(value, program, PRIMITIVES, kind)
        if not isinstance(operation, Apply) or operation.function in WHOLE:
            return not isinstance(operation, Apply)
        return sharing(operation) != "fresh"

    match s:
        case gast.Assign(value=gast.Subscript(value=gast.Name(id=name), slice=index)) if name in flats:
            if not domain.is_scalar(kind(index)):
                return in_one_row([name], "value")
            place = writer.names.temporary(flats[name].id)
            found = call(writer.bound(flat_places, "flat_places"), flats[name], index)
            item = gast.Subscript(value=flats[name], slice=load(place), ctx=gast.Load())
            return [assign(place, located(found, s), s), rebuilt(s, value=located(item, s.value))]
        case gast.Assign(value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="copy"))) if (
            name in flats
        ):
            return [rebuilt(s, value=located(call(attribute(flats[name], "flatten")), s))]
        case gast.Assign(value=gast.Call(args=[gast.Name(id=name), *_]) as value) if name in flats:
            return None if is_kept(value) else in_one_row([name], "value")
        case gast.For(iter=iterated):
            read = [name for name in names_read(iterated) if name in flats]
            if read and not any(_may_change(i, program, kind) for i in statements_in(s.body)):
                return in_one_row(read, "iter")
    return None


IN_PLACE = frozenset(IN_PLACE_OPERATORS.values())
WHOLE = (list, tuple, sum, len, max, min, sorted)


def _may_change(s: Any, program: Program, kind: Any) -> bool:
    """Whether a statement in a loop may change an array that there is before it."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=value):
            operation = classify(value, program, PRIMITIVES, kind)
            if not isinstance(operation, Apply):
                return isinstance(operation, (Call, Opaque, Pop))
            if operation.function in IN_PLACE:
                return not _is_computed(operation.args[0], program)
            named = dict(operation.keywords)
            written = "out" in named or changed(operation.function, len(operation.args), named)
            return bool(written) or not PRIMITIVES.is_pure(operation.function)
        case gast.Expr(value=gast.Call(func=gast.Attribute(value=base, attr="append"))):
            return not isinstance(kind(base), List)
        case gast.If() | gast.For() | gast.While() | gast.Pass():
            return False
    return True


def _is_computed(atom: Any, program: Program) -> bool:
    """Whether a variable only ever has numbers, and new arrays, which arithmetic has made."""

    def variable(node: Any) -> str:
        return program.origins.get(node.id, node.id) if isinstance(node, gast.Name) else ""

    def is_made(value: Any) -> bool:
        match value:
            case gast.Name():
                return variable(value) == variable(atom)
            case gast.Call(func=gast.Name(id=name), args=[first, _]):  # `s += v`
                return program.resolve(load(name)) in IN_PLACE and is_made(first)
        return isinstance(value, (gast.Constant, gast.BinOp, gast.UnaryOp))

    names = {n for n in program.locals if variable(load(n)) == variable(atom)}
    assignments = [s for s in find_nodes(program.tree, gast.Assign) if names.intersection(assigned_names(s))]
    bound = {n for s in find_nodes(program.tree, gast.For) for n in target_names(s.target)}
    bound.update(parameter_names(program.tree))
    return names.isdisjoint(bound) and all(is_made(s.value) for s in assignments)


def _with_part(s: Any, place: Any, part: str, writer: Writer) -> list[Any]:
    """The store into the real or imaginary part of what is at a place."""
    base, value = place.value.id, s.value
    code = []

    def named(expression: Any) -> Any:
        code.append(assign(writer.names.temporary(base), located(expression, s), s))
        return load(code[-1].targets[0].id)

    before = named(gast.Subscript(value=place.value, slice=place.slice, ctx=gast.Load()))
    if isinstance(s, gast.AugAssign):
        before = named(call(attribute(before, "copy")))
        held = named(call(attribute(writer.bound(np, "np"), part), before))
        value = named(gast.BinOp(left=held, op=s.op, right=value))
    function = WITH_PART[part]
    after = named(call(writer.bound(function, function.__name__), before, value))
    return [*code, assign(place, after, s)]
