"""The command `s2sad` in folders with files of users: good, broken and hostile ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import s2sad

ROOT = str(Path(s2sad.__file__).parents[1])
MODEL = """\
import numpy as np
import zlib

RATE = 2.5

def damped(t, a, b):
    decay = np.exp(-a * t) * RATE
    return decay * np.cos(b * t)

def several(x, n: int):
    a = zlib.adler32(x)
    async def inner():
        pass
    for i in range(n):
        a = a + zlib.crc32(x)
    return helper(a)

def helper(y):
    return zlib.crc32(y) * y

def no_arguments():
    return open("x").read()

class Model:
    def loss(self, x):
        return zlib.adler32(x) * x

async def waiting(x):
    return x
"""
BROKEN = {
    "broken": "x = 1 +\n",
    "needs": "import nothing_there\n",
    "boom": "\n\n1 / 0\n",
    "leaves": "import sys\nsys.exit(3)\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    for name, text in BROKEN.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "part.py").write_text("from .other import f\n\ndef g(x):\n    return f(x) * x\n")
    (tmp_path / "pkg" / "other.py").write_text("def f(x):\n    return x * x\n")
    return tmp_path


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    """The exit status of the command, and what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "s2sad", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


# ---------------------------------------------------------------- show


def test_show(folder: Path) -> None:
    code, out, _ = run(folder, "show", "model:damped", "--wrt", "a,b", "--args", "0.7, 1.3, 2.1")
    assert code == 0
    assert out.startswith("def damped_grad(t, a, b):\n") and out.endswith("    return da, db\n")
    code, out, _ = run(folder, "show", "model:damped", "--mode", "vjp")
    assert code == 0 and "def damped_bprop(dout):" in out and "return dt, da, db" in out
    assert run(folder, "show", "model.py:damped")[1] == run(folder, "show", "model:damped")[1]
    assert "def g_grad(x):" in run(folder, "show", "pkg/part.py:g")[1]
    (folder / "my model.py").write_text("def f(x, *, scale):\n    return x * scale\n")
    out = run(folder, "show", "my model.py:f", "--args", "2.0, scale=3.0")[1]
    assert "dx = scale" in out
    assert "np.cos(x)" in run(folder, "show", "numpy:sin")[1]


def test_show_stages(folder: Path) -> None:
    code, out, _ = run(folder, "show", "model:damped", "--stage", "to_anf")
    assert code == 0 and out.startswith("def damped(t, a, b):\n    decay_1 = -a\n")
    out = run(folder, "show", "model:damped", "--stage", "all")[1]
    assert out.startswith("# desugar_attributes\n") and "# restore_names\n" in out
    code, _, error = run(folder, "show", "model:damped", "--stage", "nope")
    assert code == 2 and error.startswith("s2sad: there is no stage 'nope': name one of desugar_attributes")


def test_show_as_a_page(folder: Path) -> None:
    words = ("show", "model:damped", "--args", "0.7, 1.3, 2.1", "--html", "page.html")
    assert run(folder, *words) == (0, "", "")
    text = (folder / "page.html").read_text()
    assert text.startswith("<!DOCTYPE html>") and "damped_grad" in text


# ---------------------------------------------------------------- targets


@pytest.mark.parametrize("target, message", [
    ("model", "names no function: write pkg.mod:func"),
    ("model:", "'' is no name of a function"),
    ("model:nope", "'model' has no 'nope'"),
    ("model:RATE", "is a float, and no function"),
    ('model:__import__("os").remove("model.py")', "is no name of a function"),
    ("model;x:f", "is no name of a module"),
    ("../model:f", "is no name of a module"),
    (":f", "'' is no name of a module"),
    ("nowhere:f", "there is no module 'nowhere'"),
    ("pkg.nowhere:f", "there is no module 'pkg.nowhere'"),
    ("nowhere.py:f", "there is no file 'nowhere.py'"),
    ("needs:f", "needs.py:1: importing 'needs' raised ModuleNotFoundError: No module named 'nothing_there'"),
    ("boom:f", "boom.py:3: importing 'boom' raised ZeroDivisionError: division by zero"),
    ("leaves:f", "leaves.py:2: importing 'leaves' raised SystemExit: 3"),
    ("broken:f", "broken.py:1:8: invalid syntax"),
    ("broken.py:f", "broken.py:1:8: invalid syntax"),
])  # fmt: skip
@pytest.mark.parametrize("command", ["show", "check"])
def test_what_is_not_there(folder: Path, command: str, target: str, message: str) -> None:
    if command == "check" and target == "model":
        pytest.skip("a module can be checked")
    code, out, error = run(folder, command, target)
    assert code == 2 and out == "" and message in error and error.count("\n") == 1


@pytest.mark.parametrize("text, message", [
    ("1 / 0", "raised ZeroDivisionError"), ("1.0)", "raised SyntaxError"), ("nope", "raised NameError"),
])  # fmt: skip
def test_examples_that_fail(folder: Path, text: str, message: str) -> None:
    code, _, error = run(folder, "show", "model:damped", "--args", text)
    assert code == 2 and message in error


def test_refusals_are_errors_of_the_command(folder: Path) -> None:
    code, _, error = run(folder, "show", "model:damped", "--wrt", "zz")
    assert code == 1 and "'zz' is not one of its parameters" in error
    code, _, error = run(folder, "show", "model:several", "--args", "1.0, 2")
    assert code == 1 and "`async def` is not differentiated" in error


# ---------------------------------------------------------------- check


def test_check_lists_all_refusals(folder: Path) -> None:
    code, out, error = run(folder, "check", "model")
    assert code == 1
    places = [line.split(": ")[0] for line in out.splitlines()]
    found = ["11:9", "12:5", "15:17", "16:5", "19:12", "28:1"]
    assert places == [f"model.py:{place}" for place in found]
    assert "in helper: `zlib.crc32` has no rule" in out and "instead: declare it" in out
    assert error == "s2sad: checked 4 functions (damped, several, helper, waiting): 6 refusals\n"


def test_check_of_a_function(folder: Path) -> None:
    summary = "s2sad: checked 1 function (damped): no refusals\n"
    assert run(folder, "check", "model:damped") == (0, "", summary)
    code, out, _ = run(folder, "check", "model:Model.loss", "pkg.part")
    assert code == 1 and out.startswith("model.py:26:16: ")
    code, _, error = run(folder, "check", "model", "--args", "1.0")
    assert code == 2 and "--args belongs to one function" in error


def test_check_as_json(folder: Path) -> None:
    assert run(folder, "check", "pkg.part", "--format", "json")[:2] == (0, "[]\n")
    code, out, _ = run(folder, "check", "model:helper", "--format=json")
    (finding,) = json.loads(out)
    assert code == 1
    assert {k: finding[k] for k in ("file", "line", "column", "function", "error")} == {
        "file": "model.py", "line": 19, "column": 12, "function": "helper", "error": "MissingRuleError",
    }  # fmt: skip
    assert finding["what"].startswith("`zlib.crc32` has no rule") and finding["instead"]


# ---------------------------------------------------------------- export


def test_export_and_its_check(folder: Path) -> None:
    words = ("export", "model:damped", "--wrt", "a,b", "--args", "0.7, 1.3, 2.1", "-o", "slope.py")
    code, _, error = run(folder, *words, "--check")
    assert code == 1 and "slope.py is not there: s2sad export model:damped" in error
    assert run(folder, *words) == (0, "", "")
    text = (folder / "slope.py").read_text()
    assert "s2sad export model:damped --wrt a,b --args '0.7, 1.3, 2.1'" in text
    assert run(folder, *words, "--check") == (0, "", "")
    (folder / "model.py").write_text(MODEL.replace("np.cos(b * t)", "np.cos(b * t) * a"))
    code, _, error = run(folder, *words, "--check")
    assert code == 1 and "is not what the function gives now" in error
    assert (folder / "slope.py").read_text() == text
    (folder / "model.py").write_text(MODEL.replace("RATE = 2.5", "RATE = 2.25"))
    assert run(folder, *words, "--check")[0] == 1


def test_files_that_cannot_be_written(folder: Path) -> None:
    for words in (("export", "-o", "no/slope.py"), ("show", "--html", "no/p.html")):
        code, output, error = run(folder, words[0], "model:damped", *words[1:])
        assert (code, output) == (2, "") and error == f"s2sad: {words[-1]}: No such file or directory\n"


def test_the_version_is_told(folder: Path) -> None:
    assert run(folder, "--version") == (0, f"s2sad {s2sad.__version__}\n", "")


def test_the_check_knows_a_function_by_all_its_names(folder: Path) -> None:
    (folder / "pkg").mkdir(exist_ok=True)
    (folder / "pkg" / "inner.py").write_text("def f(x, n):\n    return x * x * n\n")
    words = ("--args", "3.0, 2.0", "-o", str(folder / "slope.py"))
    ways = ("pkg.inner:f", "pkg/inner.py:f", "./pkg/inner.py:f", f"{folder}/pkg/../pkg/inner.py:f")
    for made in ways[:2]:
        assert run(folder, "export", made, *words)[0] == 0
        for way in ways:
            assert run(folder, "export", way, *words, "--check") == (0, "", "")
        assert run(folder / "pkg", "export", "inner:f", *words, "--check") == (0, "", "")
    assert run(folder, "export", ways[1], "--wrt", "n", *words, "--check")[0] == 1
    (folder / "slope.py").write_text("f(")
    assert run(folder, "export", ways[1], *words, "--check")[0] == 1


def test_export_for_numba(folder: Path) -> None:
    pytest.importorskip("numba")
    words = ("export", "model:damped", "--args", "0.7, 1.3, 2.1", "--target", "numba", "-o", "slope.py")
    assert run(folder, *words) == (0, "", "")
    assert "--target numba" in (folder / "slope.py").read_text() and run(folder, *words, "--check")[0] == 0
    code, _, error = run(folder, "export", "model:damped", "--target", "numba", "-o", "slope.py")
    assert code == 1 and "give examples of them all" in error


def test_the_text_of_an_option_does_not_leave_the_docstring(folder: Path) -> None:
    example = '(0.7, 1.3, 2.1, """\\\\""")[:3][0], 1.3, 2.1 # """; import os'
    assert run(folder, "export", "model:damped", "--args", example, "-o", "slope.py")[0] == 0
    names: dict[str, object] = {}
    exec((folder / "slope.py").read_text(), names)
    assert "os" not in names and example.splitlines()[0][:20] in str(names["__doc__"])


def test_usage(folder: Path) -> None:
    code, _, error = run(folder)
    assert code == 2 and error.startswith("usage: s2sad")
    assert run(folder, "export", "model:damped")[0] == 2
    assert run(folder, "--help")[0] == 0
