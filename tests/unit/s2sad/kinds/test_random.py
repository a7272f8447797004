"""The kinds of random numbers: what is drawn is of the kind that was found, and so are the generators."""

import numpy as np
import pytest

import s2sad
from s2sad.kinds.abstraction import contains, kind_of
from s2sad.kinds.lattice import RANDOM, UNKNOWN, Array, Scalar
from s2sad.kinds.random import DRAWING, draw_kind, drawn_kind

GENERATORS = {"Generator": np.random.default_rng(0), "RandomState": np.random.RandomState(0)}
A = np.array([0.5, 1.0, 2.0])
PARAMETERS = {
    **dict.fromkeys(("random", "standard_normal", "standard_cauchy", "standard_exponential"), ()),
    **dict.fromkeys(("normal", "laplace", "logistic", "gumbel", "lognormal"), (0.5, 1.5)),
    **dict.fromkeys(("gamma", "beta"), (0.5, 1.5)),
    **dict.fromkeys(("exponential", "rayleigh", "standard_gamma", "chisquare", "standard_t"), (1.5,)),
    **dict.fromkeys(("weibull", "pareto", "power"), (1.5,)),
    "uniform": (-1.0, 2.0),
    "triangular": (-1.0, 0.5, 2.0),
}


def drawn(name: str, args: tuple[object, ...], keywords: dict[str, object]) -> None:
    """The kind of a draw is that of what is drawn, by both classes and by the function of the module."""
    kinds = [kind_of(a, f"a{k}") for k, a in enumerate(args)]
    named = {k: kind_of(v, k) for k, v in keywords.items()}
    kind = drawn_kind(name, kinds, named)
    assert kind is not UNKNOWN
    for generator in GENERATORS.values():
        if hasattr(generator, name):
            value = getattr(generator, name)(*args, **keywords)
            assert contains(kind, value), (kind, value)
            assert np.ndim(value) == (0 if isinstance(kind, Scalar) else len(kind.dims))
    function = getattr(np.random, name)
    assert draw_kind(function, kinds, named) == kind and function in DRAWING


@pytest.mark.parametrize("name", PARAMETERS)
def test_distributions(name: str) -> None:
    given = PARAMETERS[name]
    drawn(name, given, {})
    for size in (0, 1, 3, (2, 3), (1, 4), ()):
        drawn(name, (*given, size), {})
        drawn(name, given, {"size": size})
    if given:
        drawn(name, (given[0] * A if name != "triangular" else -A, *given[1:]), {})
        drawn(name, (*given[:-1], given[-1] * np.ones((2, 1))), {"size": (2, 3)})


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_by_lengths(name: str) -> None:
    for lengths in ((), (3,), (2, 3), (1, 0)):
        drawn(name, lengths, {})


def test_of_several_lengths() -> None:
    kinds = [kind_of(np.ones((4, 1)), "a"), kind_of(A, "b")]
    assert len(drawn_kind("normal", kinds, {}).dims) == 2


def test_what_is_not_known() -> None:
    text = kind_of("float32", "t")
    assert drawn_kind("standard_normal", [kind_of(3, "n")], {"dtype": text}) is UNKNOWN
    assert drawn_kind("choice", [kind_of(3, "n")], {}) is UNKNOWN
    assert drawn_kind("normal", [UNKNOWN], {}) is UNKNOWN
    assert drawn_kind("normal", [], {"size": UNKNOWN}) is UNKNOWN
    assert drawn_kind("rand", [UNKNOWN], {}) in (UNKNOWN, Array("float64", (None,)))


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
def test_generators(generator: object) -> None:
    assert kind_of(generator, "rng") is RANDOM and contains(RANDOM, generator)
    assert not contains(RANDOM, np.random) and not contains(RANDOM, None)
    assert draw_kind(np.random.default_rng, [], {}) is RANDOM


def reparametrised(mean, log_sd, rng):
    z = mean + np.exp(log_sd) * rng.standard_normal(mean.shape)
    return np.sum(z**2)


def test_a_gradient_by_draws_needs_no_guards() -> None:
    mean, log_sd = np.array([0.3, -0.2]), np.array([0.1, 0.5])
    gradient = s2sad.grad(reparametrised, (0, 1))
    found = gradient(mean, log_sd, np.random.default_rng(3))
    e = np.random.default_rng(3).standard_normal(2)
    z = mean + np.exp(log_sd) * e
    np.testing.assert_allclose(found[0], 2 * z)
    np.testing.assert_allclose(found[1], 2 * z * np.exp(log_sd) * e)
    source = gradient.source_for(mean, log_sd, np.random.default_rng(3))
    assert "unbroadcast" not in source and "unreduce" not in source
    with pytest.raises(s2sad.NonDifferentiableError):
        s2sad.grad(reparametrised, 2)(mean, log_sd, np.random.default_rng(3))
