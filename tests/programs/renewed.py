"""Loops that make an array anew in each iteration, change it, and carry it on: `y = c.copy(); ...; c = y`."""

import numpy as np

from tests.programs.declare import program

U = np.array([0.3, 0.7, -0.4, 0.2])
V = np.array([0.5, -0.1, 0.9, 1.1])


@program((U, V), second=True)
def stored_with_neighbours(u, v):
    for _ in range(3):
        new = u.copy()
        new[1:-1] += v[0] * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
        u = new
    return u @ v


@program((U, V, 3), (U, V, 0), second=True)
def solved_in_a_loop_inside(c, v, steps):
    for _ in range(steps):
        y = c.copy()
        for _ in range(2):
            residual = y**2 - c * v
            y -= 0.1 * residual
        c = y
    return c @ c


@program((U, V), second=True, quick=True)
def stored_in_a_loop_inside(c, v):
    for _ in range(2):
        y = c.copy()
        for k in range(1, 4):
            y[k] = y[k] + y[k - 1] * c[k] * v[k]
        c = y
    return c @ c


@program((U, V), second=True)
def anew_in_both_loops(c, v):
    for _ in range(2):
        y = c.copy()
        for _ in range(2):
            z = y.copy()
            for k in range(4):
                z[k] += v[k] * y[k] * c[k]
            y = z
        c = y
    return c @ c


@program((U, V), second=True)
def two_of_them(u, v):
    for _ in range(3):
        p, q = u.copy(), v.copy()
        p += 0.1 * v * u
        q -= 0.1 * p * v
        u, v = p, q
    return u @ v


@program((U, V), second=True)
def one_anew_and_one_not(u, v):
    v = v * 1.0
    for _ in range(3):
        p, q = u.copy(), v
        q -= 0.1 * p * v
        p += q * u
        u, v = p, q
    return u @ v


@program((U, V), second=True)
def carried_before_the_last_change(c, v):
    for _ in range(3):
        y = c.copy()
        d = c
        for _ in range(2):
            y -= 0.1 * y * d * v
            d = y
        c = c + y
    return c @ c


@program((U, V))
def carried_inside(c, v):
    for _ in range(2):
        y = c.copy()
        for k in range(3):
            if k == 1:
                c = y
            y[k] = y[k] * c[2 - k] * v[k]
    return y @ c


@program((U, V))
def changed_before_it_is_made(c, v):
    y = c * 1.0
    c = y
    for _ in range(2):
        y[0] = y[0] * c[1]
        y = y * v
        y[1] = c[0] + 1.0
        c = y
    return c @ y


@program((U, V), quick=True)
def anew_on_one_path(c, v):
    c = c * 1.0
    y = before = c
    total = 0.0
    for k in range(4):
        if k % 2:
            y = c.copy()
        y *= v
        total = total + before @ y
        before = c
        c = y
    return total


@program((U, V), second=True)
def kept_in_a_list(c, v):
    kept = []
    for _ in range(3):
        y = c.copy()
        for _ in range(2):
            kept.append(y)
            y *= v
        c = y
    return np.sum(kept[0] * kept[-1] * kept[2])


@program((U, V), second=True, quick=True)
def with_a_view_of_the_last(c, v):
    c = c * 1.0
    part = c[1:]
    for _ in range(3):
        y = np.array(c)
        more = y[1:]
        y[0] += np.sum(part * v[0])
        more *= 0.5
        part = more
        c = y
    return c @ c + np.sum(part)
