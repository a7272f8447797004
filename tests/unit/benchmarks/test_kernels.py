"""The kernels: the derivatives that s2sad generates, against finite differences and each other."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

import s2sad
from benchmarks.kernels import KERNELS
from benchmarks.kernels.checks import (
    adjoint_by_s2sad,
    as_tuple,
    assert_same,
    check_adjoint,
    check_tangent,
    draw,
    keywords,
    positions,
    product,
    quietly,
    run,
    size,
)
from s2sad.kinds.lattice import LARGE


def test_a_wrong_adjoint_is_noticed() -> None:
    kernel, right = KERNELS["gesummv"], adjoint_by_s2sad(KERNELS["gesummv"])

    def wrong(*args):
        out, bprop = right(*args)
        return out, lambda dout: (*bprop(dout)[:4], bprop(dout)[4] * (1 + 1e-6))

    check_adjoint(kernel, right)
    with pytest.raises(AssertionError, match="<dout, J v> is"):
        check_adjoint(kernel, wrong)
    mvt = adjoint_by_s2sad(KERNELS["mvt"])
    with pytest.raises(AssertionError, match="arguments after the run"):
        check_adjoint(KERNELS["mvt"], lambda *args: mvt(*deepcopy(args)))


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_do_what_they_say(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.arguments()
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


@pytest.mark.parametrize("name", KERNELS)
@quietly
def test_kernels_on_larger_arrays(name: str) -> None:
    """Of lengths with which slices that leave out the ends are surely longer than one."""
    small = KERNELS[name].size
    larger = {key: n if key in ("steps", "nit") else n + LARGE for key, n in small.items()}
    kernel = replace(KERNELS[name], size=larger)
    args, outputs, after, tangents, douts = draw(kernel)
    given = deepcopy(args)
    out, bprop = adjoint_by_s2sad(kernel)(*given)
    gradients = bprop(*douts)
    _, tangent = s2sad.jvp(kernel.function, **keywords(kernel))(*deepcopy(args), *tangents)
    assert_same(out, outputs, "outputs")
    assert_same(given, after, "arguments after the run")
    assert_same(bprop(*douts), gradients, "gradients of a second call of bprop")
    forward, reverse = product(douts, as_tuple(tangent)), product(gradients, tangents)
    assert abs(forward - reverse) <= 1e-12 * max(1.0, size(gradients) * size(tangents))
