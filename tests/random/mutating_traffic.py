"""Statements of random programs that pass arrays around: lists that change, exchanges, what loops leave."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from tests.random.mutating_expressions import Expressions, Scope

__all__ = ["Traffic"]


class Traffic(Expressions):
    """Writes such statements into a module."""

    @abstractmethod
    def emit(self, indent: int, text: str) -> None: ...

    @abstractmethod
    def name(self, start: str) -> str: ...

    @abstractmethod
    def block(self, scope: Scope, indent: int) -> None: ...

    def held(self, scope: Scope) -> tuple[str, list[str], Any] | None:
        """A list or dict of arrays, the places in it, and what it holds."""
        found = [
            (n, [f"{n}[{k!r}]" for k in (v if isinstance(v, dict) else range(len(v)))], v)
            for n, v in scope.values.items()
            if isinstance(v, (list, dict))
        ]
        return self.pick(*found) if found else None

    def remade(self, scope: Scope, indent: int) -> None:
        """A container of what another one holds, or of rows."""
        text, value = self.pick(*scope.writable())
        found = [(n, v) for n, v in scope.values.items() if isinstance(v, (list, tuple, dict))]
        forms = [f"list({text})" if value.ndim > 1 and len(value) else f"[{text}]"]
        if found:
            name, held = self.pick(*found)
            if isinstance(held, dict):
                forms = [f"list({name}.values())", f"dict({name})", f"{name}.copy()"]
                forms += [f"{{**{name}, 'z': {text}}}", f"{name} | {{'z': {text}}}"]
            elif isinstance(held, list):
                forms = [f"list({name})", f"{name}.copy()", f"{name} + [{text}]", f"{name} * 2"]
                forms += [f"[{text}] + {name}", f"tuple({name})", f"{name}[::-1]", f"[u for u in {name}]"]
            else:
                forms = [f"list({name})", f"{name} + ({text},)", f"tuple({name})"]
            if not isinstance(held, dict) and len(held) > 1:
                forms.append(f"{name}[1:]")
        made, new = self.pick(*forms), self.name("h")
        self.emit(indent, f"{new} = {made}")
        scope.values[new] = scope.evaluate(made)

    def iterated_names(self, scope: Scope, indent: int) -> None:
        """A loop that changes what a container holds."""
        found = [(n, v) for n, v in scope.values.items() if isinstance(v, (list, tuple, dict)) and len(v)]
        if not found:
            self.remade(scope, indent)
            return
        name, held = self.pick(*found)
        key, u = self.name("k"), self.name("u")
        change = self.pick("*= s", "+= 0.3 * s", "-= 0.2 * s", "*= 0.5")
        heads = [f"for {u} in {name}:\n    {u} {change}"]
        if isinstance(held, dict):
            heads = [
                f"for {u} in {name}.values():\n    {u} {change}",
                f"for {key}, {u} in {name}.items():\n    {u} {change}",
                f"for {key} in {name}:\n    {name}[{key}] {change}",
                f"for {key}, {u} in {name}.items():\n    {name}[{key}] -= 0.1 * {u}",
            ]
        elif isinstance(held, list):
            heads += [
                f"for {key} in range(len({name})):\n    {name}[{key}] {change}",
                f"for {key}, {u} in enumerate({name}):\n    {u} {change}",
                f"for {key}, {u} in zip({name}, {name}[::-1]):\n    {key}[0] {change}\n    {u}[-1] {change}",
            ]
        self.emit(indent, self.pick(*heads))

    def collected(self, scope: Scope, indent: int) -> None:
        """A list that a loop fills with arrays: new ones, views, or always the same."""
        text, value = self.pick(*scope.writable())
        name, row = self.name("h"), self.name("w")
        forms = [f"{text} * s", f"np.sin({text})", f"{text}.copy()", f"{text}[::-1]", f"{text}[[0, -1]]"]
        born = self.pick(*forms, text)
        found = scope.evaluate(born)
        match self.pick("append", "comprehension", "rows", "after"):
            case "comprehension":
                self.emit(indent, f"{name} = [{born} for _ in range(3)]")
                scope.values[name] = [found] * 3
            case "rows" if value.ndim > 1:
                self.emit(indent, f"{name} = [{row} for {row} in {text}]")
                scope.values[name] = [value[0]] * len(value)
            case "after":
                self.emit(indent, f"for {row} in range(2):")
                self.emit(indent + 1, f"{name} = {born}")
                self.emit(indent + 1, f"{name}[0] = {self.leaf(scope, found.shape[1:])}")
                scope.values[name] = found
            case _:
                self.emit(indent, f"{name} = []")
                self.emit(indent, f"for {self.name('i')} in range(3):")
                self.emit(indent + 1, f"{row} = {born}")
                self.emit(indent + 1, f"{name}.append({row})")
                if self.chance(2):
                    self.emit(indent + 1, f"{row} *= 0.7")
                scope.values[name] = [found] * 3

    def placed(self, scope: Scope, indent: int) -> None:
        """An array put into a list or dict, in the place of another."""
        found = self.held(scope)
        if found is None:
            self.collected(scope, indent)
            return
        name, places, value = found
        place = self.pick(*places)
        shape = np.shape(scope.evaluate(place))
        same = [t for t, v in scope.writable() if v.shape == shape]
        match self.pick("put", "exchange", "slice", "new", "over"):
            case "exchange":
                others = [p for p in places if np.shape(scope.evaluate(p)) == shape]
                other = self.pick(*others)
                self.emit(indent, f"{place}, {other} = {other}, {place}")
            case "slice" if isinstance(value, list) and len(value) > 1:
                new = self.name("g")
                self.emit(indent, f"{new} = {name}[1:]")
                scope.values[new] = value[1:]
            case "new":
                self.emit(indent, f"{place} = {place} * np.cos(s)")
            case "over":
                row = self.name("r")
                self.emit(indent, f"for {row} in {name if isinstance(value, list) else f'{name}.values()'}:")
                self.emit(indent + 1, f"{row} *= 0.8")
            case _:
                self.emit(indent, f"{place} = {self.pick(*same)}")

    def exchanges(self, scope: Scope, indent: int) -> None:
        """A `while` loop that exchanges two names, and may leave before."""
        names = [t for t, v in scope.writable() if t.isidentifier()]
        pairs = [
            (a, b) for a in names for b in names if a < b and scope.values[a].shape == scope.values[b].shape
        ]
        if not pairs:
            self.collected(scope, indent)
            return
        left, right = self.pick(*pairs)
        counter = self.name("k")
        self.emit(indent, f"{counter} = 0")
        self.emit(indent, f"while {self.pick(f'{counter} < 3', 'True')}:")
        inside = scope.copy()
        self.block(inside, indent + 1)
        if self.chance(2):
            self.emit(indent + 1, f"{left}[1:] = 0.6 * {right}[:-1]")
        exchange = f"{left}, {right} = {right}, {left}"
        self.emit(indent + 1, self.pick(exchange, f"if {counter} != 1:\n    {exchange}"))
        self.emit(indent + 1, f"{counter} += 1")
        self.emit(indent + 1, f"if {counter} > {self.pick('1', '2', 'n')}:\n    break")
