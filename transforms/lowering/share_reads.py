"""Shares repeated reads of an element, repeated unpacking, and repeated computations.

Form: the single-assignment form, in and out. The array or container is not changed between the reads; the
user's own variables stay. A computation is shared that gives a number, or an array that is only read.

    y_1 = x[0]              y_1 = x[0]
    y_2 = x[0]
    y_3 = np.exp(y_1)       y_3 = np.exp(y_1)
    y_4 = np.exp(y_2)
    y = y_3 * y_4    ->     y = y_3 * y_3
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.find_overwrites import find_changes
from ..analyses.liveness import is_test
from ..analyses.operations import Apply, Item
from ..analyses.steadiness import is_steady
from ..trees.nodes import (
    assigned_names,
    blocks_of,
    header_of,
    load,
    names_read,
    statements_in,
    target_names,
)
from ..trees.program import Program
from ..trees.rebuild import map_blocks, substitute, with_body

__all__ = ["share_reads"]

Reads = dict[str, tuple[list[Any], frozenset[str]]]  # by the expression read: its names, and those in it


def share_reads(facts: Facts) -> Program:
    """The program without repeated reads."""
    program = facts.program

    def is_changed(name: str) -> bool:
        """Whether a name holds an object, such as an array of indices, that is changed."""
        return facts.of(find_changes).is_changed(name)

    if not any(isinstance(s, gast.Assign) for s in statements_in(program.tree.body)):
        return program
    simple = [s for s in statements_in(program.tree.body) if not blocks_of(s)]
    assigned = Counter(n for s in simple for n in assigned_names(s))
    mapping: dict[str, Any] = {}
    values = _Values(facts)

    def is_temporary(name: str) -> bool:
        return assigned[name] == 1 and re.search(r"_\d+$", name) is not None

    def block(statements: list[Any], outside: Reads) -> list[Any]:
        known, kept = dict(outside), []
        for s in statements:
            names = frozenset(assigned_names(s))
            for key in [k for k, (_, read) in known.items() if read & names]:
                del known[key]
            if is_test(s):  # cheap arithmetic of a `while` test stays in the test
                known = {k: v for k, v in known.items() if k in outside or not values.is_cheap(v[0])}
            if blocks_of(s):
                # a read in one arm is not available in the other
                inherited = known if isinstance(s, (gast.For, gast.While, gast.With)) else {}
                kept.append(map_blocks(s, partial(block, outside=inherited)))
                continue
            s = substitute(s, mapping) if mapping else s
            base = _source(s)
            is_read = base is not None and is_steady(facts, base)
            if (is_read or values.are_of(s)) and not any(map(is_changed, names_read(s.value))):
                key = repr((len(names), gast.dump(s.value) if is_read else values.key(s.value)))
                first = known.get(key)
                if first is not None and all(map(is_temporary, names)):
                    mapping.update(zip(target_names(s.targets[0]), first[0], strict=True))
                    continue
                targets = target_names(s.targets[0])
                if first is None and all(assigned[t] == 1 for t in targets):
                    known[key] = [load(t) for t in targets], frozenset(names_read(s.value))
            kept.append(s)
        return kept

    body = block(program.tree.body, {})
    return program.with_tree(substitute(with_body(program.tree, body), mapping)) if mapping else program


def _source(s: Any) -> str | None:
    """The base of the read or unpacking in a statement; else None."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.Subscript(value=gast.Name(id=base))):
            return str(base)
        case gast.Assign(targets=[gast.Tuple(elts=elts)], value=gast.Name(id=base)):
            return str(base) if all(isinstance(e, gast.Name) for e in elts) else None
    return None


class _Values:
    """The computations whose results have no identity: floats, and arrays that are only computed with."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.readers: dict[str, list[Any]] = {}
        for s in statements_in(facts.program.tree.body):
            for name in names_read(header_of(s)):
                self.readers.setdefault(name, []).append(s)

    def are_of(self, s: Any) -> bool:
        """Whether a statement computes such a value from numbers and arrays, and has no other effect."""
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call() | gast.BinOp() as value):
                operation = self.facts.operation(value)
                if isinstance(operation, Apply) and self.facts.primitives.is_pure(operation.function):
                    return all(map(self.is_operand, operation.operands())) and self.is_value(name)
        return False

    def key(self, value: Any) -> Any:
        """A key of the function and its arguments."""
        operation = self.facts.operation(value)
        assert isinstance(operation, Apply)
        named = [(name, gast.dump(node)) for name, node in sorted(operation.keywords)]
        return id(operation.function), [*map(gast.dump, operation.args)], named

    def is_cheap(self, names: list[Any]) -> bool:
        """Whether names hold numbers."""
        return all(self.facts.domain.is_scalar(self.facts.kind(n)) for n in names)

    def is_operand(self, atom: Any) -> bool:
        return isinstance(atom, gast.Constant) or self.facts.domain.is_numeric(self.facts.kind(atom))

    def is_value(self, name: str) -> bool:
        domain, kind = self.facts.domain, self.facts.kind_of_name(name)
        if domain.is_scalar(kind):
            return not domain.is_integer(kind)
        return domain.is_array(kind) and all(map(self.computes, self.readers.get(name, ())))

    def computes(self, s: Any) -> bool:
        """Whether a statement makes a new value of the arrays that it reads, or views that are read so."""
        match s:
            case gast.If() | gast.While():
                return True
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                operation = self.facts.operation(value)
                if isinstance(operation, Apply) and self.facts.sharing(operation) == "fresh":
                    return self.facts.primitives.is_pure(operation.function)  # others may keep the array
                return isinstance(operation, Apply | Item) and self.is_value(name)
        return False
