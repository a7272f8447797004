"""Parameters that are containers, read item by item: dicts, lists and tuples of several kinds of values."""

import numpy as np

from tests.programs.declare import program

A, B = np.array([0.5, 0.8, 1.3]), np.array([-0.4, 1.1, 0.2])
W = np.array([[0.3, -0.7], [1.2, 0.1], [0.4, 0.9]])
LAYERS = {"first": {"w": W, "b": np.array([0.1, -0.2])}, "last": {"w": np.array([0.7, 0.2])}, "scale": 0.3}


@program(({"w": A, "b": B, "unread": A},), second=True)
def items_of_dict(p):
    return np.sum(p["w"] ** 2 * p["b"]) + p["w"] @ p["b"]


@program(([W, A, 0.7],), second=True)
def items_of_list(p):
    return np.sum((A @ p[0]) ** 2) * p[-1] + np.sum(p[1] ** 3) * p[2]


@program((((A, B), 0.5),), second=True, quick=True)
def items_of_tuples(p):
    (a, b), c = p
    return np.sum(a * b) * c + p[0][0][0] * p[1]


@program((LAYERS, A), second=True)
def items_of_items(p, x):
    h = np.tanh(x @ p["first"]["w"] + p["first"]["b"])
    return np.sum((h @ p["last"]["w"]) ** 2) * p["scale"] + p["first"]["b"][0]


@program(({"w": W, "h": W.T @ W, "b": np.array([0.1, -0.2])}, A), ({"w": W, "h": W.T @ W, "b": A[:2]}, A[:0]),
         second=True)
def items_in_loop(p, xs):
    h = p["b"] * 1.0
    for x in xs:
        h = np.tanh(h @ p["h"] + x * p["w"][0] + p["b"])
    return np.sum(h**2)


@program(({"a": A, "b": B}, True), ({"a": A, "b": B}, False), second=True)
def items_in_branch(p, flag):
    if flag:
        return np.sum(p["a"] ** 2)
    return np.sum(p["b"] ** 3) * p["a"][0]


@program(({"a": A, "b": B},), second=True)
def items_and_values(p):
    total = np.sum(p["a"])
    for v in p.values():
        total = total * np.sum(v**2)
    return total + p["b"][0]


@program(({"a": A, "b": B}, B), wrt=(0, 1), second=True)
def item_that_is_set(p, x):
    q = dict(p)
    before = q["a"]
    q["a"] = q["a"] * x
    return np.sum(q["a"] ** 2 * q["b"]) + np.sum(before * p["a"])


@program(({"a": A, "b": A},), second=True)
def items_that_are_one(p):
    return np.sum(p["a"] * p["b"]) + p["a"][0] ** 3


@program(({"w": A, "b": B}, B), wrt=(0, 1), second=True)
def item_in_closure(p, x):
    def g(y):
        return y @ p["w"]

    return g(x) ** 2 * g(p["b"]) + np.sum(p["b"])


@program(({"sum": A, "lambda": 0.4, "k": 2, "name": "xy"},), second=True)
def items_with_names_of_others(p):
    return np.sum(np.abs(p["sum"]) ** p["k"]) * len(p["name"]) * p["lambda"]


@program(([A, W, 0.5], A), wrt=(0, 1), second=True, quick=True)
def list_that_is_iterated(p, x):
    total = p[2]
    for v in p[:2]:
        total = total * np.sum(v**2)
    return total * np.sum(p[0] * x)
