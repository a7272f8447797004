"""Constructors and queries of trees."""

from __future__ import annotations

import math

import gast
import pytest

from s2sad.transforms.trees.nodes import (
    assign,
    assigned_names,
    attribute,
    call,
    children,
    constant,
    is_atom,
    load,
    located,
    names_in,
    names_read,
    same,
    statements_in,
    target_names,
    tuple_of,
    walk,
    walk_scope,
)
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.rebuild import substitute
from tests.support.before_after import Node, parse, text_of

PROGRAM = """
    def f(x, n):
        a, (b, *c) = x
        a[n] = d = x.shape
        for i, j in pairs:
            s += i
            if t:
                u[0] += 1
            else:
                v = (w := 2)
        while True:
            def g(y):
                inner = y * k
                return inner
        return a
"""


def expression(text: str) -> Node:
    return gast.parse(text, mode="eval").body


def test_constructors() -> None:
    built = assign(
        "y", call(attribute(load("np"), "sum"), tuple_of([load("a"), constant(2)]), axis=constant(-1))
    )
    assert to_source(built) == "y = np.sum((a, 2), axis=-1)\n"


@pytest.mark.parametrize("value", [2, -2, 0.0, -0.0, -1.5, True, None, "s"])
def test_literals_are_as_the_parser_has_them(value: object) -> None:
    text = to_source(constant(value)).strip()
    assert repr(eval(text)) == repr(value)
    assert same(constant(value), expression(text))


@pytest.mark.parametrize(
    ("text", "atom"),
    [("x", True), ("2", True), ("-2", True), ("-x", False), ("+2", False), ("x.y", False), ("x + 1", False)],
)
def test_atoms(text: str, atom: bool) -> None:
    assert is_atom(expression(text)) is atom


def test_located_where_another_stands() -> None:
    first, second = parse("def f(x):\n    y = x\n    z = (y +\n         x)\n    return z").body[:2]
    located(first, second)
    assert (first.lineno, first.col_offset, first.end_lineno) == (3, 4, 4)
    assert getattr(assign("y", load("x")), "lineno", None) is None


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ("x + 1", "x+1", True),
        ("x + 1", "x + 1.0", False),
        ("x + 1", "x - 1", False),
        ("f(x)", "f(x, k=1)", False),
        ("f(x)", "f(y)", False),
        ("x[1:]", "x[1:]", True),
        ("x[1:]", "x[:1]", False),
    ],
)
def test_same(a: str, b: str, equal: bool) -> None:
    assert same(expression(a), expression(b)) is equal
    assert same(expression(a), expression(a)) and same(constant(math.nan), constant(math.nan))


def test_a_literal_is_not_its_equal_of_another_type() -> None:
    assert not same(expression("x"), expression("1"))
    assert not same(expression("[x]"), expression("(x, )"))


def test_names() -> None:
    tree = parse(PROGRAM)
    assert assigned_names(tree.body) == ["a", "b", "c", "d", "i", "j", "s", "v", "g"]
    assert names_read(tree.body) == ("x", "a", "n", "pairs", "i", "t", "u", "y", "k", "inner")
    assert {"inner", "w", "c"} <= names_in(tree)
    assert target_names(parse("def f():\n    a, [b, *c], d[0], e.f = x").body[0].targets[0]) == [
        "a",
        "b",
        "c",
    ]


def test_walks() -> None:
    tree = parse(PROGRAM)
    everything = list(walk(tree))
    assert {id(n) for n in everything} >= {
        id(n) for n in gast.walk(tree) if isinstance(n, gast.stmt | gast.Name)
    }
    outside = {n.id for n in walk_scope(tree.body) if isinstance(n, gast.Name)}
    assert "inner" not in outside and {"v", "u"} <= outside
    assert any(isinstance(n, gast.FunctionDef) for n in walk_scope(tree.body))
    first = [to_source(s).split("\n")[0] for s in statements_in(tree.body)]
    assert first[3:6] == ["s += i", "if t:", "u[0] += 1"] and "inner = y * k" in first
    assert [type(n).__name__ for n in children(expression("a + b * c"))] == ["Name", "BinOp"]


def test_substitution_replaces_what_is_read_and_renames_what_is_stored() -> None:
    tree = parse("def f(x):\n    y = x + z\n    x[y] = y\n    def z(t):\n        return x\n    return z")
    text = gast.dump(tree)
    renamed = substitute(tree, {"y": load("w"), "z": load("q")})
    assert text_of(renamed) == text_of(
        parse("def f(x):\n    w = x + q\n    x[w] = w\n    def q(t):\n        return x\n    return q")
    )
    assert gast.dump(tree) == text
    assert to_source(substitute(expression("x * x"), {"x": expression("a + b")})) == "(a + b) * (a + b)"


def test_substitution_shares_what_stays() -> None:
    tree = expression("f(x) + g(y)")
    changed = substitute(tree, {"y": load("z")})
    assert changed.left is tree.left and changed.right is not tree.right
    assert substitute(tree, {"w": load("z")}) is tree
