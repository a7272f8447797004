"""`scipy.fft`: the transforms that NumPy has as well have its rules; cosine and sine transforms."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft

from s2sad.transforms.errors import NonDifferentiableError

from ..registry import bprop, find_rule, nondifferentiable, refuse
from .constant import named
from .fourier import fitted
from .samples import A, given

Array = Any  # whatever implements NumPy's protocols

SHARED = (
    *("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn"),
    *("hfft", "ihfft", "fftshift", "ifftshift"),
)

for _name in SHARED:
    _rule = find_rule(getattr(np.fft, _name))
    assert _rule is not None
    bprop(getattr(fft, _name), "linear", samples=_rule.samples)(_rule.template.function)

# The orthogonal transforms of types 2 and 3 are each other's inverses, and so transposes; type 4 is its own.
ORTHOGONAL = [
    given(A(5), norm="ortho"),
    given(A(2, 5), 3, 6, axis=1, norm="ortho"),
    given(A(4, 2), 4, 3, axis=0, norm="ortho"),
    given(A(4, dtype="float32"), norm="ortho"),
]


def transposed_type(type: int, norm: Any) -> int:
    """The type of the transpose of an orthogonal transform; refuses others."""
    if norm != "ortho" or type not in (2, 3, 4):
        raise NonDifferentiableError(
            f"the derivative of a cosine or sine transform of type {type}, norm={norm!r}",
            why="only the orthogonal ones of types 2, 3 and 4 have a rule",
            instead='pass norm="ortho", and scale',
        )
    return {2: 3, 3: 2, 4: 4}[type]


nondifferentiable([transposed_type])


@bprop(fft.dct, "linear", samples=ORTHOGONAL)
def dct(x, type=2, n=None, axis=-1, norm=None, *, out, dout):
    return (fitted(fft.dct(dout, transposed_type(type, norm), None, axis, norm), x),)


@bprop(fft.idct, "linear", samples=ORTHOGONAL)
def idct(x, type=2, n=None, axis=-1, norm=None, *, out, dout):
    return (fitted(fft.idct(dout, transposed_type(type, norm), None, axis, norm), x),)


@bprop(fft.dst, "linear", samples=ORTHOGONAL)
def dst(x, type=2, n=None, axis=-1, norm=None, *, out, dout):
    return (fitted(fft.dst(dout, transposed_type(type, norm), None, axis, norm), x),)


@bprop(fft.idst, "linear", samples=ORTHOGONAL)
def idst(x, type=2, n=None, axis=-1, norm=None, *, out, dout):
    return (fitted(fft.idst(dout, transposed_type(type, norm), None, axis, norm), x),)


nondifferentiable(named(fft, "fftfreq rfftfreq next_fast_len prev_fast_len get_workers"))
refuse(named(fft, "hfft2 ihfft2 hfftn ihfftn"), "use hfft, ihfft and fftn")
refuse(named(fft, "dctn idctn dstn idstn fht ifht fhtoffset"), "transform along one axis after the other")
