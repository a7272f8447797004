"""What the derivatives of functions with a rule of the user's call at run time: checks of what the rule
returned, and the zeros that it is given.

Contract: whatever does not fit raises RuleError with the names of the rule and of the parameter. What fits
has the structure, shape and dtype of the value that it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..transforms.errors import RuleError
from ..values.libraries import has_dtype
from ..values.objects import dict_like, fields_of, is_plain, mirror
from .adjoints import Like, like, unbroadcast, zeros_like, zeros_of

__all__ = [
    "Expected",
    "as_tuple",
    "check_forward",
    "check_pair",
    "cotangent_at",
    "fitted_to",
    "gradient_of",
    "marks_of",
    "outline",
    "pairing",
    "placed_gradient",
    "scaled",
    "share_memory",
    "tangent_of",
    "unmarked",
    "zero_tangent",
]

NUMBERS = (bool, int, float, complex)


@dataclass(frozen=True, eq=False)
class Expected:
    """The result that a rule is to return: `fits((*args, out))` says whether it is of the right kind, and
    `is_new` whether it shares no memory with the arguments.
    """

    fits: Callable[[tuple[Any, ...]], bool]
    is_new: bool


def outline(x: Any) -> Any:
    """A value without the elements of its arrays: all that is needed to check its gradient."""
    if isinstance(x, np.ndarray):
        return like(x)
    match x:
        case tuple():
            items = map(outline, x)
            return type(x)._make(items) if hasattr(x, "_make") else tuple(items)
        case list():
            return list(map(outline, x))
        case dict():
            return dict_like(x, {k: outline(v) for k, v in x.items()})
    return x


def zero_tangent(x: Any) -> Any:
    """The zero that a rule gets as the tangent of an inactive argument: of integers zeros of floats, None of
    what is no number.
    """
    if isinstance(x, (bool, int)):
        return 0.0
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biu":
        return np.zeros(x.shape) if isinstance(x, np.ndarray) else np.float64(0.0)
    return zeros_like(x)


def check_forward(made: Any, name: str, expected: Expected, args: tuple[Any, ...]) -> None:
    """Raises RuleError unless the forward part of a rule returned `(out, residuals)`, where the result is
    what the function itself returns for these arguments.
    """
    check_pair(made, name)
    if not expected.fits((*args, made[0])):
        raise RuleError(
            f"the forward part of the rule for {name} returns {_described(made[0])} as the result, "
            f"which is not what {name} itself returns"
        )
    if expected.is_new and any(share_memory(made[0], x) for x in args):
        raise RuleError(
            f"the forward part of the rule for {name} returns one of its arguments, or a view of it, where "
            f"{name} itself returns something new: return a copy"
        )


def check_pair(made: Any, name: str) -> None:
    """Raises RuleError unless the forward part of a rule returned `(out, residuals)`."""
    if not isinstance(made, tuple) or len(made) != 2:
        told = f"a tuple of {len(made)}" if isinstance(made, tuple) else f"a {type(made).__name__}"
        raise RuleError(f"the rule for {name} returns a tuple of two, the result and another, not {told}")


def share_memory(out: Any, x: Any) -> bool:
    """Whether two values may share memory: arrays, containers, and arrays in containers."""
    if isinstance(out, np.ndarray) and isinstance(x, np.ndarray):
        return np.may_share_memory(out, x)
    if isinstance(x, (list, dict)) and x is out:
        return True
    for whole, other in ((out, x), (x, out)):
        if isinstance(whole, (tuple, list, dict)):
            parts = whole.values() if isinstance(whole, dict) else whole
            return any(share_memory(part, other) for part in parts)
    return False


def marks_of(out: Any, marked: tuple[Any, ...]) -> int:
    """A bit for each of the results that is one of those `marked` as without derivative, by identity."""
    outs = out if isinstance(out, tuple) else (out,)
    return sum(1 << k for k, o in enumerate(outs) if any(o is m for m in marked))


def cotangent_at(dout: Any, k: int, count: int, name: str) -> Any:
    """The cotangent of the result `k` of `count`."""
    if not isinstance(dout, tuple):
        dout = (dout,)
    if len(dout) != count:
        raise RuleError(
            f"{name}.forward returns {len(dout)} result{'s' * (len(dout) != 1)}, and {name}.backward takes "
            f"{count} cotangent{'s' * (count != 1)}: after ctx it takes one for each result"
        )
    return dout[k]


def unmarked(dout: Any, marks: int) -> Any:
    """The cotangents of results, with zeros for those that are marked."""
    if not marks:
        return dout
    if not isinstance(dout, tuple):
        return zeros_like(dout)
    return tuple(zeros_like(d) if marks >> k & 1 else d for k, d in enumerate(dout))


# ---------------------------------------------------------------- gradients and tangents


def gradient_of(gradients: Any, k: int, count: int, x: Any, name: str, parameter: str) -> Any:
    """The gradient of the argument `k` of `count` among those that a rule returned: a tuple, or for one
    argument the gradient alone. `x` is the outline of the argument.
    """
    gradients = as_tuple(gradients, count, name)
    who = f"the backward part of the rule for {name}"
    return fitted_to(gradients[k], x, who, f"gradient of `{parameter}`")


def as_tuple(gradients: Any, count: int, name: str) -> tuple[Any, ...]:
    """The gradients that a rule returned: a tuple of `count`, or for one argument the gradient alone."""
    if not isinstance(gradients, tuple) and count == 1:
        gradients = (gradients,)
    if not isinstance(gradients, tuple) or len(gradients) != count:
        many = isinstance(gradients, tuple)
        told = f"{len(gradients)} gradients" if many else f"a {type(gradients).__name__}"
        plural = "gradients" if count > 1 else "gradient"
        raise RuleError(
            f"the backward part of the rule for {name} returns {told}, and it is to return a tuple of "
            f"{count} {plural}, one for each argument (None for zero)"
        )
    return gradients


def placed_gradient(gradients: Any, k: int, dx: Any) -> Any:
    """The adjoint of `gradients`, of which `gradient_of` took the one at `k`."""
    if not isinstance(gradients, tuple):
        return dx
    return tuple(dx if j == k and g is not None else zeros_like(g) for j, g in enumerate(gradients))


def tangent_of(dout: Any, out: Any, name: str) -> Any:
    """The tangent of the result `out` that a rule returned."""
    return fitted_to(dout, out, f"the rule for {name}", "tangent of the result")


def pairing(a: Any, b: Any) -> float:
    """The real part of the sum of the products of cotangents and tangents, without conjugation."""
    if a is None or b is None:
        return 0.0
    match a:
        case tuple() | list():
            return sum((pairing(x, y) for x, y in zip(a, b, strict=True)), 0.0)
        case dict():
            return sum((pairing(x, b[k]) for k, x in a.items()), 0.0)
    if not isinstance(a, NUMBERS) and not has_dtype(a):
        return pairing(fields_of(a), fields_of(b))
    return float(np.real(np.sum(np.multiply(a, b))))


def scaled(a: Any, b: Any, number: float) -> Any:
    """The adjoint of `a` in `pairing(a, b)`: `b` times a number, with the structure of `a`."""
    if a is None or b is None:
        return zeros_like(a)
    match a:
        case tuple() | list():
            items = [scaled(x, y, number) for x, y in zip(a, b, strict=True)]
            return type(a)._make(items) if hasattr(a, "_make") else type(a)(items)
        case dict():
            return dict_like(a, {k: scaled(x, b[k], number) for k, x in a.items()})
    if not isinstance(a, NUMBERS) and not has_dtype(a):
        return mirror(a, scaled(fields_of(a), fields_of(b), number))
    product, shape = b * number, np.broadcast_shapes(np.shape(a), np.shape(b))
    return unbroadcast(product if np.shape(b) == shape else np.broadcast_to(product, shape).copy(), a)


def fitted_to(dx: Any, x: Any, who: str, what: str) -> Any:
    """The derivative `dx` as one of `x`, or of its outline; None is zero."""
    if dx is None:
        return zeros_of(x) if type(x) is Like and x.dtype.kind in "fc" else zeros_like(x)
    if isinstance(x, NUMBERS) or has_dtype(x):
        if not isinstance(dx, NUMBERS) and not has_dtype(dx):
            raise RuleError(f"{who} gives a {type(dx).__name__} as the {what}, which is {_described(x)}")
        if np.shape(dx) != getattr(x, "shape", ()):
            raise RuleError(
                f"{who} gives an array of shape {np.shape(dx)} as the {what}, which is {_described(x)}"
            )
        is_float = np.dtype(getattr(x, "dtype", type(x))).kind in "fc"
        return unbroadcast(dx, x) if is_float else zeros_like(x)
    same = isinstance(dx, type(x)) or (is_plain(type(x)) and hasattr(dx, "__dict__"))
    if isinstance(x, (tuple, list, dict)):
        same = isinstance(dx, dict if isinstance(x, dict) else type(x)) and len(dx) == len(x)
        same = same and (not isinstance(x, dict) or dx.keys() == x.keys())
    elif not is_plain(type(x)):
        return None
    if not same:
        raise RuleError(f"{who} gives {_described(dx)} as the {what}, which is {_described(x)}")
    if isinstance(x, dict):
        return dict_like(x, {k: fitted_to(dx[k], v, who, f"{what}[{k!r}]") for k, v in x.items()})
    if isinstance(x, (tuple, list)):
        items = [fitted_to(d, v, who, f"{what}[{k}]") for k, (d, v) in enumerate(zip(dx, x, strict=True))]
        return type(x)._make(items) if hasattr(x, "_make") else type(x)(items)
    given = fields_of(dx)
    return mirror(x, {k: fitted_to(given.get(k), v, who, f"{what}.{k}") for k, v in fields_of(x).items()})


def _described(x: Any) -> str:
    if isinstance(x, (np.ndarray, Like)):
        return f"an array of shape {x.shape} and dtype {x.dtype}"
    if isinstance(x, (tuple, list, dict)):
        return f"a {type(x).__name__} of {len(x)}"
    return "a number" if isinstance(x, NUMBERS) else f"of type {type(x).__name__}"
