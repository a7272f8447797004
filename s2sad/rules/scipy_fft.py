"""`scipy.fft`: the transforms that NumPy has as well have its rules."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from scipy import fft

from ..primitives.record import bprop, find_rule, nondifferentiable, refuse
from .constant import named

SHARED = (
    *("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn"),
    *("hfft", "ihfft", "fftshift", "ifftshift"),
)

RUNS = frozenset({"fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "irfft", "rfft"})

for _name in SHARED:
    _rule = find_rule(getattr(np.fft, _name))
    assert _rule is not None
    bprop(getattr(fft, _name), "linear", runs=_name in RUNS, samples=_rule.samples)(_rule.template.function)

nondifferentiable(named(fft, "fftfreq rfftfreq next_fast_len prev_fast_len get_workers"))
refuse(named(fft, "hfft2 ihfft2 hfftn ihfftn"), "use hfft, ihfft and fftn")
refuse(named(fft, "fht ifht fhtoffset"), "its derivative is not known; use fft, or write the sum out")
