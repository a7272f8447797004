"""`scipy.special`: hypergeometric and elliptic functions, orthogonal polynomials; by their argument, not by
their parameters. Formulas of the Digital Library of Mathematical Functions, chapters 13, 15, 18, 19 and 22.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .containers import filled
from .samples import A, given

Array = Any  # any type with NumPy's protocols

# ---------------------------------------------------------------- hypergeometric functions

@bprop(special.hyp2f1, "elementwise", refused=["a", "b", "c"], samples=[
    given(0.5, 1.5, 2.0, A(4, low=-0.8, high=0.8)), given(0.5, 1.0, 1.5, 0.3),
    given(1.0, A(3, 1, low=0.5), 2.0, A(2, low=-0.5, high=0.5)),
    given(0.5, 1, 1.5, A(2, dtype="complex128", low=-0.5, high=0.5))])
def hyp2f1(a, b, c, z, out, dout):
    return None, None, None, dout * a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z)


@bprop(special.hyp1f1, "elementwise", refused=["a", "b"], domain=(0.5, 2.0))
def hyp1f1(a, b, x, out, dout):
    return None, None, dout * a / b * special.hyp1f1(a + 1, b + 1, x)


@bprop(special.hyperu, "elementwise", refused=["a", "b"], domain=(0.5, 2.0))
def hyperu(a, b, x, out, dout):
    return None, None, -dout * a * special.hyperu(a + 1, b + 1, x)


@bprop(special.hyp0f1, "elementwise", refused=["v"], domain=(0.5, 2.0))
def hyp0f1(v, z, out, dout):
    return None, dout / v * special.hyp0f1(v + 1, z)


# ---------------------------------------------------------------- elliptic integrals and functions

# The textbook's quotients are differences of nearly equal numbers, over `m`, where that is small: there the
# hypergeometric function takes their place.
def ellipk_slope(m: Array, complement: Array) -> Array:
    """The derivative of the complete elliptic integral of the first kind; `complement` is `1 - m`."""
    near = np.abs(m) < 0.5
    series = math.pi / 8 * special.hyp2f1(1.5, 1.5, 2, np.where(near, m, 0))
    p = np.where(near, 0.5, complement)
    return np.where(near, series, (special.ellipe(1 - p) / p - special.ellipkm1(p)) / (2 * (1 - p)))


def ellipe_slope(m: Array) -> Array:
    """The derivative of the complete elliptic integral of the second kind."""
    near = np.abs(m) < 0.5
    series = -math.pi / 8 * special.hyp2f1(0.5, 1.5, 2, np.where(near, m, 0))
    far = np.where(near, 0.5, m)
    return np.where(near, series, (special.ellipe(far) - special.ellipk(far)) / (2 * far))


@bprop(special.ellipk, "elementwise", domain=(-0.9, 0.9))
def ellipk(m, out, dout):
    return (dout * ellipk_slope(m, 1 - m),)


@bprop(special.ellipkm1, "elementwise", domain=(0.1, 1.9))
def ellipkm1(p, out, dout):
    return (-dout * ellipk_slope(1 - p, p),)


@bprop(special.ellipe, "elementwise", domain=(-0.9, 0.9))
def ellipe(m, out, dout):
    return (dout * ellipe_slope(m),)


@bprop(special.ellipkinc, "elementwise", refused=["m"], domain=(0.1, 0.9))
def ellipkinc(phi, m, out, dout):
    return dout / np.sqrt(1 - m * np.sin(phi) ** 2), None


@bprop(special.ellipeinc, "elementwise", refused=["m"], domain=(0.1, 0.9))
def ellipeinc(phi, m, out, dout):
    return dout * np.sqrt(1 - m * np.sin(phi) ** 2), None


@bprop(special.ellipj, refused=["m"], samples=[
    given(A(3), 0), given(0.7, 1), given(A(2, dtype="float32"), 0)])
def ellipj(u, m, out, dout):
    sn, cn, dn, _ = out
    d = filled(dout, out)
    return unbroadcast((d[0] * cn - d[1] * sn) * dn - d[2] * m * sn * cn + d[3] * dn, u), None


@ellipj.jvp
def ellipj_jvp(m, out, du):
    sn, cn, dn, ph = out
    return (unbroadcast(du * cn * dn, sn), unbroadcast(-du * sn * dn, cn), unbroadcast(-du * m * sn * cn, dn),
            unbroadcast(du * dn, ph))


# ---------------------------------------------------------------- orthogonal polynomials

DEGREES = [given(3, A(4)), given(np.array([0, 1, 2, 4]), A(3, 1)), given(0, 0.3), given(2, 0.3)]
REAL_DEGREES = [*DEGREES, given(2.0, A(3, low=-0.8, high=0.8)), given(2, A(2, dtype="complex128"))]


@bprop(special.eval_legendre, "elementwise", refused=["n"], samples=REAL_DEGREES)
def eval_legendre(n, x, out, dout):
    return None, dout * (n + 1) / 2 * special.eval_jacobi(n - 1, 1, 1, x)


@bprop(special.eval_chebyt, "elementwise", refused=["n"], samples=REAL_DEGREES)
def eval_chebyt(n, x, out, dout):
    return None, dout * n * special.eval_chebyu(n - 1, x)


@bprop(special.eval_chebyu, "elementwise", refused=["n"], samples=REAL_DEGREES)
def eval_chebyu(n, x, out, dout):
    return None, dout * 2 * special.eval_gegenbauer(n - 1, 2, x)


@bprop(special.eval_hermite, "elementwise", slope="finite", refused=["n"], samples=DEGREES)
def eval_hermite(n, x, out, dout):
    return None, dout * 2 * n * special.eval_hermite(np.maximum(n - 1, 0), x)


@bprop(special.eval_hermitenorm, "elementwise", slope="finite", refused=["n"], samples=DEGREES)
def eval_hermitenorm(n, x, out, dout):
    return None, dout * n * special.eval_hermitenorm(np.maximum(n - 1, 0), x)


@bprop(special.eval_laguerre, "elementwise", refused=["n"], samples=REAL_DEGREES)
def eval_laguerre(n, x, out, dout):
    return None, -dout * special.eval_genlaguerre(n - 1, 1, x)


WITH_PARAMETER = [given(3, 0.7, A(4)), given(np.array([0, 1, 2]), 1.5, A(2, 1)), given(0, 0.5, 0.3)]


@bprop(special.eval_genlaguerre, "elementwise", refused=["n", "alpha"], samples=WITH_PARAMETER)
def eval_genlaguerre(n, alpha, x, out, dout):
    return None, None, -dout * special.eval_genlaguerre(n - 1, alpha + 1, x)


@bprop(special.eval_gegenbauer, "elementwise", refused=["n", "alpha"], samples=WITH_PARAMETER)
def eval_gegenbauer(n, alpha, x, out, dout):
    return None, None, dout * 2 * alpha * special.eval_gegenbauer(n - 1, alpha + 1, x)


@bprop(special.eval_jacobi, "elementwise", refused=["n", "alpha", "beta"], samples=[
    given(3, 0.7, 1.2, A(4)), given(np.array([0, 1, 2]), 1.5, 0.5, A(2, 1)), given(0, 0.5, 0.2, 0.3)])
def eval_jacobi(n, alpha, beta, x, out, dout):
    slope = special.eval_jacobi(n - 1, alpha + 1, beta + 1, x)
    return None, None, None, dout * (n + alpha + beta + 1) / 2 * slope


# Their nodes and weights depend on whole numbers only.
nondifferentiable([special.roots_legendre, special.roots_chebyt, special.roots_chebyu, special.roots_hermite,
                   special.roots_hermitenorm, special.roots_laguerre])
