"""Stores that leave nothing of an array, reads of all of one, and sums over axes that broadcasting undoes."""

import numpy as np

from tests.programs.declare import positive, program, signed

A = positive(2, 3)
B = positive(2, 3, 4)


@program((A, A + 1), wrt=(0, 1), second=True)
def stored_over(a, b):
    out = np.sin(a)
    first = out * b
    out[:, :] = b * a
    return out * first


@program((A, A + 1), wrt=(0, 1), second=True)
def stored_over_itself(a, b):
    out = a * b
    out[...] = out
    out[:] = np.exp(out)
    return np.sum(out, axis=0) * b


@program((A, positive(3)), (A, 2.0), (A, positive(2, 1)), wrt=(0, 1), second=True)
def broadcast_over(a, v):
    out = a * 2
    kept = out * a
    out[:, ...] = v
    return out * kept


@program((A, 3))
def stored_over_in_a_loop(a, n):
    out = np.zeros_like(a)
    for k in range(n):
        b = a * (k + 1.0)
        b[...] = np.sin(b)
        out[:, :] = out * b + a
    return out


@program((A, 4), second=True, quick=True)
def stored_over_and_passed_on(a, n):
    u, v = a * 1.5, a * a
    for _ in range(n):
        v[:] = np.sin(u) * v
        u, v = v, u
    return u + 2 * v


@program((A, True), (A, False))
def stored_over_in_one_arm(a, first):
    b = a * a
    if first:
        b[...] = a
    return b * a


@program((A,), quick=True)
def stored_over_twice_then_in_part(a):
    b = a * a
    c = b * 3
    b[:, :] = np.cos(a)
    b[0] = c[1]
    b[...] = b * c
    b[1, 1:] = 2.0
    return b


@program((A,), quick=True)
def view_stored_over(a):
    b = a * a
    row = b[0]
    row[:] = a[1] * row
    b[...] = b * a
    return b


@program((A.astype("float32"), A), wrt=(0, 1), quick=True)
def stored_over_with_a_cast(a, b):
    c = a * 2
    c[...] = b
    return c * a


@program((B,), second=True)
def whole_reads(b):
    c = b[...]
    d = b[:, :, :]
    e = b[:]
    return c * d + e[:, ...] * np.sum(d[:], axis=1, keepdims=True)


@program((A,), quick=True)
def whole_read_of_what_changes(a):
    b = a * 1.0
    c = b[:, :]
    b[0] = 2 * a[1]
    c[1, :] = a[0] * c[0]
    return b * c


@program((B,), second=True, quick=True)
def softmax_over_an_axis(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@program((A,), (positive(1, 3),), (positive(3, 1),), (np.empty((0, 3)),), (A.astype("float32"),))
def normalised_rows(a):
    return a * a / np.sum(a * a, axis=1)[:, np.newaxis]


@program((B,), second=True, quick=True)
def sums_over_several_axes(b):
    y = np.sin(b)
    s = np.sum(y, axis=(0, 2))
    m = y.mean(axis=(0, -1), keepdims=True)
    return y * m + s[:, np.newaxis]


@program((A,), second=True)
def sums_of_sums(a):
    y = a * a
    rows = np.sum(y, axis=1, keepdims=True)
    columns = np.mean(y, axis=0)
    total = np.sum(rows) + np.sum(np.sum(y, axis=0) ** 2)
    return rows * columns * total


@program((B, 0), (B, 2), quick=True)
def sum_over_an_axis_of_the_run(b, axis):
    y = np.sin(b)
    return np.sum(y) * np.sum(y * y, axis=axis)


@program((A, 3), second=True)
def sums_in_a_loop(a, n):
    y = np.sin(a)
    for _ in range(n):
        y = y / np.sum(y, axis=0) + np.mean(y, axis=1, keepdims=True)
    return y


@program((A, True), (A, False))
def sum_in_one_arm(a, first):
    y = np.sin(a)
    t = np.sum(y, axis=0) if first else y[1] * 2
    return t * t


@program((A,))
def sum_of_an_element(a):
    y = [np.sin(a), np.cos(a)]
    return np.sum(y[0], axis=0) * np.sum(y[1][:, 1:], axis=1)[0] * np.mean(y[1], axis=0)


@program((signed(3, 4),), second=True)
def sum_of_what_was_chosen(x):
    y = np.where(x > 0, np.sqrt(np.abs(x)), 0)
    return y * np.sum(y, axis=0) + np.mean(y, axis=1, keepdims=True)


@program((signed(3, 4), signed(4)), wrt=(0, 1), second=True, quick=True)
def rectified(x, b):
    h = np.maximum(x + b, 0)
    return np.maximum(h * h - b, 0) @ np.ones(4)


@program((B, positive(3, 1)), (B, positive(2, 1, 1)), (B, 1.5), (B, positive(1, 4)), wrt=(0, 1), second=True)
def divided(b, y):
    return -b * b / y


@program((positive(3), B), wrt=(0, 1))
def divided_by_more(y, b):
    return y[:, np.newaxis] / b - y[:2, np.newaxis, np.newaxis] / b
