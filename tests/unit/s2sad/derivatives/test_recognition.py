"""Only calls for which the cache of versions would find the same code are recognised."""

from __future__ import annotations

import builtins
import functools
import gc
import math
import threading
import weakref
from collections import namedtuple
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.derivatives.derivative import Derivative
from s2sad.derivatives.recognition import MISSED, recogniser, recognition

Pair = namedtuple("Pair", "a b")
Triple = namedtuple("Triple", "a b c")


class Sub(np.ndarray):
    pass


class Plain:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Other(Plain):
    pass


class Slotted:
    __slots__ = ("a",)


def shaped(rng: Any) -> Any:
    shape = tuple(rng.choice([0, 1, 1, 2, 3, 3, 7, 8, 9, 20], size=rng.integers(0, 4)))
    dtype = rng.choice(["float64", "float64", "float64", "float32", "int64", "bool", "complex128"])
    return np.ones(shape, dtype)


def value(rng: Any, depth: int = 0) -> Any:
    """A random argument."""
    simple = [
        2.0, np.float64(2.0), np.float32(2.0), 2, np.int64(2), True, False, np.True_, 1j, None, ..., "",
        "sum", "mean", "x" * 40, "y" * 50, [], (), {}, np.ones(3).view(Sub), np.ones(2, dtype=">f8"), {1, 2},
        math.sin, Slotted(), [1.0, 2.0], [1.0, 2], [True, 1], [1.0] * 20, [None, 1.0],
    ]  # fmt: skip
    chosen = rng.integers(0, 10)
    if chosen < 5 or depth == 3:
        return shaped(rng)
    if chosen < 8:
        return simple[rng.integers(0, len(simple))]
    items = [value(rng, depth + 1) for _ in range(rng.integers(1, 4))]
    made = [
        list, tuple, lambda v: dict(zip("abc", v, strict=False)), named, lambda v: dict(enumerate(v)),
        lambda v: Plain(**dict(zip("abc", v, strict=False))), lambda v: Other(a=v[0], f=math.sin),
        lambda v: SimpleNamespace(b=v[0], a=v[-1]),
    ]  # fmt: skip
    return made[rng.integers(0, len(made))](items)


def named(items: list[Any]) -> Any:
    return Pair(*items) if len(items) == 2 else Triple(*items) if len(items) == 3 else tuple(items)


def changed(x: Any, rng: Any) -> Any:
    """A value that is often of the same kind."""
    if type(x) is np.ndarray and x.size and rng.integers(0, 2):
        n = int(rng.choice(x.shape)) if x.ndim else 1
        return np.ones(tuple(int(rng.choice([k, k + 1, n])) for k in x.shape), x.dtype)
    if type(x) in (list, tuple):
        return type(x)([changed(v, rng) for v in x])
    if type(x) is dict:
        return {k: changed(v, rng) for k, v in x.items()}
    if type(x) in (Plain, Other, SimpleNamespace) and rng.integers(0, 5):
        cls = Plain if rng.integers(0, 10) == 0 else type(x)
        return cls(**{k: changed(v, rng) for k, v in vars(x).items()})
    return x if rng.integers(0, 3) else value(rng)


def both(x: Any, y: Any) -> Any:
    return x, y


def cache_of(met: tuple[Any, ...]) -> Any:
    """A function that recognises calls like this one; None where such calls have no tests."""
    case = recognition(met, both)
    return None if case is None else recogniser([], [case])


@pytest.mark.parametrize("seed", range(40))
def test_only_arguments_of_the_same_kinds_are_recognised(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = Derivative(both, "grad", 0)._given
    exact = frozenset(rng.choice([2, 3, 8], size=rng.integers(0, 2)).tolist())
    for _ in range(20):
        met = value(rng), value(rng)
        found = cache_of(met)
        if found is None:
            continue
        kinds = given.kinds(met, exact)
        assert found(*met) is not MISSED
        for _ in range(20):
            other = changed(met[0], rng), changed(met[1], rng)
            if found(*other) is not MISSED:
                assert kinds == given.kinds(other, exact)


@pytest.mark.parametrize(
    ("met", "other"),
    [
        ((2.0, np.ones(3)), (1.0, np.zeros(3))),
        (({"w": np.ones((3, 4)), "b": np.ones(4)}, 1), ({"w": np.zeros((3, 4)), "b": np.zeros(4)}, 7)),
        (([np.ones(3)] * 4, "sum"), ([np.zeros(3)] * 4, "sum")),
        (([1.0] * 30, (True, None)), ([2.0] * 20, (False, None))),
    ],
)
def test_arguments_of_the_same_kinds_are_recognised(met: Any, other: Any) -> None:
    found = cache_of(met)
    assert found is not None
    assert found(*met)[1] is met[1]
    assert found(*other)[1] is other[1]


def recognises(derivative: Any, *args: Any) -> bool:
    """Whether the call is recognised, and its code run."""
    return derivative._versions.recognised(*derivative._given.target.args, *args) is not MISSED


# ---------------------------------------------------------------- outer names

rate, weights, table = 2.0, np.ones(3), {"w": np.ones(3)}
settings = ModuleType("settings")
settings.scale, settings.step = 3.0, np.sin  # type: ignore[attr-defined]


def twice(x: Any) -> Any:
    return 2.0 * x


def thrice(x: Any) -> Any:
    return 3.0 * x


def weighted(x: Any) -> Any:
    return rate * twice(x) * weights[0] * table["w"][0]


def test_a_rebound_global_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = s2sad.grad(weighted)
    assert gradient(1.0) == 4.0
    assert recognises(gradient, 1.0)
    monkeypatch.setitem(globals(), "twice", thrice)
    assert not recognises(gradient, 1.0)
    assert gradient(1.0) == 6.0
    monkeypatch.setitem(globals(), "rate", 5.0)
    assert recognises(gradient, 1.0)
    assert gradient(1.0) == 15.0
    monkeypatch.setitem(globals(), "rate", np.full(1, 5.0))
    assert gradient(1.0) == 15.0
    monkeypatch.setitem(globals(), "weights", np.full(4, 2.0))
    assert gradient(1.0) == 30.0
    monkeypatch.setitem(globals(), "weights", [3.0])
    assert gradient(1.0) == 45.0
    monkeypatch.setitem(globals(), "table", {"w": [2.0]})
    assert gradient(1.0) == 90.0
    monkeypatch.delitem(globals(), "rate")
    with pytest.raises(NameError):
        gradient(1.0)


def test_containers_outside_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "table", {"w": np.ones(3)})
    gradient = s2sad.grad(weighted)
    assert gradient(1.0) == 4.0
    table["w"] = 2 * np.ones(3)
    assert recognises(gradient, 1.0)
    assert gradient(1.0) == 8.0
    table["w"] = [5.0]  # type: ignore[assignment]
    assert not recognises(gradient, 1.0)
    assert gradient(1.0) == 20.0
    table["v"] = np.ones(2)
    assert gradient(1.0) == 20.0


def test_the_code_and_the_defaults_of_functions_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def inner(x: Any, n: float = 2.0) -> Any:
        return n * x

    def outer(x: Any, k: float = 1.0, *, m: float = 1.0) -> Any:
        return k * m * inner(x)

    gradient = s2sad.grad(outer)
    assert gradient(1.0) == 2.0
    inner.__defaults__ = (3.0,)
    assert gradient(1.0) == 3.0
    inner.__code__ = (lambda x, n=2.0: n * n * x).__code__
    assert gradient(1.0) == 9.0
    outer.__defaults__ = (2.0,)
    assert gradient(1.0) == 18.0
    assert outer.__kwdefaults__ is not None
    outer.__kwdefaults__["m"] = 2.0
    assert gradient(1.0) == 36.0
    outer.__code__ = (lambda x, k=1.0, *, m=1.0: x * x + inner(0.0)).__code__.replace(co_freevars=("inner",))
    assert gradient(3.0) == 6.0


def test_modules_classes_cells_and_builtins_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Options:
        power = 2.0

        @staticmethod
        def shift(x: Any) -> Any:
            return x + 1.0

    held: Any = twice

    def f(x: Any) -> Any:
        return settings.scale * magnitude(Options.shift(held(x))) * Options.power  # type: ignore # noqa: F821

    def replace(new: Any) -> None:
        nonlocal held
        held = new

    monkeypatch.setattr(builtins, "magnitude", abs, raising=False)  # a name that s2sad itself does not use
    gradient = s2sad.grad(f)
    assert gradient(1.0) == 12.0
    replace(thrice)
    assert gradient(1.0) == 18.0
    monkeypatch.setattr(settings, "scale", 1.0)
    assert gradient(1.0) == 6.0
    Options.power = 1.0
    assert gradient(1.0) == 3.0
    Options.shift = staticmethod(lambda x: x * x)  # type: ignore[method-assign]
    assert gradient(1.0) == 18.0
    monkeypatch.setattr(builtins, "magnitude", lambda x: 10.0 * x)
    assert gradient(1.0) == 180.0
    monkeypatch.setitem(globals(), "magnitude", lambda x: 100.0 * x)
    assert gradient(1.0) == 1800.0


def test_a_parameter_may_have_the_name_of_a_global() -> None:
    def f(x: Any, twice: Any) -> Any:
        return weighted(x) * twice

    gradient = s2sad.grad(f)
    assert gradient(1.0, 2.0) == gradient(1.0, 2.0) == 8.0


# ---------------------------------------------------------------- calls


def test_keywords_defaults_and_bound_arguments() -> None:
    def f(x: Any, n: Any = 2.0, /, k: Any = 3.0, *, m: Any = 4.0) -> Any:
        return x * n * k * m

    gradient = s2sad.grad(f)
    for _ in range(2):
        assert gradient(1.0) == 24.0
        assert gradient(1.0, k=1.0) == 8.0
        assert gradient(1.0, 1.0, m=1.0) == 3.0
        with pytest.raises(s2sad.NonDifferentiableError, match=r"positional.only"):
            gradient(1.0, n=3.0)
        with pytest.raises(s2sad.NonDifferentiableError, match="too many positional"):
            gradient(1.0, 2.0, 3.0, 4.0)
    partial = s2sad.grad(functools.partial(f, 1.0, m=2.0))
    for _ in range(2):
        assert partial(1.0) == 6.0
        assert partial(1.0, k=1.0) == 2.0
        assert partial(1.0, m=1.0) == 3.0


def test_objects_and_their_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        rate = 2.0

        def __init__(self) -> None:
            self.w, self.act = np.ones(3), np.sin

        def loss(self, x: Any) -> Any:
            return np.sum(self.act(x * self.w)) * self.rate

    model = Model()
    gradient = s2sad.grad(model.loss)
    x = np.zeros(3)
    for _ in range(2):
        np.testing.assert_array_equal(gradient(x), [2.0] * 3)
    assert recognises(gradient, x)
    model.w = np.full(3, 2.0)
    assert recognises(gradient, x)
    np.testing.assert_array_equal(gradient(x), [4.0] * 3)
    model.act = np.cos
    assert not recognises(gradient, x)
    np.testing.assert_array_equal(gradient(x), [0.0] * 3)
    model.act = np.sin
    Model.rate = 3.0
    np.testing.assert_array_equal(gradient(x), [6.0] * 3)
    model.rate = 5.0
    np.testing.assert_array_equal(gradient(x), [10.0] * 3)
    model.w = 2.0  # type: ignore[assignment]
    np.testing.assert_array_equal(gradient(x), [10.0] * 3)
    monkeypatch.setattr(Model, "loss", lambda self, x: np.sum(x))
    np.testing.assert_array_equal(gradient(x), [10.0] * 3)  # of the function that was bound
    monkeypatch.setattr(Model, "__getattribute__", lambda self, name: object.__getattribute__(self, name))
    assert not recognises(gradient, x)


def test_bound_arrays_may_change_their_shape() -> None:
    w = np.ones((2, 3))
    gradient = s2sad.grad(functools.partial(lambda w, x: np.sum(w @ x), w))
    np.testing.assert_array_equal(gradient(np.ones(3)), [2.0] * 3)
    w.resize((3, 2), refcheck=False)
    np.testing.assert_array_equal(gradient(np.ones(2)), [3.0] * 2)
    w.resize((6,), refcheck=False)
    np.testing.assert_array_equal(gradient(np.ones(6)), [1.0] * 6)


def test_type_errors_of_the_function_itself_are_its_own() -> None:
    def f(x: Any, n: Any) -> Any:
        return x * len(n)

    gradient = s2sad.value_and_grad(f)
    assert gradient(1.0, (1.0, 2.0)) == (2.0, 2.0)
    with pytest.raises(TypeError, match="has no len"):
        gradient(1.0, 3.0)
    with pytest.raises(TypeError, match="has no len"):
        gradient(1.0, 3.0)


def test_arguments_that_carry_no_derivative_are_refused_after_those_that_do() -> None:
    gradient = s2sad.grad(lambda x: x * x)
    assert gradient(2.0) == 4.0
    for x in (2, True, np.int64(2), "a"):
        with pytest.raises(s2sad.S2sadError):
            gradient(x)
    assert gradient(np.float64(2.0)) == 4.0


def test_arrays_that_share_memory_are_refused_after_those_that_do_not() -> None:
    def f(x: Any, y: Any) -> Any:
        x[0] = 2.0
        return np.sum(x * y)

    gradient = s2sad.grad(f, argnums=(0, 1))
    gradient(np.ones(3), np.ones(3))
    x = np.ones(3)
    with pytest.raises(s2sad.S2sadError):
        gradient(x, x)


def test_read_only_arrays_are_as_before() -> None:
    def f(x: Any) -> Any:
        x[0] = 2.0
        return np.sum(x * x)

    gradient = s2sad.grad(f)
    gradient(np.ones(3))
    x = np.ones(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        gradient(x)


def test_tangents_are_checked() -> None:
    push = s2sad.jvp(lambda x, n: x * n)
    x = np.ones(3)
    for _ in range(2):
        dout = push(x, 2, 3.0 * x, 0)[1]
        np.testing.assert_array_equal(dout, 6.0 * x)
        np.testing.assert_array_equal(push(x, 2, np.ones(3, int), None)[1], 2.0 * x)
        for tangents in ((np.ones(2), 0), (x, 1), (x, 1.0), (1j * x, 0)):
            with pytest.raises(s2sad.NonDifferentiableError):
                push(x, 2, *tangents)


def test_the_tangent_of_a_result_shares_no_memory() -> None:
    push = s2sad.jvp(lambda x: x[::-1])
    dx = np.ones(3)
    for _ in range(2):
        assert not np.shares_memory(push(np.ones(3), dx)[1], dx)


def test_a_tangent_of_another_layout_is_made_like_its_primal() -> None:
    def f(x: Any) -> Any:
        y = x.reshape(-1)
        y[0] = 5.0
        return x * 2.0

    push = s2sad.jvp(f)
    for order in "CFC":
        out, dout = push(np.ones((2, 3)), np.asarray(np.ones((2, 3)), order=order))
        assert out[0, 0] == 10.0 and dout[0, 0] == 0.0


def test_a_jvp_of_arguments_with_defaults() -> None:
    push = s2sad.jvp(lambda x, n=3.0: x * n)
    for _ in range(2):
        assert push(2.0, 1.0) == (6.0, 3.0)
        assert push(2.0, 4.0, 1.0, 1.0) == (8.0, 6.0)
    first = s2sad.jvp(lambda x, n=3.0: x * n, argnums=0)
    for _ in range(2):
        assert first(2.0, 1.0) == (6.0, 3.0)
        assert first(2.0, 4.0, 1.0) == (8.0, 4.0)


def test_a_power_that_becomes_complex() -> None:
    gradient = s2sad.grad(lambda x, n: abs(x**n) ** 2)
    assert gradient(2.0, 0.5) == gradient(2.0, 0.5) == pytest.approx(1.0)
    assert gradient(-2.0, 0.5) == pytest.approx(-1.0)
    assert gradient(2.0, 0.5) == pytest.approx(1.0)


def test_more_kinds_than_cases() -> None:
    gradient = s2sad.grad(lambda x: np.sum(x * x))
    xs = [np.full((2,) * k, 3.0, dtype) for k in range(1, 9) for dtype in ("float64", "float32")]
    for _ in range(4):
        for x in xs:
            found = gradient(x)
            np.testing.assert_array_equal(found, 2 * x)
            assert found.dtype == x.dtype


def test_higher_derivatives_notice_outer_names(monkeypatch: pytest.MonkeyPatch) -> None:
    curvature = s2sad.grad(s2sad.grad(lambda x: x * x * x * twice(1.0)))
    assert curvature(1.0) == curvature(1.0) == 12.0
    monkeypatch.setitem(globals(), "twice", thrice)
    assert curvature(1.0) == 18.0


def test_threads_call_while_a_function_is_rebound(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = s2sad.grad(weighted)
    wrong: list[Any] = []
    is_done = threading.Event()

    def call(x: Any) -> None:
        while not is_done.is_set():
            found = gradient(x)
            if type(found) is list or float(np.sum(found)) not in (4.0, 6.0):
                wrong.append(found)

    threads = [threading.Thread(target=call, args=(x,)) for x in (1.0, np.float64(1.0), np.ones(1))]
    for t in threads:
        t.start()
    for f in [thrice, twice] * 30:
        monkeypatch.setitem(globals(), "twice", f)
        assert gradient(1.0) == (6.0 if f is thrice else 4.0)
    is_done.set()
    for t in threads:
        t.join()
    assert not wrong


def test_compiled_code_for_other_types_and_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    gradient = s2sad.grad(lambda x, p: np.sum(x * weights[0] * p["w"]), compile="numba")
    x, p = np.ones((4, 4)), {"w": np.arange(16.0).reshape(4, 4)}
    for _ in range(2):
        for w in (weights, 2 * weights, np.ones(6)[::2], np.ones(3)):
            monkeypatch.setitem(globals(), "weights", w)
            for y in (x, np.ones((8, 8))[::2, ::2], np.asfortranarray(x)):
                np.testing.assert_array_equal(gradient(y, p), w[0] * p["w"])
    assert recognises(gradient, x, p)
    y = x.copy()
    y.flags.writeable = False
    np.testing.assert_array_equal(gradient(y, p), p["w"])
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="float32"):
        gradient(x.astype("float32"), p)
    with pytest.raises(s2sad.NonDifferentiableError):
        gradient(x.astype(int), p)


def test_a_list_that_is_changed_later_is_not_taken_for_what_it_was() -> None:
    def f(p: list[Any], y: float) -> Any:
        total = 0.0
        for v in p:
            total = total + np.sum(v * y)
        return total

    gradient = s2sad.grad(f)
    p: list[Any] = [1.0, 2.0]
    assert gradient(p, 2.0) == [2.0, 2.0]
    p[:] = np.ones(2), np.ones(2)
    gradient([np.ones((2, 3)), np.ones((2, 3))], 2.0)  # the tests are written again
    np.testing.assert_array_equal(gradient(p, 2.0), np.full((2, 2), 2.0))
    assert gradient([1.0, 3.0], 2.0) == [2.0, 2.0]


def test_arguments_are_not_kept() -> None:
    gradient = s2sad.grad(lambda p: np.sum(p["w"] ** 2))
    array = np.ones(3)
    kept = weakref.ref(array)
    gradient({"w": array})
    push = s2sad.jvp(lambda x: np.sum(x**2))
    push(array, array)
    del array
    gc.collect()
    assert kept() is None


def test_a_property_that_hides_an_attribute_is_noticed() -> None:
    class Model:
        def __init__(self) -> None:
            self.b = 2.0

    gradient = s2sad.grad(lambda m, x: m.b * x, argnums="x")
    model = Model()
    assert gradient(model, 1.0) == gradient(model, 1.0) == 2.0
    assert recognises(gradient, model, 1.0)
    Model.b = property(lambda self: 7.0)  # type: ignore[assignment, method-assign]
    assert not recognises(gradient, model, 1.0)
    assert gradient(model, 1.0) == 7.0
