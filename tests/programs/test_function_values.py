"""Programs that once had a wrong derivative, or none: functions as values, recursive closures, keys of dicts,
and what is bound outside of the function.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.transforms.errors import NonDifferentiableError, UnsupportedSyntaxError
from tests.programs.test_stores import X, Y, program
from tests.support.build import build
from tests.support.compare import check_program, check_second

RECURSIVE = {
    "once": "def g(n):\n    return x[0] if n == 0 else g(n - 1) * y[n]\nreturn g(3) * g(2)",
    "twice": """
def g(n):
    if n < 2:
        return x[n] * y[n]
    return g(n - 1) * x[2] + g(n - 2) * y[3]
return g(4)
""",
    "with arguments": """
def g(n, z):
    return x[0] * z if n == 0 else g(n - 1, z * x[n]) * y[n] * z
return g(3, y[1])
""",
    "through another": """
def g(n):
    return x[0] if n == 0 else h(n - 1) * y[n]
def h(n):
    return 1.0 if n == 0 else g(n - 1) * x[n]
return g(3) * g(2)
""",
}


@pytest.mark.parametrize("name", RECURSIVE)
def test_nested_functions_that_call_themselves(name: str) -> None:
    f = build(program(RECURSIVE[name]))
    check_program(f, (X, Y), (0, 1))
    check_second(f, (X, Y), (0, 1))


def test_a_loop_variable_after_the_loop_in_code_for_all_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2sad.derivatives.cache.MAX_VERSIONS", 0)
    f = build(program("s = 0.0\nfor v in x:\n    s = s + v * s + y[0]\nreturn s * v"))
    check_program(f, (X, Y), (0, 1))


KEYS = {
    "of a loop": "s = 0.0\nfor k in d:\n    s = s + d[k] ** k\nreturn s",
    "beside others": "s = 0.0\nfor k, v in zip(d, d.values()):\n    s = s + k * v * v\nreturn s",
    "of a comprehension": "return sum([k * d[k] for k in [*d]]) + sum({f'{k}': d[k] for k in d}.values())",
    "counted": "return sum(i * k * d[k] ** 2 for i, k in enumerate(d))",
    "the largest": "return max(d) * d[2.0] ** 2 + min(d) * d[1.0]",
    "their sum": "return sum(d) * d[2.0] ** 2",
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_a_dict_are_no_elements(name: str) -> None:
    f = build("def f(d):\n" + "".join(f"    {line}\n" for line in KEYS[name].splitlines()))
    check_program(f, ({1.0: 0.3, 2.0: 0.4, 3.0: 0.5},), (0,))


def test_keys_that_are_computed_of_keys_are_refused() -> None:
    f = build("def f(d):\n    return sum({2 * k: d[k] for k in d}.values())\n")
    with pytest.raises(s2sad.S2sadError, match="as a key of a dict"):
        s2sad.grad(f)({1.0: 0.3, 2.0: 0.4})


def test_keys_of_a_dict_that_is_made_in_a_loop() -> None:
    body = "d = {i: np.exp(v * y[i]) for i, v in enumerate(x)}\nreturn sum(d[k] ** k * k for k in d)"
    f = build(program(body))
    check_program(f, (X, Y), (0, 1))
    check_second(f, (X, Y), (0, 1))


class Computed:
    """A descriptor of the user's own."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, owner: Any, cls: type) -> Any:
        return self.function(owner)


class Squared:
    def __init__(self, w: Any) -> None:
        self.w = w

    @Computed
    def square(self) -> Any:
        return self.w**2

    @functools.cached_property
    def cube(self) -> Any:
        return self.w**3


def test_cached_properties_of_an_argument_that_holds_them_already() -> None:
    f = build("def f(x):\n    return x.cube * 2.0\n")
    x = Squared(2.0)
    assert s2sad.grad(f)(x).w == pytest.approx(24.0)
    assert x.cube == 8.0
    with pytest.raises(UnsupportedSyntaxError, match="the cached property `cube`"):
        s2sad.grad(f)(x)
    del x.cube
    assert s2sad.grad(f)(x).w == pytest.approx(24.0)
    constant = build("def f(v):\n    return x.cube * v\n", x=x)
    assert s2sad.grad(constant)(3.0) == 8.0


def test_what_a_descriptor_computes_is_no_attribute_that_an_object_holds() -> None:
    f = build("def f(w):\n    return Squared(w).square\n", Squared=Squared)
    with pytest.raises(UnsupportedSyntaxError, match="square"):
        s2sad.grad(f)(2.0)


class Settings:
    rate = 1.5


SETTINGS = ModuleType("settings")


@pytest.mark.parametrize("owner", [Settings, SETTINGS], ids=["class", "module"])
def test_attributes_that_are_set_before_the_way_back(owner: Any) -> None:
    owner.rate = 1.5
    f = build("def f(x):\n    return np.sin(x * owner.rate) * owner.rate\n", owner=owner)
    _, bprop = s2sad.vjp(f)(0.4)
    owner.rate = 7.0
    assert bprop(1.0) == pytest.approx((1.5 * 1.5 * np.cos(0.4 * 1.5),))
    owner.rate = 1.5


def scaled_by(k: Any) -> Any:
    def h(x: Any) -> Any:
        y = x * k
        return np.sum(y * y + k)

    return h


def test_closures_of_one_function_that_hold_values_of_different_kinds() -> None:
    a, b, c = scaled_by(2.0), scaled_by(np.ones((3, 1))), scaled_by(np.arange(3.0))
    x = np.array([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        return a(x) + b(x) * 3 + c(x)

    s2sad.check_grads(f, (x,), order=2)
    np.testing.assert_allclose(s2sad.grad(f)(x), 2 * x * (4 + 9 + np.arange(3.0) ** 2))


@dataclass
class Curved:
    """A number whose operators are not linear."""

    a: float

    def __add__(self, other: Any) -> Any:
        return Curved(self.a * getattr(other, "a", 1.0))

    __radd__ = __sub__ = __mul__ = __add__

    def __neg__(self) -> Any:
        return Curved(self.a**2)

    def __getitem__(self, k: int) -> Any:
        return self.a**2


OPERATIONS = [
    *("(v + w).a", "(v - w).a", "(v * w).a", "(-v).a", "v[0]", "sum([v, w]).a"),
    *("(v * v).a", "(v * 2).a", "(v + 1).a", "(v - v).a", "np.multiply(v, v).a", "squared(v, 2).a"),
    *("squared(ident(v), 0).a", "(max([v], key=id) * 3).a"),
]
SQUARED = """
def squared(v, n):
    return v * v if n == 0 else squared(v, n - 1)
def ident(v, n=1):
    return v if n == 0 else ident(v, n - 1)
"""


@pytest.mark.parametrize("text", OPERATIONS)
def test_operators_of_objects_of_which_nothing_is_known_are_refused(text: str) -> None:
    deep = "[0]" * 9
    f = build(f"{SQUARED}\ndef f(vs, x):\n    v, w = vs{deep}\n    return {text} * x\n")

    def packed(a: float, b: float) -> Any:
        found: Any = (Curved(a), Curved(b))
        for _ in range(9):
            found = [found]
        return found

    with pytest.raises(NonDifferentiableError, match="Curved"):
        s2sad.jvp(f, argnums=(0, 1))(packed(3.0, 5.0), 2.0, packed(1.0, 0.0), 0.0)
    with pytest.raises(NonDifferentiableError, match=r"Curved|an array of objects"):
        s2sad.grad(f)(packed(3.0, 5.0), 2.0)


ACTIVATIONS: dict[str, Any] = {"tanh": np.tanh, "double": lambda v: 2.0 * v}


class Layer:
    def __init__(self, weights: dict[str, Any], activation: str) -> None:
        self.weights, self.activation = weights, activation

    def loss(self, x: Any) -> Any:
        return np.sum(ACTIVATIONS[self.activation](x @ self.weights["w"] + self.weights["b"]))


def loss_of_layer(layer: Layer, x: Any) -> Any:
    return layer.loss(x)


def test_a_table_of_functions_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that a string chooses from a table is known, until the table or the string changes."""
    layer, x = Layer({"w": np.ones((2, 3)), "b": np.zeros(3)}, "tanh"), np.full((4, 2), 0.1)
    gradient = s2sad.grad(loss_of_layer)
    source = gradient.source_for(layer, x)
    assert "fprop_of" not in source and "add_at" not in source and 'w = weights["w"]' in source

    def slope() -> Any:
        return gradient(layer, x).weights["b"]

    np.testing.assert_allclose(slope(), np.full(3, 4 * (1 - np.tanh(0.2) ** 2)))
    layer.activation = "double"
    np.testing.assert_allclose(slope(), np.full(3, 8.0))
    monkeypatch.setitem(ACTIVATIONS, "double", np.sin)
    np.testing.assert_allclose(slope(), np.full(3, 4 * np.cos(0.2)))
    layer.activation = "none"
    with pytest.raises(KeyError):
        gradient(layer, x)


def test_a_table_of_functions_that_changes_while_it_runs() -> None:
    table: dict[str, Any] = {"f": np.sin}

    def changed(x: Any) -> Any:
        y = table["f"](x)
        table["f"] = np.cos if table["f"] is np.sin else np.sin
        return y + table["f"](x)

    expected = np.cos(0.7) - np.sin(0.7)
    for _ in range(3):
        assert s2sad.grad(changed)(0.7) == pytest.approx(expected)


class Along:
    def __init__(self, weight: Any) -> None:
        self.weight = weight

    @property
    def along(self) -> Any:
        return lambda v: self.weight * v

    @property
    def both(self) -> Any:
        return functools.partial(np.multiply, self.weight)


@pytest.mark.parametrize("name", ["along", "both"])
def test_functions_that_a_property_computes_are_refused(name: str) -> None:
    f = build(f"def f(x):\n    return Along(x).{name}(2.0) ** 2", Along=Along)
    g = build(f"def g(layer):\n    return layer.{name}(2.0) ** 2")
    gradient, of_object = s2sad.grad(f), s2sad.grad(g)
    for derivative in (lambda: gradient(1.5), lambda: s2sad.jvp(f)(1.5, 1.0), lambda: of_object(Along(1.5))):
        with pytest.raises(NonDifferentiableError, match=f"the attribute `{name}`"):
            derivative()
