"""Each rule for arrays of other libraries: its derivatives are those of NumPy's arrays, or are refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.primitives.record import Rule, fact, rules
from s2sad.testing.check_rules import samples_of
from tests.support.build import build
from tests.support.compare import flatten, map_leaves, random_like
from tests.support.foreign_arrays import Lazy, Strict, plain, wrapped
from tests.support.same import as_result, own_type, same

APART = ("adjoints", "containers", "cotangents", "custom", "heap", "heap_arrays", "hooks", "objects")
APART += ("results", "updates")
MANY = 5  # samples of a function


def functions() -> list[Any]:
    """The public functions of NumPy and Python that have rules, the first of each rule."""
    found = []
    for rule in rules():
        package, _, module = rule.template.function.__module__.rpartition(".")
        own = str(getattr(rule.functions[0], "__module__", "")).startswith("s2sad")
        if package == "s2sad.rules" and not module.startswith("scipy_") and module not in APART and not own:
            found.append(pytest.param(rule, id=f"{module}-{rule.name}"))
    return found


def program(rule: Rule, args: tuple[Any, ...], keywords: dict[str, Any], cls: type[Strict] | None) -> Any:
    """A call of the rule's function, with arrays of this class in the place of NumPy's as options."""
    names = [f"a{k}" for k in range(len(args))]
    passed = [*names, *(f"{k}={k}" for k in keywords)]
    result = rule.functions[0](*args, **keywords)
    parts = "".join(f"out[{k}], " for k in range(len(result))) if hasattr(result, "_fields") else "out"
    text = f"def call({', '.join(names)}):\n    out = function({', '.join(passed)})\n    return {parts}\n"
    options = keywords if cls is None else {k: wrapped(v, cls) for k, v in keywords.items()}
    return build(text, function=rule.functions[0], **options)


def carrying(rule: Rule, args: tuple[Any, ...], cls: type[Strict]) -> tuple[int, ...]:
    """The arguments that carry derivatives, for lazy arrays without those that are or hold numbers."""
    slots = rule.template.gradients if rule.template.vararg is None else len(args)
    refused = [k for k, p in enumerate(rule.template.parameters) if p in rule.refused]
    found = [k for k, a in enumerate(args[:slots]) if flatten(a) and k not in refused]

    def is_of_arrays(k: int) -> bool:
        return all(isinstance(v, np.ndarray) for v in flatten(args[k]))

    return tuple(k for k in found if cls is Strict or is_of_arrays(k))


def compare(rule: Rule, args: tuple[Any, ...], keywords: dict[str, Any], cls: type[Strict], form: str) -> str:
    """What becomes of a call for arrays of a class: it is "right", "refused", or nothing ("none") where the
    function itself does not take them.
    """
    wrt = carrying(rule, args, cls)
    if not any(isinstance(v, np.ndarray) for k in wrt for v in flatten(args[k])):
        return "none"
    f, g = program(rule, args, keywords, None), program(rule, args, keywords, cls)
    given = wrapped(args, cls)
    try:
        out = f(*args)
        assert same(plain(g(*given)), out)
    except (TypeError, ValueError, AssertionError):
        return "none"
    rng = np.random.default_rng(1)
    tangents = tuple(random_like(args[k], rng) for k in wrt)
    try:
        if form == "jvp":
            _, expected = s2sad.jvp(f, argnums=wrt)(*args, *tangents)
            _, found = s2sad.jvp(g, argnums=wrt)(*given, *wrapped(tangents, cls))
        else:
            dout = map_leaves(np.asarray, random_like(out, rng))
            value, bprop = s2sad.vjp(f, argnums=wrt)(*args)
            expected = bprop(dout if isinstance(value, (list, tuple, np.ndarray)) else dout[()])
            value, bprop = s2sad.vjp(g, argnums=wrt)(*given)
            found = bprop(as_result(value, dout, cls))
            assert all(own_type(x, given[k], cls) for x, k in zip(found, wrt, strict=True)), found
    except s2sad.InternalError:
        raise
    except s2sad.S2sadError:
        return "refused"
    assert same(plain(found), expected), (args, keywords, plain(found), expected)
    return "right"


@pytest.mark.parametrize("rule", functions())
def test_rules_are_right_or_refused(rule: Rule) -> None:
    calls = samples_of(rule, rule.functions[0])
    calls = calls[:: max(1, len(calls) // MANY)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for cls in (Strict, Lazy):
            for form in ("vjp", "jvp"):
                for args, keywords in calls:
                    compare(rule, args, keywords, cls, form)


DECLARED = ("numpy", "eager")


@pytest.mark.parametrize("word", DECLARED)
def test_what_is_declared_to_be_refused_is_refused(word: str) -> None:
    words = ("arrays", "arrays_in_reverse")
    found = [r for r in rules() if word in [fact(r.functions[0], name) for name in words]]
    assert len(found) > 3
    cls = Strict if word == "numpy" else Lazy
    for rule in found:
        with np.errstate(all="ignore"):
            told = {compare(rule, *call, cls, "vjp") for call in samples_of(rule, rule.functions[0])[:MANY]}
        assert told <= {"refused", "none"}, rule.name
