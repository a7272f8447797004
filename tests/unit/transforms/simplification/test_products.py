"""Products and sums of derivatives: fewer operations on arrays, and the same value up to rounding."""

from __future__ import annotations

import gast
import numpy as np
import pytest

from s2sad.transforms.simplification.fold_constants import fold_constants
from s2sad.transforms.trees.nodes import names_read
from tests.support.before_after import Node, parse, text_of
from tests.support.generated_facts import generated_facts

# `d`, `d2` and `a`, `b` are arrays of floats, `r` and `s` numbers, and `d`, `d2` derivatives.
PRODUCTS = {
    "1.0 / (2 * r) * d * 2": "d / r",
    "d * 2 * 3": "d * 6",
    "1.0 / a.size * 2 * d": "2.0 / a.size * d",
    "d * a * -0.5 * 2 * b": "-d * a * b",
    "d * 0.1 * 3": "0.1 * 3 * d",
    "d / 3 * 2": "2 / 3 * d",
    "d * r * s": "r * s * d",
    "d * (r * s)": "r * s * d",
    "d * r": "d * r",
    "r * s * d": "r * s * d",
    "d * (a * r) / s": "r / s * d * a",
    "-d * 2 * a * 2": "-4 * d * a",
    "d / (r / a) * s * 2": "2 * s * d / (r / a)",
    "d / a / r / s": "d / a / r / s",
    "d * np.exp(a * 2 * 3)": "d * np.exp(a * 2 * 3)",
    "a * 2 * 3": "a * 2 * 3",
}
SUMS = {
    "d * a + d * b": "d * (a + b)",
    "d * a * r - d * b * r": "d * r * (a - b)",
    "d * a / b - d2 / b": "(d * a - d2) / b",
    "d2 + d * a + d * b": "d2 + d * (a + b)",
    "-2.0 * (1.0 - d) - a * 2 * d2": "-2.0 * (1.0 - d + a * d2)",
    "d2 - d * a + d * b": "d2 - d * a + d * b",
    "d + d * a": "d + d * a",
    "d * effect(a) + b * effect(a)": "d * effect(a) + b * effect(a)",
    "d / r + d * a": "d / r + d * a",
}


def folded(text: str) -> str:
    def is_float(node: Node) -> bool:
        return not {"a", "b", "d", "d2"}.isdisjoint(names_read(node))

    def is_number(node: Node) -> bool:
        names = set(names_read(node))
        return isinstance(node, gast.Constant) or (names != set() and names <= {"r", "s"})

    facts = generated_facts(
        is_float=is_float,
        is_number=is_number,
        is_array=lambda name: name in ("a", "b", "d", "d2"),
        is_derivative=lambda name: name in ("d", "d2"),
    )
    tree = fold_constants(parse(f"def f():\n    return {text}\n"), facts)
    return text_of(tree).strip().removeprefix("def f():\n    return ")


@pytest.mark.parametrize(("before", "after"), [*PRODUCTS.items(), *SUMS.items()])
def test_products_and_sums(before: str, after: str) -> None:
    assert folded(before) == after
    assert folded(after) == after
    random = np.random.default_rng(0)
    values = {name: random.uniform(0.5, 2.0, 5) for name in ("a", "b", "d", "d2")}
    scope = {**values, "r": 1.7, "s": 0.3, "np": np, "effect": lambda x: x}
    np.testing.assert_allclose(eval(after, scope), eval(before, scope), rtol=1e-14)
