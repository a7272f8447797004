"""Jacobians and Hessians beside those with all directions at once by hand, and those with a run for each.

    python -m benchmarks.jacobians [--rounds 15]

All take turns in one process and in many rounds; printed are the medians of the ratios to the one by hand,
in CPU time, and the first call in milliseconds. With JAX installed, `jax.jit(jax.jacfwd(f))` is a column.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import s2sad
from s2sad.derivatives import batched

from .measuring import FULL, measure, print_table, quartiles, ratios

Call = Callable[[], Any]
RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Problem:
    """A function of an array `x` and of data, its Jacobian (or Hessian) by hand, and its arguments."""

    name: str
    f: Callable[..., Any]
    by_hand: Callable[..., Any]
    args: tuple[Any, ...]
    transform: Any = s2sad.jacfwd
    xp: str | None = "np"  # the global of the function that JAX replaces; None where JAX can't run it


def layers(x: Any, A: Any, B: Any) -> Any:
    return A @ np.tanh(B @ x)


def layers_by_hand(x: Any, A: Any, B: Any) -> Any:
    return A @ ((1 - np.tanh(B @ x) ** 2)[:, None] * B)


def projected(camera: Any, points: Any) -> Any:
    """A camera of rotation, translation, focal lengths, centre and distortion: 15 parameters."""
    a, t = camera[:3], camera[3:6]
    fx, fy, cx, cy, k1, k2, k3, p1, p2 = camera[6:]
    angle = np.sqrt(a[0] ** 2 + a[1] ** 2 + a[2] ** 2)
    u = a / angle
    c, s = np.cos(angle), np.sin(angle)
    q = points * c + np.outer(points @ u, u) * (1 - c)
    x = q[:, 0] + (u[1] * points[:, 2] - u[2] * points[:, 1]) * s + t[0]
    y = q[:, 1] + (u[2] * points[:, 0] - u[0] * points[:, 2]) * s + t[1]
    z = q[:, 2] + (u[0] * points[:, 1] - u[1] * points[:, 0]) * s + t[2]
    x, y = x / z, y / z
    r = x * x + y * y
    d = 1 + r * (k1 + r * (k2 + r * k3))
    return np.stack(
        [
            fx * (x * d + 2 * p1 * x * y + p2 * (r + 2 * x * x)) + cx,
            fy * (y * d + p1 * (r + 2 * y * y) + 2 * p2 * x * y) + cy,
        ]
    )


def projected_by_hand(camera: Any, points: Any) -> Any:
    D = np.eye(15)
    a, t = camera[:3], camera[3:6]
    fx, fy, _, _, k1, k2, k3, p1, p2 = camera[6:]
    da, dt = D[:, :3], D[:, 3:6]
    dfx, dfy, dcx, dcy, dk1, dk2, dk3, dp1, dp2 = D[:, 6:].T[:, :, None]
    angle = np.sqrt(a @ a)
    dangle = da @ a / angle
    u = a / angle
    du = (da - dangle[:, None] * u) / angle
    c, s = np.cos(angle), np.sin(angle)
    dc, ds = (-s * dangle)[:, None], (c * dangle)[:, None]
    along = points @ u
    dalong = du @ points.T
    q = points * c + np.outer(along, u) * (1 - c)
    px, py, pz = points.T

    def moved(k: int, p: Any, left: Any, right: Any, i: int, j: int) -> tuple[Any, Any]:
        turn = u[i] * left - u[j] * right
        dq = p * dc + (dalong * u[k] + along * du[:, k, None]) * (1 - c) - along * u[k] * dc
        dturn = du[:, i, None] * left - du[:, j, None] * right
        return q[:, k] + turn * s + t[k], dq + dturn * s + turn * ds + dt[:, k, None]

    x, dx = moved(0, px, pz, py, 1, 2)
    y, dy = moved(1, py, px, pz, 2, 0)
    z, dz = moved(2, pz, py, px, 0, 1)
    x, y = x / z, y / z
    dx, dy = (dx - x * dz) / z, (dy - y * dz) / z
    r = x * x + y * y
    dr = 2 * (x * dx + y * dy)
    h = k1 + r * (k2 + r * k3)
    d = 1 + r * h
    dd = dr * h + r * (dk1 + dr * (k2 + r * k3) + r * (dk2 + dr * k3 + r * dk3))
    xy, dxy = x * y, dx * y + x * dy
    du_ = dx * d + x * dd + 2 * (dp1 * xy + p1 * dxy) + dp2 * (r + 2 * x * x) + p2 * (dr + 4 * x * dx)
    dv = dy * d + y * dd + dp1 * (r + 2 * y * y) + p1 * (dr + 4 * y * dy) + 2 * (dp2 * xy + p2 * dxy)
    first = x * d + 2 * p1 * xy + p2 * (r + 2 * x * x)
    second = y * d + p1 * (r + 2 * y * y) + 2 * p2 * xy
    return np.moveaxis(np.stack([dfx * first + fx * du_ + dcx, dfy * second + fy * dv + dcy], axis=1), 0, -1)


def brusselator(u: Any, n: int) -> Any:
    a, b = u[:n], u[n:]
    da, db = np.zeros(n), np.zeros(n)
    da[1:-1] = (a[2:] - 2 * a[1:-1] + a[:-2]) * n**2
    db[1:-1] = (b[2:] - 2 * b[1:-1] + b[:-2]) * n**2
    return np.concatenate([1 + a * a * b - 4 * a + 0.02 * da, 3 * a - a * a * b + 0.02 * db])


def brusselator_by_hand(u: Any, n: int) -> Any:
    a, b = u[:n], u[n:]
    D = np.eye(2 * n)
    ta, tb = D[:, :n], D[:, n:]
    da, db = np.zeros((2 * n, n)), np.zeros((2 * n, n))
    da[:, 1:-1] = (ta[:, 2:] - 2 * ta[:, 1:-1] + ta[:, :-2]) * n**2
    db[:, 1:-1] = (tb[:, 2:] - 2 * tb[:, 1:-1] + tb[:, :-2]) * n**2
    t = 2 * a * b * ta + a * a * tb
    return np.concatenate([t - 4 * ta + 0.02 * da, 3 * ta - t + 0.02 * db], axis=1).T


def orbit(p: Any, y: Any, steps: int) -> Any:
    """Steps of the method of Runge and Kutta for a predator and its prey, by 8 parameters."""

    def rate(y: Any) -> Any:
        growth = p[:2] * y * (1 - p[6:] * y)
        return growth + y[0] * y[1] * np.array([-1.0, 1.0]) * p[2:4] - p[4:6] * y * y

    for _ in range(steps):
        k1 = rate(y)
        k2 = rate(y + 0.05 * k1)
        k3 = rate(y + 0.05 * k2)
        k4 = rate(y + 0.1 * k3)
        y = y + (k1 + 2 * (k2 + k3) + k4) * (0.1 / 6)
    return y


def orbit_by_hand(p: Any, y: Any, steps: int) -> Any:
    D = np.eye(8)
    signs = np.array([-1.0, 1.0])

    def rate(y: Any, dy: Any) -> tuple[Any, Any]:
        left, both = 1 - p[6:] * y, y[0] * y[1]
        dboth = (dy[:, 0] * y[1] + y[0] * dy[:, 1])[:, None]
        d = D[:, :2] * y * left + p[:2] * (dy * left - y * (D[:, 6:] * y + p[6:] * dy))
        d += signs * (dboth * p[2:4] + both * D[:, 2:4]) - D[:, 4:6] * y * y - 2 * p[4:6] * y * dy
        return p[:2] * y * left + both * signs * p[2:4] - p[4:6] * y * y, d

    dy = np.zeros((8, 2))
    for _ in range(steps):
        k1, d1 = rate(y, dy)
        k2, d2 = rate(y + 0.05 * k1, dy + 0.05 * d1)
        k3, d3 = rate(y + 0.05 * k2, dy + 0.05 * d2)
        k4, d4 = rate(y + 0.1 * k3, dy + 0.1 * d3)
        y = y + (k1 + 2 * (k2 + k3) + k4) * (0.1 / 6)
        dy = dy + (d1 + 2 * (d2 + d3) + d4) * (0.1 / 6)
    return dy.T


def likelihood(w: Any, X: Any, y: Any) -> Any:
    z = X @ w
    return np.sum(np.log1p(np.exp(z)) - y * z) + 0.5 * np.sum(w * w)


def likelihood_by_hand(w: Any, X: Any, y: Any) -> Any:
    s = 1 / (1 + np.exp(-(X @ w)))
    return X.T @ ((s * (1 - s))[:, None] * X) + np.eye(len(w))


def problems() -> list[Problem]:
    found = []
    for n in (10, 100, 300):
        A, B = RNG.normal(size=(2, n, n)) / np.sqrt(n)
        found.append(Problem(f"A @ tanh(B @ x), {n}", layers, layers_by_hand, (RNG.normal(size=n), A, B)))
    camera = np.array([0.1, -0.2, 0.3, 0.1, 0.2, 4.0, 800, 790, 320, 240, -0.2, 0.05, 0.01, 0.001, 0.002])
    points = RNG.normal(size=(500, 3))
    found.append(Problem("camera, 15 of 500 points", projected, projected_by_hand, (camera, points)))
    u = RNG.random(200)
    found.append(Problem("Brusselator, 200", brusselator, brusselator_by_hand, (u, 100), xp=None))
    p = np.array([0.4, -0.3, 0.1, 0.1, 0.01, 0.01, 0.02, 0.02])
    found.append(Problem("200 steps by 8", orbit, orbit_by_hand, (p, np.array([2.0, 1.0]), 200), xp=None))
    X, y = RNG.normal(size=(500, 20)), (RNG.random(500) < 0.5) * 1.0
    data = RNG.normal(size=20), X, y
    found.append(Problem("Hessian, 20 of 500", likelihood, likelihood_by_hand, data, s2sad.hessian))
    return found


def one_by_one(call: Call) -> Call:
    """The Jacobian from a run for each direction."""

    def run() -> Any:
        kept = batched.pushforward
        batched.pushforward = lambda *args: None
        try:
            return call()
        finally:
            batched.pushforward = kept

    return run


def by_jax(problem: Problem) -> Call:
    import jax

    jax.config.update("jax_enable_x64", True)
    scope = {**problem.f.__globals__, "np": jax.numpy}
    f = type(problem.f)(problem.f.__code__, scope)
    made = jax.jit((jax.hessian if problem.transform is s2sad.hessian else jax.jacfwd)(f))
    args = [jax.numpy.asarray(a) for a in problem.args]
    return lambda: made(*args).block_until_ready()


def main() -> None:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--rounds", type=int, default=FULL.rounds)
    rounds = parser.parse_args().rounds
    has_jax = importlib.util.find_spec("jax") is not None
    tools = ["s2sad", "one by one", *["JAX"] * has_jax]
    rows = []
    for problem in problems():
        derivative = problem.transform(problem.f)
        calls: dict[str, Call] = {
            "by hand": lambda p=problem: p.by_hand(*p.args),
            "s2sad": lambda p=problem, d=derivative: d(*p.args),
        }
        start = time.process_time()
        found = calls["s2sad"]()
        first = (time.process_time() - start) * 1000
        np.testing.assert_allclose(found, calls["by hand"](), rtol=1e-7, atol=1e-9)
        calls["one by one"] = one_by_one(calls["s2sad"])
        if has_jax and problem.xp is not None:
            calls["JAX"] = by_jax(problem)
            calls["JAX"]()
        seconds = measure(calls, replace(FULL, rounds=rounds), time.process_time)
        found = {tool: ratios(seconds[tool], seconds["by hand"]) for tool in tools if tool in seconds}
        cells = [f"{quartiles(found[tool])[1]:.2f}" if tool in found else "" for tool in tools]
        rows.append([problem.name, *cells, f"{first:.0f}"])
    print_table(["", *tools, "first call, ms"], rows)


if __name__ == "__main__":
    main()
