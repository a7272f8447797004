"""Tuples, lists and dicts that are read: arguments, values in between, results; and dtypes of arguments."""

import math

import numpy as np

from tests.programs.declare import positive, program, signed


@program(((0.8, 1.3),), second=True)
def tuple_argument(pair):
    a, b = pair
    return a * b + pair[0] ** 2


@program(([0.8, 1.3, 0.4],))
def list_argument(values):
    return values[0] * values[-1] + len(values) * values[1]


@program(({"w": positive(3), "b": 0.4}, positive(3, seed=1)), wrt=(0, 1), second=True)
def dict_argument(params, x):
    return np.sum(np.tanh(params["w"] * x + params["b"]))


@program((([positive(2), 0.8], {"k": (1.3, positive(2, seed=1))}),))
def nested_argument(tree):
    pair, named = tree
    k, v = named["k"]
    return np.sum(pair[0] * v) * pair[1] * k


@program((((0.8, 3), None, "name"),), quick=True)
def argument_with_other_things(mixed):
    (x, n), nothing, text = mixed
    return x**n if nothing is None and text == "name" else x


@program((((0.8, 1.3), (0.2, 0.3)), 1), (((0.8, 1.3), (0.2, 0.3)), 0), wrt=(0,))
def part_not_used(pairs, k):
    a, b = pairs[k]
    return a * b


LAYERS = [(positive(3, 4), positive(4)), (positive(4, 1, seed=3), positive(1))]


@program((LAYERS, positive(5, 3, seed=1)), wrt=(0, 1), quick=True)
def layers(params, x):
    for w, b in params[:-1]:
        x = np.tanh(x @ w + b)
    w, b = params[-1]
    return np.mean(x @ w + b)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def tuple_between(x, y):
    t = (x, y, x * y)
    u = (t[1], t)
    return u[0] * u[1][2] + t[-1]


@program((0.8, 1.3), wrt=(0, 1))
def list_between(x, y):
    values = [x, y * y, 2.0]
    return values[0] * values[1] + values[-1] * values[0]


@program((0.8, 1.3), wrt=(0, 1))
def dict_between(x, y):
    state = {"position": x, "speed": y}
    state = {"position": state["position"] + state["speed"], "speed": state["speed"] * x}
    return state["position"] * state["speed"]


@program((0.8, 1.3), wrt=(0, 1))
def joined_tuples(x, y):
    t = (x, y) + (x * y,)  # noqa: RUF005
    return t[0] + t[2] * t[1] + len(t)


@program((0.8, 1.3), wrt=(0, 1))
def sliced_tuple(x, y):
    t = (x, y, x * y, 2.0)
    a, b = t[1:3]
    return a * b


@program((0.8, 1.3, 1), (0.8, 1.3, 0), wrt=(0, 1))
def tuple_by_variable_index(x, y, k):
    t = (x, x * y)
    return t[k] * y


@program((0.8, 1.3), wrt=(0, 1))
def tuple_from_branch(x, y):
    t = (x, y) if x < y else (y, x)
    small, large = t
    return large / small


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def membership(x, y):
    names = {"a", "b"}
    table = {"a": x}
    return x * y if "a" in names and "a" in table and "c" not in table else x


@program(((0.8, 1.3),))
def returned_argument(pair):
    return pair


@program((positive(3), 0.8), wrt=(0, 1))
def result_of_arrays(x, y):
    return x * y, (np.sum(x), {"y": y * y})


@program((positive(3),))
def same_array_twice_in_result(x):
    y = x * 2.0
    return [y, y]


@program((positive(2, 3), positive(2, 3)), wrt=(0, 1))
def two_equal_arguments(x, y):
    return np.sum(x * y)


SHARED = positive(3)


@program((SHARED, SHARED), wrt=(0, 1))
def same_array_for_two_arguments(x, y):
    return np.sum(x * x * y)


@program((positive(3).astype(np.float32),))
def single_precision(x):
    return np.sum(np.tanh(x * 2.0) ** 2)


@program((positive(3).astype(np.float32), positive(3, seed=1)), wrt=(0, 1))
def mixed_precision(x, y):
    return np.sum(x * y + x)


@program((np.float32(0.8), positive(3).astype(np.float32)), wrt=(0, 1))
def single_precision_scalar(a, x):
    return np.sum(a * x * x)


@program((positive(3).astype(np.float32), 0.8), wrt=(0, 1))
def single_precision_with_python_float(x, a):
    return x * a + a


@program((positive(3).astype(np.float32),))
def widened(x):
    y = x.astype(np.float64)
    return np.sum(y * y)


@program((np.array(0.8), np.array(1.3)), wrt=(0, 1))
def zero_dimensional(x, y):
    return x * y + np.sin(x)


@program((np.array(0.8), positive(3)), wrt=(0, 1))
def zero_dimensional_and_vector(x, y):
    return np.sum(x * y) * x


@program((positive(0), 0.8), wrt=(0, 1))
def empty_array(x, y):
    return np.sum(x * y) + y * y


@program((positive(0, 3),))
def empty_matrix(x):
    return x * 2.0


@program((positive(3), np.array([2, 0, 1])), wrt=(0,))
def integer_array_argument(x, n):
    return np.sum(x * n) + np.sum(x**n)


@program((positive(3), np.array([True, False, True])), wrt=(0,))
def boolean_array_argument(x, mask):
    return np.sum(x * x * mask)


@program((signed(3) + 1j * signed(3, seed=1), positive(3, seed=2)), wrt=(0, 1))
def complex_magnitude(z, w):
    return np.sum(np.abs(z * w) ** 2)


@program((signed(3) + 1j * signed(3, seed=1), 0.7), wrt=(0, 1))
def complex_result(z, a):
    return z * z * a + np.exp(1j * a)


@program((0.7,), quick=True)
def complex_in_between(a):
    z = np.exp(1j * a) * (a + 2.0)
    return z.real * z.imag + np.real(z * np.conj(z))


@program((0.8, (1.3, 0.4)), wrt=(0,))
def part_of_inactive_container(x, pair):
    a, b = pair
    return x * a + math.sin(x * b)


@program(([positive(2), positive(2, seed=1), positive(2, seed=2)],))
def list_of_arrays(xs):
    s = xs[0]
    for i in range(1, len(xs)):
        s = s * xs[i] + xs[0]
    return np.sum(s)


@program(({"layers": [{"w": 0.7}, {"w": 1.2}], "out": 0.4},))
def list_of_dicts(params):
    x = 1.0
    for layer in params["layers"]:
        x = np.tanh(x * layer["w"])
    return x * params["out"]


@program((0.8, 1.4), wrt=(0, 1), second=True)
def overlapping_slices(x, y):
    items = [x, y, x * y]
    both = items[:2] + items[1:]
    return both[0] * both[1] + both[2] * both[3]


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def list_extended(x, y):
    items = [x, y]
    items.extend([x * y, y * y])
    items += [x]
    items = items * 2
    items.extend(items)
    return items[2] * items[-1] * items[7] + sum(items)


@program((0.8, 1.3), wrt=(0, 1))
def list_extended_in_a_loop(x, y):
    items = []
    for k in range(3):
        items.extend([x * k, y])
        items.extend(v * y for v in items[:2])
    items += (x, y)
    return sum(items) * items[4]


@program((0.8, 1.3), wrt=(0, 1), second=True)
def list_copied(x, y):
    items = [x, y]
    other = items.copy()
    other[0] = x * y
    third = list(items)
    third.append(x)
    return items[0] * other[0] * third[-1] * other[1]


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def dict_updated(x, y):
    named = {"a": x}
    named.update({"b": y, "a": x * y})
    more = {"a": x}
    more.update(named, c=x)
    return named["a"] * named["b"] * more["c"] * more["a"]


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def dict_defaults_set(x, y):
    named = {}
    for k in ("a", "b", "a"):
        v = named.setdefault(k, x * y)
        named[k] = v + y
    return named["a"] * named["b"]


@program((1.2, 0.7), wrt=(0, 1), second=True, quick=True)
def steps_of_a_stack(x, y):
    steps = [("push", x), ("push", y), ("times", None), ("push", x), ("plus", None)]
    stack = []
    for step, value in steps:
        if step == "push":
            stack.append(value)
        else:
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b if step == "times" else a + b)
    return stack[0] * stack[0]


@program((signed(3),), second=True)
def values_of_run_time_keys(x):
    d = {}
    for i, v in enumerate(x):
        d[i % 2] = d.get(i % 2, 0.0) + v * v
    return np.prod(list(d.values())) + sum(v * v for v in d.values())


@program((signed(3),), second=True)
def dict_of_formatted_keys(x):
    d = {f"k{i}": v for i, v in enumerate(x)}
    return np.sum(np.array(list(d.values())) ** 2) * d["k1"]


@program((signed(3), 2), quick=True)
def integer_where_a_key_is_missing(x, n):
    held = {}
    rows = [held]
    for i in range(n):
        rows[0][i] = x[i] * x[i]
    total = 0.0
    for i in range(3):
        total = total + held.get(i, 0) * x[i]
    return total


@program((signed(3),), second=True, quick=True)
def places_in_a_list(x):
    keys = ["a", "b", "c"]
    values = [float(v) for v in x]
    return x[keys.index("b")] * x[values.index(max(values))] * ("p", "q", "p").count("p")


@program((signed(3), positive(3)), wrt=(0, 1), second=True, quick=True)
def extrema_of_tuples(x, y):
    pairs = list(zip(x, y, strict=True))
    first, (low, of_low) = min(pairs)[1], max(pairs, key=lambda pair: pair[1])
    return first * low * of_low + max((x[0], y[0]), (x[1], y[1]))[1] ** 2 + min([[x[0]], [x[0]]])[0] ** 3


@program((positive(3),), second=True, quick=True)
def places_of_items(x):
    items, pair = [x[0], x[1]], (x[2], x[0] * x[1])
    items.append(x[2] ** 2)
    k = items.index(items[1]) + pair.index(max(pair))
    return items[k - 1] * x[k] + items.count(items[0]) * pair[0]


@program((1.3,), second=True)
def lists_with_in_place_operators_of_arrays(x):
    weights = [x, 2.0 * x, 3.0]
    same = weights
    weights /= np.array([2.0, x, 4.0])
    rows, scaled = [[x, 1.0], [2.0, x]], (x, x * x)
    rows -= np.array([x, 2.0])
    scaled *= np.array([x, 1.0])
    return np.sum(weights**2) * same[1] + np.sum(rows**2) + np.sum(scaled)


class Meter:
    def __init__(self):
        self.total, self.names = 0.0, []


@program((1.3,), second=True)
def texts_beside_numbers(x):
    settings = {"a": x, "b": "2.5", "a_b": 2.0 * x}
    meter, total = Meter(), 0.0
    for entry in ["n=$a", "m=x"]:
        name, _, value = entry.partition("=")
        meter.total += x * x
        meter.names.append(name)
        if value.startswith("$"):
            total += settings[value[1:]] * meter.total
    for item in ["1.5", x, "a"]:
        if isinstance(item, str) and item[0] == "a":
            name = item + "_b"
            total += settings[name] * len(name + item * 2 + "%s" % item)  # noqa: UP031
        else:
            total += x * float(item)
    return total * sum(float(settings[key]) for key in ("a", "b"))
