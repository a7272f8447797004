from __future__ import annotations

import textwrap
from typing import Any

import gast
import pytest

from s2sad.transforms.lowering.name_functions import name_functions
from s2sad.transforms.normal_form.order_definitions import order_definitions
from s2sad.transforms.trees.nodes import find_nodes
from s2sad.transforms.trees.printer import to_source
from tests.support.is_normal import find_violations
from tests.support.stages import effect, executable, read, up_to

CALLS: list[tuple[Any, ...]] = [([1, 2, 3], 5), ([4, 5, 6], 0), ([7, 8, 9], -2)]


def named(body: str, wanted: str = "abcdefgh") -> str:
    """The text after the pass of `f(y, s)` with this body, of whose functions those of these names are
    wanted: it does what the function does.
    """
    text = "def f(y, s):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
    function, program = read(text)
    program = up_to(order_definitions, program)

    after = name_functions(program, lambda f: f.name[0] in wanted)
    assert find_violations(after) == ()
    for args in CALLS:
        assert effect(function, args) == effect(executable(after), args), to_source(after.tree)
    bound = {n.id for n in find_nodes(after.tree, gast.Name) if not isinstance(n.ctx, gast.Load)}
    assert bound <= after.locals
    return "" if after is program else to_source(after.tree)


TWO = """
def a(v):
    y[0] = v * y[1]
def b(v):
    y[1] *= v
"""


def test_a_loop_over_functions() -> None:
    assert named(TWO + "for g in (a, b):\n    g(s)\nreturn y[1]").endswith(
        """
    g_1 = "a", "b"
    for g in g_1:
        g_2 = g == "a"
        if g_2:
            a(s)
        else:
            b(s)
    out = y[1]
    return out
"""
    )


NAMED = [
    "g = a\ng(s)\nreturn y[0]",
    "g = a if s > 0 else b\nreturn g(s)",
    "d = {'a': a, 'b': b}\nfor k in 'ba':\n    d[k](s)\nreturn y[0]",
    "d = {'a': a, 'b': b}\nfor k, g in d.items():\n    g(s)\nreturn y[0]",
    "for g, v in [(a, 1), (b, 2), (a, s)]:\n    g(v)\nreturn y[0]",
    "for k, g in enumerate(reversed([a, b, b])):\n    g(k)\nreturn y[0]",
    "h = []\nh.append(b)\nh.append(a)\nfor g in h:\n    g(s)\nreturn y[0]",
    "h = [a]\nh += [b]\nfor g in h:\n    g(s)\nreturn y[0]",
    "g, h = a, b\nfor k in range(3):\n    g(s)\n    g, h = h, g\nreturn y[0]",
    "g = {'a': a}.get(s, b)\ng(s)\nreturn y[0]",
    "for g in (a, print, b):\n    if g is not None:\n        g(s)\nreturn y[0]",
]
KEPT = [
    "h = [a, b]\nh.reverse()\nfor g in h:\n    g(s)\nreturn y[0]",
    "h = [a]\nk = h\nk.append(b)\nfor g in h:\n    g(s)\nreturn y[0]",
    "h = [a, b]\nh[0] = b\nfor g in h:\n    g(s)\nreturn y[0]",
    "h = [a, b]\nfor g in map(lambda g: g, h):\n    g(s)\nreturn y[0]",
    "g = a\nreturn g.__name__",
    "if s > 0:\n    g = a\ntry:\n    g(s)\nexcept NameError:\n    y[0] = 7\nreturn y[0]",
    "h = [b]\ndef run():\n    return h[0](s)\nreturn run()",
]


@pytest.mark.parametrize("body", NAMED)
def test_named(body: str) -> None:
    assert '"a"' in named(TWO + body) or "a(" in named(TWO + body)


@pytest.mark.parametrize("body", KEPT)
def test_what_is_not_followed_stays(body: str) -> None:
    assert '"' not in named(TWO + body)


def test_nothing_is_done_for_what_nobody_wants() -> None:
    assert named(TWO + NAMED[2], wanted="") == ""


LOOP = """
h = []
for k in range(3):
    def a(v, k=k):
        y[k] += v
    {}
for g in h:
    g(s)
return y[0]
"""


@pytest.mark.parametrize("use", ["h.append(a)", "g = a\n    h = [g]"])
def test_what_outlives_its_iteration_stays(use: str) -> None:
    assert '"a"' not in named(LOOP.format(use))


def test_what_does_not_outlive_it() -> None:
    assert '"a"' in named(LOOP.format("q = a\n    q(k)"))


def test_functions_of_one_name() -> None:
    source = named("if s > 0:\n    def a(v): y[0] = v\nelse:\n    def a(v): y[1] = v\na(s)\nreturn y[0]")
    assert 'a = "a_2"' in source and 'a = "a_3"' in source
