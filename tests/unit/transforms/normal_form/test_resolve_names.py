from __future__ import annotations

from collections import Counter

import gast
import pytest

from s2sad.transforms.errors import UnsupportedSyntaxError
from s2sad.transforms.normal_form.resolve_names import resolve_names
from s2sad.transforms.trees.program import Program
from tests.support.stages import assert_agree, body_after, executable, read

PAIRS = {
    "annotations go": (
        """
def f(x: float, y: "Array" = 2) -> float:
    return x + y
""",
        """
def f(x, y=2):
    return x + y
""",
    ),
    "closures keep their variable, shadows get a name": (
        """
def f(x):
    def g(y):
        x = y + np.pi
        return x
    def h(y):
        np = x
        return np + y
    return g(x) + h(x)
""",
        """
def f(x):
    def g(y):
        x_2 = y + np.pi
        return x_2

    def h(y_2):
        np_2 = x
        return np_2 + y_2
    return g(x) + h(x)
""",
    ),
    "keywords of known functions follow": (
        """
def f(x):
    g = lambda x, y=x: x - y
    return g(y=1, x=2)
""",
        """
def f(x):
    g = lambda x_2, y=x: x_2 - y
    return g(y=1, x_2=2)
""",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    before, after = PAIRS[name]
    assert body_after(resolve_names, before).strip() == after.strip()


def variables(program: Program) -> Counter[tuple[str, str]]:
    """How often each name is bound, by the function that binds it."""
    found: Counter[tuple[str, str]] = Counter()

    def visit(node: object, owner: str) -> None:
        for child in gast.iter_child_nodes(node):
            inner = owner
            if isinstance(child, (gast.FunctionDef, gast.Lambda)):
                inner = f"{owner}.{getattr(child, 'name', 'lambda')}{child.lineno}.{child.col_offset}"
            if isinstance(child, gast.Name) and not isinstance(child.ctx, gast.Load):
                found[child.id, owner] = 1
            visit(child, inner)

    visit(program.tree, "f")
    return found


def test_no_two_variables_share_a_name() -> None:
    program = assert_agree(
        """
def f(x):
    def g(x, n=1):
        def g(x, n=n):
            y = x * n
            return y
        y = g(x) + (lambda y: y + n)(x)
        return y
    def h(g, y=(n := 4)):
        x = g(y)
        return (lambda z=x: (x := z) + n + x)()
    y = g(x)
    return y, h(g), h(lambda x: x * y), n
""",
        [(2,), (5,)],
    )
    names = Counter(name for name, _ in variables(program))
    assert {name for name, count in names.items() if count > 1} == set()
    assert set(names) <= program.locals


def test_globals_keep_their_name() -> None:
    function, program = read(
        """
def f(x):
    g = lambda abs: abs + 1
    return g(abs(x)) + K
""",
        K=3,
    )
    after = resolve_names(program)
    assert "abs" not in after.locals
    assert executable(after)(-2) == function(-2) == 6


def test_free_names_are_taken() -> None:
    program = resolve_names(read("def f(x):\n    return x + y_1 + y\n")[1])
    assert program.names.temporary("y") == "y_2"
    assert program.names.fresh("lambda") != "lambda"
    assert program.names.fresh("list") != "list"


def test_a_keyword_that_cannot_follow_is_refused() -> None:
    program = read("""
def f(x, flag):
    def g(x):
        return x * 2
    h = g if flag else g
    return h(x=x)
""")[1]
    with pytest.raises(UnsupportedSyntaxError, match="by name"):
        resolve_names(program)
