"""Rewrites the result of a program: for `outputs`, and for `has_aux`."""

from __future__ import annotations

from typing import Any

import gast

from ..kinds.lattice import Array, Dict, Kind, List, Literal, Numeric, Scalar, Text, Tuple
from ..runtime.mutation import refuse_no_pair
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import assign, assigned_names, call, constant, load, located, tuple_of
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import rebuilt

__all__ = ["is_no_pair", "refuse_rebound", "split_aux", "with_outputs"]


def with_outputs(program: Program, outputs: str | tuple[str, ...]) -> Program:
    """The program that returns the final values of the parameters `outputs`, in place of its own result."""
    names = (outputs,) if isinstance(outputs, str) else outputs
    result = load(outputs) if isinstance(outputs, str) else tuple_of(map(load, names))
    *body, last = program.tree.body
    if isinstance(result, gast.Name):
        return program.with_tree(
            rebuilt(program.tree, body=[*body, located(gast.Return(value=result), last)])
        )
    out = program.names.copy()
    name = out.fresh("out")
    built = [assign(name, result, last), located(gast.Return(value=load(name)), last)]
    return program.with_tree(rebuilt(program.tree, body=[*body, *built]), names=out)


def refuse_rebound(program: Program, outputs: str | tuple[str, ...]) -> None:
    """Raises UnsupportedSyntaxError if the program assigns one of the parameters `outputs`."""
    for name in (outputs,) if isinstance(outputs, str) else outputs:
        if name in assigned_names(program.tree.body):
            program.refuse(
                program.tree,
                f"the parameter `{name}`, which is changed, is bound to another value as well",
                "the name does not say which of the two is the output",
                "use another name for the other value",
            )


def is_no_pair(kind: Kind) -> bool:
    """Whether values of this kind are surely no pair `(value, aux)`."""
    match kind:
        case Tuple(items):
            return len(items) != 2
        case List(tuple() as items):
            return len(items) != 2
    return isinstance(kind, (Scalar, Array, Dict, Literal, Text, Numeric))


def split_aux(program: Program, kind: Kind) -> tuple[Program, Any]:
    """The program with `value` as its result in place of `(value, aux)`, and the atom of `aux`. What is known
    to be of some kind only as the function runs is checked then.
    """
    names = program.names.copy()
    objects = Objects(program, names)
    *body, last = program.tree.body
    is_pair = isinstance(kind, (Tuple, List)) and kind.items is not None
    check = gast.Expr(value=call(objects.name(refuse_no_pair), last.value))
    checks = [] if is_pair else [located(check, last)]
    value, aux = names.fresh("value"), names.fresh("aux")
    items = [
        assign(name, gast.Subscript(value=last.value, slice=constant(k), ctx=gast.Load()), last)
        for k, name in enumerate((value, aux))
    ]
    tree = gast.FunctionDef(
        **{f: getattr(program.tree, f) for f in program.tree._fields if f != "body"},
        body=[*body, *checks, *items, located(gast.Return(value=load(value)), last)],
    )
    split = program.with_tree(
        located(tree, program.tree), names=names, bindings=objects.all_bindings()
    )
    return split, load(aux)
