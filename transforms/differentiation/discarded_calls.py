"""Calls with an inactive result that receive an active callable, or that may store an active value into an
argument: `hook(x)`, or `walk(hook, tree)`, of `hook = partial(scale, a)`.

The operands do not show what the callable changes. So its derivative runs in its place, and refuses a
callable that changes what it holds or is given.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import gast

from ..analyses.operations import Call, Operation
from ..trees.nodes import own_statements
from ..trees.program import MISSING
from .rule_application import Emitter

__all__ = ["takes_callable"]


def takes_callable(operation: Operation, emitter: Emitter) -> TypeGuard[Call]:
    """Whether a call is one of these."""
    if not isinstance(operation, Call):
        return False
    held = [a for a in operation.operands() if emitter.is_active(a) and _may_be_callable(emitter, a)]
    if operation.function is MISSING and (
        any(a is operation.callee for a in held) or _may_put_into(emitter, operation)
    ):
        return True
    tree = emitter.program.tree
    if any(not emitter.primitives.is_unknown(emitter.kind(p)) for p in tree.args.args):
        return bool(held)
    functions = {s.name for s in own_statements(tree.body) if isinstance(s, gast.FunctionDef)}
    return any(a.id in functions for a in held)  # in generic code all else may be data


def _may_put_into(emitter: Emitter, call: Call) -> bool:
    """Whether a dynamic callee may store an active argument into a mutable one."""
    given = [*call.args, *(value for _, value in call.keywords)]
    return any(map(emitter.is_active, given)) and any(
        isinstance(a, gast.Name)
        and a.id in emitter.program.locals
        and not emitter.domain.is_immutable(emitter.kind(a))
        for a in given
    )


def _may_be_callable(emitter: Emitter, atom: Any) -> bool:
    return bool(emitter.primitives.is_unknown(emitter.kind(atom)))
