"""Indices, views and values for random programs that write into arrays.

Shapes are known while writing: a scope holds, for every name, an array of ones that stands in for it, and an
expression is evaluated on these to find its own shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["Choose", "Expressions", "Scope"]

Shape = tuple[int, ...]
Choose = Callable[[tuple[Any, ...]], Any]
Value = Any


@dataclass
class Scope:
    """What is known at a place: names with stand-ins for their values, local functions with
    the length of what they write to, loop counters with a bound."""

    values: dict[str, Value]
    functions: dict[str, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)  # loop counters, and the number of their values

    def copy(self) -> Scope:
        return Scope(dict(self.values), dict(self.functions), dict(self.counters))

    def evaluate(self, text: str) -> Value:
        """The value of an expression on the stand-ins."""
        with np.errstate(all="ignore"):
            return eval(text, {"np": np, **dict.fromkeys(self.counters, 0)}, dict(self.values))

    def places(self) -> list[tuple[str, Any]]:
        """Expressions for the arrays that are held: names, elements of lists, tuples and dicts,
        and the attribute of an object."""
        found: list[tuple[str, Any]] = []
        for name, value in self.values.items():
            if isinstance(value, np.ndarray):
                found.append((name, value))
            elif isinstance(value, (list, tuple)):
                found += [(f"{name}[{k}]", v) for k, v in enumerate(value)]
            elif isinstance(value, SimpleNamespace):
                found.append((f"{name}.p", value.p))
            elif isinstance(value, dict):
                found += [(f"{name}[{k!r}]", v) for k, v in value.items()]
        return found

    def arrays(self) -> list[tuple[str, Any]]:
        """The places with floating arrays of at least one axis."""
        return [(t, v) for t, v in self.places() if v.ndim and v.dtype == np.float64]

    def writable(self) -> list[tuple[str, Any]]:
        return [(t, v) for t, v in self.arrays() if v.flags.writeable]


class Expressions:
    """Writes expressions, making every choice by `choose`."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose

    def pick(self, *options: Any) -> Any:
        return self.choose(options)

    def chance(self, n: int) -> bool:
        """True once in n; false is the simpler choice."""
        return bool(self.choose((False,) * (n - 1) + (True,)))

    # Indices

    def index(self, scope: Scope, shape: Shape, fancy: bool = True) -> str:
        """An index for an array of this shape: integers, slices, `...`, None, masks, integer arrays."""
        if fancy and self.chance(8):
            return self.fancy_index(shape)
        axes = self.pick(*range(1, len(shape) + 1))
        parts = [self.axis_index(scope, n) for n in shape[:axes]]
        if self.chance(6):
            parts = ["...", *(self.axis_index(scope, n) for n in shape[len(shape) - axes :])]
        if self.chance(8):
            parts.insert(self.pick(*range(len(parts) + 1)), "None")
        if self.chance(12):
            return "..."
        return ", ".join(parts)

    def axis_index(self, scope: Scope, n: int) -> str:
        slices = [":", "1:", ":-1", "::2", "::-1", "-2:", "1:3"] if n > 1 else [":"]
        counted = [c for c, count in scope.counters.items() if count <= n]
        return str(self.pick(*slices, "0", "-1", *counted, *counted))

    def fancy_index(self, shape: Shape) -> str:
        n = shape[0]
        form = self.pick("list", "array", "mask", "pair" if len(shape) > 1 else "list")
        if form == "mask":
            return f"np.array({[bool(self.pick(True, False)) for _ in range(n)]})"
        where = [self.pick(*range(n)) for _ in range(self.pick(1, 2, 3))]
        if form == "pair":
            return f"{where}, {[self.pick(*range(shape[1])) for _ in where]}"
        return f"np.array({where})" if form == "array" else str(where)

    # Views

    def view(self, scope: Scope, text: str, value: Any) -> str:
        """An expression for a view of an array (in a few cases for a copy, as NumPy decides)."""
        forms = ["index", "index", "index", "ravel", "reshape", "T", "new", "real", "same"]
        if value.ndim > 1:
            forms += ["swap", "move", "diagonal", "rows"]
        match self.pick(*forms):
            case "index":
                return f"{text}[{self.index(scope, value.shape, fancy=False)}]"
            case "ravel":
                return f"{text}.{self.pick('ravel', 'flatten')}()" if self.chance(2) else f"np.ravel({text})"
            case "reshape":
                return f"{text}.reshape({self.pick('-1', '-1, 1', '1, -1')})"
            case "T":
                return f"{text}.{self.pick('T', 'transpose()')}"
            case "new":
                return str(self.pick(f"np.expand_dims({text}, 0)", f"np.atleast_2d({text})", f"{text}[None]"))
            case "real":
                return str(self.pick(f"{text}.real", f"np.asarray({text})", f"np.squeeze({text})"))
            case "swap":
                return f"{text}.swapaxes(0, 1)" if self.chance(2) else f"np.swapaxes({text}, -1, 0)"
            case "move":
                return f"np.moveaxis({text}, 0, -1)"
            case "diagonal":
                return f"np.diagonal({text})"
            case "rows":
                return f"{text}[{self.pick(*range(value.shape[0]))}]"
        return text

    # Values

    def value(self, scope: Scope, shape: Shape, depth: int = 2) -> str:
        """A bounded expression that broadcasts to the shape."""
        inner = self.term(scope, shape, depth)
        return str(self.pick(inner, f"0.6 * {inner}", f"np.sin({inner})", f"np.cos({inner}) * s"))

    def term(self, scope: Scope, shape: Shape, depth: int) -> str:
        if depth == 0:
            return self.leaf(scope, shape)
        left = self.leaf(scope, shape)
        match self.pick("leaf", "leaf", "product", "sum", "wave", "quotient"):
            case "product":
                return f"{left} * {self.factor(scope, shape, depth)}"
            case "sum":
                return f"({left} {self.pick('+', '-')} {self.term(scope, shape, depth - 1)})"
            case "wave":
                return f"np.{self.pick('sin', 'tanh')}({self.term(scope, shape, depth - 1)})"
            case "quotient":
                return f"{left} / (2.5 + np.cos({self.leaf(scope, shape)}))"
        return left

    def factor(self, scope: Scope, shape: Shape, depth: int) -> str:
        return f"np.{self.pick('sin', 'tanh', 'cos')}({self.term(scope, shape, depth - 1)})"

    def leaf(self, scope: Scope, shape: Shape) -> str:
        """An array or a part of one that fits, or a number."""
        fitting = [t for t, v in scope.arrays() if fits(v.shape, shape)]
        for _ in range(2):
            text, value = self.pick(*scope.arrays())
            part = self.view(scope, text, value)
            if fits(np.shape(scope.evaluate(part)), shape):
                fitting += [part] * 2
        numbers = ["s", "0.7", *(n for n, v in scope.values.items() if isinstance(v, float) and n != "s")]
        text, value = self.pick(*scope.arrays())
        numbers += [f"np.sum({text})" if self.chance(3) else f"{text}[{element(self.pick, value.shape)}]"]
        return str(self.pick(*fitting, *fitting, self.pick(*numbers)))


def fits(shape: Shape, target: Shape) -> bool:
    """Whether an array of this shape broadcasts to the target."""
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def element(pick: Callable[..., Any], shape: Shape) -> str:
    """The index of one element."""
    return ", ".join(str(pick(0, n - 1, -1)) for n in shape)
