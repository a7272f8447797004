"""Calls that cannot be differentiated: of unknown C functions, and of functions that they do not fit."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.transforms.errors import MissingRuleError, NonDifferentiableError

X = np.array([0.5, 1.5])


def checksum(x: Any) -> Any:
    return np.sum(zlib.crc32(x) * x)


def twice(x: Any, *, by: Any = 2.0) -> Any:
    return np.sum(x * by)


def wrong_name(x: Any) -> Any:
    return twice(x, of=2.0)  # type: ignore[call-arg]


def too_many(x: Any) -> Any:
    return twice(x, 2.0)  # type: ignore[misc]


@pytest.mark.parametrize("transform", [s2sad.grad, lambda f: lambda x: s2sad.jvp(f)(x, x)])
def test_a_c_function_without_a_rule(transform: Any) -> None:
    with pytest.raises(MissingRuleError, match=r"@s2sad.bprop\(crc32\)") as error:
        transform(checksum)(X)
    assert "zlib.crc32(x) * x" in str(error.value)


@pytest.mark.parametrize(
    ("f", "message"),
    [(wrong_name, "twice: got an unexpected keyword argument 'of'"), (too_many, "too many positional")],
)
@pytest.mark.parametrize("x", [1.5, X])
def test_a_call_that_does_not_fit(f: Any, message: str, x: Any) -> None:
    with pytest.raises(NonDifferentiableError, match=message) as error:
        s2sad.grad(f)(x)
    assert isinstance(error.value, TypeError)
    assert "return twice(x" in str(error.value)
