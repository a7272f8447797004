"""Folding: what is left out changes neither value nor type, and what may raise is left alone."""
from __future__ import annotations

import gast
import numpy as np
import pytest

from s2sad.transforms.simplification.fold_constants import fold_constants
from tests.support.before_after import Node, check, parse, text_of
from tests.support.generated_facts import generated_facts

X = np.array([0.5, -1.5, 2.5])


def is_adjoint(node: Node) -> bool:
    return isinstance(node, gast.Name) and node.id.startswith("d")


ADJOINTS = generated_facts(is_float=is_adjoint, is_number=is_adjoint)


def fold(text: str) -> str:
    """The expression folded, names that start with `d` being float adjoints."""
    tree = parse(f"def f():\n    return g({text})\n")
    folded = text_of(fold_constants(tree, ADJOINTS))
    return folded.removeprefix("def f():\n    return g(").removesuffix(")\n")


@pytest.mark.parametrize(("before", "after"), [
    ("1.0 * d", "d"), ("d * 1.0", "d"), ("d / 1.0", "d"), ("1 * d", "d"), ("d ** 1", "d"), ("d ** 1.0", "d"),
    ("d - 0", "d"), ("d - 0.0", "d"), ("x - 0", "x - 0"), ("d + 0.0", "d + 0.0"),
    ("x * 1.0", "x * 1.0"), ("1 * x", "1 * x"), ("x ** 1", "x ** 1"), ("1.0 * (x * d)", "x * d"),
    ("-1.0 * d", "-d"), ("d * -1", "-d"), ("d / -1.0", "-d"), ("-d * -d2", "d * d2"), ("-d * -x", "-d * -x"),
    ("0.0 + d", "0.0 + d"), ("d - -0.0", "d + 0.0"), ("0 - d", "0 - d"), ("0.0 + x", "0.0 + x"),
    ("x - 0.0", "x - 0.0"),
    ("2 - 1", "1"), ("2.0 * 3.0", "6.0"), ("1 - 3", "-2"), ("1 / 2", "0.5"), ("1 / 3", "1 / 3"),
    ("0.1 + 0.2", "0.1 + 0.2"),
    ("2 ** 3", "8"), ("10 ** 20", "10 ** 20"), ("2 ** -1", "2 ** -1"), ("(-2) ** 2", "4"), ("7 // 2", "3"),
    ("1 / 0", "1 / 0"), ("1 % 0", "1 % 0"), ("1e+308 * 10.0", "1e+308 * 10.0"), ("2 - True", "1"),
    ("True + True", "True + True"),
    ("'a' + 'b'", '"a" + "b"'), ("x ** (2 - 1)", "x ** 1"), ("d * x ** (3 - 1)", "d * x ** 2"),
    ("--d", "d"), ("--x", "--x"), ("x * --y", "x * y"), ("-(-2)", "2"),
    ("-(d * x / y)", "-d * x / y"), ("-(x * (d + y))", "-(x * (d + y))"), ("-(-d * x)", "d * x"),
    ("-(2.0 * x)", "-2.0 * x"), ("-(x * y)", "-(x * y)"), ("-(-x * d)", "-(-x * d)"),
    ("-(d @ y)", "-(d @ y)"), ("-(d + y)", "-(d + y)"), ("a - -(d * y)", "a + d * y"),
    ("d ** (2 - (2 != 0))", "d"),
    ("1.0 / x.size * 2 * d", "1.0 / x.size * 2 * d"),
    ("a + -d", "a - d"), ("a - -d", "a + d"), ("a + -x", "a + -x"), ("a + -2", "a - 2"),
    ("-a * b", "-a * b"), ("-a + b", "-a + b"),
    ("a + -d * y / z", "a - d * y / z"), ("a - -d * y", "a + d * y"), ("a + -x * y", "a + -x * y"),
    ("a + -d @ y", "a - d @ y"),
    ("not True", "False"), ("not None", "True"), ("None is None", "True"), ("None is not None", "False"),
    ("1 is None", "False"), ("x is None", "x is None"), ("not (x is None)", "x is not None"),
    ("not (x in y)", "x not in y"), ("not x < y", "not x < y"), ("2 == 2", "True"), ("2 < 1", "False"),
    ("'a' != 'b'", "True"), ("1 < 'a'", '1 < "a"'), ("1000 is 1000", "1000 is 1000"),
    ("x if True else y", "x"), ("x if None is None else y", "x"),
    ("(a, b)[0]", "a"), ("(a, b)[-1]", "b"), ("(a, effect(b))[0]", "(a, effect(b))[0]"),
    ("(a, b)[2]", "(a, b)[2]"),
    ("(a, *b)[0]", "(a, *b)[0]"), ("(a, b)[True]", "(a, b)[True]"), ("x[()]", "x[()]"),
    ("f'{2 - 1}'", "f'{1}'"), ("[1.0 * d for d in x]", "[d for d in x]"), ("lambda: 2 * 3", "lambda: 6"),
])
def test_expressions(before: str, after: str) -> None:
    if before.startswith("f'"):
        after = after.replace("'", '"')
    assert fold(before) == after


@pytest.mark.parametrize(("before", "after"), [
    ("-d + b", "b - d"), ("-d * x / y + b * c", "b * c - d * x / y"), ("-d + -d2", "-d - d2"),
    ("-x + b", "-x + b"), ("-d + effect(b)", "-d + effect(b)"), ("-d - b", "-d - b"),
    ("(-np.sum(d, axis=0, keepdims=True))[0] + b", "b - np.sum(d, axis=0)"),
    ("-np.sum(d, axis=1, keepdims=True)[0]", "-np.sum(d, axis=1, keepdims=True)[0]"),
])
def test_derivatives(before: str, after: str) -> None:
    def is_derivative(node: Node) -> bool:
        return any(isinstance(n, gast.Name) and n.id.startswith("d") for n in gast.walk(node))

    tree = parse(f"def f():\n    return {before}\n")
    facts = generated_facts(is_float=is_derivative, is_derivative=lambda name: name.startswith("d"))
    folded = fold_constants(tree, facts)
    assert text_of(folded) == f"def f():\n    return {after}\n"


def test_folded_literals_are_exact() -> None:
    for text in ("2 - 1", "2.0 * 3.0", "1 / 2", "1 - 3", "(-2) ** 2", "7 // 2", "-7 // 2", "-7 % 3",
                 "0.5 - 0.5", "-0.0 * 1.0"):
        folded = eval(fold(text))
        assert repr(folded) == repr(eval(text))


def test_branches_on_literals() -> None:
    check(lambda t: fold_constants(t, generated_facts()), """
        def f(x):
            if None is None:
                x = x + 1
            else:
                x = 0.0
            while not True:
                x = 0.0
            if not x:
                if 1 == 2:
                    x = 3.0
            '# comment'
            return x
    """, """
        def f(x):
            x = x + 1
            if not x:
                pass
            '# comment'
            return x
    """, (2.0,), (-1.0,))


def test_arrays_that_somebody_keeps_stay_new_objects() -> None:
    def is_number(node: Node) -> bool:
        return isinstance(node, gast.Name) and node.id.startswith("n")

    text = """
        def f(x, n):
            dx = 1.0 * x
            dx[0] = 5.0
            dw = x[1:] * 1.0
            dv = (1.0 * x) * dw[0]
            m = 1.0 * n
            items = []
            items.append(1.0 * x)
            return dx, dw, dv, m, items
    """
    after = """
        def f(x, n):
            dx = 1.0 * x
            dx[0] = 5.0
            dw = x[1:] * 1.0
            dv = x * dw[0]
            m = n
            items = []
            items.append(1.0 * x)
            return dx, dw, dv, m, items
    """
    facts = generated_facts(is_float=lambda node: True, is_number=is_number)
    check(lambda t: fold_constants(t, facts), text, after, (X, 2.0))


def test_nested_functions_are_folded_too() -> None:
    check(lambda t: fold_constants(t, ADJOINTS), """
        def f(x):
            def f_bprop(dout):
                dx = 1.0 * dout
                return dx * (2 * x ** (2 - 1))
            return f_bprop
    """, """
        def f(x):

            def f_bprop(dout):
                dx = dout
                return dx * (2 * x ** 1)
            return f_bprop
    """, (1.5,))
