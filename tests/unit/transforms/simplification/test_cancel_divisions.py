"""Products with a numerator of what is divided: which become products with the quotient."""

from __future__ import annotations

import gast
import numpy as np
import pytest

from s2sad.transforms.simplification.cancel_divisions import cancel_division, find_quotients
from s2sad.transforms.simplification.code import apply_rules
from tests.support.before_after import parse, run, text_of
from tests.support.generated_facts import generated_facts

MET = {
    "of a sum": (
        """
def f(d, e):
    t = np.sum(e)
    q = e / t
    d_1 = d / t
    d_2 = -np.sum(d * q) / t
    d_3 = d_1 + d_2
    d_4 = d_3 * e
    return d_4
""",
        """
def f(d, e):
    t = np.sum(e)
    q = e / t
    d_2 = -np.sum(d * q)
    d_3 = d + d_2
    d_4 = d_3 * q
    return d_4
""",
    ),
    "in a nested function, of three terms": (
        """
def f(d, e):
    t = np.sum(e)
    q = e / t
    def back(d):
        d_1 = d / t
        d_2 = np.sum(d * q) / t
        d_3 = d_1 - d_2
        d_4 = np.cos(d) / t
        d_5 = d_3 + d_4
        d_6 = d_5 * e
        return d_6
    return back(d)
""",
        """
def f(d, e):
    t = np.sum(e)
    q = e / t
    def back(d):
        d_2 = np.sum(d * q)
        d_3 = d - d_2
        d_4 = np.cos(d)
        d_5 = d_3 + d_4
        d_6 = d_5 * q
        return d_6
    return back(d)
""",
    ),
}
HEAD = "\ndef f(d, e):\n    t = np.sum(e)\n    q = e / t\n"
LEFT = {
    "the quotient is not read": "    d_1 = d / t\n    d_2 = d_1 * e\n    return d_2\n",
    "a term is needed elsewhere": (
        "    d_1 = d / t\n    d_2 = np.sum(d * q) / t\n    d_3 = d_1 - d_2\n"
        "    d_4 = d_3 * e\n    return d_4, d_1\n"
    ),
    "another divisor": (
        "    d_1 = d / t\n    d_2 = np.sum(d * q) / e\n    d_3 = d_1 - d_2\n"
        "    d_4 = d_3 * e\n    return d_4\n"
    ),
    "a term that is not divided": (
        "    d_1 = d / t\n    d_2 = np.sum(d * q)\n    d_3 = d_1 - d_2\n    d_4 = d_3 * e\n    return d_4\n"
    ),
    "what is divided is changed": (
        "    d_1 = d / t\n    d[0] = 3.0\n    d_2 = np.sum(d * q) / t\n    d_3 = d_1 - d_2\n"
        "    d_4 = d_3 * e\n    return d_4\n"
    ),
    "the numerator is changed": (
        "    d_1 = d / t\n    d_2 = np.sum(d * q) / t\n    e[0] = 3.0\n    d_3 = d_1 - d_2\n"
        "    d_4 = d_3 * e\n    return d_4\n"
    ),
    "the quotient is changed": (
        "    q[0] = 2.0\n    d_1 = d / t\n    d_2 = np.sum(d * q) / t\n    d_3 = d_1 - d_2\n"
        "    d_4 = d_3 * e\n    return d_4\n"
    ),
    "in a loop": (
        "    for k in range(2):\n        d_1 = d / t\n        d_2 = np.sum(d * q) / t\n        t = t + 1\n"
        "        d_3 = d_1 - d_2\n        d_4 = d_3 * e\n    return d_4\n"
    ),
    "effects between": (
        "    d_1 = d / t\n    d_2 = effect(d * q) / t\n    d_3 = d_1 - d_2\n"
        "    d_4 = d_3 * e\n    return d_4\n"
    ),
}


def met(tree: gast.AST) -> gast.AST:
    facts = generated_facts(is_derivative=lambda name: name.startswith("d"))
    facts.quotients = find_quotients(tree, facts)
    return apply_rules(tree, facts, {gast.Assign: (cancel_division,)})


@pytest.mark.parametrize("name", MET)
def test_met(name: str) -> None:
    before, after = map(parse, MET[name])
    assert text_of(met(before)) == text_of(after)
    assert text_of(met(after)) == text_of(after)
    args = np.array([0.3, -1.2, 0.7]), np.array([1.5, 0.4, 2.0])
    np.testing.assert_allclose(run(before, args)[0], run(after, args)[0], rtol=1e-14)


@pytest.mark.parametrize("name", LEFT)
def test_left_as_it_is(name: str) -> None:
    tree = parse(HEAD + LEFT[name])
    assert text_of(met(tree)) == text_of(tree)
