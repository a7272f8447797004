"""Facts of generated code for tests of single passes: what a test says, and nothing else."""

from __future__ import annotations

from typing import Any

from s2sad.transforms.differentiation.generation import Generation
from s2sad.transforms.simplification.facts import GeneratedFacts

from .before_after import purity


def generated_facts(**known: Any) -> GeneratedFacts:
    """Facts whose attributes and methods are those given; calls are pure but for those in `IMPURE`."""
    facts = GeneratedFacts.__new__(GeneratedFacts)
    nothing: frozenset[str] = frozenset()
    vars(facts).update(
        generation=Generation(nothing, nothing, {}),
        derivatives=nothing, traces=nothing, users=nothing, captured=nothing, scope=nothing, reserved=nothing,
        origins={}, variables={}, quotients={}, careful=False, are_merged=False,
        is_pure=purity, are_temporary_arrays=lambda a, b: False, nature=lambda name: name,
        folded={},
        is_float=lambda node: False, is_number=lambda node: False, holds_number=lambda name: False,
    )  # fmt: skip
    vars(facts).update(known)
    return facts
