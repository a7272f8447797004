"""Which tests are quick, which of a run of all are sampled, and in which order they run.

Quick (`pytest -m quick`) are those to run while working. They are chosen for what they notice: the tests of
each pass, the first rules of each family, what is refused, and those programs of the corpus (`quick=True`
where they are declared) that together run nearly every line of the transforms twice.

A run of all tests (`pytest`) has a sample of those that cost much for what they notice beyond others
(`SAMPLED`), always the same ones. A run that names files or tests has all that it names, and so has
`S2SAD_EXAMPLES=100 pytest`, before a release.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
from zlib import crc32

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

# Of these one in so many runs with all others.
SAMPLED = {
    # Compiled: a second or more each.
    "programs/test_compiled_lists.py::test_the_same": 3,
    "programs/test_compiled_programs.py::test_compiles": 3,
    "unit/benchmarks/test_benchmarks.py::test_gradients_by_hand_for_numba_agree": 3,
    "unit/s2sad/targets/test_arrays_to_loops.py::test_loops_do_what_numpy_does": 3,
    "unit/s2sad/targets/test_emit_parallel.py::test_same_bits": 2,
    # Each function in every transform, of every library, in every place: rules and programs are all checked.
    "programs/test_array_stores.py::test_bodies": 2,
    "programs/test_fields.py::test_second_derivatives": 2,
    "programs/test_nested_transforms.py::test_second_order_of_a_transform_of_a_function": 3,
    "programs/test_nested_transforms.py::test_transforms_of_a_function": 3,
    "programs/test_outer_arrays.py::test_programs": 2,
    "programs/test_recursive_stores.py::test_programs": 2,
    "programs/test_replaced_attributes.py::test_what_is_called_is_what_is_held": 3,
    "programs/test_third_party.py::test_function": 2,
    "rules/test_custom_rules.py::test_both_modes_and_twice": 2,
    "rules/test_emath.py::test_emath": 2,
    "rules/test_in_programs.py::test_rule_in_a_program": 2,
    "rules/test_list_operands.py::test_lists_have_the_derivatives_of_arrays": 2,
    "rules/test_other_arrays.py::test_rules_are_right_or_refused": 3,
    "rules/test_scipy_distance.py::test_distances_of_two_points": 2,
    "rules/test_scipy_grids.py::test_interpolators": 2,
    "rules/test_scipy_rules.py::test_rule_in_a_program": 2,
}


def test_of(item: pytest.Item) -> str:
    """The file and the function of a test."""
    return f"{item.path.relative_to(HERE).as_posix()}::{item.name.partition('[')[0]}"


def is_quick(item: pytest.Item) -> bool:
    test = test_of(item)
    return test.startswith(QUICK) and not test.startswith(SLOW)


def is_left_out(item: pytest.Item) -> bool:
    return crc32(item.name.encode()) % SAMPLED.get(test_of(item), 1) != 0


def is_of_all(config: pytest.Config) -> bool:
    """Whether a run is one of all tests, and names none."""
    named = config.option.keyword or config.option.markexpr or config.args != config.getini("testpaths")
    return not named and "S2SAD_EXAMPLES" not in os.environ


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if is_quick(item):
            item.add_marker(pytest.mark.quick)
    if is_of_all(config):
        left_out = [item for item in items if is_left_out(item) and not item.get_closest_marker("quick")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_collection_finish() -> None:
    """What was imported is not looked through for garbage again and again, nor what tests make so often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
