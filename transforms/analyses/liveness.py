"""Structured liveness: which names are read later before they are assigned again.

Form: the normal form, before and after single assignment. Each function walks backwards over a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import and_
from typing import Any

import gast

from ..trees.nodes import assigned_names, names_read, target_names, walk
from ..trees.rebuild import bound_names
from ..trees.remember import remembered

__all__ = [
    "AssignedBefore",
    "arms_of",
    "captured_names",
    "ends_in_raise",
    "free_names",
    "is_exit",
    "is_test",
    "live_at_handler",
    "live_before",
    "loop_head",
]


def captured_names(function: Any) -> list[tuple[str, str]]:
    """The names that the definition of a nested function reads, each after its key in the function's adjoint:
    a free variable has its name, the default of `z` has `z=`.
    """
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    with_default = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
    with_default += [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    free = free_names(function)
    defaults = [(f"{p.id}=", n) for p, d in with_default for n in names_read(d)]
    return [*((n, n) for n in names_read(function.body) if n in free), *defaults]


def free_names(function: Any) -> set[str]:
    """The free variables of a nested function."""
    return set(names_read(function.body)) - bound_names(function)


def live_before(
    statements: list[Any], after: frozenset[str], at_break: frozenset[str]
) -> list[frozenset[str]]:
    """The names live before each statement, and last those live after the block, which are `after`."""
    live = after
    result = [after]
    for statement in reversed(statements):
        live = _live_before(statement, live, at_break)
        result.append(live)
    return result[::-1]


@remembered
def _effect(assignment: Any) -> tuple[frozenset[str], frozenset[str]]:
    """The names that an assignment binds and reads."""
    killed = frozenset(name for target in assignment.targets for name in target_names(target))
    return killed, frozenset(names_read(assignment))


def _live_before(statement: Any, after: frozenset[str], at_break: frozenset[str]) -> frozenset[str]:
    match statement:
        case gast.Assign():
            killed, read = _effect(statement)
            return (after - killed) | read
        case gast.AugAssign():
            return (
                after
                | set(names_read(statement))
                | {n.id for n in walk(statement.target) if isinstance(n, gast.Name)}
            )
        case gast.If():
            arms = (
                live_before(statement.body, after, at_break)[0]
                | live_before(statement.orelse, after, at_break)[0]
            )
            return arms | set(names_read(statement.test))
        case gast.For() | gast.While():
            head = loop_head(statement, after)
            return head | set(names_read(statement.iter)) if isinstance(statement, gast.For) else head
        case gast.With(items=[item], body=body):
            bound = set() if item.optional_vars is None else set(target_names(item.optional_vars))
            return (live_before(body, after, at_break)[0] - bound) | set(names_read(item.context_expr))
        case gast.Try():
            final = live_before(statement.finalbody, after, at_break)[0]
            handled = [live_at_handler(h, final, at_break) for h in statement.handlers]
            body = [*statement.body, *statement.orelse]
            return live_before(body, final, at_break)[0].union(*handled)
        case gast.FunctionDef():
            return (after - {statement.name}) | {n for _, n in captured_names(statement)} - {statement.name}
        case gast.Break():
            return at_break
        case gast.Return() | gast.Raise():
            return frozenset(names_read(statement))
        case _:
            return after | set(names_read(statement))


def live_at_handler(handler: Any, after: frozenset[str], at_break: frozenset[str]) -> frozenset[str]:
    """The names live where an exception handler is entered."""
    bound = set() if handler.name is None else {handler.name.id}
    read = set() if handler.type is None else set(names_read(handler.type))
    return (live_before(handler.body, after, at_break)[0] - bound) | read


def arms_of(s: Any) -> list[list[Any]]:
    """The statement lists of which a branch, or a `try` with handlers, runs exactly one to its end; the first
    of a `try` is the one without exception.
    """
    if isinstance(s, gast.If):
        return [s.body, s.orelse]
    return [[*s.body, *s.orelse], *(h.body for h in s.handlers)]


def loop_head(loop: Any, after: frozenset[str]) -> frozenset[str]:
    """The names live at the start of an iteration or the end of the loop."""
    targets = (
        {n.id for n in walk(loop.target) if isinstance(n, gast.Name)} if isinstance(loop, gast.For) else set()
    )
    head = after if isinstance(loop, gast.For) else frozenset()
    # one pass reaches the fixed point: a block's gen and kill sets do not depend on what is live after it
    return head | (live_before(loop.body, head, after)[0] - targets)


def ends_in_raise(block: list[Any]) -> bool:
    """Whether a block ends with a `raise`."""
    return bool(block) and isinstance(block[-1], gast.Raise)


def is_exit(s: Any) -> bool:
    """Whether the statement is `if stop: break`."""
    return (
        isinstance(s, gast.If)
        and isinstance(s.test, gast.Name)
        and len(s.body) == 1
        and isinstance(s.body[0], gast.Break)
    )


def is_test(s: Any) -> bool:
    """Whether the statement is a while loop's own `if not c: break`."""
    return (
        isinstance(s, gast.If)
        and isinstance(s.test, gast.UnaryOp)
        and isinstance(s.test.op, gast.Not)
        and len(s.body) == 1
        and isinstance(s.body[0], gast.Break)
    )


class AssignedBefore:
    """The names that every path from the start of a block, where those in `given` are assigned, to one of its
    statements has assigned, by the statement's id, as bits of integers.
    """

    def __init__(self, block: list[Any], given: Iterable[str] = ()) -> None:
        self._bits: dict[str, int] = {}
        self._found: dict[int, int] = {}
        self._end = self._visit(block, self._of(given))

    def at_end(self) -> set[str]:
        """The names that every path through the block assigns."""
        return {name for name, bit in self._bits.items() if self._end & bit}

    def at(self, s: Any) -> Callable[[str], bool]:
        """A predicate for the names that every path to a statement has assigned."""
        found = self._found.get(id(s), 0)
        return lambda name: bool(found & self._bits.get(name, 0))

    def _of(self, names: Iterable[str]) -> int:
        found = 0
        for name in names:
            found |= self._bits.setdefault(name, 1 << len(self._bits))
        return found

    def _visit(self, statements: list[Any], known: int) -> int:
        for s in statements:
            self._found[id(s)] = known
            match s:
                case gast.For():
                    self._visit(s.body, known | self._header(s))
                case gast.While():
                    self._visit(s.body, known)
                case gast.With():
                    known = self._visit(s.body, known | self._header(s))
                case gast.If() | gast.Try():
                    arms = [(ends_in_raise(arm), self._visit(arm, known)) for arm in arms_of(s)]
                    ends = [end for raises, end in arms if not raises]
                    known = reduce(and_, ends) if ends else known
                    known = self._visit(s.finalbody, known) if isinstance(s, gast.Try) else known
                case _:
                    known |= self._of(assigned_names(s))
        return known

    def _header(self, s: Any) -> int:
        """The names that a loop or `with` header binds."""
        return self._of({*assigned_names(s)} - {*assigned_names(s.body)})
