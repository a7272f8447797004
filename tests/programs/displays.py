"""Starred displays, conversions of sequences and dicts, `pop`; imports and `del` in functions."""

import math

import numpy as np

from tests.programs.declare import positive, program

XS = np.array([0.5, 0.8, 1.3])
SCALE = 2.0


@program((XS,), second=True)
def starred_list(xs):
    a = [xs[0], xs[1]]
    b = [*a, xs[2], *a]
    return b[0] * b[2] * b[4]


@program((XS,), second=True)
def starred_tuple(xs):
    a = (xs[0], xs[1])
    b = (*a, xs[2])
    return b[0] * b[2]


@program((XS,))
def starred_generator(xs):
    b = [xs[0], *(x * x for x in xs)]
    return b[0] * b[3]


@program(({"a": 0.5, "b": 0.7},), second=True)
def merged_dict(params):
    d = {**params, "c": params["a"] ** 2, "b": 3.0}
    return d["a"] * d["b"] * d["c"]


@program(({"a": 0.5, "b": 0.7}, {"b": 1.2, "c": 0.3}), wrt=(0, 1), quick=True)
def merged_two_dicts(p, q):
    d = {"z": 1.0, **p, **q}
    return d["a"] * d["b"] * d["c"]


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def dict_of_keywords(x, y):
    d = dict(a=x, b=y)  # noqa: C408
    e = dict(d, b=x * y)
    return e["a"] * e["b"] + d["b"]


@program((XS,), second=True)
def list_of_array(xs):
    values = list(xs)
    return values[0] * values[2] ** 2


@program(([0.5, 0.8],), second=True)
def tuple_of_list(values):
    a, b = tuple(values)
    return a * b * b


@program((XS,), second=True)
def dict_filled_by_items(xs):
    d = {}
    d["a"] = xs[0]
    d["b"] = xs[1] * d["a"]
    return d["a"] * d["b"]


@program(({"a": 0.5, "b": 0.7},), second=True)
def loop_over_values(params):
    s = 1.0
    for v in params.values():
        s = s * v + v
    return s


@program(({"a": 0.5, "b": 0.7},))
def loop_over_keys(params):
    s = 1.0
    for k in params.keys():  # noqa: SIM118
        s = s * params[k]
    return s


@program(({"a": 0.5, "b": 0.7},), second=True, quick=True)
def got_with_default(params):
    return params.get("a") * params.get("b", 2.0) + params.get("c", 1.5)


@program(({"b": 0.5, "a": 0.7},))
def sorted_keys(params):
    s = 1.0
    for k in sorted(params):
        s = s * params[k] + params[k]
    return s


@program((XS,), second=True, quick=True)
def popped(xs):
    stack = [xs[0], xs[1] * 2.0]
    b = stack.pop()
    stack.append(b * xs[2])
    return stack[0] * stack[1] * b


@program((XS,), second=True)
def popped_until_empty(xs):
    stack = [x * x for x in xs]
    s = 1.0
    while stack:
        s = s * stack.pop() + s
    return s


@program((XS,))
def popped_and_dropped(xs):
    stack = [x * x for x in xs]
    stack.pop()
    return stack[0] * stack[-1]


@program((XS,), second=True)
def joined_lists(xs):
    a = [x * x for x in xs] + [xs[0]]
    return a[1] * a[3]


@program((0.8,), second=True)
def imports_inside(x):
    import math as m

    from numpy import sin as s

    return m.exp(x) * s(x)


@program((0.8,), (-0.8,), quick=True)
def imports_in_branch(x):
    if x > 0:
        from math import sin

        return sin(x)
    return math.cos(x)


@program((0.8,))
def deleted_name(x):
    y = x * x
    z = y * x
    del y
    return z * z


@program((0.8,))
def reads_a_global(x):
    global SCALE
    return x * SCALE


@program((positive(3), 0.8), wrt=(0, 1), quick=True)
def annotated_in_function(x, a):
    y: float = a * 2.0
    z: np.ndarray
    z = x * y
    return np.sum(z)


@program((np.array([0, 4]), np.array([2.5, 3.0])), wrt=(1,), second=True, quick=True)
def inactive_item_converted(s, t):
    s, t = map(np.asanyarray, (s, t))
    return np.sum(t * t + s**0.5)


@program((3, 2.5), wrt=(1,))
def inactive_item_of_a_comprehension(s, t):
    s, t = [np.asanyarray(v) for v in (s, t)]
    return t * s


def scaled_unless(s, flag):
    s, flag = list(map(np.asanyarray, (s, flag)))
    return 2.0 * s if flag else s * s


@program((3.0,), second=True)
def converted_defaults(s, flag=False):
    s, flag = list(map(np.asanyarray, (s, flag)))
    return scaled_unless(s, flag) * scaled_unless(s, flag)


@program(([25, 40], np.array([2.5, 1.5])), wrt=(1,))
def inactive_items_iterated(s, t):
    s, t = list(map(np.asanyarray, (s, t)))
    out = []
    for a, b in zip(s, t, strict=True):
        out.append(np.sqrt(a / 35.0) * b)
    return np.sum(np.array(out))


@program((np.array([1.0, 2.0]),))
def list_and_number_beside_an_array(x):
    a, b, c = [np.asarray(v) * 1 for v in (x, 2, [1, 2])]
    return np.sum(a * b) + np.sum(c * a.sum())
