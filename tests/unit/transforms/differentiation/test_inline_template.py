"""Templates put in: arguments substituted, locals renamed, branches decided, zeros folded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gast
import pytest

from s2sad.transforms.differentiation.inline_template import ZERO, Zeros, fold_zeros, inline_template
from s2sad.transforms.trees.nodes import Comment, load, names_read
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import Names
from tests.support.before_after import Node, parse

MODULE = {"np": "numpy", "unreduce": "the helper"}


@dataclass(frozen=True, eq=False)
class Template:
    """What a pass reads of a rule's template."""

    body: list[Node]
    globals: Mapping[str, Any]
    words: Mapping[str, Node] = field(default_factory=dict)
    tangents: tuple[str, ...] = ("dout",)

    def name_of(self, free: str) -> str:
        return free


def expression(text: str) -> Node:
    return gast.parse(text, mode="eval").body


def inlined(
    text: str, arguments: dict[str, str], wanted: tuple[int, ...] = (0,)
) -> tuple[str, dict[int, str]]:
    """The statements that run first, and the wanted results, as text."""
    template = Template(parse(text).body, MODULE)
    bound = {k: expression(v) for k, v in arguments.items()}
    names = Names({"dy_1"})
    statements, results = inline_template(
        template, bound, wanted, names, lambda name, value: f"{name}_bound", "dy"
    )
    return "".join(map(to_source, statements)), {k: to_source(v).strip() for k, v in results.items()}


OF_TWO = """
    def of_two(x, y, out, dx, dy):
        if dy is None:
            return f(dx)
        return g(dx, dy)
"""


def test_a_template_may_ask_whether_a_tangent_is_none() -> None:
    template = Template(parse(OF_TWO).body, MODULE, tangents=("dx", "dy"))
    for dy, expected in [(f"{ZERO} y", "f(a)"), ("b", "g(a, b)")]:
        arguments = {"dx": load("a"), "dy": load(dy)}
        statements, results = inline_template(
            template, arguments, (0,), Names(set()), lambda name, value: f"{name}_bound", "dout"
        )
        assert not statements and to_source(results[0]).strip() == expected


SUM = """
    def sum(x, axis, keepdims, out, dout):
        if axis is None and not keepdims:
            return (dout,)
        if isinstance(axis, int):
            dx = np.expand_dims(dout, axis)
        else:
            dx = unreduce(dout, x, axis)
        return (dx,)
"""


@pytest.mark.parametrize(
    ("axis", "keepdims", "before", "result"),
    [
        ("None", "False", "", "dy"),
        ("-1", "k", "dy_2 = np_bound.expand_dims(dy, -1)\n", "dy_2"),
        ("(0, 1)", "False", "dy_2 = unreduce_bound(dy, a, (0, 1))\n", "dy_2"),
        ("None", "True", "dy_2 = unreduce_bound(dy, a, None)\n", "dy_2"),
    ],
)
def test_branches_on_known_arguments_are_decided(axis: str, keepdims: str, before: str, result: str) -> None:
    arguments = {"x": "a", "axis": axis, "keepdims": keepdims, "out": "y", "dout": "dy"}
    assert inlined(SUM, arguments) == (before, {0: result})


def test_a_branch_on_an_unknown_argument_stays() -> None:
    text = """
        def pick(x, y, n, out, dout):
            if n > 0:
                return dout, None
            return None, 2 * dout
    """
    before, results = inlined(text, {"x": "a", "y": "b", "n": "k", "out": "y", "dout": "dy"}, (0, 1))
    assert before == (
        "if k > 0:\n    dy_2 = dy\n    dy_3 = None\nelse:\n    dy_2 = None\n    dy_3 = 2 * dy\n"
    )
    assert results == {0: "dy_2", 1: "dy_3"}


PRODUCT = """
    def product(x, y, out, dout):
        s = x + y
        dx = dout * y / s
        dy = dout * np.exp(x) / s
        return dx, dy
"""


def test_what_a_result_does_not_need_is_left_out() -> None:
    arguments = {"x": "a", "y": "b", "out": "y", "dout": "dy"}
    before, results = inlined(PRODUCT, arguments, (1,))
    assert before == "dy_2 = a + b\ndy_4 = dy * np_bound.exp(a) / dy_2\n"
    assert results == {1: "dy_4"}
    assert "exp" not in inlined(PRODUCT, arguments, (0,))[0]


def test_absent_results_and_negative_literals() -> None:
    text = "def f(x, n, out, dout):\n    if n == -1:\n        return -dout, None\n    return dout, None"
    assert inlined(text, {"x": "a", "n": "-1", "out": "y", "dout": "dy"}, (0, 1)) == ("", {0: "-dy"})
    assert inlined(text, {"x": "a", "n": "2", "out": "y", "dout": "dy"}, (0, 1)) == ("", {0: "dy"})


def test_the_template_is_left_alone() -> None:
    template = Template(parse(PRODUCT).body, MODULE)
    text = [gast.dump(s) for s in template.body]
    arguments = {"x": load("a"), "y": load("b"), "out": load("y"), "dout": load("dy")}
    inline_template(template, arguments, [0, 1], Names(()), lambda name, value: name, "d")
    assert [gast.dump(s) for s in template.body] == text
    assert not any(isinstance(s, Comment) for s in template.body)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Z + a", "a"),
        ("a + Z", "a"),
        ("a - Z", "a"),
        ("Z - a", "-a"),
        ("Z * a", None),
        ("a @ Z", None),
        ("Z / a", None),
        ("-Z", None),
        ("Z.T", None),
        ("a - (Z @ b)[..., 0]", "a"),
        ("(a - Z)[0]", "a[0]"),
        ("Z + Z", None),
        ("a * b + Z * c", "a * b"),
        ("a @ b.T + (Z @ c).T", "a @ b.T"),
        ("a / Z", "a / zeros"),
        ("Z ** 2", "zeros ** 2"),
        ("g(a, Z, k=Z * a)", "g(a, zeros, k=zeros)"),
        ("(a, Z)", "(a, zeros)"),
        ("linear(Z, a)", None),
        ("a - linear(Z * b, 2)", "a"),
        ("linear(a, Z)", "linear(a, zeros)"),
        ("bilinear(a, Z)", None),
        ("bilinear(a, b) + bilinear(Z, b)", "bilinear(a, b)"),
        ("a * b", "a * b"),
    ],
)
def test_zeros_fold(before: str, after: str | None) -> None:
    tree = expression(before.replace("Z", "zero"))
    marked = _renamed(tree)
    groups = {"linear": lambda args: [args[:1]], "bilinear": lambda args: [args[:1], args[1:]]}
    zeros = Zeros(
        lambda node: load("zeros"), lambda call: groups.get(call.func.id, lambda args: [])(call.args)
    )
    folded = fold_zeros(marked, zeros)
    assert (None if folded is None else to_source(folded).strip()) == after
    assert folded is None or not any(n.startswith(ZERO) for n in names_read(folded))


def _renamed(tree: Node) -> Node:
    for n in gast.walk(tree):
        if isinstance(n, gast.Name) and n.id == "zero":
            n.id = f"{ZERO} x"
    return tree
