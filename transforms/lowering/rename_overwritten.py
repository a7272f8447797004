"""Replaces a store into a whole array by a new array.

Form: the single-assignment form, in and out. A value that is computed from an array element by element and
then stored into all of it takes its name, if both have one form and the old array has no alias.

    out = x - b                  out = x - b
    out_1 = np.exp(out)          out_1 = np.exp(out)
    out[...] = out_1       ->    total = np.sum(out_1)
    total = np.sum(out)
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.find_aliases import find_aliases
from ..trees.nodes import assigned_names, blocks_of, find_nodes, load, loads, own_statements, read_counts
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt, substitute

__all__ = ["rename_overwritten"]


def rename_overwritten(facts: Facts) -> Program:
    """The program without such stores."""
    program = facts.program
    if not any(map(_is_whole, find_nodes(program.tree, gast.Assign))):
        return program
    found = _Finder(facts).found(program.tree.body)
    if not found:
        return program
    origins = dict(program.origins)
    for s in found.values():
        base = s.targets[0].value.id
        origins[s.value.id] = origins.get(base, base)

    def block(statements: list[Any]) -> list[Any]:
        renamed: dict[str, Any] = {}
        result = []
        for s in statements:
            if id(s) in found:
                renamed[s.targets[0].value.id] = load(s.value.id)
                continue
            s = s if isinstance(s, gast.FunctionDef) else map_blocks(s, block)
            result.append(substitute(s, renamed) if renamed else s)
        return result

    return program.with_tree(rebuilt(program.tree, body=block(program.tree.body)), origins=origins)


class _Finder:
    def __init__(self, facts: Facts) -> None:
        self.facts, program = facts, facts.program
        self.reads = read_counts(program.tree)
        statements = own_statements(program.tree.body)
        self.bound = Counter(name for s in statements for name in _bound(s))
        self.captured = {n for s in statements if isinstance(s, gast.FunctionDef) for n in _names(s)}

    def found(self, statements: list[Any]) -> dict[int, Any]:
        """The stores that are dropped, by their ids, in a block and its inner blocks."""
        found: dict[int, Any] = {}
        made: dict[str, Any] = {}
        for k, s in enumerate(statements):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    made[name] = value
                case gast.Assign(targets=[gast.Subscript(value=gast.Name(id=base))]) if (
                    _is_whole(s)
                    and base in made
                    and self.is_new(base, s, made.get(s.value.id))
                    and self.reads[base] == sum(_names(other).count(base) for other in statements)
                    and not any(base in assigned_names(other) for other in statements[k + 1 :])
                ):
                    found[id(s)] = s
                case gast.FunctionDef():
                    pass
                case _:
                    for block in blocks_of(s):
                        found.update(self.found(block))
        return found

    def is_new(self, base: str, s: Any, value: Any) -> bool:
        """Whether the value of a store may replace the array that it was computed from."""
        name = s.value.id
        return (
            value is not None
            and base in loads(value)
            and self.reads[name] == self.bound[name] == self.bound[base] == 1
            and not {base, name} & self.captured
            and self.facts.is_elementwise(value)
            and self.is_like(base, name)
            and not self.facts.of(find_aliases).others(base, s)
            and not self.facts.of(find_aliases).loops_over(base, s)
        )

    def is_like(self, base: str, name: str) -> bool:
        """Whether the elementwise result `name` has the shape and dtype of `base`, given that it can be
        stored into it.
        """
        kinds = self.facts.kind_of_name(base), self.facts.kind_of_name(name)
        return self.facts.domain.update_nature(*kinds) == "same"


def _is_whole(s: Any) -> bool:
    """Whether a statement stores a name into all of an array: `a[...] = v`."""
    match s:
        case gast.Assign(targets=[gast.Subscript(slice=gast.Constant(value=index))], value=gast.Name()):
            return index is ...
    return False


def _bound(s: Any) -> list[str]:
    return assigned_names(s) if isinstance(s, (gast.Assign, gast.AugAssign, gast.FunctionDef)) else []


def _names(s: Any) -> list[str]:
    """The names that a statement loads, inner blocks included, with repetitions."""
    return [n.id for n in find_nodes(s, gast.Name) if isinstance(n.ctx, gast.Load)]
