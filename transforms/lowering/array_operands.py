"""Makes arrays of lists and tuples of numbers where an operation on arrays takes them, as NumPy does itself.

Form: the single-assignment form, in and out. Rules then see nothing but numbers and arrays.

    y = np.dot(xs, ws)    ->    y_1 = np.asarray(xs)
                                y = np.dot(y_1, ws)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..trees.nodes import assign, attribute, call, load, statements_in
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt, with_body

__all__ = ["array_operands"]


def array_operands(program: Program, listed: Callable[[Any], list[Any]], numpy: Any) -> Program:
    """The program with arrays for the operands that `listed(expression)` finds; `numpy` is the module."""
    if not any(_value(s) is not None and listed(s.value) for s in statements_in(program.tree.body)):
        return program
    names, bindings = program.names.copy(), dict(program.bindings)
    module = next((k for k, v in bindings.items() if v is numpy), None)
    if module is None:
        module = "np" if program.scope.lookup("np") is numpy else names.fresh("np")
        bindings.setdefault(module, numpy)

    def visit(statements: list[Any]) -> list[Any]:
        result = []
        for s in statements:
            found = listed(s.value) if _value(s) is not None else []
            made = {id(a): names.temporary(s.targets[0].id) for a in found}
            for atom in found:
                converted = call(attribute(load(module), "asarray"), atom)
                result.append(assign(made[id(atom)], converted, s))
            result.append(rebuilt(s, value=_with(s.value, made)) if made else map_blocks(s, visit))
        return result

    tree = with_body(program.tree, visit(program.tree.body))
    return program.with_tree(tree, names=names, bindings=bindings)


def _value(s: Any) -> Any:
    """What a statement assigns to a name, if it is an operation."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.Call() | gast.BinOp() as value):
            return value
    return None


def _with(value: Any, made: dict[int, str]) -> Any:
    """The operation with names in the place of some of its operands."""

    def atom(a: Any) -> Any:
        return load(made[id(a)]) if id(a) in made else a

    if isinstance(value, gast.BinOp):
        return rebuilt(value, left=atom(value.left), right=atom(value.right))
    keywords = [rebuilt(k, value=atom(k.value)) if id(k.value) in made else k for k in value.keywords]
    return rebuilt(value, args=[atom(a) for a in value.args], keywords=keywords)
