"""Forward mode of `with` and `try`."""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.operations import Apply
from ..normal_form.check_partial_effects import changed_name
from ..trees.nodes import assigned_names, blocks_of, names_read, statements_in
from ..trees.rebuild import map_blocks, rebuilt
from .forward_rules import TangentEmitter
from .refuse_statements import check_handlers, context_nature

__all__ = ["forward_try", "forward_with"]


def forward_with(forward: TangentEmitter, s: Any) -> list[Any]:
    """A context around values and tangents."""
    context_nature(forward, s)
    return [map_blocks(s, lambda body: forward.block(body) or [gast.Pass()])]


def forward_try(forward: TangentEmitter, s: Any) -> list[Any]:
    """The tangents of statements that may raise stand in the `else`: the handlers must not catch their
    exceptions.

    Where they cannot be separated from the values, as in loops and in calls, the whole body runs again there.
    """
    if not s.handlers:
        return [map_blocks(s, forward.block)]
    check_handlers(forward, s)
    written = [(n, [*forward.guards(n), *forward.statement(n)]) for n in s.body]
    active = [(n, code) for n, code in written if forward.active & set(assigned_names(n))]
    again = any(blocks_of(n) or not any(new is n for new in code) for n, code in active)
    tangents = [new for n, code in written for new in code if again or (new is not n and not blocks_of(n))]
    check_order(forward, s, tangents, again)
    handlers = [rebuilt(h, body=forward.block(h.body)) for h in s.handlers]
    return [rebuilt(s, handlers=handlers, orelse=[*tangents, *forward.block(s.orelse)])]


GUARDS = ("refuse_no_array", "refuse_no_list", "refuse_other_array")  # they do nothing but raise


def check_order(forward: TangentEmitter, s: Any, tangents: list[Any], again: bool) -> None:
    """Raises UnsupportedSyntaxError where the tangents would read a value that the rest of the body changes,
    or where a statement that runs again has an effect.
    """
    own = set(assigned_names(s.body))
    statements = [n for n in statements_in(s.body) if changed_name(n) not in own]
    changes = [n for n in statements if forward.changes.is_change(n)]
    effects = [n for n in statements if isinstance(n, gast.Expr) and not is_pure(forward, n)] + changes
    read = {n for n in names_read(tangents) if changes and forward.changes.is_changed(n)}
    if (again and effects) or read & forward.program.locals:
        forward.program.refuse(
            (effects or changes)[0],
            "a change in place in a `try` is not differentiated in forward mode",
            "the tangents of the rest of its body come after it",
            "compute the values in the `try`, and make the change in its `else`",
        )


def is_pure(forward: TangentEmitter, s: Any) -> bool:
    """Whether a call for its own sake does nothing but raise, or not."""
    if any(forward.is_helper(s.value.func, name) for name in GUARDS):
        return True
    operation = forward.operation(s.value)
    return isinstance(operation, Apply) and forward.primitives.is_pure(operation.function)
