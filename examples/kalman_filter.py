"""How the flow of the Nile wanders: a state space model by maximum likelihood, through a Kalman filter.

Run it with `python examples/kalman_filter.py`. The data are the yearly flows at Aswan from 1871 to 1970, as
in Durbin and Koopman, "Time Series Analysis by State Space Methods" (2001), chapter 2. A level that moves by
random steps is measured with errors; the two variances are 1469.1 and 15,099 there. Their standard errors are
from the Hessian.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import s2sad

Array = NDArray[np.float64]
FLOWS = np.array([  # in 10^8 cubic metres
    1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799,
    958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916,
    692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698,
    845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742,
    801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901,
    1170, 912, 746, 919, 718, 714, 740,
], dtype=float)


def log_likelihood(log_variances: Array, flows: Array) -> float:
    """The logarithm of the probability of all flows after the first, given that one."""
    step, error = np.exp(log_variances)
    level, variance = flows[0], error
    total = 0.0
    for flow in flows[1:]:
        variance = variance + step
        expected = variance + error
        surprise = flow - level
        total -= 0.5 * (np.log(2 * np.pi * expected) + surprise**2 / expected)
        gain = variance / expected
        level = level + gain * surprise
        variance = (1 - gain) * variance
    return total


def objective(log_variances: Array, flows: Array) -> float:
    """What is minimised."""
    return -log_likelihood(log_variances, flows)


@dataclass(frozen=True)
class Fit:
    """The variances, their standard errors, and the logarithm of the likelihood."""

    variances: Array
    errors: Array
    log_likelihood: float


def main() -> Fit:
    """Fits the variances, prints and returns them."""
    guess = np.log([1e4, 1e4])
    found = minimize(s2sad.value_and_grad(objective), guess, (FLOWS,), jac=True, method="BFGS")
    covariance = np.linalg.inv(s2sad.hessian(objective)(found.x, FLOWS))
    variances = np.exp(found.x)
    fit = Fit(variances, variances * np.sqrt(np.diag(covariance)), -float(found.fun))
    for name, variance, error in zip(("level", "measurement"), fit.variances, fit.errors, strict=True):
        print(f"variance of the {name}: {variance:.0f} ± {error:.0f}")
    print(f"log likelihood {fit.log_likelihood:.2f}")
    return fit


if __name__ == "__main__":
    main()
