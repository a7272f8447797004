"""Turns jumps into branches.

Form in: a function with simple assignments. Form out: one `return`, last; no `continue`, no loop `else`;
`break` only as `if stop: break` at the very end of a loop's body. Statements that a jump skips stand in the
other arm of its `if`, or under a flag:

- `stop` says that a loop is left by `break`, `done` that the function returns, `skip` that the rest of an
  iteration is skipped;
- a value returned from inside a loop is computed after the loop: the jump leaves at once, so every name keeps
  its value.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_jumps(program_of('''
... def f(xs, limit):
...     total = 0.0
...     for x in xs:
...         if x < 0:
...             continue
...         total = total + x
...         if total > limit:
...             return limit
...     return total
... ''')).tree))
def f(xs, limit):
    total = 0.0
    done = False
    for x in xs:
        if x < 0:
            pass
        else:
            total = total + x
            done = total > limit
        if done:
            break
    if done:
        out = limit
    else:
        out = total
    return out
<BLANKLINE>
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from ..trees.nodes import assign, load, located, names_in, same
from ..trees.program import Names, Program
from ..trees.rebuild import map_blocks, rebuilt, substitute
from .jump_outcomes import Leave, Outcome, breaks_in, is_endless, outcome, reachable, returns_in

__all__ = ["desugar_jumps"]

Node = Any  # gast publishes no types


@dataclass
class Frame:
    """The target of jumps: the end of the function's body (`exit` is None) or of a loop's."""

    exit: str | None  # the flag that the loop is left
    skip: str  # the flag that the rest is skipped; "" until it is read
    out: str | None = None  # the name of the function's result; None in a loop
    tested: set[str] = field(default_factory=set)  # the flags that are read


def desugar_jumps(program: Program) -> Program:
    """The program with a single `return` and no jump but `if stop: break` at the end of a loop."""
    writer = _Writer(program.names.copy())
    tree = writer.function(program.tree)
    return program.with_tree(tree, names=writer.names)


class _Writer:
    """Rewrites block by block. `exits` maps each `return` inside a loop to its flag."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.exits: dict[int, str] = {}

    def function(self, node: Node) -> Node:
        body = reachable(node.body)
        if not outcome(body).ends:
            body.append(located(gast.Return(value=None), body[-1]))
        returns = returns_in(body)
        if returns == body[-1:]:  # nothing returns early
            new, _ = self.block(body[:-1], Frame(None, ""))
            return rebuilt(node, body=[*new, with_value(returns[0])])
        if not returns:  # it always raises
            new, _ = self.block(body, Frame(None, ""))
            return rebuilt(node, body=[*new, located(gast.Return(value=none()), body[-1])])
        frame = Frame(None, f"skip {id(node)}", self.names.fresh("out"))
        new, _ = self.block(body, frame)
        new = self.settle_skip(new, frame, "done", node)
        if assigns(new[-1], frame.out) and sum(assigns(n, frame.out) for s in new for n in gast.walk(s)) == 1:
            self.names.taken.discard(frame.out or "")
            return rebuilt(node, body=[*new[:-1], located(gast.Return(value=new[-1].value), new[-1])])
        return rebuilt(node, body=[*new, located(gast.Return(value=load(frame.out or "")), returns[-1])])

    # ------------------------------------------------------------ blocks

    def block(self, statements: list[Node], frame: Frame) -> tuple[list[Node], list[str]]:
        """The block with flags for its jumps, and the flags that it may set."""
        result: list[Node] = []
        for k, s in enumerate(statements):
            rest = statements[k + 1 :]
            match s:
                case gast.Break() | gast.Continue() | gast.Return() | Leave():
                    setters, flag = self.record(s, frame)
                    return result + setters or [located(gast.Pass(), s)], [flag]
                case gast.Raise():
                    return [*result, s], []
                case gast.If() if outcome([s]) is not Outcome.FALLS:
                    new, flags = self.branch(s, rest, frame)
                    return result + new, flags
                case gast.With() | gast.Try() if outcome([s]) is not Outcome.FALLS:
                    s, rest = continued(s, rest)
                    held, flags = self.region(s, frame)
                    if outcome([s]).ends:
                        return [*result, held], flags
                    new, flags = self.guarded(held, flags, rest, frame)
                    return result + new, flags
                case gast.For() | gast.While():
                    new, after = self.loop(s, frame)
                    result += new
                    if after:
                        new, flags = self.block(after + rest, frame)
                        return result + new, flags
                    if is_endless(s):
                        return result, []
                case gast.FunctionDef():
                    result.append(self.function(s))
                case _:
                    result.append(map_blocks(s, lambda inner: self.block(inner, frame)[0]))
        return result, []

    def record(self, jump: Node, frame: Frame) -> tuple[list[Node], str]:
        """The statements that record a jump, and the flag that they set."""
        if frame.out is not None:
            return [assign(frame.out, with_value(jump).value, jump), flagged(frame.skip, jump)], frame.skip
        if isinstance(jump, gast.Continue):
            return [flagged(frame.skip, jump)], frame.skip
        leaving = frame.exit or ""
        own = jump.flag if isinstance(jump, Leave) else self.exits.get(id(jump), leaving)
        setters = [flagged(name, jump) for name in dict.fromkeys((own, leaving))]
        return [s for s in setters if not (isinstance(jump, Leave) and s.targets[0].id == own)], leaving

    def branch(self, s: Node, rest: list[Node], frame: Frame) -> tuple[list[Node], list[str]]:
        """An `if` with jumps in it, and the statements after it."""
        ends = outcome(s.body).ends, outcome(s.orelse).ends
        if ends == (False, False):
            body, flags = self.block(s.body, frame)
            orelse, others = self.block(s.orelse, frame)
            flags = list(dict.fromkeys(flags + others))
            return self.guarded(rebuilt(s, body=body, orelse=orelse), flags, rest, frame)
        orelse, others = self.block(s.orelse + rest if ends[0] and not ends[1] else s.orelse, frame)
        leaving = self.direct_exit(s.body, frame)
        if leaving is not None:
            body, flags = self.block(s.body[:-1], frame)
            assigned = [assign(leaving, s.test, s.body[-1])]
            if body or orelse:
                assigned.append(
                    rebuilt(s, test=load(leaving), body=body or [located(gast.Pass(), s)], orelse=orelse)
                )
            return assigned, list(dict.fromkeys([leaving, *flags, *others]))
        body, flags = self.block(s.body + rest if ends[1] and not ends[0] else s.body, frame)
        if isinstance(s.body[0], Leave) and not orelse:
            return [], list(dict.fromkeys(flags + others))
        return [rebuilt(s, body=body, orelse=orelse)], list(dict.fromkeys(flags + others))

    def guarded(
        self, new: Node, flags: list[str], rest: list[Node], frame: Frame
    ) -> tuple[list[Node], list[str]]:
        """A statement that may set flags, and the statements after it, guarded by them."""
        if not rest:
            return [new], flags
        inner, others = self.block(rest, frame)
        frame.tested |= set(flags)
        for flag in flags:
            inner = [
                located(gast.If(test=load(flag), body=[located(gast.Pass(), new)], orelse=inner), rest[0])
            ]
        return [new, *inner], list(dict.fromkeys(flags + others))

    def region(self, s: Node, frame: Frame) -> tuple[Node, list[str]]:
        """A `with` or `try` whose jumps are replaced by flags, and the flags."""
        body, flags = self.block(s.body, frame)
        if isinstance(s, gast.With):
            return rebuilt(s, body=body), flags
        orelse, others = self.block(s.orelse, frame)
        if flags and orelse:
            frame.tested |= set(flags)
            for flag in flags:
                orelse = [located(gast.If(test=load(flag), body=[located(gast.Pass(), s)], orelse=orelse), s)]
        handlers = []
        for h in s.handlers:
            handled, more = self.block(h.body, frame)
            handlers.append(rebuilt(h, body=handled))
            others += more
        final, _ = self.block(s.finalbody, frame)
        new = rebuilt(s, body=body, handlers=handlers, orelse=orelse, finalbody=final)
        return new, list(dict.fromkeys([*flags, *others]))

    def direct_exit(self, body: list[Node], frame: Frame) -> str | None:
        """The exit flag that equals the test: the arm sets it by its only jump."""
        if (
            frame.exit is None
            or outcome(body[:-1]) is not Outcome.FALLS
            or not isinstance(body[-1], (gast.Break, gast.Return, Leave))
        ):
            return None
        setters, flag = self.record(body[-1], frame)
        return flag if len(setters) == 1 and assigns(setters[0], flag) else None

    # ------------------------------------------------------------ loops

    def loop(self, s: Node, frame: Frame) -> tuple[list[Node], list[Node]]:
        """The loop after its preparations, and the statements for its exits, which are not rewritten yet."""
        returns, breaks = returns_in(s.body), breaks_in(s.body)
        if frame.out is not None:
            self.name_exits(returns)
        flags = list(dict.fromkeys(self.exits[id(n)] for n in returns))
        values = {self.exits[id(n)]: n for n in reversed(returns)}
        stop = self.names.fresh("stop") if breaks or len(flags) > 1 else None
        inner = Frame(stop or (flags[0] if flags else None), f"skip {id(s)}")
        body, _ = self.block(s.body, inner)
        body = self.settle_skip(body, inner, "skip", s)
        always_assigned = any(assigns(n, inner.exit) for n in body)
        before: list[Node] = []
        if frame.out is not None:
            before = [
                assign(flag, gast.Constant(value=False, kind=None), s)
                for flag in flags
                if not (is_endless(s) and always_assigned and flag == inner.exit)
            ]
        if stop is not None:
            start = assign(stop, gast.Constant(value=False, kind=None), s)
            if breaks and s.orelse:
                before.append(start)
            elif not always_assigned:
                body = insert_before_mention(body, stop, start)
        if inner.exit is not None:
            jump = (breaks or returns)[0]
            body.append(
                located(gast.If(test=load(inner.exit), body=[located(gast.Break(), jump)], orelse=[]), jump)
            )
        jumps = {
            flag: located(gast.Return(value=n.value) if frame.out is not None else Leave(flag=flag), n)
            for flag, n in values.items()
        }
        after = [
            located(gast.If(test=load(flag), body=[jumps[flag]], orelse=[]), jumps[flag]) for flag in flags
        ]
        if is_endless(s):
            after[-1:] = [jumps[flags[-1]]] if flags else []
        elif s.orelse and breaks:
            after.append(
                located(gast.If(test=load(stop or ""), body=[located(gast.Pass(), s)], orelse=s.orelse), s)
            )
        else:
            after += s.orelse
        return [*before, rebuilt(s, body=body or [located(gast.Pass(), s)], orelse=[])], after

    def name_exits(self, returns: list[Node]) -> None:
        """Gives the returns of an outermost loop their flags; equal values have one."""
        named: list[tuple[Node, str]] = []
        for n in returns:
            value = with_value(n).value
            known = [flag for other, flag in named if same(value, other)]
            flag = known[0] if known else self.names.fresh("done")
            named.append((value, flag))
            self.exits[id(n)] = flag

    def settle_skip(self, body: list[Node], frame: Frame, base: str, like: Node) -> list[Node]:
        """The body with the frame's `skip` flag named and initialised, or without it when nothing reads
        it.
        """
        body, _ = without_dead(body, frame.skip)
        if frame.skip not in frame.tested:
            return body
        name = self.names.fresh(base)
        body = substitute(body, {frame.skip: load(name)})
        return insert_before_mention(body, name, assign(name, gast.Constant(value=False, kind=None), like))


def none() -> Node:
    return gast.Constant(value=None, kind=None)


def with_value(jump: Node) -> Node:
    """The `return` with its value written out."""
    return jump if jump.value is not None else rebuilt(jump, value=none())


def flagged(name: str, like: Node) -> Node:
    return assign(name, gast.Constant(value=True, kind=None), like)


def assigns(node: Node, name: str | None) -> bool:
    return (
        isinstance(node, gast.Assign)
        and isinstance(node.targets[0], gast.Name)
        and node.targets[0].id == name
    )


def insert_before_mention(body: list[Node], name: str, statement: Node) -> list[Node]:
    """The body with the statement before the first one that contains the name."""
    position = next(
        k for k, s in enumerate(body) if any(isinstance(n, gast.Name) and n.id == name for n in gast.walk(s))
    )
    return [*body[:position], statement, *body[position:]]


def without_dead(body: list[Node], name: str, live: bool = False) -> tuple[list[Node], bool]:
    """The block without dead assignments to a flag, and whether the flag is live before it."""
    result: list[Node] = []
    for s in reversed(body):
        if assigns(s, name):
            result += [s] * live
            live = False
            continue
        if isinstance(s, (gast.With, gast.Try)):
            s, live = without_dead_inside(s, name, live)
        elif isinstance(s, gast.If):
            arms = without_dead(s.body, name, live), without_dead(s.orelse, name, live)
            s = rebuilt(s, body=arms[0][0], orelse=arms[1][0])
            live = arms[0][1] or arms[1][1] or (isinstance(s.test, gast.Name) and s.test.id == name)
        result.append(s)
    return result[::-1] or [located(gast.Pass(), s) for s in body[:1]], live


def without_dead_inside(s: Node, name: str, live: bool) -> tuple[Node, bool]:
    """A `with` or `try` without dead assignments to a flag, and whether the flag is live before it."""
    if isinstance(s, gast.With):
        body, live = without_dead(s.body, name, live)
        return rebuilt(s, body=body), live
    final, live = without_dead(s.finalbody, name, live)
    orelse, at_else = without_dead(s.orelse, name, live)
    handlers, before = [], False
    for h in s.handlers:
        handled, read = without_dead(h.body, name, live)
        handlers.append(rebuilt(h, body=handled))
        before = before or read
    body, read = without_dead(s.body, name, at_else)
    return rebuilt(s, body=body, handlers=handlers, orelse=orelse, finalbody=final), before or read


def continued(s: Node, rest: list[Node]) -> tuple[Node, list[Node]]:
    """A `try` with the statements after it moved into its only handler that continues."""
    if not isinstance(s, gast.Try) or not rest or not outcome([*s.body, *s.orelse]).ends:
        return s, rest
    falling = [h for h in s.handlers if not outcome(h.body).ends]
    if len(falling) != 1 or outcome(falling[0].body) is not Outcome.FALLS:
        return s, rest
    (last,) = falling
    if last.name is not None and any(last.name.id in names_in(n) for n in rest):  # the handler deletes it
        return s, rest
    kept = [n for n in last.body if not isinstance(n, gast.Pass)]
    handlers = [rebuilt(h, body=[*kept, *rest]) if h is last else h for h in s.handlers]
    return rebuilt(s, handlers=handlers), []
