"""One memory for all functions that share a heap: a program and the recursive functions that it calls.

Each function is interpreted with what all its calls give it, in turn, until none finds more. Where the memory
then tells all slots of all of them, these are read and set as they stand (`plain_slots.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import CellType, FunctionType
from typing import Any

import gast

from ..analysis.facts import facts_of
from ..analysis.function_forms import FunctionForms
from ..analysis.heap_facts import ON_HEAP
from ..kinds.lattice import UNKNOWN, Kind
from ..kinds.memory import Shared, settled_memory
from ..source.compiling import make_function
from ..source.read import code_of_tree, read_source
from ..transforms.analyses.facts import Facts
from ..transforms.trees.nodes import find_nodes, load, located
from ..transforms.trees.printer import to_source
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import parameter_names, rebuilt
from ..values.code_state import cells_of, rebuilt_function
from .heap_functions import without_cells
from .plain_slots import with_plain_slots

__all__ = ["shared_memory", "with_shared_memory"]

ROUNDS = 20  # after which nothing is known
INNER = "function_"  # the name of the cell that a shared function calls


def with_shared_memory(facts: Facts, forms: FunctionForms, made: Mapping[FunctionType, Any]) -> Facts:
    """A program, in single assignment, with plain slots, and with such functions in place of those that it
    calls with its heap, which were `made` for it; the `forms` gain their facts. The facts themselves where
    not all is known.
    """
    copies: dict[FunctionType, FunctionType] = {}

    def program_of(function: FunctionType) -> Program:
        known = made[function].kinds if function in made else {}
        given = {p: known.get(p, UNKNOWN) for p in parameter_names(forms.normal_form(function).tree)}
        copies[function] = _copy(function)
        forms.sharing[copies[function]] = whole = forms.expanded(function, given)
        return whole.program

    programs = _reached(facts.program, program_of)
    if not copies:
        return facts
    found = _interpreted(facts.kinds, programs, copies, forms)
    if found is None:
        return facts
    plain: dict[Any, Facts] = {}
    for function, known in found.items():
        program = with_plain_slots(known)
        if program is None:
            return facts
        plain[function] = known.again(program)
        if function is not None:
            cell = cells_of(function)[INNER]
            cell.cell_contents = _Lazily(program, cell)
    own = plain.pop(None)
    forms.sharing.update(plain)
    return own


def shared_memory(
    facts: Facts, given: Mapping[str, Kind], forms: FunctionForms, made: Mapping[FunctionType, Any]
) -> dict[Any, tuple[Facts, Any]]:
    """The facts and the memory of a program with a heap, in normal form, under None, and of the functions
    that share it, which were `made` for it; `given` are the kinds of its parameters. Where nothing is known,
    that memory is None, and there are no others.
    """
    programs = _reached(
        facts.program, lambda function: without_cells(made[function].program) if function in made else None
    )
    if len(programs) == 1:
        return {None: (facts, settled_memory(facts.program, given, facts.kind))}
    found = _interpreted(given, programs, {}, forms)
    memories = {
        function: (known, settled_memory(known.program, {} if function else given, known.kind))
        for function, known in (found or {}).items()
    }
    is_known = memories and all(memory is not None for _, memory in memories.values())
    return memories if is_known else {None: (facts, None)}


def linked_in(program: Program) -> list[FunctionType]:
    """The functions that a program calls with its heap."""
    called = (program.resolve(c.func) for c in find_nodes(program.tree, gast.Call))
    return list(dict.fromkeys(f for f in called if isinstance(f, FunctionType) and f in ON_HEAP))


def _reached(
    program: Program, program_of: Callable[[FunctionType], Program | None]
) -> dict[FunctionType | None, Program]:
    """A program, under None, and those of the functions that it calls with its heap, which call others."""
    programs: dict[FunctionType | None, Program] = {None: program}
    todo = [program]
    while todo:
        for called in linked_in(todo.pop()):
            if called not in programs and (found := program_of(called)) is not None:
                programs[called] = found
                todo.append(found)
    return programs


def _copy(function: FunctionType) -> FunctionType:
    """A function with the same parameters that calls what its only cell will hold."""
    source = read_source(function)
    args = source.tree.args
    named = [gast.keyword(arg=p.id, value=load(p.id)) for p in args.kwonlyargs]
    given = [load(p.id) for p in [*args.posonlyargs, *args.args]]
    value = gast.Call(func=load(INNER), args=given, keywords=named)
    tree = rebuilt(source.tree, body=[located(gast.Return(value=value), source.tree)])
    cells = {INNER: CellType()}
    new = rebuilt_function(function, code_of_tree(tree, source.filename, cells, source.lines), cells)
    ON_HEAP.add(new)
    return new


class _Lazily:
    """A function of a program, which is compiled when it is called."""

    def __init__(self, program: Program, cell: CellType) -> None:
        self.program, self.cell = program, cell

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        program = self.program
        made = make_function(to_source(program.tree), program.tree.name, program.scope, program.bindings)
        self.cell.cell_contents = made
        return made(*args, **keywords)


def _sharing(
    program: Program, copies: dict[FunctionType, FunctionType], shared: Shared, function: Any
) -> Program:
    """A program that calls the copies of functions, which share a memory."""
    bindings = dict(program.bindings)
    for c in find_nodes(program.tree, gast.Call):
        found = program.resolve(c.func)
        if isinstance(found, FunctionType) and found in copies:
            bindings[c.func.id] = copies[found]
    return program.with_tree(program.tree, bindings=bindings, memory=(shared, function))


def _interpreted(
    kinds: Mapping[str, Kind],
    programs: Mapping[FunctionType | None, Program],
    copies: dict[FunctionType, FunctionType],
    forms: FunctionForms,
) -> dict[Any, Facts] | None:
    """The facts of the programs, the first with parameters of these `kinds`, with the copies of functions in
    place of these, by the memory that they share; None where that does not settle.
    """
    own = {None if f is None else copies.get(f, f): p for f, p in programs.items()}
    shared = Shared({f: tuple(parameter_names(p.tree)) for f, p in own.items() if f is not None})
    own = {f: _sharing(p, copies, shared, f) for f, p in own.items()}
    for _ in range(ROUNDS):
        before = shared.count
        found = {}
        for function, program in own.items():
            given: dict[str, Kind] = {}
            for p in parameter_names(program.tree):
                if function is None:
                    given[p] = kinds[p]
                    continue
                held = shared.given.get((function, p))
                given[p] = UNKNOWN if held is None else shared.as_kind(held)
            found[function] = facts_of(program, None, forms.effects, partial(forms.kinds, kinds=given))
            found[function].kinds  # noqa: B018 - interprets it
        if shared.is_lost:
            return None
        if shared.count == before and not shared.settle():
            return found
    return None
