"""The examples in the docstrings of the passes and tools run, and give what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from s2sad import tools, transforms

MODULES = sorted(
    f"{package.__name__}.{module.name}"
    for package in (tools, transforms)
    for module in pkgutil.iter_modules(package.__path__)
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_examples_are_found_and_can_fail() -> None:
    module = importlib.import_module("s2sad.transforms.normal_form.to_ssa")
    assert doctest.testmod(module).attempted == 3
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda text: None).failed == 1
