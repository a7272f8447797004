"""What a function's last derivative was made from serves its next one, while new forms would be the same."""
from __future__ import annotations

import gc
import importlib.util
import linecache
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.derivatives import primal_forms
from s2sad.derivatives.kept_forms import ATTRIBUTE

TEXT = """import numpy as np
scale = 2.0
table = [1.0, 2.0]
def helper(u):
    return u * u * scale
def long(u, n):
    total = 0.0
    for k in range(n):
        total = total + np.sum(np.sin(u * k) * helper(u))
        if total > 100.0:
            return total * 0.5
    return total
def f(x, y=1.5):
    z = helper(x) * y
    for v in table:
        z = z + v * x
    return np.sum(z) + long(x, 3)
def closed(factor):
    def inner(x):
        return np.sum(x * factor) * factor
    return inner
"""
X = np.linspace(0.1, 0.9, 3)
_numbers = count()


@pytest.fixture
def module(tmp_path: Path) -> Callable[..., ModuleType]:
    """Makes modules of a text, each a new one."""

    def make(text: str = TEXT) -> ModuleType:
        name = f"kept_{next(_numbers)}"
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        sys.modules[name] = made
        spec.loader.exec_module(made)
        return made

    return make


@pytest.fixture
def normalised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Gains the name of each function that is brought into normal form."""
    names: list[str] = []
    normalise = primal_forms.normalise
    monkeypatch.setattr(
        primal_forms, "normalise", lambda p, *given: (names.append(p.tree.name), normalise(p, *given))[1]
    )
    return names


FORMS: tuple[Callable[[Any], str], ...] = (
    lambda f: s2sad.grad(f).source_for(X),
    lambda f: s2sad.vjp(f).source_for(X),
    lambda f: s2sad.jvp(f, argnums=0).source_for(X),
    lambda f: s2sad.grad(f, argnums=(0, 1)).source_for(X, 2.0),
    lambda f: s2sad.value_and_grad(f).source_for(0.5),
    lambda f: s2sad.vjp(f).source_for(0.5),
    lambda f: s2sad.jvp(s2sad.grad(f)).source_for(X),
)


def test_sources_are_those_of_new_forms(module: Callable[..., ModuleType]) -> None:
    alone = [form(module().f) for form in FORMS]
    shared = module()
    assert [form(shared.f) for form in FORMS] == alone
    assert [form(shared.f) for form in FORMS[::-1]] == alone[::-1]
    other = module()
    assert [form(other.f) for form in FORMS[::-1]] == alone[::-1]


def test_forms_are_made_once_for_arguments_of_the_same_kinds(
    module: Callable[..., ModuleType], normalised: list[str]
) -> None:
    f = module().f
    s2sad.grad(f)(X)
    assert {*normalised} == {"f", "helper", "long"}
    normalised.clear()
    s2sad.vjp(f, X)
    s2sad.jvp(f, (X,), (X,), argnums=0)
    assert not normalised


def redefine_callee(m: ModuleType) -> None:
    exec(compile("def helper(u):\n    return 3.0 * u\n", m.__file__ + "x", "exec"), vars(m))
    text = "def helper(u):\n    return 3.0 * u\n"
    linecache.cache[m.__file__ + "x"] = len(text), None, text.splitlines(True), m.__file__ + "x"


def replace_code(m: ModuleType) -> None:
    def other(x: Any, y: Any = 1.5) -> Any:
        return np.sum(x * y * y)

    m.f.__code__ = other.__code__


def change_default(m: ModuleType) -> None:
    m.f.__defaults__ = (X * 2.0,)


def change_kind_of_global(m: ModuleType) -> None:
    m.scale = np.array([1.0, 2.0, 3.0])


def change_list(m: ModuleType) -> None:
    m.table.append(X * 1.0)


def declare_rule(m: ModuleType) -> None:
    @s2sad.bprop(m.helper)
    def helper_rule(u, out, dout):  # type: ignore[no-untyped-def]
        return (dout * 100.0,)


CHANGES = [redefine_callee, replace_code, change_default, change_kind_of_global, change_list, declare_rule]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_changes_is_seen(
    module: Callable[..., ModuleType], change: Callable[[ModuleType], None]
) -> None:
    m, new = module(), module()
    s2sad.grad(m.f)(X)
    change(m)
    change(new)
    out, bprop = s2sad.vjp(m.f, X, argnums=0)
    expected, wanted = s2sad.vjp(new.f, X, argnums=0)
    assert np.array_equal(out, expected) and np.array_equal(bprop(1.0), wanted(1.0))
    assert s2sad.jvp(m.f).source_for(X) == s2sad.jvp(new.f).source_for(X)
    # It is another derivative than without the change.
    assert not np.array_equal(wanted(1.0), s2sad.vjp(module().f, X, argnums=0)[1](1.0))


def test_a_new_global_is_not_hidden(module: Callable[..., ModuleType]) -> None:
    m = module()
    s2sad.grad(m.helper)(X[0])
    m.du = m.helper_bprop = 1.0
    source = s2sad.vjp(m.helper).source_for(X[0])
    new = module(TEXT + "du = helper_bprop = 1.0\n")
    assert source == s2sad.vjp(new.helper).source_for(X[0])
    assert "du_ =" in source


def test_a_closure_is_read_as_it_is_now(module: Callable[..., ModuleType]) -> None:
    inner = module().closed(2.0)
    assert s2sad.grad(inner)(X)[0] == 4.0
    inner.__closure__[0].cell_contents = np.array([1.0, 2.0, 3.0])
    with pytest.raises(s2sad.NonDifferentiableError, match=r"scalar|number"):
        s2sad.grad(inner)(X)
    _, bprop = s2sad.vjp(inner, X)
    assert np.allclose(bprop(np.ones(3))[0], 6.0 * np.array([1.0, 2.0, 3.0]))


def test_forms_die_with_the_function(module: Callable[..., ModuleType]) -> None:
    factor = np.ones(3)
    inner = module().closed(factor)
    s2sad.vjp(inner, X)
    assert ATTRIBUTE in vars(inner)
    dead, gone = weakref.ref(inner), weakref.ref(factor)
    del inner, factor
    gc.collect()
    assert dead() is None and gone() is None


def test_forms_are_not_another_functions(module: Callable[..., ModuleType]) -> None:
    m = module()
    s2sad.grad(m.f)(X)

    @wraps(m.f)
    def doubled(x: Any, y: Any = 1.5) -> Any:
        return 2.0 * m.f(x, y)

    assert ATTRIBUTE in vars(doubled)
    assert np.allclose(s2sad.grad(doubled)(X), 2.0 * s2sad.grad(m.f)(X))


def test_forms_are_not_pickled(module: Callable[..., ModuleType]) -> None:
    f = module().f
    s2sad.grad(f)(X)
    assert pickle.loads(pickle.dumps(vars(f))) == {ATTRIBUTE: None}
    vars(f)[ATTRIBUTE] = None
    assert np.allclose(s2sad.vjp(f, X, argnums=0)[1](1.0), s2sad.grad(f)(X))


def test_threads_do_not_share_forms(module: Callable[..., ModuleType]) -> None:
    alone = [form(module().f) for form in FORMS]
    f, found = module().f, {}
    s2sad.grad(f)(X)

    def run(k: int) -> None:
        found[k] = FORMS[k](f)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(FORMS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[k] for k in range(len(FORMS))] == alone
