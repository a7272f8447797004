"""Transforms within differentiated functions, of functions of every kind; and functions that call
themselves and each other.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.transforms.errors import NonDifferentiableError, UnsupportedSyntaxError
from tests.support.build import build
from tests.support.compare import EVERY_FORM, check_program, check_second, numeric_jvp

HEAD = """
from functools import partial
from s2sad import (elementwise_grad, grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, linearize,
                   value_and_grad, vjp)

def outside(a, t):
    return t ** 3 * a + math.sin(t * a)

def outside_named(t, *, a):
    return t ** 3 * a + math.sin(t * a)

def of_three(a, b, t):
    return t ** 3 * a + math.sin(t * b)

def maker(a):
    def inner(t):
        return t ** 3 * a + math.sin(t * a)
    return inner

def apply(h, t):
    return h(t)

def chain(h, k):
    return lambda t: h(k(t))
"""

# How `g`, a function of one number that depends on `x`, comes about.
FUNCTIONS = {
    "def": "def g(t):\n    return t ** 3 * x + math.sin(t * x)",
    "lambda": "g = lambda t: t ** 3 * x + math.sin(t * x)",
    "module": "g = lambda t: outside(x, t)",
    "list": "gs = [lambda t: t, lambda t: t ** 3 * x + math.sin(t * x)]\ng = gs[1]",
    "default": "def g(t, a=x):\n    return t ** 3 * a + math.sin(t * a)",
    "keyword only": "def g(t, *, a=x):\n    return t ** 3 * a + math.sin(t * a)",
    "closure of closures": "h = lambda a: x * a\ng = lambda t: t ** 2 * h(t) + math.sin(h(t))",
    "returned": "g = maker(x)",
    "chosen": "g = (lambda t: t ** 3 * x + math.sin(t * x)) if x > 0 else math.sin",
    "captured late": "def g(t):\n    return t ** 3 * a + math.sin(t * a)\na = x * x",
    "captured anew": "a = x * 2.0\ng = lambda t: t ** 3 * a + math.sin(t * a)\na = x * 1.5",
    "defined in a loop": """
g = lambda t: x * t
for i in range(2):
    g0 = g
    g = lambda t, g0=g0: g0(t) * t
""",
    "chained": "g = chain(lambda u: u * x + math.sin(u), lambda t: t ** 2 * x)",
    "recursive": "def g(t, n=2):\n    return x * t if n == 0 else g(t, n - 1) * t",
    "recursive lambda": "g = lambda t, n=2: x * t if n == 0 else g(t, n - 1) * t",
    "recursive through another": """
def g(t, n=2):
    return x * t if n == 0 else apply(lambda u: g(u, n - 1), t) * t
""",
    "recursive through its gradient": """
def g(t, n=1):
    return x * t * t * t if n == 0 else grad(g)(t, n - 1) * t * x
""",
    "a gradient": "g = grad(lambda t: t ** 4 * x + math.sin(t * x))",
    "a tangent": "g = lambda t: jvp(lambda s: s ** 4 * x * t, (t,), (x,))[1]",
    "partial": "g = partial(outside, x)",
    "partial by name": "h = partial(outside_named, a=x)\ng = lambda t: h(t) * h(t, a=x * x)",
    "partial of a partial": "g = partial(partial(of_three, x), x * 2.0)",
    "partial of a closure": "h = lambda a, t: a * x * t * t\ng = partial(h, x)",
    "partial of a gradient": "g = partial(grad(outside, argnums=1), x)",
    "partials in a list": "gs = [partial(outside, a) for a in [x, 2.0]]\ng = lambda t: gs[0](t) * gs[1](t)",
    "independent": "g = lambda t: t ** 3",
    "constant": "g = lambda t: x",
    "primitive": "g = math.sin",
}
# What is made of it.
USES = {
    "call": "g(x)",
    "grad": "grad(g)(x)",
    "value_and_grad": "sum(value_and_grad(g)(1.3))",
    "jvp": "jvp(g, (x,), (x,))[1]",
    "jvp, primals by name": "jvp(g, primals=(1.3,), tangents=(x,))[1]",
    "vjp": "vjp(g, x)[1](x)[0]",
    "bprop, twice": "(lambda b: b(x)[0] * b(2.0)[0])(vjp(g, x)[1])",
    "jacrev": "jacrev(g)(x * 2.0)",
    "hessian": "hessian(g)(x)",
    "hvp": "hvp(g)(x, x)",
    "elementwise_grad": "elementwise_grad(g)(x)",
    "grad of grad": "grad(grad(g))(x)",
    "grad of jvp": "grad(lambda u: jvp(g, (u,), (x,))[1])(x)",
    "jvp of grad": "jvp(grad(g), (1.3,), (x,))[1]",
    "passed on": "apply(grad(g), x)",
    "in a loop": "sum([grad(g)(x * i) for i in [1.0, 2.0]])",
    "never called": "sum([grad(g)(x * i) for i in []]) + x * x",
    "in itself": "grad(lambda u: u * grad(lambda t: g(t) * u)(x))(x)",
}


def nested(function: str, use: str) -> str:
    lines = [*FUNCTIONS[function].strip().splitlines(), f"out = {USES[use]}", "return out * x + out"]
    return HEAD + "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


# Each function in two uses, and each use of some function; where S2SAD_EXAMPLES is set all of all.
APART = 1 if EVERY_FORM else len(USES) // 2
PAIRS = [
    (function, use)
    for n, function in enumerate(FUNCTIONS)
    for k, use in enumerate(USES)
    if (k - n) % APART == 0
]


@pytest.mark.parametrize(("function", "use"), PAIRS)
def test_transforms_of_a_function(function: str, use: str) -> None:
    check_program(build(nested(function, use)), (0.7,), (0,))


def test_a_second_derivative_of_a_partial_of_a_closure() -> None:
    check_program(build(nested("partial of a closure", "jvp of grad")), (0.7,), (0,))


def test_a_partial_of_a_dynamic_closure_is_refused_where_derivatives_are_taken() -> None:
    def of(make: Any) -> Any:
        def f(a: Any, x: Any) -> Any:
            h = functools.partial(make(a), np.ones(3))
            return s2sad.grad(h)(x)

        return f

    def make(a: Any) -> Any:
        return lambda w, x: np.sum(w * x * a)

    with pytest.raises(UnsupportedSyntaxError, match="a partial application or method that may change"):
        s2sad.jvp(of(make), argnums=0)(2.0, np.ones(3), 1.0)


@pytest.mark.parametrize("use", list(USES)[:: 1 if EVERY_FORM else 4])
def test_every_transform_of_a_recursive_closure(use: str) -> None:
    check_program(build(nested("recursive", use)), (0.7,), (0,))


@pytest.mark.parametrize("function", list(FUNCTIONS)[:: 1 if EVERY_FORM else 3])
def test_second_order_of_a_transform_of_a_function(function: str) -> None:
    use = list(USES)[(5 * list(FUNCTIONS).index(function)) % len(USES)]
    f = build(nested(function, use))
    check_second(f, (0.7,), (0,))


MUTUAL = {
    "two": """
def g(t, n=3):
    return x * t if n == 0 else h(t, n - 1) * x
def h(t, n):
    return t * t if n == 0 else g(t, n - 1) * x * t
""",
    "three": """
def g(t, n=4):
    return x * t if n == 0 else h(t, n - 1) * x
def h(t, n):
    return t * t if n == 0 else k(t, n - 1) * x * t + g(t, n - 1)
def k(t, n):
    return x * t * t if n == 0 else g(t, n - 1) * h(t, n - 1)
""",
}


@pytest.mark.parametrize("name", MUTUAL)
def test_closures_that_call_each_other(name: str) -> None:
    text = HEAD + "def f(x):\n" + "".join(f"    {line}\n" for line in MUTUAL[name].strip().splitlines())
    called = build(text + "    return g(x) * h(x, 2)\n")
    check_program(called, (0.7,), (0,))
    check_second(called, (0.7,), (0,))
    # The inner gradient sums in another order there, and so rounds in another way.
    within = build(text + "    return grad(g)(x) * jvp(h, (x, 3), (x, None))[1]\n")
    expected = numeric_jvp(within, (0.7,), (0,), (1.0,))
    assert s2sad.grad(within)(0.7) == pytest.approx(expected, rel=1e-6)
    assert s2sad.jvp(within)(0.7, 1.0)[1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("before", ["again = g", "held = [g]\nagain = held[0]"])
def test_a_function_that_holds_itself_is_refused(before: str) -> None:
    lines = ["def g(t, n):", "    return x * t if n == 0 else again(t, n - 1) * t", *before.splitlines()]
    f = build("def f(x):\n" + "".join(f"    {line}\n" for line in [*lines, "return g(x, 2)"]))
    for derive in (s2sad.grad(f), lambda x: s2sad.vjp(f)(x)[1](1.0)):
        with pytest.raises(NonDifferentiableError, match="a function in the attribute `again_cell`"):
            derive(0.7)


def test_derivatives_of_partial_functions() -> None:
    def power(a: Any, t: Any, n: Any = 1.0) -> Any:
        return a * t**3 * n

    for f in (functools.partial(power, 2.0), functools.partial(functools.partial(power), 2.0, n=1.0)):
        assert s2sad.hessian(f)(1.5) == s2sad.grad(s2sad.grad(f))(1.5) == s2sad.hvp(f)(1.5, 1.0) == 18.0
        assert s2sad.grad(s2sad.grad(s2sad.grad(f)))(1.5) == 12.0
        assert s2sad.jvp(s2sad.grad(f), (1.5,), (2.0,)) == (13.5, 36.0)
        assert s2sad.grad(lambda x, f=f: s2sad.grad(s2sad.grad(f))(x) * x)(1.5) == 36.0
    assert s2sad.grad(functools.partial(s2sad.grad(power, argnums=1), 2.0))(1.5) == 18.0


def test_the_adjoint_of_a_partial_function_is_that_of_its_parts() -> None:
    out, bprop = s2sad.vjp(lambda f, x: f(x))(functools.partial(pow, 3.0), 2.0)
    dpartial, dx = bprop(1.0)
    assert out == 9.0
    assert dpartial == (None, (6.0,), {})
    assert dx == pytest.approx(9.0 * np.log(3.0))


ARRAY = np.array([0.5, 2.0])
GETTERS = {
    "one item": lambda x: operator.itemgetter(1)([x, x * x]) * np.sum(x),
    "two items": lambda x: operator.itemgetter(0, 1)(x)[1] * FIRST(x),
    "attributes": lambda x: operator.attrgetter("T", "real")(x)[0] * x,
    "a method": lambda x: operator.methodcaller("sum", axis=0)(x) * x,
    "a method with arguments": lambda x: TIMES(x * x) * x,
    "as a key": lambda x: sorted([(1, x[0]), (0, x[1] ** 2)], key=operator.itemgetter(0))[0][1] * x,
    "linearize": lambda x: s2sad.linearize(lambda t, s: t**2 * s * x, x[0], x[1])[1](x[1], 2.0),
}
FIRST, TIMES = operator.itemgetter(0), operator.methodcaller("dot", ARRAY)


@pytest.mark.parametrize("name", GETTERS)
def test_functions_that_functions_make(name: str) -> None:
    check_program(GETTERS[name], (ARRAY,), (0,))
    check_second(GETTERS[name], (ARRAY,), (0,))


def test_derivatives_of_getters() -> None:
    np.testing.assert_array_equal(s2sad.grad(FIRST)(ARRAY), [1.0, 0.0])
    np.testing.assert_array_equal(s2sad.grad(TIMES)(ARRAY), ARRAY)


# ---------------------------------------------------------------- tangents and arguments


def product(x: Any, y: Any = 2.0, z: Any = 3.0) -> Any:
    return x * x * y * z


def test_a_jvp_takes_a_tangent_for_each_argument_that_is_given() -> None:
    assert s2sad.jvp(product, (5.0,), (1.0,)) == (150.0, 60.0)
    assert s2sad.jvp(product)(5.0, 1.0, 1.0, 0.0) == (75.0, 30.0)
    assert s2sad.jvp(product)(5.0, 1.0, y=1.0) == (75.0, 30.0)
    assert s2sad.jvp(product, argnums="y")(5.0, 1.0, 1.0) == (75.0, 75.0)
    assert s2sad.linearize(product, 5.0)[1](2.0) == 120.0
    with pytest.raises(TypeError, match="a tangent for each"):
        s2sad.jvp(product)(5.0, 1.0, 1.0)


def all_defaults(x: Any = 0.5, y: Any = 1.0) -> Any:
    return x * x * y


def test_tangents_are_not_taken_for_arguments() -> None:
    assert s2sad.jvp(all_defaults, (3.0,), (1.0,)) == (9.0, 6.0)
    assert s2sad.jvp(all_defaults)() == (0.25, 0.0)


def test_derivatives_of_functions_with_defaults_are_differentiated() -> None:
    gradient = s2sad.grad(product)
    assert s2sad.grad(lambda x: gradient(x) * x)(5.0) == 120.0
    assert s2sad.grad(lambda x: gradient(x, z=x))(5.0) == 40.0


def halved_first(x: Any) -> Any:
    y = x.copy()
    y[0] = y[0] * 0.5
    return y


def weighted(values: Any) -> Any:
    total = 0.0
    for key, value in values.items():
        total = total + key * value
    return total


def test_tangents_are_made_like_their_arguments() -> None:
    x = np.array([3.0, 2.0])
    _, tangent = s2sad.jvp(halved_first)(x, np.array([1, 0]))
    np.testing.assert_array_equal(tangent, [0.5, 0.0])
    assert s2sad.jvp(weighted)({1: 3.0, 2: 2.0}, {2: 1.0, 1: 0.0}) == (7.0, 2.0)
    _, tangent = s2sad.jvp(halved_first)(x.astype(np.float32), np.array([1.0, 0.0]))
    assert tangent.dtype == np.float32


@pytest.mark.parametrize(
    ("primal", "tangent"),
    [
        (3, 1.0),
        (True, True),
        (3.0, 1j),
        (3.0, [1.0]),
        (np.ones(2), np.ones(3)),
        (np.ones(2), 1.0),
        (np.ones(2), np.array([1j, 0])),
        (np.arange(2), np.ones(2)),
        ([1.0, 2.0], (1.0, 2.0)),
        ([1.0, 2.0], [1.0]),
        ([1.0, 2.0], np.ones(2)),
        ({"a": 1.0}, {"b": 1.0}),
        ({"a": 1.0}, {"a": 1.0, "b": 2.0}),
    ],
)
def test_tangents_that_do_not_fit_are_refused(primal: Any, tangent: Any) -> None:
    with pytest.raises(NonDifferentiableError, match="tangent"):
        s2sad.jvp(lambda x: x)(primal, tangent)


@pytest.mark.parametrize("tangent", [None, 0, 0.0])
def test_what_carries_no_derivative_has_no_tangent(tangent: Any) -> None:
    assert s2sad.jvp(lambda x, n: x**n)(3.0, 2, 1.0, tangent) == (9.0, 6.0)


@pytest.mark.parametrize("f", [lambda x: x, lambda x: x + 1.0, lambda x: x.T, lambda x: [x, (x[:1],)]])
def test_a_tangent_of_a_result_is_nobody_elses(f: Any) -> None:
    x, dx = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    _, tangent = s2sad.jvp(f)(x, dx)
    for part in (tangent[0], tangent[1][0]) if isinstance(tangent, list) else (tangent,):
        assert not np.shares_memory(part, dx)
        part[...] = 0.0
    np.testing.assert_array_equal(dx, [3.0, 4.0])


# ---------------------------------------------------------------- cotangents


def test_cotangents_are_made_like_the_result() -> None:
    x = np.array([3.0, 2.0])
    for cotangent in (np.array([1, 0]), np.array([True, False]), [1.0, 0.0]):
        (dx,) = s2sad.vjp(halved_first, x)[1](cotangent)
        np.testing.assert_array_equal(dx, [0.5, 0.0])
    (dx,) = s2sad.vjp(halved_first, x.astype(np.float32))[1](np.array([1.0, 0.0]))
    assert dx.dtype == np.float32


@pytest.mark.parametrize(
    ("f", "cotangent"),
    [
        (lambda x: x * 2.0, 1.0),
        (lambda x: x * 2.0, np.ones((3, 2))),
        (lambda x: x * 2.0, np.array([1j, 0])),
        (np.sum, np.ones(2)),
        (np.sum, None),
        (lambda x: (x, x), (1.0,)),
        (lambda x: (x, x), [np.ones(2), np.ones(2)]),
        (lambda x: {"a": x}, {"b": np.ones(2)}),
    ],
)
def test_cotangents_that_do_not_fit_are_refused(f: Any, cotangent: Any) -> None:
    _, bprop = s2sad.vjp(f)(np.array([3.0, 2.0]))
    with pytest.raises(NonDifferentiableError, match="cotangent"):
        bprop(cotangent)


def test_a_bprop_is_differentiated_with_respect_to_its_cotangent() -> None:
    _, bprop = s2sad.vjp(lambda x: (x * x, [x]), np.array([1.0, 2.0]))

    def f(y: Any) -> Any:
        return np.sum(bprop((y, [y * y]))[0] * y)

    check_program(f, (np.array([3.0, 1.0]),), (0,))
    check_second(f, (np.array([3.0, 1.0]),), (0,))


FORWARD = """
from s2sad import jvp

def inner(x, k=2.0):
    return np.sum(x ** 3) * k

along = jvp(inner)

def f(x, k):
    out, change = along(x, x)
    return out * change + along(x, k, x, 1.0)[1] * k
"""


def test_a_forward_derivative_that_is_known_before() -> None:
    f = build(FORWARD)
    check_program(f, (np.array([0.5, -0.8]), 0.7), (0, 1))
    check_second(f, (np.array([0.5, -0.8]), 0.7), (0, 1))


BY_MEMORY = """
from s2sad import grad

def f(p, x):
    q = {"w": p["w"], "b": p["b"]}
    s = q
    a = np.sum(q["w"])
    s["w"] = x
    return a * np.sum(q["w"] * q["b"])

df = grad(f)

def h(p, x):
    d = df(p, x)
    return np.sum(d["w"]) + np.sum(d["b"] ** 2)
"""


def test_adjoints_that_were_found_by_memory_are_differentiated() -> None:
    p, x = {"w": np.array([0.5, 0.8]), "b": np.array([0.2, -0.4])}, np.array([0.7, 0.3])
    check_program(build(BY_MEMORY), (p, x), (0, 1))


CHANGING = {
    "views": """
b = a[1:]
b *= a[:-1]
a[0] = b[1] * a[3]
""",
    "out": """
np.multiply(a, a, out=a)
np.add(a[1:], a[:-1], out=a[1:])
np.sin(a, out=a)
""",
    "a list of views": """
h = [a[:2], a[2:], a]
h[0][1] = h[1][0] * h[2][3]
h[1] *= h[0]
""",
    "a swap": """
u = a * 1.5
for k in range(3):
    u[1:] += 0.5 * a[:-1] * u[1:]
    u, a = a, u
""",
    "a sort": """
b = a[::-1]
a.sort()
b *= y
""",
    "an object": """
s = Held(a)
s.row[0] = s.u[3]
s.u[1:] *= s.row[0]
""",
}
HELD = """
class Held:
    def __init__(self, u):
        self.u = u
        self.row = u[:2]
"""


@pytest.mark.parametrize("name", CHANGING)
def test_bprops_of_functions_that_change_arrays_are_differentiated(name: str) -> None:
    changes = "".join(f"        {line}\n" for line in CHANGING[name].strip().splitlines())
    f = build(
        f"{HELD}\ndef f(x, y):\n    def g(x, y):\n        a = x * y\n{changes}        return a * x\n"
        "    out, bprop = vjp(g, x, y)\n    dx, dy = bprop(out * y)\n    ex, ey = bprop(x)\n"
        "    return np.sum(dx * dy * x) + np.sum(ex * ey)\n",
        vjp=s2sad.vjp,
    )
    check_program(f, (np.array([0.5, -0.7, 1.2, 0.9]), np.array([0.3, 0.8, -0.4, 1.1])), (0, 1))


PASSED_AROUND = {
    "a dict": """
h = {"p": a * 1.0, "q": a * y}
h["p"][1:] *= h["q"][:-1]
h["q"] = h["p"]
h["q"][0] *= 2.0
return np.sum(h["p"] * h["q"])
""",
    "a swap of items": """
h = [a * 1.0, a * y]
h[0], h[1] = h[1], h[0]
h[0][1:] *= h[1][:-1]
return np.sum(h[0] * h[1])
""",
}


@pytest.mark.parametrize("name", PASSED_AROUND)
@pytest.mark.parametrize("use", ["jvp(grad(g), (x,), (y,))[1]", "grad(g)(x) * y"])
def test_derivatives_that_find_adjoints_by_memory_are_differentiated(name: str, use: str) -> None:
    body = "".join(f"        {line}\n" for line in PASSED_AROUND[name].strip().splitlines())
    f = build(
        f"from s2sad import grad, jvp\ndef f(x, y):\n    def g(a):\n{body}"
        f"    d = {use}\n    return np.sum(d * x)\n"
    )
    check_program(f, (np.array([0.5, -0.7, 1.2, 0.9]), np.array([0.3, 0.8, -0.4, 1.1])), (0, 1))


@pytest.mark.parametrize("call", [
    "d, aux = grad(g, has_aux=True)(v)",
    "d, aux = grad(g, 0, True)(v)",
    "(_, aux), d = value_and_grad(g, has_aux=True)(v)",
    "_, bprop, aux = vjp(g, has_aux=True, argnums=0)(v)\n    d = bprop(x[0])",
    "_, bprop, aux = vjp(g, v, has_aux=True, argnums=0)\n    d = bprop(x[0])",
    "_, d, aux = jvp(g, has_aux=True)(v, x)",
    "_, d, aux = jvp(g, (v,), (x,), has_aux=True)",
    "d, aux = jacfwd(g, 0, True)(v)",
    "d, aux = jacrev(g, has_aux=True)(v)",
    "d, aux = hessian(g, has_aux=True)(v)",
    "d, aux = hvp(g, has_aux=True)(v, x)",
    "d, aux = elementwise_grad(g, has_aux=True)(v)",
    "d, aux = grad(g, has_aux=True, compile='numba')(v)",
])  # fmt: skip
def test_options_of_transforms_of_closures(call: str) -> None:
    text = HEAD + f"""
def f(x):
    v = np.array([0.3, -1.2])
    g = lambda t: (np.sum(t ** 3 * x), t * x)
    {call}
    return np.sum(d * d) + np.sum(aux ** 2)
"""
    check_program(build(text), (np.array([0.7, 1.4]),), (0,))


def test_the_push_of_linearize_is_differentiated() -> None:
    def g(x: Any, y: Any) -> Any:
        return {"a": np.sin(x) * y, "b": x * y}

    x = np.array([1.0, 2.0])
    _, push = s2sad.linearize(g, x, 3.0)

    def energy(dx: Any, dy: Any) -> Any:
        return np.sum(push(dx, dy)["a"] ** 2)

    check_program(energy, (np.array([0.1, 0.2]), 0.3), (0, 1))
    check_second(energy, (np.array([0.1, 0.2]), 0.3), (0, 1))
    dx, dy = s2sad.vjp(push)(x, 1.0)[1]({"a": np.ones(2), "b": np.zeros(2)})
    np.testing.assert_allclose(dx, 3.0 * np.cos(x))
    np.testing.assert_allclose(dy, np.sum(np.sin(x)))


@pytest.mark.parametrize("lines", [
    "return jvp(g, primals, tangents)",
    "return jvp(g)(*primals, *tangents)",
    "out, push = linearize(g, *primals)\n    return out, push(*tangents)",
])  # fmt: skip
def test_rules_that_push_forward_have_a_reverse_mode(lines: str) -> None:
    text = HEAD + f"""
from s2sad import custom_jvp

@custom_jvp
def g_by_rule(x):
    return g(x)

@g_by_rule.defjvp
def g_jvp(primals, tangents):
    {lines}

def g(x):
    y = x
    for _ in range(2):
        y = np.sin(y) * x
    return np.sum(y * y)

def f(x):
    return g_by_rule(x) * np.sum(x)
"""
    check_program(build(text), (np.array([0.7, 1.4]),), (0,))


@functools.lru_cache
def remembered(x: float, y: float = 2.0, *, z: float = 3.0) -> float:
    return x**2 * y * z


class Remembering:
    @staticmethod
    @functools.lru_cache
    def cube(x: float) -> float:
        return x**3


DYNAMIC = [
    (remembered, 12.0),
    (functools.partial(remembered, z=1.0), 4.0),
    (Remembering.cube, 12.0),
    (Remembering().cube, 12.0),
    (Remembering.__dict__["cube"], 12.0),
]


@pytest.mark.parametrize(("f", "second"), DYNAMIC)
def test_gradients_of_caches_known_at_run_time_only(f: Any, second: float) -> None:
    fs = [f]
    assert s2sad.grad(lambda x: s2sad.grad(fs[0])(x))(2.0) == second
    assert s2sad.jvp(lambda x: s2sad.grad(fs[0])(x))(2.0, 1.0)[1] == second
