"""Programs as people write them, compiled: lists of numbers, layers and bodies, tables, named tuples."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import s2sad
from tests.support.compare import assert_like

# mypy: allow-untyped-defs
# ruff: noqa: B905, RUF005, RUF007, RUF046 (programs as people write them)

RNG = np.random.default_rng(3)
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...], tuple[int, ...]]] = {}


def case(*args, wrt=(0,)):
    def add(f):
        PROGRAMS[f.__name__] = f, args, wrt
        return f

    return add


TABLEAU = [[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]]
WEIGHTS = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
TIMES = [0.0, 0.5, 0.5, 1.0]


def pendulum(t, y, k):
    return np.array([y[1], -k[0] * np.sin(y[0]) - k[1] * y[1] + 0.1 * np.cos(t)])


def runge_kutta_step(f, t, y, h, k):
    slopes = []
    for row, c in zip(TABLEAU, TIMES):
        z = y
        for a, s in zip(row, slopes):
            z = z + h * a * s
        slopes.append(f(t + c * h, z, k))
    for b, s in zip(WEIGHTS, slopes):
        y = y + h * b * s
    return y


@case(np.array([1.3, 0.2]), np.array([0.4, -0.1]), 0.1, 6, wrt=(0, 1))
def runge_kutta(k, y, h, n):
    for i in range(n):
        y = runge_kutta_step(pendulum, i * h, y, h, k)
    return np.sum(y**2)


@dataclass
class Body:
    x: np.ndarray
    v: np.ndarray
    m: float


@case([Body(RNG.normal(size=3), RNG.normal(size=3), 1.0 + k) for k in range(3)], 0.01, 4)
def bodies_made_anew(bodies, dt, steps):
    for _ in range(steps):
        forces = []
        for a in bodies:
            f = np.zeros(3)
            for b in bodies:
                d = b.x - a.x
                f = f + b.m * d / (d @ d + 0.01) ** 1.5
            forces.append(f)
        moved = []
        for b, f in zip(bodies, forces):
            v = b.v + dt * f
            moved.append(Body(b.x + dt * v, v, b.m))
        bodies = moved
    return sum(0.5 * b.m * (b.v @ b.v) for b in bodies)


@dataclass
class Dense:
    w: np.ndarray
    b: np.ndarray

    def __call__(self, x):
        return np.tanh(x @ self.w + self.b)


@dataclass
class Net:
    layers: list[Dense]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


LAYERS = [(RNG.normal(size=(i, o)), RNG.normal(size=o)) for i, o in ((3, 5), (5, 4), (4, 1))]


@case(Net([Dense(w, b) for w, b in LAYERS]), RNG.normal(size=(6, 3)))
def layers_that_are_objects(net, x):
    return np.mean(net(x) ** 2)


@case([w for w, _ in LAYERS], [b for _, b in LAYERS], RNG.normal(size=(6, 3)), wrt=(0, 1))
def layers_in_two_lists(ws, bs, x):
    values = [x]
    for w, b in zip(ws[:-1], bs[:-1]):
        values.append(np.maximum(0.0, values[-1] @ w + b))
    out = values[-1] @ ws[-1] + bs[-1]
    return np.sum(out**2)


@case(RNG.normal(size=(5, 6)), np.array([0.3, 2.2, 3.9]), np.array([1.1, 4.5, 0.2]), wrt=(0, 1, 2))
def bilinear(image, xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        i, j = int(math.floor(x)), int(math.floor(y))
        u, v = x - i, y - j
        top = (1 - v) * image[i, j] + v * image[i, j + 1]
        low = (1 - v) * image[i + 1, j] + v * image[i + 1, j + 1]
        total += ((1 - u) * top + u * low) ** 2
    return total


@case(RNG.normal(size=(3, 3)), [0, 1, 1, 2, 0], 4)
def markov_chain(logits, states, n):
    p = np.exp(logits)
    p = p / p.sum(axis=1, keepdims=True)
    found = 0.0
    for a, b in zip(states[:-1], states[1:]):
        found += np.log(p[a, b])
    pi = np.ones(3) / 3
    for _ in range(n):
        pi = pi @ p
    return found - np.sum(pi * np.log(pi))


@case([0.0, 1.0, 1.0, 1.0], [4.0, 5.0, 4.0, 5.0], [1.0, 1.0, 1.0, 0.0], [1.0, 2.0, 3.0, 4.0], wrt=(1, 3))
def thomas_of_lists(a, b, c, d):
    n = len(d)
    upper, right = [c[0] / b[0]], [d[0] / b[0]]
    for i in range(1, n):
        pivot = b[i] - a[i] * upper[i - 1]
        upper.append(c[i] / pivot)
        right.append((d[i] - a[i] * right[i - 1]) / pivot)
    x = [0.0] * n
    x[-1] = right[-1]
    for i in reversed(range(n - 1)):
        x[i] = right[i] - upper[i] * x[i + 1]
    return sum(v * v for v in x)


class Segment(NamedTuple):
    start: float
    a: float
    b: float
    c: float


SEGMENTS = [Segment(0.0, 1.0, 0.5, -0.2), Segment(1.0, 1.4, 0.3, 0.1), Segment(2.0, 1.5, 0.2, 0.1)]


@case(SEGMENTS, np.array([0.2, 1.7, 2.5]), wrt=(0, 1))
def spline(segments, xs):
    total = 0.0
    for x in xs:
        s = segments[0]
        for candidate in segments:
            if x >= candidate.start:
                s = candidate
        u = x - s.start
        total += s.a + u * (s.b + u * s.c)
    return total


@case(np.array([1.0, 2.5, 1.7]), [2, 3, 1], 5)
def soft_knapsack(values, weights, capacity):
    best = np.zeros(capacity + 1)
    for v, w in zip(values, weights):
        new = best.copy()
        for c in range(w, capacity + 1):
            new[c] = np.logaddexp(best[c], best[c - w] + v)
        best = new
    return best[capacity]


@case(RNG.normal(size=4), RNG.normal(size=5), 0.7, wrt=(0, 1, 2))
def soft_time_warping(x, y, gamma):
    n, m = len(x), len(y)
    r = [[1e6] * (m + 1) for _ in range(n + 1)]
    r[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, c = r[i - 1][j], r[i][j - 1], r[i - 1][j - 1]
            low = min(a, b, c)
            s = math.exp((low - a) / gamma) + math.exp((low - b) / gamma) + math.exp((low - c) / gamma)
            r[i][j] = (x[i - 1] - y[j - 1]) ** 2 + low - gamma * math.log(s)
    return r[n][m]


@case(RNG.normal(size=(4, 4)) + 4 * np.eye(4), np.ones(4), wrt=(0, 1))
def elimination(a, b):
    n = len(b)
    m = [list(a[i]) + [b[i]] for i in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            f = m[j][i] / m[i][i]
            for k in range(i, n + 1):
                m[j][k] -= f * m[i][k]
    x = [0.0] * n
    for i in range(n - 1, -1, -1):
        x[i] = (m[i][n] - sum(m[i][k] * x[k] for k in range(i + 1, n))) / m[i][i]
    return sum(v**2 for v in x)


def propagation(n, d, wavelength):
    phase = 2 * np.pi * n * d / wavelength
    return np.array([[np.exp(-1j * phase), 0], [0, np.exp(1j * phase)]])


def interface(n1, n2):
    return np.array([[n1 + n2, n2 - n1], [n2 - n1, n1 + n2]]) / (2 * n2)


@case([100.0, 150.0, 80.0], [1.5, 2.1, 1.4], 550.0, wrt=(0, 1))
def reflectance(ds, ns, wavelength):
    m = np.eye(2, dtype=complex)
    before = 1.0
    for d, n in zip(ds, ns):
        m = propagation(n, d, wavelength) @ interface(before, n) @ m
        before = n
    m = interface(before, 1.0) @ m
    r = -m[1, 0] / m[1, 1]
    return np.abs(r) ** 2


PATIENTS = [(5.0, 1, RNG.normal(size=2)), (3.0, 0, RNG.normal(size=2)), (8.0, 1, RNG.normal(size=2))]


@case(np.array([0.3, -0.5]), PATIENTS)
def partial_likelihood(beta, patients):
    total = 0.0
    for t, event, x in patients:
        if not event:
            continue
        risk = 0.0
        for other_t, _, other_x in patients:
            if other_t >= t:
                risk += np.exp(beta @ other_x)
        total += beta @ x - np.log(risk)
    return -total


@dataclass(frozen=True)
class State:
    q: float
    p: float


@case(State(1.0, 0.2), 1.5, 5, wrt=(0, 1))
def leapfrog(state, k, n):
    for _ in range(n):
        half = state.p - 0.05 * k * state.q
        state = replace(state, q=state.q + 0.1 * half)
        state = replace(state, p=half - 0.05 * k * state.q)
    return 0.5 * state.p**2 + 0.5 * k * state.q**2


class Estimate(NamedTuple):
    mean: np.ndarray
    cov: np.ndarray


@case(np.array([0.1, 0.2]), np.array([1.0, 1.2, 0.8]), wrt=(0, 1))
def kalman(noise, ys):
    s = Estimate(np.zeros(2), np.eye(2))
    f, h = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([1.0, 0.0])
    found = 0.0
    for y in ys:
        s = s._replace(mean=f @ s.mean, cov=f @ s.cov @ f.T + noise[0] * np.eye(2))
        v = y - h @ s.mean
        var = h @ s.cov @ h + noise[1]
        gain = s.cov @ h / var
        s = Estimate(s.mean + gain * v, s.cov - np.outer(gain, h @ s.cov))
        found -= 0.5 * (v * v / var + np.log(var))
    return found


COMPONENTS = [(0.5, np.array([0.1, 0.2])), (0.3, np.array([1.0, -1.0])), (0.2, np.array([0.0, 0.4]))]


@case(COMPONENTS, np.array([0.3, 0.1]), wrt=(0, 1))
def mixture(components, x):
    return np.log(sum(w * np.exp(-0.5 * np.sum((x - mu) ** 2)) for w, mu in components))


@case({"rate": 0.3, "start": np.array([0.5, 1.0]), "matrix": np.eye(2) + 0.2})
def parts_of_a_dict(p):
    total = 0.0
    for name, value in p.items():
        total += np.sum(value**2) * (2.0 if name == "rate" else 1.0)
    for value in p.values():
        total *= 1.0 + np.sum(value)
    return total


def leaves(x):
    if isinstance(x, dict):
        x = list(x.values())
    if hasattr(x, "__dict__"):
        x = list(vars(x).values())
    return [n for part in x for n in leaves(part)] if isinstance(x, (list, tuple)) else [x]


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiles(name: str) -> None:
    f, args, wrt = PROGRAMS[name]
    found = s2sad.grad(f, wrt, compile="numba")(*copy.deepcopy(args))
    expected = s2sad.grad(f, wrt)(*copy.deepcopy(args))
    assert_like(found, expected, name)
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        if b is not None:
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
