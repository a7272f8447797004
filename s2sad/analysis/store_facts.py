"""What is known of what is stored into arrays, and of views that see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast

from ..kinds import domain
from ..kinds.lattice import NUMERIC, UNKNOWN, Array, Kind
from ..transforms.analyses.classified import Operations
from ..transforms.analyses.find_effects import changed_atoms
from ..transforms.analyses.operations import Alias, Apply, Item
from ..transforms.lowering.rematerialise_views import Reads
from ..transforms.trees.nodes import load, names_read, own_statements
from ..transforms.trees.program import Program
from .aliasing import is_steady_view
from .effects import sharing_of
from .primitive_table import PRIMITIVES

if TYPE_CHECKING:
    from .program_facts import Analysis

__all__ = ["Stored", "is_read_at_once", "reads_of"]

FindKind = Callable[[Any], Kind]


@dataclass(frozen=True)
class Stored:
    """What `add_in_place` asks of a program with atoms of these kinds."""

    program: Program
    kind: FindKind
    operations: Operations

    def is_like(self, part: str, result: str) -> bool:
        """Whether a sum of a part of an array has its rank and dtype, so that it can be made in place."""
        of, kind = self.kind(load(part)), self.kind(load(result))
        if domain.is_scalar(of):
            return of is kind and domain.is_differentiable(of) is not False
        is_alike = domain.update_nature(of, kind) in ("same", "alike")
        return is_alike and domain.rank(of) is not None and domain.rank(of) == domain.rank(kind)

    def is_basic(self, index: Any) -> bool:
        """Whether an index stands for a view of an array, or for an element."""
        return domain.is_basic_index(index, self.kind)

    def is_inert(self, value: Any) -> bool:
        """Whether an expression changes nothing that the program holds."""
        match self.operations.of(value):
            case Apply(function=function):
                is_call = isinstance(value, gast.Call)
                changed = changed_atoms(value, self.program, PRIMITIVES, self.kind) if is_call else []
                return PRIMITIVES.is_pure(function) and changed == []
            case Alias() | Item():
                return True
        return False


def reads_of(kind: FindKind, operations: Operations, is_changed: Callable[[str], bool]) -> Reads:
    """What `rematerialise_views` asks of a program."""

    def shares(value: Any, wanted: str) -> bool:
        operation = operations.of(value)
        return isinstance(operation, Apply) and sharing_of(operation, kind) == wanted

    def is_view(value: Any) -> bool:
        return shares(value, "unknown") and is_steady_view(getattr(operations.of(value), "function", None))

    def is_data(name: str) -> bool:
        found = kind(load(name))
        return domain.is_array(found) and domain.is_differentiable(found) is not False

    return Reads(
        is_view,
        lambda value: shares(value, "view") or isinstance(operations.of(value), (Alias, Item)),
        lambda value: shares(value, "fresh"),
        is_changed,
        is_data,
    )


def is_read_at_once(found: Analysis, name: str, value: Any) -> bool:
    """Whether a name stands for a view, or for a row or a number as only the run knows, of which nothing but
    values is read, all before anything is changed that it sees: it is as good as a copy.
    """
    reads = reads_of(found.kind, found.operations, lambda changed: True)
    is_undecided = found.kind_of_name(name) in (UNKNOWN, NUMERIC) and _is_of_array(found, value)
    if not (is_undecided or reads.is_view(value)) or any(name == changed for changed, _ in found.stores):
        return False
    users = [s for s in own_statements(found.program.tree.body) if name in names_read(s)]
    if not all(isinstance(s, gast.Assign) and reads.is_fresh(s.value) for s in users):
        return False
    return not any(name in found.aliases.others(changed, s) for changed, s in found.stores)


def _is_of_array(found: Analysis, value: Any) -> bool:
    """Whether an expression is an item of an array."""
    match found.operations.of(value):
        case Item(base=base):
            return isinstance(found.kind(base), Array)
    return False
