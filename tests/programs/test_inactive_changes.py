"""Programs that once had a wrong derivative: constants that change, where others hold them, and by whom."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad.transforms.errors import UnsupportedSyntaxError
from tests.support.build import build
from tests.support.compare import check_program, check_second

X, Y = np.array([0.5, -0.7, 1.2, 0.9]), np.array([0.3, 0.8, -0.4, 1.1])

CALLED = """
import functools
import queue

def raised(c):
    c[0] += 1.5
    return 2.0

def scaled(c):
    c[0] *= 1.5
    return 1.0

def raised_often(c, n):
    if n > 0:
        raised_often(c, n - 1)
        c[1:3] += 1.5

class Store:
    def __init__(self):
        self.c = np.array([1.0, 2.0, 3.0, 4.0])
        self.n = 0.0

    def raised(self):
        self.c[1] += 1.0
        return 2.0

    def doubled(self, n):
        if n > 0:
            self.doubled(n - 1)
        self.c[2] *= 2.0
        return n

    def get(self):
        self.n = self.n + 1.0
        return self.n

def made(n):
    return made(n - 1) if n > 0 else Store()
"""


def program(body: str) -> str:
    """A function of two vectors with this body, after those that it may call."""
    return CALLED + "def f(x, y):\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())


PLACES = {
    "a mask": """
m = x > 0
a = np.sum(x[m] ** 2)
m[1] = True
return a * np.sum(x[m] ** 2) * np.sum(y)
""",
    "a mask, written into": """
m = x > 0
a = x[m]
np.logical_not(m, out=m)
d = x[m]
m |= y > 0
return np.sum(a) * np.sum(d * d) * np.sum(x[m] * y[m])
""",
    "places in a tuple": """
i = np.array([0, 1])
ii = (i,)
a = x[ii]
i[0] = 2
return np.sum(x[ii] * a) + np.sum(y * y)
""",
    "places in a loop": """
places = np.array([0, 1])
s = 0.0
for k in range(3):
    a = x[places]
    s = s + np.sum(a * a * y[places]) * s + 1.0
    places[k % 2] = (places[k % 2] + 1 + k) % 4
return s
""",
    "a list of places in a loop": """
places = [0, 1]
v = y * 1.0
for k in range(3):
    a = x[places]
    v[places] = v[places] * a + v[places[::-1]] ** 2
    places[k % 2] = (places[k % 2] + 1 + k) % 4
return np.sum(v * v)
""",
    "a list that is looped over": """
items = [1, 2, 3]
s = x * 1.0
for k in items:
    s = s * 2.0
items.append(4)
return np.sum(s * y)
""",
}


@pytest.mark.parametrize("name", PLACES)
def test_places_that_change(name: str) -> None:
    f = build(program(PLACES[name]))
    check_program(f, (X, Y), (0, 1))
    check_second(f, (X, Y), (0, 1))


OF_THE_MODULE = {
    "stores": """
C[:] = 1.0
a = x * C
C[0] = 2.0
d = y * C * a
C[1] += 1.0
return np.sum(a * d * C)
""",
    "places": """
C[:] = [0, 1, 2, 3]
a = x[C]
C[0] = 2
return np.sum(a * y[C])
""",
    "a function that changes them": """
C[:] = 1.0
a = x * C
raised(C)
d = y * C * a
raised(C)
return np.sum(a * d * C)
""",
    "a recursive function that changes them": """
C[:] = 1.0
a = x * C
raised_often(C, 2)
d = y * C * a
raised_often(C, 1)
return np.sum(a * d * C)
""",
    "a nested function that reads them": """
C[:] = 1
def inner(v):
    return v * C
a = inner(x)
C[0] = 2
return np.sum(a * inner(a) * y * C)
""",
    "a list": """
LIST[:] = [1.0, 2.0]
s = x * 1.0
for k in LIST:
    s = s * 2.0
LIST.append(4.0)
return np.sum(s * y)
""",
}


@pytest.mark.parametrize("name", OF_THE_MODULE)
def test_constants_of_the_module_that_change(name: str) -> None:
    start = np.arange(4) if name == "places" else np.ones(4)
    check_program(build(program(OF_THE_MODULE[name]), C=start, LIST=[0.0]), (X, Y), (0, 1))


def test_a_recursive_function_that_finds_what_it_changes() -> None:
    f = build(
        """
def reset(n):
    if n > 0:
        reset(n - 1)
    C[:] = n + 1.0

def f(x, y):
    reset(1)
    a = x * C
    reset(2)
    d = a * C * y
    reset(0)
    return np.sum(a * d * C)
""",
        C=np.ones(4),
    )
    check_program(f, (X, Y), (0, 1))


ROWS = program("for row in ROWS:\n    row[0] = x[0]\nreturn np.sum(ROWS[0] * ROWS[1])")


def test_rows_of_an_array_of_the_module_that_are_changed() -> None:
    check_program(build(ROWS, ROWS=np.ones((3, 2))), (X, Y), (0, 1))


def test_arrays_in_a_list_of_the_module_that_are_changed_are_refused() -> None:
    f = build(ROWS, ROWS=[np.ones(2), np.ones(2)])
    for transform in (s2sad.grad(f), s2sad.vjp(f)):
        with pytest.raises(UnsupportedSyntaxError, match="outside of the function"):
            transform(X, Y)


BY_WHOM = {
    "a function of two": """
c = np.array([1.0, 2.0, 3.0, 4.0])
g = raised if x[0] > 0 else scaled
a = x * c
n = g(c)
d = a * c * y
n = n * g(c)
return np.sum(a * d * c) * n
""",
    "a partial application": """
c = np.array([1.0, 2.0, 3.0, 4.0])
g = functools.partial(raised, c)
a = x * c
n = g()
d = a * c * y
n = n * g()
return np.sum(a * d * c) * n
""",
    "a method of an array": """
c = np.array([4.0, 2.0, 3.0, 1.0])
sort = c.sort
a = x * c
sort()
return np.sum(a * a * c * y)
""",
    "a method of an object": """
store = Store()
g = store.raised
a = x * store.c
n = g()
d = a * store.c * y
n = n * g()
return np.sum(a * d * store.c) * n
""",
    "a recursive method": """
store = Store()
a = x * store.c
n = store.doubled(2)
d = a * store.c * y
n = n + store.doubled(1)
return np.sum(a * d * store.c) * n
""",
    "an object that only the run knows": """
store = made(1)
n = store.get()
a = x * store.get()
store.get()
n = store.get()
return np.sum(a * y) * store.get()
""",
    "an array of an object that only the run knows": """
store = made(1)
c = store.c
a = x * c
n = store.raised()
d = a * store.c * y
for k in range(2):
    n = n + store.raised() * np.sum(a * c)
return np.sum(a * d * c) * n
""",
    "a method of an item": """
held = {"s": made(1)}
a = x * held["s"].c
n = held["s"].raised()
return np.sum(a * a * y * held["s"].c) * n
""",
    "a queue": """
items = queue.Queue()
for k in range(5):
    items.put(k + 1.0)
n = items.get()
a = x * items.get()
n = items.get()
return np.sum(a * y) * items.get()
""",
}


@pytest.mark.parametrize("name", BY_WHOM)
def test_who_changes_a_constant(name: str) -> None:
    f = build(program(BY_WHOM[name]))
    if name == "a recursive method":
        with pytest.raises(UnsupportedSyntaxError, match="a call that changes the objects that it is given"):
            s2sad.grad(f, argnums=(0, 1))(X, Y)
    else:
        check_program(f, (X, Y), (0, 1))


def test_a_function_that_only_the_run_knows_must_not_change_an_argument() -> None:
    text = """
def scaled(c, a):
    c[0] *= 1.5
    return np.sum(a) * np.sum(c)

def f(x, g):
    c = np.ones(4)
    a = x * c
    return g(c, x) * np.sum(a * a * c)
"""
    f = build(text)
    with pytest.raises(UnsupportedSyntaxError, match="which the caller holds too"):
        s2sad.grad(f)(X, f.__globals__["scaled"])


def test_an_append_under_another_name_is_followed_or_refused() -> None:
    text = "items = []\npush = items.append\npush(x[0] * 2)\nreturn items[0] * y[0]"
    check_program(build(program(text)), (X, Y), (0, 1))
    f = build(program(text.replace("push(", "items = items\npush(")))
    for transform in (s2sad.grad(f), s2sad.vjp(f)):
        with pytest.raises(UnsupportedSyntaxError, match="may change its arguments"):
            transform(X, Y)


def test_a_partial_application_changes_what_it_was_made_of() -> None:
    text = """
import functools

def scaled(c, a):
    c[0] *= 1.5
    return np.sum(a) * np.sum(c)

def f(x):
    c = np.ones(4)
    g = functools.partial(scaled, c)
    a = x * c
    return g(x) * np.sum(a * a * c)
"""
    named = text.replace("partial(scaled, c)", "partial(scaled, c)\n    g.__name__ = 'scaled'")
    for written in (text, named):
        check_program(build(written), (X,), (0,))


METHODS_AS_VALUES = {
    "called later": "g = o.mul\no.w = o.w * y\na = g(y)\no.w = o.w * 3.0\nreturn np.sum(a * g(x))",
    "that change": "for g in [o.add, o.add]:\n    g(x[1] * 2)\nreturn np.sum(o.w * y)",
}


@pytest.mark.parametrize("name", METHODS_AS_VALUES)
def test_methods_as_values_of_objects_that_change(name: str) -> None:
    text = """
class Weighted:
    def __init__(self, w):
        self.w = w

    def mul(self, v):
        return self.w * v

    def add(self, v):
        self.w = self.w + v

def f(x, y):
    o = Weighted(x * 2.0)
"""
    f = build(text + "".join(f"    {line}\n" for line in METHODS_AS_VALUES[name].splitlines()))
    check_program(f, (X, Y), (0, 1))


INTEGERS_FIRST = {
    "a loop": "s = n\nfor k in range(3):\n    s = s * y + n\nreturn np.sum(s * s)",
    "an exchange": "x = n\nfor k in range(3):\n    x, y = y * 0.5, x * x\nreturn np.sum(x * y)",
    "a list": "s = 0.0\nfor v in [n, y, n * y]:\n    s = s + np.sum(v * v * y)\nreturn s",
}


@pytest.mark.parametrize("name", INTEGERS_FIRST)
@pytest.mark.parametrize("n", [2, np.array([1, 2, 3, 4])], ids=["number", "array"])
def test_what_is_an_integer_first(name: str, n: object) -> None:
    text = "def f(n, y):\n" + "".join(f"    {line}\n" for line in INTEGERS_FIRST[name].splitlines())
    check_program(build(text), (n, Y), (1,))


EMPTY_OR_NOT = {
    "a list": """
items = [x[0], x[1]]
if items:
    s = x[0] * y[0]
else:
    s = x[1]
items.pop()
items.pop()
return s
""",
    "a list in a loop": """
items = [x[0], x[1], x[2]]
s = 1.0
while items and items.pop() > -5.0:
    s = s * y[1] + (items[-1] if items else x[0])
return s
""",
    "a dict": """
seen = {}
s = 1.0
for k in range(3):
    if seen:
        s = s * x[k]
    else:
        s = s + y[k]
    seen[k] = 1
return s
""",
    "what two names hold": """
items = [x[0], x[1]]
same = items
s = y[0]
for k in range(4):
    some = items and same[-1] > 0.6
    if some:
        s = s * x[k]
        same.pop()
    else:
        s = s + y[k] * s
        same.append(s)
return s * s * (items[-1] if items else 1.0)
""",
}


@pytest.mark.parametrize("name", EMPTY_OR_NOT)
def test_branches_on_what_is_empty_later(name: str) -> None:
    check_program(build(program(EMPTY_OR_NOT[name])), (X, Y), (0, 1))


def test_branches_on_an_object_that_says_something_else_later() -> None:
    f = build("""
class Switch:
    def __init__(self):
        self.on = False

    def flip(self):
        self.on = not self.on

    def __bool__(self):
        return self.on

def f(x, y):
    switch = Switch()
    s = x[0]
    for k in range(4):
        if switch:
            s = s * y[k]
        else:
            s = s + x[k] * s
        switch.flip()
    return s
""")
    check_program(f, (X, Y), (0, 1))


SWITCH = """
class Switch:
    def __init__(self):
        self.on = False

    def flip(self):
        self.on = not self.on
        return 1

    def __bool__(self):
        return self.on

    def __getitem__(self, k):
        return 2.0 + self.on

SWITCH = Switch()

def made(n):
    return made(n - 1) if n > 0 else Switch()

def f(x, y):
    switch = {made}
    switch.flip()
    s = x[0]
    for k in range(4):
        {body}
        n = switch.flip()
    return s
"""
USES = {
    "its truth": "s = s * y[k] if switch else s + x[k] * s",
    "its items": "s = s * y[k] * switch[0] + s",
    "its attributes": "s = s * x[1] if switch.on else s * y[k] * (1.0 + switch.on) + s",
}


@pytest.mark.parametrize("made", ["Switch()", "made(1)"])
@pytest.mark.parametrize("use", USES)
def test_an_object_that_a_method_changes(use: str, made: str) -> None:
    check_program(build(SWITCH.format(made=made, body=USES[use])), (X, Y), (0, 1))
