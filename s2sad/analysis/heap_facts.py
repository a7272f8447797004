"""What `lower_heap` asks about the values of a program, told from kinds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any
from weakref import WeakSet

from ..kinds import domain
from ..kinds.class_members import member_of
from ..kinds.lattice import OBJECT, SET, UNKNOWN, Dict, Kind, List, Record, Tuple, widen
from ..runtime import containers as conversions
from ..runtime import heap, heap_adjoints, heap_arrays, heap_keys
from ..runtime import object_graph as heap_places
from ..runtime.reachable_arrays import outside_of
from ..transforms.analyses.effects import ELSEWHERE
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_effects import changed_atoms
from ..transforms.analyses.operations import Apply, Call, Operation
from ..transforms.trees.nodes import load, names_read
from ..transforms.trees.program import MISSING, Program
from ..values.objects import is_plain
from .constructors import makes_empty, new_class
from .primitive_table import PRIMITIVES

__all__ = ["HeapNatures", "has_heap"]


ON_HEAP: WeakSet[FunctionType] = WeakSet()  # the functions that are given a heap
OF_HEAPS = (heap.__name__, heap_adjoints.__name__)
HELPERS = (heap, heap_arrays, heap_keys, heap_places, conversions)
NUMBERS = (float, int, complex, bool, len, round)
LISTS = frozenset(  # functions of NumPy that may return lists
    [
        "array_split",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "broadcast_arrays",
        "dsplit",
        "gradient",
        "histogram",
        "histogram2d",
        "histogramdd",
        "hsplit",
        "meshgrid",
        "split",
        "unstack",
        "vsplit",
    ]
)


class HeapNatures:
    """Implements `transforms.lower_heap.Natures`; `given` are the kinds of the arguments.
    """

    def __init__(
        self,
        facts: Facts,
        given: Mapping[str, Kind],
        find_with_heap: Callable[[Operation, Callable[[Any], Kind]], Any],
    ) -> None:
        self.facts, self.arguments, self.find_with_heap = facts, given, find_with_heap
        self.program, self.kind, self.operation = facts.program, facts.kind, facts.operation

    def of(self, node: Any) -> str:
        found = self.program.resolve(node)
        if found is not MISSING and not is_plain(type(found)) and not isinstance(found, (list, dict, tuple)):
            return "plain"
        return nature_of(self.kind(node))

    def class_of(self, node: Any) -> type | None:
        kind = self.kind(node)
        return kind.cls if isinstance(kind, Record) else None

    def is_list(self, node: Any) -> bool:
        return isinstance(self.kind(node), List)

    def is_set(self, node: Any) -> bool:
        return self.kind(node) is SET

    def is_number(self, node: Any) -> bool:
        return domain.is_scalar(self.kind(node))

    def holds_numbers(self, node: Any, index: Any) -> bool:
        return domain.is_scalar(domain.item_kind(self.kind(node), index, self.kind))

    def is_constant(self, node: Any) -> bool:
        return domain.is_differentiable(widen(self.kind(node))) is False

    def is_array(self, node: Any) -> bool:
        return nature_of(self.kind(node)) == "plain" and not domain.is_immutable(self.kind(node))

    def sharing(self, value: Any) -> str:
        operation = self.operation(value)
        return self.facts.sharing(operation) if isinstance(operation, Apply) else "unknown"

    def outside(self, read: list[Any]) -> Any:
        return outside_of(read)

    def changes_array(self, value: Any) -> bool:
        effect, _ = self.facts.effect_at(value)
        arrays = effect.changed - {ELSEWHERE}
        return bool(arrays or changed_atoms(value, self.facts))

    def is_held(self, node: Any) -> bool:
        kind = self.kind(node.value)
        if not isinstance(kind, Record):
            return True
        member = member_of(kind, node.attr)
        return member is None or member.role in ("field", "constant")

    def is_method(self, node: Any) -> bool:
        kind = self.kind(node.value)
        member = member_of(kind, node.attr) if isinstance(kind, Record) else None
        return member is not None and member.role == "method"

    def is_inert(self, value: Any) -> bool:
        operation = self.operation(value)
        return isinstance(operation, Apply) and PRIMITIVES.is_nondifferentiable(operation.function)

    def is_primitive(self, value: Any) -> bool:
        return isinstance(self.operation(value), Apply)

    def gives_number(self, value: Any) -> bool:
        operation = self.operation(value)
        if not isinstance(operation, Apply):
            return False
        function = operation.function
        if any(function is f for f in NUMBERS) or getattr(function, "__module__", "") in ("math", "cmath"):
            return True
        return PRIMITIVES.is_of_numpy(function) and getattr(function, "__name__", "") not in LISTS

    def is_unknown(self, value: Any) -> bool:
        operation = self.operation(value)
        return isinstance(operation, Call) and operation.function is MISSING

    def given(self, name: str) -> str:
        return nature_of(self.arguments.get(name, UNKNOWN))

    def makes_object(self, value: Any) -> bool:
        return makes_empty(new_class(value, self.program, self.kind))

    def may_change(self, value: Any) -> bool:
        operation = self.operation(value)
        if not isinstance(operation, Call):
            return False
        return operation.function is MISSING or self.facts.may_change(value)

    def with_heap(self, value: Any) -> Any:
        return self.find_with_heap(self.operation(value), self.kind)

    @staticmethod
    def helper(name: str) -> Any:
        if name == "concat":
            return operator.concat
        owner = next((m for m in HELPERS if name in m.__all__), None)
        return PRIMITIVES.helper(name) if owner is None else getattr(owner, name)


def has_heap(program: Program) -> bool:
    """Whether a program has a heap, made or given, or adjoints of one: these are found by what objects are,
    of which a heap would make copies.
    """
    return any(map(_uses_heap, (program.resolve(load(n)) for n in names_read(program.tree.body))))


def _uses_heap(found: Any) -> bool:
    return isinstance(found, FunctionType) and (found.__module__ in OF_HEAPS or found in ON_HEAP)


def nature_of(kind: Kind) -> str:
    """ "object", "plain" or "unknown", as `Natures.of`."""
    match kind:
        case Record() | List() | Dict():
            return "object"
        case Tuple(items):
            return "plain" if all(nature_of(k) == "plain" for k in items) else "unknown"
    return "unknown" if kind is UNKNOWN or kind is OBJECT else "plain"
