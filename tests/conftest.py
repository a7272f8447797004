"""Which tests are quick: `pytest -m quick`, those to run while working.

They are chosen for what they notice: the tests of each pass, the first rules of each family, what is refused,
and those programs of the corpus (`quick=True` where they are declared) that together run nearly every line of
the transforms twice.
"""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
QUICK = (
    "docs/test_language.py",
    "programs/test_exemplars.py",
    "programs/test_flat.py",
    "programs/test_golden.py",
    "programs/test_minimal_code.py",
    "programs/test_refusals.py",
    "programs/test_stores.py",
    "rules/test_powers.py",
    "support",
    "unit/s2sad/kinds",
    "unit/s2sad/primitives",
    "unit/s2sad/test_api.py",
    "unit/s2sad/test_api_functions.py",
    "unit/transforms",
)
# What takes seconds, of files and folders that are quick otherwise.
SLOW = (
    "unit/transforms/differentiation/test_reverse_loops.py::test_loops",
    "unit/transforms/normal_form/test_to_anf.py::test_random_assignments",
    "unit/transforms/normal_form/test_desugar_assignments.py::test_random_assignments",
    "unit/transforms/trees/test_printer_on_libraries.py",
)


def is_quick(item: pytest.Item) -> bool:
    place = item.path.relative_to(HERE).as_posix()
    test = f"{place}::{item.name.partition('[')[0]}"
    return test.startswith(QUICK) and not test.startswith(SLOW)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_quick(item):
            item.add_marker(pytest.mark.quick)
