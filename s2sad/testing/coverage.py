"""The table of supported functions: each public function of Python's operators, `math`, `cmath`, NumPy, and
the imported parts of SciPy, with its declarations. All is read from the rules and their samples.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import gast
import numpy as np

from ..analysis.primitive_table import parameters_of
from ..kinds.foreign import is_passed_on
from ..lowering.writes_to_stores import is_store
from ..primitives.record import Rule, fact, find_rule, is_nondifferentiable, refusal
from ..primitives.template import Template
from ..rules.methods import METHODS

__all__ = ["Support", "supported"]

MODULES: tuple[Any, ...] = (math, cmath, operator, np, np.linalg, np.fft, np.random)
CLASSES = (np.ndarray, np.random.Generator)
SCIPY: tuple[str, ...] = (
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
)
SCIPY += ("sparse.linalg", "spatial.distance", "special")


@dataclass(frozen=True)
class Support:
    """The declarations of a function, by its public name.

    `state` is "differentiable", "constant" (its result is inactive) or "refused" (for the `reason`). For a
    differentiable one, `modes` are those of its rule, `order` is the highest order of derivatives (None:
    any), `keywords` are the optional parameters that the tests of the rule pass, and `refused` the parameters
    whose derivative is unknown. `arrays` tells for which arrays there is a reverse derivative: of "any"
    library, of "eager" ones, which compute at once, or of "numpy" alone.
    """

    name: str
    state: str
    modes: tuple[str, ...] = ()
    order: int | None = None
    keywords: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    reason: str = ""
    arrays: str = "any"


def supported(name: str = "") -> list[Support]:
    """The declarations of each public function whose name starts with `name`, in alphabetical order.

    >>> [row.name for row in supported("numpy.linalg.s") if row.state == "differentiable"]
    ['numpy.linalg.slogdet', 'numpy.linalg.solve', 'numpy.linalg.svd', 'numpy.linalg.svdvals']
    >>> supported("numpy.copyto")[0].state, supported("numpy.frompyfunc")[0].state
    ('differentiable', 'refused')
    """
    found = {path: _support(path, f) for path, f in _functions() if path.startswith(name)}
    return [row for _, row in sorted(found.items()) if row is not None]


def _functions() -> Iterator[tuple[str, Any]]:
    """The public functions, methods and classes, by path."""
    for name, f in vars(builtins).items():
        if callable(f) and not name.startswith("_") and not isinstance(f, type):
            yield name, f
    scipy = [sys.modules[f"scipy.{n}"] for n in SCIPY if f"scipy.{n}" in sys.modules]
    for owner in (*MODULES, *CLASSES, *scipy):
        path = owner.__name__ if isinstance(owner, ModuleType) else f"{_public(owner)}.{owner.__name__}"
        for name in dir(owner):
            member = getattr(owner, name, None)
            is_public = not name.startswith("_") and not isinstance(member, ModuleType)
            if is_public and (callable(member) or owner is np.ndarray):
                yield f"{path}.{name}", member
    yield from _distributions()


def _distributions() -> Iterator[tuple[str, Any]]:
    """The methods of the distributions of `scipy.stats`, if that is imported."""
    stats = sys.modules.get("scipy.stats")
    for name, distribution in vars(stats).items() if stats is not None else ():
        if hasattr(distribution, "cdf") and not isinstance(distribution, type):
            for method in ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"):
                if hasattr(distribution, method):
                    yield f"scipy.stats.{name}.{method}", getattr(distribution, method)


def _public(owner: type) -> str:
    return "numpy.random" if owner is np.random.Generator else "numpy"


def _support(path: str, f: Any) -> Support | None:
    rule = find_rule(f)
    if rule is not None:
        return _differentiable(path, f, rule)
    if is_nondifferentiable(f):
        return Support(path, "constant")
    if is_store(f):
        return Support(path, "differentiable", modes=("reverse", "forward"))
    reason = refusal(f)
    return None if reason is None else Support(path, "refused", reason=reason)


def _differentiable(path: str, f: Any, rule: Rule) -> Support:
    has_forward = rule.structure is not None or rule.jvp_template is not None
    return Support(
        path,
        "differentiable",
        modes=("reverse", "forward") if has_forward else ("reverse",),
        order=_order(rule),
        keywords=tuple(_public_name(f, rule.template.parameters, name) for name in _tested(rule)),
        refused=tuple(sorted(rule.refused)),
        arrays=_arrays(f),
    )


def _arrays(f: Any) -> str:
    """The arrays for which a function has a reverse derivative."""
    if getattr(f, "__objclass__", None) is np.ndarray:
        f = METHODS.get(f.__name__, f)
    words = {fact(f, "arrays"), fact(f, "arrays_in_reverse")}
    if "numpy" in words or not is_passed_on(f):
        return "numpy"
    return "eager" if "eager" in words else "any"


def _public_name(f: Any, own: tuple[str, ...], name: str) -> str:
    """The function's name for the positional parameter that its rule calls `name`."""
    known = [*parameters_of(f)] if isinstance(f, (FunctionType, type(np.sum))) else []
    position = own.index(name)
    if name in known or position >= len(known) or known[position] in (*own, "args", "kwargs"):
        return name
    return known[position]


@cache
def _tested(rule: Rule) -> tuple[str, ...]:
    """The optional parameters that a sample of the rule passes."""
    from .check_rules import samples_of  # which imports all rules

    template = rule.template
    passed: set[str] = set()
    for function in rule.functions:
        for args, keywords in samples_of(rule, function):
            passed |= {*keywords, *template.parameters[: min(len(args), template.positional)]}
    return tuple(name for name in template.parameters if name in passed and name in template.defaults)


# ---------------------------------------------------------------- orders


@cache
def _order(rule: Rule) -> int | None:
    """One more than the order of the functions that the rule calls; None if all of these have rules."""
    return None if all(map(_is_differentiable, _reached(rule))) else 1


def _is_differentiable(function: Any) -> bool:
    if find_rule(function) is not None or is_nondifferentiable(function):
        return True
    return isinstance(function, (FunctionType, type)) and not function.__module__.startswith("numpy")


def _reached(rule: Rule) -> list[Any]:
    """The functions that the rule's templates call, and those that their rules call, and so on."""
    found: list[Any] = []
    waiting = [rule]
    seen = {rule}
    while waiting:
        for function in _called(waiting.pop()):
            found.append(function)
            inner = find_rule(function)
            if inner is not None and inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return found


def _called(rule: Rule) -> Iterator[Any]:
    kinds = (rule.uniform, rule.spread, rule.reals, *rule.rows.values(), *rule.ranks.values())
    templates = (rule.template, rule.jvp_template, *kinds)
    for template in templates:
        if template is not None:
            yield from _called_in(template)


def _called_in(template: Template) -> Iterator[Any]:
    """The functions that a template calls by a global name, or by attributes of one."""
    for node in (n for s in template.body for n in gast.walk(s) if isinstance(n, gast.Call)):
        path, target = [], node.func
        while isinstance(target, gast.Attribute):
            path.append(target.attr)
            target = target.value
        if isinstance(target, gast.Name):
            found = template.globals.get(target.id, vars(builtins).get(target.id))
            for name in reversed(path):
                found = getattr(found, name, None)
            if found is not None:
                yield found
