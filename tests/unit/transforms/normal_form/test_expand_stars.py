"""Calls with stars, written out where what they stand for is known."""

from __future__ import annotations

from typing import Any

import gast
import pytest

from s2sad.transforms.normal_form.expand_stars import expand_stars
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.trees.nodes import has_stars
from s2sad.transforms.trees.printer import to_source
from tests.support.stages import effect, executable, read, up_to


def g(*args: Any, **named: Any) -> Any:
    return args, sorted(named.items())


def strict(a: Any, b: Any = 2) -> Any:
    return a, b


def expanded(body: str, *calls: tuple[Any, ...], shapes: dict[str, Any] | None = None) -> str:
    """The calls of `f` with that body after the pass, which does not change what it does."""
    text = "def f(x, y):\n    " + body.replace("\n", "\n    ") + "\n"
    function, program = read(text, g=g, strict=strict)
    found = expand_stars(
        up_to(to_anf, program), lambda atom: (shapes or {}).get(atom.id) if shapes else None
    )
    for args in calls or ((1, 2), (3, 0)):
        assert effect(function, args) == effect(executable(found), args), to_source(found.tree)
    return "; ".join(
        to_source(n).strip() for n in gast.walk(found.tree) if isinstance(n, gast.Call)
    )


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("t = (x, y)\nreturn g(*t)", "g(x, y)"),
        ("t = [x, y]\nreturn g(1, *t, *t)", "g(1, x, y, x, y)"),
        ("t = ()\nreturn g(*t)", "g()"),
        ("d = {'a': x}\nreturn g(x, **d, b=y)", "g(x, a=x, b=y)"),
        ("t = (x, y)\nif x > 1:\n    r = g(*t)\nelse:\n    r = g(*t, 1)\nreturn r", "g(x, y); g(x, y, 1)"),
        ("t = (x, y)\nx = 5\nreturn g(*t), x", "g(*t)"),
        ("t = (x, y)\nfor x in range(2):\n    r = g(*t)\nreturn r", "range(2); g(*t)"),
        ("t = (x, y)\nif y > 1:\n    x = 2\nreturn g(*t)", "g(*t)"),
        ("t = (x, y)\nif y > 1:\n    t = (y, x)\nreturn g(*t)", "g(*t)"),
        ("t = [x, y]\nt.append(3)\nreturn g(*t)", "t.append(3); g(*t)"),
        ("t = [x, y]\nu = t\nu[0] = 3\nreturn g(*t)", "g(*t)"),
        ("d = {'a': x}\nd['b'] = y\nreturn g(**d)", "g(**d)"),
        ("t = (x, y)\nt = (t, x)\nreturn g(*t)", "g(*t)"),
        ("t = (x, y, x)\nreturn strict(*t)", "strict(*t)"),
        ("t = ()\nreturn x if x else strict(*t)", "strict(*t)"),
    ],
)
def test_displays(body: str, calls: str) -> None:
    assert expanded(body) == calls


def test_what_is_known_by_its_shape_is_read_item_by_item() -> None:
    body = "return g(*x, **y)"
    calls = ([1, 2], {"a": 3}), ((0, 5), {"a": 1})
    assert expanded(body, *calls, shapes={"x": (0, 1), "y": ("a",)}) == "g(x_1, x_2, a=y_1)"


def test_a_nested_function_may_change_a_list_but_not_a_tuple() -> None:
    changed = "t = [x]\ndef h():\n    t.append(y)\nh()\nreturn g(*t)"
    kept = "t = (x,)\ndef h():\n    return t\nh()\nreturn g(*t)"
    assert "g(*t)" in expanded(changed)
    assert "g(x)" in expanded(kept)


def test_has_stars() -> None:
    texts = {"g(*a)": True, "g(**a)": True, "g(a, b=a)": False, "a": False}
    for text, expected in texts.items():
        assert has_stars(gast.parse(text).body[0].value) is expected
