"""Random programs that write into arrays, through views, aliases, containers, callees and closures.

`programs()` draws a `Case` whose function `program(x, y, A, B, s, n)` takes two vectors of four, arrays of
shapes (3, 4) and (2, 3, 4), a float and a count. Values stay bounded, and smooth apart from branches, masks
and sorting.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.random.mutating_expressions import Choose, Scope
from tests.random.mutating_traffic import Traffic

__all__ = ["Case", "draw_case", "programs"]

ARRAYS = {"x": (4,), "y": (4,), "A": (3, 4), "B": (2, 3, 4)}
HEADER = "def program(x, y, A, B, s, n):"

# Module-level functions that a program may call on arrays of one shape: some write, some return views.
CALLEES = {
    "write": ("p, q", ("p[...] = np.sin(q) * 0.6", "p += 0.4 * q", "p[0] = 0.3 * q[-1]", "p *= np.cos(q)")),
    "both": ("p, q", ("q *= 0.5\np += q", "p[0] = q[0]\nq[-1] = 0.5 * p[0]", "p[...] = p * q\nq.fill(0.4)")),
    "part": (
        "p",
        ("return p[1:]", "return p[::-1]", "return p.T", "return p.reshape(-1)", "return p", "return 2 * p"),
    ),
    "halve": ("p", ("p *= 0.5\nreturn p", "p[0] *= 0.5\nreturn p[-1:]", "p[0] *= 0.5\nreturn np.sum(p * p)")),
    "made": ("p", ("q = p.copy()\nq[0] += 0.2\nreturn q", "q = np.sin(p)\nq *= p\nreturn q[::-1]")),
}


OBJECT = """
class State:
    def __init__(self, p):
        self.p = p
    def step(self, t):
        self.p[0] *= t
        return np.sum(self.p)
    def hold(self, q):
        self.p = q
"""


@dataclass(frozen=True)
class Case:
    """A program, arguments, which to differentiate by, and the parameters that are its outputs, if any."""

    text: str
    args: tuple[Any, ...]
    wrt: tuple[int, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text}\n# args = {self.args!r}\n# wrt = {self.wrt!r}, outputs = {self.outputs!r}\n"


class Writer(Traffic):
    """Writes one module."""

    def __init__(self, choose: Choose) -> None:
        super().__init__(choose)
        self.lines: list[str] = []
        self.fresh = 0
        self.budget = 0
        self.callees: list[str] = []

    def emit(self, indent: int, text: str) -> None:
        self.lines += ["    " * indent + line for line in text.splitlines()]

    def name(self, start: str) -> str:
        self.fresh += 1
        return f"{start}{self.fresh}"

    def target(self, scope: Scope) -> tuple[str, Any]:
        """An array that may be written into."""
        chosen: tuple[str, Any] = self.pick(*scope.writable())
        return chosen

    def bind(self, scope: Scope, indent: int, start: str, text: str) -> None:
        """`name = text` for a new name, or one that holds an array of that shape already."""
        value = scope.evaluate(text)
        if not isinstance(value, np.ndarray):
            value = float(value)
        same = [
            t
            for t, v in scope.places()
            if t.isidentifier()
            and isinstance(value, np.ndarray)
            and v.shape == value.shape
            and v.dtype == value.dtype
        ]
        name = self.pick(*same) if same and self.chance(4) else self.name(start)
        self.emit(indent, f"{name} = {text}")
        scope.values[name] = value

    # Statements

    def statement(self, scope: Scope, indent: int) -> None:
        self.budget -= 1
        forms: list[Callable[[Scope, int], None]] = [
            self.store, self.store, self.store, self.update, self.update, self.whole, self.whole,
            self.view_name, self.view_name, self.alias, self.new, self.function, self.function,
            self.through_view, self.container, self.call, self.call, self.number, self.sum, self.object,
            self.collected, self.placed, self.placed, self.remade, self.iterated_names,
        ]  # fmt: skip
        if self.budget > 0 and indent < 3:
            forms += [self.loop, self.loop, self.branch, self.closure, self.exchanges]
        self.pick(*forms)(scope, indent)

    def store(self, scope: Scope, indent: int) -> None:
        text, value = self.target(scope)
        index = self.index(scope, value.shape)
        shape = np.shape(scope.evaluate(f"{text}[{index}]"))
        self.emit(indent, f"{text}[{index}] = {self.value(scope, shape)}")

    def update(self, scope: Scope, indent: int) -> None:
        text, value = self.target(scope)
        index = self.index(scope, value.shape)
        shape = np.shape(scope.evaluate(f"{text}[{index}]"))
        self.emit(indent, f"{text}[{index}] {self.change(scope, shape)}")

    def change(self, scope: Scope, shape: tuple[int, ...]) -> str:
        """An augmented operator and its operand."""
        match self.pick("+=", "-=", "*=", "/="):
            case "*=":
                return f"*= {self.pick('0.5', f'np.cos({self.leaf(scope, shape)})')}"
            case "/=":
                return f"/= {self.pick('1.5', f'(1.7 + np.sin({self.leaf(scope, shape)}))')}"
            case operator:
                return f"{operator} {self.value(scope, shape)}"

    def whole(self, scope: Scope, indent: int) -> None:
        text, value = self.target(scope)
        self.emit(indent, f"{text} {self.change(scope, value.shape)}")

    def through_view(self, scope: Scope, indent: int) -> None:
        text, value = self.target(scope)
        view = self.view(scope, text, value)
        found = scope.evaluate(view)
        if isinstance(found, np.ndarray) and found.ndim and found.flags.writeable and view != text:
            self.emit(indent, f"{view}[{self.index(scope, found.shape)}] = {self.leaf(scope, ())}"
                      if self.chance(2) else f"{view}[...] = {self.value(scope, found.shape)}")  # fmt: skip
        else:
            self.store(scope, indent)

    def view_name(self, scope: Scope, indent: int) -> None:
        text, value = self.pick(*scope.arrays())
        self.bind(scope, indent, "v", self.view(scope, text, value))

    def alias(self, scope: Scope, indent: int) -> None:
        text, value = self.pick(*scope.arrays())
        if self.chance(3):
            names = [t for t, v in scope.arrays() if t.isidentifier() and v.shape == value.shape]
            if len(names) > 1:
                left, right = self.pick(*names), self.pick(*names)
                self.emit(indent, f"{left}, {right} = {right}, {left}")
                return
        self.bind(scope, indent, "a", text)

    def new(self, scope: Scope, indent: int) -> None:
        text, value = self.pick(*scope.arrays())
        forms = [f"{text}.copy()", f"np.zeros_like({text})", f"np.sin({text})", f"np.array({text})"]
        if value.ndim < 3:
            forms += [f"{text} * 1.0", "np.zeros(4)", "np.full((3, 4), 0.3)", f"np.split({text}, [1])[0]"]
            forms += [f"np.stack([{text}, {text}])", f"np.concatenate([{text}, {text}])"]
        self.bind(scope, indent, "b", self.pick(*forms))

    def number(self, scope: Scope, indent: int) -> None:
        text, _ = self.pick(*scope.arrays())
        self.bind(scope, indent, "t", f"{self.pick('np.sum', 'np.mean', 'np.max')}(np.sin({text}))")

    def sum(self, scope: Scope, indent: int) -> None:
        names = [n for n, v in scope.values.items() if isinstance(v, float)]
        text, _ = self.pick(*scope.arrays())
        self.emit(indent, f"{self.pick(*names)} {self.pick('+=', '-=')} 0.2 * np.sin(np.sum({text}))")

    def object(self, scope: Scope, indent: int) -> None:
        """An object that holds an array, or a call of one of its methods."""
        held = [(n, v) for n, v in scope.values.items() if isinstance(v, SimpleNamespace)]
        if not held or self.chance(3):
            text, value = self.pick(*scope.writable())
            name = self.name("o")
            self.emit(indent, f"{name} = State({text})")
            scope.values[name] = SimpleNamespace(p=value)
            return
        name, state = self.pick(*held)
        same = [t for t, v in scope.writable() if v.shape == state.p.shape]
        match self.pick("step", "total", "hold", "other"):
            case "step":
                self.emit(indent, f"{name}.step(np.cos({self.leaf(scope, ())}))")
            case "total":
                total = self.name("t")
                self.emit(indent, f"{total} = {name}.step(s)")
                scope.values[total] = 1.0
            case "hold":
                self.emit(indent, f"{name}.hold({self.pick(*same)})")
            case "other":
                other = self.name("o")
                self.emit(indent, f"{other} = {name}")
                scope.values[other] = state

    def function(self, scope: Scope, indent: int) -> None:
        """A call of a NumPy function that writes into an array."""
        text, value = self.target(scope)
        other = self.leaf(scope, value.shape)
        forms = [
            f"np.add({text}, {other}, out={text})",
            f"np.multiply({text}, np.cos({other}), {text})",
            f"np.sin({other} * np.ones({value.shape}), out={text})",
            f"np.copyto({text}, {self.value(scope, value.shape)})",
            f"{text}.fill({self.leaf(scope, ())})",
            f"np.add.at({text}, [0, 0, -1], {self.value(scope, value.shape[1:], 1)})",
            f"{text}.sort()",
            f"np.put({text}, [0, -1, 0], [0.3, {self.leaf(scope, ())}, 0.2])",
            f"np.putmask({text}, {text} > 0.25, {other} * np.ones({value.shape}))",
            f"np.cumsum({text}, axis=0, out={text})",
            f"np.clip({text}, -0.9, 0.8, out={text})",
        ]
        if value.ndim == 2:
            forms.append(f"np.fill_diagonal({text}, {self.leaf(scope, ())})")
        self.emit(indent, str(self.pick(*forms)))

    def container(self, scope: Scope, indent: int) -> None:
        texts = [self.pick(*scope.arrays()) for _ in range(self.pick(2, 3))]
        name = self.name("h")
        match self.pick("list", "tuple", "dict", "append"):
            case "list":
                self.emit(indent, f"{name} = [{', '.join(t for t, _ in texts)}]")
                scope.values[name] = [v for _, v in texts]
            case "tuple":
                self.emit(indent, f"{name} = ({', '.join(t for t, _ in texts)})")
                scope.values[name] = tuple(v for _, v in texts)
            case "dict":
                held = dict(zip("pqr", texts, strict=False))
                items = ", ".join(f"{key!r}: {text}" for key, (text, _) in held.items())
                self.emit(indent, f"{name} = {{{items}}}")
                scope.values[name] = {key: value for key, (_, value) in held.items()}
            case "append":
                self.emit(indent, f"{name} = []")
                for text, _ in texts:
                    self.emit(indent, f"{name}.append({text})")
                scope.values[name] = [v for _, v in texts]

    def call(self, scope: Scope, indent: int) -> None:
        """A call of a function of the module, or of a closure."""
        if scope.functions and self.chance(2):
            name = self.pick(*scope.functions)
            counters = [c for c, bound in scope.counters.items() if bound <= scope.functions[name]]
            self.emit(indent, f"{name}({self.pick('0', '-1', *counters)})")
            return
        name = self.pick(*CALLEES)
        parameters, bodies = CALLEES[name]
        text, value = self.target(scope)
        if value.shape[0] < 2:
            self.store(scope, indent)
            return
        body = self.pick(*bodies)
        if name not in self.callees:
            self.callees.append(name)
            self.lines[:0] = [f"def {name}({parameters}):", *("    " + line for line in body.splitlines())]
        if "," in parameters:
            fitting = [t for t, v in scope.writable() if v.shape == value.shape]
            self.emit(indent, f"{name}({text}, {self.pick(*fitting)})")
        else:
            result = self.name("r")
            self.emit(indent, f"{result} = {name}({text})")
            found = self.run_callee(name, value)
            scope.values[result] = found if isinstance(found, np.ndarray) else float(found)

    def run_callee(self, name: str, value: Any) -> Any:
        """What a function of the module returns for a stand-in."""
        namespace: dict[str, Any] = {"np": np}
        exec("\n".join(self.lines[: self.lines.index(HEADER)]), namespace)
        return namespace[name](value.copy())

    def closure(self, scope: Scope, indent: int) -> None:
        """A nested function that writes into what it captures."""
        text, value = self.target(scope)
        name = self.name("bump")
        self.emit(indent, f"def {name}(k):")
        self.emit(indent + 1, f"{text}[k] {self.change(scope, value.shape[1:])}")
        scope.functions[name] = value.shape[0]

    def block(self, scope: Scope, indent: int) -> None:
        for _ in range(self.pick(1, 2, 3)):
            self.statement(scope, indent)

    def loop(self, scope: Scope, indent: int) -> None:
        inside = scope.copy()
        text, value = self.pick(*scope.arrays())
        if value.ndim > 1 and self.chance(3):
            row = self.name("row")
            self.emit(indent, f"for {row} in {text}:")
            inside.values[row] = value[0]
        else:
            count = self.pick(2, 3)
            counter = self.name("i")
            ahead = self.pick(f"range({count})", f"range({count - 1}, -1, -1)", "range(n)")
            inside.counters[counter] = 4 if ahead == "range(n)" else count
            self.emit(indent, f"for {counter} in {ahead}:")
        if self.chance(6):
            self.emit(indent + 1, f"if n == 2:\n    {self.pick('break', 'continue')}")
        self.block(inside, indent + 1)

    def branch(self, scope: Scope, indent: int) -> None:
        text, value = self.pick(*scope.arrays())
        first = f"{text}[{', '.join('0' * value.ndim)}]"
        self.emit(indent, f"if {self.pick('n > 1', 's > 0.1', f'{first} > 0.2', 'n == 0')}:")
        self.block(scope.copy(), indent + 1)
        if self.chance(2):
            self.emit(indent, "else:")
            self.block(scope.copy(), indent + 1)

    # Modules

    def result(self, scope: Scope) -> str:
        """A number that depends on all that the function holds."""
        weights = ("0.7", "1.1", "-0.4", "0.3")
        terms = [f"np.sum(np.sin({t} + 0.3))" for t, v in scope.places() if v.dtype == np.float64]
        terms += [n for n, v in scope.values.items() if isinstance(v, float)]
        return " + ".join(f"{weights[k % 4]} * {term}" for k, term in enumerate(terms))

    def module(self, outputs: bool) -> str:
        scope = Scope({name: np.ones(shape) for name, shape in ARRAYS.items()} | {"s": 0.5})
        self.emit(0, HEADER)
        if self.chance(2):  # only what is the function's own is changed
            self.emit(1, "\n".join(f"{name} = {name}.copy()" for name in ARRAYS))
        self.budget = self.pick(2, 3, 4, 6, 9)
        while self.budget > 0:
            self.statement(scope, 1)
        if not outputs:
            everything = self.result(scope)
            arrays = [t for t, _ in scope.arrays()]
            self.emit(1, f"return {self.pick(everything, everything, f'{everything}, {self.pick(*arrays)}')}")
        if any("State(" in line for line in self.lines):
            self.lines[:0] = OBJECT.splitlines()
        return ast.unparse(ast.parse("\n".join(self.lines))) + "\n"


def draw_case(choose: Choose, outputs: bool) -> Case:
    """A case, with every choice made by `choose`; `outputs`: changed arguments in place of a result."""
    writer = Writer(choose)
    text = writer.module(outputs)
    rng = np.random.default_rng(writer.pick(*range(64)))
    arrays = tuple(rng.uniform(-1.2, 1.2, shape) for shape in ARRAYS.values())
    args = (*arrays, float(rng.uniform(0.2, 1.2)), writer.pick(0, 1, 2, 3))
    wrt = writer.pick((0, 1, 2, 3, 4), (0, 1, 2, 3, 4), (0,), (2, 4), (1, 3))
    changed = writer.pick(("x", "y", "A", "B"), ("x", "A"), ("B",)) if outputs else ()
    return Case(text, args, wrt, changed)


@st.composite
def programs(draw: st.DrawFn, outputs: bool) -> Case:
    """Random cases."""
    return draw_case(lambda options: draw(st.sampled_from(options)), outputs)
