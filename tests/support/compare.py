"""What it means for a derivative to be right, in terms of the public transforms alone.

A structure is a float, a complex number, an array, or a tuple, list or dict of structures. Its
differentiable leaves are the floating ones; integers, booleans, strings, functions and None carry no
derivative, and stand as None in tangents and cotangents. The pairing of cotangent and tangent is the real
part of the sum of products, without conjugation.
"""

from __future__ import annotations

import copy
import inspect
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

import s2sad
from tests.support.build import build

__all__ = [
    "assert_close",
    "assert_like",
    "assert_same",
    "check_program",
    "check_second",
    "directions",
    "dot",
    "flatten",
    "is_real_scalar",
    "is_sampled",
    "numeric_jvp",
    "random_like",
    "shifted",
]

Function = Callable[..., Any]
Structure = Any


def is_floating(x: Any) -> bool:
    """Whether the leaf carries a derivative: floating or complex."""
    return isinstance(x, (float, complex, np.ndarray, np.generic)) and np.issubdtype(
        np.asarray(x).dtype, np.inexact
    )


def attributes(x: Any) -> dict[str, Any] | None:
    """The attributes of an object of a class of the tests, or of what mirrors one; None for all else."""
    if type(x) is not SimpleNamespace and not type(x).__module__.startswith("tests."):
        return None
    if isinstance(x, tuple):
        return None
    names = [*getattr(x, "__dict__", ()), *(n for c in type(x).__mro__ for n in getattr(c, "__slots__", ()))]
    return {n: getattr(x, n) for n in names}


def sequence_like(x: Any, items: list[Any]) -> Any:
    """A list, tuple or named tuple as x is, of these items."""
    return x._make(items) if hasattr(x, "_make") else type(x)(items)


def with_attributes(x: Any, values: dict[str, Any]) -> Any:
    """An object of the class of x with these attributes."""
    if type(x) is SimpleNamespace:
        return SimpleNamespace(**values)
    new = object.__new__(type(x))
    for name, value in values.items():
        object.__setattr__(new, name, value)
    return new


def is_real_scalar(x: Any) -> bool:
    """Whether `grad` is defined for a function with this result."""
    return is_floating(x) and np.ndim(x) == 0 and not np.iscomplexobj(x)


def map_leaves(f: Function, x: Structure, *others: Structure) -> Structure:
    """The structure of x with f applied to its differentiable leaves (and the others'), None elsewhere."""
    if isinstance(x, (tuple, list)):
        assert all(len(o) == len(x) for o in others)
        return sequence_like(x, [map_leaves(f, *items) for items in zip(x, *others, strict=True)])
    if isinstance(x, dict):
        return {k: map_leaves(f, x[k], *(o[k] for o in others)) for k in x}
    held = attributes(x)
    if held is not None:
        parts = {k: map_leaves(f, v, *(getattr(o, k) for o in others)) for k, v in held.items()}
        return with_attributes(x if is_dataclass(x) else SimpleNamespace(), parts)
    return f(x, *others) if is_floating(x) else None


def flatten(x: Structure) -> list[Any]:
    """The differentiable leaves in order."""
    leaves: list[Any] = []
    map_leaves(leaves.append, x)
    return leaves


def random_like(x: Structure, rng: np.random.Generator) -> Structure:
    """A structure of normally distributed leaves with the types, shapes and dtypes of x."""

    def leaf(v: Any) -> Any:
        shape = np.shape(v)
        drawn = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if np.iscomplexobj(v) else 0)
        if isinstance(v, np.ndarray):
            return np.asarray(drawn, v.dtype)
        return (
            np.asarray(drawn).dtype.type(drawn).item()
            if isinstance(v, (float, complex))
            else v.dtype.type(drawn)
        )

    return map_leaves(leaf, x)


def directions(args: Sequence[Any], wrt: Sequence[int], seed: int) -> tuple[Structure, ...]:
    """The tangents of the arguments `wrt` along which a program is checked."""
    rng = np.random.default_rng(seed)
    return tuple(random_like(args[i], rng) for i in wrt)


def dot(a: Structure, b: Structure) -> float:
    """The pairing of two structures: the real part of the sum of products of their leaves."""
    return float(
        sum(
            np.sum(np.multiply(u, v, dtype=complex)).real for u, v in zip(flatten(a), flatten(b), strict=True)
        )
    )


def magnitude(x: Structure) -> float:
    """The Euclidean norm over all leaves."""
    return float(np.sqrt(sum(np.sum(np.abs(v) ** 2) for v in flatten(x))))


def assert_same(a: Structure, b: Structure) -> None:
    """Exact equality: types, dtypes, shapes and values, bit for bit; NaN equals NaN."""
    assert type(a) is type(b), f"{type(a).__name__} is not {type(b).__name__}: {a!r}, {b!r}"
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for u, v in zip(a, b, strict=True):
            assert_same(u, v)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            assert_same(a[k], b[k])
    elif attributes(a) is not None:
        assert_same(attributes(a), attributes(b))
    elif isinstance(a, (np.ndarray, np.generic)):
        assert a.dtype == b.dtype and a.shape == b.shape, f"{a.dtype} {a.shape} is not {b.dtype} {b.shape}"
        nan_too = np.issubdtype(a.dtype, np.inexact)
        assert bool(np.array_equal(a, b, equal_nan=nan_too)), f"{a!r} is not {b!r}"
        assert not nan_too or np.array_equal(np.signbit(np.real(a)), np.signbit(np.real(b))), (
            f"{a!r} is not {b!r}"
        )
    elif isinstance(a, float):
        assert a.hex() == b.hex(), f"{a!r} is not {b!r}"
    else:
        assert a == b, f"{a!r} is not {b!r}"


def assert_like(derivative: Structure, x: Structure, what: str) -> None:
    """That a derivative has the structure, shapes and dtypes of x, and None where x carries no derivative."""
    if isinstance(x, (tuple, list, dict)):
        assert type(derivative) is type(x) and len(derivative) == len(x), (
            f"{what}: {derivative!r} is not shaped like {x!r}"
        )
        for k in x if isinstance(x, dict) else range(len(x)):
            assert_like(derivative[k], x[k], what)
    elif attributes(x) is not None:
        mirror = type(x) if is_dataclass(x) else SimpleNamespace
        assert type(derivative) is mirror, f"{what}: {derivative!r} does not mirror {x!r}"
        assert_like(attributes(derivative), attributes(x), what)
    elif not is_floating(x):
        assert derivative is None, f"{what}: {derivative!r} for {x!r}, which carries no derivative"
    else:
        allowed: tuple[Any, ...] = (float, complex, np.generic) if np.ndim(x) == 0 else ()
        allowed += (np.ndarray,) if isinstance(x, np.ndarray) else ()
        assert isinstance(derivative, allowed), (
            f"{what}: {type(derivative).__name__} for a {type(x).__name__}"
        )
        assert np.shape(derivative) == np.shape(x), (
            f"{what}: shape {np.shape(derivative)} instead of {np.shape(x)}"
        )
        found, wanted = np.asarray(derivative).dtype, np.asarray(x).dtype
        assert found == wanted, f"{what}: dtype {found} instead of {wanted}"


def assert_close(a: Structure, b: Structure, rtol: float, what: str) -> None:
    """Equality of all leaves up to rtol of the larger of 1 and the whole structure's norm."""
    limit = rtol * max(1.0, magnitude(b))
    left, right = flatten(a), flatten(b)
    assert len(left) == len(right), f"{what}: {len(left)} leaves instead of {len(right)}"
    for u, v in zip(left, right, strict=True):
        assert np.shape(u) == np.shape(v) and np.all(np.abs(u - v) <= limit), (
            f"{what}: {a!r} instead of {b!r}"
        )


def shifted(
    args: Sequence[Any], wrt: Sequence[int], tangents: Sequence[Structure], step: float
) -> tuple[Any, ...]:
    """The arguments moved by step along the tangents, all in double precision."""

    def move(x: Any, t: Any) -> Any:
        wide = np.asarray(x, np.result_type(np.asarray(x).dtype, np.float64)) + step * np.asarray(t)
        if isinstance(x, np.ndarray):
            return np.asarray(wide)
        return wide[()] if isinstance(x, np.generic) else wide.item()

    def rebuild(x: Structure, t: Structure) -> Structure:
        if isinstance(x, (tuple, list)):
            return sequence_like(x, [rebuild(u, v) for u, v in zip(x, t, strict=True)])
        if isinstance(x, dict):
            return {k: rebuild(x[k], t[k]) for k in x}
        held = attributes(x)
        if held is not None:
            return with_attributes(x, {k: rebuild(v, getattr(t, k)) for k, v in held.items()})
        return move(x, t) if is_floating(x) else x

    directions: list[Structure] = [map_leaves(np.zeros_like, x) for x in args]
    for i, t in zip(wrt, tangents, strict=True):
        directions[i] = t
    return tuple(rebuild(x, t) for x, t in zip(args, directions, strict=True))


def numeric_jvp(
    f: Function, args: Sequence[Any], wrt: Sequence[int], tangents: Sequence[Structure], step: float = 4e-4
) -> Structure:
    """The derivative of f along the tangents: extrapolated central differences, error O(step ** 4)."""

    def central(h: float) -> Structure:
        forward = f(*shifted(args, wrt, tangents, h))
        backward = f(*shifted(args, wrt, tangents, -h))
        return map_leaves(lambda u, v: (np.asarray(u) - np.asarray(v)) / (2 * h), forward, backward)

    return map_leaves(lambda fine, coarse: fine + (fine - coarse) / 3, central(step / 2), central(step))


def tolerance(*structures: Structure) -> float:
    """By what factor single precision in the structures loosens a tolerance meant for double precision."""
    single = any(np.finfo(np.asarray(v).dtype).eps > 1e-10 for x in structures for v in flatten(x))
    return float(np.finfo(np.float32).eps / np.finfo(np.float64).eps) if single else 1.0


EVERY_FORM = "S2SAD_EXAMPLES" in os.environ


def number_of(f: Function) -> int:
    """A number of a program that is the same in each run: of its name and its file's, which for a program
    of text is that of the text.
    """
    code = getattr(inspect.unwrap(f), "__code__", None)
    place = "" if code is None else code.co_filename.rpartition("/")[2]
    return zlib.crc32(f"{place} {getattr(f, '__qualname__', '')}".encode())


def forms_of(f: Function, out: Structure, wrt: tuple[int, ...]) -> list[str]:
    """The forms of the derivative that are compared with bprop: for two programs in five one form, not always
    the same; all of them where S2SAD_EXAMPLES is set.
    """
    forms = ["grad", "value_and_grad"] if is_real_scalar(out) else []
    forms += ["bprop of one argument"] if len(wrt) > 1 else []
    if EVERY_FORM or not forms:
        return forms
    number = number_of(f)
    return [forms[number % len(forms)]] if number % 5 < 2 else []


def check_program(f: Function, args: tuple[Any, ...], wrt: tuple[int, ...], seed: int = 0) -> None:
    """Both modes on one program: the value exactly, the derivatives against finite differences.

    Also: a bprop called twice gives the same, gradients are shaped as the arguments, other forms of the
    derivative (see `forms_of`) agree, and arguments are changed as the program changes them.
    """
    changed = copy.deepcopy(args)
    expected = copy.deepcopy(f(*changed))

    def run(derivative: Function, *tangents: Any) -> Any:
        given = copy.deepcopy(args)
        result = derivative(*given, *tangents)
        assert_same(given, changed)
        return result

    inputs = tuple(args[i] for i in wrt)
    tangents, cotangent = directions(args, wrt, seed), random_like(expected, np.random.default_rng(seed + 1))
    loose = tolerance(inputs, expected)

    out, bprop = run(s2sad.vjp(f, argnums=wrt))
    assert_same(out, expected)
    given = copy.deepcopy(cotangent)
    gradients = copy.deepcopy(bprop(cotangent))
    assert_like(gradients, inputs, "bprop")
    assert_same(bprop(cotangent), gradients)
    assert_same(cotangent, given)

    kept = copy.deepcopy(tangents)
    out, tangent = run(s2sad.jvp(f, argnums=wrt), *tangents)
    assert_same(out, expected)
    assert_same(tangents, kept)
    assert_like(tangent, expected, "jvp")
    numeric = numeric_jvp(f, args, wrt, tangents)
    # The differences are taken in double precision: what is left is the tangent's own rounding.
    assert_close(tangent, numeric, 1e-6 if loose == 1.0 else 1e-4, "jvp against finite differences")
    forward, reverse = dot(cotangent, tangent), dot(gradients, tangents)
    scale = max(1.0, magnitude(cotangent) * magnitude(tangent), magnitude(gradients) * magnitude(tangents))
    assert abs(forward - reverse) <= min(1e-9 * loose, 1e-4) * scale, (
        f"<dout, J v> = {forward!r}, <J' dout, v> = {reverse!r}"
    )

    for form in forms_of(f, expected, wrt):
        if form == "bprop of one argument":
            _, bprop_last = run(s2sad.vjp(f, argnums=wrt[-1:]))
            assert_close(bprop_last(cotangent), gradients[-1:], 1e-12 * loose, form)
            continue
        unit = bprop(
            type(cotangent)(1.0) if not isinstance(cotangent, np.ndarray) else np.ones_like(cotangent)
        )
        result = run(getattr(s2sad, form)(f, argnums=wrt))
        if form == "value_and_grad":
            assert_same(result[0], expected)
            result = result[1]
        assert_like(result, inputs, form)
        assert_close(result, unit, 1e-12 * loose, f"{form} against bprop")


def leaf_paths(x: Structure, root: str) -> list[tuple[str, Any]]:
    """The differentiable leaves of x, each with the Python expression that reads it off `root`."""
    if isinstance(x, (tuple, list, dict)):
        keys = x if isinstance(x, dict) else range(len(x))
        return [found for k in keys for found in leaf_paths(x[k], f"{root}[{k!r}]")]
    held = attributes(x)
    if held is not None:
        return [found for k, v in held.items() for found in leaf_paths(v, f"{root}.{k}")]
    return [(root, x)] if is_floating(x) else []


def scalarised(f: Function, args: tuple[Any, ...]) -> Function:
    """The program sum(sin(leaf)) over the leaves of f's result; f itself when its result is a real scalar."""
    out = f(*copy.deepcopy(args))
    if is_real_scalar(out):
        return f
    names = ", ".join(f"a{i}" for i in range(len(args)))
    terms = " + ".join(f"np.sum(np.sin({path}))" for path, _ in leaf_paths(out, "out"))
    return build(f"def scalar({names}):\n    out = f({names})\n    return {terms}\n", f=f)


def check_second(
    f: Function, args: tuple[Any, ...], wrt: tuple[int, ...], seed: int = 0, over: str | None = None
) -> None:
    """A product with the Hessian against finite differences of the gradient: by "forward" over reverse, or by
    "reverse" over reverse, which is the same, as the Hessian is symmetric. Unless it is told, that is reverse
    over reverse for one program in four; where S2SAD_EXAMPLES is set it is both for each.
    """
    scalar = scalarised(f, args)
    gradient = s2sad.grad(scalar, argnums=wrt)
    inputs, tangents = tuple(args[i] for i in wrt), directions(args, wrt, seed)
    expected = gradient(*copy.deepcopy(args))
    numeric = numeric_jvp(gradient, args, wrt, tangents)
    chosen = over or ("reverse" if number_of(f) % 4 == 0 else "forward")

    if EVERY_FORM or chosen == "forward":
        out, product = s2sad.jvp(gradient, argnums=wrt)(*copy.deepcopy(args), *tangents)
        assert_same(out, expected)
        assert_like(product, inputs, "jvp of grad")
        assert_close(product, numeric, 1e-6, "jvp of grad against finite differences")
    if EVERY_FORM or chosen == "reverse":
        names = ", ".join(f"a{i}" for i in range(len(args)))
        weights = {f"v{i}": leaf for i, (_, leaf) in enumerate(leaf_paths(tangents, ""))}
        terms = " + ".join(
            f"np.sum({path} * v{i})" for i, (path, _) in enumerate(leaf_paths(expected, "d"))
        )
        text = f"def directional({names}):\n    d = gradient({names})\n    return {terms}\n"
        directional = build(text, gradient=gradient, **weights)
        transposed = s2sad.grad(directional, argnums=wrt)(*copy.deepcopy(args))
        assert_like(transposed, inputs, "grad of grad")
        assert_close(transposed, numeric, 1e-6, "grad of grad against finite differences")


def is_sampled(f: Function) -> bool:
    """Whether a check that costs much is made of this program among many: of one in six, always the same
    ones, and of all where S2SAD_EXAMPLES is set.
    """
    return EVERY_FORM or number_of(f) % 6 == 0
