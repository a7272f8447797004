"""Functions that change objects and cannot be inlined (recursive ones), with the heap as a parameter.

    def fib(n, memo):                       def fib(heap, n, memo):
        if n not in memo:                       if n not in memo:
            memo[n] = fib(n - 1, memo) + n          heap, memo_1 = fib(heap, n - 1, memo)
                                                    memo_2 = memo_1 + n
                                                    heap = heap_set(heap, memo, n, memo_2)
        return memo[n]                          memo_3 = heap_get(heap, memo, n)
                                                return heap, memo_3

The objects themselves are passed and returned; their contents are the heap's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CellType, FunctionType
from typing import Any, NamedTuple

from ..analysis.check_namespaces import refuse_namespace_changes
from ..analysis.facts import facts_of
from ..analysis.function_forms import FunctionForms
from ..analysis.heap_facts import ON_HEAP, HeapNatures
from ..kinds.lattice import (
    UNKNOWN,
    Array,
    Instance,
    Kind,
    List,
    Literal,
    Numeric,
    Record,
    Scalar,
    Tuple,
    widen,
)
from ..source.read import code_of_tree
from ..transforms.analyses.operations import Call, Operation, starred
from ..transforms.errors import S2sadError
from ..transforms.heap.lower_heap import lower_heap, lower_to_heap
from ..transforms.trees.nodes import names_read
from ..transforms.trees.program import Program
from ..values.code_state import rebuilt_function
from ..values.custom_rule import rule_of
from .outer_objects import refuse_open_calls

__all__ = ["HeapCalls", "without_cells"]

Kinds = Mapping[str, Kind]


class Made(NamedTuple):
    """What a function with a heap parameter was made from, and its program, in normal form."""

    key: Any
    kinds: Kinds
    source: Program
    program: Program


@dataclass
class HeapCalls:
    """Makes functions with a heap parameter from the `forms` of functions.

    `cells` holds each in a cell, by function and kinds of arguments: an empty cell while it is being made,
    None where that is refused.
    """

    forms: FunctionForms
    cells: dict[Any, CellType | None] = field(default_factory=dict)
    named: dict[Any, Program] = field(default_factory=dict)  # normal forms in which classes are told, by key
    known: dict[Any, Kinds] = field(default_factory=dict)  # kinds of names in these that are told, by key
    made: dict[FunctionType, Made] = field(default_factory=dict)

    def tell(self, function: FunctionType, program: Program) -> None:
        """Has a function made again from another normal form of what it was made from."""
        self.named[self.made[function].key] = program
        self.known.pop(self.made[function].key, None)
        self.cells.clear()

    def tell_kinds(self, function: FunctionType, known: Kinds) -> None:
        """Has a function made again with these kinds of names."""
        self.known[self.made[function].key] = known
        self.cells.clear()

    def lowered(
        self, program: Program, given: Kinds, writes: bool, known: Kinds, left: list[str] | None = None
    ) -> Program:
        """The program with a heap of its own; `known` are kinds of names that its statements do not tell,
        `left` the objects whose operators are not followed yet.
        """
        lowered = lower_heap(program, self.natures(program, given, known), writes, left)
        return program if lowered is program else without_cells(lowered)

    def natures(self, program: Program, given: Kinds, known: Kinds) -> HeapNatures:
        facts = self.forms.facts(program, given, before=True)
        if known:
            facts = facts_of(program, {**facts.kinds, **known}, self.forms.effects)
        refuse_namespace_changes(facts, updates=True)
        return HeapNatures(facts, given, self.called, known)

    def called(self, operation: Operation, kind: Callable[[Any], Kind], reads: bool) -> CellType | None:
        """The cell of the function with a heap parameter for a call; None for calls that need none."""
        if not isinstance(operation, Call):
            return None
        args, keywords = [kind(a) for a in operation.args], {k or "": kind(v) for k, v in operation.keywords}
        if not reads and not self.forms.effects.of_call(operation, kind)[0].changed:
            return None
        function = operation.function
        is_plain = isinstance(function, FunctionType) and not starred(operation) and rule_of(function) is None
        if not is_plain or self.forms.plain(function, args, keywords) is not function:
            return None
        bound = self.forms.bind(function, args, keywords)
        return None if bound is None else self.found(function, bound)

    def found(self, function: FunctionType, bound: Kinds) -> CellType | None:
        kinds = {name: _of_any_content(kind) for name, kind in bound.items()}
        key = (function, self.forms.outer, *kinds.values())
        if key not in self.cells:
            cell = self.cells[key] = CellType()
            try:
                source = self.named.get(key) or self.forms.taken(self.forms.callee_form(function), kinds)
                with self.forms.reads(function):
                    source = self.forms.with_inlined_callees(source, kinds, False)
                program = lower_to_heap(source, self.natures(source, kinds, self.known.get(key, {})))
                if self.forms.outer:
                    refuse_open_calls(self.forms.facts(program, kinds), None, self.forms.normal_form)
                made = cell.cell_contents = _compiled(function, program)
                self.made[made] = Made(key, kinds, source, program)
            except S2sadError:
                self.cells[key] = None
        return self.cells[key]


def without_cells(program: Program) -> Program:
    """A program with the functions themselves in place of the cells that hold them."""
    bindings = {n: v.cell_contents if isinstance(v, CellType) else v for n, v in program.bindings.items()}
    return program.with_tree(program.tree, bindings=bindings)


def _of_any_content(kind: Kind) -> Kind:
    """The kind of an argument without the contents of its lists and dicts, which may change."""
    match kind:
        case Scalar() | Array() | Numeric():
            return kind
        case Literal(value=str() | bool() | FunctionType()):
            return kind
        case Literal(value=int() | float() | complex()):
            return widen(kind)
        case Tuple(items, cls):
            return Tuple(tuple(map(_of_any_content, items)), cls)
        case List():
            return List(None, UNKNOWN)
        case Record(cls) | Instance(cls):
            return Instance(cls)
    return UNKNOWN


def _compiled(function: FunctionType, program: Program) -> FunctionType:
    tree = program.tree
    cells = dict(program.scope.cells)
    for name in names_read(tree):
        if name in program.bindings:
            value = program.bindings[name]
            cells[name] = value if isinstance(value, CellType) else CellType(value)
    code = code_of_tree(tree, program.filename, cells, program.lines)
    made = rebuilt_function(function, code, cells)
    ON_HEAP.add(made)
    return made
