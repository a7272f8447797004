"""Facts of generated code for tests of single passes: what a test says, and nothing else."""

from __future__ import annotations

from typing import Any

import gast

from s2sad.transforms.differentiation.generation import Generation
from s2sad.transforms.simplification.facts import GeneratedFacts

from .before_after import purity


def shape_only(call: Any) -> tuple[int, ...]:
    """The first argument, of `np.zeros_like` and `len`."""
    return (0,) if gast.unparse(call.func) in ("np.zeros_like", "len") else ()


def is_fresh(call: Any) -> bool:
    """Of functions of NumPy's."""
    return gast.unparse(call.func).startswith("np.")


def generated_facts(**known: Any) -> GeneratedFacts:
    """Facts whose attributes and methods are those given; calls are pure but for those in `IMPURE`."""
    facts = GeneratedFacts.__new__(GeneratedFacts)
    nothing: frozenset[str] = frozenset()
    vars(facts).update(
        generation=Generation(nothing, nothing, {}),
        derivatives=nothing, traces=nothing, users=nothing, captured=nothing, scope=nothing, reserved=nothing,
        origins={}, variables={}, quotients={}, careful=False, are_merged=False,
        is_pure=purity, are_temporary_arrays=lambda a, b: False, nature=lambda name: name,
        folded={}, is_array=lambda name: False, shape_only=shape_only, is_fresh=is_fresh,
        is_number_adjoint=lambda name: False, is_odd=lambda call: False,
        is_module=lambda path: gast.unparse(path) in ("np", "math"),
        sum_of_outer=lambda a, b: None,
        is_float=lambda node: False, is_number=lambda node: False, holds_number=lambda name: False,
    )  # fmt: skip
    vars(facts).update(known)
    return facts
