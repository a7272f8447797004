"""What takes part: the gradient of a program by each tool, as a call without arguments."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import s2sad

from . import by_hand, primals, without_stores
from .programs import Program

__all__ = ["TOOLS", "Tool", "assert_agreement", "copy_of", "is_installed"]

Args = tuple[Any, ...]
Call = Callable[[], Any]


@dataclass(frozen=True)
class Tool:
    """How a tool is called, here and by pip, and how its gradient is made: any exception is a refusal."""

    name: str
    package: str
    module: str
    make: Callable[[Program, Args], Call]


def hand_written(program: Program, args: Args) -> Call:
    return partial(getattr(by_hand, program.name), *args)


def hand_compiled(program: Program, args: Args) -> Call:
    from . import by_hand_numba

    return partial(getattr(by_hand_numba, program.name), *args)


def generated(program: Program, args: Args) -> Call:
    return partial(s2sad.grad(program.primal, program.argnums), *args)


def compiled(program: Program, args: Args) -> Call:
    return partial(s2sad.grad(program.primal, program.argnums, compile="numba"), *args)


def is_installed(module: str) -> bool:
    """Whether a module can be imported, without importing it."""
    return importlib.util.find_spec(module) is not None


def copy_of(module: ModuleType, clone: str = ".copy()", **others: Any) -> ModuleType:
    """A copy of a module with other libraries in the place of those that it imports.

    `clone` is what users of these write after the name of an array to copy it.
    """
    spec = importlib.util.find_spec(module.__name__)
    assert spec is not None and spec.origin is not None
    text = Path(spec.origin).read_text().replace(".copy()", clone)
    copy = importlib.util.module_from_spec(spec)
    exec(compile(text, spec.origin, "exec"), vars(copy))
    vars(copy).update(others)
    return copy


def written_for(program: Program, numpy: ModuleType, special: Any, clone: str, *modules: ModuleType) -> Any:
    """The program as users of another library write it: a function of `modules`, or a copy of the program."""
    for module in modules:
        if hasattr(module, program.name):
            return getattr(module, program.name)
    found = {"np": numpy, "special": special, **({"math": numpy} if program.name == "chain" else {})}
    return getattr(copy_of(primals, clone, **found), program.name)


def with_autograd(program: Program, args: Args) -> Call:
    import autograd  # type: ignore[import-untyped]
    import autograd.numpy
    import autograd.scipy.special

    others = copy_of(without_stores, np=autograd.numpy)
    written = written_for(program, autograd.numpy, autograd.scipy.special, " * 1.0", others)
    return partial(autograd.grad(written, program.argnums), *args)


def map_leaves(f: Callable[[Any], Any], x: Any) -> Any:
    """The structure with `f` of each array and number in it."""
    if isinstance(x, dict):
        return {key: map_leaves(f, x[key]) for key in sorted(x)}
    if isinstance(x, (tuple, list)):
        return type(x)(map_leaves(f, item) for item in x)
    return f(x)


def active_parts(program: Program, args: Args) -> tuple[int, ...]:
    return program.argnums if isinstance(program.argnums, tuple) else (program.argnums,)


def with_mygrad(program: Program, args: Args) -> Call:
    """Tensors are made anew at each call, and `backward` leaves the gradients in them."""
    import mygrad  # type: ignore[import-not-found]

    written = written_for(program, mygrad, mygrad, " * 1.0", copy_of(without_stores, np=mygrad))
    active = active_parts(program, args)

    def call() -> Any:
        tensors = list(args)
        for k in active:
            tensors[k] = map_leaves(partial(mygrad.tensor, copy=False, dtype=float), args[k])
        written(*tensors).backward()
        found = tuple(map_leaves(lambda x: x.grad, tensors[k]) for k in active)
        return found if len(active) > 1 else found[0]

    return call


def with_pytorch(program: Program, args: Args) -> Call:
    """In double precision, as NumPy computes; on tensors that are there already."""
    import torch  # type: ignore[import-not-found]

    from . import with_torch

    torch.set_default_dtype(torch.float64)
    written = written_for(program, torch, torch.special, ".clone()", with_torch)
    active = active_parts(program, args)
    leaves: list[Any] = []

    def leaf(x: Any) -> Any:
        leaves.append(torch.tensor(x, requires_grad=True))
        return leaves[-1]

    tensors = [
        map_leaves(leaf, x) if k in active else torch.as_tensor(x) if isinstance(x, np.ndarray) else x
        for k, x in enumerate(args)
    ]
    return lambda: torch.autograd.grad(written(*tensors), leaves)


def with_jax_jit(program: Program, args: Args) -> Call:
    """Compiled; in double precision, as NumPy computes; on arrays that are JAX's own already."""
    import jax  # type: ignore[import-not-found]

    jax.config.update("jax_enable_x64", True)
    import jax.scipy.special  # type: ignore[import-not-found]

    from . import with_jax

    written = written_for(program, jax.numpy, jax.scipy.special, ".copy()", with_jax)
    fixed = [k for k, x in enumerate(args) if isinstance(x, int)]  # known while compiling
    gradient = jax.jit(jax.grad(written, program.argnums), static_argnums=fixed)
    arrays = [x if isinstance(x, int) else jax.tree.map(jax.numpy.asarray, x) for x in args]
    return lambda: jax.block_until_ready(gradient(*arrays))


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("by hand", "numpy", "numpy", hand_written),
        Tool("s2sad", "s2sad", "s2sad", generated),
        Tool("s2sad Numba", "numba", "numba", compiled),
        Tool("by hand Numba", "numba", "numba", hand_compiled),
        Tool("autograd", "autograd", "autograd.numpy", with_autograd),
        Tool("MyGrad", "mygrad", "mygrad", with_mygrad),
        Tool("PyTorch", "torch", "torch", with_pytorch),
        Tool("JAX", "jax", "jax", with_jax_jit),
        Tool("primal", "numpy", "numpy", lambda program, args: partial(program.primal, *args)),
    )
}


def leaves_of(x: Any) -> Iterator[Any]:
    """The arrays and numbers of a nested structure, in order; dicts by their keys."""
    if isinstance(x, (tuple, list)):
        for item in x:
            yield from leaves_of(item)
    elif isinstance(x, dict):
        for key in sorted(x):
            yield from leaves_of(x[key])
    else:
        yield np.asarray(x)


def assert_agreement(what: str, wanted: Any, found: Any) -> None:
    """Raises AssertionError where a gradient differs from the one written by hand."""
    leaves = list(leaves_of(wanted))
    scale = max(np.max(np.abs(x)) for x in leaves)
    for a, b in zip(leaves_of(found), leaves, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * scale, err_msg=what)
