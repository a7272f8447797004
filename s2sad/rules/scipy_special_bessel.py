"""`scipy.special`: Bessel functions. They are differentiated by their argument, not by their order; formulas
of the Digital Library of Mathematical Functions, sections 9.2, 10.6, 10.29 and 10.51.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .containers import filled
from .samples import A, given

Array = Any  # any type with NumPy's protocols

ORDERED: Any = {"refused": ["v"], "domain": ((0.5, 2.5), (0.5, 3.0))}
REAL_ORDERED = [given(A(3, low=0.5), A(3, low=0.5)), given(2, A(2, 2)), given(1.0, 1.7),
                given(1, A(3, dtype="float32"))]

# ---------------------------------------------------------------- orders 0 and 1

@bprop(special.j0, "elementwise", slope="finite", domain=(-3.0, 3.0))
def j0(x, out, dout):
    return (-dout * special.j1(x),)


@bprop(special.j1, "elementwise", slope="finite", domain=(-3.0, 3.0))
def j1(x, out, dout):
    return (dout * (special.j0(x) - special.jv(2, x)) / 2,)


@bprop(special.y0, "elementwise", domain=(0.5, 3.0))
def y0(x, out, dout):
    return (-dout * special.y1(x),)


@bprop(special.y1, "elementwise", domain=(0.5, 3.0))
def y1(x, out, dout):
    return (dout * (special.y0(x) - special.yv(2, x)) / 2,)


@bprop(special.i0, "elementwise", slope="finite", domain=(-3.0, 3.0))
def i0(x, out, dout):
    return (dout * special.i1(x),)


@bprop(special.i1, "elementwise", domain=(-3.0, 3.0))
def i1(x, out, dout):
    return (dout * (special.i0(x) + special.iv(2, x)) / 2,)


@bprop(special.k0, "elementwise", domain=(0.5, 3.0))
def k0(x, out, dout):
    return (-dout * special.k1(x),)


@bprop(special.k1, "elementwise", domain=(0.5, 3.0))
def k1(x, out, dout):
    return (-dout * (special.k0(x) + special.kv(2, x)) / 2,)


# With a factor of exp(-|x|), and of exp(x).
@bprop(special.i0e, "elementwise", slope="finite", domain=(0.5, 3.0))
def i0e(x, out, dout):
    return (dout * (special.i1e(x) - np.sign(x) * out),)


@bprop(special.i1e, "elementwise", slope="finite", domain=(-3.0, -0.5))
def i1e(x, out, dout):
    return (dout * ((special.i0e(x) + special.ive(2, x)) / 2 - np.sign(x) * out),)


@bprop(special.k0e, "elementwise", domain=(0.5, 3.0))
def k0e(x, out, dout):
    return (dout * (out - special.k1e(x)),)


@bprop(special.k1e, "elementwise", domain=(0.5, 3.0))
def k1e(x, out, dout):
    return (dout * (out - (special.k0e(x) + special.kve(2, x)) / 2),)


# ---------------------------------------------------------------- all orders

@bprop(special.jv, special.jn, "elementwise", **ORDERED)
def jv(v, z, out, dout):
    return None, dout * (special.jv(v - 1, z) - special.jv(v + 1, z)) / 2


@bprop(special.yv, "elementwise", **ORDERED)
def yv(v, z, out, dout):
    return None, dout * (special.yv(v - 1, z) - special.yv(v + 1, z)) / 2


@bprop(special.yn, "elementwise", refused=["n"], samples=[given(2, A(3, low=0.5)), given(0, 1.7)])
def yn(n, x, out, dout):
    return None, dout * (special.yv(n - 1, x) - special.yv(n + 1, x)) / 2


@bprop(special.iv, "elementwise", **ORDERED)
def iv(v, z, out, dout):
    return None, dout * (special.iv(v - 1, z) + special.iv(v + 1, z)) / 2


@bprop(special.kv, "elementwise", **ORDERED)
def kv(v, z, out, dout):
    return None, -dout * (special.kv(v - 1, z) + special.kv(v + 1, z)) / 2


@bprop(special.kn, "elementwise", refused=["n"], samples=[given(2, A(3, low=0.5)), given(0, 1.7)])
def kn(n, x, out, dout):
    return None, -dout * (special.kv(n - 1, x) + special.kv(n + 1, x)) / 2


@bprop(special.hankel1, "elementwise", widens=True, **ORDERED)
def hankel1(v, z, out, dout):
    return None, dout * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)) / 2


@bprop(special.hankel2, "elementwise", widens=True, **ORDERED)
def hankel2(v, z, out, dout):
    return None, dout * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)) / 2


def real_sign(z: Array) -> Array:
    """The sign of a real argument; refuses complex ones: the scaling takes the magnitude of the real part."""
    if np.iscomplexobj(z):
        raise NonDifferentiableError(
            "scipy.special.ive is differentiated for real arguments only",
            why="its factor exp(-|z.real|) has no complex derivative",
            instead="scale scipy.special.iv yourself")
    return np.sign(z)


nondifferentiable([real_sign])


@bprop(special.ive, "elementwise", refused=["v"], samples=REAL_ORDERED)
def ive(v, z, out, dout):
    return None, dout * ((special.ive(v - 1, z) + special.ive(v + 1, z)) / 2 - real_sign(z) * out)


@bprop(special.kve, "elementwise", **ORDERED)
def kve(v, z, out, dout):
    return None, dout * (out - (special.kve(v - 1, z) + special.kve(v + 1, z)) / 2)


# ---------------------------------------------------------------- spherical and Airy functions

SPHERICAL = [given(2, A(3, low=0.5)), given(0, A(2, 2, low=0.5)), given(1, 1.7),
             given(np.array([0, 1, 3]), A(2, 1, low=0.5)), given(1, A(2, dtype="complex128"))]


@bprop(special.spherical_jn, "elementwise", refused=["n"], widens=True, samples=SPHERICAL)
def spherical_jn(n, z, *, out, dout):
    below, above = special.spherical_jn(np.maximum(n - 1, 0), z), special.spherical_jn(n + 1, z)
    return None, dout * (n * below - (n + 1) * above) / (2 * n + 1)


@bprop(special.spherical_yn, "elementwise", refused=["n"], widens=True, samples=SPHERICAL)
def spherical_yn(n, z, *, out, dout):
    below, above = special.spherical_yn(np.maximum(n - 1, 0), z), special.spherical_yn(n + 1, z)
    return None, dout * (n * below - (n + 1) * above) / (2 * n + 1)


@bprop(special.spherical_in, "elementwise", refused=["n"], widens=True, samples=SPHERICAL)
def spherical_in(n, z, *, out, dout):
    below, above = special.spherical_in(np.maximum(n - 1, 0), z), special.spherical_in(n + 1, z)
    return None, dout * (n * below + (n + 1) * above) / (2 * n + 1)


@bprop(special.spherical_kn, "elementwise", refused=["n"], widens=True, samples=SPHERICAL)
def spherical_kn(n, z, *, out, dout):
    below, above = special.spherical_kn(np.maximum(n - 1, 0), z), special.spherical_kn(n + 1, z)
    return None, -dout * (n * below + (n + 1) * above) / (2 * n + 1)


@bprop(special.airy, samples=[
    given(A(3)), given(0.7), given(A(2, dtype="complex128")), given(A(2, dtype="float32"))])
def airy(z, out, dout):
    d = filled(dout, out)
    return (unbroadcast(d[0] * out[1] + d[1] * z * out[0] + d[2] * out[3] + d[3] * z * out[2], z),)


@airy.jvp
def airy_jvp(z, out, dz):
    return (unbroadcast(dz * out[1], out[0]), unbroadcast(dz * z * out[0], out[1]),
            unbroadcast(dz * out[3], out[2]), unbroadcast(dz * z * out[2], out[3]))
