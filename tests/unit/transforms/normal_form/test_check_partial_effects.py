"""A `try` after which it would matter how far its body got is written in steps; refused is one that changes
what is read after an exception in a loop.
"""

from __future__ import annotations

import pytest

import s2sad
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.normal_form.to_ssa import to_ssa
from tests.support.stages import effect, executable, read, up_to

KINDS = "(ValueError, ZeroDivisionError, IndexError)"
HEAD = "def f(x, a):\n    y = x\n    try:\n        "


def text_of(body: str, handler: str, rest: str = "return y") -> str:
    body, handler = body.replace("\n", "\n        "), handler.replace("\n", "\n        ")
    rest = rest.replace("\n", "\n    ")
    return f"{HEAD}{body}\n    except {KINDS}:\n        {handler}\n    {rest}\n"


@pytest.mark.parametrize(
    ("body", "handler", "rest", "named"),
    [
        ("for k in a:\n    y = y / k", "pass", "return y", "`y`"),
        ("if x:\n    for k in a:\n        y = y / k", "pass", "return y", "`y`"),
        ("for k in a:\n    a[0] = k / x", "z = 1", "return a", "`a`"),
        ("while a:\n    z = a.pop() / x", "z = 1", "return z, a", "`a`"),
    ],
)
def test_refused(body: str, handler: str, rest: str, named: str) -> None:
    with pytest.raises(
        s2sad.UnsupportedSyntaxError, match=f"{named} is (assigned|changed) in a loop or branch of a `try`"
    ) as caught:
        to_ssa(up_to(to_anf, read(text_of(body, handler, rest))[1]))
    assert "module.py:" in str(caught.value) and "instead:" in str(caught.value)


@pytest.mark.parametrize(
    ("body", "handler", "rest"),
    [
        ("y = 1 / x", "pass", "return y"),
        ("if x:\n    y = 2\nz = 1 / x", "z = y", "y = 3\nreturn z"),
        ("if x:\n    y = 1 / x", "pass", "return y"),
        ("if x > 1:\n    y = 2\nelif x:\n    a[0] = y\ny += a[3] / x", "y = y + 1", "return y, a"),
        ("y += 1 / x", "y = y + 5", "return y"),
        ("z = x * 2\ny = z / x", "z = 3", "return y, z"),
        ("a.append(1 / x)", "a.append(7)", "return a"),
        ("b = [x]\nb.append(2)\ny = b[1] / x", "y = 4", "return y"),
        ("y = x * 2\nz = 1 / x", "raise", "return y, z"),
        ("y = x * 2\nz = 1 / x", "return 3", "return y, z"),
        ("z = x\nw = 1 / x", "failed = True\nw = 0", "return w"),
        ("y = x * 2\nz = 1 / x", "z = 1", "return y, z"),
        ("z = x * 2\nw = z / x", "w = z", "return w"),
        ("z = a[1]\nw = z / x", "w = z", "return w"),
        ("y = x * 2\nz = 1 / x", "z = y", "y = 3\nreturn z"),
        ("y = x * 2\nz = 1 / x\ny = z\nz = a[1]\ny += 1", "z = y", "return y, z"),
        ("a[0] = x\nz = 1 / x", "z = 1", "return z, a"),
        ("a.append(x)\nz = 1 / x", "z = 1", "return z, a"),
        ("z = a.pop()\nw = 1 / x", "w = 1", "return w, a"),
        ("a[0] += x\nz = 1 / x", "z = 1", "return z, a"),
        ("z = x\nw = 1 / x", "w = x + 1", "if w:\n    y = z\nreturn y"),
        ("y = x * 2\nz = 1 / x\nok = True", "ok = False\ny = 3", "if ok:\n    y = z\nreturn y"),
    ],
)
def test_accepted(body: str, handler: str, rest: str) -> None:
    function, program = read(text_of(body, handler, rest))
    found = executable(to_ssa(up_to(to_anf, program)))
    for args in ((2, [1, 2]), (0, [1, 2]), (1, [])):
        assert effect(function, args) == effect(found, args)


def test_what_is_assigned_in_a_try_is_not_read_in_its_finally() -> None:
    text = "def f(x):\n    try:\n        y = x\n    finally:\n        z = y\n    return z\n"
    with pytest.raises(
        s2sad.UnsupportedSyntaxError, match=r"`y` is .* read in its `finally`"
    ):
        to_ssa(up_to(to_anf, read(text)[1]))
