"""Names in generated code: the user's own first, and numbers from the start."""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sad.transforms.simplification.restore_names import restore_names
from tests.support.before_after import Node, check, parse, text_of
from tests.support.generated_facts import generated_facts


def restored(origins: str = "", temporaries: str = "", fixed: str = "") -> Callable[[Node], Node]:
    """The pass; `origins` are pairs `version:variable`."""
    versions = dict(pair.split(":") for pair in origins.split())
    facts = generated_facts(
        origins=versions, is_temporary=temporaries.split().__contains__, captured=frozenset(fixed.split())
    )
    return lambda tree: restore_names(tree, facts)


def test_a_version_left_alone_takes_the_name() -> None:
    check(
        restored("y_3:y"),
        "def f(x):\n    y_3 = x * 2\n    return y_3 + x",
        "def f(x):\n    y = x * 2\n    return y + x",
        (2.0,),
    )


def test_versions_are_numbered_in_order() -> None:
    check(
        restored("y_7:y y_5:y"),
        "def f(x):\n    y_7 = x * 2\n    y_5 = y_7 + x\n    y = y_5 * y_7\n    return y - y_7",
        "def f(x):\n    y_2 = x * 2\n    y_3 = y_2 + x\n    y = y_3 * y_2\n    return y - y_2",
        (2.0,),
    )


def test_temporaries_count_from_one() -> None:
    check(
        restored(temporaries="loss_4 loss_9"),
        "def f(x):\n    loss_9 = x * 2\n    loss_4 = x + loss_9\n    return loss_4 * loss_9",
        "def f(x):\n    loss_1 = x * 2\n    loss_2 = x + loss_1\n    return loss_2 * loss_1",
        (2.0,),
    )


def test_parameters_and_fixed_names_keep_theirs() -> None:
    check(
        restored("x_2:x y_2:y", fixed="y_2"),
        "def f(x):\n    x_2 = x * 2\n    y_2 = x_2 + x\n    return y_2",
        "def f(x):\n    x_2 = x * 2\n    y_2 = x_2 + x\n    return y_2",
        (2.0,),
    )


def test_inner_functions_follow() -> None:
    check(
        restored("y_3:y"),
        "def f(x):\n    y_3 = x * 2\n    def g(t):\n        return t * y_3\n    return g",
        "def f(x):\n    y = x * 2\n    def g(t):\n        return t * y\n    return g",
        (2.0,),
    )


def test_keywords_are_not_names_to_take() -> None:
    tree = parse("def f(x):\n    del_2 = x * 2\n    return del_2")
    assert text_of(restored("del_2:del")(tree)) == text_of(tree)


def test_globals_are_not_names_to_take() -> None:
    """`np` is read and not assigned: a version of a variable of that name keeps its number."""
    tree = parse("def f(x):\n    np_2 = np.sin(x)\n    return np_2")
    assert text_of(restored("np_2:np")(tree)) == text_of(tree)


def test_nothing_to_do_gives_the_same_tree() -> None:
    tree = parse("def f(x):\n    y = x\n    return y")
    assert restored()(tree) is tree
    assert isinstance(tree, gast.FunctionDef)
