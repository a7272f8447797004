"""Primitives are functions like others: bare, and through `functools.partial`, they are differentiated as the
functions of one line that call them.
"""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import math
import operator
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats

import s2sad
from s2sad.derivatives.primitive_calls import MANY
from s2sad.primitives.record import Rule, rules
from s2sad.testing.check_rules import samples_of
from tests.support.build import build
from tests.support.compare import (
    EVERY_FORM,
    assert_same,
    check_program,
    check_second,
    directions,
    dot,
    flatten,
    is_sampled,
    map_leaves,
    number_of,
    random_like,
)

# Helpers of generated code are rules, too: they are called as generated code calls them.
CALLS = [
    pytest.param(rule, f, id=f"{rule.template.function.__module__.rpartition('.')[2]}-{rule.name}-{k}")
    for rule in rules()
    if rule.template.function.__module__.startswith("s2sad.") and is_sampled(rule.template.function)
    for k, f in enumerate(rule.functions[: None if EVERY_FORM else 2])
    if not str(getattr(f, "__module__", "")).startswith("s2sad.")
]


def forms(rule: Rule, function: Any) -> dict[Any, Any]:
    """A sample for each set of arguments and keywords that the rule is tested with, a number and an array;
    where S2SAD_EXAMPLES is not set, and of other functions of the rule, one of these samples.
    """
    found: dict[Any, Any] = {}
    for args, keywords in samples_of(rule, function):
        kind = isinstance(args[0], float) if args and rule.domain is not None else None
        found.setdefault((len(args), tuple(keywords), kind), (args, keywords))
    if EVERY_FORM and function is rule.functions[0]:
        return found
    keys = list(found)
    key = keys[-1 if function is not rule.functions[0] else number_of(rule.template.function) % len(keys)]
    return {key: found[key]}


def named_options(rule: Rule, function: Any, args: Any, keywords: Any) -> tuple[Any, dict[str, Any]]:
    """The call with what carries no derivative by name, as far as the signature allows."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return args, keywords
    count, named = len(args), dict(keywords)
    while count > max(1, rule.template.gradients) or (count > 1 and not flatten(args[count - 1])):
        last = parameters[count - 1] if count <= len(parameters) else None
        if last is None or last.kind is not last.POSITIONAL_OR_KEYWORD:
            break
        count -= 1
        named[last.name] = args[count]
    return args[:count], named


def slots(rule: Rule, args: Any) -> tuple[int, ...]:
    """The positions of the arguments that carry derivatives."""
    template = rule.template
    count = len(args) if template.vararg else min(template.gradients, template.positional)
    names = (*template.parameters[: template.positional], *(template.vararg,) * len(args))
    known = zip(range(count), names, args, strict=False)
    return tuple(k for k, name, a in known if name not in rule.refused and flatten(a))


def cotangent(rule: Rule, out: Any) -> Any:
    """A random cotangent of a result, zero for the parts of which no derivative is known."""
    drawn = random_like(out, np.random.default_rng(4))
    if rule.parts is not None and not isinstance(out, dict):
        drawn = tuple(v if k in rule.parts else map_leaves(np.zeros_like, v) for k, v in enumerate(drawn))
    if not isinstance(out, dict):
        return drawn
    made = copy.copy(out)  # of the class of the result
    for k, v in drawn.items():
        made[k] = v if rule.parts is None or k in rule.parts else map_leaves(np.zeros_like, v)
    return made


def known(rule: Rule, out: Any) -> Any:
    """The parts of a result, or of its tangent or cotangent, of which a derivative is known."""
    return out if rule.parts is None else [out[k] for k in rule.parts]


def precision(args: Any, out: Any) -> float:
    sizes = [np.finfo(np.asarray(x).dtype).eps for x in flatten((args, out))]
    return 1e4 * float(max(sizes, default=1e-16))


def outcome(derivative: Any, args: Any, keywords: dict[str, Any]) -> Any:
    """What a call gives, or the refusal of it."""
    try:
        return derivative(*copy.deepcopy(args), **keywords)
    except s2sad.S2sadError as refusal:
        return refusal


@pytest.mark.parametrize(("rule", "function"), CALLS)
def test_bare_and_partial_primitives_are_functions_of_one_line(rule: Rule, function: Any) -> None:
    for args, keywords in forms(rule, function).values():
        wrt = slots(rule, args)
        if wrt:
            check_call(rule, function, args, keywords, wrt)


def check_call(rule: Rule, function: Any, args: Any, keywords: dict[str, Any], wrt: tuple[int, ...]) -> None:
    names = [f"a{k}" for k in range(len(args))]
    passed = ", ".join([*names, *(f"{k}={k}" for k in keywords)])
    text = f"def call({', '.join(names)}):\n    return function({passed})\n"
    written = build(text, function=function, **keywords)
    expected = outcome(s2sad.vjp(written, argnums=wrt), args, {})
    found = outcome(s2sad.vjp(function, argnums=wrt), args, keywords)
    assert type(found) is type(expected)
    if isinstance(expected, s2sad.S2sadError):
        return
    out = function(*copy.deepcopy(args), **keywords)
    dout = cotangent(rule, out)
    gradients = found[1](dout)
    assert_same(gradients, expected[1](dout))

    first, options = named_options(rule, function, args, keywords)
    chosen = tuple(k for k in wrt if k < len(first))
    tangents = directions(args, chosen, 3)
    applied = partial(function, **options)
    value, change = s2sad.jvp(applied, argnums=chosen)(*copy.deepcopy(first), *tangents)
    if rule.defined is None:
        assert_same(known(rule, found[0]), known(rule, out))
        assert_same(known(rule, value), known(rule, out))
    there, back = dot(known(rule, dout), known(rule, change)), dot(gradients[: len(chosen)], tangents)
    np.testing.assert_allclose(there, back, rtol=precision(args, out), atol=precision(args, out))


# ---------------------------------------------------------------- calls of the public transforms

X = np.array([0.5, -1.2, 2.0])
M = np.array([[2.0, 1.0, 0.3], [0.5, 3.0, 1.0], [0.2, 1.0, 4.0]])


def test_keywords_of_partials_and_calls_are_not_dropped() -> None:
    signs = np.sign(X)
    assert s2sad.grad(partial(np.linalg.norm, ord=1))(X).tolist() == signs.tolist()
    assert s2sad.grad(np.linalg.norm)(X, ord=1).tolist() == signs.tolist()
    assert s2sad.grad(np.linalg.norm)(X, 1).tolist() == signs.tolist()
    assert s2sad.grad(partial(np.linalg.norm, ord=2))(X, ord=1).tolist() == signs.tolist()
    assert s2sad.grad(partial(partial(np.linalg.norm, ord=2), ord=1))(X).tolist() == signs.tolist()
    assert s2sad.grad(np.linalg.norm, argnums="x")(x=X, ord=1).tolist() == signs.tolist()
    value, gradient = s2sad.value_and_grad(partial(np.linalg.norm, ord=1))(X)
    assert value == np.linalg.norm(X, 1) and gradient.tolist() == signs.tolist()


def test_a_keyword_that_a_user_binds_is_bound() -> None:
    def scaled(x: float, y: float = 2.0) -> float:
        return x * y

    with pytest.raises(TypeError, match="multiple values"):
        s2sad.grad(partial(scaled, y=3.0))(1.0, 5.0)


def test_all_transforms_take_primitives() -> None:
    norm = partial(np.linalg.norm, axis=1)
    expected = s2sad.jacobian(lambda m: np.linalg.norm(m, axis=1))(M)
    for transform in (s2sad.jacobian, s2sad.jacfwd, s2sad.jacrev):
        np.testing.assert_allclose(transform(norm)(M), expected)
        np.testing.assert_allclose(transform(np.linalg.norm)(M, axis=1), expected)
    cubed = partial(np.linalg.norm, ord=3)
    hessian = s2sad.hessian(lambda x: np.linalg.norm(x, ord=3))(X)
    np.testing.assert_allclose(s2sad.hessian(cubed)(X), hessian)
    np.testing.assert_allclose(s2sad.hessian(np.linalg.norm)(X, ord=3), hessian)
    np.testing.assert_allclose(s2sad.hvp(cubed)(X, X**2), hessian @ X**2)
    np.testing.assert_allclose(s2sad.hvp(np.linalg.norm)(X, X**2, ord=3), hessian @ X**2)
    np.testing.assert_allclose(s2sad.jacobian(s2sad.grad(np.linalg.norm))(X, ord=3), hessian)
    out, push = s2sad.linearize(cubed, X)
    assert out == cubed(X) and np.isclose(push(X), out)
    np.testing.assert_allclose(s2sad.elementwise_grad(partial(np.power, 2.0))(X), 2**X * np.log(2))
    s2sad.check_grads(norm, (M,))
    s2sad.check_grads(np.logaddexp, (X, X[::-1]))


def test_argnums_are_positions_or_names_of_what_the_call_gives() -> None:
    logpdf = scipy.stats.norm.logpdf
    expected = s2sad.grad(lambda x, loc, scale: logpdf(x, loc, scale), argnums=(0, 1, 2))(1.5, 0.3, 2.0)
    assert s2sad.grad(logpdf, argnums=(0, 1, 2))(1.5, 0.3, 2.0) == expected
    assert s2sad.grad(logpdf, argnums=(0, "loc", "scale"))(1.5, loc=0.3, scale=2.0) == expected
    assert s2sad.grad(logpdf, argnums=-1)(1.5, 0.3, 2.0) == expected[2]
    assert s2sad.vjp(logpdf, 1.5, 0.3, 2.0)[1](1.0) == expected
    assert s2sad.grad(partial(logpdf, loc=0.3), argnums=(0, "scale"))(1.5, scale=2.0) == expected[::2]
    with pytest.raises(s2sad.NonDifferentiableError, match="`ord` is 1"):
        s2sad.grad(np.linalg.norm, argnums="ord")(X, ord=1)
    with pytest.raises(s2sad.NonDifferentiableError, match="argnums=1 does not fit"):
        s2sad.grad(np.linalg.norm, argnums=1)(X, ord=1)


def test_a_bprop_gives_cotangents_of_what_is_no_option() -> None:
    (dx,) = s2sad.vjp(np.linalg.norm)(X, ord=1.0)[1](1.0)
    assert dx.tolist() == np.sign(X).tolist()
    assert s2sad.vjp(scipy.stats.norm.logpdf)(1.5, scale=2.0)[1](1.0) == (-0.375,)
    assert s2sad.vjp(partial(scipy.stats.norm.logpdf, scale=2.0), 1.5)[1](1.0) == (-0.375,)
    assert s2sad.jacobian(scipy.integrate.quad, argnums=2)(math.cos, 0.0, 1.0) == (math.cos(1.0), None)


class Product:
    def __call__(self, *factors: float, **named: float) -> float:
        return math.prod(factors) * named.get("scale", 1.0)


def test_objects_that_take_any_number_of_arguments() -> None:
    assert s2sad.grad(Product(), argnums=(0, "scale"))(2.0, 3.0, scale=4.0) == (12.0, 6.0)
    assert s2sad.grad(partial(Product(), 5.0, scale=2.0))(1.0, 3.0) == 30.0


def test_methods_of_objects_of_libraries() -> None:
    assert s2sad.grad(X.dot)(X * 2).tolist() == X.tolist()
    assert s2sad.grad(np.ndarray.sum)(X).tolist() == [1, 1, 1]
    assert s2sad.jacobian(np.add.accumulate)(X).tolist() == np.tri(3).tolist()
    assert s2sad.jacobian(partial(np.multiply.outer, X))(X).shape == (3, 3, 3)
    assert s2sad.grad(scipy.stats.norm(0.3, 2.0).logpdf)(1.5) == pytest.approx(-0.3)
    assert s2sad.grad(np.float64(2.0).clip)(1.0, 3.0) == 0.0


def test_builtins() -> None:
    assert s2sad.grad(max)([1.0, 3.0]) == [0.0, 1.0]
    assert s2sad.grad(max, argnums=1)(1.0, 3.0) == 1.0
    assert s2sad.grad(sum)([1.0, 3.0]) == [1.0, 1.0]
    assert s2sad.grad(pow, argnums=(0, 1))(2.0, 3.0)[0] == 12.0
    assert s2sad.grad(math.hypot, argnums=(0, 2))(3.0, 4.0, 12.0) == (3 / 13, 12 / 13)
    assert s2sad.grad(operator.call, argnums=1)(np.linalg.norm, X, ord=1).tolist() == [1, -1, 1]
    assert s2sad.grad(functools.reduce, argnums=1)(operator.mul, [2.0, 3.0, 4.0]) == [12.0, 8.0, 6.0]


@pytest.mark.parametrize(
    ("f", "args", "keywords"),
    [
        (np.sum, (X,), {"x": 1}),
        (np.linalg.norm, (X,), {"x": X}),
        (np.linalg.norm, (), {}),
        (math.sqrt, (1.0, 2.0), {}),
        (partial(np.sum, axis=0), (M, 1), {}),
    ],
)
def test_calls_that_do_not_fit_are_refused(f: Any, args: Any, keywords: Any) -> None:
    with pytest.raises(s2sad.NonDifferentiableError, match="argument"):
        s2sad.grad(f)(*args, **keywords)


@pytest.mark.parametrize("f", [np.argmax, np.put, zip, [].append, X.sort, len, gc.collect])
def test_what_has_no_derivative_is_refused(f: Any) -> None:
    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(f)(X)


def test_derivatives_of_primitives_are_objects_like_others() -> None:
    gradient = pickle.loads(pickle.dumps(s2sad.grad(partial(np.linalg.norm, ord=1))))
    assert gradient(X).tolist() == [1, -1, 1]
    assert "ord=1" in gradient.source and gradient.source_for(X).startswith("def norm_grad(x):")
    assert s2sad.grad(np.linalg.norm).source.startswith("def norm_grad(x):")
    assert inspect.getsource(s2sad.grad(np.linalg.norm)) == s2sad.grad(np.linalg.norm).source
    assert "x" in inspect.signature(s2sad.grad(np.linalg.norm)).parameters
    assert s2sad.explain(np.linalg.norm, X).stages["to_anf"].function(X) == np.linalg.norm(X)
    assert s2sad.explain(np.hypot).stages["to_anf"].function(3.0, 4.0) == 5.0


def test_options_that_vary_are_arguments_in_the_end() -> None:
    gradient = s2sad.grad(np.linalg.norm)
    for k in range(1, 2 * MANY):
        np.testing.assert_allclose(gradient(X, ord=k), s2sad.grad(lambda x, k=k: np.linalg.norm(x, k))(X))
    assert "ord=ord" in gradient.source_for(X, ord=10**6)


# ---------------------------------------------------------------- as values within differentiated code

NORM = partial(np.linalg.norm, ord=1)
ROWS = (X, X[::-1])
TABLE = {"norm": NORM, "sum": partial(np.sum, axis=0)}


class Reducer:
    def __init__(self) -> None:
        self.reduce = partial(np.linalg.norm, ord=1)

    def __call__(self, x: Any) -> Any:
        return self.reduce(x * x)


REDUCER = Reducer()


def apply(f: Any, *args: Any, **keywords: Any) -> Any:
    return f(*args, **keywords)


def of_a_capture(x: Any) -> Any:
    return apply(lambda k: partial(np.linalg.norm, ord=k)(x) * x, 3)


def in_a_list(x: Any) -> Any:
    total = 0.0
    for f in [partial(np.sum, axis=0), partial(np.prod, axis=0), np.max]:
        total = total + f(x)
    return total


WITHIN = {
    "of the module": lambda x: NORM(x * x) * NORM(x),
    "arguments of the module": lambda x: np.dot(*ROWS[:1], x) * np.dot(ROWS[1], x),
    "made there": lambda x: partial(np.sum, axis=0)(np.outer(x, x)),
    "overridden": lambda x: apply(partial(np.linalg.norm, ord=1), x, ord=3),
    "in a dict": lambda x: TABLE["norm"](x * x) * TABLE["sum"](x),
    "in an object": lambda x: REDUCER(x) * REDUCER.reduce(x),
    "passed on": lambda x: apply(NORM, x) * apply(partial(np.linalg.norm, ord=3), x),
    "in a closure": of_a_capture,
    "in a list": in_a_list,
    "of a partial": lambda x: partial(partial(np.sum, axis=0), keepdims=True)(np.outer(x, x)),
    "an active argument": lambda x: apply(partial(np.multiply, x), x * 2),
    "an active keyword": lambda x: partial(scipy.special.logsumexp, b=x * x)(x),
    "an active keyword of a method": lambda x: partial(scipy.stats.norm.logpdf, scale=x * x)(x, loc=0.5),
    "a constant argument": lambda x: apply(partial(np.einsum, "i,i->"), x, x * 2),
    "a method of a ufunc": lambda x: partial(np.multiply.outer, x)(x),
    "a gradient": lambda x: s2sad.grad(partial(np.linalg.norm, ord=3))(x) * x,
    "a gradient with a keyword": lambda x: s2sad.grad(np.linalg.norm)(x, ord=3) * x,
    "a gradient of an active one": lambda x: s2sad.grad(partial(np.vdot, x))(x * x),
    "a pushforward": lambda x: s2sad.jvp(partial(np.linalg.norm, ord=3), (x,), (x * x,))[1],
}


@pytest.mark.parametrize("f", WITHIN.values(), ids=WITHIN)
def test_primitives_as_values(f: Any) -> None:
    check_program(f, (X,), (0,))


@pytest.mark.parametrize("name", ["overridden", "an active keyword", "a gradient", "a method of a ufunc"])
def test_primitives_as_values_twice(name: str) -> None:
    check_second(WITHIN[name], (X,), (0,))
