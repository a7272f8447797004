"""The error function without branches, for loops of compiled code that LLVM vectorizes.

It is within one unit in the last place. Up to 0.97 it is x + x * p(x**2), beyond that
1 - exp(-x**2) * q(t) with t = (x - 2.25) / (x + 2), as q is nearly a polynomial; both were fitted by the
algorithm of Remez, to 2**-60 of the result. Importing this module imports Numba.
"""

from __future__ import annotations

from typing import Any

from .vector_arithmetic import fast_two_sum, fma, inlined, polynomial, signed_as, two_product
from .vector_math import exp_of_sum

__all__ = ["erf"]

FIRST, SECOND = 0.1283791670955126, -0.37612638903183754  # Taylor's
near = polynomial(
    0.11283791670950814, -0.026866170644000025, 0.005223977613223065, -0.000854832630284469,
    0.00012055306957757903, -1.4925041288611644e-05, 1.6452640530576733e-06, -1.6267738014094586e-07,
    1.4145761757937594e-08, -9.54291498042767e-10, 3.116095340780259e-11,
)  # fmt: skip
far = polynomial(
    0.23108725873039185, -0.37606763693718215, 0.20179919566876436, -0.06491404198134942,
    0.00450402116119809, 0.004894742787847378, -0.0008648198078133303, -0.0006144046589918862,
    8.569465573810648e-05, 0.00010704719965733966, 3.3337603265140444e-06, -2.017582999570818e-05,
    -8.429261315857606e-06, -1.1098328944424786e-06,
)  # fmt: skip


@inlined
def erf(x: Any) -> Any:
    size = min(abs(x), 6.0)
    square, low = two_product(size, size)
    slope, lost = fast_two_sum(SECOND, square * near(square))
    small = fma(size, fma(square, slope, fma(square, lost, fma(low, slope, FIRST))), size)
    t = (size - 2.25) / (size + 2.0)
    y = 1.0 - exp_of_sum(-square, -low) * far(t)
    y = signed_as(small if size < 0.97 else y, x)
    return y if x == x else x
