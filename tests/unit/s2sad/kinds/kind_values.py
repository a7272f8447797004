"""What the tests of kinds share: short names for kinds, and strategies for the values that they describe."""
from __future__ import annotations

import math
from random import Random

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from s2sad.kinds.lattice import Array, Scalar, Sym

FLOAT, INT, BOOL = Scalar("float"), Scalar("int"), Scalar("bool")
fast = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


def sym(name, offset=0):
    return Sym(name, offset, offset == 0 or offset >= 2)


def array(*dims, dtype="float64"):
    return Array(dtype, tuple(sym(d) if isinstance(d, str) else d for d in dims))


seeds = st.integers(0, 2 ** 32).map(Random)  # uniform choices: drawn one by one they would mostly be alike
DTYPES = ("float64", "float64", "float64", "float32", "int64", "bool", "complex128", "int8")
REALS = ("float64", "float64", "float32", "int64", "bool")


def random_number(rng):
    return rng.choice([
        rng.uniform(-3, 3), rng.uniform(-3, 3), np.float64(rng.uniform(-3, 3)), rng.randint(-3, 3), True,
        np.bool_(True), np.float32(1.5), np.int64(rng.randint(-3, 3)), 0.5 + 1j])


def random_shape(rng, max_rank=3, sizes=(0, 1, 2, 3)):
    return tuple(rng.choice(sizes) for _ in range(rng.randint(0, max_rank)))


def random_array(rng, shape, dtypes=DTYPES):
    values = [rng.choice([rng.uniform(-2, 2), 0.0, 1.0]) for _ in range(math.prod(shape))]
    return np.array(values).reshape(shape).astype(rng.choice(dtypes))


def random_operands(rng):
    """Two numbers or arrays; most can be broadcast together."""
    shape = random_shape(rng)
    made = []
    for _ in range(2):
        own = [1 if rng.random() < 0.2 else n for n in shape][rng.randint(0, 1):]
        made.append(random_number(rng) if rng.random() < 0.25 else random_array(rng, tuple(own)))
    return made


def random_value(rng, depth=0):
    """A number, an array, None, or a container of such."""
    choice = rng.randint(0, 5 if depth < 3 else 2)
    if choice == 0:
        return rng.choice([random_number(rng), None, "a"])
    if choice < 3:
        return random_number(rng) if choice == 1 else random_array(rng, random_shape(rng, 2))
    items = [random_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return [items, tuple(items), dict(zip("abc", items, strict=False))][choice - 3]
