"""What structured rules promise beyond their derivatives: conventions, refusals, the tables of methods.

That each rule fits its functions is checked in test_rules.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from s2sad import grad
from s2sad.primitives.record import find_rule, is_nondifferentiable, is_pure
from s2sad.rules.constant import RANDOM
from s2sad.rules.methods import ATTRIBUTES, METHODS
from s2sad.rules.reductions import product_of_others
from s2sad.rules.tensors import explicit_subscripts
from s2sad.transforms.errors import NonDifferentiableError


def reverse(f, *args, dout=None, **keywords):
    """The gradients that the rule of `f` gives for ones, or for the cotangent given."""
    out = f(*args, **keywords)
    dout = np.ones_like(out) if dout is None else dout
    return find_rule(f).template.function(*args, **keywords, out=out, dout=dout)


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize("name", [*METHODS, *ATTRIBUTES])
def test_methods_stand_for_known_functions(name):
    function = {**METHODS, **ATTRIBUTES}[name]
    assert find_rule(function) is not None or is_nondifferentiable(function)
    assert hasattr(np.ndarray, name)


@pytest.mark.parametrize("name", sorted(RANDOM))
def test_random_functions_are_not_pure(name):
    found = [getattr(s, name) for s in (np.random, np.random.Generator) if hasattr(s, name)]
    assert found
    assert all(is_nondifferentiable(f) and not is_pure(f) for f in found)


def test_distributions_are_not_constant_in_their_parameters():
    assert not is_nondifferentiable(np.random.normal) and not is_nondifferentiable(
        np.random.Generator.uniform
    )


# ---------------------------------------------------------------- conventions


def test_ties_share_evenly():
    dx, *_ = reverse(np.max, np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), axis=1)
    np.testing.assert_array_equal(dx, [[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    (dx,) = reverse(np.median, np.array([2.0, 2.0, 7.0, 1.0]))
    np.testing.assert_array_equal(dx, [0.5, 0.5, 0, 0])


@pytest.mark.parametrize("order", ["fro", "nuc", 2, None])
def test_norms_of_zero_matrices_have_no_slope(order):
    dx, *_ = reverse(np.linalg.norm, np.zeros((2, 3)), order)
    np.testing.assert_array_equal(dx, np.zeros((2, 3)))


@pytest.mark.parametrize("f", [np.linalg.norm, np.std])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_is_zero_at_the_kink(f, dtype):
    dx, *_ = reverse(f, np.zeros((2, 3), dtype), axis=1)
    np.testing.assert_array_equal(dx, np.zeros((2, 3)))
    assert dx.dtype == dtype


def test_product_with_zeros_is_exact():
    x = np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0], [1.0, 2.0, 4.0]])
    np.testing.assert_array_equal(product_of_others(x, 1), [[6, 0, 0], [0, 0, 0], [8, 4, 2]])
    np.testing.assert_array_equal(product_of_others(x[0], None), [6, 0, 0])
    np.testing.assert_array_equal(product_of_others(np.float64(0.0), None), 1.0)


def test_one_triangle_is_read():
    x = np.array([[4.0, 1.0], [1.0, 3.0]])
    for f in (np.linalg.cholesky, np.linalg.eigvalsh):
        (dx,) = reverse(
            f,
            x,
            dout=np.array([[1.0, 0.0], [2.0, -1.0]]) if f is np.linalg.cholesky else np.array([1.0, 2.0]),
        )
        assert dx[0, 1] == 0 != dx[1, 0]


def test_singular_determinant_has_a_gradient():
    (dx,) = reverse(np.linalg.det, np.array([[1.0, 2.0], [2.0, 4.0]]))
    np.testing.assert_allclose(dx, [[4, -2], [-2, 1]], atol=1e-12)


def test_containers_are_mirrored():
    (dx,) = reverse(np.stack, (1.0, 2, np.float32(3.0)), dout=np.array([1.0, 2.0, 3.0]))
    assert dx == (1.0, 2.0, 3.0)
    assert type(dx[0]) is float and dx[2].dtype == np.float32
    (dx,) = reverse(np.array, [[1.0, 2.0], (3.0, 4.0)], dout=np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert dx == [[1.0, 2.0], (3.0, 4.0)]
    (dx,) = reverse(np.concatenate, [[1.0, 2.0], np.ones(1)], dout=np.arange(3.0))
    assert dx[0] == [0.0, 1.0]
    np.testing.assert_array_equal(dx[1], [2.0])


def test_casts_to_integers_carry_nothing():
    x = np.array([1.5, 2.5])
    rule = find_rule(np.astype)
    out = np.astype(x, int)
    np.testing.assert_array_equal(rule.template.function(x, int, out=out, dout=None)[0], np.zeros(2))
    assert rule.jvp_template.function(out=out, dx=np.ones(2)) is None


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("f", "args", "keywords"),
    [
        (np.reshape, (np.ones((2, 2)), (4,)), {"order": "A"}),
        (np.pad, (np.ones(3), 1), {"mode": lambda vector, width, axis, options: None}),
        (np.linalg.svd, (np.ones((3, 2)),), {}),
        (np.linalg.svd, (np.eye(2),), {}),
        (np.linalg.eigh, (np.eye(2),), {}),
        (np.linalg.qr, (np.eye(3)[:, :2], "complete"), {}),
        (np.linalg.eig, (np.eye(2),), {}),
        (np.roots, (np.array([1.0, 2.0, 1.0]),), {}),
        (np.poly, (np.eye(2),), {}),
    ],
)
def test_what_is_not_exact_is_refused(f, args, keywords):
    out = f(*args, **keywords)
    dout = type(out)(*map(np.ones_like, out)) if hasattr(out, "_fields") else np.ones_like(out)
    with pytest.raises(NonDifferentiableError):
        find_rule(f).template.function(*args, **keywords, out=out, dout=dout)


def test_values_of_repeated_eigenvalues_are_differentiated():
    out = np.linalg.eigh(np.eye(2))
    (dx,) = find_rule(np.linalg.eigh).template.function(np.eye(2), out=out, dout=(np.ones(2), None))
    np.testing.assert_array_equal(dx, np.eye(2))


# ---------------------------------------------------------------- einsum


@pytest.mark.parametrize(
    ("subscripts", "shapes", "expected"),
    [
        ("ij,jk", [(2, 3), (3, 4)], (["ij", "jk"], "ik")),
        ("ji", [(2, 3)], (["ji"], "ij")),
        ("...i , ...i -> ...", [(4, 2, 3), (2, 3)], (["abi", "bi"], "ab")),
        ("a...,b...->ab", [(2,), (3,)], (["a", "b"], "ab")),
        ("ii", [(2, 2)], (["ii"], "")),
    ],
)
def test_subscripts_are_made_explicit(subscripts, shapes, expected):
    assert explicit_subscripts(subscripts, tuple(map(np.ones, shapes))) == expected


def test_determinant_of_a_nearly_singular_matrix_has_a_gradient():
    x = np.arange(1.0, 10.0).reshape(3, 3)  # of rank 2, which elimination does not quite see
    (dx,) = reverse(np.linalg.det, x)
    np.testing.assert_allclose(dx, [[-3, 6, -3], [6, -12, 6], [-3, 6, -3]], atol=1e-12)


# ---------------------------------------------------------------- periods


def exact_interpolation(x, xp, fp, period):
    """`np.interp` with a period, of fractions."""
    points = sorted((at % period, value) for at, value in zip(xp, fp, strict=True))
    points = [(points[-1][0] - period, points[-1][1]), *points, (points[0][0] + period, points[0][1])]
    pairs = [pair for pair in pairwise(points) if pair[0][0] <= x % period <= pair[1][0]]
    (a, fa), (b, fb) = pairs[0]
    return fa + (fb - fa) * (x % period - a) / (b - a)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(10))
def test_interpolation_with_a_period_against_exact_quotients(seed, sign):
    rng = np.random.default_rng(seed)
    at = (rng.uniform(-10, 10), rng.uniform(-8, 8, 4), rng.normal(size=4), sign * rng.uniform(0.5, 5))
    along = (rng.normal(), rng.normal(size=4), rng.normal(size=4), rng.normal())
    step = Fraction(1, 10**15)

    def moved(t):
        x, xp, fp, period = (
            [
                Fraction(float(v)) + t * Fraction(float(d))
                for v, d in zip(np.ravel(a), np.ravel(b), strict=True)
            ]
            for a, b in zip(at, along, strict=True)
        )
        return exact_interpolation(x[0], xp, fp, abs(period[0]))

    quotient = float((moved(step) - moved(-step)) / (2 * step))
    gradients = grad(lambda x, xp, fp, p: np.interp(x, xp, fp, period=p), argnums=(0, 1, 2, 3))(*at)
    found = sum(np.sum(g * d) for g, d in zip(gradients, along, strict=True))
    np.testing.assert_allclose(found, quotient, rtol=1e-9)
