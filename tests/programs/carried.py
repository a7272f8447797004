"""Loops that run to their end: while loops, loops of loops, and all that is carried from trip to trip."""

import math

import numpy as np

from tests.programs.declare import positive, program, signed


@program((0.7,), second=True)
def while_loop(x):
    y = x
    while y < 10.0:
        y = y * 2.0 + x
    return y


@program((20.0,), second=True)
def newton(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


@program((0.7, 5), (0.7, 0), wrt=(0,))
def counted_while(x, n):
    i = 0
    y = x
    while i < n:
        y = math.sin(y) + x
        i += 1
    return y


@program((0.7,))
def while_with_and(x):
    n = 0
    y = x
    while n < 10 and y < 3.0:
        y = y * 1.5
        n = n + 1
    return y * n


@program((5.3,))
def while_never_entered(x):
    while x < 1.0:
        x = x * 2.0
    return x * x


@program((0.7, 3), (0.7, 0), wrt=(0,), second=True)
def nested_loops(x, n):
    s = 0.0
    for i in range(n):
        t = x * i
        for _ in range(i):
            t = t * x + s
        s = s + t
    return s + x


@program((0.7,))
def while_in_for(x):
    s = 0.0
    for i in range(4):
        t = x
        while t < i:
            t = t * 1.7
        s = s + t * t
    return s


@program((positive(2, 3, 2),))
def three_deep(a):
    s = 0.0
    for matrix in a:
        for row in matrix:
            for x in row:
                s = s * 0.5 + x * x
    return s


@program((0.7, 1.2), wrt=(0, 1), second=True)
def fibonacci_swap(a, b):
    for _ in range(5):
        a, b = b, 0.5 * a + b * b * 0.1
    return a * b


@program((0.7, 1.2, 0.4), wrt=(0, 1, 2))
def rotating_three(a, b, c):
    for _ in range(4):
        a, b, c = b, c, a * b
    return a + 2.0 * b * c


@program((0.7, 1.2), wrt=(0, 1))
def carried_tuple(x, y):
    state = (x, y)
    for _ in range(3):
        a, b = state
        state = (a * b, a + b)
    return state[0] * state[1]


@program((positive(3), positive(3, 3, seed=1)), wrt=(0, 1), second=True)
def carried_vector(h, w):
    for _ in range(3):
        h = np.tanh(w @ h)
    return np.sum(h)


@program((positive(3),))
def carried_arrays_swapped(x):
    u = x
    v = x * x
    for _ in range(3):
        u, v = v, u * 0.5 + v
    return np.sum(u * v)


@program((0.7,), (1.2,), second=True)
def branch_in_loop(x):
    s = x
    for i in range(5):
        if i % 2 == 0:  # noqa: SIM108
            s = s * x
        else:
            s = s + x
    return s


@program((signed(6),))
def branch_on_element(xs):
    s = 0.0
    for x in xs:
        if x > 0:
            s = s + x**2
        elif x < -0.7:
            s = s * 0.5
    return s


@program((0.7,))
def variable_of_the_trip(x):
    s = 0.0
    for i in range(4):
        t = x * i
        u = t * t
        s += u
    return s + t


@program((0.7,))
def previous_value(x):
    last = 0.0
    s = 0.0
    for i in range(4):
        now = math.sin(x * i)
        s = s + (now - last) ** 2
        last = now
    return s


@program((0.7,))
def first_trip_differs(x):
    best = None
    for i in range(4):
        v = math.cos(x * i)
        if best is None or v > best:
            best = v * x
    return best


@program((0.7,))
def sign_flips(x):
    sign = 1
    s = 0.0
    for k in range(6):
        s += sign * x**k
        sign = -sign
    return s


@program((0.7,))
def toggled_flag(x):
    odd = False
    s = x
    for _ in range(5):
        if odd:  # noqa: SIM108
            s = s * x
        else:
            s = s + x
        odd = not odd
    return s


@program((0.7,))
def loop_invariant(x):
    c = math.exp(x)
    s = 0.0
    for i in range(4):
        s = s + c * i
    return s


@program((0.7,))
def loop_without_derivative(x):
    n = 0
    for i in range(4):
        n = n + i
    return x * n


@program((0.7,))
def overwritten_in_loop(x):
    y = x
    for i in range(3):
        y = x * i
    return y


@program((0.7, 1.1), wrt=(0, 1))
def two_loops(x, y):
    s = x
    for _ in range(3):
        s = s * y
    for _ in range(2):
        s = s + x * s
    return s


@program((0.7,))
def ternary_in_loop(x):
    s = 0.0
    for i in range(5):
        s += x if i < 2 else x * s
    return s


@program((1.1, 0.4, 1.0, 0.02), wrt=(0, 1))
def euler_oscillator(q, p, k, dt):
    for _ in range(10):
        p -= dt * k * q
        q += dt * p
    return q, p


@program((positive(3), [0, 2, 2, 1]), wrt=(0,))
def indices_from_a_list(x, order):
    s = 0.0
    for k in order:
        s = s * 0.5 + x[k] ** 2
    return s


@program((positive(5),))
def running_maximum(xs):
    best = xs[0]
    for x in xs[1:]:
        if x > best:
            best = x
    return best * best


@program((positive(6),))
def loop_over_slice(xs):
    s = 0.0
    for x in xs[1::2]:
        s += x * x
    return s


@program((positive(2, 3),))
def loop_over_transpose(a):
    s = 0.0
    for column in a.T:
        s = s + column[0] * column[1]
    return s


@program((0.7,))
def string_loop(x):
    for letter in "aab":
        if letter == "a":  # noqa: SIM108
            x = x * 1.5
        else:
            x = x * x
    return x


@program(((0.9, 0.7),), second=True)
def growing_in_a_nested_loop(p):
    a, b = p
    total = 0.0
    for _ in range(3):
        g = np.ones(2) * a
        for j in range(3):
            if j != 1:
                total = total + np.sum(g * g * b)
            g = np.concatenate([g * g, g[:1]])
        total = total + np.sum(g)
    return total
