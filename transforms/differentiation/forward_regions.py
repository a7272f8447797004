"""Forward mode of `for`, `with` and `try`, which are given the function that writes their blocks. A loop over
a sequence that carries a derivative also runs over its tangent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analyses.find_active import loop_elements
from ..analyses.operations import Apply
from ..normal_form.check_partial_effects import changed_name
from ..trees.nodes import (
    assign,
    assigned_names,
    blocks_of,
    bound_here,
    call,
    load,
    names_read,
    statements_in,
    store,
    target_names,
    tuple_of,
    walk,
)
from ..trees.program import EMPTY
from ..trees.rebuild import map_blocks, rebuilt, substitute
from .forward_rules import TangentEmitter
from .refuse_statements import check_handlers, context_nature

__all__ = ["forward_loop", "forward_try", "forward_with"]

Block = Callable[[list[Any]], list[Any]]  # the statements of a block, each with its tangent's


def forward_loop(forward: TangentEmitter, s: Any, block: Block) -> list[Any]:
    """The loop over values and tangents. An inactive sequence gives zero tangents, which the body may
    change.
    """
    target, iterable = s.target, s.iter
    started = {
        n
        for part, source in loop_elements(s)
        if not forward.reads_active(source)
        for n in target_names(part)
    }
    if forward.active & (set(target_names(s.target)) - started):
        target, iterable = _zipped(forward, s) if _is_partly_active(forward, s) else _twin(forward, s)
    zeros = [assign(forward.tangent_name(n), forward.zero(n), s) for n in sorted(forward.active & started)]
    body = [*zeros, *block(s.body)]
    return [rebuilt(s, target=target, iter=iterable, body=body)]


def _twin(forward: TangentEmitter, s: Any) -> tuple[Any, Any]:
    """The target and its tangent, as items of the iterable and of its tangent."""
    names = [n.id for n in walk(s.target) if isinstance(n, gast.Name)]
    target = substitute(s.target, {n: load(_tangent_name(forward, n)) for n in names})
    sources = s.iter.args if isinstance(s.iter, gast.Call) else [s.iter]
    twins = [_elements(forward, n) if forward.is_active(n) else n for n in sources]
    twin = rebuilt(s.iter, args=twins) if isinstance(s.iter, gast.Call) else twins[0]
    return tuple_of([s.target, target], gast.Store()), call(forward.bind("zip", zip), s.iter, twin)


def _elements(forward: TangentEmitter, source: Any) -> Any:
    """The tangents of the elements of an iterable; for one that may be a dict, its keys have none."""
    tangent = forward.tangent(source)
    is_known = forward.domain.item_nature(forward.kind(source)) != "unknown"
    return tangent if is_known else call(forward.helper("of_elements"), tangent, source)


def _tangent_name(forward: TangentEmitter, name: str) -> str:
    return forward.tangent_name(name) if name in forward.active else forward.names.fresh("_")


def _is_partly_active(forward: TangentEmitter, s: Any) -> bool:
    """Whether a loop iterates over a `zip` with an inactive operand."""
    is_zip = isinstance(s.iter, gast.Call) and forward.program.resolve(s.iter.func) is zip
    return is_zip and not all(map(forward.is_active, s.iter.args))


def _zipped(forward: TangentEmitter, s: Any) -> tuple[Any, Any]:
    """The target and iterable of a loop over a partly active `zip`; inactive operands, which may be
    iterators, are iterated over once.
    """
    places = [k for k, source in enumerate(s.iter.args) if forward.is_active(source)]
    names = [_tangent_name(forward, s.target.elts[k].id) for k in places]
    target = tuple_of([s.target, *map(store, names)], gast.Store())
    twins = [_elements(forward, s.iter.args[k]) for k in places]
    return target, call(forward.bind("zip", zip), s.iter, *twins)


def forward_with(forward: TangentEmitter, s: Any, block: Block) -> list[Any]:
    """A context around values and tangents."""
    context_nature(forward, s)
    return [map_blocks(s, lambda body: block(body) or [gast.Pass()])]


def forward_try(forward: TangentEmitter, s: Any, block: Block) -> list[Any]:
    """The tangents of statements that may raise stand in the `else`: the handlers must not catch their
    exceptions.

    Where they cannot be separated from the values, as in loops and in calls, the whole body runs again there.
    """
    if all(map(reraises, s.handlers)):  # what is left there is seen by nobody
        return [rebuilt(s, body=block(s.body), orelse=block(s.orelse), finalbody=block(s.finalbody))]
    check_handlers(forward, s)
    written = [(n, block([n])) for n in s.body]
    active = [(n, code) for n, code in written if forward.active & set(assigned_names(n))]
    again = any(blocks_of(n) or not any(new is n for new in code) for n, code in active)
    tangents = [new for n, code in written for new in code if again or (new is not n and not blocks_of(n))]
    check_order(forward, s, tangents, again)
    handlers = [rebuilt(h, body=block(h.body)) for h in s.handlers]
    return [rebuilt(s, handlers=handlers, orelse=[*tangents, *block(s.orelse)])]


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
