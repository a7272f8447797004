"""Calls that show or write down what carries a derivative stand as they stand."""

import io
import json
import logging
import pprint

import numpy as np
import pytest

import s2sad

plt = pytest.importorskip("matplotlib.pyplot")
LOG = logging.getLogger("displays")


def printed(x):
    pprint.pprint(x, stream=io.StringIO())
    LOG.info("%s %s", x, pprint.pformat(x))
    return np.sum(x**2)


def dumped(x):
    loss = np.sum(x**2)
    json.dumps({"loss": float(loss)})
    return loss


def plotted(x):
    plt.plot(x, x * 2)
    counts, edges, _ = plt.hist(x)
    plt.title(f"{edges[0]} {counts}")
    return np.sum(x**2)


def computed_with(x):
    _, edges, _ = plt.hist(x)
    return np.sum(edges)


def read_back(x, ax):
    ax.plot(x)
    return np.sum(ax.lines[0].get_ydata()) + np.sum(x)


def read_back_from_the_figure(x):
    plt.plot(x)
    return np.sum(plt.gca().lines[0].get_ydata()) + np.sum(x)


@pytest.fixture(autouse=True)
def backend():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.mark.parametrize("function", [printed, dumped, plotted])
def test_displays_stand(function):
    x, v = np.array([1.0, 2.0, 3.0]), np.ones(3)
    np.testing.assert_allclose(s2sad.grad(function)(x), 2 * x)
    np.testing.assert_allclose(s2sad.jvp(function, (x,), (v,)), (14.0, 12.0))
    np.testing.assert_allclose(s2sad.hvp(function)(x, v), 2 * v)


def test_what_a_display_returns_is_not_computed_with():
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(s2sad.S2sadError, match="the result of `hist`"):
        s2sad.grad(computed_with)(x)
    with pytest.raises(s2sad.S2sadError, match="the result of `hist`"):
        s2sad.jvp(computed_with, (x,), (x,))


def test_what_a_display_holds_is_not_computed_with():
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(read_back)(x, plt.subplots()[1])
    with pytest.raises(s2sad.S2sadError, match="the result of `plot`"):
        s2sad.grad(read_back_from_the_figure)(x)
