"""Reads shapes from arrays that the reverse sweep has anyway.

Form: the single-assignment form. Code that reads only the shape and dtype of an array may read those of any
array with the same: of one that the user has named, and in a loop of a loop-invariant one, so that the trace
keeps no array for its shape.

    loss_1 = (z - y) ** 2
    loss = np.mean(loss_1)            dloss / z.size        rather than        dloss / loss_1.size
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import gast

from ..analyses.find_overwrites import SHAPE_ATTRIBUTES
from ..analyses.operations import Alias, Apply
from ..trees.nodes import blocks_of, load, own_statements, places_of, target_names
from ..trees.rebuild import map_children, rebuilt
from .rule_application import Emitter

__all__ = ["ShapeSources"]


class ShapeSources:
    """The arrays of the same shape and dtype in a program."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.found: dict[tuple[str, tuple[int, ...], bool], str] = {}
        self.around: dict[int, tuple[int, ...]] = {}  # the loops around each statement

    @cached_property
    def _definitions(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        """The value of each name that is assigned once, and the loops around the assignment."""
        found: dict[str, tuple[Any, tuple[int, ...]]] = {}
        again: set[str] = set()

        tree = self.emitter.program.tree
        for s in own_statements(tree.body):
            loops = tuple(map(id, places_of(tree)[id(s)].loops))
            self.around[id(s)] = loops
            inner = (*loops, id(s)) if isinstance(s, (gast.For, gast.While)) else loops
            for name, value in _assigned(s):
                if name in found:
                    again.add(name)
                found[name] = value, inner
        return {n: (None if n in again else value, loops) for n, (value, loops) in found.items()}

    def _chain(self, name: str, of_any_dtype: bool) -> Iterator[str]:
        """The name, and the names that it was computed from that have its shape and dtype."""
        emitter = self.emitter
        kind = emitter.kind(load(name))
        while True:
            yield name
            value, _ = self._definitions.get(name, (None, ()))
            if value is None:
                return
            operation = emitter.operation(value)
            operands: list[Any] = []
            if isinstance(operation, Alias):
                operands = [operation.source]
            elif isinstance(operation, Apply):
                rule = emitter.primitives.find_rule(operation.function)
                place = emitter.domain.made_like(operation.function)
                if place is not None and not operation.keywords:
                    operands = list(operation.args[place : place + 1])
                elif rule is not None and rule.structure == "elementwise":
                    operands = [
                        a
                        for a in operation.operands()
                        if emitter.shape_plan(operation, a, name) == "none"
                        or (of_any_dtype and emitter.lends_shape(operation, a, name))
                    ]
            alike = [
                a.id
                for a in operands
                if isinstance(a, gast.Name)
                and (of_any_dtype or emitter.domain.are_alike(emitter.kind(a), kind))
            ]
            if not alike:
                return
            name = alike[0]

    def _source(self, name: str, loops: tuple[int, ...], of_any_dtype: bool = False) -> str:
        key = name, loops, of_any_dtype
        if key not in self.found:
            self.found[key] = self._chosen(*key)
        return self.found[key]

    def _chosen(self, name: str, loops: tuple[int, ...], of_any_dtype: bool) -> str:
        emitter = self.emitter
        if name not in emitter.program.locals or not emitter.domain.is_array(emitter.kind(load(name))):
            return name
        chain = list(self._chain(name, of_any_dtype))
        named = [n for n in chain if not re.search(r"_\d+$", emitter.program.origins.get(n, n))]
        for other in chain if loops else ():
            _, around = self._definitions.get(other, (None, ()))
            if len(around) < len(loops) and around == loops[: len(around)]:
                return other
        return named[0] if named else chain[-1]  # the first one exists in any case

    def given_like(self, name: str) -> str | None:
        """A parameter that is never assigned and has the shape and dtype of another array."""
        parameters = {p.id for p in self.emitter.program.tree.args.args} - self._definitions.keys()
        return next((n for n in self._chain(name, False) if n in parameters), None)

    def redirect(self, statement: Any, code: list[Any]) -> list[Any]:
        """The reverse code of a statement with reads of shapes redirected."""
        if not code or not self._definitions:
            return code
        loops = self.around[id(statement)]
        # inner blocks were redirected when they were written
        return [c if blocks_of(c) else self.redirected(c, loops) for c in code]

    def redirected(self, code: Any, loops: tuple[int, ...]) -> Any:
        if isinstance(code, (gast.Name, gast.Constant)):
            return code
        code = map_children(code, lambda child: self.redirected(child, loops))
        match code:
            case gast.Attribute(value=gast.Name(id=name), attr=attr) if attr in SHAPE_ATTRIBUTES:
                source = self._source(name, loops, of_any_dtype=attr != "dtype")
                return code if source == name else rebuilt(code, value=load(source))
            case gast.Call(func=func, args=args):
                function = self.emitter.object_of(func)
                new = list(args)
                for k in self.emitter.primitives.shape_only(function):
                    if k < len(new) and isinstance(new[k], gast.Name):
                        source = self._source(new[k].id, loops)
                        new[k] = new[k] if source == new[k].id else load(source)
                is_shape = function is self.emitter.primitives.array_function("shape")
                if is_shape and self.emitter.domain.is_array(self.emitter.kind(new[0])):
                    return gast.Attribute(value=new[0], attr="shape", ctx=gast.Load())
                same = all(a is b for a, b in zip(new, args, strict=True))
                return code if same else rebuilt(code, args=new)
        return code


def _assigned(s: Any) -> Iterator[tuple[str, Any]]:
    """The names that a statement assigns, each with its value if that is one expression."""
    if isinstance(s, gast.Assign):
        whole = isinstance(s.targets[0], gast.Name)
        yield from ((n, s.value if whole else None) for t in s.targets for n in target_names(t))
    elif isinstance(s, gast.For):
        yield from ((n, None) for n in target_names(s.target))
