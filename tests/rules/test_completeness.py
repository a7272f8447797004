"""Every public callable of NumPy is differentiable, declared constant, or refused by name with the reason; so
is every parameter of what is differentiable.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.analysis.primitive_table import parameters_of
from s2sad.primitives.record import Rule, find_rule, is_nondifferentiable, refusal, rules
from s2sad.testing.check_rules import samples_of
from s2sad.transforms.errors import MissingRuleError, NonDifferentiableError, S2sadError
from tests.support.build import build

NAMESPACES: dict[str, Any] = {
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "numpy.ndarray": np.ndarray,
    "numpy.random.Generator": np.random.Generator,
}


def members(namespace: Any) -> Iterator[tuple[str, Any]]:
    """The public callables of a module or class; of arrays the attributes, too."""
    for name in sorted(dir(namespace)):
        member = getattr(namespace, name)
        is_public = not name.startswith("_") and not isinstance(member, ModuleType)
        if is_public and (callable(member) or namespace is np.ndarray):
            yield name, member


def state(f: Any) -> str:
    """What is declared of a function."""
    known = {
        "differentiable": find_rule(f) is not None,
        "constant": is_nondifferentiable(f),
        "refused": refusal(f) is not None,
    }
    return " and ".join(word for word, holds in known.items() if holds) or "unknown"


def undeclared(namespace: Any) -> list[str]:
    """The members of which nothing is declared, or more than one thing."""
    return [
        f"{name}: {state(f)}"
        for name, f in members(namespace)
        if state(f) not in ("differentiable", "constant", "refused")
    ]


@pytest.mark.parametrize("name", NAMESPACES)
def test_every_callable_is_declared(name: str) -> None:
    assert undeclared(NAMESPACES[name]) == []


@pytest.mark.parametrize("function", [np.add, np.multiply, np.maximum, np.hypot], ids=lambda f: f.__name__)
@pytest.mark.parametrize("method", ["reduce", "accumulate", "outer", "reduceat"])
def test_methods_of_ufuncs_are_differentiable_or_refused(function: Any, method: str) -> None:
    f = getattr(function, method)
    call = build(
        "def call(x):\n    return np.sum(f(x, [0]) if two else f(x, x) if outer else f(x))\n",
        f=f,
        two=method == "reduceat",
        outer=method == "outer",
    )
    try:
        found = s2sad.grad(call)(np.array([1.5, -0.5, 2.5]))
    except MissingRuleError as error:
        assert method in str(error)
    else:
        assert found.shape == (3,)


def test_a_method_of_a_comparison_gives_nothing_to_differentiate() -> None:
    call = build("def call(x):\n    return np.sum(np.less.outer(x, x))\n")
    with pytest.raises(NonDifferentiableError, match="returned a value of type int64"):
        s2sad.grad(call)(np.array([1.5, -0.5, 2.5]))


def test_the_search_for_what_is_undeclared_can_fail() -> None:
    namespace = SimpleNamespace(sin=np.sin, floor=np.floor, unique=np.unique, stray=lambda x: x)
    assert undeclared(namespace) == ["stray: unknown"]


# ---------------------------------------------------------------- refusals

REFUSED = [(name, f) for n in (np, np.random) for name, f in members(n) if refusal(f) is not None]
REFUSED.remove(("ndarray", np.ndarray))  # but for a shape alone
METHODS = [name for name, f in members(np.ndarray) if refusal(f) is not None]


@pytest.mark.parametrize(("name", "f"), REFUSED, ids=[name for name, _ in REFUSED])
def test_the_reason_of_a_refusal_reaches_the_user(name: str, f: Any) -> None:
    call = build("def call(x):\n    y = function(x)\n    return np.sum(y)\n", function=f)
    with pytest.raises(S2sadError) as error:
        s2sad.grad(call)(np.array([1.5, -0.5]))
    assert str(refusal(f)) in str(error.value) or re.search("changes? (an|its) argument", str(error.value))
    assert error.value.where is not None and "function(x)" in str(error.value)


# Those that are run as stores raise what NumPy raises, given an array for an axis.
STORES = ("partition", "sort")


@pytest.mark.parametrize(
    "name", [n for n in METHODS if callable(getattr(np.ndarray, n)) and n not in STORES]
)
def test_the_reason_why_a_method_is_refused_reaches_the_user(name: str) -> None:
    call = build(f"def call(x):\n    y = x.{name}(x)\n    return np.sum(y)\n")
    with pytest.raises(S2sadError) as error:
        s2sad.grad(call)(np.array([1.5, -0.5]))
    reason = str(refusal(getattr(np.ndarray, name)))
    assert reason in str(error.value) or re.search("changes? (an|its) argument", str(error.value))


def test_draws_from_a_distribution_that_does_not_vary_are_constants() -> None:
    rng = np.random.default_rng(3)
    call = build("def call(x):\n    return np.sum(x * rng.normal(0.5, 2.0, 3))\n", rng=rng)
    found = s2sad.grad(call)(np.ones(3))
    np.testing.assert_array_equal(found, np.random.default_rng(3).normal(0.5, 2.0, 3))


# ---------------------------------------------------------------- parameters

# What no rule takes but as it is by default: a value that is given is refused by name.
NOT_TAKEN = {
    "out": "writes into an array",
    "overwrite_input": "writes into an array",
    "like": "an array of another library",
    "device": "an array of another library",
    "subok": "subclasses of arrays",
    "ndmax": "arrays of objects",
    "full": "what np.polyfit returns besides is not covered",
    "cov": "what np.polyfit returns besides is not covered",
    "kwargs": "passed on to a function or a mode, that is covered by name",
    "kw": "passed on to the functions of np.piecewise",
    "arys": "several arrays for np.atleast_1d and the like: a call for each will do",
    "interpolation": "deprecated, another name of `method`",
    "bias": "deprecated, without effect on np.corrcoef",
    "ddof": "deprecated, without effect on np.corrcoef",
    "copy": "np.nan_to_num in place",
}
OF_STRUCTURES = {np.sort, np.partition}  # `order` names fields


def numpy_functions() -> list[Any]:
    """What has parameters to speak of: no classes, no ufuncs."""
    found = [f for n in ("numpy", "numpy.linalg", "numpy.fft") for _, f in members(NAMESPACES[n])]
    differentiable = [f for f in found if find_rule(f) is not None]
    return [f for f in dict.fromkeys(differentiable) if not isinstance(f, (np.ufunc, type))]


@pytest.mark.parametrize("f", numpy_functions(), ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_every_parameter_is_covered(f: Any) -> None:
    rule = find_rule(f)
    assert rule is not None
    template = rule.template
    given = inspect.signature(f).parameters.values() if parameters_of(f) else ()
    for k, p in enumerate(given):
        by_position = k < template.positional and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        rest = template.vararg is not None and p.kind in (p.VAR_POSITIONAL, p.POSITIONAL_OR_KEYWORD)
        apart = p.name in NOT_TAKEN or (p.name == "order" and f in OF_STRUCTURES)
        assert p.name in template.parameters or by_position or rest or apart, f"{f.__name__}({p.name}=...)"


def is_of_numpy(rule: Rule) -> bool:
    package, _, module = rule.template.function.__module__.rpartition(".")
    public = any(str(getattr(f, "__module__", "")).startswith("numpy") for f in rule.functions)
    return package == "s2sad.rules" and not module.startswith("scipy_") and public


NUMPY_RULES = [r for r in rules() if is_of_numpy(r)]


@pytest.mark.parametrize("rule", NUMPY_RULES, ids=lambda r: r.name)
def test_every_parameter_is_tested(rule: Rule) -> None:
    template = rule.template
    passed: set[str] = set()
    for f in rule.functions:
        for args, keywords in samples_of(rule, f):
            passed |= {*keywords, *template.parameters[: min(len(args), template.positional)]}
    of_later_versions = {
        p for p in template.parameters if not any(p in parameters_of(f) for f in rule.functions)
    }
    assert set(template.parameters) - passed <= of_later_versions | {"copy"}


def test_parameters_are_passed_by_the_names_that_numpy_gives_them() -> None:
    def by_name(x: Any) -> Any:
        y = np.kron(a=x, b=x)
        z = np.tensordot(x, b=x, axes=1) + np.trace(a=np.outer(a=x, b=x), offset=0)
        return np.sum(np.cumsum(a=y, axis=0, out=None)) * z + np.sum(np.add(x, x, where=True))

    def by_position(x: Any) -> Any:
        y = np.kron(x, x)
        z = np.tensordot(x, x, 1) + np.trace(np.outer(x, x), 0)
        return np.sum(np.cumsum(y, 0)) * z + np.sum(np.add(x, x))

    x = np.array([1.5, -0.5, 2.0])
    np.testing.assert_array_equal(s2sad.grad(by_name)(x), s2sad.grad(by_position)(x))
    np.testing.assert_array_equal(s2sad.jvp(by_name)(x, x)[1], s2sad.jvp(by_position)(x, x)[1])
    np.testing.assert_array_equal(s2sad.hessian(by_name)(x), s2sad.hessian(by_position)(x))


@pytest.mark.parametrize("passed", ["where=y > 0", "dtype=np.float32"])
def test_parameters_that_are_not_covered_are_refused_by_name(passed: str) -> None:
    call = build(f"def call(x):\n    y = np.ones(2)\n    return np.sum(np.add(x, x, {passed}))\n")
    with pytest.raises(S2sadError):
        s2sad.grad(call)(np.array([1.5, -0.5]))
