"""Changes of objects that several names hold: exact, or refused; the adjoints by places, as transposes."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.runtime.heap_adjoints import (
    cleared,
    closed,
    closed_at,
    gathered,
    held_alone,
    held_part,
    opened,
    opened_at,
    part_alone,
    part_at,
    parts_alone,
    parts_at,
    permuted,
    scattered,
    unpermuted,
    without_held,
    without_part,
    without_parts,
)
from s2sad.runtime.heap_keys import record_of_slice
from s2sad.runtime.heap_table import Table
from s2sad.runtime.object_graph import items_of, places_of
from tests.support.build import build
from tests.support.compare import assert_same, check_program

# mypy: allow-untyped-defs


class Cell:
    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v

    def put(self, v):
        self.v = v


class Guarded(Cell):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


class Loud(list):
    def __setitem__(self, k, v):
        super().__setitem__(k, v * 2)


# ---------------------------------------------------------------- transposes

LIST = [1.5, 0.5, 2.5]
CELL = Cell(0.7)
SHARED = [CELL, (CELL, 0.3), LIST]
NEW = [0.5, CELL]
HOLDERS = ((LIST, 1), (CELL, "v"), (SHARED, 2))
SET = record_of_slice(LIST, slice(None, None, -2), [0.5, 1.5])

PAIRS: dict[str, tuple[Any, Any]] = {
    "without_part": (lambda d: without_part(d, LIST, 1), lambda d: without_part(d, LIST, 1)),
    "without_parts": (
        lambda d: without_parts(d, places_of(SHARED)),
        lambda d: without_parts(d, places_of(SHARED)),
    ),
    "opened": (lambda d: opened(d, LIST, 1), lambda d: closed(d, LIST, 1)),
    "opened_of_an_object": (lambda d: opened(d, CELL, "v"), lambda d: closed(d, CELL, "v")),
    "cleared": (lambda d: cleared(d, LIST), lambda d: cleared(d, LIST)),
    "permuted": (lambda d: permuted(d, LIST, [2, 0, 1]), lambda d: unpermuted(d, LIST, [2, 0, 1])),
    "some_kept": (lambda d: permuted(d, LIST, [2, 0]), lambda d: unpermuted(d, LIST, [2, 0])),
    "part_at": (lambda d: part_at(d, LIST, 1, 0.5), lambda d: part_alone(d, LIST, 1, 0.5)),
    "held_part": (lambda d: held_part(d, 0.5, HOLDERS), lambda d: held_alone(d, 0.5, HOLDERS)),
    "without_held": (lambda d: without_held(d, HOLDERS), lambda d: without_held(d, HOLDERS)),
    "opened_at": (lambda d: opened_at(d, LIST, SET), lambda d: closed_at(d, LIST, SET)),
    "parts_at": (lambda d: parts_at(d, SET), lambda d: parts_alone(d, SET)),
    "gathered": (lambda d: gathered(d, places_of(SHARED)), lambda d: scattered(d, places_of(SHARED))),
    "gathered_once": (
        lambda d: gathered(d, places_of(SHARED), True),
        lambda d: scattered(d, places_of(SHARED), True),
    ),
    "gathered_items": (lambda d: gathered(d, items_of(NEW)), lambda d: scattered(d, items_of(NEW))),
}


def drawn(rng: np.random.Generator) -> Any:
    """An adjoint of all places."""
    found = Table({})
    for x in (LIST, SHARED, NEW):
        for k in range(4):
            found = found.with_part(x, k, float(rng.normal()))
    found = found.with_part(CELL, "v", float(rng.normal()))
    return found.with_part(SHARED, 1, (None, float(rng.normal())))


def pairing(a: Any, b: Any) -> float:
    if a is None or b is None:
        return 0.0
    if isinstance(a, Table):
        return sum(pairing(held, b.at(x)) for x, held in list(a.items()))
    if isinstance(a, dict):
        return sum(pairing(v, b.get(k)) for k, v in a.items())
    if isinstance(a, (list, tuple)):
        return sum(pairing(u, v) for u, v in zip(a, b, strict=True))
    return pairing(vars(a), vars(b)) if hasattr(a, "__dict__") else a * b


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", range(3))
def test_transposes(name: str, seed: int) -> None:
    there, back = PAIRS[name]
    rng = np.random.default_rng(seed)
    v, w = drawn(rng), drawn(rng)
    kept = pairing(v, w)
    u = there(w)
    assert u is not None
    assert pairing(u, there(v)) == pytest.approx(pairing(back(u), v), rel=1e-12)
    assert pairing(v, w) == pytest.approx(kept, rel=1e-12)


# ---------------------------------------------------------------- aliases


def class_changed_through_another_name(x, y):
    held = [Cell(x)]
    box = Cell(held[0])
    other = [box]
    other[0].v = Cell(y)
    return box.v.get() * x + held[0].v


def flag_set_through_another_name(x, y):
    cell = Cell(None)
    cells = [cell]
    cells[0].v = y
    if cell.v is None:
        return x
    return cell.v * x


def overwritten_by_a_constant(x, y):
    a = Cell(x)
    cells = [a]
    a.v = 2.0
    return cells[0].v * y + x


def returned_by_what_is_called(x, y):
    cells = [Cell(x), Cell(y)]
    cells[1].v = cells[0].v * y
    b = first_of(cells)
    b.v = b.v * 3 * cells[1].v
    return cells[0].v + cells[0].v * cells[1].v


def first_of(cells):
    return cells[0]


def captured_by_a_function(x, y):
    cell = Cell(x)
    cells = [cell]

    def get():
        return cell.v

    cells[0].v = x * y
    return get() + cells[0].v


@pytest.mark.parametrize(
    "f",
    [
        captured_by_a_function,
        class_changed_through_another_name,
        flag_set_through_another_name,
        overwritten_by_a_constant,
        returned_by_what_is_called,
    ],
    ids=lambda f: f.__name__,
)
def test_what_is_changed_through_one_name_is_seen_through_others(f: Any) -> None:
    check_program(f, (0.7, 1.3), (0, 1))


# ---------------------------------------------------------------- refused


def loop_over_a_list_that_grows(x):
    items = [x]
    other = items
    for v in items:
        if len(items) < 3:
            other.append(v * 2)
    return sum(items)


def set_by_the_class(x):
    cell = Guarded(x)
    cells = [cell]
    cells[0].v = x * x
    return cell.v


def list_of_the_users_class(x):
    items = Loud([x])
    other = [items]
    other[0][0] = x * x
    return items[0]


def array_of_the_caller_changed(x):
    cells = [Cell((x, x)[k]) for k in range(2)]
    for c in cells:
        c.v += 1.0
    return np.sum(x * cells[0].v)


def array_of_a_local_name_changed(x):
    w = x * np.ones(2)
    cells = [Cell((w, x)[k]) for k in range(2)]
    for c in cells:
        c.v += 1.0
    return np.sum(w * cells[0].v)


def array_viewed_and_changed(x):
    w = x * np.ones(2)
    cells = [Cell((w, w[::-1])[k]) for k in range(2)]
    cells[0].v += x
    cells[1].v = cells[1].v * x
    return np.sum(cells[1].v)


def array_reshaped_and_changed(x):
    cells = [Cell((x * np.ones(4), x)[k]) for k in range(2)]
    t = cells[0].v.reshape(2, 2)
    t[0] = x
    return np.sum(cells[0].v)


def array_of_a_local_tuple_changed(x):
    w = x * np.ones(2)
    pair = (w, 1.0)
    cells = [Cell(pair), Cell(x)]
    for c in cells[1:]:
        c.v = c.v * 2
    w += x
    return np.sum(cells[0].v[0]) * cells[1].v


def array_of_a_tuple_changed(x):
    w = x * np.ones(2)
    cells = [Cell((w, (w, x))[k]) for k in range(2)]
    cells[0].v += x
    return np.sum(cells[1].v[0])


def array_of_a_closure_changed(x):
    w = x * np.ones(2)
    cells = [Cell(w), Cell(lambda: w * 2)]
    for c in cells[:1]:
        c.v += x
    return np.sum(cells[1].v())


def array_of_an_iterator_changed(x):
    w = x * np.ones(2)
    cells = [Cell((w, x)[k]) for k in range(2)]
    for v in w:
        cells[0].v += v
    return np.sum(cells[0].v)


class Sharing(Cell):
    weights = np.ones(2)


def array_of_the_class_changed(x):
    cells = [Sharing(x) for _ in range(2)]
    for c in cells:
        c.weights += 0.0
        c.v = c.v * np.sum(c.weights)
    return cells[0].v


def changed_by_an_unknown_function(x, f):
    cell = Cell(x)
    cells = [cell]
    cells[0].v = x * x
    f(cell)
    return cell.v


def changing(cell):
    cell.v = 3.0


def same_cell_twice():
    cell = Cell(0.7)
    return [cell, cell]


def held_twice(cells):
    cells[0].v = cells[1].v * 2
    return cells[0].v


KEPT = [1.0]


def list_of_another_argument(x, items, others):
    items.append(x * x)
    return others[-1] * x


def list_of_the_module(x, items):
    items.append(x * x)
    return KEPT[-1] * x


def list_that_a_function_reads(x, items, last):
    items.append(x * x)
    return last() * x


REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (set_by_the_class, (0.7,)),
    (list_of_the_users_class, (0.7,)),
    (array_of_the_caller_changed, (np.ones(2),)),
    (array_of_a_local_name_changed, (0.7,)),
    (array_viewed_and_changed, (0.7,)),
    (array_reshaped_and_changed, (0.7,)),
    (array_of_a_local_tuple_changed, (0.7,)),
    (array_of_a_tuple_changed, (0.7,)),
    (array_of_an_iterator_changed, (0.7,)),
    (array_of_the_class_changed, (0.7,)),
    (changed_by_an_unknown_function, (0.7, changing)),
    (list_of_another_argument, (0.7, KEPT, KEPT)),
    (list_of_the_module, (0.7, KEPT)),
    (list_that_a_function_reads, (0.7, KEPT, lambda: KEPT[-1])),
]


@pytest.mark.parametrize(("f", "args"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
@pytest.mark.parametrize("transform", [s2sad.vjp, s2sad.jvp])
def test_what_cannot_be_followed_is_refused(f: Any, args: tuple[Any, ...], transform: Any) -> None:
    with pytest.raises(s2sad.S2sadError):
        transform(f, argnums=0)(*args, *([1.0] if transform is s2sad.jvp else []))


def test_an_argument_that_is_held_twice_has_its_derivative_in_both_places() -> None:
    assert [c.v for c in s2sad.grad(held_twice)(same_cell_twice())] == [2.0, 2.0]
    assert s2sad.jvp(held_twice)(same_cell_twice(), [Cell(1.0), Cell(1.0)])[1] == 2.0
    with pytest.raises(s2sad.NonDifferentiableError, match="different tangents of one Cell"):
        s2sad.jvp(held_twice)(same_cell_twice(), [Cell(1.0), Cell(0.0)])


class Chain:
    """Atoms with bonds, which hold the atoms, too; the chain holds itself."""

    def __init__(self, xs):
        self.atoms = [Cell(x) for x in xs]
        self.bonds = [Bond(a, b) for a, b in itertools.pairwise(self.atoms)]
        self.whole = self

    def energy(self):
        for bond in self.bonds:
            bond.update()
        return sum(b.e * b.a.v for b in self.whole.bonds)


class Bond:
    def __init__(self, a, b):
        self.a, self.b, self.e = a, b, 0.0

    def update(self):
        self.e = (self.a.v - self.b.v) ** 2


def energy_of_atoms(x, chain):
    for atom, v in zip(chain.atoms, x, strict=True):
        atom.v = v
    return chain.energy()


class Held:
    """Functions that an object holds, and that read it."""

    def __init__(self, w):
        self.w = w
        self.squashed = lambda z: np.tanh(self.w * z)
        self.chosen = self.squared

    def squared(self, z):
        return z * self.w**2


def changed_and_read(x):
    held = [Held(1.0) for _ in range(2)]
    for h in held:
        h.w = x * h.w
    return sum(h.squashed(0.5) for h in held)


def changed_given(x, held):
    for h in held:
        h.w = x * h.w
    return sum(h.squashed(0.5) for h in held)


def in_a_list(x):
    h, functions = Held(1.0), []
    functions.append(h.squashed)
    h.w = x
    return functions[0](0.5)


def by_name(x, held, name):
    held.table[name] = x
    return held.read(2.0)


def held_with_a_table():
    held = Held(1.0)
    held.table = {"a": 1.0}  # type: ignore[attr-defined]
    held.read = lambda p: held.table["a"] * p  # type: ignore[attr-defined]
    return held


@pytest.mark.parametrize("transform", [s2sad.vjp, s2sad.jvp])
def test_held_functions_that_read_what_changes_are_refused(transform: Any) -> None:
    given = [([Held(1.0), Held(2.0)],), (held_with_a_table(), "a")]
    for f, args in zip((changed_given, by_name), given, strict=True):
        with pytest.raises(s2sad.S2sadError, match="held function that reads"):
            transform(f, argnums=0)(0.7, *args, *([1.0] if transform is s2sad.jvp else []))


@pytest.mark.parametrize("f", [changed_and_read, in_a_list, array_of_a_closure_changed])
def test_closures_that_read_what_changes_are_followed(f: Any) -> None:
    s2sad.check_grads(f, (0.7,))


def test_held_functions_that_read_their_object() -> None:
    assert s2sad.grad(lambda h: h.chosen(2.0))(Held(1.5)).w == 6.0
    with pytest.raises(s2sad.S2sadError, match="reads that object"):
        s2sad.grad(lambda h: h.squashed(2.0))(Held(1.5))
    with pytest.raises(s2sad.S2sadError, match="reads that object"):
        s2sad.jvp(lambda h: h.squashed(2.0))(Held(1.5), Held(1.0))


class Scaled:
    def __init__(self, **factors):
        self.factors = {"a": 1.0, **factors}
        if len(factors) > 1:
            self.scaled = times_nine  # type: ignore[method-assign]

    def scaled(self, p):
        return self.factors["a"] * p


def times_nine(p):
    return 9.0 * p


def made_by_names(x, names):
    return Scaled(**dict.fromkeys(names, x)).scaled(2.0 * x)


def test_a_method_that_the_object_replaces() -> None:
    assert s2sad.grad(made_by_names)(1.5, ["a"]) == 6.0
    with pytest.raises(s2sad.S2sadError, match="in place of the method"):
        s2sad.grad(made_by_names)(1.5, ["a", "b"])

    def replaced_in_one(x, n):
        cells = [Renamed() for _ in range(n)]
        cells[0].replace(x)
        return sum(c.scaled(x) for c in cells)

    with pytest.raises(s2sad.S2sadError, match="in place of the method"):
        s2sad.grad(replaced_in_one)(1.5, 2)


class Renamed:
    factor = 2.0

    def scaled(self, p):
        return self.factor * p

    def replace(self, x):
        self.scaled = times_nine  # type: ignore[method-assign]


def test_an_attribute_by_a_name_that_only_the_run_knows() -> None:
    def set_by_name(x, name):
        cells = []
        cells.append(Cell(1.0))
        for c in cells:
            c.other = None
            setattr(c, name, x * x)
        return cells[0].v + (cells[0].other or 0.0)

    for name in ("v", "other"):
        assert s2sad.grad(set_by_name)(1.5, name) == 3.0
        assert s2sad.jvp(set_by_name, argnums=0)(1.5, name, 1.0)[1] == 3.0


def squares_in_bonds(x, chain):
    for bond, v in zip(chain.bonds, x, strict=False):
        bond.a.e = v * v
    return sum(atom.e * atom.v for atom in chain.atoms[:2])


def test_what_is_stored_through_one_place_is_read_in_the_other() -> None:
    x, chain = np.array([1.0, 2.0]), Chain([1.0, 3.0, 1.0])
    for atom in chain.atoms:
        atom.e = None
    np.testing.assert_allclose(s2sad.grad(squares_in_bonds)(x, chain), [2.0, 12.0])
    assert s2sad.jvp(squares_in_bonds, argnums=0)(x, chain, np.ones(2))[1] == 14.0


def test_a_graph_of_objects() -> None:
    x = np.array([1.0, 2.5, 0.5])
    expected = [1.5**2 - 2 * 1.5, 2 * 1.5 + 4.0 + 2.5 * 4.0, -2.5 * 4.0]
    np.testing.assert_allclose(s2sad.grad(lambda x: Chain(x).energy())(x), expected)
    np.testing.assert_allclose(s2sad.grad(energy_of_atoms)(x, Chain(np.zeros(3))), expected)
    gradient = s2sad.grad(Chain.energy)(Chain(x))
    np.testing.assert_allclose([a.v for a in gradient.atoms], expected)
    np.testing.assert_allclose([b.a.v for b in gradient.bonds], expected[:2])
    s2sad.check_grads(lambda x: Chain(x).energy(), (x,))


def test_a_list_that_grows_in_a_loop_over_it_has_no_way_back() -> None:
    with pytest.raises(s2sad.S2sadError, match="longer or shorter"):
        s2sad.grad(loop_over_a_list_that_grows)(0.7)
    assert s2sad.jvp(loop_over_a_list_that_grows)(0.7, 1.0)[1] == pytest.approx(7.0)


def test_the_objects_of_the_caller_change_as_in_the_function() -> None:
    def double(cells, y):
        for c in cells:
            c.v = c.v * y
        return cells[0].v

    given, expected = [Cell(0.7), Cell(1.1)], [Cell(0.7), Cell(1.1)]
    double(expected, 2.0)
    s2sad.grad(double, argnums=(0, 1))(given, 2.0)
    assert_same([c.v for c in given], [c.v for c in expected])


def test_a_function_that_changes_its_argument_is_refused_in_another() -> None:
    def outer(cells, f):
        return f(cells) * 2

    def inner(cells):
        for c in cells:
            c.v = c.v * 2
        return cells[0].v

    with pytest.raises(s2sad.S2sadError):
        s2sad.vjp(outer, argnums=0)([Cell(0.7)], inner)


def test_what_is_returned_beside_the_value() -> None:
    def doubled(x):
        cell = Cell(x)
        cells = [cell]
        cells[0].v = cell.v * x
        return np.sum(cell.v), {"count": 3, "cell": cell}

    x = np.array([0.7, 1.1])
    gradient, aux = s2sad.grad(doubled, has_aux=True)(x)
    np.testing.assert_allclose(gradient, 2 * x)
    np.testing.assert_allclose(aux["cell"].v, x * x)
    (value, aux), again = s2sad.value_and_grad(doubled, has_aux=True)(x)
    assert value == np.sum(x * x) and aux["count"] == 3
    assert_same(again, gradient)


def test_changed_objects_are_outputs() -> None:
    def step(cells, x):
        same = cells[0]
        cells[0].v = same.v * x
        cells[1].v = same.v + x

    given = [Cell(0.7), Cell(1.1)]
    out, bprop = s2sad.vjp(step, outputs="cells")(given, 2.0)
    assert out[0] is given[0] and [c.v for c in out] == [1.4, 3.4]
    for weights in ((1.0, 0.0), (0.0, 1.0), (0.3, 0.5), (1.0, 0.0)):
        dcells, dx = bprop([Cell(w) for w in weights])
        assert dcells[0].v == pytest.approx(2.0 * (weights[0] + weights[1]))
        assert dcells[1].v == 0.0
        assert dx == pytest.approx(0.7 * (weights[0] + weights[1]) + weights[1])


def test_an_output_has_one_value() -> None:
    def step(cells, x):
        same = [cells[0]]
        same[0].v = cells[0].v * x
        cells = [x]
        cells.append(x)

    with pytest.raises(s2sad.S2sadError):
        s2sad.vjp(step, outputs="cells")([Cell(0.7), Cell(1.1)], 2.0)


def test_names_that_may_have_no_value_hold_no_array() -> None:
    """In the second tangent the loop's copy of `a` is asked for before the loop."""
    h = build(
        """
def rec(h, n):
    return h(n) if n == 0 else rec(h, n - 1)

def f(x):
    a = x * 2.0
    b = a[1:]
    b *= a[:-1]
    fs = []
    for k in range(2):
        def g(n):
            return np.sum(a * a) + n
        fs.append(g)
    return rec(fs[0], 1) * rec(fs[1], 2) * b[0]

def h(x):
    return jvp(f, (x,), (x,))[1]
""",
        jvp=s2sad.jvp,
    )
    x = np.array([0.5, -0.7, 1.2])
    with pytest.raises(s2sad.S2sadError, match="another name, read later"):
        s2sad.jvp(h)(x, x)


class State(enum.Enum):
    SOWN, GREEN = range(2)


class Step:
    def __init__(self, grain):
        self.state, self.grain = State.SOWN, grain

    def advance(self):
        self.state = AFTER[self.state]


AFTER = {State.SOWN: State.GREEN, State.GREEN: State.SOWN}


def test_a_check_of_a_table_gives_it_no_tangent() -> None:
    """The check is given the heap, which varies, and stores nothing."""

    def f(x):
        step = [Step(x), Step(x)][int(x)]
        step.advance()
        return step.grain * x

    assert s2sad.jvp(s2sad.grad(f), (1.3,), (1.0,)) == (2.6, 2.0)
