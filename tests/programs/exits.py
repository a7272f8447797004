"""Leaving loops by return, and leaving or shortening loops of loops."""


import numpy as np

from tests.programs.declare import positive, program


@program((0.7, 2.0), (0.7, 1e9), wrt=(0, 1))
def return_from_loop(x, limit):
    s = x
    for _ in range(5):
        s = s * 1.5
        if s > limit:
            return s * limit
    return s


@program((0.7, 2.0), (0.7, 1e9), wrt=(0,))
def return_at_loop_start(x, limit):
    s = x
    for i in range(5):
        if s > limit:
            return s * i
        s = s * 1.5 + x
    return s * s


@program((0.7, 2.0), wrt=(0, 1), quick=True)
def return_from_while(x, limit):
    while True:
        x = x * 1.5
        if x > limit:
            return x * limit


@program((positive(3, 3), 1.2), (positive(3, 3), 9.0), wrt=(0,))
def return_from_nested_loop(a, limit):
    s = 0.0
    for i in range(3):
        for j in range(3):
            s = s + a[i, j] ** 2
            if a[i, j] > limit:
                return s * a[i, j]
        s = s * 0.5
    return s


@program((0.7, 1), (0.7, 4), (0.7, 7), (0.7, 100), wrt=(0,))
def return_from_three_deep(x, n):
    count = 0
    for i in range(2):
        x = x * 1.1
        for j in range(2):
            for k in range(2):
                count += 1
                if count == n:
                    return x * (i + 1) * (j + 2) * (k + 3)
                x = x + 0.1 * x * x
            x = x - 0.1
    return x


@program((0.7, 1), (0.7, 3), (0.7, 9), wrt=(0,))
def several_returns(x, n):
    for i in range(5):
        if i == n:
            return x * x
        if x > 3.0:
            return x + i
        x = x * 1.5
    return x / 2.0


@program((0.7, 1), (0.7, 9), wrt=(0,))
def return_or_break(x, n):
    y = x
    for i in range(5):
        y = y * 1.5
        if i == n:
            return y
        if y > 3.0:
            break
        y = y + x
    else:
        y = y * 3.0
    return y * y


@program((0.7, 1), (0.7, 9), wrt=(0,))
def returned_tuple_from_loop(x, n):
    for i in range(4):
        if i == n:
            return x * x, x + i
        x = x * 1.5
    return x, 2.0


@program((positive(3, 3), 1.2), wrt=(0,))
def inner_break(a, limit):
    s = 0.0
    for row in a:
        t = 1.0
        for x in row:
            if x > limit:
                break
            t = t * x
        s = s + t
    return s


@program((0.7, 2), wrt=(0,))
def break_of_both(x, n):
    found = False
    for i in range(4):
        for j in range(4):
            x = x * 1.1
            if i + j > n:
                found = True
                break
        if found:
            break
    return x * (i + j)


@program((0.7, 2), (0.7, 9), wrt=(0,))
def for_else_continue_outer(x, n):
    for i in range(3):
        for j in range(3):
            if i * j == n:
                break
            x = x * 1.1
        else:
            continue
        x = x + 1.0
        break
    return x


@program((0.7,))
def first_trip_breaks(x):
    y = x
    for _ in range(3):
        y = y * x
        break
    return y


@program((0.7,), quick=True)
def first_trip_returns(x):
    for i in range(3):
        return x * (i + 2)
    return x


@program((0.7, 0), (0.7, 2), wrt=(0,))
def only_return_in_loop(x, n):
    for i in range(n):
        x = x * 2.0
        if i == 1:
            return x
    x = x + 1.0
    return x * x


@program((0.7, 3), wrt=(0,))
def loop_variable_after_break(x, n):
    for i in range(10):
        if i == n:
            break
        x = x * 1.3
    return x * i


@program((0.7,))
def break_on_none(x):
    values = (x, x * x, None, x * 3.0)
    s = 0.0
    for v in values:
        if v is None:
            break
        s = s + v
    return s


@program((positive(5), 1.0), wrt=(0, 1))
def search(xs, target):
    best = xs[0]
    for x in xs:
        if abs(x - target) > abs(best - target):
            continue
        best = x
        if abs(best - target) < 0.01:
            break
    return (best - target) ** 2


@program((2.0,))
def bisection(a):
    low, high = 0.0, a + 1.0
    for _ in range(8):
        middle = 0.5 * (low + high)
        if middle * middle > a:
            high = middle
        else:
            low = middle
        if high - low < 1e-3:
            break
    return low + high


@program((positive(3), 40), wrt=(0,))
def fixed_point(x, most):
    y = x
    for n in range(most):
        new = 0.5 * np.cos(y) + 0.1 * x
        if np.max(np.abs(new - y)) < 1e-6:
            return new * (n > 3)
        y = new
    return y


@program((0.7, 4), wrt=(0,))
def jump_in_both_arms(x, n):
    s = 0.0
    for i in range(10):
        s = s + x * i
        if i == n:
            s = s * 2.0
            break
        else:  # noqa: RET508
            x = x * 1.1
            continue
    return s


@program((0.7,), (2.9,))
def return_in_branch_in_loop_in_branch(x):
    if x > 0.5:
        for i in range(4):
            if x > 2.0:
                if i > 1:
                    return x * i
                x = x + 0.5
            else:
                x = x * 1.2
        x = x - 1.0
    return x * x


@program((0.3, 1e-9, 5), (0.3, 1e-9, 1), second=True)
def last_values_after_an_endless_loop(x, tolerance, most):
    y = x
    new = y * 3.0
    turns = 0
    while True:
        new = np.tanh(y + x)
        if turns > 2:
            new = new * x
        error = abs(new - y)
        y = new * 1.5
        turns += 1
        if error < tolerance or turns >= most:
            break
    else:
        raise RuntimeError("no convergence")
    return y * new + new


@program((0.3, 3), second=True)
def loop_in_an_endless_loop(x, n):
    y = 2.0 * x
    k = 0
    while True:
        y = np.sin(x * k) + 1.0
        for _ in range(2):
            y = y * x
        k += 1
        if k > n:
            break
    return y * x


@program((0.3, np.array([0.5, 0.7]), np.array([[1.0, 2.0], [3.0, 4.0]])), wrt=(0, 1, 2), second=True)
def row_that_may_be_unbound(x, z, h):
    s = 0.5
    for w in h:
        for item, s in zip(w, z, strict=True):
            x += 0.6 * np.sin(item) * s
        return -s * x
    return x * (w @ w)


@program((0.2, -0.5, np.array([0.5, 0.7])), wrt=(0, 1), second=True)
def sum_that_may_be_unbound(x, y, z):
    k = 0
    while k < 3 and x < 0.65:
        k += 1
        s = 0.4 * sum({i: np.sin(x) for i, q in enumerate(z) if y < 0.33}.values())
        j = 0
        while j < 3:
            j += 1
            return y * y
        return s * y
    return x
