"""read_source: the definition found is the one that runs, or there is an error that says what to do."""
from __future__ import annotations

import functools
import gc
import math
import operator
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from types import MethodType
from typing import Any

import gast
import pytest

from s2sad.source import read as source
from s2sad.source.compiling import make_function
from s2sad.source.read import read_source
from s2sad.transforms.errors import NoSourceError
from s2sad.transforms.trees.program import Scope
from tests.support.build import cell

THIS_FILE = __file__
SCALE = 2.0


def text_of(f: Any) -> str:
    """The body of the tree found, as text."""
    return "; ".join(gast.unparse(statement) for statement in read_source(f).tree.body)


def traced(f: Any) -> Any:
    @functools.wraps(f)
    def wrapper(*args: Any) -> Any:
        return 2 * f(*args)
    return wrapper


def plain(x: Any, y: Any = 3.0, *, k: Any = 4.0) -> Any:
    """A docstring."""
    return x * y + k * SCALE


# ---------------------------------------------------------------- functions

def test_a_function_with_its_place_defaults_and_scope() -> None:
    found = read_source(plain)
    assert found.function is plain
    assert isinstance(found.tree, gast.FunctionDef) and found.tree.name == "plain"
    assert gast.get_docstring(found.tree) == "A docstring."
    assert [p.id for p in found.tree.args.args] == ["x", "y"]
    assert found.filename == THIS_FILE
    assert found.lines[found.tree.lineno - 1] == "def plain(x: Any, y: Any = 3.0, *, k: Any = 4.0) -> Any:"
    assert found.lines[found.tree.body[1].lineno - 1].strip() == "return x * y + k * SCALE"
    assert found.defaults == {"y": 3.0, "k": 4.0}
    assert found.scope.globals is globals() and found.scope.cells == {}
    assert found.qualname == "plain"
    assert found.bound_self is None


def test_defaults_are_the_objects_not_the_text() -> None:
    def f(a: Any, /, b: Any = [1], *rest: Any, c: Any, d: Any = SCALE, **others: Any) -> Any:  # noqa: B006
        return a, b, rest, c, d, others
    assert read_source(f).defaults == {"b": [1], "d": 2.0}
    assert f.__defaults__ is not None and read_source(f).defaults["b"] is f.__defaults__[0]
    f.__defaults__ = (5, 6)
    assert read_source(f).defaults == {"a": 5, "b": 6, "d": 2.0}


def test_closures_share_a_tree_and_keep_their_own_cells() -> None:
    def make(n: int) -> Any:
        def power(x: Any) -> Any:
            return x ** n
        return power
    square, cube = make(2), make(3)
    assert read_source(square).tree is read_source(cube).tree
    assert read_source(square).scope.lookup("n") == 2
    assert read_source(cube).scope.lookup("n") == 3
    assert read_source(cube).scope.cells["n"] is cube.__closure__[0]
    assert read_source(cube).qualname == cube.__qualname__


def test_decorators_are_removed_and_the_definition_under_them_is_found() -> None:
    def register_only(f: Any) -> Any:
        return f

    @register_only
    @register_only
    def decorated(x: Any) -> Any:
        return x + 1
    found = read_source(decorated)
    assert found.tree.decorator_list == []
    assert found.lines[found.tree.lineno - 1].strip() == "def decorated(x: Any) -> Any:"


def test_a_wrapper_is_read_not_what_it_wraps() -> None:
    wrapped = traced(plain)
    assert wrapped.__name__ == "plain"
    assert text_of(wrapped) == "return 2 * f(*args)"
    assert read_source(wrapped).scope.lookup("f") is plain


def test_functions_of_one_name_are_told_apart() -> None:
    def first() -> Any:
        def same(x: Any) -> Any:
            return x + 1
        return same

    def second() -> Any:
        def same(x: Any) -> Any:
            return x + 2
        return same
    assert (text_of(first()), text_of(second())) == ("return x + 1", "return x + 2")


async def coroutine(x: Any) -> Any:
    return x


def generator(x: Any) -> Any:
    yield x


def test_generators_and_coroutines_are_read_like_others() -> None:
    assert isinstance(read_source(coroutine).tree, gast.AsyncFunctionDef)
    assert isinstance(read_source(generator).tree, gast.FunctionDef)


# ---------------------------------------------------------------- lambdas

def test_lambdas_on_one_line() -> None:
    f, g, h = lambda x: x + 1, lambda x: x + 2, lambda x: x + 1
    assert [text_of(e) for e in (f, g, h)] == ["return x + 1", "return x + 2", "return x + 1"]
    columns = [read_source(e).tree.col_offset for e in (f, g, h)]
    assert columns == sorted(set(columns))
    line = read_source(f).lines[read_source(f).tree.lineno - 1]
    assert all(line[c:].startswith("lambda x") for c in columns)


def test_lambdas_in_lambdas() -> None:
    outer: Any = lambda x: lambda y: lambda: x + y  # noqa: E731
    assert text_of(outer) == "return lambda y: lambda: x + y"
    assert text_of(outer(1)) == "return lambda: x + y"
    assert text_of(outer(1)(2)) == "return x + y"


def test_lambdas_in_defaults_and_calls() -> None:
    functions = list(map(lambda n: (lambda x, g=(lambda: 7): x * n + g()), [1, 2]))
    assert text_of(functions[1]) == "return x * n + g()"
    assert text_of(read_source(functions[1]).defaults["g"]) == "return 7"
    constants = [lambda: 1, lambda: 2, lambda: None, lambda: -1.5, lambda x: x]
    # Python 3.12 gives code that returns a constant no columns.
    said = ["return 1", "return 2", "return None", "return -1.5", "return x"]
    assert [text_of(c) for c in constants] == said


def test_a_lambda_over_many_lines() -> None:
    chosen = max([
        lambda x: (
            x
            + 1
        ), lambda x:
        x if x > 0 else (
            -x)], key=lambda f: f(-5))  # type: ignore[no-untyped-call]
    found = read_source(chosen)
    assert isinstance(found.tree, gast.FunctionDef) and found.tree.name == "lambda_"
    assert text_of(chosen) == "return x if x > 0 else -x"
    assert found.lines[found.tree.lineno - 1].strip() == "), lambda x:"
    assert found.lines[found.tree.body[0].lineno - 1].strip() == "x if x > 0 else ("


def test_lambdas_after_characters_of_many_bytes() -> None:
    pair = ("αβγ→", lambda x: x + 1, "é", lambda x: x + 2)
    assert (text_of(pair[1]), text_of(pair[3])) == ("return x + 1", "return x + 2")


def test_lambdas_without_column_numbers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent("""
        import gast
        from s2sad.source.read import read_source
        from s2sad.transforms.errors import NoSourceError
        one = lambda x: x + 1
        same, again = lambda x: x * 2, lambda x: x * 2
        two, three = lambda x: x + 2, lambda x: x + 3
        def closures(n):
            return lambda x: x + n, lambda x: x * n
        assert gast.unparse(read_source(one).tree.body[0]) == "return x + 1"
        assert gast.unparse(read_source(again).tree.body[0]) == "return x * 2"
        assert gast.unparse(read_source(two).tree.body[0]) == "return x + 2"
        try:
            read_source(closures(2)[0])
        except NoSourceError as error:
            assert "cannot be told apart" in str(error), error
        else:
            raise SystemExit("guessed")
    """))
    root = str(Path(THIS_FILE).parents[4])
    subprocess.run([sys.executable, "-X", "no_debug_ranges", str(script)], check=True, cwd=root,
                   env={**os.environ, "PYTHONPATH": root})


# ---------------------------------------------------------------- methods

class _Model:
    __slots__ = ("__weight",)
    __Base = 3

    def __init__(self, weight: float) -> None:
        self.__weight = weight

    def loss(self, x: Any, __scale: Any = 1.0) -> Any:
        __local = [self.__weight * __x for __x in (x,)]

        def __inner(y: Any) -> Any:
            return y + self.__init__.__name__.__len__() + _Model.__Base  # type: ignore[misc]
        return __inner(__local[0]) * __scale

    @staticmethod
    def halved(x: Any) -> Any:
        return x / 2

    @classmethod
    def made(cls, x: Any) -> Any:
        return cls(x)

    square = lambda self, x: self.__weight * x ** 2  # noqa: E731


def test_methods_know_what_they_are_bound_to() -> None:
    model = _Model(2.0)
    assert read_source(model.loss).bound_self is model
    assert read_source(model.loss).function is _Model.loss
    assert read_source(_Model.loss).bound_self is None
    assert read_source(_Model.made).bound_self is _Model
    assert text_of(_Model.made) == "return cls(x)"
    assert text_of(_Model.halved) == text_of(_Model.__dict__["halved"]) == "return x / 2"
    assert text_of(_Model.__dict__["made"]) == "return cls(x)"
    assert read_source(_Model.__dict__["made"]).bound_self is None


def test_private_names_are_mangled_as_the_class_does() -> None:
    found = read_source(_Model(2.0).loss)
    text = gast.unparse(found.tree)
    assert "_local = [self._Model__weight * _Model__x for _Model__x in (x,)]" in text
    assert "def _Model__inner(y: Any)" in text
    assert "self.__init__.__name__.__len__() + _Model._Model__Base" in text
    assert found.defaults == {"_Model__scale": 1.0}
    assert [p.id for p in found.tree.args.args] == list(found.function.__code__.co_varnames[:3])
    assert text_of(_Model.square) == "return self._Model__weight * x ** 2"


def test_what_is_bound_twice_is_refused() -> None:
    with pytest.raises(NoSourceError, match="not a Python function"):
        read_source(MethodType(MethodType(plain, 1), 2))


# ---------------------------------------------------------------- derivatives

class Derivative:
    """What a derivative looks like to read_source."""

    def __init__(self, f: Any, function: Any) -> None:
        functools.update_wrapper(self, f)
        self.__s2sad_function__ = function

    def __call__(self, *args: Any) -> Any:
        return self.__s2sad_function__(*args)


def test_a_derivative_is_read_as_the_function_made_for_it() -> None:
    text = "def plain_grad(x):\n    return two * x\n"
    made = make_function(text, "plain_grad", Scope(globals()), {"two": 2}, like=plain)
    derivative = Derivative(plain, made)
    assert read_source(derivative).function is made
    assert text_of(derivative) == "return two * x"
    assert read_source(derivative).scope.lookup("two") == 2
    bound = read_source(MethodType(derivative, model := _Model(1.0)))
    assert bound.function is made and bound.bound_self is model


def test_a_function_that_wraps_a_derivative_is_read_itself() -> None:
    derivative = Derivative(plain, plain)
    wrapper = traced(derivative)
    assert wrapper.__s2sad_function__ is plain  # copied by functools.wraps
    assert read_source(wrapper).function is wrapper


class Callable:
    def __call__(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(("f", "said"), [
    (math.sin, "sin has no Python source"), (len, "@bprop"), (str.upper, "@bprop"),
    (operator.itemgetter(1), "@bprop"),
    (functools.partial(plain, 1), "partial"), (3, "type int"), (None, "NoneType"),
    (Callable(), "pass its method __call__"), (Callable, "the class Callable has no single source"),
])
def test_what_is_not_a_function_is_refused(f: object, said: str) -> None:
    with pytest.raises(NoSourceError) as error:
        read_source(f)
    assert said in str(error.value)
    assert error.value.why and error.value.instead


# ---------------------------------------------------------------- the cache

def test_the_cache_lets_go_of_code_that_is_gone() -> None:
    f = cell("def f(x):\n    return x\n", "<cell 9>")["f"]
    key = id(f.__code__)
    read_source(f)
    assert key in source._known
    del f
    gc.collect()
    assert key not in source._known or source._known[key][0]() is not None


def test_many_threads_read_one_tree() -> None:
    text = "".join(f"def f{i}(x):\n    return x + {i}\n" for i in range(40))
    functions = cell(text, "<shared>")
    found: list[list[Any]] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        found.append([read_source(functions[f"f{i}"]).tree for i in range(40)])
    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 8
    assert [gast.unparse(t.body[0]) for t in found[0]] == [f"return x + {i}" for i in range(40)]
    assert all(a is b for trees in found for a, b in zip(trees, found[0], strict=True))
