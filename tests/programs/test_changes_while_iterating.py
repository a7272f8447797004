"""Arrays, lists and dicts that are changed while a loop goes over them, or while objects hold them: what
Python reads when an item's turn comes.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import check_program

# mypy: allow-untyped-defs
# ruff: noqa: B007, B020, B905, C408, C417, E741, F841, RUF007, RUF059, SIM118 (programs as people write them)


class Cell:
    def __init__(self, v):
        self.v = v


class Sharing(Cell):
    weights = np.ones(2)


def array_of_a_local_name_changed(x):
    w = x * np.ones(2)
    cells = [Cell(w), Cell(x)]
    for c in cells:
        c.v += 1.0
    return np.sum(w * cells[0].v)


def array_viewed_and_changed(x):
    w = x * np.ones(2)
    cells = [Cell(w), Cell(w[::-1])]
    cells[0].v += x
    cells[1].v = cells[1].v * x
    return np.sum(cells[1].v)


def array_reshaped_and_changed(x):
    cells = [Cell(x * np.ones(4)), Cell(x)]
    t = cells[0].v.reshape(2, 2)
    t[0] = x
    return np.sum(cells[0].v)


def array_of_a_tuple_changed(x):
    w = x * np.ones(2)
    cells = [Cell(w), Cell((w, x))]
    cells[0].v += x
    return np.sum(cells[1].v[0])


def array_of_an_iterator_changed(x):
    w = x * np.ones(2)
    cells = [Cell(w), Cell(x)]
    for v in w:
        cells[0].v += v
    return np.sum(cells[0].v)


def array_of_the_class_changed(x):
    cells = [Sharing(x), Sharing(x)]
    for c in cells:
        c.weights += 0.0
        c.v = c.v * np.sum(c.weights)
    return cells[0].v


def changed_through_a_name(x):
    w = x * np.ones(2)
    u = w
    for v in w:
        u[0] += v
    return np.sum(u)


def rows_changed_through_a_view(x):
    w = x * np.ones((2, 2))
    u = w[::-1]
    for v in w:
        u[0] += v * 2
    return np.sum(u**2)


def a_zip_that_it_changes(x):
    w = x * np.ones(3)
    for a, v in zip([1.0, 2.0, 3.0], w):
        w[...] = w * v + a
    return np.sum(w**2)


def backwards(x):
    w = x * np.ones(3)
    return_ = [v * w.sum() for v in w]
    for v in reversed(w):
        w[0] += v**2
    return np.sum(w**2) + return_[0]


def a_part_of_itself(x):
    w = x * np.ones(3)
    for a, b in zip(w, w[1:]):
        w[1:] *= a + b
    return np.sum(w**2)


def rows_taken_apart(x):
    w = x * np.ones((3, 2))
    for a, b in w:
        w[1:] *= a + b
    return np.sum(w**2)


def loops_within_rows(x):
    w = x * np.ones((2, 3))
    for row in w:
        for e in row:
            row += e
            w[0] *= 1 + e
    return np.sum(w)


def changed_by_a_closure(x):
    w = x * np.ones(3)
    h = w

    def f(a):
        h[2] = h[2] + a

    for v in w:
        f(v)
    return np.sum(w)


def left_early(x):
    w = x * np.ones(3)
    u = w
    for v in w:
        u += v
        if np.sum(u) > 8:
            break
    return np.sum(u)


def transposes(x):
    w = x * np.ones((3, 3))
    u = w.T
    for v in w:
        u[2] += v
    for v in w.T:
        w[0] *= v
    for v in w.flat:
        u[1, 1] += v
    return np.sum(u)


def counted_pairs(x):
    w = x * np.ones(4)
    for i, (a, b) in enumerate(zip(w, w[1:])):
        w[2] += a * b * i
    return np.sum(w**2)


def counted_within_a_zip(x):
    w = x * np.ones(4)
    for (i, v), u in zip(enumerate(w), [1.0, 2.0, 3.0]):
        w[3] += v * u * i
        w[1] *= u
    return np.sum(w**2)


def mapped(x):
    w = x * np.ones(4)
    for v in map(lambda t: t * 2, w):
        w[3] += v
        w[1] *= v
    return np.sum(w**2)


def of_a_generator(x):
    w = x * np.ones(4)
    for v in (t * 2 for t in w):
        w[3] += v
        w[1] *= v
    return np.sum(w**2)


def filtered(x):
    w = x * np.ones(4)
    for v in filter(lambda t: t > 0, w):
        w[3] += v
        w[1] *= v
    return np.sum(w**2)


def lists_counted(x):
    w = [x, 2 * x, 3 * x]
    for i, v in enumerate(zip(w, w)):
        w[2] = w[2] * v[0] * (i + 1)
        w[1] = w[2] * v[1]
    return w[2] * w[1]


def a_dict_beside_an_array(x):
    w = x * np.ones(3)
    d = {"a": w, "b": 2 * x}
    s = 0.0
    for k, v in d.items():
        d["b"] = d["b"] * x + np.sum(v)
        s += np.sum(v)
    return s


def values_of_a_dict(x):
    d = {"a": x, "b": 2 * x}
    s = 0.0
    for v in d.values():
        d["b"] = d["b"] * x
        s += v
    for k, (q, v) in enumerate(d.items()):
        d["b"] = d["b"] * x * (k + 1)
        s += v
    for k, v in zip([1.0, 2.0], d.values()):
        d["b"] = d["b"] * x * k
        s += v
    return s


def rows_and_views(x):
    w = x * np.ones((3, 2))
    s = 0.0
    for (i, row), z in zip(enumerate(w), w[::-1]):
        z[0] += row[1] * i
        row[1] *= x
        s += z.sum()
    return s + np.sum(w**2)


def mapped_within_a_zip(x):
    w = x * np.ones(3)
    for a, v in zip(map(lambda t: t * 2, w), [1.0, 2.0, 3.0]):
        w[2] += a * v
    return np.sum(w**2)


def a_generator_within_a_zip(x):
    w = x * np.ones(3)
    for a, v in zip((t * 2 for t in w), w):
        w[2] += a * v
        w[0] *= v
    return np.sum(w**2)


def backwards_within_a_zip(x):
    w = x * np.ones(3)
    for a, v in zip([1.0, 2.0, 3.0], reversed(w)):
        w[0] += a * v
    return np.sum(w**2)


def zips_of_zips(x):
    w = x * np.ones(3)
    s = 0.0
    for p, (i, v) in zip(enumerate(zip(w, w)), enumerate(w, 2)):
        w[2] += p[0] * p[1][0] * v * i
        s += p[1][1]
    return np.sum(w**2) * s


def mapped_pairs(x):
    w = x * np.ones(3)
    s = 0.0
    for (p, q), r in zip(map(lambda a, b: (a * b, a), w, w[1:]), w):
        w[2] += p * q + r
        s += p
    return np.sum(w**2) * s


def left_with_else(x):
    w = x * np.ones(3)
    s = 0.0
    for (p, q), r in zip(zip(w, [1.0, 2.0]), [1.0, 2.0, 3.0]):
        w[1] += p * q + r
        if w[1] > 10:
            break
    else:
        s = w[1] * x
    return np.sum(w**2) * s


def generators_of_zips(x):
    w = x * np.ones(3)
    s = 0.0
    return sum(a * b * i for (i, a), b in zip(enumerate(w), w[::-1])) + sum(
        [a * b for a, (i, b) in zip(w, enumerate(w)) if i > 0]
    )


def keys_of_a_dict(x):
    d = {"a": x, "b": 2 * x}
    for k, v in d.items():
        d[k] = v * x
    for k in d:
        d[k] = d[k] * x
    for k in d.keys():
        d["b"] = d[k] * x
    for k, v in list(d.items()):
        d["b"] = v * d[k]
    return d["a"] * d["b"]


def another_name_of_a_dict(x):
    d = {"a": x, "b": 2 * x}
    e = d
    for k, v in d.items():
        e["b"] = v * x
    return d["a"] * d["b"]


def a_dict_of_a_closure(x):
    d = {"a": x, "b": 2 * x}

    def up(v):
        d["b"] = d["b"] * v

    s = 0.0
    for k, v in d.items():
        up(v)
        s += v
    return s


def arrays_of_a_dict(x):
    d = {"a": x * np.ones(2), "b": 2 * x * np.ones(2)}
    s = 0.0
    for k, v in d.items():
        v *= x
        d["b"] += 1.0
        s += np.sum(v)
    return s + np.sum(d["b"])


def updated_in_the_loop(x):
    d = {"a": x, "b": 2 * x}
    s = 0.0
    for k, v in d.items():
        d.update(b=v * 3)
        s += v
    return s


def items_counted(x):
    d = {"a": x, "b": 2 * x}
    s = 0.0
    for i, (k, v) in enumerate(d.items()):
        d[k] = v * i
        s += v
    return s + d["b"]


def a_filter_within_a_zip(x):
    w = x * np.ones(3)
    for a, v in zip([1.0, 2.0, 3.0], filter(lambda t: t > 0, w)):
        w[2] += a * v
    return np.sum(w**2)


def pairwise_that_changes_nothing(x):
    w = x * np.arange(1.0, 4.0)
    s = 0.0
    out = []
    for a, b in itertools.pairwise(w):
        s += np.sin(a * b)
        out.append(a)
    return s + out[0]


def columns_that_change_nothing(x):
    w = x * np.ones((3, 3))
    s = 0
    for a in zip(*w):
        s += a[0] * a[1]
    return s


def pairs_as_a_whole(x):
    w = x * np.ones(3)
    u = w
    for p in zip(map(np.sin, w), enumerate(w)):
        a, (i, b) = p
        u += a * b * i
    return np.sum(w**2)


def items_counted_and_changed(x):
    d = {"a": x, "b": x * 2}
    s = 0.0
    for i, (k, v) in enumerate(d.items()):
        d["b"] = v * x * i
        s += v
    return s


def values_zipped(x):
    d = {"a": x, "b": x * 2}
    s = 0.0
    for i, v in zip(range(1, 4), d.values()):
        d["b"] = v * x * i
        s += v
    return s


def items_as_a_whole(x):
    d = {"a": x, "b": x * 2}
    s = 0.0
    for it in d.items():
        d["b"] = it[1] * x
        s += it[1]
    return s


def a_dict_renamed(x):
    d = {"a": x, "b": x * 2}
    s = 0.0
    for a, (k, v) in zip([1.0, 2.0], d.items()):
        d["b"] = v * x
        d = {"b": 1.0}
        s += a * v
    return s


def items_taken_apart(x):
    d = {"a": [x, 2.0], "b": [x * 2, 3.0]}
    s = 0.0
    for k, (v, u) in d.items():
        d["b"] = [v * x, u]
        s += v * u
    return s


def dicts_consumed(x):
    d = {"a": x, "b": x * 2}
    return (
        sum(v * v for v in d.values()) * max(d.values())
        + sum([v for k, v in d.items() if k != "a"])
        + {k: v * 2 for k, v in d.items()}["b"]
    )


def some_of_the_items(x):
    w = x * np.ones(3)
    for v in itertools.islice(w, 2):
        w[1] += v
    return np.sum(w**2)


def indices_and_elements(x):
    w = x * np.ones(3)
    for i, v in np.ndenumerate(w):
        w[2] += v
    return np.sum(w**2)


def views_made_in_the_loop(x):
    w = x * np.ones(3)
    for v in w.T.ravel():
        w[2] += v
    for v in np.atleast_1d(w):
        w[2] += v
    for v in np.asarray(w):
        w[2] += v
    return np.sum(w**2)


def both_ends(x):
    w = x * np.ones(3)
    a, b, *c = reversed(w)
    it = zip(w, reversed(w))
    for p, q in it:
        w[0] += p * q
    return np.sum(w**2) * a * b


def copies_of_lists(x):
    w = [x, 2 * x, 3 * x]
    for v in w[::-1]:
        w[0] += v
    for v in reversed(w):
        w[0] += v
    for v in tuple(w):
        w[2] += v
    return sum(w)


def lists_of_lists(x):
    w = [[x, 2 * x], [3 * x, x]]
    for v in w:
        w[1] = [v[0] * x, v[1]]
        for e in v:
            v[1] += e
    return w[1][1] * w[0][1]


def pairwise(x):
    w = x * np.ones(3)
    for a, b in itertools.pairwise(w):
        w[2] += a * b
    return np.sum(w)


def columns(x):
    w = x * np.ones((3, 3))
    for a in zip(*w):
        w[2] += a[0]
    return np.sum(w**2)


def accumulated(x):
    w = x * np.ones(3)
    for v in itertools.accumulate(w):
        w[2] += v
    return np.sum(w**2)


class Model:
    def __init__(self, x):
        self.p = {"w": x * np.ones(2), "b": x}

    def step(self):
        for k, v in self.p.items():
            self.p[k] = v - 0.1 * np.sum(self.p["w"])


def a_generator_with_a_name_of_the_functions(x):
    t = x
    s = 0.0
    for a, b in zip((t * 2 for t in [1.0, 2.0]), [x, x]):
        s += a * b * t
    return s


def dicts_of_dicts(x):
    d = {"u": {"a": x, "b": x * x}, "v": {"a": 2.0}}
    s = 0.0
    for k, e in d.items():
        for j, v in e.items():
            e[j] = v * x
            s += v * len(k)
    return s + d["u"]["a"]


def values_that_grow(x):
    d = {"u": [x], "v": [x * x]}
    s = 0.0
    for l in d.values():
        l.append(l[0] * x)
    for k, (p, q) in d.items():
        s += p * q
    return s


def a_key_that_is_assigned(x):
    d = {1: x, 2: 2 * x}
    s = 0.0
    k = 7
    for k, v in d.items():
        k = k * 2
        s += v * k
    return s * k


def a_dict_that_is_a_target(x):
    d = {"a": x, "b": 2 * x}
    s = 0.0
    for d_k, d in list({"a": d}.items()):
        for k, v in d.items():
            s += v
    return s


def stored_at_keys_of_another(x):
    d = {"a": x, "b": 2 * x}
    out = {}
    for k, v in d.items():
        out[k] = v * x
        for k2, v2 in out.items():
            out[k2] = v2 * v
    return sum(out.values())


def gone_through_again(x):
    d = dict(a=x, b=2 * x)
    s = 0.0
    while s < 5:
        for k, v in d.items():
            d[k] = v * 1.5 + s * 0.01
            s += v
    return s


def a_dict_replaced(x):
    d = {"a": x}
    s = 0.0
    for v in d.values():
        d = {"a": v * 2}
        s += d["a"]
    return s + d["a"]


def a_step_of_a_model(x):
    m = Model(x)
    for _ in range(2):
        m.step()
    return np.sum(m.p["w"]) * m.p["b"]


def of_no_items(x):
    e = {}
    s = 0.0
    for v in e.values():
        s += v
    for k, v in {"z": x}.items():
        s += v
    return s + x


def a_dict_with_itself(x):
    d = {"a": x, "b": x * 2}
    s = 0.0
    for (k, v), (j, u) in zip(d.items(), d.items()):
        d["b"] = u * v
        s += v * u
    return s


def lists_backwards(x):
    rows = [[x, 2.0], [3.0, x]]
    s = 0.0
    for r in rows:
        for i, v in enumerate(r):
            r[1] = v * x
            s += v
    for r, q in zip(rows, reversed(rows)):
        q[0] = r[1] * x
        s += r[0]
    return s


def a_view_with_a_name(x):
    d = {"a": x, "b": 2 * x}
    it = d.items()
    s = 0.0
    for k, v in it:
        d["b"] = 3 * v
        s += v
    return s


def a_view_after_a_change(x):
    d = {"a": x, "b": 2 * x}
    vs = d.values()
    d["a"] = 5 * x
    return sum(vs)


def parameters_and_gradients(x):
    ps = [np.ones(2) * x, x * np.ones(3)]
    gs = [np.ones(2) * x, np.ones(3) * x]
    for p, g in zip(ps, gs):
        p -= 0.1 * g * p
    for i, (p, g) in enumerate(zip(ps, gs)):
        ps[i] = p * g
    return sum(np.sum(p) for p in ps)


class Wave:
    def __init__(self, w):
        self.w = w

    def at(self, x):
        return np.sin(self.w * x)


class Cosine(Wave):
    def at(self, x):
        return np.cos(self.w * x)


def objects_bound_again_in_the_loop(w):
    waves, others, x = [Wave(w), Cosine(w * 2)], [Wave(2.0), Cosine(3.0)], 0.3
    for wave in waves:
        waves = others
        x = wave.at(x)
    return x * waves[0].at(x)


def pairwise_written_to_by_position(x):
    w, s = x * np.ones(3), 0.0
    for a, b in itertools.pairwise(w):
        np.multiply(w, 2.0, w)
        s = s + a * b
    return s


def pairwise_changed_by_an_operator(x):
    w, s = x * np.ones(3), 0.0
    for a, b in itertools.pairwise(w):
        operator.iadd(w, 2.0)
        s = s + a * b
    return s


RIGHT: list[Callable[..., Any]] = [
    array_of_a_local_name_changed,
    array_viewed_and_changed,
    array_reshaped_and_changed,
    array_of_a_tuple_changed,
    array_of_an_iterator_changed,
    changed_through_a_name,
    rows_changed_through_a_view,
    a_zip_that_it_changes,
    backwards,
    a_part_of_itself,
    rows_taken_apart,
    loops_within_rows,
    changed_by_a_closure,
    left_early,
    transposes,
    counted_pairs,
    counted_within_a_zip,
    mapped,
    of_a_generator,
    filtered,
    lists_counted,
    a_dict_beside_an_array,
    values_of_a_dict,
    rows_and_views,
    mapped_within_a_zip,
    a_generator_within_a_zip,
    backwards_within_a_zip,
    zips_of_zips,
    mapped_pairs,
    left_with_else,
    generators_of_zips,
    keys_of_a_dict,
    another_name_of_a_dict,
    a_dict_of_a_closure,
    arrays_of_a_dict,
    updated_in_the_loop,
    items_counted,
    pairwise_that_changes_nothing,
    columns_that_change_nothing,
    pairs_as_a_whole,
    items_counted_and_changed,
    values_zipped,
    items_as_a_whole,
    a_dict_renamed,
    items_taken_apart,
    dicts_consumed,
    some_of_the_items,
    indices_and_elements,
    views_made_in_the_loop,
    both_ends,
    copies_of_lists,
    lists_of_lists,
    a_generator_with_a_name_of_the_functions,
    dicts_of_dicts,
    values_that_grow,
    a_key_that_is_assigned,
    a_dict_that_is_a_target,
    stored_at_keys_of_another,
    gone_through_again,
    a_dict_replaced,
    a_step_of_a_model,
    of_no_items,
    a_dict_with_itself,
    lists_backwards,
    a_view_with_a_name,
    a_view_after_a_change,
    parameters_and_gradients,
    objects_bound_again_in_the_loop,
]
READ_BEFORE: list[Callable[..., Any]] = [
    pairwise_written_to_by_position,
    pairwise_changed_by_an_operator,
    a_filter_within_a_zip,
    pairwise,
    columns,
    accumulated,
]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_items_are_read_when_their_turn_comes(f: Callable[..., Any]) -> None:
    check_program(f, (0.7,), (0,))


@pytest.mark.parametrize("f", READ_BEFORE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("transform", [s2sad.grad, s2sad.jvp])
def test_what_is_read_before_a_loop_is_not_changed_in_it(f: Callable[..., Any], transform: Any) -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="may change its items"):
        transform(f)(0.7, *([1.0] if transform is s2sad.jvp else []))


def test_an_array_of_a_class_may_change_by_constants_only() -> None:
    check_program(array_of_the_class_changed, (0.7,), (0,))

    def active(x):
        cells = [Sharing(x), Sharing(x)]
        for c in cells:
            c.weights += x
        return cells[0].v * np.sum(cells[1].weights)

    with pytest.raises(s2sad.UnsupportedSyntaxError, match="outside of the function"):
        s2sad.grad(active)(0.7)


def test_the_callers_array_changes_as_in_the_function() -> None:
    def f(x):
        cells = [Cell(x), Cell(x)]
        for c in cells:
            c.v += 1.0
        return np.sum(x * cells[0].v)

    x = np.ones(2)
    np.testing.assert_array_equal(s2sad.grad(f)(x), [6.0, 6.0])
    np.testing.assert_array_equal(x, [3.0, 3.0])


def test_items_of_what_has_no_keys() -> None:
    class Named:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def items(self):
            return [("a", self.a), ("b", self.b)]

    f = build(
        "def f(x):\n    p, s = Named(x, 2 * x), 0.0\n    for k, v in p.items():\n        s += v * len(k)\n"
        "    return s * s",
        Named=Named,
    )
    check_program(f, (0.7,), (0,))
