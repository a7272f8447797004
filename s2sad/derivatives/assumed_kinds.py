"""What code that is only shown assumes of its arguments: arrays of floats where slices are stored into."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import gast

from ..kinds.lattice import UNKNOWN, Array, Kind
from ..source.read import read_source
from ..transforms.errors import NoSourceError
from ..transforms.trees.nodes import find_nodes

__all__ = ["assumed_kinds", "told_assumptions"]


def assumed_kinds(function: FunctionType, parameters: tuple[str, ...]) -> tuple[Kind, ...]:
    """The kinds of the parameters: an array of floats for one that the function stores slices into, by its
    name, another one, or a copy that a method makes.
    """
    try:
        tree = read_source(function).tree
    except NoSourceError:
        return tuple(UNKNOWN for _ in parameters)
    sources = _find_sources(tree)
    arrays = {n.value.id for n in find_nodes(tree, gast.Subscript) if _is_slice_store(n)}
    while more := {s for name in arrays for s in sources.get(name, ())} - arrays:
        arrays |= more
    return tuple(Array("float64", None) if p in arrays else UNKNOWN for p in parameters)


def told_assumptions(parameters: tuple[str, ...], kinds: tuple[Kind, ...]) -> str:
    """A line that says which parameters are assumed to be arrays; empty without any."""
    names = ", ".join(f"`{p}`" for p, kind in zip(parameters, kinds, strict=True) if kind is not UNKNOWN)
    return f"# for arrays of floats {names}, since slices of them are set\n" if names else ""


def _is_slice_store(n: Any) -> bool:
    return (
        isinstance(n.ctx, gast.Store)
        and isinstance(n.value, gast.Name)
        and any(isinstance(part, gast.Slice) for part in getattr(n.slice, "elts", [n.slice]))
    )


def _find_sources(tree: Any) -> dict[str, set[str]]:
    """The names that variables are other names of, or whose methods make them."""
    found: dict[str, set[str]] = {}
    for s in find_nodes(tree, gast.Assign):
        match s.value:
            case gast.Name(id=source) | gast.Call(func=gast.Attribute(value=gast.Name(id=source))):
                for target in s.targets:
                    if isinstance(target, gast.Name):
                        found.setdefault(target.id, set()).add(source)
    return found
