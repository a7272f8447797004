"""The kernels: their adjoints by hand against finite differences, and those that s2sad generates."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from benchmarks.kernels import KERNELS
from benchmarks.kernels.by_hand import ADJOINTS
from benchmarks.kernels.checks import (
    adjoint_by_hand,
    adjoint_by_s2sad,
    check_adjoint,
    check_tangent,
    positions,
    run,
)


@pytest.mark.parametrize("name", ADJOINTS)
def test_adjoints_by_hand(name: str) -> None:
    adjoint = adjoint_by_hand(KERNELS[name])
    assert adjoint is not None
    check_adjoint(KERNELS[name], adjoint)


def test_a_wrong_adjoint_is_noticed() -> None:
    kernel, right = KERNELS["gesummv"], ADJOINTS["gesummv"]

    def wrong(*args):
        out, bprop = right(*args)
        return out, lambda dout: (*bprop(dout)[:4], bprop(dout)[4] * (1 + 1e-6))

    with pytest.raises(AssertionError, match="<dout, J v> is"):
        check_adjoint(kernel, wrong)
    with pytest.raises(AssertionError, match="arguments after the run"):
        check_adjoint(KERNELS["mvt"], lambda *args: ADJOINTS["mvt"](*deepcopy(args)))


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_do_what_they_say(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.arguments("small")
    before = deepcopy(args)
    outputs = run(kernel, args)
    assert all(np.all(np.isfinite(x)) for x in outputs)
    for parameter in kernel.outputs:
        k = positions(kernel)[parameter]
        assert not np.array_equal(args[k], before[k]), f"{parameter} is an output that does not change"


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_differentiated_as_they_are(name: str) -> None:
    check_adjoint(KERNELS[name], adjoint_by_s2sad(KERNELS[name]))
    check_tangent(KERNELS[name])
