"""NumPy's functions that write into an array, where they are easily taken wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.transforms.errors import S2sadError, UnsupportedSyntaxError
from tests.support.build import build
from tests.support.compare_mutation import check_changing, check_changing_second

X = np.array([[0.3, 1.7, -0.4], [0.9, -1.2, 0.6]])
Y = np.array([[0.0, 0.8, 1.3], [0.5, 0.0, -0.7]])

PROGRAMS: dict[str, tuple[str, tuple[Any, ...], tuple[int, ...]]] = {
    "a division that is masked where it is undefined": (
        "c = np.zeros_like(x)\nnp.divide(x, y, out=c, where=y != 0)\nreturn np.sum(c * c)",
        (X, Y + 0.0),
        (0,),
    ),
    "two results": (
        "c, d = np.zeros((2, 3)), np.zeros((2, 3))\nnp.modf(3 * x, out=(c, d))\nc *= y\n"
        "return np.sum(c * x) + np.sum(d * y)",
        (X, Y),
        (0, 1),
    ),
    "two results, by position": (
        "c, d = x * y, x + y\nnp.divmod(3.1 * x, 0.7, c, d)\nd *= y\nreturn np.sum(c * x) + np.sum(d * d)",
        (X, Y),
        (0, 1),
    ),
    "a result of integers": (
        "c, d = np.zeros((2, 3)), np.zeros((2, 3), np.int32)\nnp.frexp(3 * x, out=(c, d))\n"
        "return np.sum(c * y * d)",
        (X, Y),
        (0, 1),
    ),
    "divmod of Python": (
        "c, d = divmod(3.1 * x, 0.7)\nd *= y\nreturn np.sum(c * x) + np.sum(d * d)",
        (X, Y),
        (0, 1),
    ),
    "a view of all of an array": (
        "c = x * y\nd = c.view()\nd[0] = y[1]\nd *= x\nreturn np.sum(c * d)",
        (X, Y),
        (0, 1),
    ),
    "axes left out and put in": (
        "c = np.expand_dims(x * y, 0)\nd = np.squeeze(c)\ne = np.expand_dims(d, 2)\ne[0] = y[0, 1]\n"
        "d[1] *= x[1]\nreturn np.sum(c * y)",
        (X, Y),
        (0, 1),
    ),
    "a mask and operands that are broadcast": (
        "c = np.ones((2, 3))\n"
        "np.multiply(x[0], y[:, :1], out=c, where=x[:1] > 0)\n"
        "return np.sum(c * c)",
        (X, Y),
        (0, 1),
    ),
    "a logarithm of negative numbers that are masked": (
        "c = np.full((2, 3), 0.5)\nnp.log(x, out=c, where=x > 0)\nreturn np.sum(c * c * c)",
        (X,),
        (0,),
    ),
    "one array as both operands, the result and the mask": (
        "a = x.copy()\nnp.multiply(a, a, out=a, where=a > 0)\nnp.add(a, a, out=a)\nreturn np.sum(a ** 3)",
        (X,),
        (0,),
    ),
    "operands that overlap the result": (
        "a = x.copy()\n"
        "np.subtract(a[:, 1:], a[:, :-1], out=a[:, 1:])\n"
        "np.multiply(a[:, :-1], a[:, 1:], out=a[:, :-1])\n"
        "return np.sum(a ** 3)",
        (X,),
        (0,),
    ),
    "the result of the call is the array": (
        "a = x.copy()\nb = np.add(a, y, out=a)\nb *= y\nc = np.exp(b, b)\nc[0] = a[1]\nreturn np.sum(a * b)",
        (X, Y),
        (0, 1),
    ),
    "complex numbers": (
        "c = np.zeros((2, 3), dtype=complex)\n"
        "np.multiply(x, 1j * y, out=c)\nc.put([0, 4], [x[0, 1], 2j * y[1, 1]])\n"
        "return np.sum(np.abs(c + 1.0) ** 2)",
        (X, Y),
        (0, 1),
    ),
    "an output given by position, others after it": (
        "c = np.empty(3)\nnp.sum(x, 0, None, c, False)\nd = np.empty((2, 3))\nnp.clip(x, -0.5, 1.0, d)\n"
        "return np.sum(c * c) + np.sum(d * d)",
        (X,),
        (0,),
    ),
    "outputs of filters, by name and position": (
        "from scipy import ndimage\nc = np.zeros((2, 3))\nd = [np.zeros((2, 3))]\n"
        "ndimage.gaussian_filter(x, 0.8, output=c)\nndimage.gaussian_filter1d(c, 0.7, 0, 0, c)\n"
        "ndimage.uniform_filter(y, 2, d[0])\nreturn np.sum(c * d[0] * x)",
        (X, Y),
        (0, 1),
    ),
    "stores with repeated places": (
        "a = x.copy()\nnp.put(a, [0, 4, 0, -1], y[0] * y[1, 2])\na.flat[[1, 1]] = y[:, 2]\n"
        "np.put_along_axis(a, np.array([[2, 2], [0, 1]]), y[:, 1:], axis=1)\nreturn np.sum(a ** 3)",
        (X, Y),
        (0, 1),
    ),
    "values that are repeated, and cut": (
        "a = x.copy()\nnp.put(a, [5, 1, 2], y[0, 1:])\nnp.place(a, a < 0, y[1])\n"
        "np.putmask(a, a > 1, y[:1, 1:])\nnp.fill_diagonal(a, y[1])\nreturn np.sum(a ** 3)",
        (X, Y),
        (0, 1),
    ),
    "places out of range, wrapped and clipped": (
        "a = x.copy()\nnp.put(a, [7, -9], y[0, 1:], mode='wrap')\na.put([99, -99], y[1, ::2], 'clip')\n"
        "return np.sum(a ** 3)",
        (X, Y),
        (0, 1),
    ),
    "a view that is not contiguous": (
        "a = x.copy()\nr = a.T[::-1]\nr.flat[1:4] = y[0]\n"
        "np.put(r, [0, 1], y[1, 2])\nr.sort(axis=0)\nreturn np.sum(a ** 3 * y)",
        (X, Y),
        (0, 1),
    ),
    "a tall matrix whose diagonal wraps": (
        "a = np.zeros((7, 3))\na[:2] = x\nnp.fill_diagonal(a, y[0], wrap=True)\nreturn np.sum(a ** 3)",
        (X, Y),
        (0, 1),
    ),
    "sums at indices, repeated and of a view": (
        "a = x.copy()\nr = a[:, 1:]\nnp.add.at(r, ([0, 0, 1], [1, 1, 0]), y[0])\n"
        "np.subtract.at(a, [0, 0], y * r[0, 0])\nnp.add.at(a, (slice(None), 0), 2.0)\nreturn np.sum(a ** 3)",
        (X, Y),
        (0, 1),
    ),
    "operations at indices, repeated and of a view": (
        "a = x.copy()\nr = a[:, 1:]\nnp.multiply.at(r, ([0, 0, 1, 0], [1, 1, 0, 1]), y[0, 0])\n"
        "np.divide.at(a, [1, 0, 1], 2.0 + y[:1] ** 2)\nnp.negative.at(a[1], [2, 2, 0])\n"
        "np.maximum.at(a, (slice(None), 0), y[:, 1])\nnp.multiply.at(a, y > 0.1, y[1, 2])\n"
        "np.multiply.at(a, [], y[0, 0])\nnp.multiply.at(a, [1, 1], a[[0, 1]])\nreturn np.sum(a ** 3)",
        (X, Y),
        (0, 1),
    ),
    "the real and the imaginary part": (
        "z = x + 1j * y\nz.imag[::2] -= y[:1, 1:2] * x[::2]\nz.imag[0, 0] = x[1, 1] ** 2\nw = z.imag\n"
        "w[1] *= y[0]\nz.real = np.sin(x) * z.imag\nz.real *= 2.0\nz.imag = 0.5\nz.real[1, 1:] = y[0, 1:]\n"
        "return np.sum(np.abs(z) ** 2)",
        (X, Y),
        (0, 1),
    ),
    "all of a flat view": (
        "a = x.copy()\na.flat = y[0] * y[1, 2]\na[0] *= x[1]\nb = a.T\nb[:2].flat = y[1, 0]\n"
        "a.real = a * x\nreturn np.sum(a ** 3)",
        (X, Y),
        (0, 1),
    ),
    "what is written to, by name": (
        "a = x.copy()\nnp.copyto(src=y[0], dst=a[1])\nnp.put(v=y[1, 2], ind=[0, 1], a=a)\n"
        "np.place(arr=a, mask=y > 0.3, vals=x[0])\nnp.fill_diagonal(val=y[0], a=a)\nreturn np.sum(a ** 3)",
        (X, Y),
        (0, 1),
    ),
    "nothing is written": (
        "a = x.copy()\na[:0].sort()\nnp.put(a, [], y[0])\nnp.add.at(a, [], y[:0])\na[:, :0].fill(y[0, 1])\n"
        "np.copyto(a, y, where=False)\nreturn np.sum(a * y)",
        (X, Y),
        (0, 1),
    ),
    "sorted with ties and along each axis": (
        "a = x.copy()\na.sort(axis=0)\nnp.ndarray.sort(a, -1)\na.partition(1, axis=1)\n"
        "return np.sum(a ** 3 * y)",
        (X, Y),
        (0, 1),
    ),
    "in loops and on one path": (
        "a = x.copy()\nb = np.zeros(3)\n"
        "for i in range(2):\n"
        "    np.multiply(a[i], y[1 - i], out=b)\n"
        "    if b[2] > 0:\n"
        "        np.add(b, a[0], out=a[1])\n"
        "    a.flat[i] = b[2] * a[0, 0]\n"
        "for i in range(0):\n"
        "    a.fill(y[0, 0])\n"
        "return np.sum(a ** 3) + np.sum(b)",
        (X, Y),
        (0, 1),
    ),
    "methods for operators": (
        "a = x.copy()\nb = a.__imul__(y)\nb.__isub__(x)\nimport operator\nc = operator.iadd(a, y)\n"
        "operator.setitem(c, 0, x[1])\nreturn np.sum(a * b * c)",
        (X, Y),
        (0, 1),
    ),
    "overwritten altogether, in turn and in loops": (
        "a = x * y\nnp.exp(a, out=a)\nnp.multiply(a, y, out=a)\n"
        "for i in range(2):\n"
        "    b = a[i] + y[0]\n"
        "    np.sin(b, out=b)\n"
        "    a = a * b\n"
        "    if b[1] > 0:\n"
        "        np.cos(b, out=b)\n"
        "    a = a + b\n"
        "return np.sum(a * b)",
        (X, Y),
        (0, 1),
    ),
    "overwritten altogether, and held by others": (
        "a = x * y\nb = a[0]\nc = [a]\nnp.exp(a, out=a)\nnp.sin(a, out=a)\nd = a.T\nnp.cos(a, out=a)\n"
        "a[1] = 2.0 * b\nreturn np.sum(c[0] * a) + np.sum(d * x.T)",
        (X, Y),
        (0, 1),
    ),
    "overwritten altogether on one path": (
        "a = x * y\nb = x + y\nif a[0, 1] > 0:\n    np.exp(a, out=a)\nelse:\n    np.exp(b, out=b)\n"
        "c = a * y\nnp.sin(c, out=c)\nd = c\nc[0] = y[1]\nreturn np.sum(a * b * c * d)",
        (X, Y),
        (0, 1),
    ),
    "overwritten altogether while a view is read before": (
        "a = x * y\nb = a[:, 1:]\nc = np.sum(b)\nnp.exp(a, out=a)\ne = a[1:]\na[...] = a * c\n"
        "return np.sum(a ** 2) + np.sum(e)",
        (X, Y),
        (0, 1),
    ),
    "overwritten altogether from outside of a loop": (
        "a = x * y\nfor i in range(2):\n    np.exp(a, out=a)\n    a[i] = y[0]\n    np.sin(a, out=a)\n"
        "b = x.copy()\nfor row in b:\n    np.multiply(b, y, out=b)\n    a = a * row\nreturn np.sum(a * b)",
        (X, Y),
        (0, 1),
    ),
    "lists of numbers and of rows": (
        "a = x.copy()\na[0] = [y[0, 1], 2.0, y[1, 2] * y[1, 0]]\na[:, 1:] = [y[0, :2], y[1, 1:]]\n"
        "return np.sum(a ** 3)",
        (X, Y),
        (0, 1),
    ),
}


REFUSED_TWICE = {"in loops and on one path"}  # what the kept values of a loop are is known only at run time


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    body, args, wrt = PROGRAMS[name]
    parameters = ("x", "y")[: len(args)]
    f = build(f"def f({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    check_changing(f, args, wrt)
    if name in REFUSED_TWICE:
        with pytest.raises(UnsupportedSyntaxError):
            check_changing_second(f, args, wrt)
    else:
        check_changing_second(f, args, wrt)


def test_arrays_that_nobody_else_holds_are_not_written_to() -> None:
    def normalised(x: Any) -> Any:
        e = x - x[0]
        np.exp(e, out=e)
        e /= np.sum(e, axis=0)
        return e

    def held(x: Any) -> Any:
        e = x - x[0]
        first = e[0]
        np.exp(e, out=e)
        return e * first

    assert "[...]" not in s2sad.vjp(normalised).source_for(X)
    assert "[...]" in s2sad.vjp(held).source_for(X)


REFUSED = {
    "np.power.at(a, [0, 0], y)": "changes an argument",
    "a.resize(6)": "resize",
    "np.add(x, y, out=a, casting='unsafe')": "casting",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line: str) -> None:
    f = build(f"def f(x, y):\n    a = x.copy()\n    {line}\n    return np.sum(a * a)\n")
    with pytest.raises(S2sadError, match=REFUSED[line]):
        s2sad.grad(f)(X, Y)


def test_a_sum_in_another_precision_is_refused() -> None:
    f = build("def f(x, c):\n    c = c.copy()\n    np.sum(x, axis=0, out=c)\n    return np.sum(c * c)\n")
    with pytest.raises(UnsupportedSyntaxError, match="dtype"):
        s2sad.grad(f)(X, np.zeros(3, dtype=np.float32))


def test_a_cast_to_single_precision() -> None:
    f = build("def f(x, y, c):\n    c = c.copy()\n    np.multiply(x, y, out=c)\n    return np.sum(c * c)\n")
    single = np.zeros((2, 3), dtype=np.float32)
    value, (dx, dc) = s2sad.value_and_grad(f, argnums=(0, 2))(X, Y, single)
    product = np.float32(X * Y)
    assert value == np.sum(product * product)
    np.testing.assert_allclose(dx, 2 * product * Y, rtol=1e-6)
    assert dx.dtype == np.float64
    assert dc.dtype == np.float32
    assert not dc.any()


def test_values_of_another_kind_do_not_fit() -> None:
    f = build("def f(x, c):\n    c = c.copy()\n    np.multiply(x, 1j, out=c)\n    return np.sum(c * c)\n")
    with pytest.raises(TypeError):
        s2sad.grad(f)(X, X)


def test_no_values() -> None:
    f = build("def f(x):\n    a = x.copy()\n    np.place(a, a > 0, x[:0])\n    return np.sum(a * a)\n")
    with pytest.raises(ValueError, match="no values"):
        s2sad.grad(f)(X)


def test_source_of_an_output() -> None:
    f = build(
        "def f(x, y):\n    c = np.empty(3)\n    np.multiply(x, y, out=c)\n    np.add(c, x, out=c)\n"
        "    return np.sum(c * c)\n"
    )
    x = np.ones(3)
    source = s2sad.grad(f).source_for(x, x)
    assert "    c[...] = np.multiply(x, y)\n    c[...] += x\n" in source
