"""What a `bprop` does to the cotangent that it is given, before anything else."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from ..primitives.record import bprop
from ..runtime.adjoints import conform
from ..runtime.input_checks import cotangent_like


@bprop(
    cotangent_like,
    "linear",
    like=1,
    like_number=True,
    samples=[(1.5, 2.5, "f"), (np.ones(2), np.zeros(2), "f"), ((1.5, [2.5]), (0.5, [0.7]), "f")],
)
def cotangent_like_(d, value, name, *, out, dout):
    return conform(dout, d), None, None
