"""Closures that functions make, one in each iteration."""

import math

import numpy as np

from tests.programs.declare import program


@program((0.7, 1.3), wrt=(0, 1))
def closures_made_in_a_loop(x, y):
    def scaling(k):
        def scale(v):
            return math.sin(v * k) + y

        return scale

    scalings = [scaling(x * i) for i in range(3)]
    z = y
    for scale in scalings:
        z = scale(z)
    return z


@program((0.7, 1.3), wrt=(0, 1))
def lambdas_made_in_a_loop(x, y):
    def line(k):
        return lambda v: v * k + x

    z = x
    for i in range(3):
        step = line(y * i)
        z = step(z)
    return z


@program((0.7, 1.3), wrt=(0, 1), quick=True)
def closures_composed(x, y):
    def then(f, g):
        return lambda v: g(f(v))

    composed = math.sin
    for k in range(3):
        composed = then(composed, lambda v, k=k: v * y + k)
    return composed(x)


def iterated(f, x, n):
    return x if n == 0 else iterated(f, f(x), n - 1)


@program((0.7, 1.2), wrt=(0, 1), second=True, quick=True)
def captured_and_assigned_again(x, y):
    a = x

    def scaled(t, power=2):
        return a * np.sin(t) ** power

    def shifted(t):
        return scaled(t) + a

    total = iterated(shifted, y, 2)
    a = a * 1.5 if total > 0.2 else a
    total += iterated(shifted, y, 2) * iterated(scaled, x, 1)
    a = 2.0
    return total * a


@program((0.7, 1.2), wrt=(0, 1), second=True, quick=True)
def functions_of_each_turn(x, y):
    total, scale = 0.0, x

    def scaled(t):
        return scale * t

    for k in range(3):
        shift = y * k
        total += iterated(lambda t: x * np.cos(t) ** k + shift, y, 2)  # noqa: B023
        shift = total
        total += iterated(scaled, shift, 2)
        scale = scale * 0.5 + 0.1 * k
    return total


@program((np.array([0.7, 1.2, 0.4]),), second=True, quick=True)
def order_by_what_changes(x):
    w = x * x
    first = sorted(range(3), key=lambda k: w[k])
    w = w * np.array([1.0, 0.1, 1.0])
    second = sorted(range(3), key=lambda k: w[k])
    return w[first[0]] * x[second[0]] + w[first[2]]


def turning(rate):
    def field(state):
        position, velocity = state[:2], state[2:]
        return np.concatenate([velocity, -rate * position])

    return field


def midpoint(field, h):
    def step(state):
        return state + h * field(state + 0.5 * h * field(state))

    return step


@program((np.array([[0.3, -0.2], [0.1, 0.4], [-0.5, 0.2]]), 1.3), wrt=(0, 1), second=True, quick=True)
def steps_that_a_factory_makes(kicks, rate):
    state = np.array([1.0, 0.0, 0.0, 1.0])
    step = midpoint(turning(rate), 0.1)
    for kick in kicks:
        state = step(state)
        state[2:] += kick
    return np.sum(state**2)


@program((0.7,), second=True, quick=True)
def factories_in_a_loop(x):
    total, before = 0.0, scaling(x)
    for k in range(3):
        after = scaling((k + 1) * x)
        total += before(x) * after(total + x)
        before = after
    return total


def scaling(a):
    def scaled(v):
        return a * np.sin(v)

    return scaled
