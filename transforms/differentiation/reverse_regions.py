"""Reverse mode of branches, `with` and `try`."""

from __future__ import annotations

from functools import partial
from typing import Any

import gast

from ..analyses.liveness import ends_in_raise
from ..analyses.operations import Apply
from ..trees.nodes import assign, assigned_names, call, constant, load, located
from ..trees.rebuild import rebuilt
from .adjoint import Adjoint, Condition, Env, Mask, Sweep
from .adjoints import join_arms
from .masks import truth
from .refuse_statements import check_handlers, context_nature
from .reverse_state import Block, Reverse

__all__ = ["reverse_branch", "reverse_try", "reverse_with"]


def reverse_branch(reverse: Reverse, s: Any, env: Env, block: Block) -> Sweep:
    if len(s.body) == 1 and isinstance(s.body[0], gast.Break):
        return [s], []
    test, ahead = s.test, []
    if may_say_otherwise(reverse, test) or reverse.changes.may_be_overwritten(s, test):
        test = load(reverse.names.temporary(test.id))
        ahead = [assign(test.id, call(reverse.bind("bool", bool), s.test), s)]
    arms = [dict(env), dict(env)]
    sweeps = [block(reverse, inner, arm) for inner, arm in zip((s.body, s.orelse), arms, strict=True)]
    for name in assigned_names(s):
        for arm in arms:
            arm.pop(name, None)
    is_known = reverse.assigned_before.at(s)
    forward = [*ahead, located(gast.If(test=test, body=sweeps[0][0], orelse=sweeps[1][0]), s)]
    went_on = [k for k, block in enumerate((s.body, s.orelse)) if not ends_in_raise(block)]
    if len(went_on) == 1:  # no statement raised if the reverse sweep runs
        env.clear()
        env.update(arms[went_on[0]])
        return forward, sweeps[went_on[0]][1]
    ends = [back for _, back in sweeps]
    masks = partial(mask_of_arms, reverse, test, ends)
    join_arms(reverse, env, list(zip(arms, ends, strict=True)), is_known, masks)
    if not sweeps[0][1] and not sweeps[1][1]:
        return forward, []
    return forward, [gast.If(test=test, body=sweeps[0][1] or [gast.Pass()], orelse=sweeps[1][1])]


def mask_of_arms(
    reverse: Reverse, test: Any, ends: list[list[Any]], variable: str, found: list[Adjoint | None]
) -> Mask | None:
    """The mask of a variable that only one arm of a branch has an adjoint of, where that matters. Arms of
    nested branches set a flag for it.
    """
    if all(a is not None and a.mask is None for a in found) or not is_masked_by_branch(reverse, variable):
        return None
    plain = [a is not None and a.mask is None for a in found]
    if any(plain) and None in found and isinstance(test, gast.Name):
        return (Condition(test.id, inverted=plain[1]),)
    flag = reverse.names.temporary("chosen")
    reverse.kinds[flag] = reverse.domain.BOOL
    for code, adjoint in zip(ends, found, strict=True):
        mask = None if adjoint is None else adjoint.mask
        code.append(assign(flag, constant(adjoint is not None) if mask is None else truth(reverse, mask)))
    return (Condition(flag),)


def is_masked_by_branch(reverse: Reverse, variable: str) -> bool:
    kind = reverse.facts.kind_of_name(variable)
    is_array = reverse.domain.is_array(kind) and reverse.domain.is_float(kind)
    is_number = is_array or reverse.domain.is_real_scalar(kind)
    return is_number and variable not in reverse.shadows and reverse.slopes.meet_infinity(variable)


def may_say_otherwise(reverse: Reverse, test: Any) -> bool:
    """Whether a test may be an object, whose truth may change."""
    kind = reverse.kind(test)
    is_unknown = reverse.primitives.is_unknown(kind) and isinstance(test, gast.Name)
    return reverse.primitives.is_object(kind) or (
        is_unknown and not isinstance(reverse.computed_by(test.id), Apply)
    )


def reverse_with(reverse: Reverse, s: Any, env: Env, block: Block) -> Sweep:
    """A context is entered in the forward sweep; one that only sets options is entered in the reverse sweep
    of its body, too.
    """
    nature = context_nature(reverse, s)
    forward, back = block(reverse, s.body, env)
    ahead = [rebuilt(s, body=forward or [gast.Pass()])]
    if nature == "setting" and back:
        items = [gast.withitem(context_expr=s.items[0].context_expr, optional_vars=None)]
        return ahead, [gast.With(items=items, body=back, type_comment=None)]
    return ahead, back


def reverse_try(reverse: Reverse, s: Any, env: Env, block: Block) -> Sweep:
    """A flag tells the reverse sweep whether the body ran to its end, or which handler ran."""
    if not s.handlers:
        final, final_back = block(reverse, s.finalbody, env)
        with reverse.going_on(final_back):
            body, back = block(reverse, s.body, env)
        return [rebuilt(s, body=body, finalbody=final)], [*final_back, *back]
    check_handlers(reverse, s)
    arms: list[tuple[Env, list[Any]]] = [(dict(env), [])]
    orelse, back = block(reverse, s.orelse, arms[0][0])
    outer, reverse.careful = reverse.careful, True
    with reverse.going_on(back):
        body, body_back = block(reverse, s.body, arms[0][0])
    reverse.careful = outer
    arms[0][1].extend([*back, *body_back])
    taken: list[list[Any]] = []
    handlers = []
    for h in s.handlers:
        if ends_in_raise(h.body):
            handlers.append(h)
            continue
        arm = dict(env)
        handled, back = block(reverse, h.body, arm)
        arms.append((arm, back))
        taken.append(handled)
        handlers.append(rebuilt(h, body=handled))
    for arm, _ in arms:
        for name in assigned_names(s):
            arm.pop(name, None)
    join_arms(reverse, env, arms, reverse.assigned_before.at(s))
    backs = [back for _, back in arms]
    if not taken or not any(backs):
        return [rebuilt(s, body=body, handlers=handlers, orelse=orelse)], backs[0]
    flag = reverse.names.fresh("failed" if len(taken) == 1 else "handler")
    reverse.kinds[flag] = reverse.domain.INTEGER
    body.append(assign(flag, constant(False if len(taken) == 1 else 0), s))
    for k, handled in enumerate(taken, 1):
        handled.append(assign(flag, constant(True if len(taken) == 1 else k), s))
    code = backs[0]
    for k, back in reversed(list(enumerate(backs[1:], 1))):
        equal = gast.Compare(left=load(flag), ops=[gast.Eq()], comparators=[constant(k)])
        test = load(flag) if len(taken) == 1 else equal
        code = [gast.If(test=test, body=back or [gast.Pass()], orelse=code)]
    return [rebuilt(s, body=body, handlers=handlers, orelse=orelse)], code
