"""A user's file under type checkers: what the transforms return keeps the parameters of the function."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import s2sad

GOOD = """
import numpy as np
import s2sad

def loss(w: float, x: float, scale: float = 1.0) -> float:
    "The loss."
    return w * x * scale

@s2sad.grad
def decorated(w: float, *, by: float) -> float:
    return w * by

@s2sad.value_and_grad(argnums="w")
def with_options(w: float, x: float) -> float:
    return w * x

class Model:
    @s2sad.grad(argnums="x")
    def slope(self, x: float) -> float:
        return x * x

s2sad.grad(loss)(1.0, 2.0, scale=3.0)
s2sad.grad(loss, argnums=("w", "x"))(1.0, x=2.0)
decorated(1.0, by=2.0)
decorated.source_for(1.0, by=2.0).upper()
value, slope = s2sad.value_and_grad(loss)(1.0, 2.0)
value.is_integer()
with_options(1.0, x=2.0)[0].is_integer()
Model().slope(2.0)
out, bprop = s2sad.vjp(loss)(1.0, 2.0)
out.is_integer()
bprop(1.0)
out2, bprop2 = s2sad.vjp(loss, 1.0, 2.0)
out2.is_integer()
out3, dout3 = s2sad.jvp(loss)(1.0, 2.0, 1.0, 0.0)
out3.is_integer()
out4, dout4 = s2sad.jvp(loss, (1.0, 2.0), (1.0, 0.0))
out4.is_integer()
s2sad.hessian(loss, argnums=(0, 1))(1.0, 2.0)
s2sad.jacobian(loss)(1.0, 2.0)
s2sad.grad(loss, compile="numba", fastmath=True)(1.0, 2.0)
out5, bprop5 = s2sad.vjp(loss, 1.0, 2.0, compile="numba")
out5.is_integer()
s2sad.jvp(loss, (1.0, 2.0), (1.0, 0.0), compile="numba")[0].is_integer()
s2sad.hessian(loss, compile="numba")(1.0, 2.0)
s2sad.hvp(loss, compile="numba")(1.0, 2.0, 1.0)

@s2sad.elementwise_grad(compile="numba")
def compiled(w: float, x: float) -> float:
    return w * x

compiled(1.0, x=2.0)
"""

BAD = {
    "s2sad.grad(loss)(1.0)": "a missing argument",
    's2sad.grad(loss)("1.0", 2.0)': "a wrong type",
    "s2sad.grad(loss)(1.0, 2.0, size=3.0)": "a wrong name",
    "s2sad.value_and_grad(loss)(1.0)": "a missing argument of value_and_grad",
    "s2sad.vjp(loss)(1.0)": "a missing argument of vjp",
    "s2sad.vjp(loss)(1.0, 2.0)[0].upper()": "the result's type of vjp",
    "s2sad.jvp(loss)(1.0, 2.0, 1.0, 0.0)[0].upper()": "the result's type of jvp",
    "decorated(1.0)": "a missing keyword of what a decorator made",
    "with_options(1.0)": "a missing argument of what a decorator with options made",
    "s2sad.jacobian(loss)(1.0)": "a missing argument of jacobian",
    "s2sad.export(loss, 1.0, 2.0).html()": "the result's type of export",
    "s2sad.scipy_fun(loss)": "a missing argument of scipy_fun",
    's2sad.grad(loss, compile="llvm")': "an unknown compiler",
    's2sad.hessian(loss, compiler="numba")': "an unknown option",
    "compiled(1.0)": "a missing argument of what a decorator for compiled code made",
}


def run(checker: list[str], text: str, folder: Path) -> str:
    file = folder / "user.py"
    file.write_text(text)
    path = str(Path(s2sad.__file__).parents[1])
    done = subprocess.run(
        [*checker, str(file)],
        cwd=folder,
        env={**os.environ, "MYPYPATH": path, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def lines_with_errors(shown: str, mark: str) -> set[int]:
    return {int(line.split(":")[1]) for line in shown.splitlines() if mark in line and "user.py:" in line}


def check(checker: list[str], mark: str, tmp_path: Path) -> None:
    start = len(GOOD.splitlines()) + 1
    shown = run(checker, GOOD + "\n".join(BAD) + "\n", tmp_path)
    found = lines_with_errors(shown, mark)
    assert found == set(range(start, start + len(BAD))), shown


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    check([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache], "error:", tmp_path)


def pyright_runs() -> bool:
    if importlib.util.find_spec("pyright") is None or shutil.which("node") is None:
        return False
    done = subprocess.run([sys.executable, "-m", "pyright", "--version"], capture_output=True)
    return done.returncode == 0


@pytest.mark.skipif(not pyright_runs(), reason="pyright is not installed, or cannot load itself")
def test_pyright(tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{Path(s2sad.__file__).parents[1]}"]}}')
    check([sys.executable, "-m", "pyright"], "error:", tmp_path)
