"""Arrays that are broadcast against each other, or shaped to be: meshgrid, ix_ and broadcast_arrays."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop
from ..runtime.adjoints import unbroadcast
from .containers import filled
from .samples import A, given


def mesh(xs: Any, likes: Any, indexing: Any, sparse: bool) -> Any:
    """The grids of tangents or cotangents `xs` of the coordinates `likes`."""
    return tuple(np.meshgrid(*filled(xs, likes), indexing=indexing, sparse=sparse))


def unmesh(d: Any, xs: Any, out: Any, indexing: str, sparse: bool) -> Any:
    """The cotangents of the coordinates that a grid was made of."""
    axes = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        axes[:2] = 1, 0
    parts = []
    for i, dx, x in zip(axes, filled(d, out), xs, strict=True):
        other = tuple(j for j in range(len(xs)) if j != i)
        parts.append(unbroadcast(np.reshape(np.sum(dx, axis=other), np.shape(x)), x))
    return tuple(parts)


@bprop(
    np.meshgrid, sharing={"copy": "unknown"},
    samples=[
        given(A(3), A(2)),
        given(A(3), A(2), indexing="ij"),
        given(A(2), A(3), A(2)),
        given(A(3), 1.5),
        given(A(3), A(2), sparse=True),
        given(A(3), A(2), copy=False),
    ],
)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy", out, dout):
    return (unmesh(dout, xi, out, indexing, sparse),)


@meshgrid.jvp
def meshgrid_jvp(*xi, sparse, indexing, out, dxi):
    return mesh(dxi, xi, indexing, sparse)


@bprop(mesh, samples=[given((A(3), A(2)), (np.zeros(3), np.zeros(2)), "xy", False)])
def mesh_(xs, likes, indexing, sparse, out, dout):
    return unmesh(dout, likes, out, indexing, sparse), None


@mesh_.jvp
def mesh_jvp(likes, indexing, sparse, out, dxs):
    return mesh(dxs, likes, indexing, sparse)


@bprop(
    unmesh,
    samples=[given((A(2, 3), A(2, 3)), (np.zeros(3), np.zeros(2)), (np.zeros((2, 3)),) * 2, "xy", False)],
)
def unmesh_(d, xs, grids, indexing, sparse, out, dout):
    return mesh(dout, xs, indexing, sparse), None, None


@unmesh_.jvp
def unmesh_jvp(xs, grids, indexing, sparse, out, dd):
    return unmesh(dd, xs, grids, indexing, sparse)


def shaped_as(xs: Any, likes: Any) -> Any:
    """Tangents or cotangents in other shapes; indices have none."""
    return tuple([None if x is None else np.reshape(x, np.shape(y)) for x, y in zip(xs, likes, strict=True)])


@bprop(np.ix_, sharing="unknown", samples=[given(A(3), A(2)), given(A(2)), given(A(2), A(1), A(3))])
def ix_(*args, out, dout):
    return (shaped_as(dout, args),)


@ix_.jvp
def ix_jvp(out, dargs):
    return shaped_as(dargs, out)


@bprop(shaped_as, samples=[given((A(3), A(2)), (np.zeros((3, 1)), np.zeros((1, 2))))])
def shaped_as_(xs, likes, out, dout):
    return shaped_as(dout, xs), None


@shaped_as_.jvp
def shaped_as_jvp(likes, out, dxs):
    return shaped_as(dxs, likes)


def broadcast_all(xs: Any, likes: Any, out: Any) -> Any:
    """The tangents or cotangents `xs` of arrays `likes`, broadcast as these were."""
    return tuple([np.broadcast_to(x, np.shape(y)) for x, y in zip(filled(xs, likes), out, strict=True)])


def unbroadcast_all(d: Any, xs: Any, out: Any) -> Any:
    """The cotangents of arrays that were broadcast against each other."""
    return tuple([unbroadcast(dx, x) for dx, x in zip(filled(d, out), xs, strict=True)])


@bprop(np.broadcast_arrays, sharing="unknown", steady=True, samples=[given(A(3), A(2, 1)), given(A(2), A())])
def broadcast_arrays(*xs, out, dout):
    return (unbroadcast_all(dout, xs, out),)


@broadcast_arrays.jvp
def broadcast_arrays_jvp(*xs, out, dxs):
    return broadcast_all(dxs, xs, out)


@bprop(
    broadcast_all, samples=[given((A(3), A(2, 1)), (np.zeros(3), np.zeros((2, 1))), (np.zeros((2, 3)),) * 2)]
)
def broadcast_all_(xs, likes, wide, out, dout):
    return unbroadcast_all(dout, likes, out), None, None


@broadcast_all_.jvp
def broadcast_all_jvp(likes, wide, out, dxs):
    return broadcast_all(dxs, likes, wide)


@bprop(
    unbroadcast_all,
    samples=[given((A(2, 3), A(2, 3)), (np.zeros(3), np.zeros((2, 1))), (np.zeros((2, 3)),) * 2)],
)
def unbroadcast_all_(d, xs, wide, out, dout):
    return broadcast_all(dout, xs, wide), None, None


@unbroadcast_all_.jvp
def unbroadcast_all_jvp(xs, wide, out, dd):
    return unbroadcast_all(dd, xs, wide)
