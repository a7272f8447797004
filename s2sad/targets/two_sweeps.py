"""The two sweeps of a `vjp` as machine code: a forward function that returns what the reverse one reads.

Contract: a function that ends with `def f_bprop(dout): ...; return out, f_bprop` becomes one that ends with
`return out, keep_saved((...))`, of the variables that `f_bprop` reads, and `def f_bprop(saved_values, dout)`;
what else it returns behind these stays.
These values stay in machine code between the sweeps: a trace of a million iterations is not converted. The
reverse function changes none of them, so it can be called again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from . import Settings
from .array_types import KINDS, OTHER, Array, Items, Number, Parts, Type
from .numba_target import Version, helpers, key_of, tree_of
from .one_path import repeated
from .structures import LEAF, Structure, converted, packed, sequence

__all__ = ["TwoSweeps"]


class TwoSweeps(Version):
    """The code of a `vjp` for arguments of certain structures."""

    def __init__(
        self, function: FunctionType, structures: tuple[Structure, ...], settings: Settings
    ) -> None:
        forward, reverse, saved = split(function)
        super().__init__(function, structures, settings, forward, keep_saved)
        self.name = reverse.name
        self.out, kept, *aux = self.result.parts
        self.returned = sequence(tuple, (self.out, LEAF, *aux))
        parts = kept.parts or (LEAF,) * len(saved)
        given = (*parts, self.out)
        finish = partial(take_saved, count=len(saved))
        self.reverse = Version(function, given, settings, reverse, finish)

    def of(self, function: FunctionType) -> Version:
        new = super().of(function)
        assert isinstance(new, TwoSweeps)
        new.reverse = self.reverse.of(function)
        return new

    def compiled(self, args: tuple[Any, ...], is_general: bool = False) -> Callable[..., Any]:
        forward, exact = self.dispatcher_for(args, is_general)
        out, saved, *_ = forward.dispatcher.overloads[exact].signature.return_type.types
        made = _Reverse(self, saved)
        made.code_for(cotangent_of(out), None)
        call = converted(forward.dispatcher, self.structures, self.outside, self.returned)

        def run(*args: Any) -> Any:
            out, saved, *aux = call(*args)
            return out, CompiledBprop(made, saved), *aux

        return repeated(run, partial(self.compiled, is_general=True)) if forward.has_one_path else run


class _Reverse:
    """The reverse function for saved values of certain types."""

    def __init__(self, sweeps: TwoSweeps, saved: Any) -> None:
        self.sweeps, self.saved, self.name = sweeps, saved, sweeps.name
        self.types = tuple(map(type_of_numba, saved.field_dict["values"].types))
        self.met: dict[Any, Callable[..., Any]] = {}  # what takes cotangents of types met before

    def code_for(self, dout: Any, key: Any, is_general: bool = False) -> Callable[..., Any]:
        """What runs for cotangents of this type, Numba's own; it is compiled."""
        reverse = self.sweeps.reverse
        outside = tuple(helpers().numba.typeof(read()) for read in reverse.outside)
        types = *self.types, *map(type_of_numba, (dout, *outside))
        made = reverse.dispatcher(types, (self.saved, dout, *outside), is_general)
        run = converted(made.dispatcher, (LEAF, self.sweeps.out), reverse.outside, reverse.result)
        if made.has_one_path:
            run = repeated(run, lambda args: self.code_for(dout, key, is_general=True))
        self.met[key] = run
        return run


class CompiledBprop:
    """The reverse function with the values that one run of the forward function saved."""

    def __init__(self, reverse: _Reverse, saved: Any) -> None:
        self._reverse, self._saved = reverse, saved
        self.__name__ = self.__qualname__ = reverse.name
        self.__module__ = reverse.sweeps.function.__module__

    def __call__(self, dout: Any) -> Any:
        key = key_of(dout)
        run = self._reverse.met.get(key)
        if run is None:
            given = packed(dout, self._reverse.sweeps.out)
            run = self._reverse.code_for(helpers().numba.typeof(given), key)
        return run(self._saved, dout)


# ---------------------------------------------------------------- the two functions


def split(function: FunctionType) -> tuple[ast.FunctionDef, ast.FunctionDef, tuple[str, ...]]:
    """The trees of the two functions, and the names of what is saved, the first parameters of the second."""
    tree = tree_of(function)
    *body, inner, last = tree.body
    assert isinstance(inner, ast.FunctionDef)
    assert isinstance(last, ast.Return)
    assert isinstance(last.value, ast.Tuple)
    codes = (c for c in function.__code__.co_consts if isinstance(c, CodeType))
    free = next(code for code in codes if code.co_name == inner.name).co_freevars
    saved = tuple(name for name in free if name not in function.__code__.co_freevars)
    kept = ast.Tuple([ast.Name(name, ast.Load()) for name in saved], ast.Load())
    out, _, *aux = last.value.elts
    result = ast.Tuple([out, kept, *aux], ast.Load())
    tree.body = [*body, located(ast.Return(result), last)]
    inner.args.args[:0] = [located(ast.arg(name), inner) for name in saved]
    return tree, inner, saved


def located(node: Any, place: ast.AST) -> Any:
    """The node, all of it at one place."""
    for part in ast.walk(node):
        ast.copy_location(part, place)
    return node


def keep_saved(tree: ast.FunctionDef) -> dict[str, Any]:
    """Changes the forward function in place, to return its values as one object; returns what it names."""
    last = tree.body[-1]
    assert isinstance(last, ast.Return)
    assert isinstance(last.value, ast.Tuple)
    out, kept, *aux = last.value.elts
    call = ast.Call(ast.Name("keep_saved", ast.Load()), [kept], [])
    last.value.elts = [out, located(call, last), *aux]
    return {"keep_saved": helpers().Saved}


def take_saved(tree: ast.FunctionDef, count: int) -> dict[str, Any]:
    """Changes the reverse function in place, to take them as one object; returns what it names."""
    values, tree.args.args[:count] = tree.args.args[:count], [ast.arg("saved_values")]
    names = ast.Tuple([ast.Name(a.arg, ast.Store()) for a in values], ast.Store())
    held = ast.Attribute(ast.Name("saved_values", ast.Load()), "values", ast.Load())
    if count:
        tree.body.insert(0, located(ast.Assign([names], held), tree.body[0]))
    return {}


# ---------------------------------------------------------------- types


def type_of_numba(found: Any) -> Type:
    """The type of the values of a type of Numba's."""
    types = helpers().numba.types
    if isinstance(found, (types.Number, types.Boolean, types.Array)):
        dtype = helpers().numba.np.numpy_support.as_dtype(getattr(found, "dtype", found))
        kind = KINDS.get(dtype)
        if kind is not None:
            return Array(found.ndim, kind) if isinstance(found, types.Array) else Number(kind)
    if isinstance(found, types.BaseTuple):
        return Parts(tuple(map(type_of_numba, found)))
    return Items(type_of_numba(found.dtype)) if isinstance(found, types.List) else OTHER


def cotangent_of(out: Any) -> Any:
    """The type of the cotangents of results of a type of Numba's; of arrays, that of those in C order."""
    types = helpers().numba.types
    if isinstance(out, types.BaseTuple):
        return types.Tuple([cotangent_of(part) for part in out])
    number = getattr(out, "dtype", out)
    if isinstance(number, (types.Float, types.Complex)):
        return out.copy(layout="C", readonly=False) if isinstance(out, types.Array) else out
    return types.float64 if isinstance(out, types.Integer) else types.none
