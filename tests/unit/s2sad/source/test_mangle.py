"""mangle_names: a method taken out of its class does what it did inside."""
from __future__ import annotations

import textwrap
from typing import Any

import gast

from s2sad.source.mangle import mangle_names

INSIDE = """
def __own(self, __a, *, __k=2):
    import math as __m
    global __counted
    __counted = 5
    self.__b = __a

    def __inner(y):
        nonlocal __a
        __a = y.__class__
        return lambda __z: __z + __k
    match [1, 2, {"k": 3, "l": 4}]:
        case [__p, *__q, {"k": 3, **__rest}]:
            pass
    try:
        raise ValueError(3)
    except ValueError as __e:
        error = __e.args
    class Other(keep(base=__k)["base"].__class__):
        def get(self):
            self.__b = 1
            return __counted__
    return keep(__c=self.__b), __m.floor(2.5), __p, __q, __rest, __inner(1)(5), __a, error, vars(Other())
"""


def test_mangled_text_runs_the_same() -> None:
    namespace: dict[str, Any] = {"keep": lambda **named: named}
    exec(f"class __Outer:\n{textwrap.indent(INSIDE, '    ')}", namespace)
    owner = namespace["__Outer"]
    function = gast.parse(INSIDE).body[0]
    mangled = mangle_names(function, "__Outer")
    assert mangled is function and mangled.name == "__own"
    assert [p.id for p in mangled.args.args] == list(owner._Outer__own.__code__.co_varnames[:2])
    exec(gast.unparse(mangled), namespace)
    instance = owner()
    outside = namespace["__own"](instance, 7, _Outer__k=3)
    assert outside == instance._Outer__own(7, _Outer__k=3)
    assert outside[:3] == ({"__c": 7}, 2, 1) and outside[5] == 8
    assert vars(instance) == {"_Outer__b": 7} and namespace["_Outer__counted"] == 5


def test_a_class_inside_mangles_by_itself() -> None:
    text = "def f():\n    class __C(__base):\n        def g(self):\n            return self.__x"
    text = gast.unparse(mangle_names(gast.parse(text).body[0], "A"))
    assert "class _A__C(_A__base):" in text and "return self._C__x" in text


def test_a_class_of_underscores_mangles_nothing() -> None:
    tree = gast.parse("def f(__x):\n    return __x").body[0]
    assert "return __x" in gast.unparse(mangle_names(tree, "___"))
