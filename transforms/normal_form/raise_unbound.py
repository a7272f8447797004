"""Raises where a branch leaves a variable unbound that is read next.

Form in: the normal form. Form out: the same, with a `raise` in the arms of branches at whose ends a variable
is unbound that every path from there reads, and in the place of a statement that reads an unbound variable. A
derivative that does not need the value then raises what the function raises.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(raise_unbound(program_of('''
... def f(x, test):
...     if test:
...         y = x
...     return y
... ''')).tree), end="")
def f(x, test):
    if test:
        y = x
    else:
        raise UnboundLocalError("cannot access local variable 'y' where it is not associated with a value")
    return y
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.liveness import arms_of, ends_in_raise
from ..trees.bind_objects import Objects
from ..trees.nodes import (
    assigned_names,
    call,
    constant,
    defaults_of,
    header_of,
    located,
    names_read,
)
from ..trees.program import Program
from ..trees.rebuild import bound_names, map_blocks, with_blocks, with_body
from .to_ssa import leaves

__all__ = ["raise_unbound"]

Node = Any  # gast publishes no types
Names = frozenset[str]
NOTHING: Names = frozenset()


def raise_unbound(program: Program) -> Program:
    """The program with a `raise` on the paths that leave a variable unbound that is read next."""
    writer = _Writer(Objects(program, program.names.copy()))
    tree = writer.function(program.tree)
    if tree is program.tree:
        return program
    return program.with_tree(tree, bindings=writer.objects.all_bindings())


class _Writer:
    def __init__(self, objects: Objects) -> None:
        self.objects = objects

    def function(self, tree: Node) -> Node:
        own = frozenset(assigned_names(tree.body)) - bound_names(tree.args)
        body, _ = self.block(tree.body, own, NOTHING)
        if ends_in_raise(body):  # a function ends with a `return`
            body = [*body, located(gast.Return(value=constant(None)), body[-1])]
        return with_body(tree, body)

    def block(self, block: list[Node], unbound: Names, after: Names) -> tuple[list[Node], Names]:
        """A block, and the variables that are unbound at its end; `unbound` are those at its beginning,
        `after` those that every path from its end reads first.
        """
        result: list[Node] = []
        for s, read in zip(block, _read_next(block, after)[1:], strict=True):
            if missing := _read_by(s) & unbound:
                return [*result, self.failure(missing, s)], unbound
            new, unbound = self.statement(s, unbound, read)
            result.append(new)
        return result, unbound

    def statement(self, s: Node, unbound: Names, read: Names) -> tuple[Node, Names]:
        """A statement, and the variables that are unbound after it; `read` are those that are read next."""
        match s:
            case gast.FunctionDef():
                return self.function(s), unbound - {s.name}
            case gast.If():
                arms = [self.block(arm, unbound, read) for arm in arms_of(s)]
                ends = [end for arm, end in arms if not leaves(arm)]
                left = frozenset.intersection(*ends) if ends else NOTHING
                missing = [NOTHING if leaves(arm) else (end - left) & read for arm, end in arms]
                pairs = zip(arms, missing, strict=True)
                blocks = [[*arm, self.failure(names, s)] if names else arm for (arm, _), names in pairs]
                return with_blocks(s, blocks), left
        unbound -= frozenset(assigned_names(s))
        return map_blocks(s, lambda block: self.block(block, unbound, NOTHING)[0]), unbound

    def failure(self, missing: Names, s: Node) -> Node:
        message = f"cannot access local variable {min(missing)!r} where it is not associated with a value"
        exception = call(self.objects.name(UnboundLocalError), constant(message))
        return located(gast.Raise(exc=exception, cause=None), s)


def _read_by(s: Node) -> Names:
    """The variables that a statement reads before it runs a block."""
    if isinstance(s, gast.FunctionDef):
        return frozenset(names_read(defaults_of(s)))
    return frozenset(names_read(header_of(s)))


def _read_next(block: list[Node], after: Names) -> list[Names]:
    """The variables that every path reads before it binds them, from before each statement and from the end.
    """
    found = [after]
    for s in reversed(block):
        if isinstance(s, gast.If):
            after = frozenset.intersection(*(_read_next(arm, after)[0] for arm in arms_of(s)))
        elif isinstance(s, (gast.Raise, gast.Return, gast.Break)):
            after = NOTHING
        else:
            after -= frozenset(assigned_names(s))
        after |= _read_by(s)
        found.append(after)
    return found[::-1]
