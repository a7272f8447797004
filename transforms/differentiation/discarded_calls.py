"""Calls with an inactive result whose derivative runs in their place: they may have an effect that the
operands do not show.

Contract: the derivative raises where a refused statement of the callee is reached, and refuses a callee that
changes what it holds, what it is given, or what others hold: `hook(x)` of `hook = partial(scale, a)`, or of
a `hook` that is known at run time only.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import gast

from ..analyses.effects import ELSEWHERE
from ..analyses.operations import Call, Operation
from ..trees.nodes import own_statements
from ..trees.program import MISSING
from .rule_application import Emitter

__all__ = ["may_have_effect"]


def may_have_effect(operation: Operation, emitter: Emitter) -> TypeGuard[Call]:
    """Whether a call is one of these."""
    if not isinstance(operation, Call):
        return False
    active = list(filter(emitter.is_active, operation.operands()))
    effect = emitter.facts.effect_at(operation.node)[0]
    if active and (effect.refuses or ELSEWHERE in effect.changed or operation.function is MISSING):
        return True
    held = [a for a in operation.operands() if active and _may_be_callable(emitter, a)]
    tree = emitter.program.tree
    if any(not emitter.primitives.is_unknown(emitter.kind(p)) for p in tree.args.args):
        return bool(held)
    functions = {s.name for s in own_statements(tree.body) if isinstance(s, gast.FunctionDef)}
    return any(a.id in functions for a in held)  # in generic code all else may be data


def _may_be_callable(emitter: Emitter, atom: Any) -> bool:
    kind = emitter.kind(atom)
    return emitter.primitives.is_unknown(kind) or emitter.primitives.member(kind, "__call__") is not None
