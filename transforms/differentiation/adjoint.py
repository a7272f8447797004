"""What is known of an adjoint on its way through a reverse sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from ..trees.nodes import attribute, same

__all__ = ["Adjoint", "Condition", "Env", "Mask", "Sweep", "field_of", "is_same_adjoint", "part_of"]


@dataclass(frozen=True)
class Condition:
    """An array of truth values that a name holds; of their opposites, if `inverted`."""

    name: str
    inverted: bool = False


Mask = tuple[Condition, ...]  # the elements at which all of these hold


@dataclass(frozen=True)
class Adjoint:
    """The current adjoint of a variable: an atom.

    `owned` says that no other name holds its value, so that it may be changed in place; `uniform` that the
    value is one number, which every element of the adjoint is (what a sum over all elements leaves), and
    which broadcasting may spread, or an array that it may spread (what a sum over axes leaves): then `whole`
    is the expression for the adjoint itself; `shadow` that other names have the same object, or parts of it,
    as theirs; `buffer` that it is an array of its own that has been changed in place already;
    `partial` that it is a number on paths on which the variable has no value; `mask` for which elements it
    is (what the value is elsewhere means nothing, unless it is `zeroed` there). Of the adjoint of a list
    `masks` names the list of masks of its elements, in the shape of what was chosen from them. Of an
    accumulator `overwritten` names the array that says which elements stores have overwritten.
    """

    value: Any
    owned: bool = False
    accumulator: bool = False
    uniform: bool = False
    whole: Any = None
    shadow: bool = False
    buffer: bool = False
    partial: bool = False
    mask: Mask | None = None
    zeroed: bool = False
    masks: str | None = None
    overwritten: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to know but the value."""
        return not self.uniform and self.mask is None

    @property
    def is_full(self) -> bool:
        """Whether the value is the adjoint as it stands."""
        return not self.uniform and (self.mask is None or self.zeroed)


Env = dict[str, Adjoint]
Sweep = tuple[list[Any], list[Any]]  # the statements of the forward sweep, and of the reverse sweep


def is_same_adjoint(a: Adjoint, b: Adjoint) -> bool:
    """Whether two adjoints are the same value in the same form, ownership aside."""
    forms = [(x.accumulator, x.uniform, x.mask, x.zeroed, x.masks) for x in (a, b)]
    return same(a.value, b.value) and same(a.whole, b.whole) and forms[0] == forms[1]


def part_of(adjoint: Any, key: Any) -> Any:
    """One part of the adjoint of a container."""
    if isinstance(adjoint, gast.Tuple) and isinstance(key, gast.Constant):
        return adjoint.elts[key.value]
    return gast.Subscript(value=adjoint, slice=key, ctx=gast.Load())


def field_of(adjoint: Any, name: str) -> Any:
    """One part of the adjoint of an object."""
    held = {k.arg: k.value for k in adjoint.keywords} if isinstance(adjoint, gast.Call) else {}
    return held[name] if name in held else attribute(adjoint, name)
