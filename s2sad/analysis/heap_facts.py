"""The natures of values for `lower_heap`, from their kinds."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any
from weakref import WeakSet

import gast

from ..kinds import domain
from ..kinds.lattice import (
    OBJECT,
    UNKNOWN,
    Dict,
    Instance,
    Kind,
    List,
    Record,
    Reference,
    Tuple,
    Unknown,
    widen,
)
from ..kinds.memory import makes_dict
from ..runtime import containers as conversions
from ..runtime import heap, heap_adjoints, heap_arrays, heap_keys, slots
from ..runtime import object_graph as heap_places
from ..runtime.reachable_arrays import outside_of
from ..runtime.records import made_like
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Apply, Operation
from ..transforms.heap.heap_values import HeapValues
from ..transforms.trees.nodes import load, names_read
from ..transforms.trees.program import MISSING, Program
from ..values.objects import is_plain
from .constructors import makes_empty, new_class
from .primitive_table import PRIMITIVES

__all__ = ["ON_HEAP", "HeapNatures", "has_heap", "nature_of"]


ON_HEAP: WeakSet[FunctionType] = WeakSet()  # the functions with a heap parameter
OF_HEAPS = (heap.__name__, heap_adjoints.__name__, slots.__name__)
HELPERS = (heap, heap_arrays, heap_keys, heap_places, conversions)
NUMBERS = (float, int, complex, bool, len, round)
OF_ITEMS = (math.dist, math.fsum, math.prod, getattr(math, "sumprod", None))
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


class HeapNatures(HeapValues):
    """The natures of the values of a program; `arguments` are the kinds of the arguments, `told` those of
    names that the memory of the program with a heap told.
    """

    def __init__(
        self,
        facts: Facts,
        arguments: Mapping[str, Kind],
        find_with_heap: Callable[[Operation, Callable[[Any], Kind], bool], Any],
        told: Mapping[str, Kind] | None = None,
    ) -> None:
        super().__init__(facts)
        self.arguments, self.find_with_heap, self.told = arguments, find_with_heap, told or {}

    def of(self, node: Any) -> str:
        found = self.facts.program.resolve(node)
        if found is not MISSING and not is_plain(type(found)) and not isinstance(found, (list, dict, tuple)):
            return "plain"
        return nature_of(self.kind(node))

    def given(self, name: str) -> str:
        return nature_of(self.arguments.get(name, UNKNOWN))

    def class_of(self, node: Any) -> type | None:
        kind = self.kind(node)
        return kind.cls if isinstance(kind, (Record, Instance)) else None

    def truth_of(self, node: Any) -> bool | None:
        return domain.truth_of(self.told.get(getattr(node, "id", ""), UNKNOWN))

    def is_constant(self, node: Any) -> bool:
        return has_no_floats(self.kind(node))

    def is_array(self, node: Any) -> bool:
        kind = self.kind(node)
        return nature_of(kind) == "plain" and not domain.is_immutable(kind)

    def takes_numbers(self, value: Any) -> bool:
        operation = self.operation(value)
        function = operation.function if isinstance(operation, Apply) else None
        is_of_numbers = getattr(function, "__module__", "") in ("math", "cmath")
        is_counted = not any(isinstance(a, gast.Starred) for a in value.args)
        return is_of_numbers and is_counted and all(function is not f for f in OF_ITEMS)

    def gives_number(self, value: Any) -> bool:
        operation = self.operation(value)
        if not isinstance(operation, Apply):
            return False
        function = operation.function
        if any(function is f for f in NUMBERS) or getattr(function, "__module__", "") in ("math", "cmath"):
            return True
        return PRIMITIVES.is_of_numpy(function) and getattr(function, "__name__", "") not in LISTS

    def makes_object(self, value: Any) -> bool:
        program = self.facts.program
        if makes_dict(value, program) or makes_empty(new_class(value, program, self.kind)):
            return True
        is_frozen = isinstance(value, gast.Call) and program.resolve(value.func) is made_like
        return is_frozen and program.resolve(value.args[0]) is not MISSING

    def with_heap(self, value: Any, reads: bool = False) -> Any:
        return self.find_with_heap(self.operation(value), self.kind, reads)

    def outside(self, read: list[Any]) -> Any:
        return outside_of(read)

    def helper(self, name: str) -> Any:
        if name == "concat":
            return operator.concat
        owner = next((m for m in HELPERS if name in m.__all__), None)
        return PRIMITIVES.helper(name) if owner is None else getattr(owner, name)


def has_heap(program: Program) -> bool:
    """Whether a program uses a heap or adjoints of one. Those are keyed by identity, so such a program cannot
    get a second heap, which would copy objects.
    """
    return any(map(_uses_heap, (program.resolve(load(n)) for n in names_read(program.tree.body))))


def _uses_heap(found: Any) -> bool:
    return isinstance(found, FunctionType) and (found.__module__ in OF_HEAPS or found in ON_HEAP)


def has_no_floats(kind: Kind) -> bool:
    """Whether values of a kind carry no derivative, whatever numbers they are: a float that is the same in
    each run is still one.
    """
    if isinstance(kind, Tuple):
        return all(map(has_no_floats, kind.items))
    return domain.is_differentiable(widen(kind)) is False


def nature_of(kind: Kind) -> str:
    """ "object", "plain" or "unknown", as `HeapValues.of`."""
    match kind:
        case Record() | Instance() | List() | Dict() | Reference():
            return "object"
        case Tuple(items):
            return "plain" if all(nature_of(k) == "plain" for k in items) else "unknown"
    return "unknown" if isinstance(kind, Unknown) or kind is OBJECT else "plain"
