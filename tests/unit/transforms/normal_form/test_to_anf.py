from __future__ import annotations

import random
from typing import Any

import pytest

from s2sad.transforms.normal_form.to_anf import to_anf
from tests.random.evaluation_order import random_assignments
from tests.random.jumps import random_function
from tests.support.is_normal import find_violations
from tests.support.stages import assert_agree, body_after

PAIRS = {
    "temporaries are named after the target": ("y = x * x + n", "y_1 = x * x\ny = y_1 + n\nreturn y"),
    "the result": ("return np.sin(x) * n", "out_1 = np.sin(x)\nout = out_1 * n\nreturn out"),
    "an atom is returned as it is": ("return np.pi", "return np.pi"),
    "a docstring goes": ('"""Says it."""\nreturn -1', "return -1"),
    "static paths and literals are atoms": (
        "return np.linalg.norm(x, -1, axis=None)",
        "out = np.linalg.norm(x, -1, axis=None)\nreturn out",
    ),
    "methods and attributes": (
        "return x.T.dot(n.y)",
        "out_1 = x.T\nout_2 = n.y\nout = out_1.dot(out_2)\nreturn out",
    ),
    "indices": (
        "return x[n + 1:, ..., None][0]",
        "out_1 = n + 1\nout_2 = x[out_1:, ..., None]\nout = out_2[0]\nreturn out",
    ),
    "a store": ("x[n + 1] = n * 2\nreturn x", "x_1 = n * 2\nx_2 = n + 1\nx[x_2] = x_1\nreturn x"),
    "an augmented store": ("x[n] += np.sin(n)\nreturn x", "x_1 = np.sin(n)\nx[n] += x_1\nreturn x"),
    "an augmented store of what may change the element": (
        "x[n] += g(x)\nreturn x",
        "x_1 = x[n]\nx_2 = g(x)\nx_1 += x_2\nx[n] = x_1\nreturn x",
    ),
    "a choice": ("y = 1 if x else n + 1\nreturn y", "if x:\n    y = 1\nelse:\n    y = n + 1\nreturn y"),
    "a short circuit": ("y = x and x < n\nreturn y", "if x:\n    y = x < n\nelse:\n    y = x\nreturn y"),
    "a chain of comparisons": (
        "y = 0 < x < n\nreturn y",
        "y_1 = 0 < x\nif y_1:\n    y = x < n\nelse:\n    y = y_1\nreturn y",
    ),
    "a loop": (
        "for i in range(len(x)):\n    pass\nreturn x",
        "i_1 = len(x)\nfor i in range(i_1):\n    pass\nreturn x",
    ),
    "a start of counting": (
        "for i, y in enumerate(x, n + 1):\n    pass\nreturn x",
        "i_1 = n + 1\nfor i, y in enumerate(x, start=i_1):\n    pass\nreturn x",
    ),
    "a while loop": (
        "while x < n:\n    x += n * n\nreturn x",
        "while True:\n    test_1 = x < n\n    if not test_1:\n        break\n"
        "    x_1 = n * n\n    x += x_1\nreturn x",
    ),
    "an endless loop": (
        "while 1:\n    x += 1\n    if x > n:\n        break\nreturn x",
        "while True:\n    x += 1\n    stop = x > n\n    if stop:\n        break\nreturn x",
    ),
    "a lambda": (
        "g = lambda y, z=n + 1: y * x\nreturn g",
        "g_1 = n + 1\n\ndef g(y, z=g_1):\n    out = y * x\n    return out\nreturn g",
    ),
    "a walrus": ("return (y := x + 1) * y", "y = x + 1\nout = y * y\nreturn out"),
    "a walrus that rebinds an operand": (
        "return x + (x := 1)",
        "out_1 = x\nx = 1\nout = out_1 + x\nreturn out",
    ),
    "an assertion keeps its message": (
        "assert x < n, f(x)\nreturn x",
        "test_1 = x < n\nassert test_1, f(x)\nreturn x",
    ),
    "an f-string": ("return f'{x + 1:>{n}} {x!r}'", 'out_1 = x + 1\nout = f"{out_1:>{n}} {x!r}"\nreturn out'),
    "an effect": ("print(x + 1)\nreturn x", "print_1 = x + 1\nprint(print_1)\nreturn x"),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    before, after = PAIRS[name]
    if not before.startswith("y =") and "return" not in before:
        before += "\nreturn y"
    if "return" not in before:
        before += "\nreturn y"
    text = "def f(x, n):\n" + "".join(f"    {line}\n" for line in before.split("\n"))
    got = body_after(to_anf, text).split("\n", 1)[1]
    assert got == "".join(f"    {line}\n" if line else "\n" for line in after.split("\n"))


@pytest.mark.parametrize("seed", range(100))
def test_random_jumps(seed: int) -> None:
    rng = random.Random(seed)
    calls: list[tuple[Any, ...]] = [
        ([], [rng.random() < odds for _ in range(40)]) for odds in (0.2, 0.5, 0.8)
    ]
    assert find_violations(assert_agree(random_function(1000 + seed), calls)) == ()


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # of Python, about the random text: `4[0]`
def test_random_assignments(seed: int) -> None:
    assert find_violations(assert_agree(random_assignments(1000 + seed), [([], [1, 2, 3])])) == ()


def test_statements_keep_their_lines() -> None:
    program = assert_agree(
        """
def f(x):
    y = (x +
         x * x)
    while x < 9 and y:
        x += y ** 2
    return x if y else -x
""",
        [(1,), (0,)],
    )
    lines = [s.lineno for s in program.tree.body]
    assert lines == [3, 3, 5, 7, 7]


def test_nested_functions() -> None:
    program = assert_agree(
        """
def f(x):
    fs = []
    for i in range(3):
        def g(y, n=i * 2):
            if y > n:
                return lambda z: z + y + n + i
            for k in range(n):
                if k > y:
                    return lambda z, k=k: k * z
            raise ValueError(y)
        fs.append(g)
    return fs[0](x)(1), fs[1](x)(2), fs[2](x)(x)
""",
        [(1,), (3,), (-1,), (9,)],
    )
    assert find_violations(program) == ()
