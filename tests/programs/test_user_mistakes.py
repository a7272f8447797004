"""What a new user does wrong in the first hour, and what the error says then; and what should just work."""

from __future__ import annotations

import dataclasses
import decimal
import fractions
import functools
import importlib
import linecache
import math
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad

A = np.array([0.5, 1.5])


def f(x: Any, y: Any = 2.0) -> Any:
    return x * y


def two(x: Any, y: Any) -> Any:
    return x * y


def square(x: Any) -> Any:
    return x * x


def total(x: Any) -> Any:
    return np.sum(x * x)


def nothing(x: Any) -> None:
    pass


def pair(x: Any) -> Any:
    return x, x


def only_keywords(*, x: Any, y: Any = 1.0) -> Any:
    return x * y


async def coroutine(x: Any) -> Any:
    return x


async def generator(x: Any) -> Any:
    yield x


class Quantity:
    """As those of libraries of units."""

    magnitude = property(lambda self: 2.0)
    units = property(lambda self: "m")

    def __getattr__(self, name: str) -> Any:
        raise StopIteration(name)


class Tensor:
    """As arrays of libraries with derivatives of their own."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones(2)

    def __mul__(self, other: Any) -> Any:
        return self


class Series(Tensor):
    """As columns of tables."""

    def to_numpy(self) -> Any:
        return np.ones(2)


CALLING_JVP = r"jvp\(f\)\(\*primals, \*tangents\)"
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an async function": (lambda: s2sad.grad(coroutine)(1.0), "`async def`(.|\n)*plain function"),
    "an async generator": (lambda: s2sad.grad(generator)(1.0), "`async def`"),
    "jvp of tuples": (lambda: s2sad.jvp(two)((2.0, 3.0), (1.0, 0.0)), CALLING_JVP),
    "jvp with one argument": (lambda: s2sad.jvp(square)(2.0), CALLING_JVP),
    "jvp with too few tangents": (lambda: s2sad.jvp(two)(2.0, 3.0, 1.0), CALLING_JVP),
    "jvp with primals alone": (lambda: s2sad.jvp(two, (2.0, 3.0)), r"jvp\(f, \(x,\), \(dx,\)\)"),
    "jvp of numbers at once": (lambda: s2sad.jvp(square, 2.0, 1.0), r"jvp\(f, \(x,\), \(dx,\)\)"),
    "a list in arithmetic": (lambda: s2sad.grad(total)([1.0, 2.0]), r"a product of (.|\n)*np\.array\(x\)"),
    "a missing argument": (lambda: s2sad.grad(two)(2.0), r"two\(x.*: missing a required argument: 'y'"),
    "too many arguments": (lambda: s2sad.grad(two)(1.0, 2.0, 3.0), r"two\(x.*: too many positional"),
    "an unknown name": (lambda: s2sad.grad(f)(1.0, z=2.0), r"f\(x.*: got an unexpected keyword argument 'z'"),
    "a missing argument of a Jacobian": (lambda: s2sad.jacobian(two)(2.0), r"two\(x.*\).*missing"),
    "a missing argument of any number": (
        lambda: s2sad.grad(lambda x, *r: x)(),
        "missing a required argument: 'x'",
    ),
    "a partial that does not fit": (lambda: s2sad.grad(functools.partial(f, z=1.0)), "incorrect arguments"),
    "an argument in place of argnums": (lambda: s2sad.grad(f, np.ones(2)), r"second call: `grad\(f\)\(x"),
    "what JAX calls differently": (
        lambda: s2sad.grad(lambda x: np.sum(x.at[0].set(2.0)))(np.ones(2)),
        r"no attribute `at`(.|\n)*`x\[0\] = v`",
    ),
    "no function": (lambda: s2sad.grad(2.0), "not callable(.|\n)*pass a function"),
    "a module": (lambda: s2sad.grad(np), "not callable"),
    "units": (lambda: s2sad.grad(square)(Quantity()), r"Quantity(.|\n)*x\.magnitude"),
    "an array of another library": (lambda: s2sad.grad(square)(Tensor()), r"Tensor(.|\n)*np\.asarray\(x\)"),
    "the same in a dict": (lambda: s2sad.grad(lambda p: p["a"])({"a": Tensor()}), r"p\['a'\]` is a .*Tensor"),
    "a table": (lambda: s2sad.grad(square)(Series()), r"Series(.|\n)*x\.to_numpy\(\)"),
    "a structured array": (
        lambda: s2sad.grad(square)(np.zeros(2, dtype=[("a", float), ("b", int)])),
        r"dtype \[(.|\n)*x\['a'\]",
    ),
    "an array of objects": (
        lambda: s2sad.grad(total)(A.astype(object)),
        r"dtype object(.|\n)*astype\(float\)",
    ),
    "a result of objects": (
        lambda: s2sad.elementwise_grad(lambda x: np.array([x, None]))(1.0),
        "array of objects(.|\n)*return a list",
    ),
    "objects in forward mode": (
        lambda: s2sad.jvp(lambda x: np.array([[x], [x, None]], dtype=object))(1.0, 1.0),
        "array of objects, (.|\n)* is made(.|\n)*a list",
    ),
    "a cotangent of objects": (
        lambda: s2sad.vjp(lambda x: np.array([x, None]), 1.0)[1](np.ones(2)),
        "array of objects(.|\n)*a list",
    ),
    "fields in forward mode": (
        lambda: s2sad.jvp(lambda x: np.array([(x, x)], dtype=[("a", float), ("b", float)])["a"])(1.0, 1.0),
        "with fields, is made(.|\n)*a list",
    ),
    "an array of dates": (lambda: s2sad.grad(total)(A.astype("M8[s]")), "dtype datetime64"),
    "a masked array": (
        lambda: s2sad.grad(total)(np.ma.masked_array(A)),
        r"`x` is a numpy\.ma\.MaskedArray(.|\n)*write `x\.filled\(\.\.\.\)`",
    ),
    "a decimal": (lambda: s2sad.grad(square)(decimal.Decimal(2)), r"Decimal(.|\n)*float\(x\)"),
    "a fraction": (lambda: s2sad.grad(square)(fractions.Fraction(2)), "Fraction"),
    "a range": (lambda: s2sad.grad(total)(range(3)), r"range(.|\n)*np\.array\(\[\*x\]"),
    "an iterator": (lambda: s2sad.grad(total)(iter([1.0])), "list_iterator"),
    "a set": (lambda: s2sad.grad(total)({1.0}), "a set"),
    "a string": (lambda: s2sad.grad(square)("a"), "`x` is 'a'"),
    "None": (lambda: s2sad.grad(square)(None), "`x` is None"),
    "keywords by position": (lambda: s2sad.grad(only_keywords)(1.0), "too many positional arguments"),
    "a result of None": (lambda: s2sad.grad(nothing)(1.0), "returned None"),
    "a result of two": (lambda: s2sad.grad(pair)(1.0), "type tuple"),
    "a result that is a text": (lambda: s2sad.grad(lambda x: "a")(1.0), "type str"),
    "a truth value": (lambda: s2sad.grad(lambda x: x > 1)(1.0), "type bool"),
    "has_aux without aux": (lambda: s2sad.grad(square, has_aux=True)(1.0), r"\(value, aux\)"),
    "has_aux of what only the run knows": (
        lambda: s2sad.grad(lambda x, fs: fs[0](x), has_aux=True)(1.0, [square]),
        r"\(value, aux\)",
    ),
    "has_aux of three that only the run knows": (
        lambda: s2sad.grad(lambda x, fs: fs[0](x), has_aux=True)(1.0, [lambda x: (x, x, x)]),
        r"\(value, aux\)",
    ),
    "has_aux with more": (lambda: s2sad.grad(lambda x: (x, x, x), has_aux=True)(1.0), r"\(value, aux\)"),
    "a cotangent of another shape": (
        lambda: s2sad.vjp(lambda x: x * A)(1.0)[1](np.ones(3)),
        r"\(3,\)(.|\n)*\(2,\)",
    ),
    "a cotangent of another structure": (lambda: s2sad.vjp(pair)(1.0)[1](1.0), "is a float(.|\n)*a tuple"),
    "a tangent of another shape": (lambda: s2sad.jvp(square)(1.0, A), r"tangent of `x` has shape \(2,\)"),
    "a form that is none": (lambda: s2sad.explain(square, 1.0, form="gradient"), "name one of grad"),
    "check_grads of a number": (lambda: s2sad.check_grads(square, 1.0), r"check_grads\(f, \(x,\)\)"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_the_error_says_what_to_do(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(s2sad.S2sadError, match=message) as caught:
        call()
    assert not isinstance(caught.value, s2sad.InternalError)
    assert isinstance(caught.value, (TypeError, SyntaxError, NotImplementedError))


@pytest.mark.parametrize("x", [(2.0,), [2.0]])
def test_a_call_of_jvp_that_was_mistaken_is_told_beside_other_errors(x: Any) -> None:
    with pytest.raises(s2sad.S2sadError) as caught:
        s2sad.jvp(square)(x, x)
    (note,) = caught.value.__notes__
    assert "jvp(f)(*primals, *tangents)" in note


def test_what_a_call_raises_itself_is_raised_as_it_is() -> None:
    with pytest.raises(ValueError, match="modes are among"):
        s2sad.check_grads(square, (1.0,), modes=("forward",))


class Misspelt:
    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def value(self, x: Any) -> Any:
        return self.wieght * x  # type: ignore[attr-defined]


def read(o: Any, x: Any) -> Any:
    return o.wieght * x


def changed_before(o: Any, x: Any) -> Any:
    o.weight = o.weight * x
    return o.wieght


def of_new_objects(o: Any, x: Any) -> Any:
    return sum(p.wieght for p in [Misspelt(x), Misspelt(2 * x)])


def called(o: Any, x: Any) -> Any:
    return o.mehtod(x)


def of_a_module(o: Any, x: Any) -> Any:
    return np.sinn(x) * o.weight  # type: ignore[attr-defined]


@pytest.mark.parametrize("argnums", [0, 1])
@pytest.mark.parametrize(
    "f", [read, Misspelt.value, changed_before, of_new_objects, called, of_a_module], ids=lambda f: f.__name__
)
def test_a_misspelt_attribute_is_told_as_python_tells_it(f: Any, argnums: int) -> None:
    given = (Misspelt(2.0), 1.5)
    with pytest.raises(AttributeError) as raised:
        f(Misspelt(2.0), 1.5)
    for derivative in (
        lambda: s2sad.grad(f, argnums=argnums)(*given),
        lambda: s2sad.jvp(f, given, (given[argnums],), argnums=(argnums,)),
    ):
        with pytest.raises(AttributeError) as caught:
            derivative()
        assert str(caught.value).startswith(str(raised.value))
        assert not isinstance(caught.value, s2sad.InternalError)


def in_a_loop(x: float, k: int) -> float:
    for i in range(k):
        x = x + i
    return x * i


def in_a_closure(x: float, k: int) -> float:
    def scaled() -> float:
        return y * x

    if k > 3:
        y = x
    return scaled()


def called_too_early(x: float, k: int) -> float:
    def scaled() -> float:
        return y * x

    out = scaled()
    y = x
    return out


def after_del(x: float, k: int) -> float:
    i = x * x
    if k < 3:
        del i
    return i


def after_del_of_a_parameter(i: float, k: int) -> float:
    del i
    return i * k  # noqa: F821


def after_a_handler(x: float, k: int) -> float:
    try:
        z = math.sqrt(k - 1)
        y = x * z
    except ValueError:
        z = x
    return z * y


def after_a_context(x: float, k: int) -> float:
    with np.errstate(all="ignore"):
        if k > 3:
            y = x
    return y


@pytest.mark.parametrize(
    "f", [in_a_loop, in_a_closure, after_del, after_del_of_a_parameter, after_a_handler, after_a_context]
)
def test_an_unbound_variable_is_told_as_python_tells_it(f: Any) -> None:
    for derivative in (s2sad.grad(f), s2sad.value_and_grad(f), lambda *a: s2sad.jvp(f, a, (1.0,), (0,))):
        with pytest.raises(UnboundLocalError, match=r"local variable '[iy]'"):
            derivative(1.5, 0)


def test_a_variable_that_is_read_before_it_is_bound_is_refused() -> None:
    with pytest.raises(UnboundLocalError):
        s2sad.grad(called_too_early)(1.5, 0)
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="`y` is read before anything is assigned"):
        s2sad.jvp(called_too_early, (1.5, 0), (1.0,), argnums=(0,))


def test_tables_and_other_data_may_be_passed_beside() -> None:
    assert s2sad.grad(lambda x, table: x * 2.0)(1.0, Series()) == 2.0


# ---------------------------------------------------------------- decorators in every order


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    @s2sad.grad(argnums="y")
    def method(self, y: float) -> float:
        return self.scale * y**2

    @staticmethod
    @s2sad.grad
    def static(y: float) -> float:
        return y**3

    @s2sad.grad
    @staticmethod
    def static_inside(y: float) -> float:
        return y**3

    @classmethod
    @s2sad.grad(argnums="y")
    def of_class(cls, y: float) -> float:
        return y**3

    @s2sad.grad(argnums="y")
    @classmethod
    def of_class_inside(cls, y: float) -> float:
        return y**3

    @s2sad.hessian
    @staticmethod
    def second(y: float) -> float:
        return y**3


@dataclasses.dataclass
class Data:
    scale: float

    @s2sad.value_and_grad(argnums=("self", "x"))
    def loss(self, x: float) -> float:
        return self.scale * x**2


@pytest.mark.parametrize("owner", [Model, Model(3.0)], ids=["class", "instance"])
def test_decorated_functions_of_classes(owner: Any) -> None:
    for name in ("static", "static_inside", "of_class", "of_class_inside", "second"):
        assert getattr(owner, name)(2.0) == 12.0


def test_decorated_methods() -> None:
    assert Model(3.0).method(2.0) == 12.0  # type: ignore[call-arg]
    value, (by_self, by_x) = Data(2.0).loss(3.0)  # type: ignore[call-arg]
    assert (value, by_self, by_x) == (18.0, Data(9.0), 12.0)


# ---------------------------------------------------------------- where functions come from


def test_functions_of_a_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("zipped_model.py", "def loss(x):\n    return x ** 3\n")
    monkeypatch.syspath_prepend(str(tmp_path / "packed.zip"))
    module = importlib.import_module("zipped_model")
    assert s2sad.grad(module.loss)(2.0) == 12.0
    sys.modules.pop("zipped_model")


def test_functions_of_cells() -> None:
    texts = ("f = lambda x: x ** 2; g = lambda x: x ** 3\n", "def f(x):\n    return x ** 2\n")
    for count, text in enumerate(texts):
        filename = f"<ipython-input-{count}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        names: dict[str, Any] = {}
        exec(compile(text, filename, "exec"), names)
        assert s2sad.grad(names["f"])(2.0) == 4.0
        assert "g" not in names or s2sad.grad(names["g"])(2.0) == 12.0


def test_functions_of_doctests() -> None:
    import doctest

    text = ">>> import s2sad\n>>> def f(x):\n...     return x ** 2\n>>> s2sad.grad(f)(3.0)\n6.0\n"
    example = doctest.DocTestParser().get_doctest(text, {}, "example", "example.py", 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_text_that_is_not_kept() -> None:
    for filename, message in (
        ("<timed exec>", "cell of its own"),
        ("<timed eval>", "cell of its own"),
        ("<magic-timeit>", "cell of its own"),
        ("<stdin>", "IPython or Jupyter, write it in a file, or use Python 3.13"),
        # A process that `python -c` started, as those of pytest-xdist, may know a text of "<string>".
        ("<string>", "write it in a file|is not what runs"),
        ("/gone/away.py", "its file is gone"),
    ):
        names: dict[str, Any] = {}
        exec(compile("def f(x):\n    return x\n", filename, "exec"), names)
        with pytest.raises(s2sad.NoSourceError, match=message):
            s2sad.grad(names["f"])(1.0)


def branch(x: Any, n: int) -> Any:
    if n > 1:
        y = x
    return np.sum(y)  # type: ignore[possibly-undefined]


def option(x: Any, n: int) -> Any:
    mode = "add" if n else "multiply"
    if mode == "add":
        y = x + x
    elif mode == "subtract":
        y = x - x
    return np.sum(y)  # type: ignore[possibly-undefined]


def called(x: Any, n: int) -> Any:
    if n == 1:
        return np.sum(x)
    return branch(x * 2, n + 1) + branch(x, n)


def in_a_loop(x: Any, n: int) -> Any:
    total = 0.0
    for k in range(n):
        if k == 0:
            y = x * k
        elif n > 0:
            y = x * n
        total = total + np.sum(y)
    return branch(x, n) + total


def key(x: Any, n: int) -> Any:
    values = {"weight": x, "bias": x * x}
    return np.sum(values["wieght" if n == 0 else "bias"])


@pytest.mark.parametrize("f", [branch, option, called, in_a_loop, key])
def test_a_derivative_raises_what_the_function_raises(f: Any) -> None:
    x = np.ones(2)
    with pytest.raises((UnboundLocalError, KeyError)) as expected:
        f(x, 0)
    for derive in (s2sad.grad(f), s2sad.value_and_grad(f), s2sad.jacfwd(f), s2sad.vjp(f, argnums=0)):
        with pytest.raises(type(expected.value), match=str(expected.value)):
            derive(x, 0)
    np.testing.assert_allclose(s2sad.grad(f)(x, 2), s2sad.jacfwd(f)(x, 2))


def test_a_misspelt_key_of_an_argument() -> None:
    with pytest.raises(KeyError, match="bais"):
        s2sad.grad(lambda p: p["weight"] ** 2 + 10.0 * p["bais"])({"weight": 1.0, "bias": 0.5})
