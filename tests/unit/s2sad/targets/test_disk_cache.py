"""Machine code on disk: a second process compiles nothing, and a stale or broken file is not used."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from s2sad.targets import progress

pytest.importorskip("numba")

MODULE = """
import math
import numba.core.compiler
import numpy as np
import s2sad

count = 0
compile_extra = numba.core.compiler.compile_extra

def counted(*args, **keywords):
    global count
    count += 1
    return compile_extra(*args, **keywords)

numba.core.compiler.compile_extra = counted
scale = SCALE

def inner(x):
    return x * FACTOR

def step(x, n):
    y = inner(x)
    for k in range(n):
        y = math.sin(y) * x + inner(y)
    return y

def table(p):
    return np.sum(p["w"] * scale)

gradient = s2sad.grad(step, compile="numba", cache=True)
before = EARLIER
run = s2sad.vjp(step, argnums=0, compile="numba", cache=True)
sums = s2sad.grad(table, compile="numba", cache=True)
found = [gradient(0.5, 4), run(0.5, 4)[1](2.0), *sums({"w": np.ones(2)})["w"]]
plain = [s2sad.grad(step)(0.5, 4), s2sad.vjp(step, argnums=0)(0.5, 4)[1](2.0), scale, scale]
assert np.allclose(found, plain, rtol=1e-14), (found, plain)
print(count)
"""


def run(folder: Path, factor: float = 2.0, scale: float = 3.0, earlier: str = "0", **environment: str) -> int:
    """How many functions a process compiles; it checks what they return."""
    text = MODULE.replace("FACTOR", str(factor)).replace("SCALE", str(scale)).replace("EARLIER", earlier)
    (folder / "module.py").write_text(text)
    path = str(Path(__file__).parents[4])
    given = {**os.environ, "S2SAD_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": path, **environment}
    done = subprocess.run(
        [sys.executable, str(folder / "module.py")], env=given, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    assert run(tmp_path) > 0
    files = sorted((tmp_path / "cache").iterdir())
    assert [p.suffix for p in files] == [".bin"] * len(files)
    assert run(tmp_path) == 0
    assert run(tmp_path, scale=5.0) == 0  # what is outside is read at each call

    assert run(tmp_path, factor=4.0) > 0  # other code, and other code of a function that is called
    assert run(tmp_path, earlier="[s2sad.grad(inner, compile='numba')(1.0)]") > 0  # beside compiled code
    assert run(tmp_path) == 0
    assert run(tmp_path, NUMBA_OPT="1") > 0

    for k, file in enumerate(sorted((tmp_path / "cache").iterdir())):
        data = file.read_bytes()
        junk = pickle.dumps("junk")
        broken = [b"", data[:-1], data[:100] + b"x" + data[101:], hashlib.sha256(junk).digest() + junk]
        file.write_bytes(broken[k % 4])
    assert run(tmp_path) > 0
    assert run(tmp_path) == 0


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert run(tmp_path, S2SAD_CACHE_DIR=str(tmp_path / "file" / "folder")) > 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_slow_compilation_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    cases = (Terminal(), 0.2, True), (Terminal(), 0.0, False), (io.StringIO(), 0.2, False)
    for stream, wait, shown in cases:
        monkeypatch.setattr(sys, "stderr", stream)
        with progress.shown_when_slow("f_grad"):
            time.sleep(wait)
        assert stream.getvalue().startswith("s2sad: compiling f_grad ... ") is shown
        assert shown or not stream.getvalue()
