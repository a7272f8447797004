"""Loops over dicts and lists of arrays that have little in common are written out: as right as they were."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program

# mypy: allow-untyped-defs
# ruff: noqa: B007, B905, E741, RUF005, SIM108, UP031 (programs as people write them)


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


def layers_of(*sizes, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(m, n)) * 0.4, rng.normal(size=n) * 0.3) for m, n in itertools.pairwise(sizes)]


X = np.random.default_rng(1).normal(size=(5, 2))


def layers(params, g):
    h = X
    for W, b in params:
        h = np.tanh(h @ W + b)
    return np.sum(h**2)


def a_step_of_layers(params, g):
    new = [(W - 0.1 * dW, b - 0.1 * db) for (W, b), (dW, db) in zip(params, g)]
    h = X
    for W, b in new[:-1]:
        h = np.tanh(h @ W + b)
    W, b = new[-1]
    return np.sum((h @ W + b) ** 2)


def a_slice_before_a_change(params, g):
    params = list(params)
    params[0] = (params[0][0] * 2, params[0][1])
    hidden = params[:-1]
    params[0] = (params[0][0] * 3, params[0][1])
    h = X
    for W, b in hidden:
        h = np.tanh(h @ W + b)
    return np.sum(h) * np.sum(params[0][0])


def a_slice_of_a_copy(params, g):
    p = list(params)
    rest = p[1:]
    p[1] = g[1]
    h = X @ params[0][0]
    for W, b in rest:
        h = np.tanh(h @ W + b)
    return np.sum(h) + np.sum(p[1][0])


def counted_from_one(params, g):
    h = X
    last = len(params)
    for i, (W, b) in enumerate(params, 1):
        h = h @ W + b
        if i != last:
            h = np.tanh(h)
        else:
            h = h * 2
    return np.sum(h) * i


def activations_that_are_kept(params, g):
    h = X
    acts = [X]
    for W, b in params:
        h = np.tanh(h @ W + b)
        acts.append(h)
    return sum(np.sum(a**2) for a in acts) + np.sum(acts[-1]) + len(acts)


def backwards_and_in_part(params, g):
    s = 0.0
    for layer in reversed(params):
        W, b = layer
        s = np.sin(s + np.sum(W) * np.sum(b))
    for W, b in params[::-1]:
        s = s * np.sum(b) + 0.3
    for W, b in params[1:]:
        s = s * np.sum(W) + 0.3
    for W, b in params[5:]:
        s = s * np.sum(W) + 0.3
    return s


def by_index(params, g):
    h = X
    for k in range(len(params)):
        W, b = params[k]
        h = np.tanh(h @ W + b)
    return np.sum(h)


def items_of_items(params, g):
    reg = 0.0
    for p in params:
        for q in p:
            reg += np.sum(q**2)
    for (W, b), (V, c) in zip(params, g):
        reg += np.sum(W * V) + np.sum(b * c)
    return reg


def longer_in_the_loop(params, g):
    h = X
    for W, b in params:
        params = params + [(W, b)] if len(params) < 4 else params
        h = np.tanh(h @ W + b)
    return np.sum(h) * len(params)


def a_function_for_each(params, g):
    def layer(h, p, act=np.tanh):
        W, b = p
        return act(h @ W + b)

    h = X
    for p in params[:-1]:
        h = layer(h, p)
    return np.sum(layer(h, params[-1], lambda v: v))


def shapes_that_decide(params, g):
    h = X
    for W, b in params:
        if h.shape[1] == 3:
            h = h * 2
        h = np.tanh(h @ W + b)
        if np.sum(h) > 1e3:
            break
    else:
        h = h * 3
    return np.sum(h) * np.sum(W)


def reduced(params, g):
    return np.sum(functools.reduce(lambda h, p: np.tanh(h @ p[0] + p[1]), params, X))


def taken_apart(params, g):
    (W1, b1), (W2, b2), *rest = params
    h = np.tanh(np.tanh(X @ W1 + b1) @ W2 + b2)
    for W, b in rest:
        h = h @ W + b
    return np.sum(h)


def layers_with_names(params, g):
    d = {"l%d" % i: {"W": W, "b": b} for i, (W, b) in enumerate(params)}
    h = X
    for name, l in d.items():
        h = np.tanh(h @ l["W"] + l["b"])
    return np.sum(h)


def names_that_are_bound_again(params, g):
    h = X
    ps = params
    for W, b in ps:
        W = W * 0.5
        b = b + np.sum(W)
        h = np.tanh(h @ W + b)
    return np.sum(h)


def zipped(params, g):
    Ws = [W for W, _ in params]
    bs = [b for _, b in params]
    h = X
    for W, b in zip(Ws, bs):
        h = np.tanh(h @ W + b)
    for W, b in zip(Ws[1:], bs[1:]):
        h = h * np.sum(W)
    return np.sum(h)


def a_closure_over_layers(params, g):
    h = X
    keep = params[:-1]

    def forward(h):
        for W, b in keep:
            h = np.tanh(h @ W + b)
        return h

    return np.sum(forward(h)) + np.sum(forward(h * 2))


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


def a_slice_of_what_is_bound_again(params, g):
    rest = params[1:]
    params = g
    s = 0.0
    for W, b in rest:
        s = s + np.sum(W) * np.sum(b)
    return s * np.sum(params[0][0])


def a_slice_of_the_iteration_before(params, g):
    s = 0.0
    rest = g[:2]
    for k in range(2):
        p = [params[k], g[k], params[0]]
        if k > 0:
            for W, b in rest:
                s = s * 0.5 + np.sum(W) * np.sum(b)
        rest = p[:2]
    return s


def a_source_that_is_bound_in_the_loop(params, g):
    s = 0.0
    for W, b in params:
        params = g
        s = s + np.sum(W) * np.sum(b)
    return s


def two_lists_that_change_places(params, g):
    ws, vs = [params[0][0], params[0][1]], [g[0][0], g[0][1]]
    s = 0.0
    for w in ws:
        ws, vs = vs, ws
        s = s + np.sum(w)
    return s * np.sum(ws[0])


def keys_below_zero(params, g):
    d = {-1: params[0][0], 1: params[1][1]}
    s = 0.0
    for W, _ in params:
        s = s + np.sum(W * d[-1][0, 0])
    return s * np.sum(d[-1])


LAYERS: list[Callable[..., Any]] = [
    a_slice_of_what_is_bound_again,
    a_slice_of_the_iteration_before,
    a_source_that_is_bound_in_the_loop,
    two_lists_that_change_places,
    keys_below_zero,
    layers,
    a_step_of_layers,
    a_slice_before_a_change,
    a_slice_of_a_copy,
    counted_from_one,
    activations_that_are_kept,
    backwards_and_in_part,
    by_index,
    items_of_items,
    longer_in_the_loop,
    a_function_for_each,
    shapes_that_decide,
    reduced,
    taken_apart,
    layers_with_names,
    names_that_are_bound_again,
    zipped,
    a_closure_over_layers,
]


@pytest.mark.parametrize("f", LAYERS, ids=lambda f: f.__name__)
def test_layers(f: Callable[..., Any]) -> None:
    check_program(f, (layers_of(2, 3, 4, 1), layers_of(2, 3, 4, 1, seed=2)), (0, 1))
    check_program(f, (layers_of(2, 3, 3), layers_of(2, 3, 3, seed=2)), (0,))


def test_layers_are_variables() -> None:
    source = s2sad.grad(layers_with_names).source_for(layers_of(2, 3, 4, 1), None)
    assert "(h_2.T @ dh_1, dh_4)" in source and "add_at" not in source and "in trace" not in source


class Layer:
    def __init__(self, act):
        self.w, self.act = np.full((3, 3), 0.5), act

    def __call__(self, x):
        return self.act(x @ self.w)


class Squared:
    def __call__(self, x):
        return x * x


def chained(layers, x):
    for layer in layers:
        x = layer(x)
    return np.sum(x)


@pytest.mark.parametrize("acts, is_loop", [
    ((np.tanh, np.tanh), True), ((Squared(), Squared()), True), ((np.tanh, np.sin), False),
    ((np.tanh, Squared()), False),
])  # fmt: skip
def test_functions_of_layers_are_known(acts: Any, is_loop: bool) -> None:
    layers, x = [*map(Layer, acts)], np.linspace(0.1, 1.0, 6).reshape(2, 3)
    derivative = s2sad.grad(chained)
    source = derivative.source_for(layers, x)
    assert "fprop_of" not in source and ("in trace" in source or "trace[k]" in source) == is_loop
    for act in (np.cos, Squared()):  # a derivative is made for each
        layers[0].act = act
        found, h = derivative(layers, x)[0].w[1, 2], 1e-6
        ends = []
        for moved in (h, -h):
            layers[0].w[1, 2] += moved
            ends.append(chained(layers, x))
            layers[0].w[1, 2] -= moved
        np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * h), rtol=1e-6)


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
