"""Moves nested functions after the assignments of the variables that they read.

Form in: the normal form. Form out: the same, in which a nested function is defined after the last assignment
of a variable that it reads, if nothing uses it before. Of mutually recursive nested functions each has the
others inside.

A function reads its variables when it is called, so the place of its definition makes no difference to its
value; its adjoint holds the variables that are bound at that place.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(order_definitions(program_of('''
... def f(x):
...     def g(t):
...         y = a * t
...         return y
...     a = x * x
...     out = map(g, a)
...     return out
... ''')).tree), end="")
def f(x):
    a = x * x
<BLANKLINE>
    def g(t):
        y = a * t
        return y
    out = map(g, a)
    return out
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.liveness import free_names
from ..trees.nodes import (
    assigned_names,
    binding_counts,
    defaults_of,
    find_nodes,
    load,
    names_read,
    own_statements,
    walk,
)
from ..trees.program import Names, Program
from ..trees.rebuild import copied_function, map_blocks, rebuilt, substitute

__all__ = ["order_definitions"]

Node = Any  # gast publishes no types

GROUP = 3  # mutually recursive functions at most


def order_definitions(program: Program) -> Program:
    """The program with nested functions after the variables that they read."""
    nested = [n for n in find_nodes(program.tree, gast.FunctionDef) if n is not program.tree]
    if not nested:
        return program
    placer = _Placer(program)
    tree = rebuilt(program.tree, body=placer.block(program.tree.body))
    return program.with_tree(tree, names=placer.names)


class _Placer:
    def __init__(self, program: Program) -> None:
        self.names: Names = program.names.copy()
        self.bound = binding_counts(program.tree)

    def block(self, statements: list[Node]) -> list[Node]:
        statements = [map_blocks(s, self.block) for s in self.nest(statements)]
        return ordered(statements) if any(isinstance(s, gast.FunctionDef) for s in statements) else statements

    # ------------------------------------------------------------ mutually recursive functions

    def nest(self, statements: list[Node]) -> list[Node]:
        """The block in which mutually recursive functions have the others inside."""
        functions = {s.name: s for s in statements if isinstance(s, gast.FunctionDef)}
        if len(functions) < 2:
            return statements
        reached = reachable({name: free_names(s) & functions.keys() for name, s in functions.items()})
        result = []
        for s in statements:
            if isinstance(s, gast.FunctionDef) and s.name in functions:
                group = [n for n in functions if n in reached[s.name] and s.name in reached[n]]
                others = [functions[n] for n in group if n != s.name]
                if others and len(group) <= GROUP and all(self.can_move(functions[n]) for n in group):
                    s = self.holding(s, others)
            result.append(s)
        return result

    def can_move(self, function: Node) -> bool:
        """Whether the place of the function's definition makes no difference."""
        read = [name for d in defaults_of(function) for name in names_read(d)]
        return self.bound[function.name] == 1 and all(self.bound[name] <= 1 for name in read)

    def holding(self, function: Node, others: list[Node]) -> Node:
        """The function with copies of others at the start of its body."""
        copies = [copied_function(other, self.names.fresh) for other in others]
        own = {other.name: load(copy.name) for other, copy in zip(others, copies, strict=True)}
        return rebuilt(function, body=[substitute(s, own) for s in (*copies, *function.body)])


def reachable(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """For each node the nodes that a path leads to."""
    found = {name: set(targets) for name, targets in edges.items()}
    while True:
        size = sum(map(len, found.values()))
        for targets in found.values():
            for target in list(targets):
                targets |= found.get(target, set())
        if sum(map(len, found.values())) == size:
            return found


# ---------------------------------------------------------------- order


def ordered(statements: list[Node]) -> list[Node]:
    """The block with each function after the assignments of the variables that it reads, where that is
    possible.
    """
    result = list(statements)
    for _ in result:
        moves = ((place, target_of(result, place)) for place in reversed(range(len(result))))
        place, target = next(((p, t) for p, t in moves if t is not None), (0, None))
        if target is None:
            break
        result.insert(target, result.pop(place))
    return result


def target_of(statements: list[Node], place: int) -> int | None:
    """The position to which the function at `place` can be moved, after the last assignment of a variable
    that it reads; None when it is no function, stands there, or is used before.
    """
    function = statements[place]
    if not isinstance(function, gast.FunctionDef):
        return None
    read = free_names(function) - {function.name}
    last = max(
        (k for k in range(place + 1, len(statements)) if read & set(assigned_names(statements[k]))),
        default=None,
    )
    if last is None:
        return None
    fixed = {function.name, *(name for d in defaults_of(function) for name in names_read(d))}
    users = using(statements, function.name)
    passed = statements[place + 1 : last + 1]
    return None if any(stops(s, users, fixed) for s in passed) else last


def using(statements: list[Node], name: str) -> set[str]:
    """The names of the functions that may call the function `name`, itself included."""
    functions = [s for s in own_statements(statements) if isinstance(s, gast.FunctionDef)]
    reached = reachable({s.name: free_names(s) for s in functions})
    return {name, *(s.name for s in functions if name in reached[s.name])}


def stops(statement: Node, users: set[str], fixed: set[str]) -> bool:
    """Whether the definition of a function, which `users` may call, cannot move past the statement."""
    if fixed & set(assigned_names(statement)):
        return True
    if isinstance(statement, gast.FunctionDef):
        return any(users & set(names_read(d)) for d in defaults_of(statement))
    is_used = bool(users & set(names_read(statement)))
    return is_used or any(isinstance(n, gast.Break) for n in walk(statement))
