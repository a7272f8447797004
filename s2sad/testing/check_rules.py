"""Checks rules against their own primitives.

`check_rule` calls a rule's templates as plain functions. On each sample of the rule it compares the forward
derivative, built by the structure word, with central differences; the reverse template with the forward one
by `<dout, J v> == <J' dout, v>`; and the structure, shapes and dtypes of gradients with those of the
arguments.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import reduce
from types import ModuleType
from typing import Any

import numpy as np

from ..primitives.record import Rule, is_pure
from ..primitives.template import Template
from ..rules.samples import A, given
from ..runtime.adjoints import add, broadcast_like, conform, zeros_like
from ..values.objects import fields_of, is_plain, make, mirror_class
from ..values.sparse_arrays import is_sparse

__all__ = ["check_rule", "samples_of"]

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
DTYPES = ("float64", "float32", "complex128")
SHAPES: dict[int, list[tuple[tuple[int, ...], ...]]] = {
    1: [((),), ((4,),), ((2, 3),), ((0,),)],
    2: [((), ()), ((4,), (4,)), ((2, 3), (3,)), ((2, 1), (3,)), ((), (2, 3)), ((0, 1), (3,))],
    3: [((), (), ()), ((4,), (4,), (4,)), ((2, 1), (3,), ())],
}


def check_rule(rule: Rule, seed: int = 0) -> None:
    """Raises AssertionError, with a note that names the call, where the rule contradicts its function."""
    for function in rule.functions:
        calls = list(samples_of(rule, function, seed))
        assert calls, f"the rule {rule.name!r} has neither domain nor samples to test {function!r} with"
        for args, keywords in calls:
            try:
                _check_call(rule, function, args, keywords, np.random.default_rng(seed + 1))
            except Exception as error:
                error.add_note(f"in the rule {rule.name!r} for {function!r} on {args!r} {keywords!r}")
                raise


# ---------------------------------------------------------------- samples


def samples_of(rule: Rule, function: Any, seed: int = 0) -> list[Arguments]:
    """The calls to test a function with: the rule's samples, and draws from its domain that it accepts."""
    rng = np.random.default_rng(seed)
    found: list[Arguments] = []
    for sample in rule.samples or ():
        drawn = sample(rng) if callable(sample) else sample
        with_keywords = len(drawn) == 2 and isinstance(drawn[0], tuple) and isinstance(drawn[1], dict)
        found.append(drawn if with_keywords else (drawn, {}))
    if rule.domain is not None:
        found += [c for c in _draws(rule, rng) if isinstance(c[0][0], float) or _accepts(function, c)]
    if is_pure(function):
        return found
    return [c for c in found if _accepts(function, c)]  # not every result fits into the first argument


def _draws(rule: Rule, rng: np.random.Generator) -> Iterator[Arguments]:
    bounds = rule.domain
    if not isinstance(bounds[0], tuple):
        bounds = (bounds,) * rule.template.gradients
    yield tuple(float(rng.uniform(*b)) for b in bounds), {}
    for dtype in DTYPES:
        for shapes in SHAPES[len(bounds)]:
            yield given(
                *(A(*s, dtype=dtype, low=b[0], high=b[1]) for s, b in zip(shapes, bounds, strict=True))
            )(rng)


def _accepts(function: Any, call: Arguments) -> bool:
    """Whether the function accepts arrays of these dtypes and shapes, and does not raise."""
    args, keywords = _copied(call)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)  # how `math` refuses complex numbers
            function(*args, **keywords)
    except (TypeError, ValueError, np.exceptions.ComplexWarning):
        return False
    return True


# ---------------------------------------------------------------- one call


def _check_call(
    rule: Rule, function: Any, args: tuple[Any, ...], keywords: dict[str, Any], rng: np.random.Generator
) -> None:
    """Checks the derivatives in double precision, and those of the call's own dtypes against these."""
    wide = _Call(rule, function, _mapped(_widened, args), _mapped(_widened, keywords))
    constants = {n for n, x in zip(wide.names, wide.slots, strict=False) if is_sparse(x)}
    assert constants <= rule.refused.keys(), f"{constants}: the derivative of a sparse array is to be refused"
    dout = _mapped(lambda x: _random(x, rng), wide.out)
    tangents = wide.moving(_mapped(lambda x: _random(x, rng), wide.slots), dout)
    epsilon = max((float(np.finfo(np.asarray(x).dtype).eps) for x in _leaves(wide.out)), default=0.0)
    change = wide.forward(tangents)
    by_steps = wide.difference(tangents, epsilon ** (1 / 3))
    _assert_close(change, by_steps, epsilon ** (2 / 5), epsilon ** (2 / 5) * (1 + _largest(wide.out)))
    gradients = wide.reverse(rule.template, dout)
    there, back = _product(dout, change), _product(gradients, tangents)
    size = 1 + sum(float(np.sum(np.abs(a * b))) for a, b in _pairs(gradients, tangents))
    assert abs(there - back) <= 1e4 * epsilon * size, f"<dout, J v> is {there}, <J' dout, v> is {back}"

    call = _Call(rule, function, args, keywords)
    given_dout = broadcast_like(dout, call.out) if _leaves(call.out) else dout  # functions are their own
    for template in call.applicable_templates():
        found = call.reverse(template, given_dout)
        for g, x in zip(found, call.slots, strict=True):
            _assert_like(g, x)
        narrow = any(x.dtype.itemsize < 8 for x in map(np.asarray, _leaves((args, keywords))))
        _assert_close(found, gradients, *((1e-3, 1e-4) if narrow else (1e-9, 1e-9)))


class _Call:
    """A function with a rule, and arguments; `slots` are the arguments of parameters with gradients."""

    def __init__(self, rule: Rule, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.rule, self.function, self.args, self.keywords = rule, function, args, keywords
        args_, keywords_ = _copied((args, keywords))
        self.result = function(*args_, **keywords_)
        self.out = self._known(self._defined(self.result))
        template = rule.template
        self.has_rest = template.vararg is not None and template.gradients > template.positional
        self.names = template.parameters[: template.positional if self.has_rest else template.gradients]
        self.slots = tuple(self._value(i, name) for i, name in enumerate(self.names))
        if self.has_rest:
            self.slots += (args[template.positional :],)
        self.named = {k: v for k, v in keywords.items() if k not in template.parameters}
        self.has_named = template.kwarg is not None and template.gradients > len(self.slots)
        if self.has_named:
            self.slots += (self.named,)

    def _value(self, index: int, name: str) -> Any:
        if index < len(self.args) and index < self.rule.template.positional:
            return self.args[index]
        return self.keywords.get(name)

    def evaluate(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        args, keywords = _copied((args, keywords))
        return self._known(self._defined(self.function(*args, **keywords)))

    def _defined(self, result: Any) -> Any:
        return result if self.rule.defined is None else self.rule.defined(result)

    def _known(self, result: Any) -> Any:
        """The parts of a result that have a known derivative."""
        return result if self.rule.parts is None else {name: result[name] for name in self.rule.parts}

    def with_slots(self, values: tuple[Any, ...]) -> Any:
        """The function's result with other values of the leading parameters."""
        new = dict(zip(self.names, values, strict=False))
        if self.has_named:
            new |= values[-1]
            values = values[:-1]
        keywords = {k: new.get(k, v) for k, v in self.keywords.items()}
        if self.has_rest:
            return self.evaluate((*values[:-1], *values[-1]), keywords)
        passed = min(len(self.args), len(values))
        return self.evaluate((*values[:passed], *self.args[passed:]), keywords)

    def moving(self, tangents: tuple[Any, ...], dout: Any) -> tuple[Any, ...]:
        """The tangents, but None for the parameters that the result is declared not to depend on."""
        if self.rule.structure == "elementwise":
            names = (*self.names, self.rule.template.vararg)
            return tuple(None if n in self.rule.refused else v for n, v in zip(names, tangents, strict=False))
        found = self.rule.template.gradients_at(*self.args, **self.keywords, out=self.result, dout=dout)
        return tuple(None if g is None else v for g, v in zip(found, tangents, strict=True))

    def difference(self, tangents: tuple[Any, ...], step: float) -> Any:
        ahead = self.with_slots(_combined(self.slots, tangents, step))
        behind = self.with_slots(_combined(self.slots, tangents, -step))
        return _mapped(lambda x: x / (2 * step), _combined(ahead, behind, -1))

    def reverse(self, template: Template, dout: Any) -> tuple[Any, ...]:
        found = template.gradients_at(*self.args, **self.keywords, out=self.result, dout=dout)
        if self.rule.structure == "elementwise":
            found = tuple(conform(g, x) for g, x in zip(found, self.slots, strict=True))
        if self.has_rest:
            rest = len(self.names)
            found = (*found[:rest], None if found[rest] is None else tuple(found[rest]), *found[rest + 1 :])
        return tuple(_masked(g, x) for g, x in zip(found, self.slots, strict=True))

    def forward(self, tangents: tuple[Any, ...]) -> Any:
        rule = self.rule
        if rule.jvp_template is not None:
            named = dict(zip(rule.template.parameters, tangents, strict=False))
            if self.has_rest and rule.template.vararg is not None:
                named[rule.template.vararg] = tangents[len(self.names)]
            if self.has_named and rule.template.kwarg is not None:
                named[rule.template.kwarg] = tangents[-1]
            passed = {d: self._tangent(d[1:], named[d[1:]]) for d in rule.jvp_template.tangents}
            change = self.call_with(rule.jvp_template, passed)
            return (
                broadcast_like(change, self.out) if rule.structure == "elementwise" else self._known(change)
            )
        if rule.structure == "linear":
            carried = rule.template.gradients_at(*self.args, **self.keywords, out=self.result, dout=self.out)
            return self.with_slots(
                tuple(
                    x if g is None else _zero_for_none(v)
                    for g, x, v in zip(carried, self.slots, tangents, strict=True)
                )
            )
        if rule.structure == "bilinear":
            moved = [(*self.slots[:i], v, *self.slots[i + 1 :]) for i, v in enumerate(tangents) if _leaves(v)]
            return reduce(add, map(self.with_slots, moved))
        terms = [
            rule.template.gradients_at(*self.args, **self.keywords, out=self.result, dout=v)[k]
            for k, v in enumerate(tangents)
            if v is not None
        ]
        return broadcast_like(reduce(add, terms, None), self.out)

    def call_with(self, template: Template, tangents: dict[str, Any]) -> Any:
        """The result of a forward template, called with the parameters that it names."""
        own = self.rule.template
        given_ = zip(own.parameters[: own.positional], self.args, strict=False)
        values = {**own.defaults, **dict(given_), **self.keywords}
        first = template.parameters[: template.positional] if template.vararg is not None else ()
        rest = self.args[own.positional :] if template.vararg is not None else ()
        named = {p: values[p] for p in template.parameters[len(first) :]}
        named |= self.named if template.kwarg is not None else {}
        return template.function(*(values[p] for p in first), *rest, **named, out=self.result, **tangents)

    def _tangent(self, name: str, value: Any) -> Any:
        """A tangent as transforms pass it: zero for an inactive number."""
        default = self.rule.template.defaults.get(name)
        return 0.0 if value is None and isinstance(default, (int, float)) else _zero_for_none(value)

    def applicable_templates(self) -> Iterator[Template]:
        yield self.rule.template
        if any(map(np.iscomplexobj, _leaves(self.slots))):
            return
        if self.rule.ranks and len({np.asarray(x).dtype for x in self.slots}) == 1:
            simple = self.rule.ranks.get(tuple(np.ndim(x) for x in self.slots))
            if simple is not None:
                yield simple
        if self.rule.reals is not None:
            yield self.rule.reals


# ---------------------------------------------------------------- structures of numbers


def _carries(x: Any) -> bool:
    if isinstance(x, (float, complex)):
        return True
    is_array = hasattr(x, "__array__")  # excludes sparse matrices
    return is_array and getattr(getattr(x, "dtype", None), "kind", "") in ("f", "c")


def _mapped(f: Callable[[Any], Any], x: Any) -> Any:
    """The structure with `f` applied to the numbers and arrays that carry derivatives; the rest stays."""
    if isinstance(x, (list, tuple)):
        items = [_mapped(f, v) for v in x]
        return type(x)._make(items) if hasattr(x, "_make") else type(x)(items)
    if isinstance(x, dict):
        return {k: _mapped(f, v) for k, v in x.items()}
    if is_plain(type(x)):
        return make(type(x), _mapped(f, fields_of(x)))
    return f(x) if _carries(x) else x


def _copied(call: Arguments) -> Arguments:
    """The arguments with their mutable parts copied; modules are kept."""
    args, keywords = call
    return tuple(map(_own, args)), {k: _own(v) for k, v in keywords.items()}


def _own(x: Any) -> Any:
    return x if isinstance(x, ModuleType) else deepcopy(x)


def _leaves(x: Any) -> list[Any]:
    if isinstance(x, (list, tuple)):
        return [leaf for v in x for leaf in _leaves(v)]
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in _leaves(v)]
    if is_plain(type(x)):
        return _leaves(fields_of(x))
    return [x] if _carries(x) else []


def _pairs(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs of numbers of two structures, where both have one."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        for x, y in zip(a, b, strict=True):
            yield from _pairs(x, y)
    elif isinstance(a, dict) and isinstance(b, dict):
        for k in a:
            yield from _pairs(a[k], b[k])
    elif is_plain(type(a)) and is_plain(type(b)):
        yield from _pairs(fields_of(a), fields_of(b))
    elif _carries(a) and _carries(b):
        yield a, b


def _combined(a: Any, b: Any, factor: float) -> Any:
    """`a + factor * b`, in the structure of `a`; None adds nothing."""
    if b is None:
        return a
    if isinstance(a, (list, tuple)):
        items = [_combined(x, y, factor) for x, y in zip(a, b, strict=True)]
        return type(a)._make(items) if hasattr(a, "_make") else type(a)(items)
    if isinstance(a, dict):
        return {k: _combined(a[k], b[k], factor) for k in a}
    if is_plain(type(a)):
        return make(type(a), _combined(fields_of(a), fields_of(b), factor))
    return a + factor * b if _carries(a) else a


def _masked(g: Any, x: Any) -> Any:
    """The gradient `g` of `x`, with zeros for None, and None for inactive parts."""
    if isinstance(x, (list, tuple)) and isinstance(g, (list, tuple)):
        items = [_masked(a, b) for a, b in zip(g, x, strict=True)]
        return type(g)._make(items) if hasattr(g, "_make") else type(g)(items)
    if g is None:
        return _mapped(zeros_like, x)
    return g if isinstance(x, (list, tuple, dict)) or is_plain(type(x)) or _carries(x) else None


def _zero_for_none(tangent: Any) -> Any:
    """The tangent as transforms pass it: zero for inactive numbers."""
    if isinstance(tangent, (list, tuple)):
        return type(tangent)(_zero_for_none(v) for v in tangent)
    if isinstance(tangent, (int, np.integer)) and not isinstance(tangent, bool):
        return 0.0
    is_exact = getattr(getattr(tangent, "dtype", None), "kind", "") in ("i", "u")
    return np.zeros_like(tangent, dtype=float) if is_exact else tangent


def _widened(x: Any) -> Any:
    if not hasattr(x, "dtype"):
        return x
    return x.astype(np.result_type(x, np.float64), copy=False)


def _random(x: Any, rng: np.random.Generator) -> Any:
    values = rng.uniform(-1, 1, np.shape(x))
    if np.iscomplexobj(x):
        values = values + 1j * rng.uniform(-1, 1, np.shape(x))
    return (
        values.astype(x.dtype)[()]
        if isinstance(x, np.generic)
        else np.asarray(values, dtype=x.dtype)
        if hasattr(x, "dtype")
        else type(x)(values)
    )


def _largest(x: Any) -> float:
    return max((float(np.max(np.abs(v), initial=0)) for v in _leaves(x)), default=0.0)


def _product(a: Any, b: Any) -> float:
    """The real part of the sum of products, without conjugation: the pairing in which cotangents are
    gradients.
    """
    return sum(float(np.sum(x * y).real) for x, y in _pairs(a, b))


def _assert_close(a: Any, b: Any, rtol: float, atol: float) -> None:
    for x, y in _pairs(a, b):
        assert np.shape(x) == np.shape(y), f"shapes {np.shape(x)} and {np.shape(y)}"
        assert np.iscomplexobj(x) == np.iscomplexobj(y), "one is complex, the other is not"
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, equal_nan=False)


def _assert_like(g: Any, x: Any) -> None:
    """Asserts that the gradient has the structure, shapes and dtypes of the argument."""
    if isinstance(x, (list, tuple)):
        assert type(g) is type(x) and len(g) == len(x), f"a gradient {g!r} of {x!r}"
        for a, b in zip(g, x, strict=True):
            _assert_like(a, b)
    elif isinstance(x, dict):
        assert g.keys() == x.keys(), f"a gradient {g!r} of {x!r}"
        for k in x:
            _assert_like(g[k], x[k])
    elif is_plain(type(x)) and not is_sparse(x):  # sparse arrays are constants
        assert type(g) is mirror_class(type(x)), f"a gradient {g!r} of {x!r}"
        _assert_like(fields_of(g), fields_of(x))
    elif _carries(x):
        assert np.shape(g) == np.shape(x), f"a gradient of shape {np.shape(g)}, of an argument {np.shape(x)}"
        wanted, found = np.asarray(x).dtype, np.asarray(g).dtype
        assert found == wanted, f"a gradient of dtype {found} of an argument of dtype {wanted}"
