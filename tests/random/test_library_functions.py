"""A sample of the public functions of NumPy and SciPy; the command in `library_functions` runs all."""

from __future__ import annotations

import subprocess
import sys

import pytest

SAMPLE = "from tests.random.library_functions import *; print(*sorted(search([], share=100).elements()))"


def test_library_functions() -> None:
    pytest.importorskip("scipy.stats")
    run = subprocess.run([sys.executable, "-c", SAMPLE], capture_output=True, text=True, check=True)
    words = run.stdout.splitlines()[-1].split()
    assert "right" in words and not {"wrong", "crash", "hang"} & {*words}, run.stdout
