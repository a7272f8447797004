"""What a program returns, changed to what a request wants of it."""

from __future__ import annotations

from typing import Any

import gast

from ..kinds.lattice import Array, Dict, Kind, List, Literal, Numeric, Scalar, Text, Tuple
from ..transforms.trees.nodes import assign, assigned_names, constant, load, located, tuple_of
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import rebuilt

__all__ = ["is_no_pair", "refuse_rebound", "split_aux", "with_outputs"]


def with_outputs(program: Program, outputs: str | tuple[str, ...]) -> Program:
    """The program that returns what it has made of parameters, in the place of its own result."""
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
    """Raises UnsupportedSyntaxError if one of the parameters is bound to something else."""
    for name in (outputs,) if isinstance(outputs, str) else outputs:
        if name in assigned_names(program.tree.body):
            program.refuse(
                program.tree,
                f"the parameter `{name}`, which is changed, is bound to another value as well",
                "which of the two is the output is not told by the name",
                "use another name for the other value",
            )


def is_no_pair(kind: Kind) -> bool:
    """Whether a value of this kind surely is no `(value, aux)`."""
    match kind:
        case Tuple(items):
            return len(items) != 2
        case List(tuple() as items):
            return len(items) != 2
    return isinstance(kind, (Scalar, Array, Dict, Literal, Text, Numeric))


def split_aux(program: Program) -> tuple[Program, Any]:
    """A program that returns `(value, aux)` made one that returns the value, and the atom that holds aux."""
    names = program.names.copy()
    *body, last = program.tree.body
    value, aux = names.fresh("value"), names.fresh("aux")
    items = [
        assign(name, gast.Subscript(value=last.value, slice=constant(k), ctx=gast.Load()), last)
        for k, name in enumerate((value, aux))
    ]
    tree = gast.FunctionDef(
        **{f: getattr(program.tree, f) for f in program.tree._fields if f != "body"},
        body=[*body, *items, located(gast.Return(value=load(value)), last)],
    )
    return program.with_tree(
        located(tree, program.tree), names=names
    ), load(aux)
