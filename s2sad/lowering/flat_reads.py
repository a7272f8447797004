"""Reads of `a.flat`, as reads of `a.flatten()` or of elements of `a`.

    for v in a.flat:        row = a.flatten()       v = a.flat[k]       place = flat_places(a, k)
        s += v * v          for v in row:                               v = a[place]
                                s += v * v
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gast

from ..kinds import domain
from ..primitives.aliasing import sharing
from ..rules.places import flat_places
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_overwrites import find_changes
from ..transforms.analyses.operations import Apply
from ..transforms.lowering.lower_effects import Writer
from ..transforms.trees.nodes import assign, attribute, call, load, located, names_read, store
from ..transforms.trees.rebuild import rebuilt, substitute

__all__ = ["FlatReads"]

WHOLE = (list, tuple, sum, len, max, min, sorted)  # builtins that read an iterable at once and do not keep it


@dataclass(frozen=True)
class FlatReads:
    """The reads of `a.flat` in a program; `flats` maps each name for `a.flat` to the array."""

    facts: Facts
    flats: Mapping[str, Any]

    def rewritten(self, s: Any, writer: Writer) -> list[Any] | None:
        """The statements in place of one that reads `a.flat`: an element, all of it in a call that keeps no
        alias, unpacked, or in a loop. None for other statements.
        """
        match s:
            case gast.Assign(value=gast.Subscript(value=gast.Name(id=name), slice=index)) if (
                name in self.flats
            ):
                if not domain.is_scalar(self.facts.kind(index)):
                    return self.in_one_row(s, [name], "value", writer)
                return self.element(s, name, index, writer)
            case gast.Assign(value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="copy"))) if (
                name in self.flats
            ):
                return [rebuilt(s, value=located(call(attribute(self.flats[name], "flatten")), s))]
            case gast.Assign(value=gast.Call(args=[gast.Name(id=name), *_]) as value) if name in self.flats:
                return None if self.is_kept(value) else self.in_one_row(s, [name], "value", writer)
            case gast.Assign(targets=[gast.Tuple()], value=gast.Name(id=name)) if name in self.flats:
                return self.in_one_row(s, [name], "value", writer)
            case gast.For(iter=iterated):
                read = [name for name in names_read(iterated) if name in self.flats]
                if any(self.facts.of(find_changes).is_changed_in(s, self.flats[name].id) for name in read):
                    return self.by_position(s, writer)
                return self.in_one_row(s, read, "iter", writer) if read else None
        return None

    def element(self, s: Any, name: str, index: Any, writer: Writer) -> list[Any]:
        """The assignment of an element, read from the array itself."""
        array = self.flats[name]
        place = writer.names.temporary(array.id)
        found = call(writer.bound(flat_places, "flat_places"), array, index)
        item = gast.Subscript(value=array, slice=load(place), ctx=gast.Load())
        return [assign(place, located(found, s), s), rebuilt(s, value=located(item, s))]

    def by_position(self, s: Any, writer: Writer) -> list[Any] | None:
        """A loop that may change the array that it reads, as one over positions: each element is read in its
        iteration. None for loops other than `for v in a.flat` and `for k, v in enumerate(a.flat)`.
        """
        match s:
            case gast.For(target=gast.Name(id=element), iter=gast.Name(id=name)):
                position = writer.names.fresh("k")
            case gast.For(
                target=gast.Tuple(elts=[gast.Name(id=position), gast.Name(id=element)]),
                iter=gast.Call(args=[gast.Name(id=name)], keywords=[]) as iterated,
            ) if self.facts.program.resolve(iterated.func) is enumerate:
                pass
            case _:
                return None
        array = self.flats[name]
        size = writer.names.temporary(array.id)
        count = assign(size, located(attribute(array, "size"), s), s)
        due = self.element(assign(element, array, s), name, load(position), writer)
        iterated = located(call(writer.bound(range, "range"), load(size)), s)
        return [count, rebuilt(s, target=located(store(position), s), iter=iterated, body=[*due, *s.body])]

    def in_one_row(self, s: Any, read: list[str], field: str, writer: Writer) -> list[Any]:
        """The statement with `a.flatten()` in place of each of these names."""
        rows = {name: writer.names.temporary(self.flats[name].id) for name in read}
        made = {name: located(call(attribute(self.flats[name], "flatten")), s) for name in read}
        new = substitute(getattr(s, field), {name: load(row) for name, row in rows.items()})
        return [*(assign(rows[name], made[name], s) for name in read), rebuilt(s, **{field: new})]

    def is_kept(self, value: Any) -> bool:
        """Whether the result of a call may alias its argument."""
        operation = self.facts.operation(value)
        if not isinstance(operation, Apply):
            return True
        return operation.function not in WHOLE and sharing(operation) != "fresh"
