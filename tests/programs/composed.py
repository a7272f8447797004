"""Objects that hold objects, and what they compute once: kernels, meshes, models of parts."""

from functools import cached_property

import numpy as np

from tests.programs.declare import program

A, B = np.array([0.5, 0.8, -1.3]), np.array([0.4, 1.1, 0.2])


class Kernel:
    def matrix(self, x):
        k = np.empty((len(x), len(x)))
        for i in range(len(x)):
            for j in range(len(x)):
                k[i, j] = self.of(x[i], x[j])
        return k

    def __add__(self, other):
        return Sum(self, other)

    def __mul__(self, factor):
        return Scaled(self, factor)


class Gauss(Kernel):
    def __init__(self, length):
        self.length = length

    def of(self, a, b):
        return np.exp(-0.5 * (a - b) ** 2 / self.length**2)


class Linear(Kernel):
    def __init__(self, slope):
        self.slope = slope

    def of(self, a, b):
        return self.slope * a * b


class Sum(Kernel):
    def __init__(self, a, b):
        self.a, self.b = a, b

    def of(self, x, y):
        return self.a.of(x, y) + self.b.of(x, y)


class Scaled(Kernel):
    def __init__(self, kernel, factor):
        self.kernel, self.factor = kernel, factor

    def of(self, x, y):
        return self.factor * self.kernel.of(x, y)


@program((A, B), wrt=(0, 1), second=True, quick=True)
def sum_of_kernels(p, x):
    kernel = Gauss(np.exp(p[0])) * 2.0 + Linear(p[1])
    k = kernel.matrix(x) + np.exp(p[2]) * np.eye(len(x))
    return 0.5 * x @ np.linalg.solve(k, x) + np.log(np.diag(np.linalg.cholesky(k))).sum()


class Part:
    def __init__(self, value):
        self.value = value

    def grow(self, k):
        self.value = self.value * k

    def total(self):
        return np.sum(self.value**2)


class Whole:
    def __init__(self, part, factor=2.0):
        self.part, self.factor = part, factor

    def total(self):
        return self.part.total() * self.factor

    def grow(self):
        self.part.grow(3.0)
        self.factor += 1


@program((A,), second=True)
def part_that_two_hold(x):
    part = Part(x)
    a, b = Whole(part), Whole(part, 3.0)
    a.grow()
    part.grow(0.5)
    return b.total() * a.factor


@program((A,), second=True)
def part_that_is_replaced(x):
    old = Part(x)
    whole = Whole(old)
    whole.part = Part(x**2)
    old.grow(3.0)
    return whole.total() + old.total()


@program((A,))
def part_that_is_replaced_in_a_loop(x):
    whole, s = Whole(Part(x)), 0.0
    for _ in range(3):
        s = s + whole.total()
        whole.part = Part(whole.part.value * x)
    return s


@program((A,), second=True)
def parts_that_are_exchanged(x):
    a, b = Whole(Part(x)), Whole(Part(x * 2.0))
    a.part, b.part = b.part, a.part
    a.grow()
    return a.total() * b.total()


@program((A, 1.0), (A, -1.0), second=True)
def part_that_is_replaced_on_one_path(x, sign):
    part = Part(x)
    whole = Whole(part)
    if sign > 0:
        whole.part = Part(x * 5.0)
    part.grow(2.0)
    return whole.total() + part.total()


@program((A,), second=True)
def wholes_in_wholes(x):
    outer = Whole(Whole(Part(x)), 0.5)
    outer.part.grow()
    return outer.total() + outer.part.part.value[0]


class Field:
    def __init__(self, x):
        self.x = x

    @cached_property
    def sine(self):
        return np.sin(self.x)

    @cached_property
    def energy(self):
        return np.sum(self.sine**2)

    def both(self):
        return self.energy + self.sine.sum()


class Cosine(Field):
    @cached_property
    def sine(self):
        return np.cos(self.x)


@program((A,), second=True, quick=True)
def cached_and_not_computed_again(x):
    f = Field(x)
    a = f.sine
    f.x = f.x * 2.0
    return np.sum(a * f.sine)


@program((A,), second=True)
def cached_in_the_first_iteration(x):
    f, s = Field(x), 0.0
    for k in range(3):
        s = s + np.sum(f.sine) * k
        f.x = f.x * 2.0
    return s


@program((A, True), (A, False), wrt=(0,), second=True)
def cached_on_one_path(x, flag):
    f = Field(x)
    s = f.sine.sum() if flag else 0.0
    f.x = f.x * 2.0
    return s + f.sine.sum()


@program((A,), second=True)
def cached_value_that_was_set(x):
    f = Field(x)
    f.sine = x**2
    return f.sine.sum() + f.energy


@program((A,), second=True, quick=True)
def cached_value_of_another_kind(x):
    f = Field(x)
    f.sine = 3
    return f.sine * x[0]


@program((A,), second=True)
def cached_from_cached(x):
    f = Field(x)
    return f.both() + f.both() * Cosine(x).both()


@program((A,), second=True)
def cached_by_two_names(x):
    f = Field(x)
    g = f
    s = g.sine.sum()
    f.x = x**3
    return s + f.sine.sum() + g.energy


@program((A,), second=True)
def cached_in_closures(x):
    f = Field(x)

    def total(k):
        return f.both() * k

    return total(1.0) + total(2.0)


@program((A,), second=True, quick=True)
def cached_array_that_changes(x):
    f = Field(x)
    f.sine[0] = 2.0
    return np.sum(f.sine) + f.energy


def doubled(v):
    return np.sum(v) * 2.0


def cubed(v):
    return np.sum(v**3)


class Switch:
    def __init__(self, x):
        self.x = x
        self.of = doubled
        self.all = [doubled]
        self.wave = np.sin

    def turn(self):
        self.of = cubed
        self.wave = np.cos

    def turn_all(self):
        self.all[0] = cubed

    def run(self):
        return self.of(self.x)


@program((A,))
def function_that_a_method_replaces(x):
    s = Switch(x)
    y = s.of(x) * np.sum(s.wave(x))
    s.turn()
    return y * s.of(x) * s.run() + np.sum(s.wave(x))


@program((A,), second=True)
def function_replaced_in_a_loop(x):
    s, y = Switch(x), 0.0
    for _ in range(3):
        y = y + s.of(x)
        s.turn()
    return y


@program((A,), second=True)
def function_replaced_in_a_list(x):
    s = Switch(x)
    s.turn_all()
    return s.all[0](x)


class Other(Part):
    def total(self):
        return np.sum(self.value) * 3.0


class Exchanged(Whole):
    def exchange(self):
        self.part = Other(self.part.value)

    def both(self):
        before = self.total()
        self.exchange()
        return before * self.total()


@program((A,), second=True)
def part_of_another_class(x):
    whole = Exchanged(Part(x))
    whole.exchange()
    return whole.total()


@program((A,), second=True)
def part_of_another_class_in_a_method(x):
    return Exchanged(Part(x)).both()


@program((A,), second=True)
def part_of_another_class_in_a_loop(x):
    whole, s = Exchanged(Part(x)), 0.0
    for k in range(3):
        s = s + whole.total()
        if k == 0:
            whole.exchange()
    return s
