"""Sums of an integer and a literal that are indices, written where they are read."""

from __future__ import annotations

import gast
import pytest

from s2sad.transforms.simplification.code import apply_rules
from s2sad.transforms.simplification.repeat_indices import repeat_index
from tests.support.before_after import parse, text_of
from tests.support.generated_facts import generated_facts

WRITTEN = {
    "twice": (
        """
def f(dh, dv, n):
    for i in range(1, n):
        h_1 = i - 1
        dh[h_1] -= dv
        dh[h_1, i] += dv
    return dh
""",
        """
def f(dh, dv, n):
    for i in range(1, n):
        dh[i - 1] -= dv
        dh[i - 1, i] += dv
    return dh
""",
    ),
    "in slices": (
        """
def f(dV, v, i):
    V_1 = i + 1
    d = take_at(dV, slice(None, V_1, None), v)
    dV[:V_1] = 0
    return d
""",
        """
def f(dV, v, i):
    d = take_at(dV, slice(None, i + 1, None), v)
    dV[:i + 1] = 0
    return d
""",
    ),
}

KEPT = {
    "a number that is computed with": "t = i - 1\ny = x[t] * t\nreturn y",
    "an operand that is assigned again": "t = i - 1\ny = x[t]\ni = i + 2\nz = x[t]\nreturn y + z",
    "a read in a loop": "t = i - 1\ny = x[t]\nfor k in range(3):\n    y += x[t]\nreturn y",
    "a closure that reads it": "t = i - 1\ny = x[t]\ndef g():\n    return x[t]\nreturn g() + x[t]",
    "a name that is assigned again": "t = i - 1\ny = x[t]\nt = i + 1\nreturn y + x[t]",
    "a sum of floats": "t = i - 1.0\nreturn x[t] + x[t]",
    "what is no temporary": "user = i - 1\nreturn x[user] + x[user]",
    "what may be an array": "t = x - 1\nreturn x[t] + x[t]",
    "often": "t = i - 1\nreturn x[t] + x[t] * x[t] + x[t] - x[t]",
}


def written(source: str) -> str:
    facts = generated_facts(
        is_temporary=lambda name: name != "user", holds_number=lambda name: name == "i"
    )
    return text_of(apply_rules(parse(source), facts, {gast.Assign: (repeat_index,)}))


@pytest.mark.parametrize(("before", "after"), WRITTEN.values(), ids=WRITTEN)
def test_indices_are_written_where_they_are_read(before: str, after: str) -> None:
    assert written(before) == text_of(parse(after))


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_what_stays(body: str) -> None:
    source = "def f(x, i):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    assert written(source) == text_of(parse(source))
