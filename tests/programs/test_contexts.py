"""What context managers are known to do, and what derivatives make of them."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.analysis.context_managers import nature_of_context


class Swallowing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *details: Any) -> bool:
        return True


class Passing:
    def __enter__(self) -> float:
        return 2.0

    def __exit__(self, *details: Any) -> bool | None:
        if details[0] is None:
            return None
        return False


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    try:
        yield
    except ValueError:
        print("swallowed")


@contextlib.contextmanager
def cleaned(log: list[str]) -> Iterator[None]:
    try:
        yield
    finally:
        log.append("left")


@contextlib.contextmanager
def returning() -> Iterator[None]:
    try:
        yield
    finally:
        return  # noqa: B012


LOCK = threading.Lock()


@pytest.mark.parametrize(
    ("manager", "nature"),
    [
        (np.errstate, "setting"),
        (np.printoptions, "setting"),
        (warnings.catch_warnings, "setting"),
        (open, "passing"),
        (contextlib.closing, "passing"),
        (LOCK, "passing"),
        (Passing, "passing"),
        (Passing(), "passing"),
        (cleaned, "passing"),
        (Swallowing, None),
        (guarded, None),
        (returning, None),
        (contextlib.ExitStack, None),
        (contextlib.suppress, None),
        (len, None),
    ],
)
def test_nature(manager: Any, nature: str | None) -> None:
    assert nature_of_context(manager) == nature


def test_an_error_state_holds_in_the_reverse_sweep() -> None:
    def quiet(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.sum(np.sqrt(x))

    x = np.array([0.0, 4.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert s2sad.grad(quiet)(x).tolist() == [np.inf, 0.25]
    assert s2sad.grad(quiet).source_for(x).count("with np.errstate") == 2
    assert np.geterr()["divide"] == "warn"


def test_what_is_not_known_is_refused() -> None:
    manager = Passing()

    def swallowing(x: float) -> float:
        with Swallowing():
            x = x * x
        return x * 2.0

    def passed(x: float, manager: Any) -> float:
        with manager:
            x = x * x
        return x * 2.0

    def holding(x: float) -> float:
        with contextlib.closing(x) as y:  # type: ignore[type-var]
            x = x * y
        return x * 2.0

    for call in (
        lambda: s2sad.grad(swallowing)(2.0),
        lambda: s2sad.grad(passed)(2.0, manager),
        lambda: s2sad.jvp(holding)(2.0, 1.0),
    ):
        with pytest.raises(s2sad.UnsupportedSyntaxError, match="a context"):
            call()


def test_the_context_is_left_when_the_body_raises() -> None:
    log: list[str] = []

    def raising(x: float) -> float:
        with cleaned(log):
            y = 1.0 / x
        return y * 2.0

    with pytest.raises(ZeroDivisionError):
        s2sad.grad(raising)(0.0)
    assert log == ["left"]


def test_bprop_runs_again_after_an_exception() -> None:
    def f(x: float, y: float) -> float:
        try:
            z = np.linalg.cholesky(np.array([[x]]))[0, 0]
        except np.linalg.LinAlgError:
            z = y * y
        return z * y

    _, first = s2sad.vjp(f, 4.0, 3.0)
    _, second = s2sad.vjp(f, -4.0, 3.0)
    assert first(1.0) == (0.75, 2.0)
    assert second(1.0) == (0.0, 27.0)
    assert first(2.0) == (1.5, 4.0)
