"""Raises where a branch leaves a variable unbound that is read next.

Form in: the normal form, and `del` of names. Form out: the normal form, with a `raise` in the arms of
branches at whose ends a variable is unbound that every path from there reads, and in the place of a statement
that reads an unbound variable. A derivative that does not need the value then raises what the function
raises. Refuses a read of a variable that a `del` has unbound on some of the paths.

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

from collections.abc import Iterable
from typing import Any, NamedTuple

import gast

from ..analyses.find_live import cannot_raise
from ..analyses.liveness import arms_of, ends_in_raise, free_names
from ..trees.bind_objects import Objects
from ..trees.nodes import (
    assigned_names,
    bound_here,
    call,
    constant,
    defaults_of,
    header_of,
    located,
    names_read,
    own_statements,
)
from ..trees.program import Program
from ..trees.rebuild import bound_names, with_blocks, with_body
from .to_ssa import leaves

__all__ = ["raise_unbound"]

Node = Any  # gast publishes no types
Names = frozenset[str]
NOTHING: Names = frozenset()


def raise_unbound(program: Program, names: Names | None = None) -> Program:
    """The program without `del`, and with a `raise` on the paths that leave a variable unbound that is read
    next: one of `names`, which the program has bound before, or by default any variable.
    """
    writer = _Writer(program, names)
    tree = writer.function(program.tree)
    if tree is program.tree:
        return program
    return program.with_tree(tree, bindings=writer.objects.all_bindings())


class Paths(NamedTuple):
    """The variables that are unbound at a place: on every path to it, and on some path, by `del`."""

    unbound: Names
    deleted: Names

    def without(self, bound: Iterable[str]) -> Paths:
        return Paths(self.unbound.difference(bound), self.deleted.difference(bound))


class _Writer:
    def __init__(self, program: Program, names: Names | None) -> None:
        self.program, self.names = program, names
        self.lost = (names or NOTHING) - bound_names(program.tree)  # which nothing binds any more
        self.objects = Objects(program, program.names.copy())
        self.captured: dict[str, set[str]] = {}  # what nested functions read when they are called

    def function(self, tree: Node) -> Node:
        own = frozenset(assigned_names(tree.body))
        own = own if self.names is None else (own & self.names) | (self.lost - bound_names(tree))
        body, _ = self.block(tree.body, Paths(own - bound_names(tree.args), NOTHING), NOTHING)
        if ends_in_raise(body):  # a function ends with a `return`
            body = [*body, located(gast.Return(value=constant(None)), body[-1])]
        return with_body(tree, body)

    def block(self, block: list[Node], paths: Paths, after: Names) -> tuple[list[Node], Paths]:
        """A block without `del`, and what is unbound at its end; `paths` tell what is at its beginning,
        `after` are the variables that every path from its end reads first.
        """
        result: list[Node] = []
        for s, read in zip(block, _read_next(block, after)[1:], strict=True):
            if missing := _read_by(s) & paths.unbound:
                return [*result, self.failure(missing, s)], paths
            self.check(s, paths.deleted)
            if isinstance(s, gast.Delete):
                paths = Paths(paths.unbound | _read_by(s), paths.deleted | _read_by(s))
                continue
            new, paths = self.statement(s, paths, read)
            result.append(new)
        return result, paths

    def check(self, s: Node, deleted: Names) -> None:
        """Refuses a read of a variable that a `del` may have unbound."""
        if not deleted:
            return
        read = set(_read_by(s))
        while more := set[str]().union(*(self.captured.get(name, set()) for name in read)) - read:
            read |= more
        if missing := read & deleted:
            self.program.refuse(
                s,
                f"`{min(missing)}` may be read here after a `del`",
                "whether it is bound then is known at run time only",
                "leave the `del` out, or assign the variable again",
            )

    def statement(self, s: Node, paths: Paths, read: Names) -> tuple[Node, Paths]:
        """A statement, and what is unbound after it; `read` are the variables that are read next."""
        match s:
            case gast.FunctionDef():
                self.captured[s.name] = free_names(s)
                return self.function(s), paths.without([s.name])
            case gast.If():
                arms, end = self.joined(s, [self.block(arm, paths, read) for arm in arms_of(s)], read)
                return with_blocks(s, arms), end
            case gast.With():
                body, end = self.block(s.body, paths.without(bound_here(s)), read)
                return with_blocks(s, [body]), end
            case gast.Try(handlers=[]):
                body, end = self.block(s.body, paths, NOTHING)
                final, end = self.block(s.finalbody, Paths(end.unbound, end.deleted | _deleted(s.body)), read)
                return with_blocks(s, [body, [], final]), end
            case gast.Try():
                return self.attempt(s, paths, read)
            case gast.For() | gast.While():
                unbound, deleted = paths.unbound.difference(assigned_names(s)), paths.deleted
                while True:
                    body, end = self.block(s.body, Paths(unbound, deleted).without(bound_here(s)), NOTHING)
                    if end.deleted <= deleted:
                        return with_blocks(s, [body, []]), Paths(unbound, deleted)
                    deleted |= end.deleted
        return s, paths.without(assigned_names(s))

    def attempt(self, s: Node, paths: Paths, read: Names) -> tuple[Node, Paths]:
        """A `try` with handlers, which may find what its body has bound before an exception."""
        body, end = self.block(s.body, paths, NOTHING)
        last = max((k for k, n in enumerate(s.body) if not cannot_raise(n)), default=0)
        unbound = paths.unbound.difference(assigned_names(s.body[:last]))
        begin = Paths(unbound, paths.deleted | _deleted(s.body))
        found = [self.block(s.orelse, end, read)]
        found += [self.block(h.body, begin.without(n.id for n in [h.name] if n), read) for h in s.handlers]
        (orelse, *handlers), end = self.joined(s, found, read)
        return with_blocks(s, [body, *handlers, orelse, []]), end

    def joined(
        self, s: Node, arms: list[tuple[list[Node], Paths]], read: Names
    ) -> tuple[list[list[Node]], Paths]:
        """Arms that raise where a variable is unbound that other arms bind, and what is unbound after them.
        """
        ends = [end for arm, end in arms if not leaves(arm)]
        unbound = frozenset.intersection(*(end.unbound for end in ends)) if ends else NOTHING
        kept = [end for end in ends if not (end.unbound - unbound) & read] or ends[-1:]
        blocks = [
            arm if leaves(arm) or end in kept else [*arm, self.failure((end.unbound - unbound) & read, s)]
            for arm, end in arms
        ]
        unbound = frozenset.intersection(*(end.unbound for end in kept)) if kept else NOTHING
        return blocks, Paths(unbound, NOTHING.union(*(end.deleted for end in kept)))

    def failure(self, missing: Names, s: Node) -> Node:
        name = self.program.origins.get(min(missing), min(missing))
        message = f"cannot access local variable {name!r} where it is not associated with a value"
        exception = call(self.objects.name(UnboundLocalError), constant(message))
        return located(gast.Raise(exc=exception, cause=None), s)


def _deleted(block: list[Node]) -> Names:
    """The variables that a block unbinds."""
    return NOTHING.union(*(_read_by(s) for s in own_statements(block) if isinstance(s, gast.Delete)))


def _read_by(s: Node) -> Names:
    """The variables that a statement reads before it runs a block; a `del` must find them bound, too."""
    if isinstance(s, gast.Delete):
        return frozenset(n.id for n in s.targets)
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
        elif isinstance(s, gast.With):
            after = _read_next(s.body, after)[0] - frozenset(bound_here(s))
        elif isinstance(s, (gast.Raise, gast.Return, gast.Break)):
            after = NOTHING
        else:
            after -= frozenset(assigned_names(s))
        after |= _read_by(s)
        found.append(after)
    return found[::-1]
