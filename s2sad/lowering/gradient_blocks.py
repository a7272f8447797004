"""Writes `with grad_of(x) as dx:` as a call of a function that the adjoint of `x` goes through.

Form in: a function as written. Form out: the same, without such statements.

    with grad_of(x) as dx:          x = hooked(x, of_x, (i,))
        print(i, dx)
        dx = np.clip(dx, -1, 1)

Here `of_x` is a function of its own, with the lines of the block, `def of_x(dx, captured)`, which is called
in the reverse sweep and not read before; only further derivatives read it.
"""

from __future__ import annotations

from typing import Any

import gast

from ..runtime.hooks import grad_of, hooked
from ..source.compiling import make_function
from ..source.locate import Origin
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import (
    assign,
    assigned_names,
    call,
    find_nodes,
    load,
    located,
    names_read,
    param,
    store,
    tuple_of,
)
from ..transforms.trees.printer import to_source_with_places
from ..transforms.trees.program import Program
from ..transforms.trees.statements import map_blocks, with_body

__all__ = ["expand_gradient_blocks"]

Node = Any  # gast publishes no types
WHY = "the block runs in the reverse sweep"
JUMPS = (gast.Return, gast.Yield, gast.YieldFrom, gast.Global, gast.Nonlocal)


def expand_gradient_blocks(program: Program) -> Program:
    """The program with a hook for each block."""
    if not any(program.resolve(c.func) is grad_of for c in find_nodes(program.tree, gast.Call)):
        return program
    objects = Objects(program, program.names.copy())

    def changed(block: list[Node]) -> list[Node]:
        return [part for s in block for part in hook(program, objects, map_blocks(s, changed))]

    tree = with_body(program.tree, changed(program.tree.body))
    program = program.with_tree(tree, names=objects.names, bindings=objects.all_bindings())
    for c in find_nodes(program.tree, gast.Call):
        if program.resolve(c.func) is grad_of:
            program.refuse(
                c,
                "`grad_of` other than in `with grad_of(x) as dx:`, of a variable",
                WHY,
                "name the value, and write the block after it",
            )
    return program


def is_block(program: Program, s: Node) -> bool:
    """Whether a statement is `with grad_of(...):`."""
    match s:
        case gast.With(items=[gast.withitem(context_expr=gast.Call(func=func))]):
            return program.resolve(func) is grad_of
    return False


def hook(program: Program, objects: Objects, s: Node) -> list[Node]:
    """A block as a function, and the call that puts it into the reverse sweep; other statements as they are.
    """
    match s:
        case gast.With(
            items=[
                gast.withitem(
                    context_expr=gast.Call(args=[gast.Name(id=x)], keywords=[]),
                    optional_vars=gast.Name(id=dx),
                )
            ],
            body=body,
        ) if is_block(program, s):
            pass
        case _:
            return [s]
    for jump in find_nodes(gast.Module(body=body, type_ignores=[]), *JUMPS):
        program.refuse(jump, f"`{type(jump).__name__.lower()}` in a block of `grad_of`", WHY, "leave it out")
    blocks = [w.body for w in find_nodes(program.tree, gast.With) if is_block(program, w)]
    inside = {id(n) for b in blocks for n in find_nodes(gast.Module(body=b, type_ignores=[]), gast.Name)}
    others = [n for n in find_nodes(program.tree, gast.Name) if id(n) not in inside]
    outside = {n.id for n in others if n.id != dx}
    lost = [n for n in assigned_names(body) if n != dx and n in outside]
    if lost:
        program.refuse(
            s,
            f"`{lost[0]}`, which a block of `grad_of` assigns and the function reads elsewhere",
            WHY + ", after the function has run",
            "use another name in the block, or append to a list of the module's",
        )
    if any(n.id == dx and isinstance(n.ctx, gast.Load) for n in others):
        program.refuse(s, f"`{dx}`, which is read outside of the block of `grad_of`", WHY, "use another name")
    own = {dx, *assigned_names(body)}
    captured = [n for n in dict.fromkeys(names_read(body)) if n in program.locals and n not in own]
    given = objects.names.temporary("captured")
    unpacked = [assign(tuple_of(map(store, captured), gast.Store()), load(given), s)] if captured else []
    definition = gast.FunctionDef(
        name=objects.names.temporary(f"of_{x}"),
        args=gast.arguments(
            args=[param(dx), param(given)],
            posonlyargs=[],
            vararg=None,
            kwonlyargs=[],
            kw_defaults=[],
            kwarg=None,
            defaults=[],
        ),
        body=[*unpacked, *body, located(gast.Return(value=load(dx)), s)],
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )
    text, places = to_source_with_places(definition)
    origin = Origin(program.filename, program.lines, places)
    block = make_function(text, definition.name, program.scope, {}, origin=origin)
    made = call(objects.name(hooked), load(x), load(objects.name(block)), tuple_of(map(load, captured)))
    return [located(assign(x, made, s), s)]
