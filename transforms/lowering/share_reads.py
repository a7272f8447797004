"""Shares repeated reads of an element, and repeated unpacking.

Form: the single-assignment form, in and out. The array or container is not changed between the reads; the
user's own variables stay.

    y_1 = x[0]              y_1 = x[0]
    y_2 = x[0]
    y = y_1 * y_2    ->     y = y_1 * y_1
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.find_overwrites import find_changes
from ..analyses.steadiness import is_steady
from ..trees.nodes import assigned_names, blocks_of, load, names_read, statements_in, target_names
from ..trees.program import Program
from ..trees.rebuild import map_blocks, substitute, with_body

__all__ = ["share_reads"]

Reads = dict[str, tuple[Any, frozenset[str]]]  # by the expression read: its name, and the names in it


def share_reads(facts: Facts) -> Program:
    """The program without repeated reads."""
    program = facts.program

    def is_changed(name: str) -> bool:
        """Whether a name holds an object, such as an array of indices, that is changed."""
        return facts.of(find_changes).is_changed(name)

    if not any(map(_source, statements_in(program.tree.body))):
        return program
    simple = [s for s in statements_in(program.tree.body) if not blocks_of(s)]
    assigned = Counter(n for s in simple for n in assigned_names(s))
    mapping: dict[str, Any] = {}

    def is_temporary(name: str) -> bool:
        return assigned[name] == 1 and re.search(r"_\d+$", name) is not None

    def block(statements: list[Any], outside: Reads) -> list[Any]:
        known, kept = dict(outside), []
        for s in statements:
            names = frozenset(assigned_names(s))
            for key in [k for k, (_, read) in known.items() if read & names]:
                del known[key]
            if blocks_of(s):
                # a read in one arm is not available in the other
                inherited = known if isinstance(s, (gast.For, gast.While, gast.With)) else {}
                kept.append(map_blocks(s, partial(block, outside=inherited)))
                continue
            base = _source(s)
            if base is not None and is_steady(facts, base) and not any(map(is_changed, names_read(s.value))):
                key = repr((len(names), gast.dump(s.value)))
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
