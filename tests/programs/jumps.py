"""Leaving and shortening loops: break, continue and else."""

import math  # noqa: I001


from tests.programs.declare import program, signed


@program((0.7, 5.0), (0.7, 0.5), (0.7, 1e9), wrt=(0,), second=True)
def break_when_large(x, limit):
    s = x
    for i in range(6):
        s = s * 1.5 + x * i
        if s > limit:
            break
    return s * s


@program((0.7, 5.0), (0.7, 0.5), wrt=(0,))
def break_before_update(x, limit):
    s = x
    for i in range(6):
        if s > limit:
            break
        s = s * 1.5 + x * i
    return s * s


@program((0.7, 4.0), (0.7, 0.5), (0.7, 1e9), wrt=(0,))
def break_in_the_middle(x, limit):
    s = x
    for i in range(6):
        t = s * x + i
        if t > limit:
            s = s + 1.0
            break
        s = s + t
    return s


@program((0.7, 3.0), wrt=(0, 1))
def endless_while(x, limit):
    while True:
        x = x * 1.5
        if x > limit:
            break
        x = x + 0.1
    return x


@program((0.7, 3), wrt=(0,))
def break_in_else_arm(x, n):
    for i in range(10):
        if i < n:
            x = x * 1.5
        else:
            x = x + 1.0
            break
    return x


@program((0.7, 2), (0.7, 4), (0.7, 8), wrt=(0,))
def two_breaks(x, n):
    s = x
    for i in range(6):
        if i == n:
            s = s * 2.0
            break
        s = s * x
        if s + i > 4.5:
            break
        s = s + x
    return s


@program((signed(6),), second=True)
def continue_on_negative(xs):
    s = 0.0
    for x in xs:
        if x < 0:
            continue
        s = s + x**2
    return s


@program((0.7,))
def continue_in_while(x):
    i = 0
    s = x
    while i < 6:
        i += 1
        if i % 2 == 0:
            continue
        s = s * x + i
    return s


@program((signed(8),))
def continue_and_break(xs):
    s = 0.0
    for i, x in enumerate(xs):
        if x < -0.5:
            continue
        if i > 5:
            break
        if x > 0:
            s = s + x * x
            continue
        s = s * x
    return s


@program((0.7, 3), wrt=(0,))
def nested_continue(x, n):
    s = 0.0
    for i in range(n):
        for j in range(n):
            if j == i:
                continue
            s = s + x ** (i + j)
        if i == 1:
            continue
        s = s * 1.5
    return s


@program((0.7, 5.0), (0.7, 1e9), wrt=(0,))
def for_else(x, limit):
    s = x
    for _ in range(4):
        s = s * 1.9
        if s > limit:
            break
    else:
        s = s * s
    return s + x


@program((0.7, 0), (0.7, 3), wrt=(0,))
def else_after_zero_trips(x, n):
    for _ in range(n):
        x = x * x
    else:
        x = x + 1.0
    return x


@program((0.7, 2), (0.7, 9), wrt=(0,))
def while_else(x, n):
    i = 0
    while x < 5.0:
        x = x * 1.7
        i += 1
        if i == n:
            break
    else:
        x = math.sin(x)
    return x * x


@program((0.7, 1.2), (0.7, 9.0), wrt=(0,))
def else_that_returns(x, limit):
    for _ in range(3):
        x = x * 1.5
        if x > limit:
            break
    else:
        return x * 2.0
    return x * x
