"""The adjoint of one variable during a reverse sweep: an expression, and how it stands for the adjoint.

The classes say what can be done with the expression. Most hold the adjoint in the shape of the variable, and
say who else may hold the same object (`Ownership`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import gast

from ..trees.nodes import attribute, same, subscript

__all__ = [
    "Accumulator", "Adjoint", "Condition", "Display", "Env", "Held", "ListOfChoices", "Mask", "Masked",
    "Ownership", "Plain", "Reduced", "Shadow", "Spread", "Sweep", "Uniform", "field_of", "is_changed",
    "is_same_adjoint", "masked", "owned_if", "part_of",
]  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """A name that holds an array of truth values; `inverted` takes their opposites."""

    name: str
    inverted: bool = False


Mask = tuple[Condition, ...]  # the elements at which all of these hold


class Ownership(IntEnum):
    """Whether a value may be changed in place."""

    SHARED = 0  # other names may hold it
    OWNED = 1  # no other name does
    CHANGED = 2  # a new array that has been changed in place already


def owned_if(is_owned: bool) -> Ownership:
    return Ownership.OWNED if is_owned else Ownership.SHARED


@dataclass(frozen=True)
class Adjoint:
    """The current adjoint of a variable. `partial`: an element, or the number, may be zero because nothing
    reads it, or because a store overwrites it.
    """

    value: Any
    partial: bool = field(default=False, kw_only=True)

    @property
    def mask(self) -> Mask | None:
        """The elements that the adjoint is for; None for all."""
        return self.where if isinstance(self, (Spread, Masked)) else None

    @property
    def is_owned(self) -> bool:
        """Whether no other name holds the value, or each item of a tuple."""
        held = isinstance(self, Held) and self.ownership >= Ownership.OWNED
        return held or isinstance(self, (Accumulator, Shadow))

    @property
    def is_full(self) -> bool:
        """Whether the value has the variable's shape, and zeros outside its mask, if it has one."""
        return self.zeroed if isinstance(self, Masked) else not isinstance(self, Spread)

    @property
    def is_plain(self) -> bool:
        """Whether the value is neither to be spread nor masked."""
        return not isinstance(self, (Spread, Masked))


@dataclass(frozen=True, kw_only=True)
class Spread(Adjoint):
    """An adjoint that broadcasting has yet to spread to the shape of the variable; outside its mask, if it
    has one, it is meaningless.
    """

    where: Mask | None = None


class Uniform(Spread):
    """One number, the same for all elements, as after a sum."""


@dataclass(frozen=True, kw_only=True)
class Reduced(Spread):
    """A smaller array, as after a sum over axes; `whole` is the expression of the spread one."""

    whole: Any

    def spread(self) -> Plain | Masked:
        """The adjoint in the shape of the variable."""
        if self.where is None:
            return Plain(self.whole, partial=self.partial)
        return Masked(self.whole, where=self.where, partial=self.partial)


@dataclass(frozen=True, kw_only=True)
class Held(Adjoint):
    """An adjoint in the form of the variable."""

    ownership: Ownership = Ownership.SHARED


class Plain(Held):
    """An adjoint of all elements."""


@dataclass(frozen=True, kw_only=True)
class Masked(Held):
    """An adjoint of some elements; elsewhere the value is meaningless, unless it is `zeroed` there."""

    where: Mask
    zeroed: bool = False


@dataclass(frozen=True, kw_only=True)
class Display(Held):
    """A display of the adjoints of the items of a tuple; `missing` are the positions of those that are zero
    because no contribution has come.
    """

    missing: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True)
class ListOfChoices(Held):
    """The adjoint of a list of which `np.select` chose; `masks` names the list of the masks of its items,
    each in the shape of the result.
    """

    masks: str


@dataclass(frozen=True, kw_only=True)
class Accumulator(Adjoint):
    """One name that all contributions in a loop are added to, in place for arrays; `overwritten` names the
    mask of elements that stores have overwritten.
    """

    overwritten: str | None = None


class Shadow(Adjoint):
    """An alias, or a container of aliases, of other adjoints: contributions are added in place."""


Env = dict[str, Adjoint]
Sweep = tuple[list[Any], list[Any]]  # the statements of the forward sweep, and of the reverse sweep


def is_changed(adjoint: Adjoint | None) -> bool:
    """Whether an adjoint is a new array that has been changed in place already."""
    return isinstance(adjoint, Held) and adjoint.ownership is Ownership.CHANGED


def masked(
    value: Any, mask: Mask | None, ownership: Ownership = Ownership.SHARED, partial: bool = False
) -> Plain | Masked:
    """An adjoint that is zero outside a mask, if there is one."""
    if mask is None:
        return Plain(value, ownership=ownership, partial=partial)
    return Masked(value, where=mask, zeroed=True, ownership=ownership, partial=partial)


def is_same_adjoint(a: Adjoint, b: Adjoint) -> bool:
    """Whether two adjoints are the same value in the same form, whoever owns it."""
    wholes = [x.whole if isinstance(x, Reduced) else None for x in (a, b)]
    return same(a.value, b.value) and same(*wholes) and _form(a) == _form(b)


def _form(adjoint: Adjoint) -> Adjoint:
    """An adjoint without its value."""
    form = replace(adjoint, value=None, partial=False)
    if isinstance(form, Reduced):
        return replace(form, whole=None)
    return replace(form, ownership=Ownership.SHARED) if isinstance(form, Held) else form


def part_of(adjoint: Any, key: Any) -> Any:
    """The adjoint of one item of a container."""
    if isinstance(adjoint, gast.Tuple) and isinstance(key, gast.Constant):
        return adjoint.elts[key.value]
    return subscript(adjoint, key)


def field_of(adjoint: Any, name: str) -> Any:
    """The adjoint of one attribute of an object."""
    held = {k.arg: k.value for k in adjoint.keywords} if isinstance(adjoint, gast.Call) else {}
    return held[name] if name in held else attribute(adjoint, name)
