"""Derivatives of programs on Dask arrays: they are graphs, and nothing is computed before it is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import s2sad

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install s2sad[dask]")
da = pytest.importorskip("dask.array", reason="Dask's arrays are not installed: pip install s2sad[dask]")


def refuse_to_compute(*args: Any, **options: Any) -> Any:
    raise AssertionError("something was computed")


@pytest.fixture(autouse=True)
def nothing_is_computed() -> Iterator[None]:
    """Within a test, a graph that is computed is an error, but in `computed`; so is a function of NumPy's
    that Dask does not have, and would compute its arguments for.
    """
    with dask.config.set(scheduler=refuse_to_compute), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def lazy(x: Any, chunks: Any = 2) -> Any:
    return da.from_array(np.asarray(x), chunks=chunks)


def computed(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x)(map(computed, x))
    if isinstance(x, dict):
        return {k: computed(v) for k, v in x.items()}
    assert isinstance(x, da.Array)
    return x.compute(scheduler="synchronous")


def R(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape)


def logistic(w, b, x, y):
    z = x @ w + b
    return np.mean(np.logaddexp(0, z) - y * z)


def network(params, x):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.sum(x**2)


def by_name(p, x):
    return np.mean((x @ p["w"] + p["b"]) ** 2)


def slices(x):
    return np.sum(x[1:] * x[:-1]) + x[0, 1] * 2.0


def masked(x):
    return np.sum(np.where(x > 1, np.sqrt(x), x**3))


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return -np.sum(np.log(e / np.sum(e, axis=1, keepdims=True))[:, 0])


def largest(x):
    return np.sum(np.max(x, axis=0)) * np.min(x)


def moments(x):
    return np.std(x) + np.sum(np.var(x, axis=0)) + np.linalg.norm(x)


def total_of_rows(x):
    total = 0.0
    for k in range(3):
        total = total + np.sum(x[k] * x[k + 1])
    return total


def stored(x):
    y = np.zeros_like(x)
    y[1:] = x[:-1] * 2.0
    y[0] = x[1]
    return np.sum(y * y * x)


def updated(x):
    y = x * 2.0
    y += x**2
    return np.sum(y * x)


def joined(x):
    return np.sum(np.concatenate([x, x**2]) ** 2) + np.sum(np.stack([x, 2.0 * x], axis=1) ** 3)


def shapes(x):
    return np.sum(np.reshape(x, (-1,)) ** 2 * np.ravel(x.T)) + np.trace(x) + np.sum(np.expand_dims(x, 0) ** 3)


def products(x):
    return np.sum(np.dot(x, x)) + np.tensordot(x, x, 2) + np.sum(np.outer(x[0], x[1]) ** 2)


def methods(x):
    return x.reshape(-1).sum() + x.mean(axis=0).max() + (x.T * x.astype("float64")).sum()


def helper(x, k):
    return np.sin(x) * k


def calls(x):
    return sum(np.sum(helper(x, k)) for k in range(1, 4))


X = R(4, 4)
PARAMS = [(R(4, 3, seed=1), R(3, seed=2)), (R(3, 2, seed=3), R(2, seed=4))]
PROGRAMS: list[Any] = [
    (logistic, (R(4), np.array(0.3), R(6, 4, seed=1), R(6, seed=2)), (0, 1)),
    (network, (PARAMS, X), 0),
    (by_name, ({"w": R(4), "b": np.array(0.2)}, X), 0),
    *[(f, (X,), 0) for f in (slices, masked, softmax, largest, moments, total_of_rows, stored, updated)],
    *[(f, (X,), 0) for f in (joined, shapes, products, methods, calls)],
]


def lazily(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x)(map(lazily, x))
    return {k: lazily(v) for k, v in x.items()} if isinstance(x, dict) else lazy(x)


def close(found: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        for a, b in zip(found, expected, strict=True):
            close(a, b)
    elif isinstance(expected, dict):
        for k, b in expected.items():
            close(found[k], b)
    else:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("f", "args", "argnums"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_gradients_are_those_of_numpy(f: Any, args: Any, argnums: Any) -> None:
    value, gradient = s2sad.value_and_grad(f, argnums)(*map(lazily, args))
    expected = s2sad.value_and_grad(f, argnums)(*args)
    close((computed(value), computed(gradient)), expected)


@pytest.mark.parametrize(("f", "args", "argnums"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_both_modes_agree(f: Any, args: Any, argnums: Any) -> None:
    wrt = (argnums,) if isinstance(argnums, int) else argnums
    tangents = [args[k] for k in wrt]
    _, dout = s2sad.jvp(f, argnums=wrt)(*map(lazily, args), *map(lazily, tangents))
    _, expected = s2sad.jvp(f, argnums=wrt)(*args, *tangents)
    close(computed(dout), expected)
    out, bprop = s2sad.vjp(f, argnums=wrt)(*map(lazily, args))
    _, plain = s2sad.vjp(f, argnums=wrt)(*args)
    close(computed(bprop(da.full_like(out, 2.0))), plain(2.0))


def test_a_hessian_product_is_lazy() -> None:
    def directional(x, v):
        return np.sum(s2sad.grad(moments_of_products)(x) * v)

    found = s2sad.grad(directional)(lazy(X), lazy(R(4, 4, seed=5)))
    close(computed(found), s2sad.grad(directional)(X, R(4, 4, seed=5)))


def moments_of_products(x):
    return np.sum(np.tanh(x @ x) ** 2) * np.mean(x)


def test_a_gradient_on_ten_gigabytes_is_one_graph() -> None:
    x = da.random.default_rng(0).normal(size=(12_500_000, 100), chunks=(500_000, 100))
    y = (x[:, 0] > 0).astype(float)
    w, b = da.zeros(100), da.zeros(())
    assert x.nbytes == 10_000_000_000
    dw, db = s2sad.grad(logistic, (0, 1))(w, b, x, y)
    assert isinstance(dw, da.Array) and dw.shape == (100,)
    assert isinstance(db, da.Array) and db.shape == ()
    assert max(np.prod(c) for c in (dw.chunksize, x.chunksize)) == x.chunksize[0] * 100  # nothing is gathered


def test_the_generated_code_is_that_of_numpy() -> None:
    source = s2sad.grad(logistic, (0, 1)).source_for(lazy(R(4)), lazy(0.3), lazy(X), lazy(R(4)))
    assert source == (
        "def logistic_grad(w, b, x, y):\n"
        "    z = x @ w + b\n"
        "    out = np.mean(np.logaddexp(0, z) - y * z)\n"
        "    dout = np.ones_like(out)\n"
        "    # return np.mean(np.logaddexp(0, z) - y * z)\n"
        "    dz = dout / z.size * (expit(z) - y)\n"
        "    # z = x @ w + b\n"
        "    db = np.sum(dz)\n"
        "    dw = x.T @ dz\n"
        "    return dw, db\n"
    )


# ---------------------------------------------------------------- refusals


def fancy(x):
    return np.sum(x[[0, 0, 1]])


def masked_items(x):
    return np.sum(x[x > 1.0] ** 2)


def converted(x):
    return np.sum(np.asarray(x))


def as_float(x):
    return float(np.sum(x))


def sorted_rows(x):
    return np.sum(np.sort(x, axis=0)[0])


def changed_alias(x):
    y = x * 2.0
    z = y[1:]
    z[0] = 1.0
    return np.sum(y) + np.sum(z)


def into_numpy(x):
    y = np.zeros(4)
    y[0] = np.sum(x)
    return np.sum(y)


def determinant(x):
    return np.linalg.det(x)


REFUSED = {
    fancy: "at a list of indices",
    masked_items: "that a mask chooses",
    converted: "`numpy.asarray` for arrays of dask.array",
    as_float: "the number would be computed at once",
    sorted_rows: "`numpy.sort`, which dask.array does not have",
    changed_alias: "change in place of an array of dask.array",
    into_numpy: "stored into one of NumPy's",
    determinant: "`numpy.linalg.det` for arrays of dask.array",
}


@pytest.mark.parametrize(("f", "words"), REFUSED.items(), ids=lambda x: getattr(x, "__name__", ""))
def test_what_would_compute_or_convert_is_refused(f: Any, words: str) -> None:
    with pytest.raises(s2sad.S2sadError, match=words):
        s2sad.grad(f)(lazy(X))


def test_operands_of_other_libraries_that_carry_derivatives_are_refused() -> None:
    x, y = lazy(X), lazy(R(4))
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="`w`, which carries a derivative"):
        s2sad.grad(logistic)(R(4), lazy(0.3), x, y)
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="`b`, which carries a derivative"):
        s2sad.grad(logistic, 1)(lazy(R(4)), 0.3, x, y)


def test_cotangents_and_tangents_are_of_the_library() -> None:
    _, bprop = s2sad.vjp(np.sin, argnums=0)(lazy(X))
    with pytest.raises(s2sad.NonDifferentiableError, match="is a ndarray"):
        bprop(X)
    with pytest.raises(s2sad.NonDifferentiableError, match="is a ndarray"):
        s2sad.jvp(np.sin)(lazy(X), X)


def test_unknown_lengths_are_right() -> None:
    x = lazy(R(6))
    kept = x[x > 1.0]
    assert np.isnan(kept.shape[0])
    close(computed(s2sad.grad(lambda x: np.sum(x**3))(kept)), 3 * R(6)[R(6) > 1.0] ** 2)


def test_a_cluster_computes_the_graph() -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install s2sad[dask]")
    args = (R(4), np.array(0.3), R(6, 4, seed=1), R(6, seed=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its event loop, by Python's version
        cluster = distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None)
        with cluster, distributed.Client(cluster) as client:
            found = client.gather(client.compute(list(s2sad.grad(logistic, (0, 1))(*map(lazily, args)))))
    close(tuple(found), s2sad.grad(logistic, (0, 1))(*args))
