"""Statements on arrays as loops over elements.

Form: the tree of a derivative of one sweep, in and out. A run of statements that compute element by element
becomes one call of a function of loops: `a = np.exp(x); b = a * y; s = np.sum(b)` one loop that fills no more
arrays than what is read later. Broadcasting is NumPy's: where lengths turn out to differ, each statement runs
in a loop of its own, in which an axis of length one stands still; or code with one path raises LengthsDiffer.

Invariant: no statement of a loop reads an element that the loop writes in another iteration. Aliases are
decided by names: an array that the function made and bound to one name has none, all others may be aliases.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from .array_types import Type, Types
from .loops.emit_loops import Loops
from .loops.expand_products import expand_products
from .loops.find_bindings import Bindings
from .loops.group_statements import Grouping
from .loops.read_expressions import Meaning, Reader
from .loops.split_statements import Splitter
from .split_variables import split_variables

__all__ = ["Loops", "with_loops"]


def with_loops(
    function: ast.FunctionDef,
    given: Mapping[str, Type],
    meaning: Meaning,
    fresh: Callable[[str], str],
    has_one_path: bool = False,
    is_allowed: Callable[[Bindings], bool] = lambda code: True,
    parallel: bool = False,
) -> tuple[list[Loops], dict[str, Any]] | None:
    """Changes the function in place, given the types of its parameters; returns the functions of loops that
    it calls now, and other functions by the names that it has for them. `meaning` tells what an expression of
    names means outside, and `fresh` makes names. None if it is not allowed for what names are bound to. With
    `parallel` outer loops run in several threads, where their iterations are proven to be independent.
    """
    split_variables(function, fresh)
    types = Types(function, dict(given), meaning)
    if expand_products(function, Reader(types, meaning, fresh)):
        types = Types(function, dict(given), meaning)
    splitter = Splitter(types, meaning, fresh)
    splitter.function(function)
    grouping = Grouping(function, types, splitter.meaning, fresh, has_one_path, parallel)
    if not is_allowed(grouping):
        return None
    function.body = grouping.block(function.body)
    ast.fix_missing_locations(function)
    return grouping.made, splitter.called
