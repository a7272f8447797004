"""The natures of names whose kinds are unknown, in a program with a heap, from their bindings and uses."""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import blocks_of, bound_here, load, read_counts, statements_in
from ..trees.program import Program
from ..trees.rebuild import parameters
from .heap_values import HeapValues

__all__ = ["bindings_of", "find_displays", "infer_natures", "largest"]

Node = Any  # gast publishes no types


def bindings_of(program: Program) -> dict[str, list[Node]]:
    """The bindings of each name: values, and None for any other binding."""
    found: dict[str, list[Node]] = {p.id: [None] for p in parameters(program.tree)}
    for s in statements_in(program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                found.setdefault(name, []).append(value)
            case gast.AugAssign(target=gast.Name(id=name), op=op, value=value):
                both = gast.BinOp(left=load(name), op=op, right=value)
                found.setdefault(name, []).append(both)
            case _:
                for name in bound_here(s):
                    found.setdefault(name, []).append(None)
    return found


def infer_natures(program: Program, values: HeapValues) -> dict[str, str]:
    """The natures of names whose kinds do not tell them, and that surely are numbers."""
    bound = bindings_of(program)
    unknown = {n for n in bound if values.of(load(n)) == "unknown"}

    def is_number(value: Node, names: set[str]) -> bool:
        match value:
            case gast.Name():
                return value.id in names or values.of(value) == "plain"
            case gast.Constant(value=number):
                return number is not None
            case gast.Call():
                return values.gives_number(value)
            case gast.UnaryOp():
                return True
            case gast.BinOp(left=a, right=b):
                return not any(values.of(x) == "object" for x in (a, b))
            case gast.Attribute(value=x, attr="shape") if values.is_array(x):
                return True
        return False

    numbers = largest(unknown, lambda n, names: all(is_number(v, names) for v in bound[n]))
    return dict.fromkeys(numbers, "plain")


def find_displays(program: Program, values: HeapValues) -> set[str]:
    """The lists of numbers, and of such lists, that are made for one call of a primitive, directly in front
    of it: values, which nothing else holds.
    """
    bound, read = bindings_of(program), read_counts(program.tree)
    found: set[str] = set()

    def once(nodes: list[Node]) -> set[str]:
        """The displays among some atoms, which are read nowhere else."""
        names = [n.id for n in nodes if isinstance(n, gast.Name) and read[n.id] == 1]
        return {n for n in names if [type(v) for v in bound.get(n, ())] == [gast.List]}

    def is_quiet(s: Node) -> bool:
        match s:
            case gast.Assign(targets=[gast.Name()], value=value):
                return not isinstance(value, gast.Call) or values.is_primitive(value)
        return False

    def block(statements: list[Node]) -> None:
        for k, s in enumerate(statements):
            for inner in blocks_of(s):
                block(inner)
            match s:
                case gast.Assign(value=gast.Call() as value) | gast.Return(value=gast.Call() as value) if (
                    values.is_primitive(value) and values.gives_number(value)
                ):
                    taken = once([*value.args, *(word.value for word in value.keywords)])
                case _:
                    continue
            for before in statements[:k][::-1]:
                if not taken or not is_quiet(before):
                    break
                if before.targets[0].id in taken:
                    items = before.value.elts
                    taken.discard(before.targets[0].id)
                    if not any(isinstance(e, gast.Starred) for e in items):
                        found.add(before.targets[0].id)
                        taken |= once(items)

    block(program.tree.body)
    return found


def largest(names: set[str], holds: Any) -> set[str]:
    """The largest subset of the names in which `holds` is true of each."""
    while True:
        left = {n for n in names if holds(n, names)}
        if left == names:
            return names
        names = left
