"""The walk over the single-assignment form that writes both sweeps of reverse mode.

Blocks are walked from the last statement to the first. `env` holds the adjoints of the variables there. The
reverse of a statement takes its target's from `env`, adds to those of its operands, and gives the statements
of the forward sweep and those of the reverse sweep, which are none if the target has no adjoint:

    y = np.sin(x)                    forward: y = np.sin(x)      reverse: dx = dy * np.cos(x)
    env before: {"y": dy}            env after: {"x": dx}

What the reverse of a statement reads and later statements change is copied (`snapshots`). The reverse of
loops, branches, `with` and `try` is given `reverse_block` for their blocks. `Reverse` is the state.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.operations import (
    Alias,
    Apply,
    Build,
    Call,
    Field,
    Inert,
    Item,
    Opaque,
    Pop,
    is_append,
    is_pop,
)
from ..trees.nodes import Comment, assigned_names, blocks_of, load, located, names_read
from ..trees.rebuild import call_at, rebuilt
from .adjoint import Adjoint, Env, Ownership, Plain, Shadow, Sweep
from .adjoints import accumulate_field, pass_on
from .masks import note_conditions
from .refuse_statements import guards_of, operand_guard, refuse_opaque
from .reverse_calls import discarded_call, reverse_call
from .reverse_loops import reverse_for, reverse_while
from .reverse_parts import reverse_build, reverse_definition, reverse_item, reverse_unpacking
from .reverse_regions import reverse_branch, reverse_try, reverse_with
from .reverse_rules import reverse_apply
from .reverse_state import Reverse
from .reverse_stores import is_addition, reverse_addition, reverse_append, reverse_pop, reverse_store
from .snapshots import snapshots

__all__ = ["reverse_block"]


def reverse_block(reverse: Reverse, statements: list[Any], env: Env) -> Sweep:
    """Both sweeps of a block; `env` holds the adjoints after it and is changed to those before it."""
    forward: list[list[Any]] = []
    backward: list[Any] = []
    reverse.open.append(backward)
    reverse.conditions.append({})
    available, reverse.shadows.available = reverse.shadows.available, set(reverse.shadows.available)
    reverse.origin = None
    for statement in reversed(statements):
        env.update(reverse.shadows.lasting)
        reverse.shared_adjoints.begins(statement)
        ahead, back = reverse_statement(reverse, statement, env)
        reverse.shared_adjoints.ends(statement)
        checks = operand_guard(reverse, statement) if back else []
        ahead = [*guards_of(reverse, statement), *checks, *ahead]
        if not blocks_of(statement):
            kept, back = reverse.shadows.with_lookups(statement, back)
            made_here = bool(kept) and bool(set(names_read(kept)) & set(assigned_names(statement)))
            ahead = [*ahead, *kept] if made_here else [*kept, *ahead]
            back = reverse.shapes.redirect(statement, back)
            ahead, back = snapshots(reverse, statement, ahead, back)
        forward.append(ahead)
        if back:
            comment(reverse, statement, backward)
            backward.extend(placed(back, statement))
            note_conditions(reverse, back)
    reverse.origin = None
    reverse.read_by_open.pop(id(reverse.open.pop()), None)
    reverse.conditions.pop()
    reverse.shadows.available = available
    return [s for part in reversed(forward) for s in part], backward


def reverse_statement(reverse: Reverse, s: Any, env: Env) -> Sweep:
    """Both sweeps of a statement."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)]):
            if is_pop(s.value) and isinstance(reverse.operation(s.value), Pop):
                return reverse_pop(reverse, s, name, env)
            return reverse_assignment(reverse, s, name, env)
        case gast.Assign(targets=[gast.Tuple()]):
            return reverse_unpacking(reverse, s, env)
        case gast.Assign(targets=[gast.Subscript()]) | gast.AugAssign(target=gast.Subscript()):
            return reverse_store(reverse, s, env)
        case gast.Expr(value=gast.Call()) if is_addition(reverse, s):
            return reverse_addition(reverse, s, env)
        case gast.Expr() if is_append(s, reverse.facts):
            return reverse_append(reverse, s, env)
        case gast.Expr(value=gast.Call()):
            return discarded_call(reverse, s, reverse.names.temporary("result")), []
        case gast.If():
            return reverse_branch(reverse, s, env, reverse_block)
        case gast.For():
            return reverse_for(reverse, s, env, reverse_block)
        case gast.While():
            return reverse_while(reverse, s, env, reverse_block)
        case gast.With():
            return reverse_with(reverse, s, env, reverse_block)
        case gast.Try():
            return reverse_try(reverse, s, env, reverse_block)
        case gast.FunctionDef(name=name):
            return reverse_definition(reverse, s, name, env)
        case _:
            return [s], []


def reverse_assignment(reverse: Reverse, s: Any, name: str, env: Env) -> Sweep:
    """Both sweeps of `name = value`. A shadow already has what the views of its object were given; where a
    value may be a view, a flag of the forward sweep tells whether it is one.
    """
    adjoint = env.pop(name, None)
    noted = reverse.shadows.view_flag(s, name)
    if adjoint is None:
        return [*discarded_call(reverse, s, name), *noted], []
    if isinstance(adjoint, Shadow) and not reverse.shadows.makes_object(s, name):
        return [s, *noted], []
    found, adjoint = reverse.shadows.last_lookup(name, adjoint)
    if not noted:
        ahead, back = passed_on(reverse, s, name, adjoint, env)
        return ahead, [*found, *back]
    ahead, back = passed_on(reverse, s, name, Plain(adjoint.value, ownership=Ownership.OWNED), env)
    back = [*found, *back]
    copied = gast.UnaryOp(op=gast.Not(), operand=load(reverse.shadows.is_view_of[name]))
    return [*ahead, *noted], [gast.If(test=copied, body=back, orelse=[])] if back else []


def passed_on(reverse: Reverse, s: Any, name: str, adjoint: Adjoint, env: Env) -> Sweep:
    """The reverse of a statement that makes an object: its adjoint goes on to the operands."""
    operation = reverse.operation(s.value)
    back: list[Any] = []
    match operation:
        case Alias(source=source):
            if reverse.is_active(source):
                pass_on(reverse, env, source.id, adjoint, back)
        case Apply():
            return reverse_apply(reverse, s, operation, name, adjoint, env)
        case Call():
            return reverse_call(reverse, s, operation, name, adjoint, env)
        case Item():
            reverse_item(reverse, operation, name, adjoint, env, back)
        case Field(base=base, name=field):
            accumulate_field(reverse, env, base.id, field, adjoint, name, back)
        case Build():
            reverse_build(reverse, operation, name, adjoint, env, back)
        case Opaque() if any(map(reverse.is_active, operation.items)):
            refuse_opaque(reverse, s, operation)
        case Inert() | Opaque():
            pass
    return [s], back


def comment(reverse: Reverse, statement: Any, code: list[Any]) -> None:
    """Adds the comment with the user's statement that the following code differentiates, once."""
    origin = (getattr(statement, "lineno", None), getattr(statement, "col_offset", None))
    if origin == reverse.origin or blocks_of(statement):
        return
    reverse.origin = origin
    text = reverse.program.source_line(statement)
    if text:
        code.append(located(Comment(text), statement))


def placed(back: list[Any], statement: Any) -> list[Any]:
    """The reverse of a statement, standing where its expression does."""
    if blocks_of(statement):
        return back
    value = getattr(statement, "value", None)
    like = value if hasattr(value, "lineno") else statement
    return [b if hasattr(b, "lineno") else placed_at(b, like) for b in back]


def placed_at(s: Any, like: Any) -> Any:
    """A statement, and the call that it may be, standing where `like` is."""
    value = getattr(s, "value", None)
    return located(rebuilt(s) if value is None else rebuilt(s, value=call_at(value, like)), like)
