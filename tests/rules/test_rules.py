"""Every rule is checked against its own functions; what templates use must have rules of its own."""
from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections import ChainMap
from dataclasses import replace
from functools import reduce
from types import FunctionType, ModuleType
from typing import Any

import gast
import numpy as np
import pytest

from s2sad.primitives.record import Rule, find_rule, is_nondifferentiable, rules
from s2sad.primitives.template import Template
from s2sad.rules.special import bessel_i, polygamma, sinc_derivative
from s2sad.testing.check_rules import check_rule

# Those of the package: other tests declare some of their own.
RULES = [r for r in rules() if r.template.function.__module__.startswith("s2sad.")]
STRUCTURAL = (list, tuple, zip, enumerate, reversed)  # known to the transforms
FAMILIES = {(r.template.function.__module__, r.structure): r for r in reversed(RULES)}
FIRST = {id(r) for r in FAMILIES.values()}  # of each family and structure
EACH = [
    pytest.param(
        r,
        id=f"{r.template.function.__module__.rpartition('.')[2]}-{r.name}",
        marks=[pytest.mark.quick] * (id(r) in FIRST),
    )
    for r in RULES
]


@pytest.mark.parametrize("rule", EACH)
def test_rule_fits_its_functions(rule: Rule) -> None:
    check_rule(rule)


# ---------------------------------------------------------------- completeness

def templates(rule: Rule) -> list[Template]:
    return [t for t in (rule.template, rule.jvp_template, rule.reals, *rule.ranks.values()) if t is not None]


def called(template: Template) -> dict[str, Any]:
    """The objects that a template calls by a global name or a path of attributes, by that name."""
    found = {}
    for node in (n for s in template.body for n in gast.walk(s) if isinstance(n, gast.Call)):
        path, target = [], node.func
        while isinstance(target, gast.Attribute):
            path.append(target.attr)
            target = target.value
        known = ChainMap(dict(template.globals), vars(builtins))
        if isinstance(target, gast.Name) and target.id in known:
            name = ".".join([target.id, *reversed(path)])
            found[name] = reduce(getattr, reversed(path), known[target.id])
    return found


@pytest.mark.parametrize("rule", EACH)
def test_templates_call_what_can_be_differentiated(rule: Rule) -> None:
    for template in templates(rule):
        for name, function in called(template).items():
            readable = isinstance(function, FunctionType) and not function.__module__.startswith("numpy")
            known = find_rule(function) is not None or is_nondifferentiable(function)
            allowed = known or readable or function in STRUCTURAL
            assert allowed, f"{template.function.__qualname__} calls {name}, which has no rule"


@pytest.mark.parametrize("rule", EACH)
def test_templates_are_assignments_branches_and_returns(rule: Rule) -> None:
    allowed = (gast.Assign, gast.If, gast.Return)
    nested = (gast.comprehension, gast.Lambda, gast.IfExp, gast.NamedExpr)
    for template in templates(rule):
        for node in (n for s in template.body for n in gast.walk(s)):
            assert not isinstance(node, gast.stmt) or isinstance(node, allowed), type(node)
            assert not isinstance(node, nested), type(node)


def test_the_check_of_what_templates_call_can_fail() -> None:
    def template(x, out, dout):  # type: ignore[no-untyped-def]
        return (dout * np.histogram2d(x, out),)
    (function,) = called(Template(template)).values()
    assert find_rule(function) is None and not is_nondifferentiable(function)


@pytest.mark.parametrize("module", [np, math, cmath, operator], ids=lambda m: m.__name__)
def test_every_function_of_numbers_is_known(module: ModuleType) -> None:
    structural = {"attrgetter", "itemgetter", "methodcaller", "call", "concat", "iconcat", "delitem",
                  "setitem",
                  "getitem"}
    unknown = [name for name, f in vars(module).items()
               if (isinstance(f, np.ufunc) if module is np else callable(f)) and not name.startswith("_")
               and find_rule(f) is None and not is_nondifferentiable(f) and name not in structural]
    assert unknown == []


def test_the_gradient_of_each_template_is_a_literal_tuple() -> None:
    for rule in RULES:
        for template in (rule.template, *rule.ranks.values()):
            if template.vararg is None and rule.template.vararg is not None:  # for a number of operands
                assert template.gradients == len(template.parameters)
            else:
                assert template.gradients == rule.template.gradients


# ---------------------------------------------------------------- kinks, limits, special values

def gradients(f: Any, *args: Any, dout: Any = 1.0) -> Any:
    rule = find_rule(f)
    assert rule is not None
    return rule.template.function(*args, out=f(*args), dout=dout)


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_equal_arguments_share_evenly(f: Any) -> None:
    assert [float(g) for g in gradients(f, 1.5, 1.5)] == [0.5, 0.5]
    assert [float(g) for g in gradients(f, np.inf, np.inf)] == [0.5, 0.5]


@pytest.mark.parametrize("f", [np.fmax, np.fmin])
def test_what_passes_over_nan_has_the_gradient_of_the_other(f: Any) -> None:
    assert [float(g) for g in gradients(f, np.nan, 1.5)] == [0.0, 1.0]


def test_builtin_extremes_share_evenly() -> None:
    assert gradients(max, 2.0, 2.0, 1.0) == ((0.5, 0.5, 0.0),)
    assert gradients(min, [2.0, 2.0, 3.0]) == (([0.5, 0.5, 0.0],),)
    assert gradients(max, 2, 1.5) == ((1.0, 0.0),)


def test_clip_is_the_minimum_of_a_maximum() -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    dx, dlow, dhigh, _, _ = gradients(np.clip, x, 0.0, 1.0, dout=np.ones(5))
    assert dx.tolist() == [0, 0.5, 1, 0.5, 0]
    assert dlow.tolist() == [1, 0.5, 0, 0, 0]
    assert dhigh.tolist() == [0, 0, 0, 0.5, 1]
    assert [float(g) for g in gradients(np.clip, 0.0, 1.0, 1.0)[:3]] == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("f", [np.abs, np.fabs, abs, math.fabs])
def test_a_magnitude_has_no_slope_at_zero(f: Any) -> None:
    assert gradients(f, 0.0) == (0.0,)
    assert gradients(f, np.inf) == (1.0,)


def test_the_distance_to_the_origin_has_no_slope_there() -> None:
    assert gradients(np.hypot, 0.0, 0.0) == (0.0, 0.0)
    assert gradients(math.hypot, 0.0, 0.0) == ((0.0, 0.0),)
    assert gradients(math.dist, [1.0], [1.0]) == ([0.0], [0.0])


@pytest.mark.parametrize("zero", [0.0, np.float64(0.0), np.zeros(2)])
def test_powers_of_zero(zero: Any) -> None:
    for exponent, slope in [(0, 0), (0.0, 0), (1, 1), (2, 0), (3.0, 0)]:
        dx, dy = gradients(operator.pow, zero, exponent)
        np.testing.assert_array_equal(dx, zero + slope)
        np.testing.assert_array_equal(dy, zero)


def test_operators_on_floats_stay_without_numpy() -> None:
    for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.neg):
        args = (1.5,) if f is operator.neg else (1.5, 0.7)
        assert all(type(g) is float for g in gradients(f, *args))
    assert type(gradients(operator.pow, 1.5, 2)[0]) is float


def test_a_branch_not_taken_gets_zero_whatever_flows_back() -> None:
    dout = np.array([np.inf, np.nan])
    _, dx, dy = gradients(np.where, np.array([True, False]), np.zeros(2), np.ones(2), dout=dout)
    assert dx.tolist() == [np.inf, 0] and np.isnan(dy[1]) and dy[0] == 0


def test_special_functions_against_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    x = np.linspace(-3.3, 40, 60)
    for order in range(4):
        ours = [polygamma(order, v) for v in x[x > 0]]
        np.testing.assert_allclose(ours, special.polygamma(order, x[x > 0]), rtol=1e-12)
    np.testing.assert_allclose([polygamma(0, v) for v in x], special.digamma(x), rtol=1e-11)
    for order in range(3):
        np.testing.assert_allclose(bessel_i(x, order), special.iv(order, x), rtol=1e-12)
    np.testing.assert_allclose(bessel_i(np.array([300.0, -700.0]), 1), special.iv(1, [300.0, -700.0]),
                               rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_derivatives_of_sinc_at_zero_and_where_its_two_forms_meet(order: int) -> None:
    series = {1: 0.0, 2: -math.pi ** 2 / 3, 3: 0.0, 4: math.pi ** 4 / 5}
    assert sinc_derivative(0.0, order) == pytest.approx(series[order], rel=1e-14)
    below, above = sinc_derivative(np.array([1 - 1e-12, 1.0]), order)
    assert below == pytest.approx(above, rel=1e-8)


def test_the_sign_of_a_complex_number_turns_with_it() -> None:
    z = np.array([3 + 4j])
    (dz,) = gradients(np.sign, z, dout=np.array([1 + 0j]))
    h = 1e-6
    for direction in (1, 1j):
        change = (np.sign(z + h * direction) - np.sign(z - h * direction)) / (2 * h)
        np.testing.assert_allclose((dz * direction).real, change.real, atol=1e-9)


# ---------------------------------------------------------------- the checker

def wrong_derivative(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout * np.sin(x),)


def wrong_shape(x, out, dout):  # type: ignore[no-untyped-def]
    return (np.sum(dout * np.cos(x)),)


def wrong_dtype(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout * np.cos(x) * np.ones(np.shape(x)),)


def right_derivative(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout * np.cos(x),)


@pytest.mark.parametrize("template", [wrong_derivative, wrong_shape, wrong_dtype])
def test_the_check_finds_wrong_rules(template: Any) -> None:
    right = Rule("sin", (np.sin,), None, Template(right_derivative), Template(sin_jvp), domain=(-1.0, 1.0))
    check_rule(right)
    with pytest.raises((AssertionError, ValueError)):
        check_rule(replace(right, template=Template(template)))
    if template is wrong_derivative:
        with pytest.raises(AssertionError):
            check_rule(replace(right, structure="elementwise", template=Template(template),
                               jvp_template=None))


def sin_jvp(x, out, dx):  # type: ignore[no-untyped-def]
    return dx * np.cos(x)


def test_a_rule_without_samples_fails_by_name() -> None:
    rule = find_rule(np.sin)
    assert rule is not None
    with pytest.raises(AssertionError, match="'sin' has neither domain nor samples"):
        check_rule(replace(rule, domain=None))
