from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import gast
import pytest

from s2sad.transforms.normal_form.desugar_jumps import desugar_jumps
from s2sad.transforms.trees.program import Program
from tests.random.jumps import random_function
from tests.support.stages import assert_agree, body_after

PAIRS = {
    "one return stays": (
        """
def f(x):
    y = x + 1
    return y * 2
""",
        """
def f(x):
    y = x + 1
    return y * 2
""",
    ),
    "falls off the end": (
        """
def f(x):
    g(x)
""",
        """
def f(x):
    g(x)
    return None
""",
    ),
    "early returns nest": (
        """
def f(x):
    if x > 2:
        return 1
    elif x > 1:
        return 2
    x = x + 1
    return x
""",
        """
def f(x):
    if x > 2:
        out = 1
    elif x > 1:
        out = 2
    else:
        x = x + 1
        out = x
    return out
""",
    ),
    "a return on some paths needs a flag": (
        """
def f(x):
    if x > 0:
        if x > 1:
            return 1
        x = 7
    return x
""",
        """
def f(x):
    done = False
    if x > 0:
        if x > 1:
            out = 1
            done = True
        else:
            x = 7
    if done:
        pass
    else:
        out = x
    return out
""",
    ),
    "raise is no jump": (
        """
def f(x):
    if x < 0:
        raise ValueError(x)
    return x
""",
        """
def f(x):
    if x < 0:
        raise ValueError(x)
    return x
""",
    ),
    "break in the middle": (
        """
def f(xs):
    for x in xs:
        if x < 0:
            break
        g(x)
    return xs
""",
        """
def f(xs):
    for x in xs:
        stop = x < 0
        if stop:
            pass
        else:
            g(x)
        if stop:
            break
    return xs
""",
    ),
    "break and else": (
        """
def f(xs):
    for x in xs:
        if x < 0:
            break
    else:
        g(xs)
    return xs
""",
        """
def f(xs):
    stop = False
    for x in xs:
        stop = x < 0
        if stop:
            break
    if stop:
        pass
    else:
        g(xs)
    return xs
""",
    ),
    "continue": (
        """
def f(xs):
    for x in xs:
        if x < 0:
            if x < -1:
                continue
            g(x)
        h(x)
    return xs
""",
        """
def f(xs):
    for x in xs:
        skip = False
        if x < 0:
            if x < -1:
                skip = True
            else:
                g(x)
        if skip:
            pass
        else:
            h(x)
    return xs
""",
    ),
    "return from two loops": (
        """
def f(xs):
    for x in xs:
        for y in x:
            if y < 0:
                return x * y
        g(x)
    return xs
""",
        """
def f(xs):
    done = False
    for x in xs:
        for y in x:
            done = y < 0
            if done:
                break
        if done:
            pass
        else:
            g(x)
        if done:
            break
    if done:
        out = x * y
    else:
        out = xs
    return out
""",
    ),
    "an endless loop": (
        """
def f(x):
    while True:
        x = g(x)
        if x > 3:
            return x
""",
        """
def f(x):
    while True:
        x = g(x)
        done = x > 3
        if done:
            break
    return x
""",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    before, after = PAIRS[name]
    assert body_after(desugar_jumps, before).strip() == after.strip()


def jumps_left(program: Program) -> Iterator[Any]:
    """The jumps of a function that the pass should have turned into branches."""
    returns = [n for n in gast.walk(program.tree) if isinstance(n, gast.Return)]
    yield from (n for n in returns if n is not program.tree.body[-1])
    exits = {
        id(n.body[-1].body[0])
        for n in gast.walk(program.tree)
        if isinstance(n, (gast.For, gast.While))
        and isinstance(n.body[-1], gast.If)
        and isinstance(n.body[-1].test, gast.Name)
        and len(n.body[-1].body) == 1
    }
    yield from (n for n in gast.walk(program.tree) if isinstance(n, gast.Break) and id(n) not in exits)
    yield from (n for n in gast.walk(program.tree) if isinstance(n, gast.Continue))
    yield from (n for n in gast.walk(program.tree) if isinstance(n, (gast.For, gast.While)) and n.orelse)


@pytest.mark.parametrize("seed", range(200))
def test_random_jumps(seed: int) -> None:
    text = random_function(seed)
    rng = random.Random(seed)
    calls: list[tuple[Any, ...]] = [
        ([], [rng.random() < odds for _ in range(40)]) for odds in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    program = assert_agree(text, calls, [desugar_jumps])
    assert not list(jumps_left(program))


def test_the_result_is_computed_after_the_loop_once() -> None:
    assert_agree(
        """
def f(log, xs):
    for x in xs:
        for y in x:
            if y > 1:
                return log.append(y), x, y, log
            log.append(x)
    return log
""",
        [([], [[0, 1], [1, 2]]), ([], []), ([], [[5]])],
    )
