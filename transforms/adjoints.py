"""Adjoints on their way through a reverse sweep: which variables have one now, under which name, and who may
change it in place.

An adjoint has exactly the shape, dtype and structure of its variable. Outside loops each contribution makes a
new name (`dx_1 = dx + ...`), so that passes after this one can put it where it is used. A variable from
outside a loop collects its contributions in an accumulator, one name that the loop adds to; arrays in place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gast

from .emit import Emitter
from .nodes import assign, attribute, call, constant, is_atom, load, names_read, same, store, tuple_of

__all__ = ["Adjoint", "AdjointEmitter", "Env"]


@dataclass(frozen=True)
class Adjoint:
    """The current adjoint of a variable: an atom.

    `owned` says that no other name holds its value, so that it may be changed in place; `uniform` that the
    value is one number, which every element of the adjoint is (what a sum over all elements leaves), and
    which broadcasting may spread; `shadow` that other names have the same object, or parts of it, as
    theirs; `buffer` that it is an array of its own that has been changed in place already;
    `partial` that it is a number on paths on which the variable has no value.
    """

    value: Any
    owned: bool = False
    accumulator: bool = False
    uniform: bool = False
    shadow: bool = False
    buffer: bool = False
    partial: bool = False


Env = dict[str, Adjoint]


class AdjointEmitter(Emitter):
    """Reads and adds to adjoints; `used` collects the accumulators that were added to."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.used: set[str] = set()
        self.adjoint_names: set[str] = set()

    def adjoint_name(self, variable: str) -> str:
        name = self.names.fresh("d" + variable)
        self.adjoint_names.add(name)
        self.note_origin(name, variable)
        return name

    def full(self, variable: str, adjoint: Adjoint, code: list[Any]) -> Any:
        """The adjoint's value with the variable's shape."""
        if not adjoint.uniform:
            return adjoint.value
        name = self.adjoint_name(variable)
        code.append(assign(name, self.numpy_call("full_like", load(variable), adjoint.value)))
        return load(name)

    def accumulate(
        self, env: Env, variable: str, value: Any, code: list[Any], uniform: bool = False, owned: bool = False
    ) -> None:
        """Adds the expression `value` to the adjoint of `variable`; `owned` says that nobody else holds what
        a name stands for, or the parts of a tuple.
        """
        current = env.get(variable)
        if isinstance(value, gast.Constant) and value.value is None:
            return
        if current is None and isinstance(
            value, gast.Tuple
        ):  # kept apart: the parts go on to where the tuple came from
            parts = []
            for part in value.elts:
                if not is_atom(part):
                    name = self.adjoint_name(variable)
                    code.append(assign(name, part))
                    part = load(name)
                parts.append(part)
            env[variable] = Adjoint(tuple_of(parts), owned=owned)
        elif current is None:
            if is_atom(value):
                env[variable] = Adjoint(value, owned=owned and isinstance(value, gast.Name), uniform=uniform)
                return
            name = self.adjoint_name(variable)
            code.append(assign(name, value))
            env[variable] = Adjoint(load(name), owned=is_fresh(value) and not uniform, uniform=uniform)
        elif current.accumulator:
            self.used.add(variable)
            name = current.value.id
            if self.domain.is_array(self.kinds.get(variable, self.domain.UNKNOWN)):
                code.append(gast.AugAssign(target=store(name), op=gast.Add(), value=value))
            elif current.shadow:
                code.append(gast.Expr(value=call(self.helper("add_into"), load(name), value)))
            else:
                code.append(assign(name, self.plus(load(name), value, variable)))
        elif current.buffer and self.domain.is_array(self.kinds.get(variable, self.domain.UNKNOWN)):
            code.append(gast.AugAssign(target=store(current.value.id), op=gast.Add(), value=value))
        else:
            name = self.adjoint_name(variable)
            code.append(assign(name, self.plus(current.value, value, variable)))
            both = current.uniform and uniform
            env[variable] = Adjoint(load(name), owned=not both, uniform=both)

    def accumulate_at(self, env: Env, variable: str, index: Any, value: Any, code: list[Any]) -> None:
        """Adds `value` to the part of the adjoint of `variable` that `index` selects, in place."""
        target = self.own(env, variable, code)
        kind = self.kinds.get(variable, self.domain.UNKNOWN)
        if self.domain.is_array(kind) and self.is_basic(index):
            code.append(
                gast.AugAssign(
                    target=gast.Subscript(value=load(target), slice=index, ctx=gast.Store()),
                    op=gast.Add(),
                    value=value,
                )
            )
        else:
            code.append(
                assign(target, call(self.helper("add_at"), load(target), self.index_value(index), value))
            )

    def accumulate_field(
        self, env: Env, variable: str, name: str, part: Adjoint, held: str, code: list[Any]
    ) -> None:
        """Adds the adjoint `part` of `held`, the value of an attribute, to that of the object `variable`. The
        parts of an object's adjoint are kept apart for as long as there is nothing else in it.
        """
        current = env.get(variable)
        like = self.helper("adjoint_like")
        value = self.full(held, part, code)
        parts: dict[str, Any] = {}
        if current is not None:
            if not is_parts(current.value, like.id):
                self.accumulate(env, variable, call(like, load(variable), **{name: value}), code)
                return
            parts = {k.arg: k.value for k in current.value.keywords}
        if name in parts:
            total = self.adjoint_name(held)
            code.append(assign(total, self.plus(parts[name], value, held)))
            value = load(total)
        owned = part.owned or part.uniform or self.domain.is_scalar(self.kinds.get(held, self.domain.UNKNOWN))
        parts[name] = value
        env[variable] = Adjoint(
            call(like, load(variable), **parts), owned=owned and (current is None or current.owned)
        )

    def is_basic(self, index: Any) -> bool:
        """Whether an index selects each element once, by integers and slices alone."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        return all(
            isinstance(p, gast.Slice)
            or (isinstance(p, gast.UnaryOp) and isinstance(p.op, gast.Invert))
            or self.domain.is_basic_index(self.kind(p))
            for p in parts
        )

    def index_value(self, index: Any) -> Any:
        """An index as an expression outside brackets: slices become calls of `slice`."""
        if isinstance(index, gast.Tuple):
            return gast.Tuple(elts=[self.index_value(e) for e in index.elts], ctx=gast.Load())
        if isinstance(index, gast.Slice):
            return call(
                load(self.bind("slice", slice)),
                *[
                    gast.Constant(value=None, kind=None) if b is None else b
                    for b in (index.lower, index.upper, index.step)
                ],
            )
        return index

    def own(self, env: Env, variable: str, code: list[Any]) -> str:
        """The name of the variable's adjoint, made one that may be changed in place: a zero or a copy if need
        be.
        """
        current = env.get(variable)
        if current is not None and current.owned and isinstance(current.value, gast.Name):
            if current.accumulator:
                self.used.add(variable)
            else:
                env[variable] = replace(current, buffer=True)
            return str(current.value.id)
        name = self.adjoint_name(variable)
        code.append(assign(name, self.zero(variable) if current is None else self.copied(current, variable)))
        env[variable] = Adjoint(load(name), owned=True, buffer=True)
        return name

    def copied(self, adjoint: Adjoint, variable: str) -> Any:
        """A copy of an adjoint that others hold too."""
        value = adjoint.value
        if adjoint.uniform:
            return self.numpy_call("full_like", load(variable), value)
        kind = self.kinds.get(variable, self.domain.UNKNOWN)
        if self.domain.is_scalar(kind):
            return value
        if self.domain.is_array(kind) and isinstance(value, gast.Name) and not adjoint.partial:
            return call(attribute(value, "copy"))
        return call(self.helper("copy_adjoint"), value)

    def joined(self, env: Env, arms: list[tuple[Env, list[Any]]], known: frozenset[str]) -> None:
        """Gives adjoints that differ between the arms of a branch one name at their ends; `env` becomes what
        holds before the branch. `known` are the variables that have a value there on every path.
        """
        variables = dict.fromkeys([v for arm, _ in arms for v in arm])
        env.clear()
        for variable in variables:
            found = [arm.get(variable) for arm, _ in arms]
            first = found[0]
            if first is not None and all(f is not None and is_same_adjoint(f, first) for f in found):
                env[variable] = replace(
                    first,
                    owned=all(f is not None and f.owned for f in found),
                    buffer=all(f is not None and f.buffer for f in found),
                )
                continue
            name = self.adjoint_name(variable)
            partial = any(f is not None and f.partial for f in found)
            for (_, code), adjoint in zip(arms, found, strict=True):
                value = self.zero(variable) if adjoint is None else self.full(variable, adjoint, code)
                if adjoint is None and variable not in known and variable in names_read(value):
                    # The path of this arm may have no such variable; of numbers and arrays any zero will do.
                    kind = self.kinds.get(variable, self.domain.UNKNOWN)
                    value = constant(0.0 if self.domain.is_numeric(kind) else None)
                    partial = True
                code.append(assign(name, value))
            owned = all(f is None or f.owned for f in found)
            env[variable] = Adjoint(load(name), owned=owned and not partial, partial=partial)


def is_parts(value: Any, like: str) -> bool:
    """Whether an adjoint is that of an object, `adjoint_like(x, name=...)`."""
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and value.func.id == like


def is_same_adjoint(a: Adjoint, b: Adjoint) -> bool:
    """Whether two adjoints are the same value in the same form, ownership aside."""
    return same(a.value, b.value) and (a.accumulator, a.uniform) == (b.accumulator, b.uniform)


def is_fresh(value: Any) -> bool:
    """Whether an expression surely makes a new object that nothing else holds."""
    if isinstance(value, gast.Call):
        return isinstance(value.func, gast.Attribute) and value.func.attr in (
            "zeros_like",
            "ones_like",
            "full_like",
            "copy",
            "sum",
            "outer",
        )
    return isinstance(value, (gast.BinOp, gast.UnaryOp))
