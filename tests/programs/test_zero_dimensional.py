"""Arrays without dimensions that are changed in place: what arithmetic makes of them are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare_mutation import check_changing, check_changing_second

Y = np.array(0.6)

PROGRAMS: dict[str, tuple[str, tuple[Any, ...], tuple[int, ...]]] = {
    "stored, then updated": ("a = np.zeros(())\na[()] = x\na += x * 2\nreturn a * x", (1.3,), (0,)),
    "updated, then stored": (
        "a = np.array(1.5)\na *= x\na[...] = a * x\na -= x\nreturn np.sum(a * x)",
        (1.3,),
        (0,),
    ),
    "a copy": ("a = y.copy()\na[...] = a * x\na[()] += x\nreturn a * a", (1.3, Y), (0, 1)),
    "of a number": (
        "a = np.array(x)\nnp.multiply(a, x, out=a)\na[()] = np.sin(a)\nnp.add(a, x, out=a)\nreturn a / x",
        (1.3,),
        (0,),
    ),
    "filled": ("a = np.array(x)\nb = a * 2\na.fill(3.0)\na *= b\nreturn a * 1.0", (1.3,), (0,)),
    "read before and after": (
        "a = np.empty(())\na[()] = x\ns = 0.0\nfor k in range(2):\n"
        "    s = s + a[()] * a[...]\n    a[...] = s\n    a -= 0.5\nreturn s",
        (1.3,),
        (0,),
    ),
    "in a loop": (
        "a = np.zeros(())\nfor k in range(3):\n    a += x * k\n    a[()] = a * x\nreturn a",
        (1.3,),
        (0,),
    ),
    "made in a loop": (
        "s = 0.0\nfor k in range(3):\n    a = np.array(x * k)\n"
        "    a[()] = a * x\n    a **= 2\n    s += a\nreturn s",
        (1.3,),
        (0,),
    ),
    "in one arm": (
        "a = np.array(x)\nif x > 1:\n    a[()] = x * a\nelse:\n    a += 1\na *= a\nreturn a",
        (1.3,),
        (0,),
    ),
    "in the other arm": (
        "a = np.array(x)\nif x > 1:\n    a[()] = x * a\nelse:\n    a += 1\na *= a\nreturn a",
        (0.3,),
        (0,),
    ),
    "a sum over all": (
        "a = np.asarray(np.sum(z, keepdims=False))\na += 1\nreturn np.sum(a * z)",
        (np.ones(3),),
        (0,),
    ),
    "complex": (
        "a = np.zeros((), dtype=complex)\na[()] = x\na *= 1j * x\nreturn np.abs(a + x)",
        (1.3,),
        (0,),
    ),
    "an argument": ("y[...] = y * 2\ny += 1\nreturn y * y", (Y,), (0,)),
    "an argument at an empty index": ("y[()] = np.sin(y)\ny *= 2\nreturn y ** 2", (Y,), (0,)),
    "an argument in a loop": ("for k in range(3):\n    y[()] = y * y + k\n    y /= 2\nreturn y", (Y,), (0,)),
    "of an element": (
        "a = np.array(z[1])\na[()] *= z[0]\nz[2] = a\na += 1\nreturn np.sum(z * a)",
        (np.arange(1.0, 4.0),),
        (0,),
    ),
    "stored into an array": (
        "a = np.array(x)\na += x\nz[1] = a\na *= 2\nreturn np.sum(z * a)",
        (1.3, np.ones(3)),
        (0, 1),
    ),
    "two names": (
        "a = np.zeros(())\nb = a\na[()] = np.sin(x)\nb += x\nb[...] = a * b\nreturn a * b",
        (1.3,),
        (0,),
    ),
    "a view": (
        "v = np.zeros(3)\na = v[1, ...]\na[...] = x\na += x\nv[1] *= a\nreturn np.sum(v) * a",
        (1.3,),
        (0,),
    ),
    "in a list": ("a = np.array(x)\nb = [a, a]\nb[0] += x\nb[1][...] = a * x\nreturn a * x", (1.3,), (0,)),
    "names exchanged": (
        "a, b = np.array(x), np.array(2 * x)\nfor k in range(3):\n"
        "    a[...] = a * b\n    a, b = b, a\nreturn a + 2 * b",
        (0.9,),
        (0,),
    ),
    "a view in a loop": (
        "v = np.zeros(3)\nfor k in range(3):\n    a = v[k, ...]\n"
        "    a += x * k\n    a[()] = a * x\nreturn np.sum(v * v)",
        (1.3,),
        (0,),
    ),
    "a callee": ("grow(y)\ngrow(y)\nreturn y * x", (1.3, Y), (0, 1)),
}


def grow(a: Any) -> None:
    a[...] = np.sin(a)
    a += 0.5


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    body, args, wrt = PROGRAMS[name]
    kinds = {float: "x"}
    parameters = [kinds.get(type(v), "z" if np.ndim(v) else "y") for v in args]
    text = f"def f({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    f = build(text, grow=grow)
    check_changing(f, args, wrt)
    check_changing_second(f, args, wrt)


def test_single_precision() -> None:
    body = ["a = np.zeros((), dtype=y.dtype)", "a[()] = y", "a += y * 3", "a *= a", "return a * y"]
    f = build("\n    ".join(["def f(y):", *body]) + "\n")
    found = s2sad.grad(f)(np.array(0.5, np.float32))
    assert found.dtype == np.float32
    assert found == s2sad.grad(f)(np.array(0.5)) == 48 * 0.5**2
