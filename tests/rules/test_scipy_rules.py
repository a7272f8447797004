"""SciPy's rules: each fits its functions, alone and within programs, in both modes and twice; how they are
found.
"""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import MethodType
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.sparse.linalg
import scipy.special
import scipy.stats

import s2sad
from s2sad.primitives.record import Rule, find_rule, is_nondifferentiable, rules
from s2sad.testing.check_rules import check_rule, samples_of
from s2sad.transforms.errors import MissingRuleError, NonDifferentiableError
from tests.rules.test_rules import called, templates
from tests.support.build import build
from tests.support.compare import check_program, check_second, flatten, is_floating, is_sampled

RULES = [r for r in rules() if r.template.function.__module__.startswith("s2sad.rules.scipy_")]


def name_of(rule: Rule) -> str:
    f = rule.functions[0]
    owner = f"{f.__self__.name}." if isinstance(f, MethodType) and hasattr(f.__self__, "name") else ""
    return f"{rule.template.function.__module__.rpartition('.')[2]}-{owner}{rule.name}"


each_rule = pytest.mark.parametrize("rule", RULES, ids=map(name_of, RULES))


@each_rule
def test_rule_fits_its_functions(rule: Rule) -> None:
    check_rule(rule)


@each_rule
def test_templates_call_what_can_be_differentiated(rule: Rule) -> None:
    for template in templates(rule):
        for name, function in called(template).items():
            ours = getattr(function, "__module__", "").startswith("s2sad.")
            known = find_rule(function) is not None or is_nondifferentiable(function)
            assert known or ours, f"{template.function.__qualname__} calls {name}, which has no rule"


def is_sample(value: Any) -> bool:
    return is_floating(value) or (isinstance(value, (tuple, list)) and any(map(is_sample, value)))


ONCE = {"eigvals"}  # its gradient needs what has no derivative
AS_ARRAYS = {"huber"}  # second derivatives of np.clip and np.maximum are arrays, for numbers too


ELSEWHERE = ("scipy_sparse", "made_", "grid_values", "line_values")  # programs with their objects


IN_PROGRAMS = [r for r in RULES if not any(n in name_of(r) for n in ELSEWHERE)]


@pytest.mark.parametrize("rule", IN_PROGRAMS, ids=name_of)
def test_rule_in_a_program(rule: Rule) -> None:
    args, keywords = samples_of(rule, rule.functions[0])[2 if rule.name in AS_ARRAYS else 0]
    names = [f"a{k}" for k in range(len(args))]
    passed = ", ".join([*names, *(f"{k}={k}" for k in keywords)])
    parts = "out" if rule.parts is None else ", ".join(f"out[{part!r}]" for part in rule.parts)
    call = f"function({passed})" if rule.defined is None else f"defined(function({passed}))"
    text = f"def call({', '.join(names)}):\n    out = {call}\n    return {parts}\n"
    f = build(text, function=rule.functions[0], defined=rule.defined, **keywords)
    parameters = (*rule.template.parameters[:rule.template.gradients], *(len(args) * [rule.template.vararg]))
    count = len(args) if rule.template.vararg else rule.template.gradients
    wrt = tuple(k for k, (p, a) in enumerate(zip(parameters[:count], args, strict=False))
                if p not in rule.refused and is_sample(a))
    check_program(f, args, wrt)
    if not any(map(np.iscomplexobj, flatten(f(*args)))) and rule.name not in ONCE \
            and is_sampled(rule.template.function):
        check_second(f, args, wrt)


# ---------------------------------------------------------------- how rules are found

def test_scipy_is_not_imported_but_its_rules_are_found_when_it_is(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    code = ("import sys, s2sad, numpy as np\nfrom s2sad.primitives.record import rules, find_rule\n"
            "def f(x):\n    return x * np.sin(x)\nassert s2sad.grad(f)(1.0) and rules()\n"
            "loaded = [m for m in sys.modules if m.split('.')[0] == 'scipy' or 'rules.scipy_' in m]\n"
            "assert not loaded, loaded\n"
            "import scipy.special\nassert find_rule(scipy.special.gamma) is not None\n"
            "assert 's2sad.rules.scipy_special_bessel' in sys.modules\n"
            "assert 'scipy.stats' not in sys.modules and 's2sad.rules.scipy_stats' not in sys.modules\n"
            "import scipy.stats\nassert find_rule(scipy.stats.norm.logpdf) is not None\n")
    script.write_text(code)
    root = str(Path(s2sad.__file__).parents[1])
    subprocess.run([sys.executable, str(script)], check=True, env={**os.environ, "PYTHONPATH": root})


def test_rules_are_found_by_threads_that_race_to_import_them() -> None:
    code = ("import threading, scipy.special\nfrom s2sad.primitives.record import find_rule\nfound = []\n"
            "def look():\n    found.append(find_rule(scipy.special.owens_t))\n"
            "ts = [threading.Thread(target=look) for _ in range(8)]\n"
            "[t.start() for t in ts]; [t.join() for t in ts]\nassert len(found) == 8 and None not in found\n")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_distributions_of_one_class_have_rules_of_their_own() -> None:
    normal, student = find_rule(scipy.stats.norm.logpdf), find_rule(scipy.stats.t.logpdf)
    assert normal is not None and student is not None and normal is not student
    assert find_rule(scipy.stats.wald.logpdf) is None


def call_it(f: Any, x: float) -> Any:
    return f(x)


def test_methods_that_only_the_run_knows_have_the_rules_of_their_objects() -> None:
    def f(x: float) -> Any:
        return call_it(scipy.stats.norm.logpdf, x) + call_it(scipy.special.gammaln, x)
    assert s2sad.grad(f)(0.7) == pytest.approx(-0.7 + scipy.special.digamma(0.7), rel=1e-14)


@pytest.mark.parametrize("mode", [s2sad.grad, s2sad.jacfwd])
def test_parameters_without_a_known_derivative_are_refused(mode: Any) -> None:
    def f(v: float, x: float) -> Any:
        return scipy.special.jv(v, x)
    assert mode(f, 1)(1.5, 2.0) == pytest.approx(scipy.special.jvp(1.5, 2.0), rel=1e-12)
    with pytest.raises(MissingRuleError, match="derivative with respect to `v`"):
        mode(f, 0)(1.5, 2.0)


def test_unknown_distributions_are_refused() -> None:
    def unknown(x: float) -> Any:
        return scipy.stats.wald.logpdf(x)

    def frozen(x: float) -> Any:
        return scipy.stats.wald(x).logpdf(0.3)
    for f in (unknown, frozen):
        with pytest.raises((MissingRuleError, NonDifferentiableError, s2sad.UnsupportedSyntaxError)):
            s2sad.grad(f)(0.3)


@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"])
def test_methods_of_a_distribution_in_programs(method: str) -> None:
    function = getattr(scipy.stats.norm, method)
    direct = build(f"def f(x):\n    return norm.{method}(x, 0.1) * x\n", norm=scipy.stats.norm)
    expected = find_rule(function).template.function(0.3, 0.1, out=function(0.3, 0.1), dout=0.3)[0]
    assert s2sad.grad(direct)(0.3) == pytest.approx(expected + function(0.3, 0.1), rel=1e-12)


# ---------------------------------------------------------------- edges

def gradients(f: Any, *args: Any, dout: Any = 1.0, **keywords: Any) -> Any:
    rule = find_rule(f)
    assert rule is not None
    with np.errstate(divide="ignore"):  # infinite slopes, which the values asked for do not have
        return rule.template.function(*args, **keywords, out=f(*args, **keywords), dout=dout)


def test_nothing_divides_into_shares() -> None:
    assert gradients(scipy.special.logsumexp, np.full(3, -np.inf))[0].tolist() == [0, 0, 0]
    assert gradients(scipy.special.logsumexp, np.array([0.0, -np.inf]))[0].tolist() == [1, 0]


def test_logarithms_at_zero_times_zero() -> None:
    assert gradients(scipy.special.xlogy, 0.0, 0.0)[1] == 0
    assert gradients(scipy.special.xlog1py, 0.0, -1.0)[1] == 0
    assert gradients(scipy.special.xlogy, 0.0, 0.0, dout=0.0)[0] == 0
    assert gradients(scipy.special.rel_entr, 0.0, 0.5)[1] == 0


@pytest.mark.parametrize(("f", "x", "slope"), [
    (scipy.special.erfcx, 1e8, -1e-16 / np.sqrt(np.pi)), (scipy.special.dawsn, -1e8, -0.5e-16),
    (scipy.special.log_ndtr, -1e6, 1e6 + 1e-6), (scipy.special.log_ndtr, 40.0, 0.0),
    (scipy.special.rgamma, -2.0, 2.0), (scipy.special.rgamma, 0.0, 1.0), (scipy.special.exprel, 0.0, 0.5),
    (scipy.special.ellipk, 0.0, np.pi / 8), (scipy.special.ellipe, 0.0, -np.pi / 8),
    (scipy.special.spence, 1.0, -1.0),
    (scipy.special.i1, 0.0, 0.5), (scipy.special.j1, 0.0, 0.5), (scipy.special.lambertw, 0.0, 1.0)])
def test_slopes_far_out_and_where_quotients_vanish(f: Any, x: float, slope: float) -> None:
    assert gradients(f, x)[0] == pytest.approx(slope, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("f", "x", "slope"), [
    (scipy.special.shichi, 0.0, 1.0), (scipy.special.shichi, 400.0, np.sinh(400.0) / 400.0),
    (scipy.special.shichi, -400.0, np.sinh(400.0) / 400.0), (scipy.special.sici, 0.0, 1.0)])
def test_slopes_of_the_first_of_two_integrals(f: Any, x: float, slope: float) -> None:
    first = build("def f(x):\n    return integrals(x)[0]\n", integrals=f)
    assert s2sad.grad(first)(x) == pytest.approx(slope, rel=1e-12)
    with np.errstate(divide="ignore"):  # the second one's slope at 0
        assert s2sad.jvp(first)(x, 1.0)[1] == pytest.approx(slope, rel=1e-12)
    if x == 0:
        third = s2sad.grad(s2sad.grad(s2sad.grad(first)))
        with np.errstate(all="ignore"):
            assert third(x) == pytest.approx(1 / 3 if f is scipy.special.shichi else -1 / 3, rel=1e-12)


def test_what_two_terms_of_a_tangent_need_is_computed_once() -> None:
    f = build("def f(a, b):\n    return beta(a, b)\n", beta=scipy.special.beta)
    assert s2sad.jvp(f).source_for(np.ones(2), np.ones(2)).count("digamma(a + b)") == 1
    check_program(f, (np.array([0.7, 1.3]), np.array([2.1, 0.4])), (0, 1))


@pytest.mark.parametrize(("f", "low", "high"), [
    (scipy.special.erfcx, 49.99, 50.01), (scipy.special.dawsn, 49.99, 50.01),
    (scipy.special.ellipk, 0.4999, 0.5001), (scipy.special.ellipe, 0.4999, 0.5001),
    (scipy.special.rgamma, 0.4999, 0.5001)])
def test_two_forms_of_a_slope_meet(f: Any, low: float, high: float) -> None:
    mean = (f(high) - f(low)) / (high - low)
    assert gradients(f, low)[0] == pytest.approx(mean, rel=1e-3)
    assert gradients(f, high)[0] == pytest.approx(mean, rel=1e-3)


BOUNDED = [("expon", -0.5), ("halfnorm", -0.5), ("rayleigh", -0.5), ("uniform", 1.5), ("gamma", -0.5, 2.0),
           ("chi2", -0.5, 2.0), ("invgamma", -0.5, 2.0), ("lognorm", -0.5, 2.0), ("weibull_min", -0.5, 2.0),
           ("pareto", 0.5, 2.0), ("beta", 1.5, 2.0, 3.0)]


@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "sf", "logcdf"])
@pytest.mark.parametrize("case", BOUNDED, ids=lambda c: c[0])
def test_where_a_density_is_zero_so_are_its_gradients(case: Any, method: str) -> None:
    name, *args = case
    f = getattr(getattr(scipy.stats, name), method)
    if find_rule(f) is None:
        assert name == "beta"
        return
    found = gradients(f, *args, 0.0, 1.0)
    assert all(g is None or g == 0 for g in found), found


@pytest.mark.parametrize(("f", "args"), [
    (scipy.stats.poisson, (0.5, 1.7)), (scipy.stats.binom, (3, 2, 0.3)), (scipy.stats.bernoulli, (2, 0.3)),
    (scipy.stats.geom, (0, 0.3)), (scipy.stats.nbinom, (-1, 2.0, 0.3))], ids=lambda v: getattr(v, "name", ""))
def test_what_has_no_probability_has_no_gradient(f: Any, args: Any) -> None:
    for method in (f.logpmf, f.pmf):
        assert all(g is None or g == 0 for g in gradients(method, *args))


@pytest.mark.parametrize(("f", "args"), [
    (scipy.stats.poisson, (-1, 1.7)), (scipy.stats.binom, (-1, 2, 0.3)), (scipy.stats.binom, (2, 2, 0.3)),
    (scipy.stats.bernoulli, (1, 0.3)), (scipy.stats.geom, (0, 0.3)), (scipy.stats.nbinom, (-1, 2.0, 0.3))])
def test_what_is_certain_has_no_gradient(f: Any, args: Any) -> None:
    for method in (f.cdf, f.sf, f.logcdf, f.logsf):
        assert all(g is None or g == 0 for g in gradients(method, *args))


def test_certain_outcomes() -> None:
    assert gradients(scipy.stats.poisson.logpmf, 0, 0.0) == (None, -1.0)
    assert gradients(scipy.stats.binom.logpmf, 0, 3, 0.0)[2] == -3.0
    assert gradients(scipy.stats.gamma.logpdf, 0.0, 1.0)[0] == -1.0


def test_densities_at_the_edge_of_their_support() -> None:
    assert gradients(scipy.stats.weibull_min.logpdf, 0.0, 1)[0] == -1.0
    assert gradients(scipy.stats.expon.pdf, 0.0)[0] == -1.0


def test_scaled_bessel_functions_of_complex_arguments_are_refused() -> None:
    with pytest.raises(NonDifferentiableError, match="real arguments only"):
        gradients(scipy.special.ive, 1.0, 1j)


def test_a_negative_log_likelihood_reads_as_by_hand() -> None:
    norm = scipy.stats.norm

    def loss(mu: float, log_sigma: float, x: Any) -> Any:
        return -np.sum(norm.logpdf(x, mu, np.exp(log_sigma)))
    x = np.array([0.3, 1.0, -0.5])
    found = s2sad.grad(loss, (0, 1))(0.1, 0.2, x)
    z = (x - 0.1) / np.exp(0.2)
    np.testing.assert_allclose(found, [-np.sum(z) / np.exp(0.2), np.sum(1 - z ** 2)], rtol=1e-13)
