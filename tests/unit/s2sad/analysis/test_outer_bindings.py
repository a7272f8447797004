"""Which globals functions assign, asked again after changes."""

from __future__ import annotations

from typing import Any

from s2sad.analysis.outer_bindings import StoredGlobals


def test_what_is_bound_anew_is_looked_at() -> None:
    names: dict[str, Any] = {"n": 1.0}
    stored = StoredGlobals(names)
    assert stored() == set()
    exec("def f(): pass\ndef g():\n    global a\n    a = 1.0\nclass C: pass", names)
    assert stored() == stored() == {"a"}
    exec("def m(self):\n    global b\n    b = 1.0\nC.m = m\ndel m", names)
    assert stored() == {"a", "b"}
    exec("def f():\n    global c\n    c = 1.0", names)
    assert stored() == {"a", "b", "c"}
    names["g"].__code__ = (lambda: None).__code__
    names["n"] = 2.0
    assert stored() == {"b", "c"}
