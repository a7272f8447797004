"""The refusals that users meet: `refusals.txt` has for each the body of a function `f(x)` of an array, with a
caret under the place that the error names, and the error's class and words.
"""

from __future__ import annotations

import linecache
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad

__all__ = ["Refusal", "Row", "table"]

TABLE = Path(__file__).with_name("refusals.txt")


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> Any:
        return self.value


class Meter(Box):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.value = value

    def append(self, value: Any) -> None:
        self.value = self.value + value


class Items(list[Any]):
    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, 2 * value)


class Bag:
    def __init__(self, items: Any) -> None:
        self.items = items

    def __iter__(self) -> Any:
        return iter(self.items)

    def __iadd__(self, other: Any) -> Any:
        if len(other) > 9:
            return NotImplemented
        self.items = self.items + other
        return self


class Counting:
    total = np.zeros(1)


class Swallowing:
    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> bool:
        return True


NAMES = {"np": np, "zlib": zlib, "Box": Box, "Meter": Meter, "Items": Items, "Bag": Bag}
NAMES["Counting"] = Counting


@dataclass(frozen=True)
class Refusal:
    """What an error says: its class, its words, and the line and column in the body of `f`."""

    error: str
    what: str
    why: str
    instead: str
    line: int
    column: int


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    section: str
    body: str
    expected: Refusal
    mode: str = ""  # "reverse" where forward mode needs no refusal

    def met(self, derivative: Any) -> Refusal:
        """What the derivative of a function with that body is refused for."""
        text = "def f(x):\n    " + self.body.replace("\n", "\n    ") + "\n"
        filename = f"<refused {self.body}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        namespace: dict[str, Any] = {**NAMES, "box": Box(1.0), "shelf": [1.0], "swallowing": Swallowing()}
        namespace["held"] = Box(np.zeros(3))
        exec(compile(text, filename, "exec", dont_inherit=True), namespace)
        with pytest.raises(s2sad.S2sadError) as caught:
            derivative(namespace["f"], np.array([1.0, 2.0, 3.0]))
        error, where = caught.value, caught.value.where
        assert where is not None and where.filename == filename and str(where) in str(error)
        assert where.text == text.splitlines()[where.line - 1]
        name = type(error).__name__
        return Refusal(name, error.what, error.why, error.instead, where.line - 2, where.column - 4)


def table() -> list[Row]:
    """The rows of the table."""
    section, rows = "", []
    for block in TABLE.read_text().split("\n\n"):
        lines = block.strip("\n").split("\n")
        if lines[0].startswith("# "):
            section = lines[0][2:]
            continue
        code = [line[4:] for line in lines if line.startswith("    ")]
        caret = next(k for k, line in enumerate(code) if line.strip() == "^")
        body = "\n".join(code[:caret] + code[caret + 1 :])
        error, what = lines[len(code)].split(": ", 1)
        words = dict(line.split(": ", 1) for line in lines[len(code) + 1 :])
        place = caret - 1, code[caret].index("^")
        expected = Refusal(error, what, words.get("why", ""), words["instead"], *place)
        rows.append(Row(section, body, expected, words.get("mode", "")))
    return rows
