"""The state of one adjoint during a reverse sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from ..trees.nodes import attribute, same

__all__ = ["Adjoint", "Condition", "Env", "Mask", "Sweep", "field_of", "is_same_adjoint", "part_of"]


@dataclass(frozen=True)
class Condition:
    """A name that holds an array of truth values; `inverted` takes their opposites."""

    name: str
    inverted: bool = False


Mask = tuple[Condition, ...]  # the elements at which all of these hold


@dataclass(frozen=True)
class Adjoint:
    """The current adjoint of a variable, held by an atom.

    `owned`: no other name holds the value, so it may be changed in place. `uniform`: the value is one number
    or a smaller array that broadcasting spreads to the shape of the variable, as after a sum; `whole` is then
    the expression for the spread adjoint. `shadow`: an alias, or a container of aliases, of other adjoints.
    `buffer`: a new array that has been changed in place already. `mask`: the elements that the adjoint is
    for; elsewhere the value is meaningless, unless it is `zeroed` there. `masks` (of a list) names the list
    of the masks of its elements, each in the shape of the array that was chosen. `overwritten` (of an
    accumulator) names the mask of elements that stores have overwritten. `partial`: an element, or the
    number, may be zero because nothing reads it, or a store overwrites it. `missing` (of a tuple display) are
    the positions of its zeros: items without contributions.
    """

    value: Any
    owned: bool = False
    accumulator: bool = False
    uniform: bool = False
    whole: Any = None
    shadow: bool = False
    buffer: bool = False
    mask: Mask | None = None
    zeroed: bool = False
    masks: str | None = None
    overwritten: str | None = None
    partial: bool = False
    missing: frozenset[int] = frozenset()

    @property
    def is_plain(self) -> bool:
        """Whether the value is neither a smaller array to be spread nor masked."""
        return not self.uniform and self.mask is None

    @property
    def is_full(self) -> bool:
        """Whether the value has the variable's shape and holds zeros outside its mask, if it has one."""
        return not self.uniform and (self.mask is None or self.zeroed)


Env = dict[str, Adjoint]
Sweep = tuple[list[Any], list[Any]]  # the statements of the forward sweep, and of the reverse sweep


def is_same_adjoint(a: Adjoint, b: Adjoint) -> bool:
    """Whether two adjoints are the same value in the same form, ownership aside."""
    forms = [(x.accumulator, x.uniform, x.mask, x.zeroed, x.masks) for x in (a, b)]
    return same(a.value, b.value) and same(a.whole, b.whole) and forms[0] == forms[1]


def part_of(adjoint: Any, key: Any) -> Any:
    """The adjoint of one item of a container."""
    if isinstance(adjoint, gast.Tuple) and isinstance(key, gast.Constant):
        return adjoint.elts[key.value]
    return gast.Subscript(value=adjoint, slice=key, ctx=gast.Load())


def field_of(adjoint: Any, name: str) -> Any:
    """The adjoint of one attribute of an object."""
    held = {k.arg: k.value for k in adjoint.keywords} if isinstance(adjoint, gast.Call) else {}
    return held[name] if name in held else attribute(adjoint, name)
