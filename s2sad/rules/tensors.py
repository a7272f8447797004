"""Tensor products: tensordot, einsum, kron, cross.

Each gradient is again such a product, so that the helpers' rules are each other.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import WANTED, Sharing, bprop, nondifferentiable
from ..runtime.adjoints import add, unbroadcast, zeros_like
from ..transforms.errors import NonDifferentiableError
from .samples import A, given
from .shaping import cast_like

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- tensordot


def contracted(x: Array, y: Array, axes: Any) -> tuple[list[int], list[int]]:
    """The axes of `x` and of `y` that `np.tensordot` sums over."""
    if np.ndim(axes) == 0:
        return list(range(np.ndim(x) - axes, np.ndim(x))), list(range(axes))
    left, right = ([a] if np.ndim(a) == 0 else list(a) for a in axes)
    return [a % np.ndim(x) for a in left], [b % np.ndim(y) for b in right]


def sorting(axes: list[int]) -> list[int]:
    """The positions of axes in sorted order: the inverse of a permutation."""
    return sorted(range(len(axes)), key=axes.__getitem__)


def free_axes(x: Array, summed: list[int]) -> list[int]:
    """The axes that are not summed over."""
    return [i for i in range(np.ndim(x)) if i not in summed]


nondifferentiable([contracted, free_axes, sorting])


def tensordot_dx(d: Array, y: Array, x: Array, axes: Any) -> Array:
    """The cotangent of `x` in `np.tensordot(x, y, axes)`."""
    xs, ys = contracted(x, y, axes)
    free_x, free_y = free_axes(x, xs), free_axes(y, ys)
    dx = np.tensordot(d, y, (list(range(len(free_x), np.ndim(d))), free_y))
    order = free_x + [xs[i] for i in sorting(ys)]
    return unbroadcast(np.transpose(dx, sorting(order)), x)


def tensordot_dy(d: Array, x: Array, y: Array, axes: Any) -> Array:
    """The cotangent of `y` in `np.tensordot(x, y, axes)`."""
    xs, ys = contracted(x, y, axes)
    free_x, free_y = free_axes(x, xs), free_axes(y, ys)
    dy = np.tensordot(x, d, (free_x, list(range(len(free_x)))))
    order = [ys[i] for i in sorting(xs)] + free_y
    return unbroadcast(np.transpose(dy, sorting(order)), y)


@bprop(
    np.tensordot,
    np.linalg.tensordot,
    "bilinear",
    samples=[
        given(A(2, 3), A(3, 4), axes=1),
        given(A(2, 3, 4), A(4, 3, 2), axes=([1, 2], [1, 0])),
        given(A(2, 3), A(4), axes=0),
        given(A(2, 3), A(2, 3)),
        given(A(2, 3, 4), A(3, 5), axes=(1, 0)),
        given(A(2, 3, 4), A(2, 4, 5), axes=((0, -1), (0, 1))),
    ],
)
def tensordot(x, y, axes=2, *, out, dout):
    return tensordot_dx(dout, y, x, axes), tensordot_dy(dout, x, y, axes)


@bprop(tensordot_dx, "bilinear", sharing="fresh",
    samples=[given(A(2, 5), A(4, 3, 5), np.zeros((2, 3, 4)), ([1, 2], [1, 0]))])
def tensordot_dx_(d, y, x, axes, out, dout):
    return unbroadcast(np.tensordot(dout, y, axes), d), tensordot_dy(d, dout, y, axes), None


@bprop(tensordot_dy, "bilinear", sharing="fresh",
    samples=[given(A(2, 5), A(2, 3, 4), np.zeros((4, 3, 5)), ([1, 2], [1, 0]))])
def tensordot_dy_(d, x, y, axes, out, dout):
    return unbroadcast(np.tensordot(x, dout, axes), d), tensordot_dx(d, dout, x, axes), None


# ---------------------------------------------------------------- einsum


def explicit_subscripts(subscripts: str, operands: tuple[Array, ...]) -> tuple[list[str], str]:
    """The subscripts of each operand and of the result, with a letter for each axis: no ellipsis, nothing
    implied.
    """
    left, arrow, result = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if not arrow:
        result = "..." * ("..." in left) + "".join(
            sorted(c for c in set(left) - set(".,") if left.count(c) == 1)
        )
    spare = [c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in subscripts]
    hidden = [
        np.ndim(x) - len(s.replace("...", "")) if "..." in s else 0
        for s, x in zip(inputs, operands, strict=True)
    ]
    letters = "".join(spare[: max(hidden)])
    inputs = [s.replace("...", letters[len(letters) - n :]) for s, n in zip(inputs, hidden, strict=True)]
    return inputs, result.replace("...", letters)


def einsum_like(x: Array, target: str, subscripts: str, *operands: Array) -> Array:
    """`np.einsum(subscripts, *operands)` as an array like `x` of axes `target`, in which letters may repeat
    (a diagonal, zero elsewhere) or not occur in `subscripts` (the same all along that axis); axes of length 1
    in `x` are summed over.
    """
    letters = "".join(dict.fromkeys(target))
    present = "".join(c for c in letters if c in subscripts)
    found = np.einsum(f"{subscripts}->{present}", *operands, optimize=len(operands) > 2)
    found = np.reshape(
        found, tuple(np.shape(found)[present.index(c)] if c in present else 1 for c in letters)
    )
    sizes = tuple(np.shape(x)[target.index(c)] for c in letters)
    shrunk = tuple(i for i, n in enumerate(sizes) if n == 1)
    found = np.sum(found, axis=shrunk, keepdims=True)
    if letters == target:
        return unbroadcast(
            found if np.shape(found) == np.shape(x) else np.broadcast_to(found, np.shape(x)).copy(), x
        )
    if np.iscomplexobj(found) and not np.iscomplexobj(x):
        found = np.real(found)
    dx = np.zeros_like(x)
    places = np.einsum(f"{target}->{letters}", dx)  # a view
    places[...] = found
    return dx


def einsum_grads(
    d: Array, subscripts: str, operands: tuple[Array, ...], wanted: tuple[int, ...] | None = None
) -> tuple[Array, ...]:
    """The cotangents of the operands of `np.einsum`; None for those that are not wanted."""
    inputs, result = explicit_subscripts(subscripts, operands)
    grads: list[Any] = []
    for k, x in enumerate(operands):
        if wanted is not None and k not in wanted:
            grads.append(None)
            continue
        others = [i for i in range(len(operands)) if i != k]
        equation = ",".join([result, *(inputs[i] for i in others)])
        grads.append(einsum_like(x, inputs[k], equation, d, *[operands[i] for i in others]))
    return tuple(grads)


def einsum_sharing(operation: Any) -> Sharing:
    """Of one operand it may be a view."""
    is_text = len(operation.args) > 2 and hasattr(operation.args[0], "value")
    return "fresh" if is_text else "unknown"


EINSUMS = [
    given("ij,jk->ik", A(2, 3), A(3, 4)),
    given("ij,jk", A(2, 3), A(3, 4)),
    given("ii", A(3, 3)),
    given("ii->i", A(3, 3)),
    given("i,j,k->ijk", A(2), A(3), A(2)),
    given("ij->", A(2, 3)),
    given("...ij,...jk->...ik", A(4, 2, 3), A(3, 2)),
    given("...i->...", A(2, 3)),
    given("ij,kj->i", A(2, 3), A(4, 1)),
    given("i, i", A(3), A(3, dtype="float32")),
    given("iij,j->i", A(2, 2, 3), A(3)),
    given("ij,ij->ij", A(2, 3), A(2, 3, dtype="complex128")),
    given(",i->i", A(), A(3)),
    given("i,i->i", A(3, dtype="float32"), A(3, dtype="float32"), dtype=np.float64, optimize=True),
    given("ij->ji", A(2, 3), order="C", casting="same_kind"),
    given(A(2, 3), [0, 1], A(3, 4), [1, 27], [27, 0]),
    given(A(3, 3), [2, 2], A(4), [0]),
    given(A(2, 3), [..., 1], A(3), [1]),
    given(A(2, 3), [0, 1]),
]


@bprop(np.einsum, data=99, sharing=einsum_sharing, steady=True, samples=EINSUMS)
def einsum(subscripts, *operands, optimize=False, dtype=None, order="K", casting="safe", out, dout):
    if isinstance(subscripts, str):
        return None, einsum_grads(dout, subscripts, operands, WANTED)
    dx, dothers = listed_grads(dout, subscripts, operands)
    return dx, dothers


@einsum.jvp
def einsum_jvp(subscripts, *operands, dtype, out, dsubscripts, doperands):
    if isinstance(subscripts, str) and dtype is None:
        return einsum_tangent(subscripts, operands, doperands)
    if isinstance(subscripts, str):
        return cast_like(einsum_tangent(subscripts, operands, doperands), out)
    return cast_like(listed_tangent(subscripts, operands, dsubscripts, doperands), out)


# `np.einsum(x, [0, 1], y, [1, 2], [0, 2])`: what follows the first array alternates.


def listed_subscripts(others: tuple[Any, ...]) -> str:
    """The subscripts that the lists of axis numbers are."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order of their codes

    def written(numbers: Any) -> str:
        return "".join("..." if k is ... else letters[k] for k in numbers)

    result = "->" + written(others[-1]) if len(others) % 2 == 0 else ""
    return ",".join(map(written, others[::2])) + result


nondifferentiable([listed_subscripts])


def listed_arrays(first: Any, others: tuple[Any, ...]) -> tuple[Any, ...]:
    """What belongs to the arrays, without what belongs to their lists."""
    count = (len(others) + 1) // 2
    return (first, *others[1 : 2 * count - 1 : 2])


def listed_grads(d: Array, first: Array, others: tuple[Any, ...]) -> tuple[Array, tuple[Any, ...]]:
    """The cotangents of the first array, and of what follows it."""
    arrays = listed_arrays(first, others)
    dfirst, *grads = einsum_grads(d, listed_subscripts(others), arrays)
    found = [None]
    for dx in grads:
        found.append(dx)
        found.append(None)
    return dfirst, tuple(found if len(others) % 2 else [*found, None])


def listed_tangent(first: Array, others: tuple[Any, ...], dfirst: Any, dothers: tuple[Any, ...]) -> Any:
    """The tangent, from those of the first array and of what follows it."""
    tangents = listed_arrays(dfirst, dothers)
    return einsum_tangent(listed_subscripts(others), listed_arrays(first, others), tangents)


def einsum_tangent(subscripts: str, operands: tuple[Array, ...], tangents: tuple[Any, ...]) -> Any:
    """The tangent of `np.einsum`: one term for each operand that has a tangent."""
    total = 0.0
    for k in range(len(operands)):
        if tangents[k] is not None:
            total = total + np.einsum(subscripts, *operands[:k], tangents[k], *operands[k + 1 :])
    return total


def with_each(
    d: Array, subscripts: str, operands: tuple[Array, ...], others: Any, wanted: tuple[int, ...] | None
) -> tuple[Array, ...]:
    """The change of `einsum_grads(d, subscripts, operands, wanted)` when the operands change by `others`."""
    total = tuple(
        [zeros_like(x) if wanted is None or k in wanted else None for k, x in enumerate(operands)]
    )
    for k, changed in enumerate(others):
        if changed is not None:
            grads = einsum_grads(d, subscripts, (*operands[:k], changed, *operands[k + 1 :]), wanted)
            total = tuple(
                [t if i == k else add(t, g) for i, (t, g) in enumerate(zip(total, grads, strict=True))]
            )
    return total


@bprop(
    einsum_grads,
    samples=[given(A(2, 4), "ij,jk->ik", (A(2, 3), A(3, 4))), given(A(), "i,i,i", (A(3), A(3), A(3)))],
)
def einsum_grads_(d, subscripts, operands, wanted=None, *, out, dout):
    return einsum_tangent(subscripts, operands, dout), None, with_each(d, subscripts, operands, dout, None)


@einsum_grads_.jvp
def einsum_grads_jvp(d, subscripts, operands, wanted, out, dd, doperands):
    change = with_each(d, subscripts, operands, doperands, wanted)
    return add(einsum_grads(dd, subscripts, operands, wanted), change)


nondifferentiable([explicit_subscripts])


# ---------------------------------------------------------------- kron and cross


def kron_parts(d: Array, x: Array, y: Array) -> Array:
    """The cotangent of `np.kron(x, y)` with an axis pair (of `x`, of `y`) for each of its axes, those of `x`
    in front.
    """
    ndim = max(np.ndim(x), np.ndim(y))
    shapes = [(1,) * (ndim - np.ndim(a)) + np.shape(a) for a in (x, y)]
    pairs = np.reshape(d, tuple(n for pair in zip(*shapes, strict=True) for n in pair))
    return np.transpose(pairs, (*range(0, 2 * ndim, 2), *range(1, 2 * ndim, 2)))


def kron_dx(d: Array, y: Array, x: Array) -> Array:
    """The cotangent of `x` in `np.kron(x, y)`."""
    ndim = max(np.ndim(x), np.ndim(y))
    wide = np.reshape(y, (1,) * (ndim - np.ndim(y)) + np.shape(y))
    return unbroadcast(np.reshape(np.tensordot(kron_parts(d, x, y), wide, ndim), np.shape(x)), x)


def kron_dy(d: Array, x: Array, y: Array) -> Array:
    """The cotangent of `y` in `np.kron(x, y)`."""
    ndim = max(np.ndim(x), np.ndim(y))
    wide = np.reshape(x, (1,) * (ndim - np.ndim(x)) + np.shape(x))
    return unbroadcast(np.reshape(np.tensordot(wide, kron_parts(d, x, y), ndim), np.shape(y)), y)


@bprop(
    np.kron,
    "bilinear",
    samples=[given(A(2, 3), A(3, 2)), given(A(3), A(2)), given(A(2), A(3, 2)), given(A(2, 1, 3), A(2, 2))],
)
def kron(x, y, out, dout):
    return kron_dx(dout, y, x), kron_dy(dout, x, y)


@bprop(kron_dx, "bilinear", sharing="fresh", samples=[given(A(6, 6), A(3, 2), np.zeros((2, 3)))])
def kron_dx_(d, y, x, out, dout):
    return unbroadcast(np.kron(dout, y), d), kron_dy(d, dout, y), None


@bprop(kron_dy, "bilinear", sharing="fresh", samples=[given(A(6, 6), A(2, 3), np.zeros((3, 2)))])
def kron_dy_(d, x, y, out, dout):
    return unbroadcast(np.kron(x, dout), d), kron_dx(d, dout, x), None


# ---------------------------------------------------------------- cross products


def rows_of(x: Array, given_axis: int, axis: int | None) -> Array:
    """`x` with the vectors of a cross product along its last axis."""
    return np.moveaxis(x, given_axis if axis is None else axis, -1)


def spatial(x: Array, y: Array) -> Array:
    """`x` itself, if both are made of vectors with three components along the last axis."""
    if np.shape(x)[-1] != 3 or np.shape(y)[-1] != 3:
        raise NonDifferentiableError(
            "np.cross of vectors with two components is not differentiated in reverse mode",
            why="NumPy is giving it up",
            instead="write x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]",
        )
    return x


@bprop(spatial, "linear", moves=True, like=0, samples=[given(A(3), A(3)), given(A(2, 3), A(3))])
def spatial_(x, y, out, dout):
    return dout, None


def cross_dx(d: Array, y: Array, x: Array, axes: tuple[int, int, int], axis: int | None) -> Array:
    """The cotangent of `x` in `np.cross(x, y)`; `axes` are those of the vectors of `d`, `y` and `x`."""
    x = rows_of(x, axes[2], axis)
    dx = np.cross(spatial(rows_of(y, axes[1], axis), x), rows_of(d, axes[0], axis))
    return np.moveaxis(unbroadcast(dx, x), -1, axes[2] if axis is None else axis)


def cross_dy(d: Array, x: Array, y: Array, axes: tuple[int, int, int], axis: int | None) -> Array:
    """The cotangent of `y` in `np.cross(x, y)`; `axes` are those of the vectors of `d`, `x` and `y`."""
    y = rows_of(y, axes[2], axis)
    dy = np.cross(rows_of(d, axes[0], axis), spatial(rows_of(x, axes[1], axis), y))
    return np.moveaxis(unbroadcast(dy, y), -1, axes[2] if axis is None else axis)


CROSSES = [
    given(A(3), A(3)),
    given(A(2, 3), A(3)),
    given(A(3, 4), A(3, 4), axis=0),
    given(A(3, 4), A(3), axis=0),
]


@bprop(np.cross, "bilinear", samples=[*CROSSES, given(A(3, 4), A(4, 3), 0), given(A(3, 2), A(2, 3), 0, 1, 0)])
def cross(x, y, axisa=-1, axisb=-1, axisc=-1, axis=None, *, out, dout):
    if axisa == -1 and axisb == -1 and axisc == -1 and axis is None:
        return unbroadcast(np.cross(spatial(y, x), dout), x), unbroadcast(np.cross(dout, spatial(x, y)), y)
    return (
        cross_dx(dout, y, x, (axisc, axisb, axisa), axis),
        cross_dy(dout, x, y, (axisc, axisa, axisb), axis),
    )


@bprop(np.linalg.cross, "bilinear", samples=CROSSES)
def linalg_cross(x, y, *, axis=-1, out, dout):
    return cross_dx(dout, y, x, (axis, axis, axis), axis), cross_dy(dout, x, y, (axis, axis, axis), axis)
