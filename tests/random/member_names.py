"""Programs whose classes have members with the names of those of lists, dicts, sets, deques, arrays, strings.

Each form is one function, made for any number of names: each name has two classes of its own, `A_name` and
`B_name`, with `name` as a method, an attribute or a property, and one statement in the function.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["FORMS", "NAMES", "OUTER", "arguments", "written"]

OUTER = (list, dict, set, deque, np.ndarray, str)
NAMES = sorted({n for cls in OUTER for n in dir(cls) if not n.startswith("_")})

METHOD = """
class A_{n}:
    def __init__(self, w):
        self.w = w

    def {n}(self, v=2.0):
        return self.w * v


class B_{n}(A_{n}):
    def {n}(self, v=3.0):
        return self.w * v * v
"""
CHANGE = """
class A_{n}:
    def __init__(self, w):
        self.w = w

    def {n}(self, v=2.0):
        self.w = self.w * v


class B_{n}(A_{n}):
    def {n}(self, v=3.0):
        self.w = self.w * v * v
"""
ITERABLE = """
class A_{n}:
    def __init__(self, w):
        self.w = w

    def {n}(self):
        return [(self.w, 2.0), (3.0, self.w * self.w)]


class B_{n}(A_{n}):
    def {n}(self):
        return [(self.w, self.w)]
"""
DATA = """
class A_{n}:
    def __init__(self, w):
        self.{n} = w
        self.other = 2.0


class B_{n}:
    def __init__(self, w):
        self.{n} = w * w
"""
PROPERTY = """
class A_{n}:
    def __init__(self, w):
        self.w = w

    @property
    def {n}(self):
        return self.w * 2.0


class B_{n}:
    def __init__(self, w):
        self.w = w

    @property
    def {n}(self):
        return self.w * self.w
"""
CALLED = "total += {o}.{n}(x) + {o}.{n}() * x"
CHANGED = "{o}.{n}(x)\n    {o}.{n}()\n    total += {o}.w * x"
LOOPED = "for k, v in {o}.{n}():\n        total += k * v * x"
READ = "total += {o}.{n} * x"
MADE = "{o} = A_{n}(x)\n    {use}"
CHOSEN = "{o} = [A_{n}(x), B_{n}(x)][p]\n    {use}"
KEYED = "{o} = {{'a': A_{n}(x), 'b': B_{n}(x)}}['ab'[p]]\n    {use}"
LOOP = "for {o} in [A_{n}(x), B_{n}(x * x)]:\n        {use}"
PASSED = "total += use_{n}([A_{n}(x), B_{n}(x)][p], x, 1)"
HELPER = """
def use_{n}({o}, x, turns):
    if turns:
        return use_{n}({o}, x, turns - 1)
    total = 0.0
    {use}
    return total
"""

# The classes, the statement with `use`, the use, and whether the objects are arguments: derivatives are by
# those "given", and not by those "constant".
FORMS: dict[str, tuple[str, str, str, str]] = {}
for use, classes, text in (
    ("method", METHOD, CALLED),
    ("change", CHANGE, CHANGED),
    ("iterable", ITERABLE, LOOPED),
    ("data", DATA, READ),
    ("property", PROPERTY, READ),
):
    FORMS |= {
        f"{use} made": (classes, MADE, text, ""),
        f"{use} given": (classes, "{use}", text, "given"),
        f"{use} constant": (classes, "{use}", text, "constant"),
        f"{use} chosen": (classes, CHOSEN, text, ""),
        f"{use} keyed": (classes, KEYED, text, ""),
        f"{use} passed": (classes, PASSED, text, ""),
    }
    if use in ("method", "data", "property"):
        FORMS |= {f"{use} in a loop": (classes, LOOP, text, "")}


def written(form: str, names: Iterable[str]) -> str:
    """The text of the program of a form for these names."""
    classes, place, use, given = FORMS[form]
    text, body, objects = "", "", []
    for name in names:
        o = f"o_{name}"
        inner = use.format(n=name, o=o)
        if place is LOOP:
            inner = inner.replace("\n    ", "\n        ")
        text += classes.format(n=name)
        if place is PASSED:
            text += HELPER.format(n=name, o=o, use=inner)
        body += "    " + place.format(n=name, o=o, use=inner) + "\n"
        objects += [o] if given else []
    parameters = ", ".join(["x", "p", *objects])
    return f"{text}\n\ndef program({parameters}):\n    total = 0.0\n{body}    return total\n"


def arguments(form: str, names: Iterable[str], classes: dict[str, Any]) -> tuple[list[Any], list[int]]:
    """The arguments of the program, and the numbers of those that derivatives are by."""
    given = FORMS[form][3]
    objects = [classes[f"{'AB'[k % 2]}_{n}"](1.3) for k, n in enumerate(names)] if given else []
    return [1.5, 1, *objects], [0, *(range(2, 2 + len(objects)) if given == "given" else ())]
