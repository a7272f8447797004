"""Rewrites each `try` so that its result does not depend on how far its body got before an exception.

Form: the normal form. An exception then leaves the state before the `try`, so the derivative is that of the
handler, or that of the whole body. Refuses a `try` that cannot be rewritten.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import gast

from ..analyses.find_live import cannot_raise
from ..analyses.liveness import ends_in_raise, live_at_handler, live_before
from ..analyses.operations import is_pop
from ..trees.nodes import assigned_names, located, names_read, walk_scope
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt

__all__ = ["Following", "check_final", "stepwise"]

Node = Any  # gast publishes no types
LEAVING = (gast.Raise, gast.Return, gast.Break, gast.Continue)
LARGEST = 1000  # nodes of a `try` that is written once for each arm of a branch
Following = tuple[list[Node], frozenset[str]]  # the statements after one, and the names read after them


def stepwise(program: Program, s: Node, following: list[Following]) -> Node:
    """A `try` with handlers in whose body only the last statement has an effect that is visible after an
    exception. The statements after such an effect move to a `try` with the same handlers in the `else`.

        try:                        try:
            a = f(x)                    a = f(x)
            b = g(a)                except ValueError:
        except ValueError:     ->       b = a * 2
            b = a * 2               else:
                                        try:
                                            b = g(a)
                                        except ValueError:
                                            b = a * 2

    After a branch with such an effect, each of its arms has a `try` of its own. Raises UnsupportedSyntaxError
    where the effect stands in a loop of the body, or the body is large.
    """
    handlers = [h for h in s.handlers if not ends_in_raise(h.body)]
    if not handlers:
        return s
    last = max((k for k, n in enumerate(s.body) if not cannot_raise(n)), default=-1)
    seen = frozenset[str]().union(*(live_at_handler(h, *live_after(h, following)) for h in handlers))
    own = set(assigned_names(s.body))
    for k, n in enumerate(s.body[: last + 1]):
        found = [name for name in assigned_names(n) if name in seen]
        changed = [c for c in walk_scope(n) if changed_name(c) and changed_name(c) not in own]
        if not found and not changed:
            continue
        if isinstance(n, (gast.Assign, gast.AugAssign, gast.Expr)):
            if k == last:
                return s
            rest = rebuilt(s, body=s.body[k + 1 :], handlers=copy.deepcopy(s.handlers))
            return rebuilt(s, body=s.body[: k + 1], orelse=[rest])
        if isinstance(n, gast.If) and size(s) < LARGEST:
            return in_arms(s, k, n)
        if found:
            program.refuse(
                n,
                f"`{found[0]}` is assigned in a loop or branch of a `try` and read after an exception",
                "its value would tell how far the `try` got",
                "assign another name in the `try`, and this one in its `else`",
            )
        name = changed_name(changed[0])
        program.refuse(
            changed[0],
            f"`{name}` is changed in a loop or branch of a `try` and seen after an exception",
            "a partial change would show how far the `try` got",
            "compute the values in the `try`, and make the change in its `else`",
        )
    return s


def in_arms(s: Node, k: int, branch: Node) -> Node:
    """A `try` with its statement `k`, a branch, and all after that moved to its `else`, where each arm is a
    `try` with the same handlers. The test stays, as its truth may raise, too.
    """

    def attempt(arm: list[Node]) -> list[Node]:
        body = [*arm, *copy.deepcopy(rest)] if not arm or not isinstance(arm[-1], LEAVING) else arm
        again = copy.deepcopy(rebuilt(s, body=[]))
        return [rebuilt(again, body=body)] if body else again.orelse

    rest = s.body[k + 1 :]
    nothing = located(gast.If(test=branch.test, body=[located(gast.Pass(), branch)], orelse=[]), branch)
    split = rebuilt(branch, body=attempt(branch.body), orelse=attempt(branch.orelse))
    return rebuilt(s, body=[*s.body[:k], nothing], orelse=[split])


def size(s: Node) -> int:
    return sum(1 for _ in walk_scope([s]))


def check_final(program: Program, s: Node) -> None:
    """Raises UnsupportedSyntaxError for a variable that a `try` assigns and its `finally` reads."""
    for n in s.finalbody:
        for name in assigned_names(s.body):
            if name in names_read(n):
                program.refuse(
                    n,
                    f"`{name}` is assigned in a `try` and read in its `finally`",
                    "after an exception it may have no value",
                    "assign it before the `try`, or read it after it",
                )


def live_after(handler: Node, following: list[Following]) -> tuple[frozenset[str], frozenset[str]]:
    """The names read after a handler, with branches on flags that it sets decided; and those read at a
    `break`.
    """
    known = {n.targets[0].id: n.value for n in handler.body if cannot_raise(n) and isinstance(n, gast.Assign)}
    known = {name: value.value for name, value in known.items() if isinstance(value, gast.Constant)}
    rest = [n for statements, _ in reversed(following) for n in statements]
    after = following[0][1]
    return live_before(specialised(rest, known), after, after)[0], after


def specialised(statements: list[Node], known: dict[str, Any]) -> list[Node]:
    """The statements with branches on variables of known value decided."""
    result: list[Node] = []
    known = dict(known)
    for s in statements:
        taken = taken_arm(s, known)
        if taken is not None:
            result += specialised(taken, known)
        else:
            changed = assigned_names(s) if isinstance(s, (gast.For, gast.While)) else []
            kept = {n: v for n, v in known.items() if n not in changed}
            result.append(map_blocks(s, partial(specialised, known=kept)))
        for name in assigned_names(s):
            known.pop(name, None)
        match s:
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.Compare(
                    left=gast.Name(id=flag), ops=[gast.Eq()], comparators=[gast.Constant(value=value)]
                ),
            ) if flag in known:
                known[name] = known[flag] == value
    return result


def taken_arm(s: Node, known: dict[str, Any]) -> list[Node] | None:
    """The arm that a branch on a variable of known value takes; None for another statement."""
    match s:
        case gast.If(test=gast.Name(id=name)) if name in known:
            return s.body if known[name] else s.orelse  # type: ignore[no-any-return]
        case gast.If(test=gast.UnaryOp(op=gast.Not(), operand=gast.Name(id=name))) if name in known:
            return s.orelse if known[name] else s.body  # type: ignore[no-any-return]
    return None


def changed_name(s: Node) -> str:
    """The name whose object a statement changes in place; "" if none."""
    match s:
        case (
            gast.Assign(targets=[gast.Subscript(value=gast.Name(id=name))])
            | gast.AugAssign(target=gast.Subscript(value=gast.Name(id=name)))
            | gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="append")))
        ):
            return str(name)
        case gast.Assign(value=value) if is_pop(value):
            return str(value.func.value.id)
    return ""
