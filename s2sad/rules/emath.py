"""The functions of `np.emath`, which are complex where NumPy's would not be defined: as NumPy writes them."""

from __future__ import annotations

import numpy as np

from ..primitives.record import stands_in

for name in np.emath.__all__:
    made = getattr(np.emath, name)
    stands_in(made)(made.__wrapped__)
