"""Inlines temporaries that are read once into the expressions that read them.

Contract: a function definition in, one that evaluates the same operations with the same results out; an
operand that only one arm of `a if c else b` reads is evaluated in this case only. A temporary moves only
within its block, and only past statements that cannot change its value; a value with effects only into the
next statement, where nothing is evaluated before it. Lines stay within `columns`.

    t_1 = -a                    decay = np.exp(-a * t)
    t_2 = t_1 * t
    decay = np.exp(t_2)    ->

    while True:                 while abs(x) > tol:
        c = abs(x) > tol            x = f(x)
        if not c:
            break
        x = f(x)
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import gast

from ..analyses.find_read_sites import find_place
from ..analyses.find_sharing import UPDATES, base_of, find_followers
from ..analyses.find_uses import (
    Uses,
    find_uses,
    is_pure,
    map_nested,
    reads,
)
from ..trees.measure import depth, width
from ..trees.nodes import (
    Comment,
    blocks_of,
    bound_in_header,
    find_nodes,
    header_expressions,
    located,
    statements_in,
    target_names,
)
from ..trees.rebuild import rebuilt, with_blocks, with_body, with_names
from .facts import GeneratedFacts

__all__ = ["inline_temporaries"]

Node = Any  # gast publishes no types
Test = Callable[[str], bool]


def inline_temporaries(tree: Node, facts: GeneratedFacts, columns: int = 95, levels: int = 6) -> Node:
    """The function with temporaries inlined: lines have at most so many columns, operations at most so many
    levels.
    """
    last = {
        facts.origins[n]: n
        for s in statements_in(tree.body)
        if isinstance(s, gast.Assign)
        for t in s.targets
        for n in target_names(t)
        if n in facts.origins
    }

    def may_go(name: str) -> bool:
        """Whether a name is a temporary; also the terms of an accumulated adjoint: all its versions but the
        last.
        """
        is_part = name in facts.derivatives and last.get(facts.origins.get(name, name), name) != name
        return is_part or facts.is_temporary(name)

    return _function(tree, _Settings(facts, may_go, columns, levels), 0)


@dataclass(frozen=True)
class _Settings:
    facts: GeneratedFacts
    is_temporary: Test
    columns: int
    levels: int


class _Effects(NamedTuple):
    """The effect of a statement: on names, on objects (by a name for each), or any effect (`is_impure`)."""

    binds: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    is_impure: bool = False


def _joined(effects: list[_Effects]) -> _Effects:
    """The effect of one statement after the other."""
    binds: frozenset[str] = frozenset().union(*[e.binds for e in effects])
    changes: frozenset[str] = frozenset().union(*[e.changes for e in effects])
    return _Effects(binds, changes, any(e.is_impure for e in effects))


@dataclass(frozen=True)
class _Pending:
    """A temporary that may still move: its value, its position in the block, and the comment above it."""

    value: Node
    place: int
    comment: int
    reads: frozenset[str]
    is_pure: bool
    is_reference: bool  # a name of the function's own, or a tuple of such
    is_number: bool  # only numbers are read


class _Waiting:
    """The temporaries of a block that may still move, by name."""

    def __init__(self) -> None:
        self.found: dict[str, _Pending] = {}
        self.readers: dict[str, list[str]] = {}  # the temporaries that read a name
        self.changing: dict[str, None] = {}  # those whose value a change in place may alter

    def add(self, name: str, pending: _Pending) -> None:
        self.found[name] = pending
        for read in pending.reads:
            self.readers.setdefault(read, []).append(name)
        # One with effects goes only into the very next statement.
        if pending.is_pure and not pending.is_reference and not pending.is_number:
            self.changing[name] = None

    def remove(self, name: str) -> None:
        self.found.pop(name, None)
        self.changing.pop(name, None)

    def drop(self, effects: _Effects, followers: Mapping[str, Set[str]]) -> None:
        """Drops the temporaries whose value the effects may change."""
        for bound in effects.binds:
            for name in self.readers.pop(bound, ()):
                self.remove(name)
        if effects.is_impure:
            for name in list(self.changing):
                self.remove(name)
        for changed in effects.changes:
            for seen in followers[changed]:
                for name in self.readers.get(seen, ()):
                    if name in self.changing:
                        self.remove(name)


def _function(tree: Node, settings: _Settings, indent: int) -> Node:
    uses = find_uses(tree)
    if uses is None:
        return tree  # not analysed
    new = map_nested(tree, lambda nested: _function(nested, settings, indent + 4))
    if new is not tree:
        tree, uses = new, find_uses(new)
    assert uses is not None
    inliner = _Inliner(tree, uses, settings)
    body, _ = inliner.block(tree.body, indent + 4)
    return with_body(tree, body)


class _Inliner:
    """One walk over the blocks of a function."""

    def __init__(self, tree: Node, uses: Uses, settings: _Settings) -> None:
        self.settings, self.uses = settings, uses
        self.own = uses.bound.keys() - uses.fixed
        self.followers = find_followers(tree, uses, settings.facts.is_pure, settings.facts.traces)

    def block(self, statements: list[Node], indent: int,
              in_order: bool = False) -> tuple[list[Node], _Effects]:
        """The statements with temporaries inlined, and their effect; with `in_order` exceptions keep their
        order.
        """
        return _Block(self, indent, in_order).run(statements)

    def may_go(self, s: Node) -> bool:
        """Whether a statement assigns a temporary that is read once and nowhere else."""
        match s:
            case gast.Assign(targets=[gast.Name(id=name)]):
                uses = self.uses
                return (uses.bound[name] == 1 and uses.read[name] == 1 and name not in uses.captured
                        and name not in uses.fixed and self.settings.is_temporary(name))
        return False

    def functions(self, value: Node) -> set[str]:
        """The global names through which functions are called: `np` in `np.exp(x)`."""
        found = set()
        for node in find_nodes(value, gast.Call):
            func, name = node.func, base_of(node.func)
            if name is None or name in self.uses.bound:
                continue
            if isinstance(func, gast.Name) or self.settings.facts.is_module(func.value):
                found.add(name)  # not where it is the method of an array
        return found

    def is_pure(self, node: Node) -> bool:
        return is_pure(node, self.settings.facts.is_pure)

    def effects(self, s: Node) -> _Effects:
        """The effect of a statement, outside of its blocks."""
        if s.__class__ is gast.Assign and s.targets[0].__class__ is gast.Name and len(s.targets) == 1:
            return _Effects(frozenset([s.targets[0].id]), is_impure=not self.is_pure(s.value))
        is_impure = not all(map(self.is_pure, header_expressions(s)))
        match s:
            case gast.Assign():
                places = [p for t in s.targets for p in (getattr(t, "elts", []) if target_names(t) else [t])]
                places = [p for p in places if isinstance(p, (gast.Subscript, gast.Attribute))]
                binds = frozenset(n for t in s.targets for n in target_names(t))
                return self.change(places, is_impure)._replace(binds=binds)
            case gast.AugAssign():
                return self.change([s.target], is_impure)._replace(binds=frozenset(target_names(s.target)))
            case gast.For():
                return _Effects(frozenset(target_names(s.target)), is_impure=is_impure)
            case gast.While():
                return _Effects(is_impure=not self.is_pure(s.test))
            case gast.With() | gast.Try():
                binds = frozenset(name for t in bound_in_header(s) for name in target_names(t))
                return _Effects(binds, is_impure=is_impure)
            case gast.FunctionDef():
                arguments = s.args.defaults or any(d is not None for d in s.args.kw_defaults)
                return _Effects(frozenset([s.name]), is_impure=bool(s.decorator_list or arguments))
            case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr))) if (
                    attr in UPDATES and name in self.followers):
                parts = [*s.value.args, *s.value.keywords]
                return _Effects(changes=frozenset([name]), is_impure=not all(map(self.is_pure, parts)))
        return _Effects(is_impure=is_impure)

    def change(self, places: Iterable[Node], is_impure: bool) -> _Effects:
        """The effect of changing the objects that the places belong to, or that the names hold."""
        changed = set()
        for place in places:
            holder = place.value if isinstance(place, gast.Subscript) else place
            if not isinstance(holder, gast.Name) or holder.id not in self.followers:
                # a number is replaced, and not changed
                is_number = isinstance(place, gast.Name) and self.settings.facts.holds_number(place.id)
                is_impure = is_impure or not is_number
            else:
                changed.add(holder.id)
        return _Effects(changes=frozenset(changed), is_impure=is_impure)


class _Block:
    """One block during the walk: `lines` has None where a temporary was inlined."""

    def __init__(self, inliner: _Inliner, indent: int, in_order: bool) -> None:
        self.inliner, self.indent, self.in_order = inliner, indent, in_order
        self.lines: list[Node | None] = []
        self.pending = _Waiting()
        self.comment = 0
        self.under: dict[int, int] = {0: 0}  # the number of statements under each comment

    def run(self, statements: list[Node]) -> tuple[list[Node], _Effects]:
        total: list[_Effects] = []
        for s in statements:
            if isinstance(s, Comment):
                self.comment += 1
                self.under[self.comment] = 0
                self.lines.append(s)
                continue
            s = self.put_in(s)
            effects = self.inliner.effects(s)
            if blocks_of(s):
                s, inner = self.inside(s)
                effects = _joined([effects, inner])
            total.append(effects)
            self.pending.drop(effects, self.inliner.followers)
            if self.inliner.may_go(s):
                self.pending.add(s.targets[0].id, self.made(s))
            self.lines.append(s)
            self.under[self.comment] += 1
        return [s for s in self.lines if s is not None], _joined(total)

    def inside(self, s: Node) -> tuple[Node, _Effects]:
        in_order = self.in_order or (isinstance(s, gast.Try) and bool(s.handlers))
        blocks, total = [], []
        for k, block in enumerate(blocks_of(s)):
            new, effects = self.inliner.block(block, self.indent + 4, in_order if k == 0 else self.in_order)
            blocks.append(new)
            total.append(effects)
        new = _with_test(with_blocks(s, blocks), self.inliner.settings.columns - self.indent)
        return new, _joined(total)

    def made(self, s: Node) -> _Pending:
        value = s.value
        parts = value.elts if isinstance(value, gast.Tuple) else [value]
        names, is_pure = reads(value), not self.in_order and self.inliner.is_pure(value)
        is_own = names <= self.inliner.own
        is_reference = is_own and all(isinstance(p, (gast.Name, gast.Constant)) for p in parts)
        data = names - self.inliner.functions(value)
        is_number = is_pure and all(map(self.inliner.settings.facts.holds_number, data))
        return _Pending(value, len(self.lines), self.comment, frozenset(names), is_pure, is_reference,
                        is_number)

    def put_in(self, s: Node) -> Node:
        """The statement with pending temporaries inlined, the latest first."""
        if isinstance(s, (gast.While, gast.FunctionDef)):
            return s
        pending = self.pending.found
        wanted = self.inliner.uses.headers[id(s)].reads & pending.keys()
        for name in sorted(wanted, key=lambda n: -pending[n].place):
            new = self.put_one(s, name, pending[name])
            if new is not None:
                self.lines[pending[name].place] = None
                self.under[pending[name].comment] -= 1
                self.pending.remove(name)
                s = new
        return s

    def put_one(self, s: Node, name: str, pending: _Pending) -> Node | None:
        """The statement with one temporary inlined, or None where it cannot be."""
        inliner = self.inliner
        if pending.comment != self.comment and pending.comment and self.under[pending.comment] == 1:
            return None  # the comment would have no statement left
        order = find_place(s, name, inliner.is_pure, inliner.uses)
        if order is None or (order.impure_before and not pending.is_reference):
            return None
        if not pending.is_pure and (order.operation_before or not self.is_last(pending.place)):
            return None
        if order.is_changed and not isinstance(pending.value, (gast.Name, gast.Attribute, gast.Subscript)):
            return None
        new = with_names(s, {name: pending.value})
        settings = inliner.settings
        if isinstance(pending.value, (gast.Name, gast.Constant)):
            return new
        expressions = header_expressions(new)
        is_long = self.indent + _width(new) > settings.columns
        return None if is_long or max(map(depth, expressions)) > settings.levels else new

    def is_last(self, place: int) -> bool:
        """Whether only comments stand after a position in the block so far."""
        lines = self.lines
        return all(lines[k] is None or isinstance(lines[k], Comment) for k in range(place + 1, len(lines)))


def _width(s: Node) -> int:
    """The columns of a statement's first line, without its indentation."""
    own = sum(map(width, header_expressions(s)))
    match s:
        case gast.Assign():
            return own + sum((width(t) if isinstance(t, gast.Name) else 0) + 3 for t in s.targets)
        case gast.AugAssign():
            return own + 4
        case gast.Return():
            return own + 7
        case gast.For():
            return own + 9 + width(s.target)
    return own + 8


def _with_test(s: Node, columns: int) -> Node:
    """`while test:` for `while True:` that starts with `if not test: break`."""
    match s:
        case gast.While(test=gast.Constant(value=True), orelse=[],
                        body=[gast.If(test=test, body=[gast.Break()], orelse=[]), *rest]):
            if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
                test = test.operand
            else:
                test = located(gast.UnaryOp(op=gast.Not(), operand=test), test)
            if width(test) + len("while :") <= columns:
                return rebuilt(s, test=test, body=rest or [located(gast.Pass(), s)])
    return s
