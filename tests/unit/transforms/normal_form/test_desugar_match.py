from __future__ import annotations

import pytest

from s2sad.transforms.normal_form.desugar_match import desugar_match
from tests.support.stages import assert_agree, body_after

PAIRS = {
    "literals and a wildcard": (
        """
def f(x):
    match x:
        case 1 | "a":
            return 1
        case None:
            return 2
        case _:
            return 3
""",
        """
def f(x):
    if x == 1 or x == "a":
        return 1
    elif x is None:
        return 2
    else:
        return 3
""",
    ),
    "captures are assigned when all of the pattern matches": (
        """
def f(x):
    match x:
        case [a, (b, 2), *c]:
            return a, b, c
""",
        """
def f(x):
    if is_sequence(x) and len(x) >= 2 and is_sequence(x[1]) and len(x[1]) == 2 and x[1][1] == 2:
        a = x[0]
        b = x[1][0]
        c = list(x[2:])
        return a, b, c
""",
    ),
    "a guard sees the captures": (
        """
def f(x):
    match x:
        case int(n) if n > 2:
            return n
        case n:
            return -n
""",
        """
def f(x):
    match_1 = isinstance(x, int)
    if match_1:
        n = x
        match_1 = n > 2
    if match_1:
        return n
    else:
        n = x
        return -n
""",
    ),
    "the subject is evaluated once": (
        """
def f(x):
    match g(x):
        case {"k": v}:
            return v
""",
        """
def f(x):
    match_1 = g(x)
    if is_mapping(match_1) and "k" in match_1:
        v = match_1["k"]
        return v
""",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    before, after = PAIRS[name]
    assert body_after(desugar_match, before).strip() == after.strip()


def test_behaviour() -> None:
    assert_agree(
        """
def f(x, n):
    match x:
        case 0 | 1:
            y = "small"
        case float() | int():
            y = "number"
        case [a, *b] if a == n:
            y = (a, b)
        case [a, _] | (_, _, a):
            y = a
        case {"k": v, **rest}:
            y = (v, rest)
        case {}:
            y = "map"
        case None:
            return 3
        case str(s) as t:
            y = s + t
        case _:
            y = "other"
    match n, y:
        case 1, _:
            return y
        case [x, z]:
            pass
    return x, y, z
""",
        [
            (0, 1),
            (1.5, 1),
            ([3, 4], 3),
            ([3, 4], 2),
            ((1, 2, 3), 5),
            ({"k": 1, "j": 2}, 2),
            ({}, 1),
            ({}, 7),
            (None, 1),
            ("ab", 2),
            (b"ab", 2),
            (object, 2),
            ([], 2),
        ],
    )


def test_in_loops_and_nested_functions() -> None:
    assert_agree(
        """
def f(xs, len):
    def g(is_sequence):
        match is_sequence:
            case (a, b):
                return a + b
        return len
    total = 0
    for x in xs:
        match x:
            case "stop":
                break
            case "skip":
                continue
            case [*_]:
                total += g(x)
            case _ if total > 5:
                return -1
        total += 1
    return total
""",
        [(["skip", (1, 2), "stop", (3, 4)], 10), ([(1, 2, 3), 4], 10), ([4, (1, 1)], 1)],
    )
