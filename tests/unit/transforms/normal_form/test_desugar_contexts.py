"""Contexts and exceptions, taken apart."""

from __future__ import annotations

import contextlib

from s2sad.transforms.normal_form.desugar_contexts import desugar_contexts
from tests.support.stages import assert_agree, body_after

CONTEXTS = """
import contextlib

@contextlib.contextmanager
def held(log, value):
    log.append(("enter", value))
    try:
        yield value
    finally:
        log.append(("leave", value))

"""


BODIES = [
    """
    with held(log, x) as a, held(log, (a, x)) as (b, c):
        y = 6 / b
    return y, log
    """,
    """
    with contextlib.nullcontext(x) as y, contextlib.nullcontext():
        pass
    return y
    """,
    """
    y = 0
    with contextlib.suppress(ZeroDivisionError, KeyError):
        y = 6 / x
    return y
    """,
    """
    try:
        y = 6 / x
    except ZeroDivisionError:
        y = 1
    else:
        y += 1
    finally:
        log.append(1)
    return y, log
    """,
    """
    for k in range(3):
        with held(log, k):
            if k == x:
                continue
            if k == 2:
                break
    return log
    """,
    """
    for k in range(3):
        try:
            if k == x:
                return 6 / k
        except ZeroDivisionError:
            return log
        finally:
            log.append(k)
    return 7
    """,
    """
    try:
        return 6 / x
    except ZeroDivisionError as error:
        y = str(error)
    return y, log
    """,
    """
    try:
        if x == 1:
            return 5
        y = 6 / x
    except ZeroDivisionError:
        y = 2
    else:
        y = 3
    return y
    """,
    """
    try:
        try:
            y = 6 / x
        except KeyError:
            y = 1
    except ZeroDivisionError:
        y = 2
    return y
    """,
    """
    while True:
        try:
            y = 6 / x
            break
        except ZeroDivisionError:
            x = x + 2
    return y
    """,
    """
    with held(log, 1):
        with held(log, 2):
            if x:
                return log
        y = 5
    return y, log
    """,
    """
    try:
        raise ValueError(x)
    except (KeyError, ValueError) as error:
        y = error.args
    return y
    """,
]


def test_all_stages_do_the_same() -> None:
    for body in BODIES:
        text = CONTEXTS + "def f(x):\n    log = []" + body + "\n"
        assert_agree(text, [(0,), (1,), (2,)])


def test_a_null_context_is_an_assignment() -> None:
    text = "import contextlib\ndef f(x):\n    with contextlib.nullcontext(x) as y:\n        return y\n"
    assert contextlib is not None
    assert body_after(desugar_contexts, text) == "def f(x):\n    y = x\n    return y\n"
