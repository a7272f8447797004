"""Every public function of NumPy and SciPy on numbers: both modes beside central differences.

    python -m tests.random.library_functions scipy.ndimage scipy.signal.welch

A call is right, refused, or a failure: wrong, a crash, or slow (over two seconds of CPU time). Arguments are
those of `CALLS`, or the first that the function takes among the values of `VALUES` for the names of its
parameters. Each function runs in a process of its own, which is ended after `LIMIT` seconds of CPU time.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import itertools
import os
import signal
import sys
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

import s2sad
from s2sad.transforms.errors import InternalError, S2sadError
from tests.support.build import build
from tests.support.compare import assert_close, check_program, directions, flatten, numeric_jvp

MODULES = [
    "scipy.ndimage", "scipy.signal", "scipy.interpolate", "scipy.stats", "scipy.linalg", "scipy.fft",
    "scipy.spatial", "scipy.spatial.distance", "scipy.special", "numpy", "numpy.linalg", "numpy.fft",
]  # fmt: skip
SLOW, LIMIT = 2.0, 20
FAILURES = ["crash", "wrong", "slow", "hang"]
WORDS = [*FAILURES, "refused", "right", "rough", "no arguments"]
Function = Callable[..., Any]

VECTOR = np.array([1.3, 0.4, 0.9, 2.1])
OTHER = np.array([0.7, 1.6, 0.2, 1.1])
LONG = np.cos(np.arange(40.0) ** 1.3) + 0.1 * np.arange(40.0)
MATRIX = np.array([[2.0, 0.3, 0.5], [0.4, 3.0, 0.1], [0.2, 0.6, 1.5]])
IMAGE = LONG.reshape(5, 8)
POINTS = np.array([[0.1, 0.2], [1.3, 0.4], [0.5, 1.7], [1.9, 1.6], [0.8, 0.9]])
SOS = np.array([[0.2, 0.3, 0.1, 1.0, -0.4, 0.2]])
SPLINE = (np.array([0.0, 0, 0, 0, 1, 2, 2, 2, 2]), np.array([0.3, 1.2, 0.7, 1.9, 0.4]), 3)
SYSTEM = ([0.5, 1.0], [1.0, 0.6, 0.2])
POSITIVE = MATRIX @ MATRIX.T
ANY = [VECTOR, 0.6, MATRIX, LONG, 2, POINTS, [VECTOR, OTHER]]

# What is passed for a parameter of this name.
VALUES: dict[str, list[Any]] = {
    "input": [IMAGE, VECTOR],
    "a": [VECTOR, MATRIX, 0.6, POSITIVE],
    "x": [VECTOR, 0.6, LONG, MATRIX, IMAGE, np.array([0.1, 0.2, 0.3, 0.4])],
    "x1": [0.6, 1.5, 2, VECTOR],
    "x2": [0.7, 1.2, 3, OTHER],
    "x3": [0.3, 0.9],
    "n": [2, 3, 0.5],
    "b": [OTHER, OTHER[:3], 0.7],
    "y": [OTHER, 0.8, LONG, MATRIX],
    "v": [OTHER, OTHER[:3]],
    "A": [MATRIX, VECTOR],
    "sigma": [0.8],
    "size": [3],
    "axis": [0, 1],
    "data": [LONG, IMAGE],
    "sos": [SOS],
    "tck": [SPLINE],
    "system": [SYSTEM],
    "window": ["hann", VECTOR],
    "weights": [OTHER[:3], np.array([[0.1, 0.3], [0.4, 0.2]])],
    "indices_or_sections": [2],
    "samples": [VECTOR, OTHER],
    "arrays": [[VECTOR, OTHER]],
    "tup": [[VECTOR, OTHER]],
    "condition": [VECTOR > 1.0],
    "mask": [VECTOR > 1.0],
    "shape": [(4,)],
    "dtype": [np.float64],
    "M": [3],
    "N": [2],
    "nt": [2],
    "Wn": [0.3],
    "peaks": [np.array([1])],
    "function": [np.sum],
    "rank": [2],
    "p": [VECTOR[:3], 0.4, 2],
    "q": [0.3, 2, MATRIX],
    "ab": [np.array([[0.0, 0.3, 0.2], [2.0, 1.5, 1.9]])],
    "a_band": [np.array([[0.0, 0.3, 0.2], [2.0, 1.5, 1.9]])],
    "pvalues": [np.array([0.1, 0.4])],
    "u_values": [VECTOR],
    "v_values": [OTHER],
    "table": [np.array([[4, 2], [3, 7]])],
}
# Arguments of functions that do not take those values, or that deserve others; None leaves the function out.
CALLS: dict[str, list[Any] | None] = {
    "scipy.ndimage.affine_transform": [MATRIX, np.array([[1.0, 0.1], [0.2, 0.9]])],
    "scipy.ndimage.map_coordinates": [MATRIX, np.array([[0.5, 1.2], [0.3, 0.9]]), None, 1],
    "scipy.ndimage.median_filter": [IMAGE, 3],
    "scipy.ndimage.percentile_filter": [IMAGE, 20, 3],
    "scipy.ndimage.rank_filter": [IMAGE, 1, 3],
    "scipy.ndimage.maximum_filter": [IMAGE, 3],
    "scipy.ndimage.minimum_filter": [IMAGE, 3],
    "scipy.ndimage.grey_dilation": [IMAGE, 3],
    "scipy.ndimage.grey_erosion": [IMAGE, 3],
    "scipy.linalg.cho_factor": None,  # half of its result is undefined
    "scipy.linalg.cho_solve_banded": [(np.array([[0.0, 0.3, 0.2], [2.0, 1.5, 1.9]]), False), OTHER[:3]],
    "scipy.stats.trim_mean": [VECTOR, 0.3],
    "scipy.stats.iqr": [VECTOR],
}


def functions(names: list[str]) -> Iterator[tuple[str, Function]]:
    """The public functions with these names, or of modules with these names, once each."""
    seen: set[int] = set()
    for name in names:
        owner, _, last = name.rpartition(".")
        module = importlib.import_module(name if name in MODULES else owner)
        for member in dir(module) if name in MODULES else [last]:
            f = getattr(module, member)
            if member[0] != "_" and callable(f) and not isinstance(f, type) and id(f) not in seen:
                seen.add(id(f))
                yield f"{module.__name__}.{member}", f


def arguments(path: str, f: Function) -> list[Any] | None:
    """Arguments for which the function returns numbers; None if none were found."""
    if path in CALLS:
        return CALLS[path]
    try:
        parameters = inspect.signature(f).parameters.values()
    except ValueError:  # it has none
        return None
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    required = [p.name for p in parameters if p.default is p.empty and p.kind not in kinds]
    choices = [VALUES.get(name, []) + ANY for name in required]
    places = itertools.product(*(range(len(c)) for c in choices)) if len(choices) < 6 else ()
    for place in sorted(places, key=sum)[:400]:  # from the fronts of the lists
        args = [options[k] for options, k in zip(choices, place, strict=True)]
        if flatten(args):
            with suppress(Exception):
                leaves = flatten(f(*copy.deepcopy(args)))
                if leaves and all(np.all(np.isfinite(x)) for x in leaves):
                    return args
    return None


def programs(path: str, f: Function) -> Iterator[tuple[str, Function, tuple[Any, ...]]]:
    """Programs that call the function, each with its text and arguments: a plain call, calls that are given
    an array for the result, and calls that may overwrite an argument.
    """
    args = arguments(path, f)
    if args is None:
        return
    active = [bool(flatten(x)) for x in args]
    constants = {f"c{k}": x for k, x in enumerate(args) if not active[k]}
    held = {n: x for n, x in constants.items() if callable(x) or isinstance(x, np.ndarray)}
    names = [f"a{k}" if a else f"c{k}" if f"c{k}" in held else repr(args[k]) for k, a in enumerate(active)]
    inputs = [n for n, a in zip(names, active, strict=True) if a]
    start, call = f"def program({', '.join(inputs)}):\n", f"library.{f.__name__}({', '.join(names)}"
    out = f(*copy.deepcopy(args))
    texts = [f"{start}    return {'tuple' * isinstance(out, tuple)}({call}))\n"]
    for option in inspect.signature(f).parameters if path not in CALLS else ():
        if option in ("out", "output") and isinstance(out, np.ndarray):
            made = f"    o = np.zeros({out.shape}, {out.dtype.name!r})\n"
            texts.append(f"{start}{made}    {call}, {option}=o)\n    return o\n")
        if option.startswith("overwrite_"):
            copies = "".join(f"    {n} = np.array({n})\n" for n in inputs)
            texts.append(f"{start}{copies}    return {call}, {option}=True)\n")
    passed = tuple(x for x, a in zip(args, active, strict=True) if a)
    for text in texts:
        module = importlib.import_module(path.rpartition(".")[0])
        yield text, build(text, library=module, **held), passed


def verdict(program: Function, args: tuple[Any, ...]) -> tuple[str, str]:
    """The word for a program, and what happened."""
    wrt = tuple(range(len(args)))
    start = time.process_time()
    tangents = directions(args, wrt, 0)
    try:
        numeric = numeric_jvp(program, args, wrt, tangents)
        limit = SLOW + time.process_time() - start
        assert_close(numeric_jvp(program, args, wrt, tangents, 1e-4), numeric, 1e-6, "")
    except Exception as error:
        return "rough", str(error)
    found = [
        attempt(lambda: s2sad.vjp(program, *copy.deepcopy(args)), limit),
        attempt(lambda: check_forward(program, args, tangents, numeric), limit),
    ]
    word, said = min(found, key=lambda pair: WORDS.index(pair[0]))
    return attempt(lambda: check_program(program, args, wrt), LIMIT) if word == "right" else (word, said)


def check_forward(program: Function, args: tuple[Any, ...], tangents: Any, numeric: Any) -> None:
    _, tangent = s2sad.jvp(program, copy.deepcopy(args), tangents)
    assert_close(tangent, numeric, 1e-5, "jvp against finite differences")


def attempt(run: Function, limit: float) -> tuple[str, str]:
    """The word for what `run` does, and what it said."""
    start = time.process_time()
    try:
        run()
        word, said = "right", ""
    except AssertionError as error:
        word, said = "wrong", str(error)
    except S2sadError as error:
        word, said = "crash" if isinstance(error, InternalError) else "refused", str(error)
    except Exception as error:
        word, said = "crash", f"{type(error).__name__}: {error}"
    seconds = time.process_time() - start
    if seconds > limit and word != "crash":
        return "slow", f"{seconds:.1f} s: {word} {said}"
    return word, said


def report(path: str, f: Function) -> Iterator[tuple[str, str, str]]:
    """For each program that calls the function: the word, what happened, and the text."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        signal.alarm(20 * LIMIT)  # of what sleeps
        warnings.simplefilter("ignore")
        np.seterr(all="ignore")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with os.fdopen(writing, "w") as pipe:
            for text, program, args in programs(path, f):
                pipe.write(repr((*verdict(program, args), text)) + "\n")
                pipe.flush()
            pipe.write("()\n")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = [ast.literal_eval(line) for line in pipe]
    os.waitpid(child, 0)
    if not lines or lines[-1]:
        yield "hang", f"ended, or took over {LIMIT} s", ""
    elif len(lines) == 1:
        yield "no arguments", "", ""
    yield from filter(None, lines)


def search(names: list[str], share: int = 1) -> Counter[str]:
    """Prints the failures among the functions with these names, of which one in `share` is taken; returns how
    often each word was found.
    """
    for module in MODULES:
        importlib.import_module(module)
    s2sad.supported()  # which imports the rules
    words: Counter[str] = Counter()
    for path, f in functions(names or MODULES):
        if CALLS.get(path, f) is not None and zlib.crc32(path.encode()) % share == 0:
            for word, said, text in report(path, f):
                words[word] += 1
                if word in FAILURES:
                    print(path, word, said, text, sep="\n    ", flush=True)
    return words


if __name__ == "__main__":
    found = search(sys.argv[1:])
    print(*(f"{n} {word}" for word, n in found.items()), sep=", ")
    sys.exit(any(found[word] for word in FAILURES))
