"""Objects that are changed, shared, odd, or whose classes change: exact, or refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import (
    assert_close,
    assert_same,
    check_program,
    check_second,
    directions,
    dot,
    numeric_jvp,
    random_like,
)

# mypy: allow-untyped-defs


class Tank:
    def __init__(self, level):
        self.level = level

    def pour(self, rate):
        self.level = self.level * (1 - rate)
        return self.level**2


class Cell:
    scale = 2.0

    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v * self.scale

    @property
    def counted(self):
        self.reads = self.reads + 1
        return self.v * self.reads

    reads = 0


class Net:
    def __init__(self, w):
        self.w = w
        self.calls = 0
        self.history = []

    def forward(self, x):
        self.calls += 1
        return np.sum(self.w * x)

    def step(self, x):
        self.w = self.w - 0.1 * x
        return self

    def double(self):
        self.w = self.w * 2.0

    def remember(self, x):
        self.history.append(x)
        return sum(self.history)

    def bump(self, x):
        self.w += x
        return np.sum(self.w**2)

    def put(self, x):
        self.w[0] = x * x
        return np.sum(self.w**2)


class Node:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right

    def total(self):
        t = self.value**2
        if self.left is not None:
            t = t + self.left.total() * 0.5
        if self.right is not None:
            t = t + self.right.total() * 0.25
        return t


@dataclass
class Bag:
    rate: float = 0.5
    items: list = field(default_factory=list)

    def add(self, x):
        self.items.append(x * self.rate)
        return sum(self.items)


class Layer:
    """Keeps what its backward pass, if it had one, would need."""

    def __init__(self, w):
        self.w = w
        self.inputs = np.zeros(3)

    def forward(self, x):
        self.inputs = x
        return np.tanh(self.w * x)


GLOBAL = Net(np.array([1.0, 2.0]))


def net():
    return Net(np.array([1.0, 2.0]))


# ---------------------------------------------------------------- what is exact


def store_in_argument(tank, rate):
    return tank.pour(rate) + tank.pour(rate) * tank.level


def class_attribute_hidden(cell, x):
    y = cell.get()
    cell.scale = x
    return y + cell.get()


def class_attribute_hidden_in_a_made_object(x):
    cell = Cell(x)
    y = cell.get()
    cell.scale = x
    return y + cell.get()


def counter(model, x):
    return model.forward(x) * model.calls + model.forward(x) * model.calls


def fluent(model, x):
    return model.step(x).step(x).forward(x)


def change_between_reads(model, x):
    y = np.sum(model.w * x * x)
    model.double()
    return y + np.sum(model.w * x)


def change_of_a_global(x):
    GLOBAL.w = np.array([1.0, 2.0])
    y = np.sum(GLOBAL.w * x * x)
    GLOBAL.double()
    return y + np.sum(GLOBAL.w * x)


def list_in_a_made_object(x):
    model = Net(x)
    return model.remember(x) * model.remember(x * x)


def list_in_a_made_dataclass(x):
    bag = Bag(x)
    return bag.add(x) * bag.add(2.0)


def array_of_argument_in_place(model, x):
    return model.bump(x) * model.bump(x)


def array_in_place(w, x):
    model = Net(w * 1.0)
    return model.bump(x) * model.put(x) * model.bump(x)


def element_of_argument(model, x):
    return model.put(x) * model.put(x)


def array_known_by_two_names(w, x):
    w = w * 1.0
    model = Net(w)
    w[0] = x
    return np.sum(model.w**2)


def two_names(x):
    a = Tank(1.0)
    b = a
    b.level = x * x
    return a.level


def name_bound_anew(x):
    tank = Tank(x)
    first = tank
    tank = Tank(x * x)
    tank.level = tank.level + 1
    return tank.level * first.level


def tree(node):
    return node.total()


def made_tree(x):
    return Node(x, Node(x * x, Node(0.3)), Node(0.2)).total()


def closure_sets(tank, x):
    def go(rate):
        tank.level = tank.level * rate

    go(x)
    go(2.0)
    return tank.level


def one_path_sets(x, c):
    tank = Tank(x)
    if c:
        tank.extra = x * x
    y = tank.extra if c else 1.0
    return y * tank.level


def while_loop(x):
    tank = Tank(x)
    while tank.level < 3:
        tank.level = tank.level * 1.7
    return tank.level


def early_return(x):
    tank = Tank(x)
    for k in range(5):
        tank.level = tank.level * 1.5
        if tank.level > 1.5:
            return tank.level * k
    return tank.level


def no_iterations(x, n):
    tank = Tank(x)
    for _ in range(n):
        tank.level = tank.level * x
    return tank.level


def returns_its_argument(tank, x):
    tank.level = tank.level * x
    return tank


def set_by_name(x):
    tank = Tank(x)
    setattr(tank, "level", x * x)  # noqa: B010
    return tank.level * getattr(tank, "level")  # noqa: B009


def kept_for_later(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return np.sum(x * x)


def called_through_a_value(tank, rate):
    pour = tank.pour
    y = pour(rate)
    tank.level = tank.level * 2
    return y + pour(rate)


EXACT: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (store_in_argument, (Tank(1.5), 0.3)),
    (class_attribute_hidden_in_a_made_object, (0.7,)),
    (counter, (net(), np.array([0.3, 0.4]))),
    (fluent, (net(), np.array([0.3, 0.4]))),
    (change_between_reads, (net(), np.array([0.3, 0.4]))),
    (change_of_a_global, (np.array([0.3, 0.4]),)),
    (list_in_a_made_object, (0.3,)),
    (list_in_a_made_dataclass, (0.3,)),
    (array_of_argument_in_place, (net(), 0.3)),
    (array_in_place, (np.array([1.0, 2.0]), 0.3)),
    (element_of_argument, (net(), 0.3)),
    (array_known_by_two_names, (np.array([1.0, 2.0]), 0.3)),
    (two_names, (0.7,)),
    (name_bound_anew, (0.7,)),
    (tree, (Node(1.5, Node(0.5, Node(0.3)), Node(0.2)),)),
    (made_tree, (0.5,)),
    (closure_sets, (Tank(0.7), 0.3)),
    (one_path_sets, (0.7, 1)),
    (one_path_sets, (0.7, 0)),
    (while_loop, (0.7,)),
    (early_return, (0.7,)),
    (no_iterations, (0.7, 0)),
    (no_iterations, (0.7, 3)),
    (returns_its_argument, (Tank(0.7), 0.3)),
    (called_through_a_value, (Tank(0.7), 0.1)),
    (set_by_name, (0.7,)),
    (kept_for_later, ([Layer(np.ones(3)), Layer(np.full(3, 0.5))], np.array([0.1, 0.2, 0.3]))),
]


@pytest.mark.parametrize(("f", "args"), EXACT, ids=[f.__name__ for f, _ in EXACT])
def test_changes_are_made_and_followed(f: Any, args: tuple[Any, ...]) -> None:
    """The value and the changes of the arguments are the function's own, and both modes are right."""
    wrt = tuple(k for k, a in enumerate(args) if not isinstance(a, int))
    run = copy.deepcopy(args)
    expected = f(*run)
    tangents, cotangent = directions(args, wrt, 0), random_like(expected, np.random.default_rng(1))

    given = copy.deepcopy(args)
    out, bprop = s2sad.vjp(f, argnums=wrt)(*given)
    assert_same(out, expected)
    assert_same(given, run)
    gradients = bprop(cotangent)
    assert_same(bprop(cotangent), gradients)

    given = copy.deepcopy(args)
    out, tangent = s2sad.jvp(f, argnums=wrt)(*given, *tangents)
    assert_same(out, expected)
    assert_same(given, run)
    numeric = numeric_jvp(lambda *a: f(*copy.deepcopy(a)), args, wrt, tangents)
    assert_close(tangent, numeric, 1e-6, "jvp against finite differences")
    assert abs(dot(cotangent, tangent) - dot(gradients, tangents)) < 1e-9


def test_an_attribute_of_the_class_may_be_hidden_by_one_of_the_object() -> None:
    cell = Cell(0.7)
    by_cell, by_x = s2sad.grad(class_attribute_hidden, argnums=(0, 1))(cell, 0.3)
    assert cell.scale == 0.3
    assert by_cell.v == 2.0 + 0.3
    assert by_x == 0.7


# ---------------------------------------------------------------- what is refused


def same_object_twice(a, b):
    a.level = a.level * a.level
    return b.level * 3


def held_by_another_argument(tank, tanks):
    tank.level = tank.level * 2.0
    return tanks[0].level


def twice_in_a_list(x):
    tank = Tank(x)
    tanks = [tank, tank]
    tanks[0].level = x * x
    return tanks[1].level


def changed_after_it_was_put_somewhere(x):
    tank = Tank(x)
    tanks = [tank]
    tank.level = x * x
    return tanks[0].level


def changed_in_the_next_iteration(x):
    tanks, tank = [], Tank(x)
    for _ in range(3):
        tanks.append(tank)
        tank.level = tank.level * x
    return sum([t.level for t in tanks])


def deleted(x):
    tank = Tank(x)
    del tank.level
    return x


def names_exchanged(x):
    a, b = Tank(x), Tank(x * x)
    for _ in range(3):
        a, b = b, a
        a.level = a.level * 1.5
    return a.level * 2 + b.level


class Guessing:
    def __init__(self, v):
        self.v = v

    def __getattr__(self, name):
        if name != "double":
            raise AttributeError(name)
        return self.v * 2


class Tripling:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 3)


def attribute_that_is_computed(x):
    return x.double * x.v


def attribute_that_is_converted(x):
    made = Tripling()
    made.v = x
    return made.v * made.v


def taken_apart(pair):
    a, b = pair
    return a * b


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __iter__(self):
        return iter((self.a, self.b))


def shared() -> tuple[Any, Any]:
    tank = Tank(1.5)
    return tank, tank


def held() -> tuple[Any, Any]:
    tank = Tank(1.5)
    return tank, [tank]


@pytest.mark.parametrize(
    "f",
    [
        twice_in_a_list,
        changed_after_it_was_put_somewhere,
        changed_in_the_next_iteration,
        deleted,
        names_exchanged,
    ],
    ids=lambda f: f.__name__,
)
def test_changes_that_several_names_see(f: Any) -> None:
    check_program(f, (0.7,), (0,))
    check_second(f, (0.7,), (0,))


def test_an_object_is_taken_apart_by_its_class() -> None:
    check_program(taken_apart, (Pair(0.7, 0.3),), (0,))
    check_second(taken_apart, (Pair(0.7, 0.3),), (0,))


REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (same_object_twice, shared()),
    (held_by_another_argument, held()),
    (attribute_that_is_computed, (Guessing(0.7),)),
    (attribute_that_is_converted, (0.7,)),
]


@pytest.mark.parametrize(("f", "args"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
@pytest.mark.parametrize("transform", [s2sad.grad, s2sad.jvp])
def test_what_cannot_be_followed_is_refused(f: Any, args: tuple[Any, ...], transform: Any) -> None:
    wrt = tuple(range(len(args)))
    given = copy.deepcopy(args)
    with pytest.raises(s2sad.S2sadError):
        if transform is s2sad.grad:
            s2sad.grad(f, argnums=wrt)(*given)
        else:
            s2sad.jvp(f, argnums=wrt)(*given, *directions(args, wrt, 0))


class Squaring:
    def __init__(self, k):
        self.k = k

    def __mul__(self, x):
        return x * x * self.k

    __rmul__ = __mul__


class Cubing(Squaring):
    def __mul__(self, x):
        return x * x * x * self.k


def multiplied(objects, x):
    total = 0.0
    for o in objects:
        total = total + o * x
    return total


def test_operators_of_objects_are_known_or_refused() -> None:
    """What `o * x` means only the class says: never a product of numbers, then."""
    by_x = s2sad.grad(multiplied, argnums=1)
    assert by_x([Squaring(2.0)] * 3, 3.0) == 36.0
    assert by_x([Squaring(2.0), Cubing(1.0)], 3.0) == 12.0 + 27.0
    for objects in ([Squaring(2.0)] * 40, [Squaring(2.0), Cubing(1.0)] * 20):
        with pytest.raises(s2sad.S2sadError, match="operator on an object"):
            by_x(objects, 3.0)


def test_an_argument_is_not_changed_behind_another_derivative() -> None:
    """A caller that is differentiated would not know of the change."""

    def outer(pour, tank, x):
        return pour(tank, x) * tank.level

    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(outer, argnums=(1, 2))(lambda tank, x: tank.pour(x), Tank(0.7), 0.1)


# ---------------------------------------------------------------- classes that change


def test_methods_that_are_replaced_are_noticed() -> None:
    class Model:
        def __init__(self, w):
            self.w = w

        def value(self, x):
            return self.w * x

    def loss(model, x):
        return model.value(x) * x

    gradient = s2sad.grad(loss)
    model = Model(2.0)
    assert gradient(model, 3.0).w == 9.0
    Model.value = lambda self, x: self.w**2 * x  # type: ignore[method-assign]
    assert gradient(model, 3.0).w == 36.0
    model.value = lambda x: x  # type: ignore[method-assign]
    assert gradient(model, 3.0).w == 0.0
    del model.value
    Model.w = property(lambda self: 5.0)  # type: ignore[attr-defined]
    assert gradient(model, 3.0).w == 0.0


def test_properties_and_constants_that_are_replaced_are_noticed() -> None:
    class Model:
        factor = 2.0

        @property
        def twice(self):
            return self.w * self.factor

    model = Model()
    model.w = 1.5  # type: ignore[attr-defined]
    gradient = s2sad.grad(lambda m: m.twice**2)
    assert gradient(model).w == 12.0
    Model.factor = 3.0
    assert gradient(model).w == 27.0
    Model.twice = property(lambda self: self.w**2)  # type: ignore[method-assign,assignment]
    assert gradient(model).w == 4 * 1.5**3


# ---------------------------------------------------------------- methods, and training


class Regression:
    """A plain class with a loss."""

    def __init__(self, size):
        self.w = np.zeros(size)
        self.b = 0.0

    def predict(self, x):
        return x @ self.w + self.b

    def loss(self, x, y):
        return np.mean((self.predict(x) - y) ** 2)

    @s2sad.grad
    def gradient(self, x, y):
        return self.loss(x, y)


def data() -> tuple[Any, Any]:
    x = np.random.default_rng(0).normal(size=(20, 3))
    return x, x @ np.array([1.0, -2.0, 0.5]) + 0.3


def test_methods_are_differentiated_by_their_object_or_their_arguments() -> None:
    model, (x, y) = Regression(3), data()
    value, gradient = s2sad.value_and_grad(Regression.loss, argnums=0)(model, x, y)
    assert value == model.loss(x, y)
    assert isinstance(gradient, SimpleNamespace)
    np.testing.assert_allclose(gradient.w, -2 * x.T @ y / 20)
    np.testing.assert_allclose(gradient.b, -2 * np.mean(y))
    np.testing.assert_array_equal(model.gradient(x, y).w, gradient.w)
    by_x = s2sad.grad(model.loss)(x, y)
    assert by_x.shape == x.shape
    assert not by_x.any()


def test_a_plain_class_trains() -> None:
    model, (x, y) = Regression(3), data()
    step = s2sad.value_and_grad(Regression.loss)
    for _ in range(200):
        value, gradient = step(model, x, y)
        model.w -= 0.2 * gradient.w
        model.b -= 0.2 * gradient.b
    assert value < 1e-6
    np.testing.assert_allclose(model.w, [1.0, -2.0, 0.5], atol=1e-3)


def test_the_gradient_of_a_dataclass_has_its_class() -> None:
    gradient = s2sad.grad(lambda bag: bag.rate**2)(Bag(1.5))
    assert isinstance(gradient, Bag)
    assert gradient.rate == 3.0


def test_an_object_that_holds_itself() -> None:
    tank = Tank(1.5)
    tank.me = tank  # type: ignore[attr-defined]
    gradient = s2sad.grad(lambda t: t.level**2)(tank)
    assert gradient.level == 3.0 and gradient.me.me is None
    assert s2sad.grad(lambda x, t: t.level**2 * x)(2.0, tank) == 2.25


class Named:
    def __init__(self, value: float) -> None:
        self.value = value

    def double(self) -> None:
        self.value *= 2.0

    def shout(self) -> None:
        self.value *= 3.0

    def run(self, name: str) -> None:
        getattr(self, name)()


def test_a_method_that_no_text_names_is_refused_when_it_is_looked_up() -> None:
    def f(x: float, letters: list[str]) -> float:
        named = Named(x)
        for name in ("double", "".join(letters)):
            named.run(name)
        return named.value

    assert s2sad.grad(f)(1.5, [*"double"]) == 4.0
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="the attribute `shout` of a Named, looked up by"):
        s2sad.grad(f)(1.5, [*reversed("tuohs")])
