"""Small programs of many shapes, each with arguments and the numbers of those to differentiate."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["PROGRAMS"]

V = np.array([0.3, 1.1, -0.4, 0.8])
M = np.array([[0.2, -0.5, 0.1], [0.7, 0.3, -0.2], [-0.1, 0.4, 0.6]])

PROGRAMS: dict[str, tuple[str, tuple[Any, ...], tuple[int, ...]]] = {
    "straight_line": (
        """
def f(t, a, b):
    decay = np.exp(-a * t)
    return decay * np.cos(b * t)
""",
        (0.7, 1.3, 2.1),
        (1, 2),
    ),
    "branch": (
        """
def f(r, delta):
    size = abs(r)
    if size <= delta:
        loss = 0.5 * r ** 2
    elif size < 2 * delta:
        loss = delta * (size - 0.5 * delta)
    else:
        loss = size
    return loss * delta
""",
        (1.5, 1.0),
        (0, 1),
    ),
    "early_return": (
        """
def f(xs, limit):
    total = 0.0
    for x in xs:
        if x < 0:
            continue
        total += x ** 2
        if total > limit:
            return total * limit
    return total
""",
        (V, 1.2),
        (0, 1),
    ),
    "while_loop": (
        """
def f(a, tol):
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x
""",
        (3.0, 1e-9),
        (0,),
    ),
    "nested_loops": (
        """
def f(m, v):
    out = 0.0
    for i in range(3):
        row = 0.0
        for j in range(i + 1):
            row += m[i, j] * v[j]
        out = out + np.sin(row) * v[i]
    return out
""",
        (M, V),
        (0, 1),
    ),
    "recurrent": (
        """
def f(w, u, b, xs):
    h = np.zeros(3)
    for x in xs:
        h = np.tanh(w @ h + u * x + b)
    return np.sum(h ** 2)
""",
        (M, V[:3].copy(), V[1:].copy(), V),
        (0, 1, 2),
    ),
    "closure": (
        """
def f(x, rate):
    scale = rate * x

    def step(y, times=2.0):
        return y - scale * y ** 2 / times

    return step(step(x), times=rate)
""",
        (0.7, 1.3),
        (0, 1),
    ),
    "recursion": (
        """
def f(x, n):
    if n == 0:
        return 1.0
    root = f(x, n // 2)
    return root * root * x if n % 2 else root * root
""",
        (1.1, 5),
        (0,),
    ),
    "tuple_results": (
        """
def polar(x, y):
    return np.hypot(x, y), np.arctan2(y, x)

def f(x, y):
    r, angle = polar(x, y)
    return {"r": r, "parts": [r * angle, angle]}
""",
        (0.7, 1.3),
        (0, 1),
    ),
    "slices": (
        """
def f(x, n):
    total = 0.0
    for k in range(1, n):
        total = total + np.sum(x[k:] * x[:-k]) / k
    return total
""",
        (V, 3),
        (0,),
    ),
    "stores": (
        """
def f(x0, rate, n):
    path = np.zeros(n)
    path[0] = x0
    for k in range(1, n):
        path[k] = rate * path[k - 1] * (1 - path[k - 1])
    return np.sum(path ** 2)
""",
        (0.3, 2.7, 5),
        (0, 1),
    ),
}
