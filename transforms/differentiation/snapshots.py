"""Snapshots: copies of values that the reverse sweep reads, and that a statement may change before."""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import assign, assigned_names, attribute, call, load
from ..trees.rebuild import substitute
from .adjoint import Sweep
from .reverse_state import Reverse

__all__ = ["snapshots"]


def snapshots(reverse: Reverse, statement: Any, ahead: list[Any], back: list[Any]) -> Sweep:
    """Copies, where the statement stands, each value that its reverse reads and that may be overwritten
    before then.
    """
    if reverse.changes.functions_overwritten(statement, back, reverse.object_of):
        reverse.program.refuse(
            statement,
            "a function that the reverse sweep calls again and whose captures are changed later",
            "the derivative of the call needs the old value",
            "pass the variable as an argument, or change a copy",
        )
    overwritten = reverse.changes.overwritten(statement, back, reverse.object_of)
    if not overwritten:
        return ahead, back
    kept = {name: reverse.names.temporary(name) for name in overwritten}
    copies = {name: assign(copy, copy_of_value(reverse, name), statement) for name, copy in kept.items()}
    read = {name: load(copy) for name, copy in kept.items()}
    back = [b if reverse.shadows.is_lookup(b) else substitute(b, read) for b in back]
    # The reverse reads the values after a statement's own changes.
    late = set(kept) if reverse.changes.is_change(statement) else set(assigned_names(statement))
    before = [copy for name, copy in copies.items() if name not in late]
    after = [copy for name, copy in copies.items() if name in late]
    if before and is_exact(reverse, statement):  # the statement itself may read the copies, too
        ahead = [substitute(a, {n: load(c) for n, c in kept.items() if n not in late}) for a in ahead]
    return [*before, *ahead, *after], back


def is_exact(reverse: Reverse, statement: Any) -> bool:
    """Whether a statement does arithmetic on vectors, whose last bit does not depend on the memory
    layout. That of sums and products of matrices may.
    """
    match statement:
        case gast.Assign(
            targets=[gast.Name(id=name)],
            value=gast.BinOp(op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div())
            | gast.UnaryOp(op=gast.USub()),
        ):
            kind = reverse.facts.kind_of_name(name)
            return reverse.domain.is_float(kind) and reverse.domain.rank(kind) == 1
    return False


def copy_of_value(reverse: Reverse, name: str) -> Any:
    """An expression for a copy of the value of a name."""
    if reverse.domain.is_array(reverse.kind(load(name))):
        return call(attribute(load(name), "copy"))
    return call(reverse.helper("copy_adjoint"), load(name))
