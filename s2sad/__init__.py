"""Automatic differentiation of plain Python and NumPy by source transformation.

`import s2sad` loads next to nothing: the module of a public name is imported when the name is first used.
"""

from __future__ import annotations

import importlib
import importlib.util
import opcode
import sys
import threading
from typing import TYPE_CHECKING, Any

from .values.gc_pause import collection_paused

if TYPE_CHECKING:
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
        vmap,
    )
    from .custom_rules import Function, custom_jvp, custom_vjp, numerical, once_differentiable
    from .debugging import debug_nans
    from .derivatives.checkpoints import checkpoint, checkpointed
    from .explanation import explain
    from .primitives.record import bprop, nondifferentiable
    from .runtime.hooks import grad_of
    from .testing.check_grads import check_grads
    from .testing.check_rule import check_rule
    from .testing.coverage import supported
    from .tools.export import export
    from .tools.optimisers import flatten, scipy_fun
    from .tools.tracing import trace
    from .transforms.errors import (
        InfiniteSlopeError,
        InternalError,
        MissingAttributeError,
        MissingRuleError,
        NonDifferentiableError,
        NoSourceError,
        RuleError,
        S2sadError,
        UnsupportedSyntaxError,
    )

__all__ = [
    "Function",
    "InfiniteSlopeError",
    "InternalError",
    "MissingAttributeError",
    "MissingRuleError",
    "NoSourceError",
    "NonDifferentiableError",
    "RuleError",
    "S2sadError",
    "UnsupportedSyntaxError",
    "bprop",
    "check_grads",
    "check_rule",
    "checkpoint",
    "checkpointed",
    "custom_jvp",
    "custom_vjp",
    "debug_nans",
    "elementwise_grad",
    "explain",
    "export",
    "flatten",
    "grad",
    "grad_of",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "nondifferentiable",
    "numerical",
    "once_differentiable",
    "scipy_fun",
    "stop_gradient",
    "supported",
    "trace",
    "value_and_grad",
    "vjp",
    "vmap",
]
__version__ = "0.1.0"

_HOMES = {  # the modules of public names that are not in `api`; errors are in `transforms.errors`
    "bprop": "primitives.record",
    "check_grads": "testing.check_grads",
    "check_rule": "testing.check_rule",
    "checkpoint": "derivatives.checkpoints",
    "checkpointed": "derivatives.checkpoints",  # which has the rules of the loop
    "custom_jvp": "custom_rules",
    "custom_vjp": "custom_rules",
    "debug_nans": "debugging",
    "grad_of": "runtime.hooks",
    "Function": "custom_rules",
    "numerical": "custom_rules",
    "once_differentiable": "custom_rules",
    "explain": "explanation",
    "export": "tools.export",
    "flatten": "tools.optimisers",
    "nondifferentiable": "primitives.record",
    "scipy_fun": "tools.optimisers",
    "supported": "testing.coverage",
    "trace": "tools.tracing",
}
_ELSEWHERE = {  # what other tools call it, and how to do it here
    "jit": 'give a derivative `compile="numba"`: `s2sad.grad(f, compile="numba")`',
    "numpy": "functions use NumPy itself: `import numpy as np`",
    "lax": "functions use Python's own `if`, `for` and `while`",
    "random": "functions use NumPy's own generators: `np.random.default_rng(seed)`",
    "tree": "gradients have the structure of their arguments; `s2sad.flatten` makes an array of it",
    "tree_util": "gradients have the structure of their arguments; `s2sad.flatten` makes an array of it",
    "gradient": "it is `s2sad.grad`",
    "backward": "nothing is recorded: `s2sad.grad(f)(x)` is the gradient",
    "no_grad": "`s2sad.stop_gradient(x)` takes a value as a constant",
}
_lock = threading.RLock()  # two threads that import a package and a module of it wait for each other

if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> Any:
        """A public name or a submodule, imported when it is first used."""
        with _lock, collection_paused():
            if name in __all__:
                home = "transforms.errors" if name.endswith("Error") else _HOMES.get(name, "api")
                found = getattr(importlib.import_module(f"{__name__}.{home}"), name)
                return globals().setdefault(name, found)
            if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
                return importlib.import_module(f"{__name__}.{name}")
        told = f": {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
        frame = sys._getframe(1)
        if told and opcode.opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM":
            # Python replaces the words of an AttributeError that `from s2sad import jit` meets.
            raise ImportError(f"cannot import name {name!r} from {__name__!r}{told}", name=__name__)
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}{told}", name=name, obj=sys.modules[__name__]
        )


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
