"""Calls of libraries that nothing active reaches stay as they stand: they are not read, whatever they are."""

from __future__ import annotations

import argparse
import collections
import datetime
import enum
import functools
import inspect
import io
import itertools
import json
import logging
import os
import pathlib
import platform
import pprint
import random
import re
import statistics
import string
import textwrap
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.primitives.code_reach import BUDGET, is_of_libraries, is_short, leads_far
from tests.support.compare import check_program

X = np.array([0.5, 1.0, 1.5])
TABLE: Any = None
PLOTS: Any = None
SECONDS = 5.0  # of CPU time for one derivative: more means that a library was read
LOGGER = logging.getLogger("s2sad-tests")
DIGITS = re.compile(r"(\d+)")
LOCK = threading.Lock()


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def texts(x: Any) -> Any:
    found = re.match(r"(\d+)", "12 apples")
    parts = re.split(r"\s+", re.sub("a", "b", "banana 1 2"))
    text = textwrap.dedent("  hello\n  world") + string.Template("$a").substitute(a="b")
    number = DIGITS.search("abc 42")
    return np.sum(x**2) * int(found.group(1)) + len(parts) * len(text) * float(number.group(1))


def logs(x: Any) -> Any:
    logging.getLogger("s2sad-tests").debug("start")
    LOGGER.debug("hello %s", 3)
    y = np.sum(x**2)
    LOGGER.debug("loss %s %f", y, y)
    LOGGER.debug(f"loss {y:.3f}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn(f"{x}", stacklevel=1)
    print("y", y, file=io.StringIO())
    return y


def data(x: Any) -> Any:
    options = json.loads('{"lr": 0.1, "n": 3}')
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=0.1)
    rate = parser.parse_args([]).rate
    counts = collections.Counter("banana")
    signature = inspect.signature(json.dumps)
    return np.sum(x**2) * options["lr"] * rate * counts["a"] + len(signature.parameters) * x[0]


def clocks(x: Any) -> Any:
    start = time.perf_counter()
    day = datetime.date(2020, 1, 2) + datetime.timedelta(days=2)
    path = pathlib.Path("a") / "b.txt"
    name = os.path.basename(os.path.join("c", path.name)) + platform.system()
    y = np.sum(x**2) * day.year * len(day.isoformat()) + len(name[:5])
    assert time.perf_counter() >= start
    return y


def draws(x: Any) -> Any:
    generator = random.Random(3)
    random.seed(0)
    factor = random.randint(1, 5) * generator.uniform(1.0, 2.0) * random.gauss(1.0, 0.1)
    return np.sum(x**2) * factor * statistics.mean([1.0, 2.0])


def chosen(x: Any, colour: Colour, lock: Any, pattern: Any, when: datetime.date) -> Any:
    y = np.sum(x**2) if colour is Colour.BLUE and not lock.locked() else np.sum(x)
    return y * when.year * len(pattern.findall("1 2 3"))


def shown_numbers(x: Any) -> Any:
    y = np.sum(x**2)
    history = []
    history.append(float(y))
    pprint.pprint([1, {"a": 2}], stream=io.StringIO())
    return y + len(history)


def check_first(f: Callable[..., Any], *args: Any) -> None:
    """Both modes, by the first argument alone: of the others no copies are made."""
    check_program(lambda x: f(x, *args[1:]), args[:1], (0,))
    expected = s2sad.grad(lambda x: f(x, *args[1:]))(args[0])
    np.testing.assert_allclose(s2sad.grad(f)(*args), expected)


def derivative_seconds(f: Callable[..., Any], *args: Any) -> float:
    start = time.process_time()
    s2sad.grad(f).function_for(*args)
    return time.process_time() - start


@pytest.mark.parametrize("f", [texts, logs, data, clocks, draws, shown_numbers], ids=lambda f: f.__name__)
def test_library_calls(f: Callable[..., Any]) -> None:
    assert derivative_seconds(f, X) < SECONDS
    check_program(f, (X,), (0,))


def test_arguments_may_be_anything() -> None:
    arguments = (X, Colour.BLUE, LOCK, DIGITS, datetime.date(2020, 1, 2))
    assert derivative_seconds(chosen, *arguments) < SECONDS
    check_first(chosen, *arguments)


def test_they_stand_as_they_were_written() -> None:
    source = s2sad.grad(texts).source_for(X)
    assert 're.match("(\\\\d+)", "12 apples")' in source or "re.match('(\\\\d+)', '12 apples')" in source
    assert 'textwrap.dedent("  hello\\n  world")' in source


# ---------------------------------------------------------------- what they may reach


def sorted_by(x: Any) -> Any:
    order = sorted([0, 1, 2], key=lambda i: -x[i])
    return x[order[0]] ** 2 + 3 * x[order[1]]


def reduced(x: Any) -> Any:
    return functools.reduce(lambda s, i: s + x[i] ** 2, [0, 1, 2], 0.0)


def starred(x: Any) -> Any:
    return sum(itertools.starmap(lambda a, b: a * b * x[0], [(1, 2), (3, 4)]))


def along(x: Any) -> Any:
    return np.sum(np.apply_along_axis(lambda row: np.sum(row * x), 1, np.ones((3, 3))))


def of_distribution(x: Any) -> Any:
    return statistics.NormalDist(x[0], 1.0).pdf(0.3) * x[1]


@pytest.mark.parametrize(
    "f", [sorted_by, reduced, starred, along, of_distribution], ids=lambda f: f.__name__
)
def test_calls_that_reach_what_is_active_are_differentiated(f: Callable[..., Any]) -> None:
    check_program(f, (X,), (0,))


def through_pattern(x: Any) -> Any:
    found: list[Any] = []

    def note(match: Any) -> str:
        found.append(x[int(match.group(0))] ** 2)
        return ""

    re.sub(r"\d", note, "012")
    return sum(found)


def through_thread(x: Any) -> Any:
    found: list[Any] = []

    def work() -> None:
        found.append(np.sum(x**2))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("f", [through_pattern, through_thread], ids=lambda f: f.__name__)
def test_what_they_change_through_closures_is_refused(f: Callable[..., Any]) -> None:
    for transform in (s2sad.grad(f), lambda x: s2sad.jvp(f)(x, np.ones(3))):
        with pytest.raises(s2sad.S2sadError):
            transform(X)


# ---------------------------------------------------------------- tables and plots


@pytest.fixture(scope="module")
def pd() -> Any:
    return pytest.importorskip("pandas")


def columns(x: Any, table: Any) -> Any:
    weights = table["a"].to_numpy() + (table["b"] * 2).values
    total = 0.0
    for row in table.itertuples():
        total += row.a * x[row.Index]
    grouped = table.groupby("k")["a"].sum().to_numpy()
    return np.sum(x * weights) + total * len(table) + table.loc[0, "a"] * np.sum(grouped) * x[1]


def in_module(x: Any) -> Any:
    return np.sum(np.exp(-x) * TABLE["a"].values) + TABLE["b"].mean() * x[0]


def made_there(x: Any, library: Any) -> Any:
    table = library.DataFrame({"a": [1.0, 2.0, 3.0]})
    table["c"] = table["a"] * 2
    return np.sum(x * table["c"].to_numpy())


def test_tables(pd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 0.125], "k": ["u", "v", "u"]})
    monkeypatch.setitem(globals(), "TABLE", table)
    assert derivative_seconds(columns, X, table) < SECONDS
    check_first(columns, X, table)
    assert derivative_seconds(in_module, X) < SECONDS
    check_program(in_module, (X,), (0,))
    check_first(made_there, X, pd)


def holding(x: Any, library: Any) -> Any:
    table = library.DataFrame({"a": x})
    return np.sum(table["a"].to_numpy() ** 2)


def test_a_table_that_holds_what_is_active_is_refused(pd: Any) -> None:
    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(holding)(X, pd)


@pytest.fixture(scope="module")
def plt() -> Any:
    pytest.importorskip("matplotlib").use("Agg")
    return pytest.importorskip("matplotlib.pyplot")


def plotted(x: Any) -> Any:
    PLOTS.plot([1, 2], [3, 4])
    PLOTS.title("t")
    PLOTS.close()
    return np.sum(x**2)


def test_plots(plt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PLOTS", plt)
    assert derivative_seconds(plotted, X) < SECONDS
    check_program(plotted, (X,), (0,))


# ---------------------------------------------------------------- what is measured


def test_how_far_functions_lead() -> None:
    assert leads_far(re.match) and leads_far(textwrap.dedent)
    assert not leads_far(statistics.NormalDist.pdf, statistics.NormalDist)
    assert not leads_far(texts) and not is_of_libraries(texts)
    assert is_short(os.path.basename) and not is_short(textwrap.dedent)
    assert BUDGET > 500  # scipy.optimize.rosen leads through SciPy's dispatch


def test_long_code_of_the_users_is_read() -> None:
    assert not is_of_libraries(functools.wraps(re.match)(texts))
