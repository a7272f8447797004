"""Each error that people will hit: what it says, and where."""

from __future__ import annotations

import functools
import math
import zlib
from typing import Any

import numpy as np
import pytest

import s2sad


def square(x: Any) -> Any:
    return np.sum(x * x)


def vector(x: Any) -> Any:
    return x * x


def counts(x: float, n: int) -> float:
    return x * n


def without_rule(x: Any) -> Any:
    return zlib.crc32(x) * x


def with_try(x: float) -> float:
    y = x
    try:
        for _ in range(2):
            y = y * math.log(y)
    except ValueError:
        pass
    return y


def printing(f: Any) -> Any:
    @functools.wraps(f)
    def wrapper(*args: Any) -> Any:
        return f(*args) * zlib.crc32(args[0])

    return wrapper


@printing
def decorated(x: Any) -> Any:
    return x * x


def passing(f: Any) -> Any:
    @functools.wraps(f)
    def wrapper(*args: Any) -> Any:
        return f(*args)

    return wrapper


@passing
def decorated_crash(x: Any) -> Any:
    return zlib.adler32(x) * x


def named_globals() -> dict[str, Any]:
    return {k: v for k, v in globals().items() if not k.startswith("@")}


def refused(call: Any, kind: type[Exception], *parts: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, s2sad.S2sadError)
    for part in parts:
        assert part in str(caught.value)


def test_unsupported_syntax_names_file_line_and_caret() -> None:
    gradient = s2sad.grad(with_try)
    refused(lambda: gradient(1.0), s2sad.UnsupportedSyntaxError, __file__, "for _ in", "^", "instead:")


def test_a_refusal_of_a_decorator_names_the_function_inside() -> None:
    refused(lambda: s2sad.grad(decorated)(2.0), s2sad.MissingRuleError, "crc32", "`decorated.__wrapped__`")
    assert s2sad.grad(decorated.__wrapped__)(2.0) == 4.0
    with pytest.raises(s2sad.MissingRuleError) as caught:
        s2sad.grad(decorated_crash)(2.0)
    assert "adler32" in str(caught.value) and "__wrapped__" not in str(caught.value)


def test_a_missing_rule_is_named_at_its_place() -> None:
    gradient = s2sad.grad(without_rule)
    refused(lambda: gradient(2.0), s2sad.MissingRuleError, "crc32", "@s2sad.bprop(crc32)", "^")


def test_integer_arguments_carry_no_derivative() -> None:
    refused(lambda: s2sad.grad(square)(3), s2sad.NonDifferentiableError, "`x`", "3", "float")
    refused(lambda: s2sad.grad(counts, "n")(1.0, 2), s2sad.NonDifferentiableError, "`n`")
    refused(lambda: s2sad.grad(square)(np.arange(3)), s2sad.NonDifferentiableError, "`x`")


@pytest.mark.parametrize("argnums", [2, -3, "z", (0, 0), (0, "w"), True])
def test_wrong_argnums(argnums: Any) -> None:
    refused(lambda: s2sad.grad(counts, argnums), s2sad.NonDifferentiableError, "argnums", "instead:")


def test_gradients_are_of_real_numbers() -> None:
    refused(lambda: s2sad.grad(vector)(np.ones(3)), s2sad.NonDifferentiableError, "(3,)", "jacobian")
    refused(lambda: s2sad.grad(vector)(1.0 + 2.0j), s2sad.NonDifferentiableError, "complex", "vjp")


def test_other_kinds_of_arrays() -> None:
    for x in (np.ma.masked_array([1.0], [False]),):
        refused(lambda x=x: s2sad.grad(square)(x), s2sad.NonDifferentiableError, type(x).__name__)


def test_a_function_without_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x): return x * x", namespace)
    refused(lambda: s2sad.grad(namespace["f"])(1.0), s2sad.NoSourceError, "instead:")


def test_tangents_have_the_shape_of_their_arguments() -> None:
    refused(lambda: s2sad.jvp(square)(np.ones(3), np.ones(2)), s2sad.NonDifferentiableError, "(2,)", "(3,)")


def test_the_function_and_its_module_are_left_as_they_were() -> None:
    before, code = named_globals(), square.__code__
    refused(lambda: s2sad.grad(square)(3), s2sad.NonDifferentiableError)
    s2sad.grad(square)(np.ones(2))
    assert named_globals() == before
    assert square.__code__ is code
