"""Where a refusal may stand: what is dropped for it, and what is always reached."""

from __future__ import annotations

import textwrap

import pytest

from s2sad.transforms.errors import Refusal, UnsupportedSyntaxError
from s2sad.transforms.normal_form.defer_refusals import defer_refusal, let_out
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import Program, program_of

REFUSAL = Refusal(UnsupportedSyntaxError, None, "", "")

# Each program with `@` before what is refused, and what becomes of it.
DEFERRED = {
    "arm": (
        """
        if c:
            y = 1
            @y = bad(x)
            z = 2
        else:
            z = y = 0
        return y, z
        """,
        """
        if c:
            y = 1
            raise UnsupportedSyntaxError("no")
        else:
            z = y = 0
        return y, z
        """,
    ),
    "names": (
        """
        if c:
            @y = bad(x)
            import os
            global g
            g = 1
        return x
        """,
        """
        if c:
            global g
            raise UnsupportedSyntaxError("no")
        return x
        """,
    ),
    "after_a_return": (
        """
        for v in x:
            if v:
                return v
        @y = bad(x)
        return y + 1
        """,
        """
        for v in x:
            if v:
                return v
        raise UnsupportedSyntaxError("no")
        """,
    ),
    "expressions": (
        """
        return [(c and @bad(v) and c) or v if c else (lambda w: w) for v in x if c]
        """,
        """
        return [c and UnsupportedSyntaxError("no") or v if c else lambda w: w for v in x if c]
        """,
    ),
    "lambda": (
        """
        k = lambda v, w=1: v + @bad(v)
        return k
        """,
        """
        k = lambda v, w=1: UnsupportedSyntaxError("no")
        return k
        """,
    ),
    "conditions_of_comprehensions": (
        """
        return {v: 1 for v in x if @bad(v)}
        """,
        """
        return {v: 1 for v in x if UnsupportedSyntaxError("no")}
        """,
    ),
    "handler": (
        """
        try:
            y = x
        except ValueError:
            @y = bad(x)
        return y
        """,
        """
        try:
            y = x
        except ValueError:
            raise UnsupportedSyntaxError("no")
        return y
        """,
    ),
    "nested_function": (
        """
        def g():
            @yield x
        return g
        """,
        """
        def g():
            raise UnsupportedSyntaxError("no")
        return g
        """,
    ),
}

REACHED = [
    "@y = bad(x)\nreturn y",
    "if @bad(x):\n    return 1\nreturn 2",
    "while True:\n    @y = bad(x)\n    if y:\n        return y",
    "try:\n    @y = bad(x)\nexcept ValueError:\n    y = 1\nreturn y",
    "try:\n    y = 1\nfinally:\n    @bad(x)\nreturn y",
    "with c:\n    @y = bad(x)\nreturn y",
    "for v in @bad(x):\n    c(v)\nreturn 1",
    "return [v for v in @bad(x)]",
    "return @bad(x) and c",
    "if c:\n    raise ValueError\n@y = bad(x)\nreturn y",
    "return 1 if (y := 2) and (z := @bad(x)) else z",  # `z` would be a global name
    "if c:\n    @y = bad(x)\nreturn y",
    "if c:\n    @import y\nreturn y",
]


def placed(body: str) -> Program | None:
    text = "def f(x, c):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    before = text[: text.index("@")].split("\n")
    program = program_of(text.replace("@", ""))
    return defer_refusal(program, (len(before), len(before[-1])), REFUSAL, "no")


@pytest.mark.parametrize("name", DEFERRED)
def test_deferred(name: str) -> None:
    before, after = DEFERRED[name]
    found = placed(before)
    assert found is not None
    text = "def f(x, c):\n" + textwrap.indent(textwrap.dedent(after).strip("\n"), "    ")
    assert to_source(found.tree) == to_source(program_of(text).tree)
    assert REFUSAL in found.bindings.values()


@pytest.mark.parametrize("body", REACHED)
def test_always_reached(body: str) -> None:
    assert placed(body) is None


def test_handlers_that_would_take_it_let_it_out() -> None:
    text = """
def f(x):
    try:
        x = g(x)
    except {}:
        x = 1
    return x
"""
    for caught, takes in {
        "Exception": True,
        "(KeyError, SyntaxError)": True,
        "KeyError": False,
        "unknown": True,
    }.items():
        program = let_out(program_of(text.format(caught)), {UnsupportedSyntaxError})
        assert ("except S2sadError:\n        raise\n" in to_source(program.tree)) is takes
