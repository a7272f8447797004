"""The functions of `cmath`, for numbers. They are complex where the number is real."""
# mypy: allow-untyped-defs
from __future__ import annotations

import cmath
import math

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast

Z = [(0.4 + 0.7j,), (-1.3 - 0.2j,)]

# ---------------------------------------------------------------- roots, exponentials, logarithms

@bprop(cmath.sqrt, "elementwise", widens=True, samples=[*Z, (-1.7,)])
def sqrt(z, out, dout):
    return (dout / (2 * out),)


@bprop(cmath.exp, "elementwise", slope="finite", widens=True, scaling="exp", samples=[*Z, (0.6,)])
def exp(z, out, dout):
    return (dout * out,)


@bprop(cmath.log, "elementwise", widens=True, scaling="log", samples=[*Z, (-1.7,), (0.4 + 0.7j, 2.5)])
def log(z, base=None, /, *, out, dout):
    if base is None:
        return dout / z, None
    dz = dout / (z * cmath.log(base))
    return dz, -dout * out / (base * cmath.log(base))


@bprop(cmath.log10, "elementwise", widens=True, samples=[*Z, (-1.7,)])
def log10(z, out, dout):
    return (dout / (z * math.log(10)),)


# ---------------------------------------------------------------- circular and hyperbolic functions

@bprop(cmath.sin, "elementwise", slope="finite", widens=True, samples=Z)
def sin(z, out, dout):
    return (dout * cmath.cos(z),)


@bprop(cmath.cos, "elementwise", slope="finite", widens=True, samples=Z)
def cos(z, out, dout):
    return (-dout * cmath.sin(z),)


@bprop(cmath.tan, "elementwise", slope="finite", widens=True, samples=Z)
def tan(z, out, dout):
    return (dout * (1 + out ** 2),)


# Two roots, and the sign taken last: on their branch cuts, complex numbers are on the side that the zeros of
# their imaginary parts tell.
@bprop(cmath.asin, "elementwise", widens=True, samples=[*Z, (1.7,)])
def asin(z, out, dout):
    return (dout / (cmath.sqrt(-(complex(z) - 1)) * cmath.sqrt(-(-complex(z) - 1))),)


@bprop(cmath.acos, "elementwise", widens=True, samples=[*Z, (1.7,)])
def acos(z, out, dout):
    return (-dout / (cmath.sqrt(-(complex(z) - 1)) * cmath.sqrt(-(-complex(z) - 1))),)


@bprop(cmath.atan, "elementwise", slope="finite", widens=True, samples=Z)
def atan(z, out, dout):
    return (dout / (1 + z ** 2),)


@bprop(cmath.sinh, "elementwise", slope="finite", widens=True, samples=Z)
def sinh(z, out, dout):
    return (dout * cmath.cosh(z),)


@bprop(cmath.cosh, "elementwise", slope="finite", widens=True, samples=Z)
def cosh(z, out, dout):
    return (dout * cmath.sinh(z),)


@bprop(cmath.tanh, "elementwise", slope="finite", widens=True, samples=Z)
def tanh(z, out, dout):
    return (dout * (1 - out ** 2),)


@bprop(cmath.asinh, "elementwise", widens=True, samples=Z)
def asinh(z, out, dout):
    return (dout / cmath.sqrt(z ** 2 + 1),)


@bprop(cmath.acosh, "elementwise", widens=True, samples=[*Z, (0.3,)])
def acosh(z, out, dout):
    return (dout / (cmath.sqrt(z - 1) * cmath.sqrt(z + 1)),)


@bprop(cmath.atanh, "elementwise", widens=True, samples=[*Z, (1.7,)])
def atanh(z, out, dout):
    return (dout / (1 - z ** 2),)


# ---------------------------------------------------------------- polar coordinates

@bprop(cmath.phase, samples=Z)
def phase(z, out, dout):
    return (unbroadcast(-1j * dout / z, z),)


@phase.jvp
def phase_jvp(z, out, dz):
    return (dz / z).imag


@phase.for_reals
def phase_of_reals(z, out, dout):
    return (None,)


@bprop(cmath.polar, samples=Z)
def polar(z, out, dout):
    return (unbroadcast(dout[0] * z.conjugate() / out[0] - 1j * dout[1] / z, z),)


@polar.jvp
def polar_jvp(z, out, dz):
    turned = dz / z
    return out[0] * turned.real, turned.imag


@bprop(cmath.rect, samples=[(1.3, 0.4), (0.6, -2.5)])
def rect(r, phi, out, dout):
    turned = dout * cmath.rect(1, phi)
    return turned.real, -r * turned.imag


@rect.jvp
def rect_jvp(r, phi, out, dr, dphi):
    return (dr + 1j * r * dphi) * cmath.rect(1, phi)


nondifferentiable([cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan])
