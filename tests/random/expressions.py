"""Random expressions over the variables that are certainly defined.

A name has one type for good: a float ("f"), a vector of three ("v"), a 3 x 3 matrix ("m"), an int ("i") or
a bool ("b"). A scope maps each type to the names that are certainly defined there. An expression is bounded
when the names in it are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st

__all__ = ["POOL", "Expressions", "Scope"]

T = TypeVar("T")

# Among them what a derivative likes to call its own variables.
POOL = {
    "f": ("s", "t", "u", "out", "dx", "s_1", "total", "x_1"),
    "v": ("p", "q", "w", "dout", "out_1"),
    "m": ("m", "trace", "dm"),
    "b": ("stop", "flag"),
    "i": ("k", "j", "i"),
}


@dataclass
class Scope:
    """What is certainly defined at a place of a program."""

    names: dict[str, set[str]] = field(default_factory=lambda: {kind: set() for kind in "fvmib"})
    functions: dict[str, str] = field(
        default_factory=dict
    )  # name -> parameter types and result type, as "ff>f"
    loops: int = 0
    fixed: frozenset[str] = frozenset()  # counters, which must not be assigned

    def copy(self, **changes: Any) -> Scope:
        new = Scope({k: set(v) for k, v in self.names.items()}, dict(self.functions), self.loops, self.fixed)
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def keep_common(self, arms: list[Scope]) -> None:
        """Takes over what all the arms define."""
        for kind in self.names:
            self.names[kind] = set.intersection(*(a.names[kind] for a in arms))
        self.functions = {
            n: t for n, t in arms[0].functions.items() if all(a.functions.get(n) == t for a in arms)
        }


class Expressions:
    """Writes expressions, drawing every choice."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def pick(self, *choices: T) -> T:
        return self.draw(st.sampled_from(choices))

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(1, one_in)) == one_in

    def name(self, scope: Scope, kind: str) -> str:
        return self.pick(*sorted(scope.names[kind]))

    def number(self) -> str:
        return self.pick("0.3", "0.7", "1.1", "-0.4", "0.5")

    def value(self, scope: Scope, kind: str, depth: int) -> str:
        """An expression of the type, bounded when the names in it are."""
        if depth <= 0 or self.chance(4):
            return self.leaf(scope, kind)
        match kind:
            case "f":
                return self.float_value(scope, depth - 1)
            case "v":
                return self.vector_value(scope, depth - 1)
            case _:
                return self.matrix_value(scope, depth - 1)

    def leaf(self, scope: Scope, kind: str) -> str:
        """A name of the type, or a literal."""
        if kind == "f" and (self.chance(6) or not scope.names["f"]):
            return (
                self.pick(self.number(), f"0.1 * {self.name(scope, 'i')}")
                if scope.names["i"]
                else self.number()
            )
        if not scope.names[kind]:
            return "np.ones(3)" if kind == "v" else "np.eye(3)"
        return self.name(scope, kind)

    def float_value(self, scope: Scope, depth: int) -> str:
        a, b = self.value(scope, "f", depth), self.value(scope, "f", depth)
        v = self.leaf(scope, "v")
        calls = [n for n, t in scope.functions.items() if t == "ff>f"]
        if calls and self.chance(3):
            return f"{self.pick(*sorted(calls))}({a}, {self.pick('', 'b=')}{b})"
        form = self.pick(
            "({a} + {b})",
            "({a} - {b})",
            "{a} * {b}",
            "({a}) / (1.5 + ({b}) ** 2)",
            "np.sin({a})",
            "math.tanh({a})",
            "math.cos({a})",
            "np.exp(-({a}) ** 2)",
            "-{a}",
            "({a}) ** 2",
            "np.sum({v}) * 0.3",
            "{v}.mean()",
            "{v} @ {v} * 0.2",
            "{v}[{i}]",
            "{m}[{i}, {j}]",
            "({a} if {c} else {b})",
            "np.tanh({v}).sum()",
            "np.sqrt(1.0 + ({a}) ** 2)",
        )
        return form.format(
            a=a,
            b=b,
            v=v,
            m=self.leaf(scope, "m"),
            i=self.index(scope),
            j=self.index(scope),
            c=self.test(scope, 1),
        )

    def index(self, scope: Scope) -> str:
        return (
            f"{self.name(scope, 'i')} % 3"
            if scope.names["i"] and self.chance(2)
            else self.pick("0", "1", "2", "-1")
        )

    def vector_value(self, scope: Scope, depth: int) -> str:
        a, b = self.value(scope, "v", depth), self.value(scope, "v", depth)
        x, y = self.value(scope, "f", depth), self.value(scope, "f", 0)
        calls = [n for n, t in scope.functions.items() if t == "vf>v"]
        if calls and self.chance(3):
            return f"{self.pick(*sorted(calls))}({a}, {x})"
        form = self.pick(
            "({a} + {b})",
            "{a} * ({x})",
            "({a} - {x})",
            "np.sin({a})",
            "np.tanh({a})",
            "({a})[::-1]",
            "{m} @ ({a}) * 0.4",
            "({a}) @ {m} * 0.4",
            "np.array([{x}, {y}, 0.2])",
            "{m}[{i}]",
            "{m}.T[1]",
            "{m}.sum(axis=0) * 0.3",
            "np.mean({m}, axis=1)",
            "np.where({w} > {n}, {a}, {b})",
            "({a}) / (1.5 + {b} ** 2)",
        )
        w = self.leaf(scope, "v")
        return form.format(
            a=a, b=b, x=x, y=y, w=w, n=self.number(), m=self.leaf(scope, "m"), i=self.index(scope)
        )

    def matrix_value(self, scope: Scope, depth: int) -> str:
        a, v, x = self.leaf(scope, "m"), self.value(scope, "v", depth), self.value(scope, "f", depth)
        form = self.pick(
            "np.outer({v}, {v})",
            "{a} * ({x})",
            "np.sin({a})",
            "{a}.T",
            "({a} + {v})",
            "{a} @ {a} * 0.3",
            "({a} * ({v})[:, np.newaxis])",
        )
        return form.format(a=a, v=v, x=x)

    def test(self, scope: Scope, depth: int) -> str:
        """A condition."""
        if depth and self.chance(4):
            word = self.pick("and", "or")
            return f"{self.test(scope, 0)} {word} {self.test(scope, 0)}"
        if scope.names["b"] and self.chance(4):
            return self.pick("{}", "not {}").format(self.name(scope, "b"))
        if scope.names["i"] and self.chance(4):
            return f"{self.name(scope, 'i')} {self.pick('== 1', '< 2', '% 2 == 0', '>= 1')}"
        a = (
            self.name(scope, "f")
            if not scope.names["v"] or self.chance(2)
            else f"{self.name(scope, 'v')}[{self.index(scope)}]"
        )
        return self.pick(
            "{a} < {n}", "{a} > {n}", "-0.45 < {a} < 0.65", "not {a} > {n}", "{a} >= {b}"
        ).format(a=a, b=f"0.15 + {self.leaf(scope, 'f')} ** 2", n=self.pick("0.07", "-0.13", "0.33", "0.61"))

    def bounded(self, scope: Scope, kind: str) -> str:
        """An expression that is fit to be assigned here."""
        inner = self.value(scope, kind, self.pick(1, 2))
        if scope.loops == 0 and self.chance(2):
            return inner
        return self.pick("np.sin({})", "np.tanh({})", "0.5 * np.cos({})").format(inner)
