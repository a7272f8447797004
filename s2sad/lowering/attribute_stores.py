"""Stores into `a.flat`, `z.real` and `z.imag`, and of all of these, as stores into the array itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast
import numpy as np

from ..rules import stores as templates
from ..rules.complex_parts import with_imag, with_real
from ..rules.places import flat_places
from ..transforms.lowering.lower_effects import Writer
from ..transforms.normal_form.expand_item_updates import index_value
from ..transforms.trees.nodes import assign, attribute, call, constant, find_nodes, load, located
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import rebuilt

__all__ = ["ATTRIBUTES", "attribute_views", "stored_attribute", "stored_in_part"]

WITH_PART = {"real": with_real, "imag": with_imag}
ATTRIBUTES = ("flat", *WITH_PART)


def attribute_views(program: Program) -> Mapping[str, Any]:
    """The names bound to `a.flat`, `a.real` or `a.imag`, with that expression."""
    return {
        n.targets[0].id: n.value
        for n in find_nodes(program.tree, gast.Assign)
        if isinstance(n.targets[0], gast.Name)
        and isinstance(n.value, gast.Attribute)
        and n.value.attr in ATTRIBUTES
        and isinstance(n.value.value, gast.Name)
    }


def stored_in_part(s: Any, target: Any, part: Any, writer: Writer) -> list[Any]:
    """The statements in place of the store `s` to elements of `a.flat`, `a.real` or `a.imag`."""
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
    """The statements in place of `a.flat = v`, `a.real = v` or `a.imag = v`."""
    whole = gast.Subscript(value=target.value, slice=constant(...), ctx=gast.Store())
    if target.attr == "flat":
        set_flat = writer.bound(templates.set_all_flat, "set_all_flat")
        return [located(gast.Expr(value=located(call(set_flat, target.value, s.value), s)), s)]
    if not is_complex:
        return [assign(whole, s.value, s)]
    return _with_part(s, whole, target.attr, writer)


def _with_part(s: Any, place: Any, part: str, writer: Writer) -> list[Any]:
    """The store into the real or imaginary part of the elements at a place, as one of complex numbers."""
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
