"""Rematerialises read-only views of arrays that are changed.

Form: the single-assignment form, in and out. The adjoint of such a view, as of a broadcast one, is no view of
the array's adjoint. A view that is made and read between two changes needs no shadow.

    wide = np.broadcast_to(a, (4, 4))          a[1] = s
    a[1] = s                            ->     wide_1 = np.broadcast_to(a, (4, 4))
    y = wide * c                               y = wide_1 * c
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.find_overwrites import find_changes
from ..analyses.operations import Alias, Apply, Item
from ..trees.nodes import (
    assign,
    assigned_names,
    blocks_of,
    bound_here,
    constant,
    header_of,
    load,
    names_read,
    own_statements,
)
from ..trees.program import Program
from ..trees.rebuild import map_blocks, substitute, with_body

__all__ = ["is_open_view", "rematerialise_views"]


class _Reads:
    """The facts of expressions and names that this needs."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def shares(self, value: Any, wanted: str) -> bool:
        operation = self.facts.operation(value)
        return isinstance(operation, Apply) and self.facts.sharing(operation) == wanted

    def is_view(self, value: Any) -> bool:
        return is_open_view(self.facts, value)

    def is_part(self, value: Any) -> bool:
        """Whether a value is a part of its first operand."""
        return self.shares(value, "view") or isinstance(self.facts.operation(value), (Alias, Item))

    def is_fresh(self, value: Any) -> bool:
        """Whether a value shares no memory with its operands."""
        return self.shares(value, "fresh")

    def is_changed(self, name: str) -> bool:
        return self.facts.of(find_changes).is_changed(name)

    def is_data(self, name: str) -> bool:
        """Whether a name holds a differentiable array."""
        kind = self.facts.kind(load(name))
        return self.facts.domain.is_array(kind) and self.facts.domain.is_differentiable(kind) is not False


def is_open_view(facts: Facts, value: Any) -> bool:
    """Whether a value is a view whose elements are no part of the array: `np.broadcast_to(a, shape)`."""
    operation = facts.operation(value)
    if not isinstance(operation, Apply) or facts.sharing(operation) != "unknown":
        return False
    return facts.primitives.is_steady_view(operation.function)


def rematerialise_views(facts: Facts) -> Program:
    """The program with such views made where they are read."""
    program, reads = facts.program, _Reads(facts)
    statements = own_statements(program.tree.body)
    defined = _definitions(statements)
    views = [n for n, v in defined.items() if reads.is_view(v) and any(map(reads.is_changed, names_read(v)))]
    if not views or any(isinstance(s, gast.Try) for s in statements):
        return program  # a handler must see the exception where the view is made
    bound = Counter(name for s in statements for name in bound_here(s))
    captured = {n for s in statements if isinstance(s, gast.FunctionDef) for n in names_read(s)}

    def is_steady(name: str, parts: set[str]) -> bool:
        """Whether the definition of a name is the same view wherever the name is read."""
        atoms = names_read(defined[name])
        same = [a in parts or reads.is_data(a) or not reads.is_changed(a) for a in atoms]
        once = bound[name] == 1 and all(bound[a] <= 1 for a in atoms)
        return once and all(same) and captured.isdisjoint([name, *atoms])

    found: dict[str, Any] = {}
    for view in views:
        parts = _parts(view, defined, reads)
        uses = [s for s in statements if not parts.isdisjoint(names_read(header_of(s)))]
        if all(is_steady(n, parts) for n in parts) and all(_only_reads(s, parts, reads) for s in uses):
            found |= {name: defined[name] for name in parts}
    return _Writer(program, found).program() if found else program


def _parts(view: str, defined: dict[str, Any], reads: _Reads) -> set[str]:
    """The names of a view, of its parts, and of its base where that is a part as well."""
    found, before = {view}, 0
    todo = [view]
    while todo:
        sources = [n for n in names_read(defined[todo.pop()]) if n in defined and reads.is_part(defined[n])]
        todo += [n for n in sources if n not in found]
        found.update(sources)
    while before != len(found):
        before = len(found)
        found |= {n for n, v in defined.items() if not found.isdisjoint(names_read(v)) and reads.is_part(v)}
    return found


def _definitions(statements: list[Any]) -> dict[str, Any]:
    """The definitions of names, also of targets of unpacking."""
    found: dict[str, Any] = {}
    for s in statements:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                found[name] = value
            case gast.Assign(targets=[gast.Tuple(elts=targets)], value=gast.Name() as value):
                for k, target in enumerate(targets):
                    found[target.id] = gast.Subscript(value=value, slice=constant(k), ctx=gast.Load())
    return found


def _only_reads(s: Any, parts: set[str], reads: _Reads) -> bool:
    """Whether a statement reads only the elements of views, or makes one of them."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=value):
            return name in parts or reads.is_fresh(value)
        case gast.Assign(targets=[gast.Tuple(elts=targets)]):
            return parts.issuperset(t.id for t in targets)
        case (
            gast.Assign(targets=[gast.Subscript(value=gast.Name(id=base), slice=index)])
            | gast.AugAssign(target=gast.Subscript(value=gast.Name(id=base), slice=index))
        ):
            return base not in parts and reads.is_data(base) and parts.isdisjoint(names_read(index))
    return False


class _Writer:
    """Makes the views that statements read, by their definitions."""

    def __init__(self, program: Program, views: dict[str, Any]) -> None:
        self.before, self.views, self.names = program, views, program.names.copy()

    def program(self) -> Program:
        tree = with_body(self.before.tree, self.block(self.before.tree.body))
        return self.before.with_tree(tree, names=self.names)

    def block(self, statements: list[Any]) -> list[Any]:
        result: list[Any] = []
        for s in statements:
            if blocks_of(s) and not isinstance(s, gast.FunctionDef):
                s = map_blocks(s, self.block)
            elif self.views.keys().isdisjoint(assigned_names(s)):
                code, s = self.renewed(s, s)
                result += code
            else:
                continue
            result.append(s)
        return result

    def renewed(self, node: Any, s: Any) -> tuple[list[Any], Any]:
        """The statements that make the views read in a tree, and the tree on these."""
        code: list[Any] = []
        mapping: dict[str, Any] = {}
        for name in names_read(node):
            if name in self.views:
                before, value = self.renewed(self.views[name], s)
                again = self.names.temporary(name)
                code += [*before, assign(again, value, s)]
                mapping[name] = load(again)
        return code, substitute(node, mapping) if mapping else node
