"""Loops over dicts and lists of arrays that have little in common are written out: as right as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.compare import check_program

# mypy: allow-untyped-defs
# ruff: noqa: B007, B905 (programs as people write them)


def arrays(first):
    return {
        "w1": first + np.arange(6.0).reshape(2, 3) / 7,
        "b1": np.full(3, first),
        "w2": np.full((3, 1), first / 2),
        "c": 0.7,
    }


def left_and_skipped(p, q):
    s = 0.0
    for k, v in p.items():
        if k == "b1":
            continue
        if k == "c":
            break
        s += np.sum(v * q[k])
    else:
        s = s * 2
    return s * len(k)


def a_step(p, q):
    new = {k: v - 0.1 * q[k] for k, v in p.items()}
    return sum(np.sum(v**2) for v in new.values())


def stored_at_each_key(p, q):
    d = dict(p)
    for k in d:
        d[k] = d[k] * q[k]
    for k in list(d):
        d[k] = d[k] + 1
    return np.sum(d["w1"]) * d["c"] + np.sum(d["b1"] ** 2)


def a_dict_that_is_filled(p, q):
    d = {}
    for k, v in p.items():
        d[k] = v * 2
    d["z"] = 3.0 * q["c"]
    t = 0.0
    for k in d:
        t = t + np.sum(d[k]) * len(k)
    return t


def loops_in_loops(p, q):
    s = 0.0
    for i, (k, v) in enumerate(p.items()):
        for j, u in enumerate(q.values()):
            if i == j:
                s += np.sum(v * u)
    return s


def keys_that_change(p, q):
    s = 0.0
    for (k, v), u in zip(p.items(), q.values()):
        s = s + np.sum(v * u)
        k = k + "x"
        s = s * len(k)
    return s


def items_that_are_stored(p, q):
    ws = [p["w1"], p["b1"], p["c"]]
    for i, w in enumerate(ws):
        ws[i] = w * 2
    ws.append(q["c"])
    s = 0.0
    for w in ws:
        s = s + np.sum(w**2)
    return s


def a_list_that_grows(p, q):
    ws = [p["w1"], p["b1"]]
    s = 0.0
    for w in ws:
        if len(ws) < 5:
            ws.append(w * 2)
        s = s + np.sum(w**2)
    return s


def layers_by_name(p, q):
    x = np.ones((4, 2))
    for layer in ("1", "2"):
        x = np.tanh(x @ p["w" + layer] + (p["b1"] if layer == "1" else p["c"]))
    return np.sum(x)


def keys_in_a_list(p, q):
    s = 0.0
    for name in ["w1", "b1"]:
        s += np.sum(p[name] ** 2) * np.sum(q[name])
    return s


def closures_of_items(p, q):
    fs = []
    for k, v in p.items():
        fs.append(lambda x, v=v: np.sum(v) * x)
    return fs[0](1.0) * fs[1](2.0) + fs[3](q["c"])


def a_dict_that_is_renewed(p, q):
    for k in p:
        p = dict(p)
        p[k] = p[k] * q[k]
    return sum([np.sum(p[k]) for k in p])


def another_name(p, q):
    e = dict(p)
    f = e
    for k in e:
        f["c"] = f["c"] + np.sum(e[k])
    return e["c"]


def in_other_orders(p, q):
    s = 0.0
    for v in reversed(list(p.values())):
        s = s * np.sum(v) + 1.0
    for k in sorted(p):
        s = s * np.sum(q[k]) + 0.1
    for k in sorted(p, reverse=True):
        s = s * np.sum(q[k]) + 0.1
    return s


def within_a_try(p, q):
    s = 0.0
    try:
        for k in p:
            s += np.sum(p[k]) / len(k)
    except ZeroDivisionError:
        s = 0.0
    return s


def the_last_key(p, q):
    k = "zz"
    for k in q:
        pass
    return np.sum(p[k]) * p["c"]


def gone_through_in_a_loop(p, q):
    s = 0.0
    n = 0
    while n < 2:
        for k, v in p.items():
            s += np.sum(v) * n
            if s > 100:
                break
        n += 1
    return s


def in_a_nested_function(p, q):
    def helper(d):
        t = 0.0
        for k, v in d.items():
            t += np.sum(v * q[k])
        return t

    return helper(p) * helper(q)


def raveled(p, q):
    flat = np.concatenate([np.ravel(v) for v in p.values()])
    return np.sum(flat**2) * sum([q["c"], p["c"], 2.0])


def sums_of_few(p, q):
    return (
        sum([p["c"]])
        + sum((p["c"], q["c"]))
        + sum([p["w1"], q["w1"]]).sum()
        + sum([True, p["c"] > 0]) * q["c"]
    )


def a_sum_that_is_appended(p, q):
    parts = [p["c"], q["c"]]
    s = sum(parts)
    parts.append(s)
    return sum(parts) * len(parts)


def the_largest(p, q):
    best = None
    for k, v in p.items():
        n = np.linalg.norm(np.ravel(v))
        if best is None or n > best:
            best = n
            name = k
    return best * np.sum(q[name])


RIGHT: list[Callable[..., Any]] = [
    left_and_skipped,
    a_step,
    stored_at_each_key,
    a_dict_that_is_filled,
    loops_in_loops,
    keys_that_change,
    items_that_are_stored,
    a_list_that_grows,
    layers_by_name,
    keys_in_a_list,
    closures_of_items,
    a_dict_that_is_renewed,
    another_name,
    in_other_orders,
    within_a_try,
    the_last_key,
    gone_through_in_a_loop,
    in_a_nested_function,
    raveled,
    sums_of_few,
    a_sum_that_is_appended,
    the_largest,
]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f: Callable[..., Any]) -> None:
    check_program(f, (arrays(0.2), arrays(0.6)), (0, 1))


def norm(p):
    return sum(np.sum(v**2) for k, v in p.items() if k.startswith("w"))


def test_each_array_is_a_variable_of_its_own() -> None:
    source = s2sad.grad(norm).source_for(arrays(0.2))
    assert "for" not in source.replace("for k, v in", "") and "dw1 = 2.0 * w1" in source


def test_dicts_of_arrays_alike_are_gone_through() -> None:
    alike = {f"w{k}": np.ones((2, k + 2)) for k in range(4)}
    assert "for k in p:" in s2sad.vjp(norm).source_for(alike)


def test_long_loops_stay() -> None:
    many = {f"w{k}": np.ones((2,) * (1 + k % 2)) for k in range(20)}
    assert "for k in p:" in s2sad.vjp(norm).source_for(many)
    check_program(norm, (many,), (0,))


def test_another_order_of_keys_is_another_version() -> None:
    def product(p):
        total = 1.0
        for k, v in p.items():
            total = np.sin(total * np.sum(v)) * len(k)
        return total

    p = arrays(0.2)
    backwards = dict(reversed(p.items()))
    for given in (p, backwards, p):
        assert s2sad.value_and_grad(product)(given)[0] == product(given)
    check_program(product, (backwards,), (0,))
