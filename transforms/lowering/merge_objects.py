"""Merges the names of one object.

Form in and out: the normal form. `self = tank` is dropped and `self` becomes `tank`, if neither is bound
again, or if nothing reads `self`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.liveness import free_names
from ..analyses.steadiness import find_objects
from ..trees.nodes import blocks_of, find_nodes, is_copy, load, names_read, own_statements, target_names, walk
from ..trees.program import Program
from ..trees.rebuild import rebuilt, substitute, without_statements

__all__ = ["merge_copies_of", "merge_objects"]

Place = tuple[int, tuple[int, ...]]  # the position of a statement, and the loops around it


def merge_objects(facts: Facts) -> Program:
    """The program without copies of names of objects."""
    return merge_copies_of(facts.program, facts.of(find_objects))


def merge_copies_of(program: Program, names: Container[str]) -> Program:
    """The program without copies of these names."""
    copies = [s for s in own_statements(program.tree.body) if is_copy(s) and s.value.id in names]
    if copies and (tries := find_nodes(program.tree, gast.Try)):
        copies = [s for s in copies if not _may_be_unbound(s, program, tries)]
    if not copies:
        return program
    found = _Places(program)
    renamed: dict[str, Any] = {}
    unread = {s.targets[0].id for s in copies} - found.reads.keys() - found.captured
    for s in copies:
        copy, source = s.targets[0].id, s.value.id
        while source in renamed:
            source = renamed[source].id
        if copy != source and found.are_one(copy, source):
            renamed[copy] = load(source)
    left_out = {id(s) for s in copies if s.targets[0].id in unread | renamed.keys()}
    if not left_out:
        return program
    tree = without_statements(program.tree, lambda s: id(s) in left_out)
    return program.with_tree(rebuilt(tree, body=substitute(tree.body, renamed)))


def _may_be_unbound(s: Any, program: Program, tries: list[Any]) -> bool:
    """Whether the copy of a branch is read in a `try` elsewhere, which may catch that it is unbound."""
    is_of_arm = any(n is s for b in find_nodes(program.tree, gast.If) for n in walk(b))
    reading = [t for t in tries if s.targets[0].id in names_read(t)]
    return is_of_arm and not all(any(n is s for n in walk(t)) for t in reading)


class _Places:
    """The positions where names are bound and read."""

    def __init__(self, program: Program) -> None:
        self.bound: dict[str, Place] = {
            n.id: (-1, ()) for n in walk(program.tree.args) if isinstance(n, gast.Name)
        }
        self.count = Counter(dict.fromkeys(self.bound, 1))
        self.reads: dict[str, list[Place]] = {}
        self.captured: set[str] = set()
        self.position = 0
        self.visit(program.tree.body, ())

    def visit(self, statements: list[Any], loops: tuple[int, ...]) -> None:
        for s in statements:
            self.position += 1
            inside = (*loops, self.position) if isinstance(s, (gast.For, gast.While)) else loops
            if isinstance(s, gast.FunctionDef):
                self.captured |= free_names(s)
                self.count[s.name] += 2
                continue
            blocks, items = blocks_of(s), getattr(s, "items", [])
            held = [getattr(s, "test", None), getattr(s, "iter", None), *(i.context_expr for i in items)]
            header = held if blocks else [s]
            changed = target_names(s.target) if isinstance(s, gast.AugAssign) else []
            for name in (*names_read([n for n in header if n is not None]), *changed):
                self.reads.setdefault(name, []).append((self.position, loops))
            targets = getattr(s, "targets", None) or [getattr(s, "target", None)]
            targets = [*targets, *(i.optional_vars for i in items)]
            for name in (n for t in targets if t is not None for n in target_names(t)):
                self.count[name] += 1
                self.bound[name] = self.position, inside
            for block in blocks:
                self.visit(block, inside)

    def are_one(self, copy: str, source: str) -> bool:
        """Whether two names hold one object wherever the copy is read."""
        if {copy, source} & self.captured or self.count[copy] != 1 or self.count[source] != 1:
            return False
        position, loops = self.bound[copy]
        _, around = self.bound[source]
        reads = self.reads.get(copy, [])
        return not around or (
            around == loops[: len(around)]
            and all(at > position and inside[: len(loops)] == loops for at, inside in reads)
        )
