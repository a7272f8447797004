"""Automatic differentiation of plain Python and NumPy by source transformation."""

from __future__ import annotations

from . import transform_rules as _transform_rules  # noqa: F401  (declares the rules of the transforms)
from .api import (
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from .derivatives import dynamic_calls as _dynamic_calls  # noqa: F401  (provides helpers)
from .explain import explain
from .primitives.record import bprop, nondifferentiable
from .testing.check_grads import check_grads
from .testing.coverage import supported
from .transforms.errors import (
    InfiniteSlopeError,
    InternalError,
    MissingRuleError,
    NonDifferentiableError,
    NoSourceError,
    S2sadError,
    UnsupportedSyntaxError,
)

__all__ = [
    "InfiniteSlopeError",
    "InternalError",
    "MissingRuleError",
    "NoSourceError",
    "NonDifferentiableError",
    "S2sadError",
    "UnsupportedSyntaxError",
    "bprop",
    "check_grads",
    "elementwise_grad",
    "explain",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "nondifferentiable",
    "stop_gradient",
    "supported",
    "value_and_grad",
    "vjp",
]
__version__ = "0.1.0"
