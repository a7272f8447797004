"""Dicts that a function makes with literal keys: histories, states, results."""

from enum import Enum

import numpy as np

from tests.programs.declare import program

A = np.array([0.5, 0.8, -1.3])


@program((A,), second=True, quick=True)
def history_in_a_dict(w):
    history = {"loss": [], "w": []}
    for _ in range(3):
        history["loss"].append(np.sum(w**2))
        history["w"].append(w.copy())
        w = w * 0.9
    return np.var(history["loss"]) + history["loss"][-1] + history["w"][1].sum()


@program((A,), second=True)
def state_in_a_dict(w):
    state = {"w": w, "n": 0}
    while state["n"] < 3:
        state["w"] = np.tanh(state["w"]) + state["w"] * 0.1
        state["n"] += 1
    return np.sum(state["w"]) * state["n"]


@program((A,), second=True, quick=True)
def dict_that_is_returned(w):
    result = {"loss": 0.0, "w": w}
    for _ in range(2):
        result["w"] = result["w"] ** 2
        result["loss"] += np.sum(result["w"])
    return result


@program((A,), second=True, quick=True)
def dict_in_a_dict(x):
    d = {"a": x, "b": {"c": x * 2.0, "d": [x]}}
    d["b"]["c"] = d["b"]["c"] * d["a"]
    d["b"]["d"].append(d["b"]["c"])
    return np.sum(d["b"]["d"][0] * d["b"]["d"][1])


@program((A,), second=True)
def two_names_of_a_dict(x):
    d = {"a": x, "b": 2.0}
    e = d
    e["a"] = x * 3.0
    return np.sum(d["a"] ** 2) * d["b"]


@program((A,), second=True)
def dict_of_the_iteration_before(x):
    s, d = 0.0, {"a": 0.0}
    for k in range(3):
        s = s + d["a"]
        t = x[0] * k
        d = {"a": t**2}
    return s + d["a"]


@program((A,), second=True, quick=True)
def dict_that_a_list_holds(x):
    d = {"a": x, "b": 1.0}
    h = [d]
    d["a"] = x * 2.0
    return np.sum(h[0]["a"] ** 2)


@program((A,), second=True)
def dict_that_a_closure_reads(x):
    d = {"a": x, "b": 2.0}

    def get(key):
        return d[key]

    d["a"] = x**2
    return np.sum(get("a")) * get("b")


@program((A, True), (A, False), wrt=(0,), second=True)
def item_set_on_one_path(x, flag):
    d = {"a": x, "b": 2.0}
    if flag:
        d["a"] = x**2
    else:
        d["c"] = 3.0
    return np.sum(d["a"]) * d["b"] * len(d)


@program((A,), second=True)
def item_and_its_array(x):
    d = {"a": x.copy(), "b": x}
    v = d["a"]
    v *= 2.0
    d["a"][0] = 5.0
    d["b"] = d["b"] * v
    return np.sum(d["a"] * d["b"])


@program((A,), second=True)
def one_list_under_two_keys(x):
    h = [x]
    d = {"a": h, "b": h}
    d["a"].append(x * 2.0)
    return np.sum(d["b"][1] * d["a"][0]) * len(h)


@program((A,), second=True)
def names_of_items_that_are_taken(x):
    d = {"x": x, "d": 1.5, "class": 2.0, "a b": 3.0, 0: 4.0}
    x = x * d["class"]
    return np.sum(d["x"] * x) * d["d"] * d["a b"] * d[0]


@program((A,), second=True)
def item_made_of_a_name_that_changes(x):
    a = x * 2.0
    d = {"a": a}
    b = {"a": a}
    a = a * 3.0
    b["a"] = b["a"] * a
    return np.sum(d["a"] * a) + np.sum(b["a"])


@program((A,), second=True)
def key_that_comes_again(x):
    d = {"a": x, "b": x[0], "a": x * 2.0}  # noqa: F601
    e = {1: x, True: x**2, 1.0: x**3}  # noqa: F601
    return np.sum(d["a"]) * d["b"] + np.sum(e[1])


@program((A,), second=True)
def key_that_comes_again_in_the_result(x):
    return {"a": x, "b": x[0], "a": x**2}  # noqa: F601


EDGES = [(0, 1), (1, 2)]


@program((A,), second=True)
def keys_that_are_tuples(x):
    weights = {e: x[k] for k, e in enumerate(EDGES)}
    weights[2, 3] = 3
    return sum(v * v * (i + j) for (i, j), v in weights.items())


class Unit(Enum):
    METRE = 1.5
    FOOT = 0.5


class Length:
    def __init__(self, unit, value):
        self.unit, self.value = unit, value


@program((A,), second=True)
def values_of_an_enumeration_among_changes(x):
    lengths = [Length(u, x * u.value) for u in Unit]
    sums = dict.fromkeys(Unit, 0.0)
    for a in lengths:
        for b in lengths:
            if a.unit is not b.unit:
                sums[a.unit] = sums[a.unit] + np.sum(a.value * b.value)
        a.value = a.value * sums[a.unit]
    return sums[Unit.METRE] + sum(u.value * v for u, v in sums.items())


@program((1.5,), second=True)
def dict_that_loses_keys(x):
    d = {}
    for k in range(4):
        d[k] = x * k
    for k in (1, 3):
        del d[k]
    return sum(d.values()) * len(d) + (x if 1 in d else x * x)


class Scores:
    def __init__(self, same, other):
        self.table = {(a, b): same if a == b else other for a in "AB" for b in "AB"}
        self.table["A", "B"] = 0.5 * (same + other)

    def __getitem__(self, pair):
        return self.table[pair]


def soft_maximum(*values):
    top = max(values)
    return top + np.log(sum(np.exp(v - top) for v in values))


def aligned(s, t, scores):
    rows = [[0.0] * (len(t) + 1) for _ in range(len(s) + 1)]
    back = {}
    best, where = 0.0, (0, 0)
    for i in range(1, len(s) + 1):
        for j in range(1, len(t) + 1):
            both = rows[i - 1][j - 1] + scores[s[i - 1], t[j - 1]]
            up, left = rows[i - 1][j] - 0.3, 0.8 * rows[i][j - 1]
            rows[i][j] = soft_maximum(0.0, both, up, left)
            back[i, j] = max((both, "ul"), (up, "u"), (left, "l"))[1]
            if rows[i][j] > best:
                best, where = rows[i][j], (i, j)
    (i, j), columns = where, 0
    while i > 0 and j > 0:
        step = back[i, j]
        i, j, columns = i - ("u" in step), j - ("l" in step), columns + 1
    return best * columns


@program((1.3, 0.4), wrt=(0, 1), second=True)
def methods_called_by_long_functions(same, other):
    return aligned("ABB", "AAB", Scores(same, other))
