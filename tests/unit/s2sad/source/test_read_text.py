"""read_source: where text may come from, and that text which is not what runs is refused."""
from __future__ import annotations

import ast
import asyncio
import doctest
import importlib.util
import inspect
import linecache
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import gast
import numpy as np
import pytest

from s2sad.source.read import read_source
from s2sad.transforms.errors import NoSourceError
from tests.support.build import cell

THIS_FILE = __file__


def text_of(f: Any) -> str:
    """The body of the tree found, as text."""
    return "; ".join(gast.unparse(statement) for statement in read_source(f).tree.body)


def load_module(path: Path, text: str, name: str = "written") -> ModuleType:
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_notebook_cell() -> None:
    text = "y = 2\nasync def nothing(): pass\nawait_it = 1\n\ndef f(x):\n    return x * y\n"
    f = cell(text, "<ipython-input-3-abc>")["f"]
    assert text_of(f) == "return x * y"
    assert read_source(f).tree.lineno == 5
    gone = cell(text, "/tmp/ipykernel_7/123.py")["f"]
    assert read_source(gone).filename == "/tmp/ipykernel_7/123.py"


def test_a_notebook_cell_that_awaits() -> None:
    filename, text = "<ipython-input-4-abc>", "async def g(): pass\ndef f(x):\n    return x + 1\nawait g()\n"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {}
    asyncio.run(eval(compile(text, filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), namespace))
    assert text_of(namespace["f"]) == "return x + 1"


def test_equal_code_of_two_cells_keeps_its_own_file() -> None:
    text = "def f(x):\n    return x\n"
    one, two = cell(text, "<cell 1>")["f"], cell(text, "<cell 2>")["f"]
    assert one.__code__ == two.__code__
    assert [read_source(f).filename for f in (one, two)] == ["<cell 1>", "<cell 2>"]


def test_future_flags_are_those_of_the_code(tmp_path: Path) -> None:
    module = load_module(tmp_path / "future.py", """
        from __future__ import annotations
        def outer():
            def f(x: Undefined) -> Undefined:
                def g(y: Undefined):
                    return y
                return g(x)
            return f
    """)
    assert text_of(module.outer()).endswith("return g(x)")
    # At a prompt the flag is set by an earlier line.
    filename, text = "<prompt 2>", "def f(x):\n    def g(y: Undefined): return y\n    return g(x)\n"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), namespace)  # inherits the flag from this file
    assert text_of(namespace["f"]).endswith("return g(x)")


def test_a_doctest() -> None:
    example = """
    >>> def f(x):
    ...     return x + 1
    >>> from s2sad.source.read import read_source
    >>> read_source(f).lines[0], read_source(f).tree.lineno
    ('def f(x):', 1)
    """
    test = doctest.DocTestParser().get_doctest(example, {}, "example", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_a_prompt_whose_text_only_inspect_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(x):\n    return x + 1\n"
    namespace: dict[str, Any] = {}
    exec(compile(text, "<typed>", "exec"), namespace)
    monkeypatch.setattr(inspect, "findsource", lambda f: (text.splitlines(keepends=True), 0))
    assert text_of(namespace["f"]) == "return x + 1"


def test_the_prompt() -> None:
    typed = textwrap.dedent("""
        def f(x):
            return x + 1

        from s2sad.source.read import read_source
        print("found", read_source(f).lines[1])
    """)
    root = str(Path(THIS_FILE).parents[4])
    command = [sys.executable, "-i", "-q"]
    result = subprocess.run(command, input=typed, cwd=root, capture_output=True, text=True, check=False)
    if sys.version_info >= (3, 13):
        assert result.stdout == "found     return x + 1\n", result.stderr
    else:
        assert "no text is known for '<stdin>'" in result.stderr
        assert "use IPython or Jupyter, write it in a file, or use Python 3.13" in result.stderr


def test_installed_packages_and_the_standard_library() -> None:
    for f in (textwrap.dedent, doctest.DocTestParser.parse, vars(np.linalg.norm)["__wrapped__"]):
        found = read_source(f)
        assert found.tree.name == f.__name__
        assert f"def {f.__name__}" in found.lines[found.tree.lineno - 1]


def test_warnings_that_the_importer_has_had_are_not_repeated(tmp_path: Path) -> None:
    with pytest.warns(SyntaxWarning):
        module = load_module(tmp_path / "warned.py", "def f(x):\n    return 1 if x is 1 else 2\n")
    assert text_of(module.f) == "return 1 if x is 1 else 2"


# ---------------------------------------------------------------- refusals

@pytest.mark.parametrize("edit", [
    ("x * 2", "x * 3"), ("x * 2", "x / 2"), ("x * 2", "y * 2"), ("x * 2", "x  * 2"), ("def f", "def g"),
    ("def f", "\ndef f"), ("(x)", "(x, y=1)"), ("return", "return ("),
])
def test_a_file_that_changed_is_refused(tmp_path: Path, edit: tuple[str, str]) -> None:
    path = tmp_path / "edited.py"
    text = "y = 1\ndef f(x):\n    return x * 2\n"
    module = load_module(path, text)
    path.write_text(text.replace(*edit))
    with pytest.raises(NoSourceError, match="is not what runs") as error:
        read_source(module.f)
    assert "has changed since it was imported" in str(error.value)
    assert "importlib.reload" in str(error.value)
    assert str(path) in str(error.value)


def test_a_lambda_that_moved_within_its_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    module = load_module(path, "f, g = lambda x: x + 1, lambda x: x + 1\n")
    path.write_text("g, f =  lambda x: x + 1, lambda x: x + 1\n")
    with pytest.raises(NoSourceError, match="is not what runs"):
        read_source(module.f)


def test_what_was_read_before_the_file_changed_stays_known(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    module = load_module(path, "def f(x):\n    return x * 2\n")
    assert text_of(module.f) == "return x * 2"
    path.write_text("def f(x):\n    return x * 30\n")
    assert text_of(module.f) == "return x * 2"


def test_a_module_that_is_reloaded_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    assert text_of(load_module(path, "def f(x):\n    return x * 2\n").f) == "return x * 2"
    assert text_of(load_module(path, "def f(x):\n    return x * 30\n").f) == "return x * 30"


def test_code_without_text_is_refused(tmp_path: Path) -> None:
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile("def f(x):\n    return x\n", "<made>", "exec"), namespace)
    with pytest.raises(NoSourceError, match="cannot be found") as error:
        read_source(namespace["f"])
    for part in ("made by exec or eval", "linecache.cache", "@bprop", "'<made>'"):
        assert part in str(error.value)
    module = load_module(tmp_path / "gone.py", "def f(x):\n    return x\n")
    (tmp_path / "gone.py").unlink()
    with pytest.raises(NoSourceError, match="its file is gone"):
        read_source(module.f)


def test_text_that_belongs_to_something_else_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def text_of(x):\n    return x\n", THIS_FILE, "exec"), namespace)
    with pytest.raises(NoSourceError, match="is not what runs"):
        read_source(namespace["text_of"])
