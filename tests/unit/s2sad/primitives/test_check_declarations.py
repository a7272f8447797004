"""A rule that would not say what it means is refused when it is declared."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.primitives.check_declarations import check_statements
from s2sad.primitives.record import rules

SEEN: list[Any] = []


def power(x: Any, n: int = 2) -> Any:
    return x**n


def scaled(x: Any, y: Any, *, by: float = 2.0) -> Any:
    return x * y * by


def of_many(*xs: Any) -> Any:
    return sum(xs)


def watched(dout: Any) -> Any:
    SEEN.append(dout)
    return dout


def printing(x, n, out, dout):  # type: ignore[no-untyped-def]
    print(dout)
    return dout * n * x ** (n - 1), None


def appending(x, n, out, dout):  # type: ignore[no-untyped-def]
    dx = dout * n * x ** (n - 1)
    SEEN.append(dx)
    return dx, None


def assigned_to_nothing(x, n, out, dout):  # type: ignore[no-untyped-def]
    _ = print(dout)
    return dout * n * x ** (n - 1), None


def storing(x, n, out, dout):  # type: ignore[no-untyped-def]
    dx = dout * n * x ** (n - 1)
    dx[0] = 0.0
    return dx, None


def looping(x, n, out, dout):  # type: ignore[no-untyped-def]
    dx = dout
    for _ in range(n):
        dx = dx * x
    return dx, None


def in_a_branch(x, n, out, dout):  # type: ignore[no-untyped-def]
    if n == 2:
        print("square")
        dx = dout * 2 * x
    else:
        dx = dout * n * x ** (n - 1)
    return dx, None


def asserting(x, n, out, dout):  # type: ignore[no-untyped-def]
    assert n > 0
    return dout * n * x ** (n - 1), None


def raising(x, n, out, dout):  # type: ignore[no-untyped-def]
    if n < 0:
        raise ValueError(n)
    return dout * n * x ** (n - 1), None


def trying(x, n, out, dout):  # type: ignore[no-untyped-def]
    try:
        dx = dout * n * x ** (n - 1)
    except ValueError:
        dx = None
    return dx, None


def rebinding(x, n, out, dout):  # type: ignore[no-untyped-def]
    dout = watched(dout)
    return dout * n * x ** (n - 1), None


def in_place(x, n, out, dout):  # type: ignore[no-untyped-def]
    dx = dout * n
    dx *= x ** (n - 1)
    return dx, None


STATEMENTS: dict[Callable[..., Any], str] = {
    printing: "print(dout)",
    appending: "SEEN.append(dx)",
    assigned_to_nothing: "_ = print(dout)",
    storing: "dx[0] = 0.0",
    looping: "for _ in range(n):",
    in_a_branch: 'print("square")',
    asserting: "assert n > 0",
    raising: "raise ValueError(n)",
    trying: "try:",
    rebinding: "dout = watched(dout)",
    in_place: "dx *= x ** (n - 1)",
}


@pytest.mark.parametrize(("rule", "line"), STATEMENTS.items(), ids=[f.__name__ for f in STATEMENTS])
def test_statements_that_would_not_run_are_refused(rule: Any, line: str) -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match=f"in the rule {rule.__name__}") as caught:
        s2sad.bprop(power)(rule)
    where = caught.value.where
    assert where is not None and where.filename == __file__
    assert where.text.strip() == line
    assert s2sad.grad(power)(3.0) == 6.0  # nothing was declared


def test_what_the_refusal_says_to_do_works() -> None:
    def cube(x: Any) -> Any:
        return x**3

    @s2sad.bprop(cube, "elementwise")
    def cube_rule(x, out, dout):  # type: ignore[no-untyped-def]
        seen = watched(dout)
        return (seen * 3 * x**2,)

    SEEN.clear()
    assert s2sad.grad(lambda x: 2.0 * cube(x))(3.0) == 54.0
    assert SEEN == [2.0]


def test_statements_of_forward_rules_are_refused() -> None:
    def cube(x: Any) -> Any:
        return x**3

    @s2sad.bprop(cube)
    def cube_rule(x, out, dout):  # type: ignore[no-untyped-def]
        return (dout * 3 * x**2,)

    def forward(x, out, dx):  # type: ignore[no-untyped-def]
        print(dx)
        return dx * 3 * x**2

    with pytest.raises(s2sad.UnsupportedSyntaxError, match=r"in the rule .*forward"):
        cube_rule.jvp(forward)


@pytest.mark.parametrize("rule", rules(), ids=lambda r: r.name)
def test_own_rules_have_no_such_statements(rule: Any) -> None:
    templates = [rule.template, rule.jvp_template, rule.uniform, rule.spread, rule.reals]
    templates += [*rule.ranks.values(), *rule.rows.values()]
    for template in templates:
        if template is not None:
            check_statements(template)


# ---------------------------------------------------------------- parameters


def missing(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout,)


def extra(x, n, m, out, dout):  # type: ignore[no-untyped-def]
    return dout, None, None


def misspelled(x, m, out, dout):  # type: ignore[no-untyped-def]
    return dout, None


def without_out(x, n, dout):  # type: ignore[no-untyped-def]
    return dout, None


def without_dout(x, n, out):  # type: ignore[no-untyped-def]
    return out, None


def other_cotangent(x, n, out, grad):  # type: ignore[no-untyped-def]
    return grad, None


def too_many_gradients(x, n, out, dout):  # type: ignore[no-untyped-def]
    return dout, None, dout


def no_tuple(x, n, out, dout):  # type: ignore[no-untyped-def]
    return dout


PARAMETERS = [
    (missing, "has no parameter `n`"),
    (extra, "has a parameter `m`"),
    (misspelled, "has no parameter `n`"),
    (without_out, "then `out, dout`"),
    (without_dout, "then `out, dout`"),
    (other_cotangent, "`out, dout`"),
    (too_many_gradients, "3 gradients for 2 parameters"),
    (no_tuple, "returns a literal tuple"),
    (lambda x, n, out, dout: (dout, None), "written as a `def`"),
    (operator.neg, "written as a `def`"),
]


@pytest.mark.parametrize(("rule", "message"), PARAMETERS, ids=[m for _, m in PARAMETERS])
def test_parameters_that_do_not_fit(rule: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        s2sad.bprop(power)(rule)


def test_keywords_and_stars_fit_by_name() -> None:
    def good(x, y, *, by=2.0, out, dout):  # type: ignore[no-untyped-def]
        return dout * y * by, dout * x * by

    def renamed(x, y, *, factor=2.0, out, dout):  # type: ignore[no-untyped-def]
        return dout * y, dout * x

    def rest(*xs, out, dout):  # type: ignore[no-untyped-def]
        return (tuple(dout for _ in xs),)

    def no_rest(x, out, dout):  # type: ignore[no-untyped-def]
        return (dout,)

    with pytest.raises(TypeError, match="has no parameter `by`"):
        s2sad.bprop(scaled)(renamed)
    with pytest.raises(TypeError, match="has a parameter `x`"):
        s2sad.bprop(of_many)(no_rest)
    s2sad.bprop(scaled)(good)
    s2sad.bprop(of_many)(rest)
    assert s2sad.grad(lambda x: scaled(x, 3.0, by=4.0))(1.0) == 12.0
    assert s2sad.grad(lambda x: of_many(x, x))(1.0) == 2.0


def test_positional_parameters_of_c_functions_have_names_of_their_own() -> None:
    class Callable_:
        pass

    def of_gcd(a, b, c, out, dout):  # type: ignore[no-untyped-def]
        return dout, None, None

    with pytest.raises(TypeError, match="does not fit"):
        s2sad.bprop(math.copysign)(of_gcd)


def test_forward_rules_name_all_tangents() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * y

    @s2sad.bprop(product)
    def product_rule(x, y, out, dout):  # type: ignore[no-untyped-def]
        return dout * y, dout * x

    def half(x, y, out, dx):  # type: ignore[no-untyped-def]
        return dx * y

    def misspelled(x, y, out, dx, dz):  # type: ignore[no-untyped-def]
        return dx * y + dz * x

    def bare(x, y, out, x_tangent, dy):  # type: ignore[no-untyped-def]
        return x_tangent * y + dy * x

    with pytest.raises(TypeError, match="has no tangent `dy`"):
        product_rule.jvp(half)
    with pytest.raises(TypeError, match="dz is no parameter"):
        product_rule.jvp(misspelled)
    with pytest.raises(TypeError, match="x_tangent is no parameter"):
        product_rule.jvp(bare)


def test_the_decorator_without_its_function() -> None:
    with pytest.raises(TypeError, match=r"bprop needs the function"):

        @s2sad.bprop
        def rule(x, out, dout):  # type: ignore[no-untyped-def]
            return (dout,)

    with pytest.raises(TypeError, match=r"nondifferentiable takes a list"):
        s2sad.nondifferentiable(np.sin)
    with pytest.raises(ValueError, match="unknown structure"):
        s2sad.bprop(power, "element-wise")


def test_a_rule_whose_text_is_not_known() -> None:
    namespace: dict[str, Any] = {}
    text = "def rule(x, n, out, dout):\n    return dout, None\n"
    exec(compile(text, "<made>", "exec"), namespace)
    with pytest.raises(s2sad.NoSourceError, match="source of the rule"):
        s2sad.bprop(power)(namespace["rule"])


def test_returns_of_one_form() -> None:
    def chosen(x: float, n: int) -> float:
        return x * n

    with pytest.raises(TypeError, match="chosen_ returns results in different numbers"):

        @s2sad.bprop(chosen)
        def chosen_(x: Any, n: Any, out: Any, dout: Any) -> Any:
            if n is None:
                return (dout,)
            return dout * n, None


# ---------------------------------------------------------------- one gradient without a tuple


def arithmetic(x, out, dout):  # type: ignore[no-untyped-def]
    return 3.0 * x**2 * dout


def named(x, out, dout):  # type: ignore[no-untyped-def]
    slope = np.multiply(3.0, x**2)
    dx = slope * dout
    return dx  # noqa: RET504


def branching(x, out, dout):  # type: ignore[no-untyped-def]
    if np.ndim(x) == 0:
        return dout * 3.0 * x * x
    return np.multiply(dout, 3.0 * x * x)


@pytest.mark.parametrize("words", [(), ("elementwise",)])
@pytest.mark.parametrize("rule", [arithmetic, named, branching])
def test_a_rule_of_one_argument_may_return_its_gradient_alone(rule: Any, words: tuple[str, ...]) -> None:
    def cube(x: Any) -> Any:
        return x**3

    s2sad.bprop(cube, *words)(rule)
    for x in (2.0, np.array([2.0]), np.array([2.0, 0.5])):
        np.testing.assert_allclose(s2sad.vjp(cube, x)[1](np.ones_like(x)[()])[0], 3 * x**2)
        np.testing.assert_allclose(s2sad.jvp(cube, (x,), (np.ones_like(x)[()],))[1], 3 * x**2)
        s2sad.check_rule(cube, x)


def pair(x: Any, dout: Any) -> Any:
    return (dout * x,)


def of_a_call(x, out, dout):  # type: ignore[no-untyped-def]
    return pair(x, dout)


def of_a_named_tuple(x, out, dout):  # type: ignore[no-untyped-def]
    dx = (dout * x,)
    return dx  # noqa: RET504


def of_a_list(x, out, dout):  # type: ignore[no-untyped-def]
    return [dout * x]


def of_all(*xs, out, dout):  # type: ignore[no-untyped-def]
    return dout * xs[0]


@pytest.mark.parametrize("rule", [of_a_call, of_a_named_tuple, of_a_list, of_all])
def test_what_may_be_a_tuple_of_gradients_is_refused(rule: Any) -> None:
    def square(*xs: Any) -> Any:
        return xs[0] * xs[0]

    with pytest.raises(TypeError, match=r"a rule returns a literal tuple, .*: `return \(dx,\)`"):
        s2sad.bprop(square if rule is of_all else lambda x: x * x)(rule)
