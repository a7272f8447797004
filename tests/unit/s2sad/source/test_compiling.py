"""make_function: generated text behaves like a function that the user wrote in a file."""
from __future__ import annotations

import gc
import inspect
import io
import linecache
import pdb
import threading
import traceback
from collections.abc import Callable
from types import CellType, MappingProxyType
from typing import Any

import gast
import pytest

from s2sad.source.compiling import make_function
from s2sad.source.read import read_source
from s2sad.transforms.trees.program import Scope

here = 10.0


def like_me(x: Any, y: Any = 2.0) -> Any:
    """What users see in help()."""
    return x * y


def make(text: str, **bindings: object) -> Any:
    name = text.partition("def ")[2].partition("(")[0]
    return make_function(text, name, Scope(globals()), bindings)


def test_free_names_are_bindings_then_cells_then_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = {"a": CellType("cell"), "b": CellType("cell")}
    text = "def f():\n    return a, b, here, len\n"
    f = make_function(text, "f", Scope(globals(), cells), {"a": "binding", "unused": 1})
    assert f() == ("binding", "cell", 10.0, len)
    assert f.__globals__ is globals()
    assert f.__closure__ is not None and f.__closure__[1] is cells["b"]
    cells["b"].cell_contents = "later"
    monkeypatch.setitem(globals(), "here", 11.0)
    assert f() == ("binding", "later", 11.0, len)


def test_cells_that_are_still_empty_are_read_when_the_function_runs() -> None:
    cell = CellType()
    f = make_function("def f():\n    return later\n", "f", Scope(globals(), {"later": cell}), {})
    cell.cell_contents = 3
    assert f() == 3


def test_inner_functions_see_the_same_names() -> None:
    f = make("def f(x):\n    def f_b(d):\n        return d * x * two * here\n    return f_b\n", two=2)
    assert f(3)(1) == 60.0
    assert f(3).__qualname__ == "f.<locals>.f_b"


def test_own_name_means_what_it_means_in_the_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def fact(n):\n    return n * fact(n - 1) if n else 1\n"
    monkeypatch.setitem(globals(), "fact", lambda n: 100)
    assert make(text)(3) == 300
    assert make(text, fact=lambda n: 7)(3) == 21
    cells = {"fact": CellType(lambda n: 5)}
    made = make_function(text, "fact", Scope(globals(), cells), {})
    assert made(3) == 15
    cells["fact"].cell_contents = made
    assert made(3) == 6
    assert made.__code__.co_qualname == "fact"


def test_names_of_private_and_class_cells() -> None:
    cells = {"__class__": CellType(int), "_A__x": CellType(1)}
    f = make_function("def f():\n    return __class__, _A__x\n", "f", Scope(globals(), cells), {})
    assert f() == (int, 1)


def test_defaults_are_the_objects_given() -> None:
    default: list[int] = []
    text = "def f(x, y=undefined, *, k=undefined):\n    return x, y, k\n"
    f = make_function(text, "f", Scope(globals()), {}, defaults=(default,), kwdefaults={"k": 5})
    assert f(1)[1] is default and f(1)[2] == 5
    assert str(inspect.signature(f)) == "(x, y=[], *, k=5)"
    assert read_source(f).defaults == {"y": default, "k": 5}
    assert make("def f(x, y=1):\n    return x\n").__defaults__ is None


def test_what_is_taken_from_the_function_it_is_like() -> None:
    class Owner:
        def method(self) -> Any:
            """The owner's."""
    text = "def method_grad(self):\n    return 1\n"
    f = make_function(text, "method_grad", Scope(globals()), {}, like=Owner.method)
    assert f.__name__ == "method_grad"
    assert f.__qualname__ == f.__code__.co_qualname == Owner.method.__qualname__ + "_grad"
    assert f.__doc__ == "The owner's."
    g = make_function('def g(x):\n    """Its own."""\n', "g", Scope({"__name__": "other"}), {}, like=like_me)
    assert (g.__module__, g.__doc__, g.__qualname__) == (__name__, "Its own.", "g")
    assert make_function(text, "method_grad", Scope({"__name__": "other"}), {}).__module__ == "other"


def test_lines_are_those_of_the_text() -> None:
    text = "# made by hand\n\ndef f(x):\n    # a comment\n    y = x + 1\n\n    return 1 / y\n"
    f = make(text)
    assert inspect.getsource(f) == text.partition("\n\n")[2]
    linecache.checkcache()
    assert linecache.getlines(f.__code__.co_filename) == text.splitlines(keepends=True)
    linecache.clearcache()
    assert inspect.getsource(f) == text.partition("\n\n")[2]
    with pytest.raises(ZeroDivisionError) as error:
        f(-1)
    last = traceback.extract_tb(error.value.__traceback__)[-1]
    assert (last.lineno, last.line, last.name) == (7, "return 1 / y", "f")
    assert last.filename == f.__code__.co_filename
    assert last.filename.startswith("<s2sad f ") and last.filename.endswith(">")


def test_pdb_steps_through_the_text() -> None:
    f = make("def f(x):\n    y = x + 1\n    return y * two\n", two=2)
    shown = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("step\np y\ncontinue\n"), stdout=shown, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    assert debugger.runcall(f, 3) == 8
    assert "-> y = x + 1" in shown.getvalue() and "-> return y * two" in shown.getvalue()
    assert "(Pdb) 4" in shown.getvalue()


def test_filenames_are_unique() -> None:
    text = "def f(x):\n    return x\n"
    made = [make(text) for _ in range(3)]
    assert len({f.__code__.co_filename for f in made}) == 3


@pytest.mark.parametrize("text", [
    "def g():\n    pass\n", "x = 1\ndef f():\n    pass\n", "f = lambda: 1\n", "",
])
def test_text_that_is_not_the_one_function_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not one function called 'f'"):
        make_function(text, "f", Scope(globals()), {})


def test_globals_have_to_be_a_dict() -> None:
    with pytest.raises(TypeError, match="globals are a dict"):
        make_function("def f():\n    pass\n", "f", Scope(MappingProxyType({})), {})


def test_warnings_of_the_user_s_text_are_not_repeated() -> None:
    assert make("def f(x):\n    return x is 1\n")(2) is False


# ---------------------------------------------------------------- the text lives as long as the code

def test_the_text_goes_with_the_function() -> None:
    f = make("def f(x):\n    return [y for y in x]\n")
    filename = f.__code__.co_filename
    assert filename in linecache.cache
    del f
    gc.collect()
    assert filename not in linecache.cache


def test_the_text_stays_with_an_inner_function() -> None:
    inner = make("def f(x):\n    def f_b(d):\n        return d * x\n    return x, f_b\n")(3)[1]
    gc.collect()
    assert inspect.getsource(inner) == "    def f_b(d):\n        return d * x\n"
    filename = inner.__code__.co_filename
    del inner
    gc.collect()
    assert filename not in linecache.cache


def test_a_function_that_was_read_is_let_go() -> None:
    f = make("def f(x):\n    return x * two\n", two=2)
    filename = f.__code__.co_filename
    read_source(f)
    del f
    gc.collect()
    assert filename not in linecache.cache


# ---------------------------------------------------------------- read_source reads it again

@pytest.mark.parametrize("text", [
    "def f(x):\n    return x * here\n",
    "def f(x):\n    return x * two\n",
    "def f(x):\n    def f_b(d):\n        return d * x * two\n    return f_b\n",
    "def f(x):\n    return f(x - two) if x > 0 else [two * i for i in (1, 2)]\n",
    "def f(x):\n    return (lambda y: y * two, lambda y: y * two)\n",
    "# first\ndef f(x, *, k=1):\n    assert x, two\n    for i in range(two):\n        x = x + i\n",
])
def test_what_was_made_can_be_read(text: str) -> None:
    def consume(f: Callable[..., Any]) -> None:
        found = read_source(f)
        assert found.lines == tuple(text.splitlines())
        assert found.tree.lineno == f.__code__.co_firstlineno
        assert gast.dump(found.tree) == gast.dump(gast.parse(text).body[0])
        assert found.scope.globals is globals()
        assert all(found.scope.lookup(free) is not None for free in f.__code__.co_freevars)
    consume(make(text, two=2))
    consume(make(text, two=2, f=like_me))
    again = make(text, two=2)
    found = read_source(again)
    consume(make_function("\n".join(found.lines) + "\n", "f", found.scope, {}))


def test_lambdas_and_inner_functions_of_what_was_made_can_be_read() -> None:
    f = make("def f(x):\n    def g(y):\n        return y * two * x\n    return g, lambda y: y * x\n", two=2)
    g, h = f(3)
    assert gast.unparse(read_source(g).tree.body[0]) == "return y * two * x"
    assert gast.unparse(read_source(h).tree.body[0]) == "return y * x"
    assert read_source(g).scope.lookup("two") == 2 and read_source(g).scope.lookup("x") == 3


def test_many_threads_make_functions() -> None:
    made: list[Any] = []

    def work(n: int) -> None:
        for i in range(20):
            f = make(f"def f(x):\n    return x + {i} + n\n", n=n)
            read_source(f)
            made.append((f, n + i))
    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(made) == 120 and all(f(0) == expected for f, expected in made)
    assert len({f.__code__.co_filename for f, _ in made}) == 120
