"""Members of the user's classes with the names of those of lists, dicts, sets, deques, arrays and strings, in
both modes: what a method or an attribute is is asked of the object, so that its name matters nowhere.

All names in all forms where S2SAD_EXAMPLES is set; else a few in each.
"""

from __future__ import annotations

import os

import pytest

import s2sad
from s2sad.transforms.errors import InternalError
from tests.random.member_names import FORMS, NAMES, arguments, written
from tests.support.build import build
from tests.support.compare import check_program

TELLING = [
    "append", "shape", "items", "size", "pop", "dtype", "copy", "T", "get", "real", "extend", "sum", "update",
    "any", "values", "ndim", "sort", "round", "clear", "keys",
]  # fmt: skip
TOGETHER = 4  # the names in one program


def wrong_names(form: str, names: list[str]) -> dict[str, str]:
    """What is wrong with the program of a form, by name; to be refused is not. Those of several names are
    checked in one, unless that is refused.
    """
    f = build(written(form, names), __name__="tests.of_text")
    args, wrt = arguments(form, names, f.__globals__)
    try:
        check_program(f, tuple(args), tuple(wrt))
    except Exception as error:
        is_refusal = isinstance(error, s2sad.S2sadError) and not isinstance(error, InternalError)
        if len(names) > 1:
            return {n: what for name in names for n, what in wrong_names(form, [name]).items()}
        return {} if is_refusal else {names[0]: f"{type(error).__name__}: {error}"}
    return {}


@pytest.mark.parametrize("form", FORMS)
def test_names(form: str) -> None:
    if "S2SAD_EXAMPLES" in os.environ:
        groups = [NAMES[k : k + TOGETHER] for k in range(0, len(NAMES), TOGETHER)]
    else:
        start = 2 * list(FORMS).index(form)
        groups = [[TELLING[k % len(TELLING)] for k in (start, start + 1)]]
    assert not {n: what for names in groups for n, what in wrong_names(form, names).items()}


OWN_VIEWS = """
class Own:
    def items(self):
        return [("a", 2.0), ("b", 3.0)]
"""
CHANGED = """
def program(d):
    total = 0.0
    for k, v in d.items():
        d[k] = v * 2.0
        total = total + v * v
    return total + d["a"]
"""
READ = """
def program(x, d):
    total = 0.0
    for k, v in d.items():
        total = total + v * x
    return total
"""


def test_views() -> None:
    """A loop over `items` is one over a dict's by the object, whatever classes the module knows."""
    own = build(OWN_VIEWS + "def made():\n    return Own()\n")()
    check_program(build(OWN_VIEWS + CHANGED), ({"a": 1.5, "b": 0.5},), (0,))
    check_program(build(OWN_VIEWS + READ), (1.5, {"a": 1.5, "b": 0.5}), (0, 1))
    assert s2sad.grad(build(OWN_VIEWS + READ))(1.5, own) == 5.0
    with pytest.raises(s2sad.S2sadError, match="`items`, `keys` or `values` of a Own"):
        s2sad.grad(build(READ))(1.5, own)


class Doubling(list):  # type: ignore[type-arg]
    def append(self, v: float) -> None:
        super().append(v * 2.0)


def appended(x: float, items: list[float]) -> float:
    items.append(x)
    return items[-1] * x


def test_a_derived_class_of_lists() -> None:
    assert s2sad.grad(appended)(1.5, []) == 3.0
    with pytest.raises(s2sad.S2sadError, match="`append` or `pop` of a Doubling"):
        s2sad.grad(appended)(1.5, Doubling())


def test_a_wrong_derivative_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("jvp against finite differences")

    monkeypatch.setattr("tests.random.test_member_names.check_program", fail)
    assert [*wrong_names("method made", ["append", "shape"])] == ["append", "shape"]
