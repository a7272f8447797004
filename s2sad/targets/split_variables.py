"""Gives variables of their own to values that only share a name.

`t = np.max(x, axis=0); y = x - t; t = np.max(y)` becomes `...; t_1 = np.max(y)`: each variable then has one
type, and an array that no later statement reads is told from another one of its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

__all__ = ["split_variables"]

FOREIGN = (ast.Try, ast.With, ast.Delete, ast.Lambda, ast.NamedExpr)  # that bind in other ways
State = dict[str, frozenset[int]]  # for each name the definitions that may have made its value


def split_variables(function: ast.FunctionDef, fresh: Callable[[str], str]) -> None:
    """Renames variables of a function in place; `fresh` makes names."""
    if any(isinstance(n, FOREIGN) for n in ast.walk(function)):
        return
    webs = _Webs(function)
    names: dict[int, str] = {}
    kept: set[str] = set()
    for definition, name in enumerate(webs.names):
        web = webs.find(definition)
        if web not in names:
            names[web] = fresh(name) if name in kept else name
            kept.add(name)
    for node, definition in webs.nodes:
        node.id = names[webs.find(definition)]


class _Webs:
    """The definitions of a function, joined where one use may read several."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.names: list[str] = []  # the names of the definitions
        self.parents: list[int] = []
        self.of_node: dict[int, int] = {}
        self.nodes: list[tuple[ast.Name, int]] = []
        own = [n for n in ast.walk(function) if isinstance(n, ast.comprehension)]
        self.left = {t.id for c in own for t in ast.walk(c.target) if isinstance(t, ast.Name)}
        self.exits: list[tuple[list[State], list[State]]] = []  # of the loops around: breaks and continues
        state: State = {a.arg: frozenset((self.defined(a.arg),)) for a in function.args.args}
        self.block(function.body, state)
        uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and id(n) in self.of_node]
        self.nodes = [(n, self.of_node[id(n)]) for n in uses]

    def defined(self, name: str) -> int:
        self.names.append(name)
        self.parents.append(len(self.parents))
        return len(self.names) - 1

    def find(self, k: int) -> int:
        while self.parents[k] != k:
            k = self.parents[k]
        return k

    def union(self, node: ast.Name, definitions: frozenset[int]) -> None:
        """Joins the definitions that a name may stand for."""
        for k in [*definitions, *([self.of_node[id(node)]] if id(node) in self.of_node else [])]:
            first = self.find(self.of_node.setdefault(id(node), k))
            self.parents[max(first, self.find(k))] = min(first, self.find(k))

    # ------------------------------------------------------------ statements

    def block(self, statements: list[ast.stmt], state: State | None) -> State | None:
        """The state behind statements; None where they are never left that way."""
        for s in statements:
            if state is None:
                return None
            state = self.statement(s, state)
        return state

    def statement(self, s: ast.stmt, state: State) -> State | None:
        match s:
            case ast.If(test=test, body=body, orelse=orelse):
                self.read(test, state)
                return joined([self.block(body, dict(state)), self.block(orelse, dict(state))])
            case ast.For(iter=source):
                self.read(source, state)
                return self.loop(s, state)
            case ast.While():
                return self.loop(s, state)
            case ast.Break():
                self.exits[-1][0].append(state)
                return None
            case ast.Continue():
                self.exits[-1][1].append(state)
                return None
        self.read(s, state)
        for target in targets_of(s):
            self.bind(target, state, isinstance(s, ast.AugAssign))
        return None if isinstance(s, (ast.Return, ast.Raise)) else state

    def loop(self, s: ast.For | ast.While, before: State) -> State | None:
        state = dict(before)
        while True:
            breaks: list[State] = []
            turns: list[State] = []
            self.exits.append((breaks, turns))
            inside = dict(state)
            if isinstance(s, ast.For):
                for target in targets_of(s):
                    self.bind(target, inside, False)
            else:
                self.read(s.test, inside)
            end = self.block(s.body, inside)
            self.exits.pop()
            merged = joined([state, end, *turns]) or state
            if merged == state:
                return joined([self.block(s.orelse, dict(state)), *breaks])
            state = merged

    def read(self, node: ast.AST, state: State) -> None:
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in state:
                self.union(n, state[n.id])

    def bind(self, target: ast.Name, state: State, is_update: bool) -> None:
        """A definition, which an update joins with what it updates."""
        known = self.of_node.get(id(target))
        definition = self.defined(target.id) if known is None else known
        self.of_node.setdefault(id(target), definition)
        same = frozenset(k for k, name in enumerate(self.names) if name == target.id)
        updated = state.get(target.id, frozenset()) if is_update else frozenset()
        self.union(target, same if target.id in self.left else updated)
        state[target.id] = frozenset((definition,))


def targets_of(s: ast.stmt) -> Iterator[ast.Name]:
    """The names that a statement binds."""
    match s:
        case ast.Assign(targets=targets):
            nodes: list[ast.expr] = targets
        case ast.AugAssign(target=target) | ast.For(target=target):
            nodes = [target]
        case _:
            nodes = []
    for node in nodes:
        yield from (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def joined(states: list[State | None]) -> State | None:
    """The state where several paths meet."""
    known = [s for s in states if s is not None]
    names = {name for s in known for name in s}
    made = {n: frozenset(d for s in known for d in s.get(n, ())) for n in names}
    return made if known else None
