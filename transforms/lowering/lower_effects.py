"""Lowers calls that change an array to a computation and a store.

Form in: the single-assignment form, with calls that change an argument. Form out: the same, without the calls
that `rewrite` replaces by differentiable statements.

    np.add(a, b, out=c)         c_1 = np.add(a, b)          c.sort()        c_1 = np.sort(c)
                                c[...] = c_1                                c[...] = c_1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import assign, call, constant, find_nodes, load, located, names_read
from ..trees.program import Program
from ..trees.rebuild import Rewriter, rebuilt, without_statements

__all__ = ["Place", "Writer", "Written", "lower_effects", "without_unread"]

REWRITTEN = (gast.Assign, gast.AugAssign, gast.Expr, gast.For)  # statements that may be replaced


@dataclass(frozen=True)
class Place:
    """An array that a call stores into, at an index (None: everywhere).

    `fit` is the run-time helper that converts the result to the array's form, None where it has it.
    """

    base: Any
    index: Any = None
    fit: Any = None


@dataclass(frozen=True)
class Written:
    """The effect of a call: the parts of `value` are stored into `places`, or `value` itself into the only
    one; with an operator `value` is an atom and is, say, added. `result` is the call's result; `before` are
    objects that the stores need, each with its name and the expression that makes it.
    """

    value: Any
    places: Sequence[Place]
    result: Any
    before: Sequence[tuple[str, Any]] = ()
    operator: Any = None


def lower_effects(program: Program, rewrite: Callable[[Any, Writer], list[Any] | None]) -> Program:
    """The program with the statements that `rewrite(statement, writer)` returns; None leaves a statement as
    it is.
    """
    writer = Writer(program, rewrite)
    tree = writer.function(program.tree)
    if tree is program.tree:
        return program
    return program.with_tree(
        tree,
        names=writer.names,
        bindings=writer.objects.all_bindings(),
    )


def without_unread(program: Program, attributes: Sequence[str]) -> Program:
    """The program without unread names for attributes with these names."""
    read = set(names_read(program.tree.body))

    def is_unread(s: Any) -> bool:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Attribute(attr=attr)):
                return attr in attributes and name not in read
        return False

    if not any(map(is_unread, find_nodes(program.tree, gast.Assign))):
        return program
    return program.with_tree(without_statements(program.tree, is_unread))


class Writer(Rewriter):
    """Writes statements, names, and the objects that they are bound to."""

    nested = True

    def __init__(self, program: Program, rewrite: Callable[[Any, Writer], list[Any] | None]) -> None:
        self.program, self.rewrite = program, rewrite
        self.names = program.names.copy()
        self.objects = Objects(program, self.names)

    def bound(self, value: Any, hint: str) -> Any:
        """A name for an object: the hint, where that is free or means the object."""
        return load(self.objects.name(value, hint))

    def statement(self, s: Any) -> list[Any]:
        found = self.rewrite(s, self) if isinstance(s, REWRITTEN) else None
        *before, last = [s] if found is None else found
        return [*before, self.inside(last)]

    def stores(self, s: Any, found: Written) -> list[Any]:
        """The stores that replace the call `s`."""
        code = [assign(name, value, s) for name, value in found.before]
        base = found.places[0].base
        if found.operator is not None:
            whole = _at(base, constant(...))
            code.append(located(gast.AugAssign(target=whole, op=found.operator, value=found.value), s))
        else:
            value = self.names.temporary(base.id)
            code.append(assign(value, located(found.value, s), s))
            for k, place in enumerate(found.places):
                part = value
                if len(found.places) > 1:
                    part = self.names.temporary(base.id)
                    item = gast.Subscript(value=load(value), slice=constant(k), ctx=gast.Load())
                    code.append(assign(part, item, s))
                code += self.store(s, place, part)
        if isinstance(s, gast.Assign):
            code.append(rebuilt(s, value=found.result))
        return code

    def store(self, s: Any, place: Place, value: str) -> list[Any]:
        code: list[Any] = []
        base = place.base
        if place.fit is not None:
            fitted = self.names.temporary(base.id)
            fit = call(self.bound(place.fit, place.fit.__name__), load(value), base)
            code.append(assign(fitted, located(fit, s), s))
            value = fitted
        index = constant(...) if place.index is None else place.index
        return [*code, assign(_at(base, index), load(value), s)]


def _at(base: Any, index: Any) -> Any:
    return gast.Subscript(value=base, slice=index, ctx=gast.Store())

