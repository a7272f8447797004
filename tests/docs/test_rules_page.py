"""docs/rules.md is the table of what is differentiated, written by `python -m tests.docs.test_rules_page`."""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.lowering.writes_to_stores import is_store
from s2sad.testing.coverage import SCIPY, Support

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
MODULES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.ndarray", "math", "cmath", "operator")
COMMAND = "python -m tests.docs.test_rules_page"

# Counted by name: of the functions (not classes) of numpy, numpy.linalg and numpy.fft for which s2sad has a
# rule those that jax.numpy 0.10.2 has.
IN_JAX = 265
NOT_IN_JAX = {
    "numpy.asanyarray",
    "numpy.asarray_chkfinite",
    "numpy.ascontiguousarray",
    "numpy.asfortranarray",
    "numpy.real_if_close",
    "numpy.require",
}


def module_of(row: Support) -> str:
    name = row.name.rpartition(".")[0]
    return "scipy.stats" if name.startswith("scipy.stats.") else name or "builtins"


def libraries() -> str:
    """The versions of the libraries that the page is of."""
    scipy = importlib.import_module("scipy")
    return f"NumPy {_version(np)} and SciPy {_version(scipy)}"


def _version(library: Any) -> str:
    return ".".join(library.__version__.split(".")[:2])


def rows() -> list[Support]:
    for name in (*SCIPY, "stats"):
        importlib.import_module(f"scipy.{name}")
    return s2sad.supported()


def differentiable_functions(found: list[Support]) -> set[str]:
    """The differentiable functions of NumPy itself, without classes and without those that write into an
    argument, which other tools have only as functions that make a new array.
    """
    names = {r.name for r in found if r.state == "differentiable" and module_of(r) in MODULES[:3]}
    return {n for n in names if not isinstance(_member(n), type) and not is_store(_member(n))}


def _member(path: str) -> Any:
    member: Any = np
    for part in path.split(".")[1:]:
        member = getattr(member, part)
    return member


def in_autograd() -> tuple[str, int, set[str]]:
    """The version of autograd, and the names of NumPy's functions for which it has a reverse derivative; how
    many of these have a forward one.
    """
    core = importlib.import_module("autograd.core")
    found = set()
    for module in MODULES[:3]:
        theirs = importlib.import_module(module.replace("numpy", "autograd.numpy", 1))
        ours = importlib.import_module(module)
        for name, f in vars(theirs).items():
            if callable(f) and f in core.primitive_vjps and hasattr(ours, name):
                found.add(f"{module}.{name}")
    forward = sum(
        getattr(
            importlib.import_module(n.rpartition(".")[0].replace("numpy", "autograd.numpy", 1)),
            n.rpartition(".")[2],
        )
        in core.primitive_jvps
        for n in found
    )
    return importlib.metadata.version("autograd"), forward, found


# ---------------------------------------------------------------- the page


def page(found: list[Support]) -> str:
    return "\n".join([*head(found), CARE, *compared(found), *tables(found), *rest(found)]) + "\n"


def head(found: list[Support]) -> Iterator[str]:
    states = ("differentiable", "constant", "refused")
    differentiable, constant, refused = (sum(r.state == state for r in found) for state in states)
    yield f"""# What is differentiated

Written by `{COMMAND}` from the rules and the samples that they are tested on, with {libraries()}.
In a program the same table is `s2sad.supported()`:

```python
import s2sad

(row,) = s2sad.supported("numpy.linalg.cholesky")
print(row.state, row.modes, row.order, row.keywords)
```

```text
differentiable ('reverse', 'forward') None ('upper',)
```

Of {len(found)} public functions, methods and attributes {differentiable} are differentiable, {constant} are
constants (their results carry no derivative, so they may be called anywhere) and {refused} are refused:
where a derivative would pass through them the error says why. A test fails, by name, for any public callable
of NumPy that is none of these. Other functions of SciPy are differentiated if they are written in Python.

All rules have both modes, and derivatives of any order, unless the table says otherwise. The keyword
arguments are those that the tests of a rule pass.
"""


CARE = """## Where a slope is missing

- Equal numbers share a cotangent evenly in `max`, `min`, `maximum`, `minimum` and `clip` at a bound.
- `abs`, `norm` and `hypot` have the slope 0 at 0, and so does `x ** 0`.
- `x ** y` of Python's numbers is taken to be real. Where it is complex (x is negative, and y no integer) the
  derivative is made again for that; functions that change what others see, draw random numbers or use up
  iterators are refused then.
- Unchosen elements have no effect: `np.where(x > 0, np.log(x), 0.0)` has the slope 0 at 0, and so has
  `d = np.sqrt(x)`, `d[d == 0] = 1.0`.
- An infinite or undefined slope, as of `np.log` at 0 or of `np.arctan2` at (0, 0), is what the division gives
  that is written by hand: of arrays and NumPy's numbers `inf` or `nan`, with NumPy's warning; of Python's own
  floats `InfiniteSlopeError`, a `ZeroDivisionError` that says which statement it is, whether the function is
  NumPy's or of `math`. (In Python `1 / 0.0` raises; an infinity that nobody asked for would hide it.)
"""


def compared(found: list[Support]) -> Iterator[str]:
    ours = differentiable_functions(found)
    version, forward, theirs = in_autograd()
    missing = sorted(theirs - ours)
    beside = f"s2sad lacks {', '.join(missing)}" if missing else "s2sad has all of these"
    jax = (
        f"{IN_JAX} of the {len(ours)} are names in `jax.numpy`. It differentiates what it traces; for "
        "how many of these was not counted"
    )
    yield f"""## Beside other tools

Counted by name, over the functions of `numpy`, `numpy.linalg` and `numpy.fft`; an alias is a name of its own.

| | with a derivative |
|---|---|
| s2sad | {len(ours)}, all in both modes |
| autograd {version} | {len(theirs)} in reverse mode, {forward} of these in forward mode; {beside} |
| JAX 0.10.2 | {jax} |
"""


def tables(found: list[Support]) -> Iterator[str]:
    modules = dict.fromkeys([*MODULES, "builtins", *sorted(map(module_of, found))])
    for module in modules:
        chosen = [r for r in found if r.state == "differentiable" and module_of(r) == module]
        if chosen:
            yield f"## {module}\n\n| function | keyword arguments | not by |\n|---|---|---|"
            yield from map(line, chosen)
            yield ""


def line(row: Support) -> str:
    name = row.name.removeprefix(module_of(row) + ".")
    words = [f"`{name}`", code(row.keywords), code(row.refused)]
    if row.modes != ("reverse", "forward") or row.order is not None:
        words[0] += f" ({', '.join(row.modes)} mode; order {row.order})"
    return f"| {' | '.join(words)} |"


def code(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{n}`" for n in names)


def rest(found: list[Support]) -> Iterator[str]:
    yield "## Refused\n\n| | why, and what to use |\n|---|---|"
    refused = [r for r in found if r.state == "refused"]
    for reason in dict.fromkeys(r.reason for r in refused):
        names = code(tuple(r.name for r in refused if r.reason == reason))
        yield f"| {names} | {reason} |"
    yield "\n## Constants\n"
    constants = [r for r in found if r.state == "constant"]
    for module in dict.fromkeys(map(module_of, constants)):
        names = ", ".join(
            f"`{r.name.removeprefix(module + '.')}`" for r in constants if module_of(r) == module
        )
        yield f"- {module}: {names}"


# ---------------------------------------------------------------- tests


@pytest.fixture(scope="module")
def found() -> list[Support]:
    pytest.importorskip("scipy")
    return rows()


def test_the_page_is_current(found: list[Support]) -> None:
    text = PAGE.read_text()
    if libraries() in text:
        pytest.importorskip("autograd")
        assert text == page(found), f"write it anew: {COMMAND}"
        return
    known = {r.name: r for r in found}  # of other versions, what both have is the same
    for module, body in re.findall(r"^## ([\w.]+)\n\n\| function .*?\n((?:\|.*\n)+)", text, re.MULTILINE):
        for name in re.findall(r"^\| `([\w.]+)`", body, re.MULTILINE):
            path = name if module == "builtins" else f"{module}.{name}"
            assert path not in known or known[path].state == "differentiable", path


def test_the_table_is_that_of_the_rules(found: list[Support]) -> None:
    known = {r.name: r for r in found}
    assert known["numpy.sum"].keywords == ("axis", "dtype", "initial", "keepdims", "where")
    assert known["scipy.special.betainc"].refused == ("a", "b")
    assert known["numpy.argmax"].state == "constant"
    assert "sort" in known["numpy.union1d"].reason
    assert known["scipy.special.gammaln"].state == "differentiable"
    assert [r.name for r in s2sad.supported("numpy.fft.rfftn")] == ["numpy.fft.rfftn"]


def angle(y: Any, x: Any) -> Any:
    return np.sum(np.arctan2(y, x))


def logarithm(x: Any) -> Any:
    return np.sum(np.where(x > 0, np.log(x), 0.0))


def test_where_a_slope_is_missing() -> None:
    for f in (np.abs, np.linalg.norm, lambda x: np.hypot(x, x), lambda x: x**0):
        assert s2sad.grad(lambda x, f=f: np.sum(f(x)))(np.zeros(1)) == 0
    for f in (lambda x: np.maximum(x, 1.0), lambda x: np.clip(x, 1.0, 2.0)):
        assert s2sad.grad(lambda x, f=f: np.sum(f(x)))(np.ones(1)) == 0.5
    with np.errstate(all="ignore"):
        assert s2sad.grad(logarithm)(np.zeros(1)) == 0 and s2sad.grad(logarithm)(0.0) == 0
        assert np.isnan(s2sad.grad(angle)(np.zeros(1), np.zeros(1)))
        assert np.isnan(s2sad.grad(angle)(np.float64(0.0), np.float64(0.0)))
    for f in (lambda y: np.arctan2(y, 0.0), lambda y: math.atan2(y, 0.0), lambda y: np.log(y)):
        with pytest.raises(ZeroDivisionError), np.errstate(all="ignore"):
            s2sad.grad(f)(0.0)


def test_the_count_of_names_in_jax_is_of_these_functions(found: list[Support]) -> None:
    ours = differentiable_functions(found)
    if libraries() in PAGE.read_text():
        assert len(ours - NOT_IN_JAX) == IN_JAX
    assert ours >= NOT_IN_JAX


if __name__ == "__main__":
    PAGE.write_text(page(rows()))
