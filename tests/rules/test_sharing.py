"""What is said of functions' results, whether they share memory with what the functions are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad.analysis.aliasing import VIEWS, is_fresh
from s2sad.primitives.record import Rule, rules
from s2sad.testing.check_rules import samples_of

# What is stored at once, and the heap, which nobody writes to.
NOT_WRITTEN_TO = ("s2sad.runtime.mutation", "s2sad.runtime.heap")
FRESH = [
    (rule, f)
    for rule in rules()
    for f in rule.functions
    if is_fresh(f) and not (getattr(f, "__module__", None) or "").startswith(NOT_WRITTEN_TO)
]


def arrays_in(x: Any) -> list[np.ndarray]:
    if isinstance(x, (list, tuple)):
        return [a for item in x for a in arrays_in(item)]
    if isinstance(x, dict):
        return arrays_in(list(x.values()))
    return [x] if isinstance(x, np.ndarray) else []


def shares(rule: Rule, f: Any) -> bool:
    """Whether the function's result shares memory with an argument of one of the rule's samples."""
    for args, keywords in samples_of(rule, f):
        given = arrays_in([args, keywords])
        with np.errstate(all="ignore"):
            results = arrays_in(f(*args, **keywords))
        if any(np.shares_memory(a, b) for a in given for b in results):
            return True
    return False


@pytest.mark.parametrize(("rule", "f"), FRESH, ids=[getattr(f, "__name__", "?") for _, f in FRESH])
def test_what_is_new_shares_no_memory(rule: Rule, f: Any) -> None:
    assert not shares(rule, f)


def test_the_check_finds_views() -> None:
    views = [(rule, f) for rule in rules() for f in rule.functions if f in (np.transpose, np.squeeze)]
    assert views and all(f in VIEWS and shares(rule, f) for rule, f in views)
