"""Inlines reads of cached properties: the value is computed and stored unless the object holds it already.

                                found = holds_attribute(model, "chol")
    chol = model.chol           if found:
                          ->        chol = getattr(model, "chol")
                                else:
                                    chol = compute_chol(model)
                                    model.chol = chol
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import FunctionType
from typing import Any

import gast

from ..kinds.lattice import Dict, Instance, Kind, List, Record, Tuple
from ..kinds.shape_relations import is_differentiable
from ..runtime.heap_keys import holds_attribute
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import (
    assign,
    attribute,
    call,
    constant,
    find_nodes,
    load,
    located,
)
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import rewritten
from ..values.objects import lookup

__all__ = ["computed_by", "inline_cached_properties", "refuse_cached"]


def computed_by(owner: Kind, name: str) -> FunctionType | None:
    """The function of a cached property of objects of a kind; None for another attribute."""
    found = lookup(owner.cls, name) if isinstance(owner, (Instance, Record)) else None
    function = found.func if isinstance(found, cached_property) else None
    return function if isinstance(function, FunctionType) else None


def inline_cached_properties(program: Program, kind: Callable[[Any], Kind]) -> Program:
    """The program, in normal form, with its reads of cached properties inlined."""
    names = program.names.copy()
    objects, written = Objects(program, names), _written(program)
    bound = objects.name

    def computed(read: Any) -> FunctionType | None:
        """The function of a cached property whose value the object may not hold yet; None for other reads."""
        owner = kind(read.value)
        is_held = isinstance(owner, Record) and read.attr in dict(owner.fields)
        return None if is_held and read.attr not in written else computed_by(owner, read.attr)

    def statement(s: Any) -> list[Any] | None:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Attribute() as read):
                base, attr, function = read.value, read.attr, computed(read)
                if function is not None:
                    test = names.temporary(attr)
                    asked = call(bound(holds_attribute), base, constant(attr))
                    held = call(bound(getattr), base, constant(attr))
                    value = call(bound(function), base)
                    store = gast.Assign(targets=[attribute(base, attr)], value=load(name), type_comment=None)
                    store.targets[0].ctx = gast.Store()
                    branch = gast.If(
                        test=load(test),
                        body=[assign(name, located(held, read), s)],
                        orelse=[assign(name, located(value, read), s), located(store, s)],
                    )
                    return [assign(test, located(asked, read), s), located(branch, s)]
        return None

    if not any(computed(n) for n in find_nodes(program.tree, gast.Attribute) if isinstance(n.ctx, gast.Load)):
        return program
    tree = rewritten(program.tree, statement)
    return program.with_tree(tree, bindings=objects.all_bindings(), names=names)


def _written(program: Program) -> set[str]:
    """The cached properties whose reads are inlined already."""
    return {
        c.args[1].value
        for c in find_nodes(program.tree, gast.Call)
        if program.resolve(c.func) is holds_attribute
    }


def refuse_cached(program: Program, kinds: Mapping[str, Kind], wrt: tuple[str, ...]) -> None:
    """Raises UnsupportedSyntaxError where a program reads a cached property whose value an argument holds
    already: the value does not depend on the other attributes any more.
    """
    held = {attr for name in wrt for attr in _cached_fields(kinds[name])}
    if not held:
        return
    for n in find_nodes(program.tree, gast.Attribute, gast.Call):
        words = [n.attr] if isinstance(n, gast.Attribute) else [getattr(a, "value", None) for a in n.args]
        found = next((w for w in words if isinstance(w, str) and w in held), None)
        if found is not None:
            program.refuse(
                n,
                f"the cached property `{found}` of an argument that holds its value already",
                "the value no longer depends on the attributes that it was computed from",
                "delete the value before, or pass a new object",
            )


def _cached_fields(kind: Kind) -> Iterator[str]:
    """The cached properties in a value of a kind that hold values with derivatives."""
    match kind:
        case Record(cls, fields):
            for name, held in fields:
                is_cached = isinstance(lookup(cls, name), cached_property)
                if is_cached and is_differentiable(held) is not False:
                    yield name
                yield from _cached_fields(held)
        case Tuple(items):
            for item in items:
                yield from _cached_fields(item)
        case List(_, element):
            yield from _cached_fields(element)
        case Dict(pairs):
            for _, item in pairs:
                yield from _cached_fields(item)
