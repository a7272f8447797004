"""Context managers."""

import contextlib
import threading

import numpy as np

import s2sad
from tests.programs.declare import positive, program

LOCK = threading.Lock()


@contextlib.contextmanager
def noted(notes, name):
    notes.append(name)
    try:
        yield len(name)
    finally:
        notes.append("done")


class Constant:
    def __enter__(self):
        return 2.0

    def __exit__(self, *details):
        pass


class Counting(contextlib.ContextDecorator):
    entered = 0

    def __enter__(self):
        self.entered += 1

    def __exit__(self, *details):
        self.entered -= 1


@np.errstate(divide="ignore", invalid="ignore")
def masked_quotient(x, y=2.0):
    return np.where(x > 0, y / x, 0.0)


class Decorated:
    @noted([], "decorated")
    @Counting()
    def method(self, x, y=2.0):
        return np.sum(x) * y

    @classmethod
    @np.errstate(all="ignore")
    @s2sad.debug_nans
    def of_class(cls, x, *, y=3.0):
        return x * x * y


@program((np.array([0.7, 1.3]), 0.8), wrt=(0, 1), second=True)
def functions_in_contexts(x, y):
    quotient = masked_quotient(np.arange(2.0)) + masked_quotient(np.arange(2.0), y=y)
    return np.sum(quotient) * Decorated().method(x, y) + np.sum(Decorated.of_class(x))


@program((0.8, 1.3), wrt=(0, 1), second=True)
def error_state(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.log(x) * y
    return z * z


@program((positive(3), positive(3, seed=1)), wrt=(0, 1), second=True, quick=True)
def masked_division(x, y):
    with np.errstate(divide="ignore"):
        return np.sum(np.where(y > 0, x / y, 0.0))


@program((0.8, 1.3), wrt=(0, 1), second=True)
def context_in_a_loop(x, y):
    total = 0.0
    mode = "ignore"
    for k in range(4):
        with np.errstate(over=mode, under="ignore" if k else "warn"):
            x = x * y
            if k == 3:
                break
            if k == 1:
                continue
        total += x
    return total * x


@program((0.8, 1.3), (1.8, 1.3), wrt=(0, 1), second=True, quick=True)
def return_from_a_context(x, y):
    for k in range(3):
        with np.errstate(all="ignore"):
            if x > k:
                x = x * y
            else:
                return x * k
    return x


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def several_contexts(x, y):
    with np.errstate(all="ignore"), open("/dev/null") as file, np.printoptions(precision=3):
        count = len(file.read())
        z = x * y + count
    return z * y


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def null_context(x, y):
    with contextlib.nullcontext(x * y) as z, contextlib.nullcontext():
        w = z * z
    return w * x


@program((0.8, 1.3), wrt=(0, 1), second=True)
def lock(x, y):
    with LOCK:
        z = x * y
    return z * z


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def context_of_a_generator(x, y):
    notes = []
    with noted(notes, "abc") as n:
        z = x * y * n
    return z * len(notes)


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def context_of_a_class(x, y):
    with Constant() as k:
        z = x * y * k
    return z * k


class Scaled:
    def __init__(self, value, scale):
        self.value, self.scale = value, scale

    def __enter__(self):
        self.value = self.value * self.scale
        return self.scale, self.value

    def __exit__(self, *details):
        self.value = self.value - self.scale


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def contexts_of_classes_that_carry(x, y):
    box = Scaled(x, y)
    for k in range(3):
        with box as (scale, v):
            z = v * box.value
            if k == 1:
                break
    with Scaled(z, scale) as pair:
        z = z * pair[1]
    return z * box.value * scale


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def attributes_as_targets(x, y):
    box = Scaled(x, y)
    with contextlib.nullcontext(x * y) as box.scale:
        z = box.scale * box.value
    for box.value in (x, z, y):
        z = z * box.value
    return z * box.scale


@program((0.8, 1.3), wrt=(0, 1), second=True)
def context_around_a_loop(x, y):
    with np.errstate(over="ignore"):
        for _ in range(3):
            x = np.sin(x) * y
    return x


@program((0.8, 1.3), wrt=(0, 1), second=True)
def array_built_in_a_context(x, y):
    a = np.zeros(3)
    with np.errstate(all="ignore"):
        for k in range(3):
            a[k] = x * y**k
    return np.sum(a * a)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def closure_with_a_context(x, y):
    def f(v):
        with np.errstate(all="ignore"):
            return np.exp(v * y)

    return f(x) * f(y)
