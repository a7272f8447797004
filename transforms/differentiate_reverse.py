"""Reverse mode: a forward sweep that keeps what the reverse sweep needs, and the reverse sweep.

Form in: the single-assignment form. Form out: generated code, in one of two shapes that the same walk yields:
flat (`grad`: the reverse sweep follows the forward sweep) or split (`vjp`: `fprop` returns the result and the
closure `bprop`, which can be called many times).

Blocks are walked from their last statement to their first. Each statement gives what stands in its place in
the forward sweep, and what the reverse sweep does about it; that is nothing unless an adjoint has arrived at
what the statement assigns.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import gast

from .adjoints import Adjoint, AdjointEmitter, Env
from .bind_captured import bind_captured, is_function_tangent
from .changes import Changes
from .emit import Generation
from .liveness import assigned_before
from .masks import mask_of_item, note_conditions
from .nodes import (
    Comment,
    assign,
    assigned_names,
    attribute,
    blocks_of,
    call,
    constant,
    load,
    located,
    names_read,
    substitute,
    tuple_of,
)
from .operations import Alias, Apply, Build, Call, Field, Inert, Item, Opaque, Pop, is_pop
from .program import MISSING, Program
from .reverse_loops import reverse_for, reverse_while
from .reverse_regions import reverse_try, reverse_with
from .reverse_rules import reverse_apply, reverse_call
from .reverse_stores import is_addition, reverse_addition, reverse_append, reverse_pop, reverse_store
from .shadows import Shadows
from .shape_sources import ShapeSources

__all__ = ["Reverse", "differentiate_reverse"]

Sweep = tuple[list[Any], list[Any]]


def differentiate_reverse(
    program: Program,
    kinds: Any,
    active: frozenset[str],
    wrt: list[str],
    primitives: Any,
    domain: Any,
    link: Any,
    form: str,
    bare: bool,
    aux: Any,
    changes: Changes,
    shadowed: frozenset[str],
    careful: bool = False,
) -> tuple[Program, Generation]:
    """The derivative program of `form` "grad", "value_and_grad" or "vjp", and what simplification wants to
    know of it.

    `bare` returns the one gradient itself rather than a tuple of gradients; `aux` is an atom to return beside
    the value; `changes` are those in place, and `shadowed` the names that have shadows. With `careful` the
    exceptions of the forward sweep matter.
    """
    reverse = Reverse(program, kinds, active, primitives, domain, link)
    reverse.split = form == "vjp"
    reverse.changes, reverse.careful = changes, careful
    tree = program.tree
    *statements, last = tree.body
    if form == "value_and_grad":
        reverse.kept = set(names_read([last, aux] if aux is not None else last))
    out = last.value
    seed: list[Any] = []
    reverse.shadows = Shadows(reverse, shadowed, changes.aliases if shadowed else None)
    env: Env = {
        n: Adjoint(load(d), owned=True, accumulator=True, shadow=True)
        for n, d in reverse.shadows.names.items()
    }
    start = [*reverse.shadows.parameters([p.id for p in tree.args.args]), *reverse.shadows.made(statements)]
    if isinstance(out, gast.Name) and out.id in active:
        cotangent = _seed(reverse, out, form, seed)
        if out.id in shadowed:
            reverse.accumulate(env, out.id, cotangent, start)
        else:
            env[out.id] = Adjoint(cotangent)
    elif form != "vjp" and not domain.is_real_scalar(reverse.kind(out)):
        seed.append(gast.Expr(value=call(reverse.helper("unit_cotangent"), out)))
    forward, backward = reverse.block(statements, env)
    backward[:0] = start
    if form == "vjp":
        keep_globals(reverse, forward, backward)
    gradients = [reverse.result(env, name, backward) for name in wrt]
    result = gradients[0] if bare else tuple_of(gradients)
    name = {
        "grad": f"{tree.name}_grad",
        "value_and_grad": f"{tree.name}_value_and_grad",
        "vjp": f"{tree.name}_fprop",
    }[form]
    name = reverse.names.fresh(name)
    bprop = None
    if form == "vjp":
        bprop = reverse.names.fresh(f"{tree.name}_bprop")
        cotangent = (
            seed[0] if seed else reverse.names.fresh("d" + (out.id if isinstance(out, gast.Name) else "out"))
        )
        inner = function(bprop, [cotangent], [*backward, gast.Return(value=result)])
        body = [*forward, inner, gast.Return(value=tuple_of([out, load(bprop)]))]
    else:
        value = out if aux is None else tuple_of([out, aux])
        returned = (
            tuple_of([value, result])
            if form == "value_and_grad"
            else result
            if aux is None
            else tuple_of([result, aux])
        )
        body = [*forward, *seed, *backward, gast.Return(value=returned)]
    new = gast.FunctionDef(
        name=name,
        args=tree.args,
        body=body,
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )
    return (
        program.with_tree(
            new,
            names=reverse.names,
            bindings=reverse.bindings,
            origins=reverse.origins,
            locals=program.locals | frozenset(assigned_names(body)),
        ),
        Generation(frozenset(reverse.traces), frozenset(reverse.adjoint_names), bprop),
    )


def keep_globals(reverse: Reverse, forward: list[Any], backward: list[Any]) -> None:
    """Makes bprop read the values that data outside the function has when fprop runs: it may be bound anew
    before bprop is called.
    """
    outside = {
        n: reverse.program.resolve(load(n))
        for n in names_read(backward)
        if n not in reverse.program.locals and n not in reverse.bindings
    }
    kept = {
        n: reverse.names.temporary(n)
        for n, value in outside.items()
        if value is not MISSING and is_data(value)
    }
    forward.extend(assign(copy, load(n)) for n, copy in kept.items())
    backward[:] = [substitute(b, {n: load(copy) for n, copy in kept.items()}) for b in backward]


def is_data(value: Any) -> bool:
    """Whether an object is no module, class or function."""
    return not isinstance(value, (ModuleType, type)) and not callable(value)


def function(name: str, parameters: list[str], body: list[Any]) -> Any:
    """A nested function definition."""
    params = [gast.Name(id=p, ctx=gast.Param(), annotation=None, type_comment=None) for p in parameters]
    args = gast.arguments(
        args=params, posonlyargs=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    return gast.FunctionDef(
        name=name, args=args, body=body, decorator_list=[], returns=None, type_comment=None, type_params=[]
    )


def _seed(reverse: Reverse, out: Any, form: str, seed: list[Any]) -> Any:
    """The adjoint of the result that the reverse sweep starts from."""
    if form == "vjp":
        seed.append(reverse.adjoint_name(out.id))
        return load(seed[0])
    if reverse.domain.is_real_scalar(reverse.kind(out)):
        return constant(1.0)
    name = reverse.adjoint_name(out.id)
    seed.append(assign(name, call(reverse.helper("unit_cotangent"), load(out.id))))
    return load(name)


class Reverse(AdjointEmitter):
    """One differentiation in reverse mode."""

    split = False
    careful = False
    changes: Changes
    shadows: Shadows

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.assigned_before = assigned_before(self.program.tree)
        self.kept: set[str] = set()  # what is returned after the reverse sweep
        self.traces: list[str] = []
        self.origin: Any = None
        self.function_adjoints: set[str] = set()  # those that calls of functions gave
        self.open: list[list[Any]] = []  # the reverse blocks that are being written, outermost first
        self.shapes = ShapeSources(self)

    def block(self, statements: list[Any], env: Env) -> Sweep:
        """Both sweeps of a block; `env` holds the adjoints after it and is changed to those before it."""
        forward: list[list[Any]] = []
        backward: list[Any] = []
        self.open.append(backward)
        self.conditions.append({})
        self.origin = None
        for statement in reversed(statements):
            ahead, back = self.statement(statement, env)
            ahead = [*self.index_guard(statement), *ahead]
            if not blocks_of(statement):
                back = self.shapes.redirect(statement, back)
                ahead, back = self.snapshots(statement, ahead, back)
            forward.append(ahead)
            if back:
                self.comment(statement, backward)
                backward.extend(back)
                note_conditions(self, back)
        self.origin = None
        self.open.pop()
        self.conditions.pop()
        return [s for part in reversed(forward) for s in part], backward

    def snapshots(self, statement: Any, ahead: list[Any], back: list[Any]) -> Sweep:
        """Keeps a copy, made where the statement is, of each value that its reverse reads and that may be
        overwritten before then.
        """
        overwritten = self.changes.overwritten(statement, back)
        if not overwritten:
            return ahead, back
        kept = {name: self.names.temporary(name) for name in overwritten}
        copies = {name: assign(copy, self.copy_of(name), statement) for name, copy in kept.items()}
        back = [substitute(b, {name: load(copy) for name, copy in kept.items()}) for b in back]
        # Of what the statement makes or changes, the reverse reads what it leaves.
        late = set(kept) if self.changes.is_change(statement) else set(assigned_names(statement))
        before = [copy for name, copy in copies.items() if name not in late]
        after = [copy for name, copy in copies.items() if name in late]
        if before and self.is_exact(statement):  # it may as well read the copies
            ahead = [substitute(a, {n: load(c) for n, c in kept.items() if n not in late}) for a in ahead]
        return [*before, *ahead, *after], back

    def copy_of(self, name: str) -> Any:
        """An expression for a copy of what a name holds."""
        if self.domain.is_array(self.kinds.get(name, self.domain.UNKNOWN)):
            return call(attribute(load(name), "copy"))
        return call(self.helper("copy_adjoint"), load(name))

    def is_exact(self, statement: Any) -> bool:
        """Whether a statement does arithmetic on vectors, which gives the same to the last bit wherever they
        lie in memory. Sums and products of matrices may not.
        """
        match statement:
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.BinOp(op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div())
                | gast.UnaryOp(op=gast.USub()),
            ):
                kind = self.kinds.get(name, self.domain.UNKNOWN)
                return bool(self.domain.is_float(kind) and self.domain.rank(kind) == 1)
        return False

    def comment(self, statement: Any, code: list[Any]) -> None:
        """Notes the user's statement that the following code differentiates, once."""
        origin = (getattr(statement, "lineno", None), getattr(statement, "col_offset", None))
        if origin == self.origin or blocks_of(statement):
            return
        self.origin = origin
        text = self.program.source_line(statement)
        if text:
            code.append(Comment(text))

    def statement(self, s: Any, env: Env) -> Sweep:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)]):
                if is_pop(s.value) and isinstance(self.operation(s.value), Pop):
                    return reverse_pop(self, s, name, env)
                return self.assignment(s, name, env)
            case gast.Assign(targets=[gast.Tuple()]):
                return self.unpacking(s, env)
            case gast.Assign(targets=[gast.Subscript()]) | gast.AugAssign(target=gast.Subscript()):
                return reverse_store(self, s, env)
            case gast.Expr(value=gast.Call()) if is_addition(self, s):
                return reverse_addition(self, s, env)
            case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(), attr="append"))):
                return reverse_append(self, s, env)
            case gast.If():
                return self.branch(s, env)
            case gast.For():
                return reverse_for(self, s, env)
            case gast.While():
                return reverse_while(self, s, env)
            case gast.With():
                return reverse_with(self, s, env)
            case gast.Try():
                return reverse_try(self, s, env)
            case gast.FunctionDef(name=name):
                return self.definition(s, name, env)
            case _:
                return [s], []

    def assignment(self, s: Any, name: str, env: Env) -> Sweep:
        adjoint = env.pop(name, None)
        noted = self.shadows.noted(s, name)
        if adjoint is None or (adjoint.shadow and not self.shadows.is_made_there(s, name)):
            return [s, *noted], []
        if not noted:
            return self.passed_on(s, name, adjoint, env)
        ahead, back = self.passed_on(s, name, replace(adjoint, shadow=False), env)
        copied = gast.UnaryOp(op=gast.Not(), operand=load(self.shadows.is_view_of[name]))
        return [*ahead, *noted], [gast.If(test=copied, body=back, orelse=[])] if back else []

    def passed_on(self, s: Any, name: str, adjoint: Adjoint, env: Env) -> Sweep:
        """The reverse of a statement that makes an object: its adjoint goes on to what it was made from."""
        operation = self.operation(s.value)
        back: list[Any] = []
        match operation:
            case Alias(source=source):
                if self.is_active(source):
                    self.pass_on(env, source.id, adjoint, back)
            case Apply():
                return reverse_apply(self, s, operation, name, adjoint, env)
            case Call():
                return reverse_call(self, s, operation, name, adjoint, env)
            case Item(base=base, index=index):
                spreads = adjoint.uniform and adjoint.mask is None and self.adds_in_place(base.id, index)
                value = adjoint.value if spreads else self.full(name, adjoint, back)
                self.accumulate_at(env, base.id, index, value, back)
            case Field(base=base, name=field):
                self.accumulate_field(env, base.id, field, adjoint, name, back)
            case Build(items=items, keys=keys, node=gast.Call()):
                for item, key in zip(items, keys, strict=True):
                    if self.is_active(item):
                        part = part_of if isinstance(key, int) else field_of
                        name = constant(key) if isinstance(key, int) else key
                        self.accumulate(env, item.id, part(adjoint.value, name), back)
            case Build(items=items, keys=keys):
                for k, item in enumerate(items):
                    if self.is_active(item) and item.id not in self.shadows:
                        part = (
                            self.captured_part(adjoint.value, keys[k].value, item.id)
                            if is_function_tangent(keys)
                            else part_of(adjoint.value, keys[k] if keys else constant(k))
                        )
                        mask = mask_of_item(self, adjoint.masks, k, item.id, back)
                        self.accumulate(env, item.id, part, back, mask=mask, zeroed=mask is not None)
            case Opaque() if any(map(self.is_active, operation.items)):
                self.refuse_opaque(s, operation)
            case Inert() | Opaque():
                pass
        return [s], back

    def definition(self, s: Any, name: str, env: Env) -> Sweep:
        """A nested function used as a value: its adjoint holds those of its free variables, by name."""
        adjoint = env.pop(name, None)
        back: list[Any] = []
        if adjoint is not None:
            s, captured = bind_captured(self.program, s, self.active, self.names)
            for key, free in captured:
                self.accumulate(env, free, self.captured_part(adjoint.value, key, free), back)
        return [s], back

    def captured_part(self, adjoint: Any, key: str, free: str) -> Any:
        """What the adjoint of a function holds for a variable that it captured; it may be None when it does
        not come from a call of the function alone.
        """
        if isinstance(adjoint, gast.Name) and adjoint.id in self.function_adjoints:
            return part_of(adjoint, constant(key))
        return call(self.helper("captured_part"), adjoint, constant(key), load(free))

    def unpacking(self, s: Any, env: Env) -> Sweep:
        targets = [t.id for t in s.targets[0].elts]
        found = [env.pop(t, None) for t in targets]
        found = [None if a is not None and a.shadow else a for a in found]
        back: list[Any] = []
        if not any(found):
            return [s], back
        if isinstance(s.value, gast.Tuple):  # a parallel copy
            for adjoint, source in zip(found, s.value.elts, strict=True):
                if adjoint is not None and self.is_active(source):
                    self.pass_on(env, source.id, adjoint, back)
            return [s], back
        parts = [
            self.zero(t) if a is None else self.full(t, a, back) for t, a in zip(targets, found, strict=True)
        ]
        kind = self.kinds.get(s.value.id, self.domain.UNKNOWN)
        if self.domain.is_tuple(kind):
            owned = all(
                a is None or a.owned or self.domain.is_scalar(self.kinds.get(t, self.domain.UNKNOWN))
                for t, a in zip(targets, found, strict=True)
            )
            self.accumulate(env, s.value.id, tuple_of(parts), back, owned=owned)
        else:
            value = call(self.helper("pack_like"), load(s.value.id), *parts)
            self.accumulate(env, s.value.id, value, back)
        return [s], back

    def branch(self, s: Any, env: Env) -> Sweep:
        if len(s.body) == 1 and isinstance(s.body[0], gast.Break):
            return [s], []
        if self.changes.may_be_overwritten(s, s.test):
            self.program.refuse(
                s,
                "a branch on an array that is changed in place later",
                "which way it went would have to be kept",
                "branch on `bool(...)` of it",
            )
        arms = [dict(env), dict(env)]
        sweeps = [self.block(block, arm) for block, arm in zip((s.body, s.orelse), arms, strict=True)]
        for name in assigned_names(s):
            for arm in arms:
                arm.pop(name, None)
        known = self.assigned_before.get(id(s), frozenset())
        self.joined(env, [(arm, back) for arm, (_, back) in zip(arms, sweeps, strict=True)], known)
        forward = [located(gast.If(test=s.test, body=sweeps[0][0], orelse=sweeps[1][0]), s)]
        if not sweeps[0][1] and not sweeps[1][1]:
            return forward, []
        return forward, [gast.If(test=s.test, body=sweeps[0][1] or [gast.Pass()], orelse=sweeps[1][1])]

    # ------------------------------------------------------------ results

    def result(self, env: Env, name: str, code: list[Any]) -> Any:
        """The gradient with respect to a parameter: a value that is the caller's alone."""
        adjoint = env.get(name)
        if adjoint is None:
            return self.zero(name)
        if adjoint.mask is not None and not adjoint.zeroed:
            return self.full(name, adjoint, code)
        if adjoint.owned or self.domain.is_scalar(self.kinds.get(name, self.domain.UNKNOWN)):
            return adjoint.value
        return self.copied(adjoint, name)

    def read_outside(self) -> set[str]:
        """The names that the reverse code read before what is written now, in the same function, and that
        hold other values there.

        In the flat form the code outside of all loops is done with its names when a loop takes them over.
        """
        return self.kept | {
            n for block in (self.open if self.split else self.open[1:]) for n in names_read(block)
        }


def part_of(adjoint: Any, key: Any) -> Any:
    """One part of the adjoint of a container."""
    if isinstance(adjoint, gast.Tuple) and isinstance(key, gast.Constant):
        return adjoint.elts[key.value]
    return gast.Subscript(value=adjoint, slice=key, ctx=gast.Load())


def field_of(adjoint: Any, name: str) -> Any:
    """One part of the adjoint of an object."""
    held = {k.arg: k.value for k in adjoint.keywords} if isinstance(adjoint, gast.Call) else {}
    return held[name] if name in held else attribute(adjoint, name)
