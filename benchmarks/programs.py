"""What is measured: each program, its arguments, and its gradient by s2sad, by hand and by other tools."""
from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import by_hand
import numpy as np
import primals

import s2sad

__all__ = ["BENCHMARKS", "THIRTY_LINES", "TOOLS", "Benchmark", "assert_agreement", "copy_of_primals"]

Function = Callable[..., Any]
TOOLS = ("by hand", "s2sad", "autograd", "jax")  # the last two where they are installed


@dataclass(frozen=True)
class Benchmark:
    """A program: its name in `primals`, arguments, and the positions of those that the gradient is by."""

    title: str
    name: str
    argnums: int | tuple[int, ...]
    args: tuple[Any, ...]

    @property
    def primal(self) -> Function:
        found: Function = getattr(primals, self.name)
        return found

    def calls(self, tools: Iterable[str] = TOOLS) -> dict[str, Callable[[], Any]]:
        """What returns the value and the gradient, by the name of the tool, where there is such."""
        made = {tool: self._call(tool) for tool in tools}
        return {tool: call for tool, call in made.items() if call is not None}

    def _call(self, tool: str) -> Callable[[], Any] | None:
        match tool:
            case "by hand" if hasattr(by_hand, self.name):
                return partial(getattr(by_hand, self.name), *self.args)
            case "s2sad":
                return partial(s2sad.value_and_grad(self.primal, self.argnums), *self.args)
            case "autograd" if is_installed("autograd"):
                return self._autograd()
            case "jax" if is_installed("jax"):
                return self._jax()
        return None

    def _autograd(self) -> Callable[[], Any]:
        import autograd  # type: ignore[import-untyped]
        import autograd.numpy  # type: ignore[import-untyped]
        primal = getattr(copy_of_primals(autograd.numpy), self.name)
        return partial(autograd.value_and_grad(primal, argnum=self.argnums), *self.args)

    def _jax(self) -> Callable[[], Any]:
        """Compiled; in double precision, as NumPy computes; on arrays that are JAX's own already."""
        import jax
        jax.config.update("jax_enable_x64", True)
        import with_jax
        written = with_jax if hasattr(with_jax, self.name) else copy_of_primals(jax.numpy)
        fixed = [i for i, x in enumerate(self.args) if isinstance(x, int)]  # known while compiling
        gradient = jax.value_and_grad(getattr(written, self.name), self.argnums)
        compiled = jax.jit(gradient, static_argnums=fixed)
        args = [x if isinstance(x, int) else jax.tree.map(jax.numpy.asarray, x) for x in self.args]
        return lambda: jax.block_until_ready(compiled(*args))


def is_installed(module: str) -> bool:
    """Whether a module can be imported, without importing it."""
    return importlib.util.find_spec(module) is not None


def copy_of_primals(numpy: ModuleType) -> ModuleType:
    """A copy of the programs that computes with another library in NumPy's place."""
    spec = importlib.util.find_spec("primals")
    assert spec is not None and spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    copy.np = numpy  # type: ignore[attr-defined]
    return copy


def flat(x: Any) -> list[Any]:
    """The arrays and numbers of a nested structure, in order."""
    return [leaf for item in x for leaf in flat(item)] if isinstance(x, (tuple, list)) else [np.asarray(x)]


def assert_agreement(benchmark: Benchmark, calls: Mapping[str, Callable[[], Any]]) -> None:
    """Raises AssertionError where values differ from the program's own, or gradients from s2sad's."""
    value, gradient = calls["s2sad"]()
    np.testing.assert_allclose(value, benchmark.primal(*benchmark.args), rtol=1e-12, err_msg=benchmark.title)
    for tool, call in calls.items():
        found = flat(call())
        for a, b in zip(found, flat((value, gradient)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=f"{benchmark.title}: {tool}")


_rng = np.random.default_rng(0)


def _weights(*shape: int) -> Any:
    return _rng.normal(0, shape[0] ** -0.5, shape)


def _layers(*pairs: tuple[int, int]) -> tuple[Any, ...]:
    """Weights and biases, in turn."""
    return tuple(array for rows, columns in pairs for array in (_weights(rows, columns), _weights(columns)))


BENCHMARKS = (
    Benchmark("RK4, 1,000 steps", "runge_kutta", (0, 1, 2, 3), (1.0, 0.4, 0.3, 0.9, 1000)),
    Benchmark("RNN, 50 steps", "recurrent", 0, (
        (_weights(8, 32), _weights(32, 32), _weights(32), _weights(32, 4), _weights(4)),
        _rng.normal(size=(50, 32, 8)), _rng.normal(size=(50, 32, 4)))),
    Benchmark("MLP, 3 layers", "perceptron", 0, (
        _layers((64, 128), (128, 128), (128, 10)), _rng.normal(size=(64, 64)), _rng.normal(size=(64, 10)))),
    Benchmark("logistic regression", "logistic", (0, 1), (
        _weights(20), 0.1, _rng.normal(size=(500, 20)), (_rng.uniform(size=500) > 0.5).astype(float), 1e-3)),
)
THIRTY_LINES = Benchmark("function of 30 lines", "gated", 0, (
    _layers((12, 8), (12, 8), (12, 8), (8, 2)),
    _rng.normal(size=(6, 5, 4)), _rng.normal(size=(6, 5, 2)), 2, 1e-3))
