"""Gradients that read as a person writes them: what is generated for a few programs, to the letter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.rules.special import expit
from tests.support.build import build
from tests.support.compare import check_program

V = np.array([0.3, 1.1, 0.4, 0.8])
X = np.sin(np.arange(24.0)).reshape(6, 4)
LABELS = (X[:, 0] > 0).astype(float)

EXEMPLARS: dict[str, tuple[str, tuple[Any, ...], tuple[int, ...], str]] = {
    "damped oscillation": (
        """
def oscillation(t, damping, frequency):
    envelope = np.exp(-damping * t)
    return envelope * np.sin(frequency * t)
""",
        (0.7, 1.3, 2.1),
        (1, 2),
        """
def oscillation_grad(t, damping, frequency):
    envelope = np.exp(-damping * t)
    out_1 = frequency * t
    # return envelope * np.sin(frequency * t)
    denvelope = np.sin(out_1)
    dfrequency = envelope * np.cos(out_1) * t
    # envelope = np.exp(-damping * t)
    ddamping = -denvelope * envelope * t
    return ddamping, dfrequency
""",
    ),
    "logistic regression": (
        """
def logistic(w, b, x, y):
    z = x @ w + b
    return np.sum(np.logaddexp(0, z) - y * z)
""",
        (V, 0.2, X, LABELS),
        (0, 1),
        """
def logistic_grad(w, b, x, y):
    z = x @ w + b
    # return np.sum(np.logaddexp(0, z) - y * z)
    dz = expit(z) - y
    # z = x @ w + b
    db = np.sum(dz)
    dw = x.T @ dz
    return dw, db
""",
    ),
    "two products with a matrix": (
        """
def length(a, x):
    y = (a @ x) @ a
    return y @ y
""",
        (X, V),
        (0,),
        """
def length_grad(a, x):
    y_1 = a @ x
    y = y_1 @ a
    # return y @ y
    dy = 2.0 * y
    # y = (a @ x) @ a
    da = np.array([y_1, dy @ a.T]).T @ np.array([dy, x])
    return da
""",
    ),
    "values that the program has computed": (
        """
def logdet(a, b):
    s = a @ b.T + b.T
    inverse = np.linalg.inv(s)
    angle = np.sum(inverse ** 2)
    return np.linalg.slogdet(s)[1] * np.cos(angle) + np.sin(angle)
""",
        (np.diag(V) + X[:4], np.diag(V)),
        (1,),
        """
def logdet_grad(a, b):
    s = a @ b.T + b.T
    inverse = np.linalg.inv(s)
    angle = np.sum(inverse ** 2)
    out_1 = np.cos(angle)
    # return np.linalg.slogdet(s)[1] * np.cos(angle) + np.sin(angle)
    dangle = out_1 - np.linalg.slogdet(s)[1] * np.sin(angle)
    # angle = np.sum(inverse ** 2)
    dinverse = dangle * 2 * inverse
    # inverse = np.linalg.inv(s)
    ds = out_1 * inverse.T - inverse.T @ dinverse @ inverse.T
    # s = a @ b.T + b.T
    db = ds.T + ds.T @ a
    return db
""",
    ),
    "least squares": (
        """
def least_squares(w, b, x, y):
    r = x @ w + b - y
    return np.sum(r * r)
""",
        (V, 0.2, X, LABELS),
        (0, 1),
        """
def least_squares_grad(w, b, x, y):
    r = x @ w + b - y
    # return np.sum(r * r)
    dr = 2.0 * r
    # r = x @ w + b - y
    db = np.sum(dr)
    dw = x.T @ dr
    return dw, db
""",
    ),
    "slices": (
        """
def roughness(u):
    d = u[1:] - u[:-1]
    return np.sum(d * d)
""",
        (V,),
        (0,),
        """
def roughness_grad(u):
    d = u[1:] - u[:-1]
    # return np.sum(d * d)
    dd = 2.0 * d
    # d = u[1:] - u[:-1]
    du = np.zeros_like(u)
    du[:-1] -= dd
    du[1:] += dd
    return du
""",
    ),
    "a branch": (
        """
def leaky(x, slope):
    if x < 0:
        y = slope * x
    else:
        y = x * x
    return y
""",
        (0.5, 0.3),
        (0, 1),
        """
def leaky_grad(x, slope):
    if x < 0:
        # y = slope * x
        dslope = x
        dx = slope
    else:
        # y = x * x
        dx = 2.0 * x
        dslope = 0.0
    return dx, dslope
""",
    ),
    "Newton's square root": (
        """
def square_root(a):
    x = 1.0
    for _ in range(20):
        x = 0.5 * (x + a / x)
    return x
""",
        (3.0,),
        (0,),
        """
def square_root_grad(a):
    x = 1.0
    trace = []
    for _ in range(20):
        x_1 = a / x
        trace.append((x_1, x))
        x = 0.5 * (x + x_1)
    dx = 1.0
    da = 0.0
    for x_1, x in trace[::-1]:
        # x = 0.5 * (x + a / x)
        dx_1 = dx * 0.5
        da = da + dx_1 / x
        dx = dx_1 - dx_1 * x_1 / x
    return da
""",
    ),
    "until it converges": (
        """
def inverse(a, x, tolerance):
    while abs(a * x - 1) > tolerance:
        x = x * (2 - a * x)
    return x
""",
        (3.0, 0.2, 1e-9),
        (0,),
        """
def inverse_grad(a, x, tolerance):
    trace = []
    while abs(a * x - 1) > tolerance:
        x_1 = 2 - a * x
        trace.append((x_1, x))
        x = x * x_1
    dx = 1.0
    da = 0.0
    for x_1, x in trace[::-1]:
        # x = x * (2 - a * x)
        dx_1 = -dx * x
        da = da + dx_1 * x
        dx = dx * x_1 + dx_1 * a
    return da
""",
    ),
    "a loop with break": (
        """
def until_full(amounts, capacity):
    level = 0.0
    for amount in amounts:
        level = level + amount * amount
        if level > capacity:
            break
    return level
""",
        (V, 1.35),
        (0,),
        """
def until_full_grad(amounts, capacity):
    level = 0.0
    trace = []
    for amount in amounts:
        level = level + amount * amount
        stop = level > capacity
        trace.append(amount)
        if stop:
            break
    damounts = np.zeros_like(amounts)
    for k in range(len(trace) - 1, -1, -1):
        amount = trace[k]
        # level = level + amount * amount
        damount = amount * 2
        damounts[k] += damount
    return damounts
""",
    ),
    "two variables carried": (
        """
def spring(k, x, n, dt):
    v = 0.0
    for i in range(n):
        v = v - dt * k * x
        x = x + dt * v
    return x
""",
        (1.5, 1.0, 10, 0.1),
        (0, 1),
        """
def spring_grad(k, x, n, dt):
    v = 0.0
    trace = []
    for i in range(n):
        trace.append(x)
        v = v - dt * k * x
        x = x + dt * v
    dx = 1.0
    dv = 0.0
    dk = 0.0
    for x in trace[::-1]:
        # x = x + dt * v
        dv = dv + dx * dt
        # v = v - dt * k * x
        dv_1 = -dv
        dx = dx + dv_1 * (dt * k)
        dk = dk + dv_1 * x * dt
    return dk, dx
""",
    ),
    "a recurrent network": (
        """
def recurrent(w, u, h, xs):
    for x in xs:
        h = np.tanh(w @ h + u @ x)
    return np.sum(h)
""",
        (X[:4], X[1:5, :3].copy(), V, X[:3, :3].copy()),
        (0, 1),
        """
def recurrent_grad(w, u, h, xs):
    trace = []
    for x in xs:
        h_2 = np.tanh(w @ h + u @ x)
        trace.append((x, h_2, h))
        h = h_2
    dh = np.ones_like(h)
    dw = np.zeros_like(w)
    du = np.zeros_like(u)
    for x, h_2, h in trace[::-1]:
        # h = np.tanh(w @ h + u @ x)
        dh_1 = dh * (1 - h_2 ** 2)
        du += np.outer(dh_1, x)
        dw += np.outer(dh_1, h)
        dh = w.T @ dh_1
    return dw, du
""",
    ),
}


@pytest.mark.parametrize("name", EXEMPLARS)
def test_the_gradient_reads_as_written_by_hand(name: str) -> None:
    text, args, wrt, expected = EXEMPLARS[name]
    argnums: Any = wrt if len(wrt) > 1 else wrt[0]
    assert s2sad.grad(build(text), argnums=argnums).source_for(*args).strip() == expected.strip()


@pytest.mark.parametrize("name", EXEMPLARS)
def test_the_gradient_is_right(name: str) -> None:
    text, args, wrt, _ = EXEMPLARS[name]
    check_program(build(text), args, wrt)
    run: dict[str, Any] = {"np": np, "expit": expit}
    exec(EXEMPLARS[name][3], run)
    by_hand = run[build(text).__name__ + "_grad"](*args)
    argnums: Any = wrt if len(wrt) > 1 else wrt[0]
    np.testing.assert_equal(s2sad.grad(build(text), argnums=argnums)(*args), by_hand)
