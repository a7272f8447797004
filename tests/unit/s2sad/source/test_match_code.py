"""is_same_code sees every edit; is_same_outside those outside of asserts, which pytest rewrites here."""
from __future__ import annotations

import linecache
from types import CodeType, FunctionType
from typing import Any

import gast
import pytest

from s2sad.source.match_code import is_same_code, positions
from s2sad.source.read import read_source
from s2sad.transforms.errors import NoSourceError

THIS_FILE = __file__


def code_of(text: str) -> CodeType:
    code = compile(text, "text", "exec", dont_inherit=True).co_consts[0]
    assert isinstance(code, CodeType)
    return code


@pytest.mark.parametrize("text", [
    "def f(x):\n    return x in {'a', 'b', 'c'}, (1, (2.0, -0.0)), 1e400, ..., b'', None\n",
    "def f(x):\n    def g(y):\n        return [x * y * z for z in y]\n    return g\n",
])
def test_code_is_the_same_as_itself_compiled_again(text: str) -> None:
    assert is_same_code(code_of(text), code_of(text))
    assert is_same_code(code_of(text), code_of(text).replace(co_filename="elsewhere"))


@pytest.mark.parametrize(("old", "new"), [
    ("1", "1.0"), ("(0.0,)", "(-0.)"), ("0.", "-0."), ("True", "1   "), ("x in {1, 2}", "x in {1, 3}"),
    ("x.a", "x.b"),
    ("x + 1", "x - 1"), ("x + 1", "x +  1"), ("[x for x in y]", "[x for x in z]"), ("lambda: 1", "lambda: 2"),
])
def test_every_edit_shows(old: str, new: str) -> None:
    one, other = (code_of(f"def f(x):\n    return {value}\n") for value in (old, new))
    assert not is_same_code(one, other)


@pytest.mark.parametrize("other", ["x, z", "x, *y", "x, /, y", "y, x", "x, y, **z", "x, *, y"])
def test_parameters_show(other: str) -> None:
    text = "def f({}):\n    return 1\n"
    assert not is_same_code(code_of(text.format("x, y")), code_of(text.format(other)))


def test_positions_are_those_of_the_text() -> None:
    assert (2, 11, 2, 16) in positions(code_of("def f(x):\n    return x + 1\n"))


# ---------------------------------------------------------------- asserts

def with_asserts(x: Any, limit: float = 3.0) -> Any:
    total = 0.0
    for i, step in enumerate((x, x + 1)):
        assert step < limit, f"step {i} of {x}: {[s for s in (1, 2) if s]}"
        if step > 100 or i > 7:
            return total * 2
        total += step if step > 0 else -step

    def inner(y: Any) -> Any:
        assert y is not None
        return y * total
    try:
        assert inner(1.0) == inner(1.0) and (last := x) == x  # noqa: RUF018 (pytest treats these apart)
    finally:
        total -= 0
    return inner(2.0) + last


def test_functions_with_asserts_in_test_modules() -> None:
    found = read_source(with_asserts)
    assert "py_assert" in repr(with_asserts.__code__.co_varnames + with_asserts.__code__.co_cellvars)
    assert gast.unparse(found.tree.body[-1]) == "return inner(2.0) + last"


@pytest.mark.parametrize(("old", "new"), [
    ("total * 2", "total * 3"), ("total * 2", "total / 2"), ("> 100 or", "> 100 and"),
    ("total += step", "total -= step"), ("        total -= 0\n", "        pass      \n"),
    ("* total\n", "* y    \n"), ("    total = 0.0\n", "    total = 1.0\n"),
    ("if step > 100", "if step < 100"), ("inner(2.0)", "inner(2.5)"),
    ("enumerate((x, x + 1))", "enumerate((x, i + 1))"), ("limit: float = 3.0", "scale: float = 3.0"),
])
def test_changes_outside_of_asserts_are_seen(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    lines = linecache.getlines(THIS_FILE)
    first = with_asserts.__code__.co_firstlineno - 1
    body = "".join(lines[first:first + 18])
    assert old in body
    changed = lines[:first] + body.replace(old, new, 1).splitlines(keepends=True) + lines[first + 18:]
    copy = FunctionType(with_asserts.__code__.replace(co_firstlineno=first + 1), globals())
    monkeypatch.setattr(linecache, "getlines", lambda *args: changed)
    assert copy.__code__ is not with_asserts.__code__
    with pytest.raises(NoSourceError, match="is not what runs"):
        read_source(copy)
