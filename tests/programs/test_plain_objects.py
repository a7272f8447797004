"""Derivatives with plain attributes and items, and one table of shadows."""

import inspect
from collections import Counter, defaultdict
from enum import Enum

import numpy as np
import pytest

import s2sad
from tests.programs import shared, trees
from tests.programs.known_by_class import settings_merged_with_those_of_the_class


class Body:
    def __init__(self, pos, vel):
        self.pos, self.vel = pos, vel
        self.trail = []

    def move(self, dt):
        self.pos = self.pos + self.vel * dt
        self.trail.append(self.pos)


def bodies(x, n):
    made = [Body(x * (k + 1), x) for k in range(n)]
    first = made[0]
    for b in made:
        b.vel = b.vel - first.pos * b.pos
        b.move(0.1)
    return first.pos * sum(b.pos * v for b in made for v in b.trail)


def is_plain(derivative, *args):
    text = inspect.getsource(derivative.function_for(*args))
    return "Shadows(" in text and "heap" not in text


def test_a_table_for_each_call_of_bprop():
    expected = s2sad.grad(bodies)(0.7, 3)
    assert is_plain(s2sad.vjp(bodies), 0.7, 3)
    out, bprop = s2sad.vjp(bodies)(0.7, 3)
    other = s2sad.vjp(bodies)(0.3, 2)[1]
    assert out == bodies(0.7, 3)
    assert bprop(1.0)[0] == pytest.approx(expected, rel=1e-14)
    assert other(1.0)[0] == pytest.approx(s2sad.grad(bodies)(0.3, 2), rel=1e-14)
    assert bprop(2.0)[0] == pytest.approx(2 * expected, rel=1e-14)


def slope(x):
    return s2sad.vjp(bodies)(x, 3)[1](1.0)[0]


def test_bprop_differentiated():
    assert s2sad.grad(slope)(0.7) == pytest.approx(s2sad.grad(s2sad.grad(bodies))(0.7, 3), rel=1e-12)
    assert s2sad.jvp(slope)(0.7, 1.0)[1] == pytest.approx(s2sad.grad(slope)(0.7), rel=1e-12)


def test_the_plain_form_for_another_derivative_of_the_function():
    assert is_plain(s2sad.grad(bodies), 0.7, 3)
    assert is_plain(s2sad.grad(bodies), 0.7, 3)


def queue(x, n):
    waiting = [Body(x * k, 1.0) for k in range(n)]
    values = [b.pos for b in waiting]
    same = values
    total = 0.0
    for _ in range(n):
        same.sort()
        values.insert(0, values.pop() * waiting[1].pos)
        del same[1]
        same.append(waiting[0].pos)
        values.reverse()
        waiting[0].pos = waiting[1].pos + values[0] * x
        total = total + same[-1]
    return total


def table(x, n):
    counts, same = {}, {}
    for k in range(n):
        counts[k % 3] = counts.get(k % 3, x) * x + k
        same.setdefault(k % 2, []).append(counts[k % 3])
    for values in same.values():
        values.reverse()
    counts.update(last=same[0].pop())
    last = counts.pop("last")
    return sum(v * last for v in counts.values()) * same[1][0] - last * same[0][0]


class Shape(Enum):
    ROUND = 0.5
    FLAT = 2.0


def tabled(x, n):
    """Keys that are known at run time: tuples, members of an enumeration, inactive floats."""
    costs, again = {}, {Shape.ROUND: x, Shape.FLAT: x * x}
    for i in range(n):
        for j in range(n):
            costs[i, j] = x * (i + j) if i == 0 or j == 0 else costs[i - 1, j] * x + costs[i, j - 1] * 0.5
    same, costs[0.5] = costs, x
    for _ in range(2):
        same[0.5] = costs[0.5] * again[Shape.FLAT]
        for shape in Shape:
            again[shape] = again[shape] * 2.0 + same[0.5]
    return costs[n - 1, n - 1] * again[Shape.ROUND] + costs[0.5]


class Momentum:
    """An optimiser with dicts of arrays and numbers, which change in place."""

    def __init__(self, state, rate):
        self.state, self.rate = state, rate
        self.means = {k: 0.0 * v for k, v in state.items()}

    def step(self, slopes):
        for key in self.state:
            self.means[key] = 0.9 * self.means[key] + slopes[key]
            self.state[key] -= self.rate * self.means[key]


def optimised(x, n):
    made = Momentum({"w": np.array([x, 1.0]), "b": x * 2.0}, 0.1)
    counts = {}
    for k in range(n):
        made.step({"w": made.state["w"] * x, "b": made.state["b"] * 2.0})
        counts[k % 2] = x
        counts[k % 2] *= made.state["b"]
    return np.sum(made.state["w"]) + made.state["b"] * sum(counts.values())


def grouped(x, n):
    """A defaultdict makes items that are missing, also where they are only read."""
    groups, sums = defaultdict(list), defaultdict(float)
    for k in range(n):
        groups[k % 3].append(x * k)
        sums[k] = sums[k - 2] * x + 1.0
    groups["none"], sums["none"]
    for key, values in groups.items():
        for v in values:
            sums[key] += v * v
    total = 0.0
    for position, key in enumerate(sums):
        total = total + sums[key] * position
    return total * len(sums) * len(groups)


@pytest.mark.parametrize("f", [queue, table, tabled, optimised, grouped])
def test_items_that_move(f):
    bprop = s2sad.vjp(f)(0.7, 5)[1]
    expected = (f(0.7 + 1e-6, 5) - f(0.7 - 1e-6, 5)) / 2e-6
    assert f is optimised or is_plain(s2sad.grad(f), 0.7, 5)  # a slot of numbers and arrays is not
    for dx in (s2sad.grad(f)(0.7, 5), s2sad.jvp(f, argnums=0)(0.7, 5, 1.0)[1], bprop(1.0)[0], bprop(1.0)[0]):
        assert dx == pytest.approx(expected, rel=1e-7)
    second = s2sad.jvp(s2sad.grad(f), argnums=0)(0.7, 5, 1.0)[1]
    assert s2sad.grad(s2sad.grad(f))(0.7, 5) == pytest.approx(second, rel=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        shared.changed_keys_of_dicts,
        shared.configurations_as_dicts,
        shared.records_as_dicts,
        shared.trees_of_closures,
        trees.a_tree_of_the_module,
        trees.sums_over_trees,
    ],
)
def test_programs_whose_slots_are_known(function):
    assert is_plain(s2sad.grad(function), 0.7)


def test_programs_with_a_try_whose_slots_are_known():
    assert is_plain(s2sad.grad(shared.objects_made_where_a_key_is_missing), 0.7, 2.0)


def test_a_derivative_with_operators_of_abstract_classes_is_made_once():
    slope = s2sad.grad(shared.operators_of_abstract_classes)
    assert slope.function_for(0.7) is slope.function_for(0.7)


class Bare:
    pass


def of_bare(x):
    made = [Bare(), Bare()]
    made[0].v = x
    for b in made:
        x = x * getattr(b, "extra", 2.0)
        if hasattr(b, "v"):
            b.v = b.v * x
    return made[0].v


def test_an_attribute_that_the_class_gains():
    slope = s2sad.grad(of_bare)
    assert slope(0.7) == pytest.approx(2 * 0.7 * 2.0)
    Bare.extra = 3.0
    try:
        assert slope(0.7) == pytest.approx(2 * 0.7 * 3.0)
    finally:
        del Bare.extra
    assert slope(0.7) == pytest.approx(2 * 0.7 * 2.0)


def counted(x):
    counts = Counter()
    counts[1] += x
    counts.update({1: x * x})
    return counts[1]


def test_a_counter_adds_what_a_dict_replaces():
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="an object of type Counter"):
        s2sad.grad(counted)(1.1)


class Flat:
    def __init__(self, rate):
        self.rate = rate

    def price(self, x):
        return self.rate * x


class Kinked(Flat):
    def price(self, x):
        return max(x - self.rate, 0.0)


class Book:
    def __init__(self):
        self.positions = []

    def add(self, claim, quantity):
        self.positions.append((claim, quantity))
        return self

    def value(self, x):
        return sum(quantity * claim.price(x) for claim, quantity in self.positions)


def positions(x):
    book = Book().add(Flat(0.3), 2.0).add(Kinked(0.5), -1.5)
    book.add(Kinked(0.2), 1.0)
    return book.value(x) + book.value(x * x) ** 2


def test_methods_of_objects_in_tuples_are_put_in():
    text = s2sad.grad(positions).source_for(1.1)
    assert "fprop_of" not in text and "Shadows" in text
    expected = (positions(1.1 + 1e-6) - positions(1.1 - 1e-6)) / 2e-6
    assert abs(s2sad.grad(positions)(1.1) - expected) < 1e-6


def test_settings_that_a_class_holds():
    derivative = s2sad.grad(settings_merged_with_those_of_the_class)
    text = derivative.source_for(0.3, np.ones(3))
    assert "Shadows" in text and "heap_get" not in text
