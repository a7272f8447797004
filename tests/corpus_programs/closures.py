"""Closures that functions make, one in each iteration."""

import math

from tests.corpus_programs.declare import program


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


@program((0.7, 1.3), wrt=(0, 1))
def closures_composed(x, y):
    def then(f, g):
        return lambda v: g(f(v))

    composed = math.sin
    for k in range(3):
        composed = then(composed, lambda v, k=k: v * y + k)
    return composed(x)
