"""Comprehensions of every kind, with conditions and nesting, and generators that are consumed at once."""

import functools
import math
import operator
from collections import Counter, OrderedDict

import numpy as np

from tests.programs.declare import positive, program

XS = np.array([0.5, 0.8, 1.3])


@program((XS,), second=True)
def list_of_squares(xs):
    return sum([x * x for x in xs])


@program((XS,), second=True)
def array_of_list(xs):
    return np.sum(np.array([x * x for x in xs]) * xs)


@program((XS,), second=True)
def rebinds_its_source(xs):
    xs = [x * xs[0] for x in xs]
    return xs[1] * xs[2]


@program((XS,), second=True)
def conditions(xs):
    kept = [x * x for x in xs if x > 0.6 if x < 2.0]
    return sum(kept) + len(kept) * xs[0]


@program((XS,))
def conditional_element(xs):
    return sum([x * x if x > 1.0 else math.sin(x) for x in xs])


@program((XS,), second=True)
def two_loops_in_comprehension(xs):
    return sum([a * b for a in xs for b in xs if a < b])


@program((XS, 3), wrt=(0,))
def inner_range_depends_on_outer(xs, n):
    return sum([xs[i] * xs[j] for i in range(n) for j in range(i)])


@program((XS,), second=True)
def nested_lists(xs):
    table = [[a * b for a in xs] for b in xs]
    return np.sum(np.array(table) ** 2)


@program((XS,), second=True)
def list_of_pairs(xs):
    pairs = [(a, a * b) for a, b in zip(xs, xs[1:], strict=False)]  # noqa: RUF007
    return sum([p * q for p, q in pairs])


@program(([positive(3), positive(3, seed=1)],))
def list_of_arrays_in_list(arrays):
    return np.sum(np.stack([np.tanh(a) for a in arrays]) ** 2)


@program((positive(3, 2),), second=True)
def rows_of_a_matrix(m):
    return sum([np.sum(row) ** 2 for row in m])


@program((XS,))
def enumerated_from_one(xs):
    return sum([k * x * x for k, x in enumerate(xs, 1)])


@program((XS,), quick=True)
def reversed_and_range_with_step(xs):
    first = [x * k for k, x in zip(range(4, -2, -2), reversed(xs), strict=True)]
    return first[0] * first[2] + first[1]


@program((XS,), second=True)
def nested_target(xs):
    return sum([a * b * k for k, (a, b) in enumerate(zip(xs, xs[::-1], strict=True), 1)])


@program((XS,))
def walrus_inside(xs):
    values = [y * y for x in xs if (y := x * 2.0) > 1.1]
    return sum(values) + y


@program((XS,))
def shadows_a_variable(xs):
    x = xs[0] * 2.0
    y = [x * 3.0 for x in xs]
    return x * y[1]


@program((XS, 2.0), wrt=(0, 1))
def closes_over_a_parameter(xs, a):
    return sum([a * x for x in xs]) * a


@program((XS,))
def in_a_branch(xs):
    return sum([x * x for x in xs]) if len(xs) > 2 else xs[0]


@program((XS,))
def in_a_loop(xs):
    s = xs[0]
    for k in range(1, 3):
        s = s * sum([x * k for x in xs])
    return s


@program((XS,))
def called_in_comprehension(xs):
    def f(x):
        return math.exp(x) * xs[0]

    return sum([f(x) for x in xs])


@program((XS,))
def empty_list(xs):
    return sum([x for x in xs if x > 9.0]) + xs[0] * 2.0


@program((XS,), quick=True)
def result_is_a_list(xs):
    return [x * x for x in xs]


@program((XS,))
def result_is_nested(xs):
    return {"squares": [x * x for x in xs], "pairs": [(x, x * 2.0) for x in xs]}


@program((XS,), second=True, quick=True)
def dict_by_number(xs):
    d = {k: xs[k] ** 2 for k in range(3)}
    return d[0] * d[2]


@program(({"a": 0.5, "b": 0.7},), second=True)
def dict_of_dict(params):
    new = {k: v * v for k, v in params.items()}
    return new["a"] * new["b"]


@program(({"a": positive(2), "b": positive(2, seed=1)},), quick=True)
def dict_result(params):
    return {k: v - 0.1 * np.sum(v) for k, v in params.items()}


@program((XS,), quick=True)
def dict_of_pairs(xs):
    names = ["u", "v", "w"]
    d = dict(zip(names, xs, strict=True))
    e = dict((k, v * v) for k, v in d.items())  # noqa: C402
    return d["u"] * e["w"]


@program((XS,))
def set_of_numbers(xs):
    small = {k % 2 for k in range(5)}
    return xs[0] * len(small) + xs[max(small)]


@program((XS,), second=True)
def sum_of_generator(xs):
    return sum(x * x for x in xs)


@program((XS,))
def sum_with_start(xs):
    return sum((x * x for x in xs), xs[0])


@program((XS,))
def extrema_of_generators(xs):
    return max(x * x for x in xs) * min(math.sin(x) for x in xs)


@program((XS,), second=True)
def tuple_of_generator(xs):
    a, b, c = tuple(x * x for x in xs)
    return a * b + c


@program((XS,), second=True)
def generator_unpacked(xs):
    a, b, c = (x * x for x in xs)
    return a * b * c


@program((XS,))
def generator_unpacked_with_star(xs):
    a, *rest = (x * x for x in xs)
    return a * rest[0] * rest[1]


@program((XS,), (np.array([0.1, 0.2, 0.3]),))
def any_of_generator(xs):
    return xs[0] ** 2 if any(x > 1.0 for x in xs) else xs[1]


@program((XS,), (np.array([1.1, 1.2, 1.3]),))
def all_of_generator(xs):
    return xs[0] ** 2 if all(x > 1.0 for x in xs if x != 0) else xs[1] ** 3


@program((XS,))
def any_stops_early(xs):
    return xs[0] * 2.0 if any(1.0 / (k - 2) < 0 for k in range(5)) else xs[1]


@program((XS,), second=True)
def loop_over_generator(xs):
    s = 0.1
    for y in (x * x for x in xs if x > 0.6):
        s = s * y + y
    return s


@program((XS,))
def loop_over_generator_left_by_break(xs):
    s = xs[0]
    for y in (x * x for x in xs):
        if y > 1.0:
            break
        s = s * y
    else:
        s = s * 3.0
    return s


@program((XS,))
def loop_over_generator_of_two(xs):
    s = xs[0]
    for a, b in ((a, b) for a in xs for b in xs):
        if a == b:
            continue
        s = s + a * b * s
    return s


@program((XS,), quick=True)
def counted_generator(xs):
    s = 0.0
    for k, y in enumerate((x * x for x in xs if x < 1.0), 2):
        s += k * y
    return s


@program((XS,))
def mapped(xs):
    return sum(map(lambda x: x**2, xs))  # noqa: C417


@program((XS,), quick=True)
def mapped_over_two(xs):
    return sum(map(operator.mul, xs, reversed(xs)))


@program((XS,))
def mapped_float(xs):
    a, b, c = map(float, xs)
    return a * b * c


@program((XS,))
def mapped_in_a_loop(xs):
    s = 1.0
    for y in map(math.sin, xs):
        s = s * y
    return s


@program((XS,), second=True, quick=True)
def filtered(xs):
    return sum(filter(lambda x: x > 0.6, xs)) ** 2


@program((XS,))
def filtered_list(xs):
    kept = list(filter(None, [x if x > 0.6 else 0.0 for x in xs]))
    return kept[0] * kept[1]


@program((XS,), second=True, quick=True)
def reduced(xs):
    return functools.reduce(lambda a, b: a * b + a, xs)


@program((XS,), second=True, quick=True)
def reduced_from_start(xs):
    return functools.reduce(operator.mul, (x * 2.0 for x in xs), xs[1])


@program((XS,))
def sorted_by_key(xs):
    a = sorted(xs, key=lambda x: -x)
    return a[0] * a[1] ** 2


@program((np.array([1.3, 0.5, 0.8]),), second=True)
def sorted_plainly(xs):
    a = sorted(xs)
    return a[0] ** 2 * a[2]


@program((XS,), second=True)
def largest_by_key(xs):
    pairs = [(x, math.sin(3.0 * x)) for x in xs]
    x, y = max(pairs, key=lambda pair: pair[1])
    return x * y


@program((XS,), (np.array([9.0, 9.5]),), quick=True)
def smallest_with_default(xs):
    return min((x * x for x in xs if x < 2.0), default=xs[0] ** 3)


@program((XS,))
def listed_twice(xs):
    pairs = list(zip(xs, xs[1:], strict=False))  # noqa: RUF007
    numbered = list(enumerate(xs))
    back = list(reversed(xs))
    return pairs[0][1] * numbered[2][1] * back[0] + numbered[1][0] * pairs[1][0]


@program((XS,))
def product_of_generator(xs):
    return math.prod(x + 1.0 for x in xs)


@program((XS,))
def joined_text(xs):
    text = ",".join(str(k) for k in range(3))
    return xs[0] * len(text)


# ---------------------------------------------------------------- keys


class Settings:
    pass


@program((positive(3), 0.2), wrt=(0, 1), second=True)
def sorted_by_a_dict(m, t):
    norms = {j: v**2 * t for j, v in enumerate(m)}
    best = sorted(norms, key=lambda j: -norms[j])
    return norms[best[0]]


@program((positive(3), 0.2), wrt=(0, 1), quick=True)
def largest_by_a_dict(m, t):
    norms = {j: v**2 * t for j, v in enumerate(m)}
    best = max(norms, key=norms.get)
    return norms[best] + (max(norms.values()) if all(n > 0 for n in norms.values()) else 0.0)


@program((positive(3), 0.2), wrt=(0, 1), second=True)
def sorted_by_a_list(m, t):
    norms = [v**2 * t for v in m]
    best = sorted(range(3), key=lambda j: -norms[j])
    top = max(range(3), key=norms.__getitem__)
    return norms[best[0]] * 2 + norms[top]


@program((positive(3), 0.2), wrt=(0, 1), second=True, quick=True)
def largest_by_a_dict_of_names(m, t):
    norms = {0: m[0] * t, 1: m[1] ** 2, 2: m[2]}
    best = max(norms, key=norms.get)
    return norms[best] * 2


@program((positive(3), 0.2), wrt=(0, 1), second=True)
def key_that_changes_later(m, t):
    w = [1.0]
    items = [v * t for v in m]
    s = sorted(items, key=lambda v: w[0] * v)
    r = s[0] + 2 * s[1] ** 2 + 3 * s[2] ** 3
    w[0] = -1.0
    return r * w[0]


@program((positive(3), 0.2), wrt=(0, 1), second=True)
def active_key_that_changes_later(m, t):
    w = [t, 1.0]
    items = [v * t for v in m]
    s = sorted(items, key=lambda v: w[0] * v)
    r = s[0] + 2 * s[1] ** 2 + 3 * s[2] ** 3
    w[0] = -t
    return r * w[0]


@program((positive(3), 0.2), wrt=(0, 1), second=True)
def key_of_an_object_that_changes_later(m, t):
    o = Settings()
    o.sign = 1.0
    items = [v * t for v in m]
    s = sorted(items, key=lambda v: o.sign * v)
    r = s[0] + 2 * s[1] ** 2 + 3 * s[2] ** 3
    o.sign = -1.0
    return r * o.sign


@program((positive(3), 0.2), wrt=(0, 1))
def sorted_in_place_by_a_key_that_changes_later(m, t):
    w = [1.0]
    items = [v * t for v in m]
    items.sort(key=lambda v: w[0] * v)
    r = items[0] + 2 * items[1] ** 2 + 3 * items[2] ** 3
    b = max(m, key=lambda v: w[0] * v)
    w[0] = -1.0
    return r * w[0] + b**2


@program((np.array([-0.9, 1.1, -0.5]),), second=True)
def sums_of_lists_of_lists_in_a_loop(z):
    for t in z:  # noqa: B007
        pass
    for s in z:  # noqa: B007
        t = 0.4 * sum([0.5 * r for r in [np.sin(q) for q in z if t < 0.07]])
    s += 0.6 * np.sin(s)
    return s + 0.4 * t


@program((positive(3),), second=True)
def ordered_dicts_and_counters_of_generators(x):
    d = OrderedDict((k, v * v) for k, v in zip("abc", x, strict=True))
    d["a"] = d["a"] * x[1]
    counts = Counter("a" if v > 1 else "b" for v in x)
    return d["a"] * d["b"] * counts["a"] + d["c"] * sum(counts.values())
