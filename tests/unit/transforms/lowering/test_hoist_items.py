"""Items of parameters are read once, first, under the user's name or their key."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import s2sad
from tests.support.analysed import stage
from tests.support.build import build

P = {"w": np.array([0.5, 0.8]), "b": np.array([1.1, -0.3]), "n": 2, "lambda": 0.4}
L = [np.array([[0.5, 0.8], [0.2, 0.1]]), np.array([1.1, -0.3]), 0.7]

HOISTED = {  # what stands first
    'return np.sum(p["w"] * p["w"]) + p["b"][0]': ['w = p["w"]', 'b = p["b"]'],
    'u = p["w"]\n    return np.sum(u * p["w"])': ['u = p["w"]'],
    'w = 2.0\n    return np.sum(p["w"] * w)': ['w_2 = p["w"]'],
    'y = 0.0\n    for k in range(p["n"]):\n        y = y + p["lambda"] * y + k\n    return y': [
        'n = p["n"]', 'p_2 = p["lambda"]'],
    'if p["n"] > 2:\n        return np.sum(p["w"])\n    return np.sum(p["b"])': ['n = p["n"]', 'w = p["w"]'],
}
LEFT = {  # what may be another object by then, or is read by who else may look
    'a = np.sum(p["w"])\n    p["w"] = p["w"] * 2.0\n    return a * np.sum(p["w"])',
    'q = dict(p)\n    q["w"] = q["b"]\n    return np.sum(q["w"])',
}


@pytest.mark.parametrize("body", HOISTED)
def test_items_are_read_first(body: str) -> None:
    found = stage("lower_augmented", f"def f(p):\n    {body}\n", P, wrt=(0,)).splitlines()
    assert [line.strip() for line in found[1 : 1 + len(HOISTED[body])]] == HOISTED[body]
    for line in HOISTED[body]:
        assert "\n".join(found).count(line.split(" = ")[1]) == 1


@pytest.mark.parametrize("body", sorted(LEFT))
def test_what_may_be_another_is_read_where_it_was(body: str) -> None:
    text = f"def f(p):\n    {body}\n"
    first = stage("lower_augmented", text, P, wrt=(0,)).splitlines()[1]
    assert first.strip() not in ('w = p["w"]', 'w = q["w"]')


def test_positions_are_counted_from_the_front() -> None:
    text = "def f(p):\n    return np.sum(p[0] @ p[-2]) * p[-1] * p[2]\n"
    found = stage("lower_augmented", text, L, wrt=(0,))
    assert found.count("p[2]") == 1 and "p[-1]" not in found and "p1 = p[1]" in found


def test_a_gradient_is_a_display_of_those_of_the_items() -> None:
    f = build('def f(p):\n    return np.sum(p["w"] ** 2) * p["lambda"]\n')
    source = s2sad.grad(f).source_for(P)
    assert source.rstrip().endswith('"b": np.zeros_like(p["b"]), "n": None, "lambda": dp_1}')
    gradient = s2sad.grad(f)(copy.deepcopy(P))
    np.testing.assert_allclose(gradient["w"], 2 * P["w"] * 0.4)
    np.testing.assert_array_equal(gradient["b"], 0.0)
    assert gradient["n"] is None and list(gradient) == list(P)


def test_gradients_share_nothing() -> None:
    f = build('def f(p):\n    return p["w"] + p["b"]\n')
    out, pull = s2sad.vjp(f, P)
    cotangent = np.ones(2)
    (first,), (second,) = pull(cotangent), pull(cotangent)
    assert out.shape == (2,)
    first["w"][0] = 9.0
    assert cotangent[0] == first["b"][0] == second["w"][0] == 1.0
