"""Forward mode of `with` and `try`."""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.operations import Apply
from ..normal_form.check_partial_effects import changed_name
from ..trees.nodes import assigned_names, blocks_of, bound_here, names_read, statements_in
from ..trees.program import EMPTY
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
    if all(map(reraises, s.handlers)):  # what is left there is seen by nobody
        blocks = {name: forward.block(getattr(s, name)) for name in ("body", "orelse", "finalbody")}
        return [rebuilt(s, **blocks)]
    check_handlers(forward, s)
    written = [(n, [*forward.guards(n), *forward.statement(n)]) for n in s.body]
    active = [(n, code) for n, code in written if forward.active & set(assigned_names(n))]
    again = any(blocks_of(n) or not any(new is n for new in code) for n, code in active)
    tangents = [new for n, code in written for new in code if again or (new is not n and not blocks_of(n))]
    check_order(forward, s, tangents, again)
    handlers = [rebuilt(h, body=forward.block(h.body)) for h in s.handlers]
    return [rebuilt(s, handlers=handlers, orelse=[*tangents, *forward.block(s.orelse)])]


def reraises(handler: Any) -> bool:
    """Whether a handler raises the exception again."""
    last = handler.body[-1]
    return isinstance(last, gast.Raise) and last.exc is None


GUARDS = ("refuse_no_array", "refuse_no_list", "refuse_other_array")  # they do nothing but raise


def check_order(forward: TangentEmitter, s: Any, tangents: list[Any], again: bool) -> None:
    """Raises UnsupportedSyntaxError where the tangents would read a value that the rest of the body changes,
    or where a statement that runs again has an effect.
    """
    own = set(assigned_names(s.body))
    statements = [n for n in statements_in(s.body) if changed_name(n) not in own]
    changes = [n for n in statements if forward.changes.is_change(n)]
    effects = [n for n in statements if isinstance(n, gast.Expr) and not is_pure(forward, n)] + changes
    effects += heap_changes(forward, s.body)
    read = {n for n in names_read(tangents) if changes and forward.changes.is_changed(n)}
    if (again and effects) or read & forward.program.locals:
        forward.program.refuse(
            (effects or changes)[0],
            "a change in place in a `try` is not differentiated in forward mode",
            "the tangents of the rest of its body come after it",
            "compute the values in the `try`, and make the change in its `else`",
        )


def heap_changes(forward: TangentEmitter, body: list[Any]) -> list[Any]:
    """The statements that change objects in a heap, others than those that the body makes."""
    own: dict[str, bool] = {}
    found: list[tuple[Any, str]] = []
    for n in statements_in(body):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                is_own = isinstance(value, (gast.List, gast.Dict))
                if isinstance(value, gast.Call):
                    function = forward.program.resolve(value.func)
                    if forward.primitives.changes_heap(function):
                        found.append((n, getattr(value.args[1], "id", "")))
                    given = [own.get(a.id, False) for a in value.args[:1] if isinstance(a, gast.Name)]
                    is_same = any(forward.is_helper(value.func, f) for f in ("known", "reference"))
                    is_own = function in EMPTY or (is_same and all(given))
                own[name] = own.get(name, True) and is_own
            case _:
                own.update((name, False) for name in bound_here(n))
    return [n for n, name in found if not own.get(name, False)]


def is_pure(forward: TangentEmitter, s: Any) -> bool:
    """Whether a call for its own sake does nothing but raise, or not."""
    if any(forward.is_helper(s.value.func, name) for name in GUARDS):
        return True
    operation = forward.operation(s.value)
    if not isinstance(operation, Apply):
        return False
    primitives = forward.primitives
    asked = (primitives.is_pure, primitives.writes_nothing, primitives.checks_heap)
    return any(ask(operation.function) for ask in asked)
