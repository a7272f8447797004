"""Code of the user's in the reverse sweep: `with grad_of(x) as dx:`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .adjoints import zeros_like
from .custom_rules import fitted_to, outline

__all__ = ["grad_of", "hooked", "replaced_adjoint"]


@contextmanager
def grad_of(x: Any) -> Iterator[Any]:
    """The context of statements that run in the reverse sweep, where the derivative of `x` is known: `with
    grad_of(x) as dx:` prints it, checks it, clips it (`dx = np.clip(dx, -1, 1)`), replaces it (`dx[:] = 0`),
    or stops in a debugger (`breakpoint()`).

    `x` is a variable of the differentiated function, and `dx` what comes back to it at this point: a copy,
    with the shape and dtype of `x`; what the block leaves in `dx` goes on. A result of another shape raises
    RuleError. Forward mode leaves the block out. Where the function itself is called, and not a derivative,
    the block runs in its place with zeros.

    >>> def f(x):
    ...     y = x * x
    ...     with grad_of(y) as dy:
    ...         print("dy =", dy)
    ...         dy = min(dy, 1.0)
    ...     return 5.0 * y
    >>> s2sad.grad(f)(3.0)
    dy = 5.0
    6.0
    """
    yield zeros_like(x)


def hooked(x: Any, hook: Callable[[Any, Any], Any], captured: tuple[Any, ...]) -> Any:
    """`x` itself; its adjoint goes through `hook(dx, captured)`."""
    return x


def replaced_adjoint(dx: Any, x: Any) -> Any:
    """What a hook made of the adjoint of `x`, if that fits."""
    return fitted_to(dx, outline(x), "the block of grad_of", "derivative")
