"""Compiled code in every form: what the interpreted forms give, in both sweeps and for higher derivatives."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import assert_close

pytest.importorskip("numba")
scale = 2.0
table = {"w": np.array([1.0, 2.0, 3.0])}


def loop(x: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n):
        s = s * math.sin(x) + x * scale + i
    return s


def newton(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def early(x: Any) -> Any:
    for k in range(5):
        if x > k:
            return x * k
    return x * x


def stencil(u: Any, w: Any) -> Any:
    v = u.copy()
    for _ in range(3):
        v[1:] = v[1:] * w + v[:-1] * v[1:]
    return v


def layers(p: Any, x: Any) -> Any:
    return {"a": np.tanh(p["w"] @ x), "b": np.sum(p["b"] * x), "n": 3}


def pair(x: Any, y: Any) -> Any:
    return x * y, [y, np.sum(x)]


def reads_outside(x: Any) -> Any:
    return np.sum(x * table["w"]) * scale


def constant(x: Any) -> Any:
    return 3.0


def passes(x: Any) -> Any:
    return x


def complex_loop(z: Any, n: Any) -> Any:
    for _ in range(n):
        z = z * z + 0.1
    return z


X = np.array([0.3, -0.5, 0.7])
RUN = s2sad.vjp(stencil, compile="numba")


def assert_agree(a: Any, b: Any) -> None:
    """That structures are the same up to rounding, and to the types of numbers."""
    assert_close(a, b, 1e-13, "compiled")
    assert [type(v) for v in parts(a)] == [type(v) for v in parts(b)]


def parts(x: Any) -> list[Any]:
    """All containers and arrays in a structure."""
    items = list(x.values()) if isinstance(x, dict) else list(x) if isinstance(x, (list, tuple)) else []
    own = [x] if isinstance(x, (dict, list, tuple, np.ndarray)) else []
    return own + [found for v in items for found in parts(v)]


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "loop": (loop, (0.7, 20), 2.0),
    "no_iteration": (loop, (0.7, 0), 2.0),
    "newton": (newton, (2.0,), 1.5),
    "early": (early, (2.5,), 1.0),
    "stencil": (stencil, (np.arange(6.0) + 1, 0.5), np.arange(6.0)),
    "layers": (layers, ({"w": np.ones((2, 3)), "b": X}, X), {"a": np.ones(2), "b": 2.0, "n": None}),
    "pair": (pair, (X, 2.0), (X, [1.0, 2.0])),
    "outside": (reads_outside, (X,), np.float64(2.0)),
    "constant": (constant, (0.5,), 1.0),
    "passes": (passes, (X,), X),
    "complex": (complex_loop, (0.2 + 0.1j, 3), 1j),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_compiled_vjp_gives_what_the_interpreted_one_gives(name: str) -> None:
    f, args, dout = PROGRAMS[name]
    expected, plain = s2sad.vjp(f)(*copy.deepcopy(args))
    run = RUN if f is stencil else s2sad.vjp(f, compile="numba")
    out, bprop = run(*copy.deepcopy(args))
    assert_agree(out, expected)
    wanted = plain(dout)
    for _ in range(2):
        assert_agree(bprop(dout), wanted)


def test_a_bprop_keeps_the_values_of_its_own_run() -> None:
    args = [(np.arange(6.0) + k, 0.5 + 0.1 * k) for k in range(4)]
    made = [RUN(*a)[1] for a in args]
    wrong: list[int] = []

    def check(k: int) -> None:
        for _ in range(20):
            found, wanted = made[k](np.ones(6)), s2sad.vjp(stencil)(*args[k])[1](np.ones(6))
            if not all(np.allclose(a, b) for a, b in zip(found, wanted, strict=True)):
                wrong.append(k)

    threads = [threading.Thread(target=check, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_cotangents_of_other_types_and_layouts() -> None:
    bprop = RUN(np.arange(6.0), 0.5)[1]
    wanted = bprop(np.ones(6))
    for dout in (np.ones(12)[::2], np.ones(6, int), np.ones(6, "float32"), [1.0] * 6):
        assert_agree(bprop(dout), wanted)
    with pytest.raises(s2sad.NonDifferentiableError, match="shape"):
        bprop(np.ones(5))


def test_outer_names_are_read_at_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run = s2sad.vjp(reads_outside, argnums=0, compile="numba")
    np.testing.assert_array_equal(run(X)[1](1.0), 2.0 * table["w"])
    monkeypatch.setitem(table, "w", np.ones(3))
    monkeypatch.setitem(globals(), "scale", 5.0)
    out, bprop = run(X)
    assert out == 5.0 * np.sum(X)
    np.testing.assert_array_equal(bprop(1.0), 5.0 * np.ones(3))


def test_outputs_that_a_function_changes() -> None:
    def diffuse(u: Any, steps: Any) -> None:
        for _ in range(steps):
            u[1:] = 0.5 * u[1:] * u[:-1]

    args = np.arange(5.0), 3
    wanted, plain = s2sad.vjp(diffuse, argnums="u", outputs="u")(*copy.deepcopy(args))
    found, bprop = s2sad.vjp(diffuse, argnums="u", outputs="u", compile="numba")(*copy.deepcopy(args))
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(bprop(np.ones(5)), plain(np.ones(5)))


def element(x: Any) -> Any:
    return np.sin(x) * x


def by_elements(x: Any) -> Any:
    y = np.empty(3)
    for k in range(3):
        y[k] = x[k] * math.exp(x[(k + 1) % 3])
    return y


def energy(x: Any) -> Any:
    s = 0.0
    for k in range(len(x)):
        s = s * 0.5 + math.sin(x[k]) * x[k] ** 2
    return s


FORMS = {
    "jacobian": (by_elements, (X,)),
    "jacfwd": (by_elements, (X,)),
    "jacrev": (by_elements, (X,)),
    "elementwise_grad": (element, (X,)),
    "hessian": (energy, (X,)),
    "hvp": (energy, (X, np.ones(3))),
    "jvp": (by_elements, (X, np.ones(3))),
    "value_and_grad": (energy, (X,)),
    "grad": (energy, (X,)),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_compiles(name: str) -> None:
    f, args = FORMS[name]
    transform = getattr(s2sad, name)
    assert_agree(transform(f, compile="numba")(*args), transform(f)(*args))


def test_options_and_pickled_derivatives() -> None:
    wanted = s2sad.hvp(energy)(X, np.ones(3))
    made = s2sad.hvp(compile="numba", fastmath=True)(energy)
    assert_agree(made(X, np.ones(3)), wanted)
    assert_agree(pickle.loads(pickle.dumps(made))(X, np.ones(3)), wanted)


def cubic(x: Any) -> Any:
    s = 0.0
    for k in range(3):
        s += x**3 * k
    return s


def test_derivatives_of_derivatives_compile() -> None:
    assert s2sad.grad(s2sad.grad(cubic), compile="numba")(2.0) == 36.0
    assert s2sad.grad(s2sad.grad(s2sad.grad(cubic)), compile="numba")(2.0) == 18.0
    assert s2sad.hessian(s2sad.grad(cubic), compile="numba")(2.0) == 18.0
    assert s2sad.grad(s2sad.grad(cubic, compile="numba"), compile="numba")(2.0) == 36.0


@pytest.mark.parametrize("name", ["vjp", "grad", "jvp", "elementwise_grad", "hessian"])
def test_compiled_derivatives_are_differentiated_as_interpreted_ones(name: str) -> None:
    def calls(x: Any, **options: Any) -> Any:
        if name == "vjp":
            return s2sad.vjp(cubic, x, **options)[1](1.0)[0]
        if name == "jvp":
            return s2sad.jvp(cubic, (x,), (1.0,), **options)[1]
        return getattr(s2sad, name)(cubic, **options)(x)

    def compiled(x: Any) -> Any:
        return calls(x, compile="numba")

    assert s2sad.grad(compiled)(2.0) == s2sad.grad(calls)(2.0)


def test_a_bprop_of_compiled_code_says_why_it_stays_where_it_is() -> None:
    bprop = s2sad.vjp(loop, compile="numba")(0.5, 3)[1]
    with pytest.raises(s2sad.NonDifferentiableError, match=r"is pickled or copied\nwhy: .*memory"):
        pickle.dumps(bprop)
    with pytest.raises(s2sad.NonDifferentiableError, match=r"is differentiated\nwhy: .*memory"):
        s2sad.grad(lambda c: bprop(c)[0])(1.0)
    assert s2sad.grad(lambda x: x * x)(3.0) == 6.0  # with a compiled bprop around


@pytest.mark.parametrize("name", ["grad", "vjp", "jvp", "hvp", "hessian", "jacobian", "elementwise_grad"])
def test_unknown_compilers_and_options_are_refused_at_once(name: str) -> None:
    transform = getattr(s2sad, name)
    known = 'no compiler that is known\ninstead: compile="numba"'
    with pytest.raises(s2sad.NonDifferentiableError, match=known):
        transform(np.sin, compile="llvm")
    with pytest.raises(s2sad.NonDifferentiableError, match="`fastmath` is given without a compiler"):
        transform(cubic, fastmath=True)
    with pytest.raises(s2sad.NonDifferentiableError, match=rf"{name}\(\) got an unexpected .* 'compiler'"):
        transform(cubic, compiler="numba")


def raising(x: Any) -> Any:
    with np.errstate(all="raise"):
        return np.sum(np.log(x))


def test_what_does_not_compile_is_refused_at_its_line() -> None:
    with pytest.raises(s2sad.S2sadError) as caught:
        s2sad.vjp(raising, compile="numba")(np.ones(4))
    assert "test_two_sweeps.py" in str(caught.value)
    assert "^" in str(caught.value)
    assert "leave `compile` out" in str(caught.value)
