"""Removes the dead statements of a derivative.

Contract: a function definition in, one with the same result and effects out. A statement is needed when it
has an effect, or when a needed statement may read a name that it binds; so a sum that only feeds itself is
removed (a faint variable), and so is a change in place of an object without later readers, such as a store
to an array of the function's own of which only the shape is read later. A comment is removed with the last
statement under it.

    total = total + w          (in a loop; nothing else reads total: gone)
    trace.append((x, t))       (trace is owned and not read: gone)
    if c:                      if not c:
        dead = x                   y = x
    else:
        y = x
"""
from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import gast

from ..analyses.find_contents import contents, with_contents
from ..analyses.find_live import Live, find_live
from ..analyses.find_sharing import UPDATES, find_followers
from ..analyses.find_uses import Uses, find_uses, is_pure, map_nested
from ..trees.nodes import (
    Comment,
    blocks_of,
    bound_here,
    defaults_of,
    located,
    names_read,
    own_statements,
    statements_in,
    store,
    target_names,
)
from ..trees.rebuild import alike, rebuilt, rewritten, with_blocks
from .facts import GeneratedFacts
from .fold_constants import OPPOSITE, taken_arm

__all__ = ["remove_dead_code"]

Node = Any  # gast publishes no types


def remove_dead_code(tree: Node, facts: GeneratedFacts) -> Node:
    """The function without dead code; statements that may raise stay where exceptions may be caught, but not
    in the closure of the reverse sweep.
    """
    return _function(tree, facts, facts.careful)


def _function(tree: Node, facts: GeneratedFacts, careful: bool) -> Node:
    handled = careful or any(isinstance(s, gast.Try) and s.handlers for s in statements_in(tree.body))
    tree = map_nested(tree, lambda nested: _function(
        nested, facts, handled and nested.name != facts.generation.bprop))
    uses = find_uses(tree)
    if uses is None:
        return tree
    if facts.generation.checks:
        tree = _with_checks(tree, _Remover(tree, uses, facts, careful), facts.generation.checks)
        uses = find_uses(tree)
    reachable = _reachable(tree.body)
    if not alike(reachable, tree.body):
        tree = rebuilt(tree, body=reachable or [located(gast.Pass(), tree)])
        uses = find_uses(tree)
    while True:
        assert uses is not None
        remover = _Remover(tree, uses, facts, careful)
        body = remover.block(tree.body, is_body=True)
        if remover.removed == 0:
            return tree
        before = _compound(tree.body)
        tree = rebuilt(tree, body=body or [located(gast.Pass(), tree)])
        if _compound(tree.body) == before:  # no statement that only a branch or loop needed has become dead
            return tree
        uses = find_uses(tree)


def _with_checks(tree: Node, remover: _Remover, checks: Mapping[str, list[Node]]) -> Node:
    """The function with checks for the dead assignments of some names; what a check reads stays assigned, and
    what that is made of.
    """
    made: dict[str, list[Node]] = {}
    for s in statements_in(tree.body):
        for name in bound_here(s):
            made.setdefault(name, []).append(s)
    read: set[str] = set()
    todo = [name for block in checks.values() for name in names_read(block)]
    while todo:
        name = todo.pop()
        if name not in read:
            read.add(name)
            todo += [n for s in made.get(name, ()) for n in names_read(s)]

    def statement(s: Node) -> list[Node] | None:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)]) if (
                name in checks and name not in read and id(s) not in remover.live.needed
            ):
                return checks[name]
        return None

    return rewritten(tree, statement)


def _compound(block: list[Node]) -> int:
    """The number of branches and loops in a block."""
    return sum(bool(blocks_of(s)) for s in statements_in(block))


def _reachable(statements: list[Node]) -> list[Node]:
    """The statements without arms that are never taken, and without those after a jump."""
    result: list[Node] = []
    for s in statements:
        arm = taken_arm(s)
        if arm is not None:
            result.extend(_reachable(arm))
        else:
            result.append(with_blocks(s, [_reachable(b) for b in blocks_of(s)]))
        if result and isinstance(result[-1], (gast.Return, gast.Raise, gast.Break, gast.Continue)):
            break
    return result


class _Remover:
    """The needed statements of one function, and the function without the rest."""

    def __init__(self, tree: Node, uses: Uses, facts: GeneratedFacts, careful: bool) -> None:
        self.purity, self.uses, self.removed = facts.is_pure, uses, 0
        self.is_array, self.careful = facts.is_array, careful
        self.arrays = _own_arrays(tree, facts)
        self.owned = facts.traces | self.arrays
        self.find = partial(find_followers, tree, uses, facts.is_pure, self.owned)
        followers = frozenset().union(*(self.watchers.get(n, ()) for n in self.arrays))
        self.with_contents = frozenset(filter(facts.is_array, followers))
        self.live = find_live(tree, with_contents(tree, uses, self.with_contents, facts.shape_only),
                              self.matters, careful)

    # ------------------------------------------------------------ needed statements

    def matters(self, s: Node, live: Live, after: int) -> bool:
        match s:
            case gast.Pass() | Comment():
                return False
            case gast.Assign(targets=[gast.Tuple()], value=gast.Name(id=name)) if self.is_array(name):
                return True  # it checks the length
            case gast.Assign():
                return (live.of(self.uses.headers[id(s)].binds) & after != 0
                        or not (self.is_pure(s.value) and self.purity(s))
                        or any(self.is_seen(place, live, after) for t in s.targets for place in _places(t)))
            case gast.AugAssign():
                return not self.is_pure(s.value) or self.is_seen(s.target, live, after)
            case gast.Expr():
                return not self.is_pure(s.value) and not self.is_unseen_update(s.value, live, after)
            case gast.For():
                return (live.of(target_names(s.target)) & after != 0
                        or not (self.is_pure(s.iter) and self.purity(s)))
            case gast.If() | gast.While():
                return not self.is_pure(s.test)
            case gast.With():
                return not all(self.is_pure(item.context_expr) for item in s.items)
            case gast.FunctionDef():
                is_used = bool(live.of([s.name]) & after or s.decorator_list)
                return is_used or not all(map(self.is_pure, defaults_of(s)))
        return True

    @cached_property
    def watchers(self) -> dict[str, frozenset[str]]:
        """The names through which a change of an owned object may be read."""
        return self.find()

    def is_pure(self, node: Node) -> bool:
        return is_pure(node, self.purity)

    def is_seen(self, place: Node, live: Live, after: int) -> bool:
        """Whether a change in place of a name's object, or of one of its elements, may be read."""
        holder = place.value if isinstance(place, gast.Subscript) else place
        if not isinstance(holder, gast.Name) or holder.id not in self.owned:
            return True
        if holder.id not in self.watchers:
            return True
        if isinstance(place, gast.Subscript) and not self.is_pure(place.slice):
            return True
        names = {holder.id, *self.watchers[holder.id]}
        return live.of(contents(n) if n in self.with_contents else n for n in names) & after != 0

    def is_unseen_update(self, value: Node, live: Live, after: int) -> bool:
        match value:
            case gast.Call(func=gast.Attribute(value=gast.Name() as holder, attr=attr)) if attr in UPDATES:
                parts = [*value.args, *(k.value for k in value.keywords)]
                return all(map(self.is_pure, parts)) and not self.is_seen(holder, live, after)
        return False

    # ------------------------------------------------------------ removal

    def block(self, statements: list[Node], is_body: bool = False) -> list[Node]:
        result: list[Node] = []
        for k, s in enumerate(statements):
            if isinstance(s, Comment):
                while result and isinstance(result[-1], Comment):
                    self.drop(result)
                if _is_same(s, next((c for c in reversed(result) if isinstance(c, Comment)), None)):
                    self.removed += 1
                else:
                    result.append(s)
            elif id(s) in self.live.needed or (is_body and k == 0 and _is_docstring(s)):
                new = self.statement(s)
                result += new.body if isinstance(new, gast.Try) and is_plain(new) else [new]
            elif not isinstance(s, gast.Pass) or len(statements) > 1:
                self.removed += 1
            else:
                result.append(s)
        while result and isinstance(result[-1], Comment):
            self.drop(result)
        return result

    def drop(self, result: list[Node]) -> None:
        result.pop()
        self.removed += 1

    def statement(self, s: Node) -> Node:
        match s:
            case gast.If():
                return self.branch(s)
            case gast.For() | gast.While() | gast.With() | gast.Try():
                outer, self.careful = self.careful, self.careful or bool(getattr(s, "handlers", ()))
                new = with_blocks(s, [self.block(b) for b in blocks_of(s)])
                self.careful = outer
                return new
            case gast.Assign(targets=[gast.Name() | gast.Tuple() as target]):
                return self.unpacking(s, target)
        return s

    def branch(self, s: Node) -> Node:
        body, orelse = ([i for i in self.block(arm) if not isinstance(i, gast.Pass)]
                        for arm in (s.body, s.orelse))
        if body or not orelse:
            self.removed += len(s.orelse) > 0 and not orelse
            return with_blocks(s, [body or [located(gast.Pass(), s)], orelse])
        self.removed += 1
        return rebuilt(s, test=_negated(s.test), body=orelse, orelse=[])

    def unpacking(self, s: Node, target: Node) -> Node:
        """The assignment with `_` for targets that are not read, or the bare call if none is, but where
        something may catch that there are more or fewer.
        """
        after = self.live.after[id(s)]
        dead = [n for n in target_names(target) if not self.live.of([n]) & after]
        is_counted = self.careful and isinstance(target, gast.Tuple)
        is_unread = len(dead) == len(target_names(target)) and not _places(target)
        if is_unread and not is_counted and isinstance(s.value, gast.Call):
            self.removed += 1
            return located(gast.Expr(value=s.value), s)
        dead = [n for n in dead if n != "_" and n not in self.uses.captured]
        if not dead or isinstance(target, gast.Name) or self.uses.read["_"]:
            return s
        self.removed += 1
        return rebuilt(s, targets=[_without(target, dead)])


def _own_arrays(tree: Node, facts: GeneratedFacts) -> frozenset[str]:
    """The names whose arrays the function makes itself and changes in place, and copies of these names."""
    sources: dict[str, list[Node]] = {}
    changed = False
    for s in own_statements(tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                sources.setdefault(name, []).append(value)
            case gast.AugAssign(target=gast.Name()):
                changed = True
            case gast.FunctionDef(name=name):
                sources.setdefault(name, []).append(None)
            case _:
                for name in bound_here(s):
                    sources.setdefault(name, []).append(None)
                changed = changed or isinstance(s, (gast.Assign, gast.AugAssign, gast.Expr))
    if not changed:
        return frozenset()
    own = {n for n, values in sources.items() if facts.is_array(n) and None not in values}
    while True:
        left = {n for n in own if all(v.id in own if isinstance(v, gast.Name) else facts.makes_array(v)
                                      for v in sources[n])}
        if left == own:
            return frozenset(own)
        own = left


def is_plain(s: Node) -> bool:
    """Whether a `try` has neither a handler nor a `finally`."""
    return not s.handlers and all(isinstance(n, gast.Pass) for n in s.finalbody)


def _places(target: Node) -> list[Node]:
    """The elements and attributes among an assignment's targets."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return [place for e in target.elts for place in _places(e)]
    return [] if isinstance(target, (gast.Name, gast.Starred)) else [target]


def _without(target: Node, dead: list[str]) -> Node:
    if isinstance(target, gast.Name):
        return located(store("_"), target) if target.id in dead else target
    if isinstance(target, (gast.Tuple, gast.List)):
        return rebuilt(target, elts=[_without(e, dead) for e in target.elts])
    return target


def _negated(test: Node) -> Node:
    """`not test`, simplified; `not a < b` stays, as it differs from `a >= b` for NaN."""
    match test:
        case gast.UnaryOp(op=gast.Not()):
            return test.operand
        case gast.Compare(ops=[op]) if type(op) in OPPOSITE:
            return rebuilt(test, ops=[OPPOSITE[type(op)]()])
    return located(gast.UnaryOp(op=gast.Not(), operand=test), test)


def _is_same(comment: Comment, other: Comment | None) -> bool:
    """Whether two comments are of one statement of the user's."""
    where = ("text", "lineno", "col_offset")
    return other is not None and all(getattr(comment, n, None) == getattr(other, n, None) for n in where)


def _is_docstring(s: Node) -> bool:
    return isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant) and isinstance(s.value.value, str)
