"""Rematerialises values in the reverse body of a loop instead of reading them from the trace."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import gast

from ..analyses.operations import Apply
from ..trees.nodes import assign, assigned_names, load, names_read, target_names, walk
from ..trees.rebuild import rebuilt
from .indices import is_basic
from .reverse_state import Reverse

__all__ = ["function_of", "rematerialised"]


def function_of(reverse: Reverse, node: Any) -> Any:
    return reverse.program.resolve(node.func) if isinstance(node, gast.Call) else None


def rematerialised(reverse: Reverse, s: Any, forward: Any, wanted: list[str]) -> list[Any]:
    """The statements that the reverse body runs again instead of reading their results from the trace: index
    arithmetic, arithmetic on loop-invariant numbers, sums and differences with numbers that are in the trace
    anyway; items at known indices, all items, and views of objects that are not changed.
    """
    loop_names = set(assigned_names(forward))
    by_memory = reverse.shadows.by_memory
    saved = dict.fromkeys(n for n in wanted if n not in by_memory)  # a copy has another adjoint
    again: set[str] = set()
    targets = {n.id for n in walk(s.target) if isinstance(n, gast.Name)} if isinstance(s, gast.For) else set()
    ranged = isinstance(s, gast.For) and function_of(reverse, s.iter) is range
    kept = set(saved) | (targets if ranged else set())
    steps: dict[str, Any] = {}  # index arithmetic that other index arithmetic may need
    result: list[Any] = []
    for statement in forward.body:
        match statement:
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.Subscript(value=gast.Name(id=base), slice=index) as value,
            ) if name in saved and base in reverse.program.locals and base not in loop_names:
                varying = [n for n in names_read(index) if n in loop_names and n not in again]
                if all(n in kept for n in varying) and _stays(reverse, statement, value):
                    result.append(assign(name, value))
                    again.add(name)
                    kept.discard(name)
            case gast.Assign(targets=[gast.Tuple() as target], value=gast.Name(id=base)) if (
                base in reverse.program.locals
                and base not in loop_names
                and not reverse.changes.is_changed(base)
                and _unpacks_again(reverse, target, base, saved)
            ):
                result.append(assign(target, load(base)))
                again.update(target_names(target))
                kept.difference_update(target_names(target))
            case gast.Assign(
                targets=[gast.Subscript(value=gast.Name(id=base), slice=index) as place],
                value=gast.Name(id=name),
            ) if name in saved and name not in again and base in reverse.program.locals:
                varying = [n for n in names_read(index) if n in loop_names and n not in again]
                known = base not in loop_names and all(n in kept for n in varying)
                if known and name not in names_read(result) and _holds(reverse, statement, place, name):
                    result.append(assign(name, rebuilt(place, ctx=gast.Load())))
                    again.add(name)
                    kept.discard(name)
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if _is_index(reverse, name, value):
                varying = [n for n in names_read(value) if n in loop_names and n not in again]
                if all(n in kept or n in steps for n in varying):
                    steps[name] = value
                    if name in saved:
                        again.update(_emit(name, steps, result))
                        kept.discard(name)
            case gast.Assign(
                targets=[gast.Name(id=name)], value=gast.Attribute() | gast.Call() as value
            ) if name in saved and _is_steady_view(reverse, value, loop_names):
                result.append(assign(name, value))
                again.add(name)
                kept.discard(name)
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.BinOp() | gast.UnaryOp() as value) if (
                name in saved
            ):
                read = [n for n in names_read(value) if n in reverse.program.locals]
                varying = [n for n in read if n in loop_names and n not in again]
                kind = reverse.facts.kind_of_name(name)
                number = reverse.domain.is_real_scalar(kind) and all(
                    reverse.domain.is_scalar(reverse.kind(load(n))) for n in read
                )
                cheap = isinstance(value, gast.UnaryOp) or isinstance(value.op, (gast.Add, gast.Sub))
                if number and (not varying or (cheap and all(n in kept for n in varying))):
                    result.append(assign(name, value))
                    again.add(name)
                    kept.discard(name)
    return result


def _is_index(reverse: Reverse, name: str, value: Any) -> bool:
    """Whether an expression is arithmetic on integers, or a tuple of such: the index of an element."""
    if isinstance(value, gast.Tuple):
        return all(reverse.domain.is_integer(reverse.kind(e)) for e in value.elts)
    is_arithmetic = isinstance(value, (gast.BinOp, gast.UnaryOp))
    return is_arithmetic and reverse.domain.is_integer(reverse.facts.kind_of_name(name))


def _emit(name: str, steps: dict[str, Any], result: list[Any]) -> list[str]:
    """Writes the arithmetic for a name after the arithmetic for its operands; returns the names written."""
    value = steps.pop(name)
    made = [n for read in names_read(value) if read in steps for n in _emit(read, steps, result)]
    result.append(assign(name, value))
    return [*made, name]


def _unpacks_again(reverse: Reverse, target: Any, base: str, saved: Container[str]) -> bool:
    """Whether unpacking a tuple, list or array again beats saving its items: most of them are read, and it is
    no iterator.
    """
    names = target_names(target)
    is_flat = all(isinstance(e, gast.Name) for e in target.elts)
    wanted = [n for n in names if n in saved]
    return bool(
        is_flat and 2 * len(wanted) > len(names) and reverse.domain.has_length(reverse.kind(load(base)))
    )


def _stays(reverse: Reverse, statement: Any, value: Any) -> bool:
    """Whether a subscript has the same value in the reverse sweep: nothing changes that part of the array
    later, or it is a view.
    """
    base, index = value.value, value.slice
    if any(map(reverse.changes.is_changed, names_read(index))):
        return False
    if reverse.domain.item_nature(reverse.kind(base)) == "unknown":  # an object may return another one later
        return False
    if not reverse.changes.is_changed(base.id):
        return True
    kind = reverse.kind(base)
    if not reverse.domain.is_array(kind) or not is_basic(reverse, index):
        return False
    is_view = reverse.domain.is_array(reverse.domain.item_kind(kind, index, reverse.kind))
    return is_view or bool(reverse.changes.is_final(statement, value))


def _holds(reverse: Reverse, statement: Any, place: Any, name: str) -> bool:
    """Whether an array holds, until the reverse sweep, the number that a statement stores in it."""
    kind, index, domain = reverse.kind(place.value), place.slice, reverse.domain
    if not domain.is_array(kind) or not domain.is_scalar_item(kind, index, reverse.kind):
        return False
    same = domain.item_kind(kind, index, reverse.kind) is reverse.kinds.get(name)
    return same and reverse.changes.is_final(statement, place)


def _is_steady_view(reverse: Reverse, value: Any, loop_names: set[str]) -> bool:
    """Whether an expression is a view, as `x.T`, of loop-invariant arrays that are not changed."""
    operation = reverse.operation(value)
    if not isinstance(operation, Apply) or reverse.primitives.sharing(operation) != "view":
        return False
    return not any(n in loop_names or reverse.changes.is_changed(n) for n in names_read(value))
