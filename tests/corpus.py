"""The corpus: small programs over all that is differentiated, which every pass and both modes are run on.

`PROGRAMS` lists them, one for each set of arguments of a program, in the order of the families below.
"""

from __future__ import annotations

from types import ModuleType

from tests.corpus_programs import (
    attempts,
    branches,
    builders,
    carried,
    classes,
    closures,
    composed,
    comprehensions,
    containers,
    contexts,
    copies,
    dicts_made,
    displays,
    elementwise,
    exits,
    functions,
    globals_set,
    held_arrays,
    index_loops,
    indexing,
    items,
    iterators,
    joins,
    jumps,
    linear_algebra,
    list_changes,
    loops,
    matching,
    names,
    namespaces,
    objects,
    protocols,
    recursion,
    reductions,
    renewed,
    scalars,
    sets,
    shaping,
    shared,
    stars,
    statements,
    whole_arrays,
    writers,
)
from tests.corpus_programs.declare import Program, declared

__all__ = ["FAMILIES", "PROGRAMS", "Program"]

FAMILIES: tuple[ModuleType, ...] = (
    scalars,
    statements,
    branches,
    loops,
    index_loops,
    carried,
    renewed,
    jumps,
    exits,
    functions,
    globals_set,
    held_arrays,
    names,
    containers,
    list_changes,
    comprehensions,
    iterators,
    displays,
    items,
    joins,
    stars,
    contexts,
    copies,
    dicts_made,
    attempts,
    matching,
    objects,
    classes,
    composed,
    closures,
    protocols,
    shared,
    sets,
    writers,
    recursion,
    builders,
    namespaces,
)
FAMILIES += (elementwise, reductions, shaping, indexing, whole_arrays, linear_algebra)
PROGRAMS: list[Program] = [p for family in FAMILIES for p in declared(family.__name__)]
