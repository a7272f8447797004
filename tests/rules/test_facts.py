"""What is declared of functions beside their derivatives, checked on the samples of their rules."""

from __future__ import annotations

import bisect
import heapq
import operator
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import islice, product
from types import ModuleType
from typing import Any

import gast
import numpy as np
import pytest

from s2sad.analysis.primitive_table import PRIMITIVES
from s2sad.analysis.writes import changed
from s2sad.kinds.abstraction import contains, kind_of
from s2sad.kinds.lattice import widen
from s2sad.kinds.result_kinds import call_kind
from s2sad.primitives.aliasing import sharing
from s2sad.primitives.record import (
    AXES,
    Facts,
    Rule,
    declare,
    fact,
    find_rule,
    is_pure,
    nondifferentiable,
    rules,
)
from s2sad.rules.choices import reaching
from s2sad.testing.check_rules import Arguments, samples_of
from s2sad.transforms.analyses.operations import Apply
from s2sad.transforms.trees.nodes import load

DECLARED = [(rule, f) for rule in rules() for f in rule.functions]

# Calls of functions that have no rule, but write into their first argument, or answer with whole numbers.
X = np.array([[0.3, 1.7, -0.4], [0.9, -1.2, 0.6]])
WITHOUT_RULES: dict[Any, tuple[Any, ...]] = {
    np.copyto: (X, 1.0), np.put: (X, [0, 3], 2.0), np.place: (X, X > 0, [1.5]), np.putmask: (X, X > 0, [1.5]),
    np.fill_diagonal: (X, 2.0), np.put_along_axis: (X, np.array([[0], [1]]), 2.0, 1),
    np.ndarray.fill: (X, 2.0), np.ndarray.sort: (X, 1),
    np.ndarray.partition: (X, 1), np.ndarray.__iadd__: (X, 1.0),
    np.ndarray.__setitem__: (X, 0, 1.0), list.append: ([1.0], 2.0), list.sort: ([2.0, 1.0],),
    list.reverse: ([2.0, 1.0],), dict.update: ({"a": 1.0}, {"b": 2.0}), dict.pop: ({"a": 1.0}, "a"),
    set.add: ({1.0}, 2.0), operator.setitem: ([1.0], 0, 2.0), operator.delitem: ([1.0], 0),
    heapq.heapify: ([2.0, 1.0],), heapq.heappush: ([2.0], 1.0), bisect.insort: ([1.0, 3.0], 2.0),
    np.argsort: (X,), np.argmax: (X, 0), np.nonzero: (X,), np.all: (X, 0), np.any: (X, 0),
    np.searchsorted: (X[0], X),
}  # fmt: skip
# What the functions of these modules change is on the heap, whoever is given it.
HEAP = ("s2sad.runtime.heap", "s2sad.runtime.slots")


def arrays_in(x: Any) -> list[np.ndarray]:
    if isinstance(x, (list, tuple)):
        return [a for item in x for a in arrays_in(item)]
    if isinstance(x, dict):
        return arrays_in(list(x.values()))
    return [x] if isinstance(x, np.ndarray) else []


def copied(x: Any) -> Any:
    return x if isinstance(x, ModuleType) else deepcopy(x)


def same(a: Any, b: Any) -> bool:
    """Whether two structures hold the same numbers; objects of other classes are not compared."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (np.ndarray, np.number, float, complex)):
        return bool(np.array_equal(a, b, equal_nan=True))
    return not isinstance(a, (set, str, bool, int)) or a == b


def contradictions(f: Any, samples: Iterable[Arguments]) -> set[str]:
    """The facts of a function that its samples contradict."""
    with np.errstate(all="ignore"):
        return {name for args, keywords in samples for name in of_call(f, args, keywords)}


def of_call(f: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Iterator[str]:
    before = [*map(copied, args)], {k: copied(v) for k, v in keywords.items()}
    given = [*map(copied, args)], {k: copied(v) for k, v in keywords.items()}
    result = f(*given[0], **given[1])
    word = sharing(Apply(f, args, tuple(keywords.items()), None))
    first, others = arrays_in(given[0][:1]), arrays_in([given[0][1:], given[1]])
    for made in arrays_in(result):
        of_first = any(np.shares_memory(made, a) for a in first)
        of_others = any(np.shares_memory(made, a) for a in others)
        if word == "fresh" and (of_first or of_others) and fact(f, "sharing") != "stored":
            yield "sharing"
        if word in ("view", "maybe") and of_others:
            yield "sharing"
        if word == "view" and isinstance(args[0], np.ndarray) and made.size and not of_first:
            yield "sharing"
        if fact(f, "read_only") and made.flags.writeable and of_first:
            yield "read_only"
    if word == "elements" and isinstance(result, (list, dict)) and result is given[0][0]:
        yield "sharing"
    written = changed(f, len(args), dict.fromkeys(keywords))
    for k, v in enumerate(given[0]):
        on_heap = (getattr(f, "__module__", None) or "").startswith(HEAP)
        if not on_heap and not fact(f, "updates") and k not in written and not same(v, before[0][k]):
            yield "writes"
    if is_pure(f) and not same(result, f(*before[0], **before[1])):
        yield "pure"
    for known in (kind_of, lambda x, name: widen(kind_of(x, name))):
        kinds = [known(x, f"x{k}") for k, x in enumerate(args)]
        if not contains(call_kind(f, kinds, {k: known(v, k) for k, v in keywords.items()}, is_pure), result):
            yield "kind"
    is_odd = fact(f, "odd") and keywords.keys() <= AXES | {"keepdims"}
    if is_odd and not same(f(-args[0], *args[1:], **keywords), -result):
        yield "odd"
    for k in fact(f, "shape_only") or ():
        if len(args) > k and isinstance(args[k], np.ndarray):
            other = (*args[:k], args[k] + 1, *args[k + 1 :])
            if not same(f(*map(copied, other), **keywords), result):
                yield "shape_only"


@pytest.mark.parametrize(("rule", "f"), DECLARED, ids=[getattr(f, "__name__", "?") for _, f in DECLARED])
def test_facts_hold_on_the_samples(rule: Rule, f: Any) -> None:
    assert not contradictions(f, samples_of(rule, f))


# ---------------------------------------------------------------- slopes

TINY = 5e-324
NEAR = (0.0, TINY, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0)  # where functions have poles, and roots their ends
FAR = (np.inf, -np.inf, np.nan)


def numbers_in(args: tuple[Any, ...], rule: Rule) -> list[int]:
    """The positions of the arguments that have a gradient: arrays of floats, or without any the floats."""
    own = dict(enumerate(args[: rule.template.gradients]))
    arrays = [k for k, x in own.items() if isinstance(x, np.ndarray) and x.ndim and x.dtype == np.float64]
    return arrays or [k for k, x in own.items() if isinstance(x, float)]


def at(args: tuple[Any, ...], values: dict[int, float]) -> tuple[Any, ...]:
    """The arguments with equal numbers in some of them."""
    return tuple(
        x if k not in values else np.full_like(x, values[k]) if np.ndim(x) else values[k]
        for k, x in enumerate(args)
    )


def gradients_at(rule: Rule, f: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The gradients of the sum of results; None where the function raises, infinities where the rule does."""
    try:
        out = f(*args, **keywords)
    except (ArithmeticError, ValueError):
        return None
    dout = np.ones_like(out) if np.ndim(out) else 1.0
    try:
        return rule.template.gradients_at(*args, **keywords, out=out, dout=dout)
    except ArithmeticError:
        return (np.inf,) * rule.template.gradients


def slope_holds(rule: Rule, f: Any, word: Any = PRIMITIVES.slope) -> bool:
    """Whether gradients are finite near the poles of functions where `word` says so, and the same for all
    elements where it says that; arguments after the first are variables, or literals.
    """
    drawn = ((args, kw, numbers_in(args, rule)) for args, kw in samples_of(rule, f))
    for args, keywords, places in islice((d for d in drawn if d[2]), 3):
        for values in product(NEAR, repeat=min(len(places), 2)):
            near = at(args, dict(zip(places, values, strict=False)))
            floats = [k for k, x in enumerate(near) if k and isinstance(x, float) and abs(x) != TINY]
            for literals in ([], floats):
                nodes = [load(f"x{k}") for k in range(len(near))]
                for k in literals:
                    nodes[k] = gast.Constant(near[k], None)
                numbers = [node for node, x in zip(nodes, near, strict=True) if np.ndim(x) == 0]
                found = word(Apply(f, tuple(nodes), (), None), numbers.__contains__)
                if found == "any":
                    continue
                own = set(places).difference(literals)
                points = [near, *(at(near, {k: x}) for x in FAR for k in own if found == "constant")]
                slopes = [g for p in points if (g := gradients_at(rule, f, p, keywords)) is not None]
                for k in own:
                    if not all(s[k] is None or np.all(np.isfinite(s[k])) for s in slopes):
                        return False
                    if not all(same(s[k], slopes[0][k]) for s in slopes):
                        return False
    return True


def moves_only(rule: Rule, f: Any) -> bool:
    """Whether gradients are elements of the cotangent, and sums of different ones."""
    for args, keywords in samples_of(rule, f):
        out = f(*map(copied, args), **keywords)
        if not isinstance(out, np.ndarray) or out.dtype.kind != "f" or out.size > 12:
            continue
        dout = (3.0 ** np.arange(out.size)).reshape(out.shape).astype(out.dtype)
        gradients = rule.template.gradients_at(*args, **keywords, out=out, dout=dout.copy())
        for gradient in filter(lambda g: isinstance(g, np.ndarray), gradients):
            if any(x < 0 or "2" in np.base_repr(int(x), 3) or x != int(x) for x in gradient.ravel()):
                return False
    return True


def picks_hold(rule: Rule, f: Any) -> bool:
    """Whether only elements that the rule says to be picked have a gradient, and not all are."""
    assert rule.picks is not None
    counts = np.zeros(2, int)
    for args, keywords in samples_of(rule, f):
        out = f(*args, **keywords)
        picked = rule.picks.gradients_at(*args, **keywords, out=out, dout=None)[0] != 0
        gradient = rule.template.gradients_at(*args, **keywords, out=out, dout=np.ones_like(out))[0]
        picked = reaching(picked, args[0])
        counts += np.sum(gradient[~picked] != 0), np.sum(~picked)
    return bool(counts[0] == 0 and counts[1] > 0)


@pytest.mark.parametrize(("rule", "f"), DECLARED, ids=[getattr(f, "__name__", "?") for _, f in DECLARED])
@pytest.mark.filterwarnings("ignore")
def test_slopes_hold_on_the_samples(rule: Rule, f: Any) -> None:
    if fact(f, "slope") is not None:
        assert slope_holds(rule, f)
    if fact(f, "moves") or fact(f, "sharing") == "view":
        assert moves_only(rule, f)
    if rule.picks is not None:
        assert picks_hold(rule, f)


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_slope_is_found() -> None:
    steep: list[Any] = [np.sqrt, np.divide, np.power, np.arccos]
    varying: list[Any] = [np.multiply, np.square, np.exp, np.abs]
    scaling: list[Any] = [np.square, np.negative, np.diff]
    assert not any(slope_holds(rule_of(f), f, lambda *_: "finite") for f in steep)
    assert not any(slope_holds(rule_of(f), f, lambda *_: "constant") for f in varying)
    assert not any(moves_only(rule_of(f), f) for f in scaling)
    assert not picks_hold(replace(rule_of(np.ptp), picks=rule_of(np.max).picks), np.ptp)


def rule_of(f: Any) -> Rule:
    found = find_rule(f)
    assert found is not None
    return found


@pytest.mark.parametrize("f", WITHOUT_RULES, ids=lambda f: f.__qualname__)
def test_facts_of_functions_without_rules(f: Any) -> None:
    assert not contradictions(f, [(WITHOUT_RULES[f], {})])


def half(x: Any) -> Any:
    return x[:2]


def doubled(x: Any) -> Any:
    x[0] *= 2.0
    return x.copy()


def drawn(x: Any) -> Any:
    return x + np.random.standard_normal()


def first(x: Any) -> Any:
    return x[0]


def scaled(x: Any, like: Any) -> Any:
    return x * x * like.sum()


WRONG: list[tuple[Any, str, Facts]] = [
    (half, "sharing", {"sharing": "fresh"}), (half, "read_only", {"sharing": "view", "read_only": True}),
    (doubled, "sharing", {"sharing": "view", "writes": (0,)}), (doubled, "writes", {}), (drawn, "pure", {}),
    (first, "kind", {"like": 0}), (drawn, "sharing", {"sharing": "view", "pure": False}),
    (scaled, "odd", {"odd": True}), (scaled, "shape_only", {"shape_only": (1,)}),
]  # fmt: skip


@pytest.mark.parametrize(("f", "name", "facts"), WRONG, ids=lambda x: getattr(x, "__name__", str(x)))
def test_a_wrong_declaration_is_found(f: Any, name: str, facts: Facts) -> None:
    code = f.__code__
    scratch = type(f)(code, f.__globals__, f.__name__)  # nothing is declared of it elsewhere
    nondifferentiable([scratch], **facts)
    args = (np.arange(1.0, 5.0), np.ones(4))[: code.co_argcount]
    assert contradictions(scratch, [(args, {})]) == {name}
    nondifferentiable([f], sharing="unknown", pure=False, writes=(0,))
    assert not contradictions(f, [(args, {})])


def test_facts_have_known_names() -> None:
    with pytest.raises(TypeError, match="sheared"):
        declare([np.sin], sheared="fresh")  # type: ignore[call-arg]
