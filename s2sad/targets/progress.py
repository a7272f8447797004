"""A line on the terminal while code is compiled for long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["shown_when_slow"]

PATIENCE = 3.0  # seconds


@contextmanager
def shown_when_slow(name: str) -> Iterator[None]:
    """A context that compiles `name`. If standard error is a terminal, it shows a line after a while, and the
    time in the end.
    """
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    start, is_shown = time.perf_counter(), threading.Event()

    def show() -> None:
        is_shown.set()
        print(f"s2sad: compiling {name} ...", end="", file=stream, flush=True)

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if is_shown.is_set():
            print(f" {time.perf_counter() - start:.1f} s", file=stream, flush=True)
