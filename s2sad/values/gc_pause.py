"""Lets the garbage collector rest while many objects are made of which none is garbage."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collection_paused"]

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def collection_paused() -> Iterator[None]:
    """No cyclic garbage is collected meanwhile, in any thread; afterwards it is again, if it was before.

    A derivative is made through thousands of tree nodes that live until it is done, and each time that their
    number has grown by some the collector walks over all that are alive.
    """
    global _pauses, _was_enabled
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()
