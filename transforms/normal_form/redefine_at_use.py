"""Redefines nested functions at their uses where they read variables that change.

Form in: the normal form, calls inlined. Form out: the same, in which a nested function that does not escape
is defined before each statement that uses it, if a variable that it reads is assigned after its definition.

A function reads its variables when it is called. Calls that are given the function call it and do not keep
it, so it sees the values that its variables have at the use.

    g = lambda t: a * t                     g = lambda t: a * t
    y = quad(g, 0, 1)                       y = quad(g, 0, 1)
    a = 2 * a                               a = 2 * a
    z = quad(g, 0, 1)                       g_1 = lambda t: a * t
                                            z = quad(g_1, 0, 1)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gast

from ..analyses.liveness import free_names
from ..trees.nodes import (
    assigned_names,
    blocks_of,
    bound_here,
    defaults_of,
    find_nodes,
    load,
    names_read,
    own_statements,
)
from ..trees.program import Names, Program
from ..trees.rebuild import Rewriter, bound_names, copied_function, rebuilt, substitute, with_blocks

__all__ = ["MayKeep", "is_only_passed", "redefine_at_use"]

Node = Any  # gast publishes no types
MayKeep = Callable[[Node, str], bool]


def redefine_at_use(program: Program, may_keep: MayKeep) -> tuple[Program, frozenset[str]]:
    """The program with such functions redefined, and the names of all functions that do not escape.

    `may_keep(call, name)` says whether a call may keep, or return, the function of that name.
    """
    functions = [s for s in own_statements(program.tree.body) if isinstance(s, gast.FunctionDef)]
    if not functions:
        return program, frozenset()
    names = program.names.copy()
    body, passing = program.tree.body, set[str]()
    for function in functions[::-1]:  # functions that read others are defined after them
        once = sum(f.name == function.name for f in functions) == 1
        if not once or not is_only_passed(body, function.name, may_keep):
            continue
        passing.add(function.name)
        if is_changed(body, function):
            made = _Renewed(function, names)
            renewed = None if names_read(defaults_of(function)) else made.within(body)
            body = body if renewed is None else renewed
            passing = passing - {function.name} if renewed is None else passing | set(made.copies)
    tree = rebuilt(program.tree, body=body)
    known = program.locals | bound_names(tree)
    return program.with_tree(tree, names=names, locals=known), frozenset(passing)


def is_only_passed(
    body: list[Node], name: str, may_keep: MayKeep, asked: frozenset[str] = frozenset()
) -> bool:
    """Whether a function is only called, and passed to calls that do not keep it, also by functions that do
    not escape; `asked` are the functions already visited.
    """
    allowed = 0
    for s in own_statements(body):
        if isinstance(s, gast.FunctionDef):
            count = loaded([s], name)
            if count and not any(name in names_read(d) for d in defaults_of(s)):
                known = asked | {name}
                is_passed = s.name in known or is_only_passed(body, s.name, may_keep, known)
                allowed += count if is_passed and is_only_passed(s.body, name, may_keep, known) else 0
            continue
        part = header(s)
        if name in bound_here(s):
            return False
        for call in [] if part is None else find_nodes(part, gast.Call):
            given = [*call.args, *(k.value for k in call.keywords)]
            count = sum(isinstance(a, gast.Name) and a.id == name for a in given)
            allowed += isinstance(call.func, gast.Name) and call.func.id == name
            allowed += count if count and not may_keep(call, name) else 0
    return allowed == loaded(body, name)


def header(s: Node) -> Node | None:
    """The expression that a simple statement, or a loop's header, evaluates and that may be a call."""
    return s.iter if isinstance(s, gast.For) else None if blocks_of(s) else s


def loaded(trees: list[Node], name: str) -> int:
    """How often a name is read."""
    names = [n for t in trees for n in find_nodes(t, gast.Name)]
    return sum(n.id == name and isinstance(n.ctx, gast.Load) for n in names)


def is_changed(body: list[Node], function: Node) -> bool:
    """Whether a variable that a function reads may be assigned after its definition: below it, or in a loop
    around it.
    """
    read = free_names(function) - {function.name}
    behind = False
    for s in own_statements(body):
        if s is function:
            behind = True
            continue
        is_loop = isinstance(s, (gast.For, gast.While))
        behind = behind or (is_loop and any(t is function for t in own_statements(s.body)))
        if behind and read & set(assigned_names(s)):
            return True
    return False


class _Renewed(Rewriter):
    """Defines a function before each statement that uses it; `copies` are its names there."""

    def __init__(self, function: Node, names: Names) -> None:
        self.definition, self.names = function, names
        self.copies: list[str] = []

    def within(self, body: list[Node]) -> list[Node] | None:
        """The block without the original definition; None where some use may be reached without a new one."""
        at = next((k for k, s in enumerate(body) if s is self.definition), None)
        if at is None:
            for k, s in enumerate(body):
                for n, block in enumerate(blocks_of(s)):
                    if any(t is self.definition for t in own_statements(block)):
                        found = self.within(block)
                        rest = loaded([*body[:k], *body[k + 1 :]], self.definition.name)
                        others = [t for m, b in enumerate(blocks_of(s)) if m != n for t in b]
                        if found is None or rest or loaded(others, self.definition.name):
                            return None
                        blocks = [found if m == n else b for m, b in enumerate(blocks_of(s))]
                        return [*body[:k], with_blocks(s, blocks), *body[k + 1 :]]
            return None
        if loaded(body[:at], self.definition.name):
            return None
        return [*body[:at], *self.block(body[at + 1 :])]

    def statement(self, s: Node) -> list[Node]:
        name, part = self.definition.name, header(s)
        if part is None or name not in names_read(part):
            return [self.inside(s)]
        copy = copied_function(self.definition, self.names.fresh) if self.copies else self.definition
        self.copies.append(copy.name)
        put = partial(substitute, mapping={name: load(copy.name)})
        return [copy, self.inside(rebuilt(s, iter=put(s.iter)) if isinstance(s, gast.For) else put(s))]
