"""The call shapes of the public transforms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import s2sad
from s2sad import (
    NonDifferentiableError,
    elementwise_grad,
    grad,
    hvp,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from tests.support.compare import assert_same


def product(x: Any, y: Any, z: Any = 3.0) -> Any:
    return x * y**2 * z


def mixed(x: Any, count: int, mode: str, y: Any) -> Any:
    return x * count + (y * y if mode == "square" else y)


# ---------------------------------------------------------------- argnums


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [
        (0, 75.0),
        (1, 60.0),
        (-1, 50.0),
        (-3, 75.0),
        ("y", 60.0),
        ((0,), (75.0,)),
        ((2, 0), (50.0, 75.0)),
        (("z", 0), (50.0, 75.0)),
        ((), ()),
    ],
)
def test_argnums_of_grad(argnums: Any, expected: Any) -> None:
    assert grad(product, argnums=argnums)(2.0, 5.0, 3.0) == expected
    assert value_and_grad(product, argnums)(2.0, 5.0, 3.0) == (150.0, expected)
    assert grad(product, argnums)(2.0, 5.0) == expected


def test_argnums_count_free_arguments_only() -> None:
    assert grad(functools.partial(product, 2.0))(5.0) == 60.0
    assert grad(functools.partial(product, 2.0), argnums="z")(5.0) == 50.0
    assert grad(functools.partial(product, y=5.0))(2.0) == 75.0


def test_keyword_arguments_and_defaults() -> None:
    assert grad(product)(2.0, y=5.0) == 75.0
    assert grad(product)(y=5.0, x=2.0, z=1.0) == 25.0
    assert grad(product, argnums="z")(2.0, z=1.0, y=5.0) == 50.0

    def keyword_only(x: float, *, scale: float = 2.0) -> float:
        return x * scale**2

    assert grad(keyword_only)(3.0) == 4.0
    assert grad(keyword_only, argnums="scale")(3.0, scale=5.0) == 30.0
    assert value_and_grad(keyword_only)(3.0, scale=5.0) == (75.0, 25.0)
    out, bprop = vjp(keyword_only)(3.0, scale=5.0)
    assert (out, bprop(1.0)) == (75.0, (25.0, 30.0))
    assert jvp(keyword_only, argnums=0)(3.0, 1.0, scale=5.0) == (75.0, 25.0)

    def positional_only(x: float, /, y: float) -> float:
        return x * y

    assert grad(positional_only, argnums=(0, 1))(2.0, y=5.0) == (5.0, 2.0)


def test_values_without_derivatives_among_arguments() -> None:
    assert grad(mixed)(2.0, 3, "square", 5.0) == 3.0
    assert grad(mixed, argnums=(0, 3))(2.0, 3, "square", 5.0) == (3.0, 10.0)
    out, bprop = vjp(mixed)(2.0, 3, "square", 5.0)
    assert (out, bprop(1.0)) == (31.0, (3.0, None, None, 10.0))
    assert jvp(mixed)(2.0, 3, "square", 5.0, 1.0, None, None, 0.5) == (31.0, 8.0)


# ---------------------------------------------------------------- has_aux


def test_has_aux() -> None:
    def with_aux(x: float) -> tuple[float, dict[str, float]]:
        return x**3, {"half": x / 2}

    assert grad(with_aux, has_aux=True)(2.0) == (12.0, {"half": 1.0})
    assert value_and_grad(with_aux, has_aux=True)(2.0) == ((8.0, {"half": 1.0}), 12.0)
    assert grad(with_aux, argnums=(0,), has_aux=True)(2.0) == ((12.0,), {"half": 1.0})


def squares_with_aux(x: Any) -> Any:
    return x * x, {"half": x / 2}


def energy_with_aux(x: Any) -> Any:
    return np.sum(x * x), {"half": x / 2}


@pytest.mark.parametrize("made", [None, "numba"])
def test_has_aux_of_every_transform(made: Any) -> None:
    def both(transform: Any, f: Any, *args: Any) -> Any:
        *derivative, aux = transform(f, has_aux=True, compile=made if f is pair else None)(*args)
        assert_same(aux["half"] if isinstance(aux, dict) else aux, x / 2)
        return derivative

    def pair(x: Any) -> Any:
        return np.sum(x * x), x / 2

    x, v = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    energy = energy_with_aux if made is None else pair
    value, bprop = both(vjp, energy, x)
    assert value == 5.0
    assert_same(bprop(1.0), (2 * x,))
    for _ in range(2):  # then recognised
        assert both(jvp, energy, x, v) == [5.0, np.sum(2 * x * v)]
    assert_same(both(s2sad.hessian, energy, x), [2 * np.eye(2)])
    assert_same(both(hvp, energy, x, v), [2 * v])
    for transform in (s2sad.jacobian, s2sad.jacfwd, s2sad.jacrev):
        assert_same(both(transform, squares_with_aux, x), [np.diag(2 * x)])
        empty, aux = transform(squares_with_aux, has_aux=True)(np.zeros(0))
        assert (empty.shape, aux["half"].shape) == ((0, 0), (0,))
    assert_same(both(elementwise_grad, squares_with_aux, x), [2 * x])


def test_has_aux_with_primals_and_stars() -> None:
    value, bprop, aux = vjp(squares_with_aux, 3.0, has_aux=True)
    assert (value, bprop(1.0), aux) == (9.0, (6.0,), {"half": 1.5})
    assert jvp(squares_with_aux, (3.0,), (1.0,), has_aux=True) == (9.0, 6.0, {"half": 1.5})
    assert jvp(lambda *a: (a[0] * a[1], a), has_aux=True)(3.0, 2.0, 1.0, 0.0) == (6.0, 2.0, (3.0, 2.0))
    with pytest.raises(s2sad.S2sadError, match=r"the function returns a tuple of two, \(value, aux\)"):
        jvp(product, has_aux=True)(1.0, 2.0, 3.0, 1.0, 1.0, 1.0)


# ---------------------------------------------------------------- options

OPTIONS: dict[str, set[str]] = {
    "grad": {"output"},
    "value_and_grad": {"output"},
    "vjp": {"outputs"},
    "jvp": {"outputs"},
    "jacobian": {"sparsity"},
    "jacfwd": {"sparsity"},
    "jacrev": {"sparsity"},
    "hessian": {"sparsity"},
    "hvp": set(),
    "elementwise_grad": set(),
}
VALUES = {"output": "x", "outputs": "x", "sparsity": True, "has_aux": False, "argnums": 0, "compile": None}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("option", VALUES)
def test_each_transform_knows_its_options(name: str, option: str) -> None:
    transform, given = getattr(s2sad, name), {option: VALUES[option]}
    if option in OPTIONS[name] | {"has_aux", "argnums", "compile"}:
        transform(product, **given)
        transform(**given)
        transform(lambda *a: a[0], **given)
    else:
        for f in (product, None, np.sin):
            with pytest.raises(NonDifferentiableError, match=rf"{name}\(\) got an unexpected .* '{option}'"):
                transform(f, **given)


def test_misspelt_options() -> None:
    with pytest.raises(NonDifferentiableError) as caught:
        grad(product, argnum=1)  # type: ignore[call-overload]
    assert str(caught.value) == (
        "grad() got an unexpected keyword argument 'argnum'\n"
        "why: its options are argnums, has_aux, output, compile, fastmath, cache, parallel\n"
        "instead: write argnums=1"
    )
    with pytest.raises(NonDifferentiableError, match="instead: write sparsity=True"):
        s2sad.jacfwd(product, sparse=True)  # type: ignore[call-overload]
    with pytest.raises(NonDifferentiableError, match=r"are argnums, outputs, has_aux, .*\ninstead: leave it"):
        vjp(product, holomorphic=True)  # type: ignore[call-overload]


def test_hvp_of_several_arguments() -> None:
    x, y, v = np.array([1.0, 2.0]), np.array([3.0, -1.0]), np.array([0.5, 0.25])
    by_both = hvp(lambda x, y: np.sum(x**2 * y), argnums=(0, 1))(x, y, v, y)
    assert_same(by_both, (2 * y * v + 2 * x * y, 2 * x * v))
    assert_same(hvp(lambda *a: np.sum(a[0] ** 2 * a[1]), argnums=(0, 1))(x, y, v, y), by_both)


# ---------------------------------------------------------------- vjp, jvp, linearize


def test_vjp() -> None:
    out, bprop = vjp(product, 2.0, 5.0, 3.0)
    assert (out, bprop(1.0), bprop(2.0), bprop(1.0)) == (
        150.0,
        (75.0, 60.0, 50.0),
        (150.0, 120.0, 100.0),
        (75.0, 60.0, 50.0),
    )
    fprop = vjp(product, argnums=1)
    assert fprop(2.0, 5.0)[1](1.0) == 60.0
    assert vjp(product, 2.0, 5.0, argnums=(1,))[1](1.0) == (60.0,)


def test_bprops_of_one_fprop_are_independent() -> None:
    fprop = vjp(lambda x: np.sin(x) * x)
    first, second = fprop(1.0)[1], fprop(2.0)[1]
    before = first(1.0)
    second(1.0)
    assert first(1.0) == before


def test_jvp() -> None:
    assert jvp(product, (2.0, 5.0, 3.0), (1.0, 0.0, 0.0)) == (150.0, 75.0)
    assert jvp(product)(2.0, 5.0, 3.0, 0.0, 1.0, 0.0) == (150.0, 60.0)
    assert jvp(product, argnums=(1, 0))(2.0, 5.0, 3.0, 1.0, 0.0) == (150.0, 60.0)
    assert jvp(product, argnums="z")(2.0, 5.0, 3.0, 2.0) == (150.0, 100.0)


def test_none_is_a_zero_tangent() -> None:
    x = np.array([1.0, 2.0])
    for _ in range(3):  # also where it is not recognised
        assert_same(jvp(product, (x, x, 3.0), (x, None, None)), jvp(product, (x, x, 3.0), (x, 0 * x, 0.0)))
        assert jvp(product)(2.0, 5.0, 3.0, None, 1.0, None) == (150.0, 60.0)
    parts = {"a": x, "b": [2.0, 1]}
    for tangent in (None, {"a": None, "b": None}, {"a": None, "b": [None, None]}):
        out, dout = jvp(lambda p, y: p["a"] * p["b"][0] * y, (parts, x), (tangent, x))
        assert_same((out, dout), (2.0 * x * x, 2.0 * x * x))
    assert jvp(lambda f, x: f(x), (np.sin, 0.0), (None, 1.0)) == (0.0, 1.0)
    assert_same(linearize(product, x, x, 1.0)[1](None, x, None), 2 * x**3)
    assert_same(hvp(lambda x: np.sum(x**3))(x, None), np.zeros(2))
    with pytest.raises(NonDifferentiableError, match=r"cotangent of `product\(...\)` is None\n.*give zeros"):
        vjp(product, x, x, x)[1](None)


def test_source_for_takes_what_the_call_takes() -> None:
    forward = jvp(product, argnums=("x", "y"))
    assert forward.source_for(2.0, 3.0, 4.0, 1.0, 1.0) == forward.source_for(2.0, 3.0, 4.0)
    assert hvp(energy).source_for(np.ones(2), np.ones(2)) == hvp(energy).source_for(np.ones(2))
    assert jvp(lambda *xs: xs[0] * xs[1]).source_for(1.0, 2.0).count("dxs") >= 2


def energy(x: Any) -> Any:
    return np.sum(x**3)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_a_wrong_number_of_tangents_of_stars(count: int) -> None:
    for f in (lambda *xs: xs[0] * xs[-1], np.multiply, functools.partial(lambda *xs: xs[0])):
        with pytest.raises(NonDifferentiableError, match=rf"then a tangent for each.* given {count} alto"):
            jvp(f)(*[1.0] * count)
    with pytest.raises(NonDifferentiableError, match="then 2 tangents, and was given 1 altogether"):
        jvp(lambda *xs: xs[0], argnums=(0, 1))(1.0)
    assert jvp(lambda *xs: 2.0)() == (2.0, 0.0) == jvp(lambda *xs: 2.0)()


def test_linearize_runs_the_function_once() -> None:
    runs = []

    def program(u: Any, steps: int) -> Any:
        runs.append(steps)
        for _ in range(steps):
            u[1:] = u[1:] * np.sin(u[:-1])
        return {"all": u * 2.0, "sum": np.sum(u)}

    u, du = np.arange(1.0, 5.0), np.array([1.0, -1.0, 0.5, 0.25])
    expected = jvp(program)(u.copy(), 2, du, None)[1]
    runs.clear()
    out, push = linearize(program, u.copy(), 2)
    for scale in (1.0, 2.0, 0.0):
        found = push(du * scale, None)
        np.testing.assert_allclose(found["all"], expected["all"] * scale)
        np.testing.assert_allclose(found["sum"], expected["sum"] * scale)
    assert runs == [2] and out["all"].shape == (4,)
    with pytest.raises(NonDifferentiableError, match="tangent of `u` has shape"):
        push(np.ones(3), None)
    with pytest.raises(NonDifferentiableError, match="1 tangents were given for 2 arguments"):
        push(du)
    assert linearize(lambda n: 3 * n, 2)[1](None) is None


def test_linearize_of_complex_functions_and_trees() -> None:
    z, dz = np.array([1 + 2j, 3 - 1j]), np.array([0.3 - 0.7j, 1.1 + 0.2j])
    for f in (lambda z: np.conj(z) * z, lambda z: np.abs(z), lambda z: np.real(z) * z, lambda z: z * z):
        np.testing.assert_allclose(linearize(f, z)[1](dz), jvp(f, (z,), (dz,))[1])
    given = {"a": 2.0, "b": [np.ones(2), 3.0]}
    tangent = {"a": 0.5, "b": [np.array([1.0, 2.0]), -1.0]}

    def of_tree(p: Any) -> Any:
        return p["a"] * p["b"][0] * p["b"][1], p["a"]

    found, expected = linearize(of_tree, given)[1](tangent), jvp(of_tree, (given,), (tangent,))[1]
    np.testing.assert_allclose(found[0], expected[0])
    assert found[1] == expected[1] == 0.5


def test_linearize() -> None:
    out, push = linearize(product, 2.0, 5.0, 3.0)
    assert (out, push(1.0, 0.0, 0.0), push(0.0, 0.0, 1.0)) == (150.0, 75.0, 50.0)


class Point(NamedTuple):
    x: float
    y: float


def test_structured_arguments_and_results() -> None:
    def f(p: dict[str, Any], q: tuple[Any, list[float]]) -> Any:
        return {"sum": np.sum(p["w"]) * q[0], "parts": [q[1][0] * p["b"], (q[1][1], 7)]}

    p, q = {"w": np.array([1.0, 2.0]), "b": 3.0}, (2.0, [5.0, 7.0])
    out, bprop = vjp(f)(p, q)
    assert_same(out, f(p, q))
    dp, dq = bprop({"sum": 1.0, "parts": [1.0, (1.0, None)]})
    assert_same(dp, {"w": np.array([2.0, 2.0]), "b": 5.0})
    assert_same(dq, (np.float64(3.0), [3.0, 1.0]) if isinstance(dq[0], np.float64) else (3.0, [3.0, 1.0]))

    def energy(points: list[Point]) -> float:
        return points[0][0] * points[1][1] + points[1][0] ** 2

    gradient = grad(energy)([Point(1.0, 2.0), Point(3.0, 4.0)])
    assert gradient == [Point(4.0, 0.0), Point(6.0, 1.0)]
    assert all(type(g) is Point for g in gradient)


# ---------------------------------------------------------------- hvp, elementwise_grad, stop_gradient


def test_hvp() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x**3) * y

    x, v = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    np.testing.assert_allclose(hvp(f)(x, 3.0, v), 18.0 * x * v)
    np.testing.assert_allclose(hvp(f, argnums=1)(x, 3.0, 1.0), 0.0)
    np.testing.assert_allclose(hvp(f, argnums="x")(x, 3.0, v), 18.0 * x * v)


@pytest.mark.parametrize("x", [np.linspace(-1, 1, 5), np.ones((2, 3)), np.float64(0.5), 0.5, np.zeros(0)])
def test_elementwise_grad(x: Any) -> None:
    found = elementwise_grad(lambda x: np.sin(x) * x)(x)
    np.testing.assert_allclose(found, np.cos(x) * x + np.sin(x))
    assert np.shape(found) == np.shape(x)
    np.testing.assert_allclose(elementwise_grad(elementwise_grad(np.sin))(x), -np.sin(x))


def test_stop_gradient() -> None:
    x = np.array([1.0, 2.0])
    assert stop_gradient(x) is x
    assert_same(grad(lambda x: np.sum(x * stop_gradient(x)))(x), x)
    assert jvp(lambda x: stop_gradient(x) * x)(3.0, 1.0) == (9.0, 3.0)
    assert grad(stop_gradient)(3.0) == 0.0


# ---------------------------------------------------------------- decorators


@grad
def decorated(x: float) -> float:
    """Cubes."""
    return x**3


@grad(argnums="y")
def decorated_with_arguments(x: float, y: float) -> float:
    return x * y**3


@value_and_grad
@grad
def decorated_twice(x: float) -> float:
    return x**4


def test_decorators() -> None:
    assert decorated(2.0) == 12.0
    assert decorated.__doc__ is not None and decorated.__doc__.endswith("Cubes.")
    assert decorated_with_arguments(5.0, 2.0) == 60.0
    assert decorated_twice(2.0) == (32.0, 48.0)


@pytest.mark.parametrize(
    "transform",
    [
        *(s2sad.grad, s2sad.value_and_grad, s2sad.vjp, s2sad.jvp, s2sad.jacobian, s2sad.jacfwd),
        *(s2sad.jacrev, s2sad.hessian, s2sad.hvp, s2sad.elementwise_grad),
    ],
)
def test_every_transform_is_a_decorator(transform: Callable[..., Any]) -> None:
    @transform
    def f(x: float) -> float:
        return x**3

    @transform(argnums=0)
    def g(x: float) -> float:
        return x**3

    takes_tangent = transform in (s2sad.jvp, s2sad.hvp)
    args = (2.0, 1.0) if takes_tangent else (2.0,)
    if transform is s2sad.vjp:
        assert f(*args)[1](1.0) == (12.0,)
        assert g(*args)[1](1.0) == 12.0
    else:
        np.testing.assert_allclose(f(*args), g(*args))


# ---------------------------------------------------------------- dtypes, zeros and identity


@pytest.mark.parametrize(
    "x",
    [2.0, np.float64(2.0), np.float32(2.0), np.array(2.0), np.array([2.0]), np.full((2, 2), 2.0, "float32")],
    ids=repr,
)
def test_gradients_are_like_their_arguments(x: Any) -> None:
    gradient = grad(lambda x: np.sum(x * x))(x)
    assert np.shape(gradient) == np.shape(x)
    assert np.asarray(gradient).dtype == np.asarray(x).dtype
    np.testing.assert_allclose(gradient, 2 * x)


def test_what_the_result_does_not_depend_on_has_zeros() -> None:
    assert_same(grad(lambda x, y: y * 2.0)(np.ones((2, 3)), 1.0), np.zeros((2, 3)))
    assert grad(lambda x: 4.0)(1.0) == 0.0
    assert_same(vjp(lambda x, y: (y, y))({"a": [1.0, 2]}, 3.0)[1]((1.0, 1.0)), ({"a": [0.0, None]}, 2.0))
    assert jvp(lambda x: np.ones(3))(1.0, 1.0)[1].tolist() == [0.0, 0.0, 0.0]


def test_complex_gradients_by_the_stated_convention() -> None:
    z = np.array([1.0 + 2.0j, -0.5 + 0.25j])
    np.testing.assert_allclose(grad(lambda z: np.sum(np.abs(z) ** 2))(z), 2 * np.conj(z))
    out, bprop = vjp(lambda z: z * z, 1.0 + 2.0j)
    assert bprop(1.0 + 0.0j)[0] == 2.0 + 4.0j
    assert out == (1.0 + 2.0j) ** 2


def test_gradients_are_the_callers_alone() -> None:
    x = np.array([1.0, 2.0])
    both = grad(lambda x, y: np.sum(x + y), argnums=(0, 1))
    dx, dy = both(x, x)
    dx *= 5
    assert dy.tolist() == [1.0, 1.0]
    assert x.tolist() == [1.0, 2.0]
    assert both(x, x)[0].tolist() == [1.0, 1.0]


def test_names_of_other_tools_say_what_to_do_here() -> None:
    with pytest.raises(AttributeError, match='compile="numba"'):
        s2sad.jit  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="Python's own `if`"):
        from s2sad import lax  # type: ignore[attr-defined]  # noqa: F401
    assert not hasattr(s2sad, "lax")
    with pytest.raises(AttributeError, match=r"'grads'$"):
        s2sad.grads  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("argnums", [[0, 1], ["x", "y"]])
def test_argnums_may_be_a_list(argnums: Any) -> None:
    def f(x: float, y: float) -> float:
        return x * y

    assert s2sad.grad(f, argnums)(2.0, 3.0) == s2sad.grad(argnums=argnums)(f)(2.0, 3.0) == (3.0, 2.0)
    assert s2sad.vjp(f, 2.0, 3.0, argnums=argnums)[1](1.0) == (3.0, 2.0)
    assert s2sad.jvp(f, (2.0, 3.0), (1.0, 1.0), argnums=argnums)[1] == 5.0
