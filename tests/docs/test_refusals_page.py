"""What the page of limits lists as refused today, is refused: nothing in its table is out of date."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import s2sad

PAGE = (Path(__file__).parents[2] / "docs" / "limits.md").read_text()

# For each entry of the table, bodies of `def f(x)` that are refused; x is an array.
SYNTAX = {
    "a `yield` whose value is used": [
        "y = yield x\nreturn y",
        "def g():\n    y = yield x\n    yield y\nreturn sum(g())",
    ],
    "a generator that several statements read": [
        "def g():\n    yield x\nitems = g()\nreturn sum(items) + sum(items)",
        "def g():\n    yield x\nitems = g()\ny = items.send(None)\nreturn np.sum(y)",
    ],
    "a `try` that changes in a loop what is read after an exception": [
        "y = [x]\ntry:\n    while len(y) < 9:\n        y.append(x)\n    z = y[9]\n"
        "except IndexError:\n    z = y\nreturn np.sum(z)",
    ],
    "a `with` that may swallow exceptions": ["with box:\n    y = x * 2\nreturn np.sum(y)"],
    "a `global`, or a variable around the function, set to what carries a derivative and read": [
        "global y\ny = x\nreturn np.sum(y)",
    ],
    "`class` inside the function": ["class A:\n    pass\nreturn np.sum(x)"],
    "`async`": ["async def g():\n    pass\nreturn np.sum(x)"],
}
CHANGES = {
    "of arrays by a recursive function that changes lists or dicts, too": [
        "memo = {}\ndef g(n):\n    if n not in memo:\n        memo[n] = 2 * x if n == 0 else x * g(n - 1)\n"
        "    return memo[n]\ny = g(2)\ny *= x\nreturn np.sum(y * g(2))",
    ],
}
OBJECTS = {
    "calls of recursive functions where the module's objects change": [
        "box.value = x\ndef g(n):\n    return x if n == 0 else g(n - 1) * x\nreturn np.sum(box.value * g(2))",
    ],
    "calls of recursive functions that change objects, where their exceptions are caught": [
        "d = {'v': x}\ndef g(n):\n    d['v'] = d['v'] * x\n    if n > 2:\n        raise ValueError\n"
        "    g(n + 1)\ntry:\n    g(0)\nexcept ValueError:\n    pass\nreturn np.sum(d['v'])",
    ],
    "arrays changed in place that objects with several names hold and somebody else too": [
        "boxes = [Box(v) for v in (x, x)]\nboxes[0].value += x * x\nreturn np.sum(boxes[0].value)",
        "a = x * 1\nb = Box(a)\nboxes = [Box(v) for v in (a, x)]\nboxes[0].value[0] = x[1]\n"
        "return np.sum(b.value) * np.sum(a)",
    ],
}
FUNCTIONS = {
    "`numpy.union1d`": ["return np.sum(np.union1d(x, x))"],
}
ROWS = {"syntax": SYNTAX, "changes in place": CHANGES, "objects": OBJECTS, "functions": FUNCTIONS}
CASES = [(entry, body) for row in ROWS.values() for entry, bodies in row.items() for body in bodies]


class Box:
    """An object with an attribute."""

    def __init__(self, value: object) -> None:
        self.value = value


def rows() -> Iterator[tuple[str, str]]:
    """The rows of the table of what is refused."""
    table = PAGE.split("Refused today:")[1].split("\n\n")[1]
    yield from re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", table, re.MULTILINE)


def test_the_table_lists_what_is_checked() -> None:
    table = dict(rows())
    assert table.keys() == ROWS.keys()
    for row, entries in ROWS.items():
        text = table[row]
        for entry in sorted(entries, key=len, reverse=True):
            assert entry in text, f"{row}: {entry}"
            text = text.replace(entry, "")
        said = text.replace("what has neither readable Python source nor a rule:", "")
        assert not re.sub(r"\W|and", "", said), f"{row}: not checked: {said}"


@pytest.mark.parametrize("entry, body", CASES, ids=[f"{entry}-{k}" for k, (entry, _) in enumerate(CASES)])
def test_is_refused(entry: str, body: str) -> None:
    text = "def f(x):\n    " + body.replace("\n", "\n    ") + "\n"
    filename = f"<refused {body}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"np": np, "Box": Box, "box": Box(1.0)}
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    with pytest.raises((s2sad.UnsupportedSyntaxError, s2sad.MissingRuleError, s2sad.NonDifferentiableError)):
        s2sad.grad(namespace["f"])(np.array([1.0, 2.0, 3.0]))
