"""How a block can end: it goes on, jumps, or raises."""

from __future__ import annotations

from enum import Enum
from typing import Any

import gast

from ..trees.nodes import blocks_of, walk_scope
from ..trees.rebuild import map_blocks, rebuilt

__all__ = ["Leave", "Outcome", "breaks_in", "is_endless", "outcome", "reachable", "returns_in"]

Node = Any  # gast publishes no types


class Outcome(Enum):
    """How a block can end."""

    FALLS = "goes on"
    MAYBE = "jumps on some paths"
    JUMPS = "jumps on every path that does not raise"
    RAISES = "never goes on and never jumps"

    @property
    def ends(self) -> bool:
        return self in (Outcome.JUMPS, Outcome.RAISES)


class Leave(gast.AST):  # type: ignore[misc]
    """A jump in an outer loop's body for an exit that an inner loop has flagged."""

    _fields = ("flag",)


def outcome(statements: list[Node]) -> Outcome:
    """How the block can end."""
    maybe = False
    for s in statements:
        match s:
            case gast.Break() | gast.Continue() | gast.Return() | Leave():
                return Outcome.JUMPS
            case gast.Raise():
                return Outcome.JUMPS if maybe else Outcome.RAISES
            case gast.If():
                arms = {outcome(s.body), outcome(s.orelse)}
            case gast.For() | gast.While():
                arms = loop_outcomes(s)
            case gast.With():
                arms = {outcome(s.body)}
            case gast.Try():
                arms = {outcome([*s.body, *s.orelse]), *(outcome(h.body) for h in s.handlers)}
            case _:
                continue
        if all(arm.ends for arm in arms):
            return Outcome.JUMPS if maybe or Outcome.JUMPS in arms else Outcome.RAISES
        maybe = maybe or bool(arms & {Outcome.MAYBE, Outcome.JUMPS})
    return Outcome.MAYBE if maybe else Outcome.FALLS


def reachable(statements: list[Node]) -> list[Node]:
    """The block, and its inner blocks, without statements after a jump."""
    result: list[Node] = []
    for s in statements:
        if not isinstance(s, gast.FunctionDef):
            s = map_blocks(s, reachable)
        never = is_endless(s) or (isinstance(s, gast.Try) and outcome(s.body).ends)
        result.append(rebuilt(s, orelse=[]) if never else s)
        if outcome(result[-1:]).ends:
            break
    return result


def loop_outcomes(loop: Node) -> set[Outcome]:
    """The ways in which a loop can end, for the block that it stands in."""
    ways = {Outcome.JUMPS} if returns_in(loop.body) else set()
    if is_endless(loop):
        return ways or {Outcome.RAISES}
    if breaks_in(loop.body):
        ways.add(Outcome.FALLS)
    return ways | {outcome(loop.orelse)}


def returns_in(body: list[Node]) -> list[Node]:
    return [
        n
        for s in body
        if not isinstance(s, gast.FunctionDef)
        for n in walk_scope(s)
        if isinstance(n, gast.Return)
    ]


def breaks_in(body: list[Node]) -> list[Node]:
    """The `break` statements of the loop whose body this is."""
    found: list[Node] = []
    for s in body:
        if isinstance(s, gast.Break):
            found.append(s)
        elif isinstance(s, gast.If):
            found += breaks_in(s.body) + breaks_in(s.orelse)
        elif isinstance(s, (gast.For, gast.While)):
            found += breaks_in(s.orelse)
        else:
            found += [n for block in blocks_of(s) for n in breaks_in(block)]
    return found


def is_endless(loop: Node) -> bool:
    """Whether only a `return` leaves the loop."""
    return (
        isinstance(loop, gast.While)
        and isinstance(loop.test, gast.Constant)
        and bool(loop.test.value)
        and not breaks_in(loop.body)
    )
