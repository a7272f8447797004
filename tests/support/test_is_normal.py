from __future__ import annotations

import pytest

from s2sad.transforms.trees.nodes import assign, load
from tests.support.is_normal import find_violations, is_normal
from tests.support.stages import read

NORMAL = """
def f(x, n):
    y = x * n
    a, b = y
    x[0, 1:n] = a
    x[b] += -1
    y -= np.pi
    for i, z in zip(x, y):
        if z:
            pass
        else:
            s = f"{z}"
            print(s)
        if i:
            break
    for i in range(0, n):
        assert i, g(x + 1)
    while True:
        c = x.sum(axis=0)
        if not c:
            break
        raise ValueError(n)

    def h(x_2, k=n):
        return k
    d = {1: x, "k": n}
    e = d.T
    return np.e
"""

ABNORMAL = (
    "y = x + n * 2",
    "y = g(x + 1)",
    "y = x[n + 1]",
    "y = x[0][1]",
    "y = (x, (n, 1))",
    "y = x < n < 3",
    "y = x and n",
    "y = x if n else 1",
    "y = lambda: x",
    "y = (z := x)",
    "y = x.T.T",
    "y = x[1:n + 1]",
    "y = g(*x.y)",
    "y = g(**x.y)",
    "with g(x), g(y): pass",
    "with g(x.y): pass",
    "with g(x) as (y, z): pass",
    "try:\n        y = x\n    except A:\n        pass\n    finally:\n        pass",
    "y = g(k=x + 1)",
    "y = f'{x + 1}'",
    "y = [*x]",
    "y = z = x",
    "a, b = x + n",
    "a, (b, c) = x",
    "a, *b = x",
    "x[0] = n + 1",
    "x.y = n + 1",
    "x += n + 1",
    "x[n + 1] += 1",
    "y: int = 3",
    "x",
    "x + 1",
    "return x",
    "del x",
    "assert x + 1",
    "if x + 1:\n        pass",
    "if x:\n        break_ = [n + 1, [2]]",
    "for i in range(n + 1):\n        pass",
    "for i in x + n:\n        pass",
    "for i, (j, k) in x:\n        pass",
    "for i in zip(x, y, longest=x):\n        pass",
    "for i in x:\n        continue",
    "for i in x:\n        break",
    "for i in x:\n        if i:\n            break\n        pass",
    "for i in x:\n        pass\n    else:\n        pass",
    "while x:\n        pass",
    "while True:\n        if not x + 1:\n            break",
    "def g(*a):\n        return x",
    "def g():\n        return x + 1",
    "def g():\n        pass",
    "def g(k=n + 1):\n        return k",
    "@g\n    def g():\n        return x",
)


def test_the_normal_form_is_accepted() -> None:
    program = read(NORMAL)[1]
    assert find_violations(program) == ()
    assert is_normal(program)


@pytest.mark.parametrize("statement", ABNORMAL)
def test_everything_else_is_found(statement: str) -> None:
    _, program = read(f"def f(x, n):\n    {statement}\n    return x\n")
    assert find_violations(program)
    assert not is_normal(program)


def test_where() -> None:
    violations = find_violations(read("def f(x, n):\n    y = x\n    y = g(x + 1)\n    return y + 1\n")[1])
    assert violations == (
        "line 4: a function must end with `return atom`: Return",
        "line 3: an operand that is not an atom: BinOp",
    )


def test_a_statement_without_a_line() -> None:
    program = read("def f(x):\n    return x\n")[1]
    program.tree.body.insert(0, assign("y", load("x")))
    assert find_violations(program) == ("line ?: a statement without a line: Assign",)
