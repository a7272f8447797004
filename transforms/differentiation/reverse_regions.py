"""Reverse mode of `with` and `try`."""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.liveness import ends_in_raise
from ..trees.nodes import assign, assigned_names, constant, load
from ..trees.rebuild import rebuilt
from .adjoint import Env, Sweep
from .adjoints import join_arms
from .refuse_statements import check_handlers, context_nature
from .reverse_state import Block, Reverse

__all__ = ["reverse_try", "reverse_with"]


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
        body, back = block(reverse, s.body, env)
        return [rebuilt(s, body=body, finalbody=final)], [*final_back, *back]
    check_handlers(reverse, s)
    arms: list[tuple[Env, list[Any]]] = [(dict(env), [])]
    orelse, back = block(reverse, s.orelse, arms[0][0])
    outer, reverse.careful = reverse.careful, True
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
