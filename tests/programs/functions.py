"""Calls of the user's own functions: defaults, keywords, recursion, closures, functions as values."""

import functools
import inspect
import math

import numpy as np

from tests.programs.declare import positive, program


def square(x):
    return x * x


def affine(x, a=2.0, b=1.0):
    return a * x + b


def polar(x, y):
    return math.sqrt(x * x + y * y), math.atan2(y, x)


def scaled(x, *, factor=3.0, power=1):
    return factor * x**power


def only_positions(x, y, /):
    return x * y * y


def clipped(x):
    if x > 1.0:
        return 1.0 + math.tanh(x - 1.0)
    return x


def first_above(xs, limit):
    for x in xs:
        if x > limit:
            return x * limit
    return xs[0]


def factorial_like(x, n):
    if n == 0:
        return 1.0
    return x * factorial_like(x * 0.9, n - 1)


def is_even_chain(x, n):
    return x if n == 0 else is_odd_chain(math.sin(x), n - 1)


def is_odd_chain(x, n):
    return x * x if n == 0 else is_even_chain(x * 1.1, n - 1)


def tree_sum(tree):
    if isinstance(tree, tuple):
        left, right = tree
        return tree_sum(left) * tree_sum(right) + 1.0
    return tree


def chatty(x):
    print("chatty got", x)
    return x * 2.0


@program((0.8,), second=True)
def calls_once(x):
    return square(x) + x


@program((0.8, 1.3), wrt=(0, 1), second=True)
def calls_twice(x, y):
    return square(square(x) * y) + square(y)


@program((0.8, 1.3), wrt=(0, 1))
def calls_with_defaults(x, y):
    return affine(x) + affine(y, 3.0) + affine(x, b=y) + affine(b=x, x=y)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def calls_with_several_results(x, y):
    r, angle = polar(x, y)
    return r * angle + polar(y, x)[0]


@program((0.8, 1.3), wrt=(0, 1))
def keyword_only(x, y):
    return scaled(x) + scaled(y, factor=x) + scaled(x, power=2)


@program((0.8, 1.3), wrt=(0, 1))
def positional_only(x, y):
    return only_positions(y, x)


@program((0.8,), (1.8,), second=True)
def calls_with_branches(x):
    return clipped(x) * clipped(x * 2.0) + clipped(0.5)


@program((positive(4), 1.1), (positive(4), 5.0), wrt=(0, 1))
def calls_with_loops(xs, limit):
    return first_above(xs * 1.2, limit) ** 2


@program((0.8, 3), (0.8, 0), wrt=(0,), second=True)
def recursion(x, n):
    return factorial_like(x, n) + x


@program((0.8, 4), (0.8, 5), (0.8, 0), wrt=(0,))
def mutual_recursion(x, n):
    return is_even_chain(x, n)


@program((((0.8, 0.4), (0.3, (0.5, 1.2))),))
def recursion_over_a_tree(tree):
    return tree_sum(tree)


@program((0.8, 3), wrt=(0,))
def recursive_itself(x, n):
    if n == 0:
        return x
    return math.sin(recursive_itself(x, n - 1)) * x


@program((0.8, 4), wrt=(0,))
def recursive_twice(x, n):
    if n < 2:
        return x * n
    return recursive_twice(x, n - 1) * 0.5 + recursive_twice(x, n - 2)


@program((0.8, 4), wrt=(0,), second=True)
def calls_in_loop(x, n):
    s = x
    for i in range(n):
        s = affine(s, x, b=i)
    return s


@program((0.8, 4), wrt=(0,))
def branching_calls_in_loop(x, n):
    s = x
    for _ in range(n):
        s = clipped(s * 1.4)
    return s


@program((0.8,), quick=True)
def call_in_condition(x):
    if square(x) < 1.0 and clipped(x) > 0.5:
        return square(x) * 3.0
    return x


@program((0.8,))
def call_for_effect(x):
    chatty(x)
    return chatty(x) * x


@program((0.8, 2.0), wrt=(0,))
def inactive_call(x, y):
    return x * square(y)


@program((0.8, 1.3), wrt=(0, 1))
def half_active_call(x, y):
    return affine(2.0, x, 1.0) * affine(3.0, 1.0, y)


@program((positive(3), 0.7), wrt=(0, 1))
def same_function_of_scalar_and_array(x, y):
    return np.sum(square(x)) * square(y)


@program((0.8,))
def nested_calls(x):
    return square(affine(square(affine(x, 0.5)), b=square(x)))


@program((0.8, 1.3), wrt=(0, 1), second=True)
def nested_function(x, y):
    def inner(t):
        return t * x + y

    return inner(inner(y))


@program((0.8, 1.3), wrt=(0, 1), second=True)
def nested_lambda(x, y):
    shift = lambda t: math.sin(t) * y + x  # noqa: E731
    return shift(x) * shift(2.0)


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def nested_default(x, y):
    def inner(t, scale=x * 2.0):
        return t * scale

    x = 5.0
    return inner(y) + inner(y, 3.0) + inner(t=2.0, scale=y) + x


@program((0.8,), quick=True)
def late_binding(x):
    a = x

    def inner(t):
        return a * t

    a = x * x
    return inner(2.0)


@program((0.8,))
def late_binding_between_calls(x):
    a = x
    inner = lambda t: a * t  # noqa: E731
    first = inner(x)
    a = a * 3.0
    return first * inner(2.0)


@program((0.8,))
def closure_in_loop(x):
    s = 0.0
    for i in range(3):

        def term(t):
            return t * i * x  # noqa: B023

        s = s + term(s + 1.0)
    return s


@program((0.8,))
def closure_called_in_loop(x):
    w = x * 2.0

    def step(h):
        return math.tanh(h * w + x)

    h = 0.5
    for _ in range(4):
        h = step(h)
    return h


@program((0.8,), (1.8,))
def closure_with_branches(x):
    def inner(t):
        if t > 1.0:
            return t * x
        for _ in range(2):
            t = t * 1.5
        return t

    return inner(x) + inner(0.2)


@program((0.8, 3), wrt=(0,), quick=True)
def recursive_closure(x, n):
    def again(k):
        return x if k == 0 else math.sin(again(k - 1)) * x

    return again(n)


@program((0.8,), quick=True)
def two_level_closure(x):
    def outer(t):
        def inner(u):
            return u * t * x

        return inner(t) + inner(x)

    return outer(x * 0.5)


def apply(f, x):
    return f(x)


def twice(f, x):
    return f(f(x))


def adder(a):
    def add(b):
        return a * a + b

    return add


@program((0.8,))
def function_as_argument(x):
    return apply(square, x) + twice(square, x)


@program((0.8,), quick=True)
def primitive_as_argument(x):
    return apply(math.sin, x) + twice(np.cos, x)


@program((0.8, 1.3), wrt=(0, 1))
def lambda_as_argument(x, y):
    return apply(lambda t: t * y, x) + twice(lambda t: t * t + y, x)


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def returned_closure(x, y):
    add = adder(x)
    return add(y) * adder(y)(x)


@program((0.8,), quick=True)
def functions_in_a_tuple(x):
    for f in (math.sin, square, lambda t: t + 1.0):
        x = f(x)
    return x


@program((0.8, True), (0.8, False), wrt=(0,))
def chosen_function(x, smooth):
    f = math.tanh if smooth else square
    return f(x) * 2.0


@program((0.8, 1.3), wrt=(0, 1))
def lambda_called_at_once(x, y):
    return (lambda a, b: a * b + a)(x, y)


@program((0.8,), quick=True)
def lambda_in_default(x, f=lambda t: t * t):
    return f(x) + x


@program((0.8, math.sin), (0.8, square), wrt=(0,))
def function_argument(x, f):
    return f(x) * x


the_lambda = program((0.8, 1.3), wrt=(0, 1))(lambda x, y=2.0: x * y + (lambda t: t * x)(y))


def make_scaled(factor):
    @program((0.8,))
    def scaled_by_cell(x):
        return x * factor

    return scaled_by_cell


scaled_by_cell = make_scaled(2.5)


def simpson(f, a, b, n):
    h = (b - a) / n
    s = f(a) + f(b)
    for i in range(1, n):
        s = s + (4.0 if i % 2 else 2.0) * f(a + i * h)
    return s * h / 3.0


@program((0.3, 1.4, 0.7), wrt=(0, 1, 2))
def quadrature(a, b, k):
    return simpson(lambda t: math.exp(-k * t * t), a, b, 6)


def lotka_volterra(u, v, p):
    a, b, c, d = p
    return a * u - b * u * v, d * u * v - c * v


@program((1.1, 0.6, (0.9, 0.7, 0.8, 0.5)), wrt=(0, 1, 2))
def runge_kutta(u, v, p):
    h = 0.1
    for _ in range(3):
        u1, v1 = lotka_volterra(u, v, p)
        u2, v2 = lotka_volterra(u + h / 2 * u1, v + h / 2 * v1, p)
        u3, v3 = lotka_volterra(u + h / 2 * u2, v + h / 2 * v2, p)
        u4, v4 = lotka_volterra(u + h * u3, v + h * v3, p)
        u, v = u + h / 6 * (u1 + 2 * u2 + 2 * u3 + u4), v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
    return u * v


@functools.lru_cache
def cached_power(x, n):
    return x**n


@functools.cache
def fibonacci(n):
    return 1.0 if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.cache
def cached_recurrence(x, n):
    if n < 2:
        return x
    return cached_recurrence(x, n - 1) * 0.5 + cached_recurrence(x, n - 2) * x


@program((0.8, 1.4), wrt=(0, 1), second=True)
def cached_functions(x, y):
    return cached_power(x, 3) * y + sum(cached_power(v, 2) for v in (x, y))


@program((0.8, 1.4), wrt=(0, 1), second=True)
def cached_recursion(x, y):
    return x * fibonacci(20) * y + cached_recurrence(x, 4) * y


@program((0.8, np.array([0.7, 0.3, 1.2])), wrt=(0, 1), second=True, quick=True)
def rebound_variables(x, v):
    total, count = x, 0

    def add(w):
        nonlocal total, count
        count += 1
        if w > 0.5:
            return total
        total = total * w
        return total - w

    kept = [add(w) * total for w in v]
    return total + add(total) * kept[0] * count


def checked(function):
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapper(*args, **keywords):
        bound = signature.bind(*args, **keywords)
        bound.apply_defaults()
        total = 0.0
        for k, (name, value) in enumerate(bound.arguments.items()):
            if value is None:
                raise TypeError(name)
            if isinstance(value, tuple):
                total = total + sum(value)
            elif isinstance(value, dict):
                total = total + value.get("u", 0.0)
            else:
                total = total + k * value
        return function(*args, **keywords) + total

    return wrapper


@checked
def with_every_argument(x, y=2.0, *rest, z=3.0, **others):
    return x * y * z


@program((1.5, 2.5), wrt=(0, 1))
def arguments_bound_by_a_signature(x, y):
    return with_every_argument(x, y, x * y) + with_every_argument(x, z=y, u=x) * with_every_argument(y=x, x=y)
