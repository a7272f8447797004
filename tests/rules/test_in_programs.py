"""Each structured rule within a program: both modes of a call of its function, and second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad.primitives.record import Rule, rules
from tests.support.build import build
from tests.support.compare import check_program, check_second, flatten, is_sampled, leaf_paths

ELSEWHERE = ("adjoints", "arithmetic", "elementwise", "functional", "gufuncs", "language", "math", "python")
ELSEWHERE += ("objects", "results", "special", "updates")
ONCE = {
    "einsum_grads",  # is itself what second derivatives of np.einsum are made of
    "with_imag",  # of complex arrays alone, whose gradients are complex
    "with_real",
}


def is_structured(rule: Rule) -> bool:
    """Whether the rule is one of NumPy's, and not elementwise or a helper's."""
    package, _, module = rule.template.function.__module__.rpartition(".")
    mine = package == "s2sad.rules" and module not in ELSEWHERE and not module.startswith("scipy_")
    return mine and bool(rule.samples) and callable(rule.samples[0])


MORE = {
    "average": 2,
    "cov": 11,
    "diag": 2,
    "einsum": 8,
    "interp": 5,
    "max": 1,
    "norm": 5,
    "percentile": 11,
    "prod": 8,
    "qr": 8,
    "quantile": 12,
    "roll": 2,
    "sum": 7,
    "transpose": 2,
}


def cases() -> list[Any]:
    """The first sample of each rule, and another where rules have several forms."""
    found = []
    for rule in filter(is_structured, rules()):
        module = rule.template.function.__module__.rpartition(".")[2]
        for k in dict.fromkeys((0, MORE.get(rule.name, 0))):
            found.append(pytest.param(rule, rule.samples[k], id=f"{module}-{rule.name}-{k}"))
    return found


def program(rule: Rule, sample: Any) -> tuple[Any, tuple[Any, ...], tuple[int, ...]]:
    """A call of the rule's function as a program, its arguments, and which of them carry derivatives."""
    args, keywords = sample(np.random.default_rng(5))
    names = [f"a{k}" for k in range(len(args))]
    passed = [*names, *(f"{k}={k}" for k in keywords)]
    result = rule.functions[0](*args, **keywords)
    parts = "".join(f"out[{k}], " for k in range(len(result))) if hasattr(result, "_fields") else "out"
    text = f"def call({', '.join(names)}):\n    out = function({', '.join(passed)})\n    return {parts}\n"
    slots = rule.template.gradients if rule.template.vararg is None else len(args)
    refused = [k for k, p in enumerate(rule.template.parameters) if p in rule.refused]
    wrt = tuple(k for k, a in enumerate(args[:slots]) if flatten(a) and k not in refused)
    return build(text, function=rule.functions[0], **keywords), args, wrt


def real_valued(f: Any, args: tuple[Any, ...]) -> Any:
    """The program with its complex results in two real parts, so that it has second derivatives."""
    leaves = leaf_paths(f(*args), "out")
    if not any(np.iscomplexobj(value) for _, value in leaves):
        return f
    names = ", ".join(f"a{k}" for k in range(len(args)))
    parts = ", ".join(f"np.real({path}), np.imag({path})" for path, _ in leaves)
    return build(f"def parts({names}):\n    out = f({names})\n    return {parts}\n", f=f)


@pytest.mark.parametrize(("rule", "sample"), cases())
def test_rule_in_a_program(rule: Rule, sample: Any) -> None:
    f, args, wrt = program(rule, sample)
    if not wrt:
        pytest.fail("no argument of the first sample carries a derivative")
    check_program(f, args, wrt)
    if rule.name not in ONCE and is_sampled(rule.template.function):
        check_second(real_valued(f, args), args, wrt)
