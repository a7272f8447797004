"""Merges versions of a variable that are one object.

Form: the single-assignment form, in and out; merged names are read after changes of their object. `x += v` on
an array with aliases makes no new object; so the versions of `x` around it are copies of each other, and so
is a loop-carried one that is assigned only itself.

    x_2 = x                     for v in vs:
    for v in vs:            ->      x[...] += v
        x_2[...] += v           return x
        x_3 = x_2
        x_2 = x_3
    return x_2
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import find_nodes, is_copy, load, target_names, walk
from ..trees.program import Program
from ..trees.rebuild import rebuilt, substitute, without_statements

__all__ = ["merge_versions"]


def merge_versions(program: Program) -> Program:
    """The program without copies between versions of a variable that are always one object."""
    sources = _copies(program)
    same: dict[str, str | None] = dict.fromkeys(sources)  # None: not reached yet

    def value(name: str) -> str | None:
        return same.get(name, name)

    while True:
        before = dict(same)
        for name, found in sources.items():
            values = {v for v in map(value, found) if v is not None}
            if values:
                same[name] = values.pop() if len(values) == 1 else name
        if same == before:
            break
    mapping = {n: v for n, v in same.items() if v is not None and v != n and v not in sources}
    if not mapping:
        return program
    body = substitute(program.tree.body, {n: load(v) for n, v in mapping.items()})
    return program.with_tree(without_statements(rebuilt(program.tree, body=body), _is_needless))


def _copies(program: Program) -> dict[str, list[str]]:
    """The names that are assigned only other versions of their variable, each with these."""
    origins = program.origins
    found: dict[str, list[str]] = {}
    other: set[str] = set()
    for s in find_nodes(program.tree, gast.Assign, gast.For, gast.FunctionDef):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=source)) if (
                source in program.locals and origins.get(name, name) == origins.get(source, source)
            ):
                found.setdefault(name, []).append(source)
            case gast.Assign(targets=[target]) | gast.For(target=target):
                other.update(target_names(target))
            case gast.FunctionDef() if s is not program.tree:
                other.update(n.id for n in walk(s) if isinstance(n, gast.Name))
    return {n: sources for n, sources in found.items() if n not in other}


def _is_needless(s: Any) -> bool:
    """Whether a statement copies a name to itself."""
    return is_copy(s) and bool(s.targets[0].id == s.value.id)
