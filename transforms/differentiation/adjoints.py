"""The adjoints of a reverse sweep: which variables have one, under which name, and which are owned.

An adjoint has exactly the shape, dtype and structure of its variable. Outside loops each contribution makes a
new name (`dx_1 = dx + ...`), so that simplification can nest it where it is read. A variable from outside a
loop collects its contributions in an accumulator, one name that the loop adds to, in place for arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.operations import Apply, Call
from ..trees.nodes import (
    assign,
    attribute,
    call,
    constant,
    find_nodes,
    is_atom,
    load,
    names_read,
    store,
    tuple_of,
)
from .adjoint import Adjoint, Env, Mask, is_same_adjoint, part_of
from .derived_kinds import derived_kind
from .generation import Task
from .masks import MaskEmitter, choice, either_holds, kept, mark_elements, marks_of, mask_at, opposite

__all__ = ["Adjoint", "AdjointEmitter", "Env"]


class AdjointEmitter(MaskEmitter):
    """Reads and adds to adjoints; `used` collects the accumulators that were added to."""


    def __init__(self, facts: Facts, task: Task) -> None:
        super().__init__(facts, task)
        self.used: set[str] = set()
        self.may_be_unbound: dict[str, None] = {}  # variables that a zero adjoint is made of nevertheless
        self.adjoint_names: set[str] = set()
        self.adjoint_of: dict[str, str] = {}  # the variable of each name of an adjoint
        self.spreading = set[str]()
        self.spread_kinds: dict[str, Any] = {}  # of adjoints that broadcasting has yet to spread along axes

    def adjoint_name(self, variable: str) -> str:
        name = self.taken_name(variable)
        self.adjoint_names.add(name)
        self.note_origin(name, variable)
        return name

    def taken_name(self, variable: str) -> str:
        """A new name for a part of the adjoint of a container into which the variable was stored."""
        name = self.names.fresh("d" + variable)
        self.adjoint_of[name] = variable
        return name

    def kinds_of_adjoints(self, value: Any) -> dict[str, Any]:
        """The kinds of the adjoints that an expression reads, each that of its variable."""
        read = [n for n in names_read(value) if n in self.adjoint_of and n not in self.spreading]
        return {n: self.facts.kind_of_name(self.adjoint_of[n]) for n in read} | self.spread_kinds

    def named(self, variable: str, value: Any, code: list[Any]) -> Any:
        """An atom for a value of the variable's adjoint; binds a name unless the value is an atom."""
        if is_atom(value):
            return value
        name = self.adjoint_name(variable)
        code.append(assign(name, value))
        return load(name)

    def full(self, variable: str, adjoint: Adjoint, code: list[Any]) -> Any:
        """An atom for the adjoint in the variable's shape, zero outside its mask."""
        return self.named(variable, self.filled(variable, adjoint), code)

    def filled(self, variable: str, adjoint: Adjoint) -> Any:
        """`full` as an expression."""
        if adjoint.is_full:
            return adjoint.value
        if adjoint.whole is not None:
            return adjoint.whole
        if adjoint.mask is None or adjoint.zeroed:
            return self.spread(variable, adjoint.value)
        found = None if adjoint.uniform else kept(self, adjoint.mask, adjoint.value, variable)
        return found or self.chosen_from(
            variable, adjoint.mask, adjoint, Adjoint(constant(0), uniform=True)
        )

    def spread(self, variable: str, value: Any) -> Any:
        """An array like that of a variable with all elements equal to a number."""
        is_one = isinstance(value, gast.Constant) and value.value == 1.0
        like = load(variable)
        if is_one:
            return self.array_call("ones_like", like)
        if self.domain.is_foreign(self.facts.kind_of_name(variable)):  # the number is an array itself
            return call(self.helper("unreduce"), value, like)
        return self.array_call("full_like", like, value)

    def chosen_from(self, variable: str, mask: Mask, a: Adjoint, b: Adjoint) -> Any:
        """The expression for adjoint `a` where a mask holds and adjoint `b` elsewhere."""
        value = a.value
        if a.uniform and b.uniform and not self.has_form(mask, variable):
            value = self.spread(variable, value)
        return choice(self, mask, value, b.value, variable)

    def has_form(self, mask: Mask, variable: str) -> bool:
        """Whether `np.where` of a mask and numbers surely has the shape and dtype of the variable."""
        kind = self.facts.kind_of_name(variable)
        return any(self.domain.is_mask_of(self.kinds[c.name], kind) for c in mask)

    def accumulate(self, env: Env, variable: str, value: Any, code: list[Any]) -> None:
        """Adds an expression to the adjoint of a variable."""
        self.pass_on(env, variable, Adjoint(value), code)

    def pass_on(self, env: Env, variable: str, new: Adjoint, code: list[Any]) -> None:
        """Adds a new adjoint, whose value may be any expression, to the adjoint of a variable. If it is
        `owned`, its value, or each item of a tuple, has no other alias.
        """
        current = env.get(variable)
        if current is not None and new.whole is not None and not current.is_plain:
            new = replace(new, value=new.whole, uniform=False, whole=None)
        elif current is not None and current.whole is not None and not new.is_plain:
            current = Adjoint(self.full(variable, current, code), owned=True)
        value, uniform, mask = new.value, new.uniform, new.mask
        if isinstance(value, gast.Constant) and value.value is None:
            return
        if current is None and isinstance(
            value, gast.Tuple
        ):  # kept apart: each item goes to its own variable
            parts = []
            for part in value.elts:
                if not is_atom(part):
                    name = self.adjoint_name(variable)
                    code.append(assign(name, part))
                    part = load(name)
                parts.append(part)
            env[variable] = Adjoint(
                tuple_of(parts), owned=new.owned, masks=new.masks, missing=new.missing
            )
        elif current is None:
            is_object = isinstance(value, (gast.Name, gast.Call))
            own = not uniform and ((new.owned and is_object) or self.is_fresh(value))
            atom = self.named(variable, value, code)
            self.note_spreading(atom, uniform)
            if new.whole is not None and isinstance(atom, gast.Name):
                self.spread_kinds[atom.id] = derived_kind(self, value, self.kinds_of_adjoints(value))
            kept = Adjoint(atom, owned=own, uniform=uniform, whole=new.whole, mask=mask, zeroed=new.zeroed)
            env[variable] = replace(kept, masks=new.masks, partial=new.partial)
        elif mask is not None or current.mask is not None:
            atom = self.named(variable, value, code)
            new = Adjoint(atom, uniform=uniform, mask=mask, zeroed=new.zeroed, partial=new.partial)
            self.note_spreading(atom, uniform)
            self.accumulate_masked(env, variable, current, new, code)
        elif current.accumulator:
            self.used.add(variable)
            name = current.value.id
            if current.overwritten is not None:
                code.append(mark_elements(self, current.overwritten, constant(...), False))
            if self.is_any_array(variable):
                code.append(self.added(variable, name, value))
            elif current.shadow:
                code.append(self.added_to_each(variable, name, value))
            else:
                code.append(assign(name, self.plus(load(name), value, variable)))
        elif current.buffer and self.is_any_array(variable):
            code.append(self.added(variable, current.value.id, value))
        else:
            name = self.adjoint_name(variable)
            code.append(assign(name, self.plus(current.value, value, variable)))
            both = current.uniform and uniform
            self.note_spreading(load(name), both)
            partial = current.partial and new.partial
            env[variable] = Adjoint(load(name), owned=not both, uniform=both, partial=partial)

    def note_spreading(self, atom: Any, uniform: bool) -> None:
        self.spreading |= {atom.id} if uniform and isinstance(atom, gast.Name) else set()

    def accumulate_masked(
        self, env: Env, variable: str, current: Adjoint, new: Adjoint, code: list[Any]
    ) -> None:
        """Adds two adjoints of a variable, at least one of which has a mask."""
        mask = current.mask
        if mask is not None and mask == new.mask:
            name = self.named(variable, self.plus(current.value, new.value, variable), code)
            uniform, zeroed = current.uniform and new.uniform, current.zeroed and new.zeroed
            self.note_spreading(name, uniform)
            env[variable] = Adjoint(name, not uniform, uniform=uniform, mask=mask, zeroed=zeroed)
        elif mask is not None and opposite(mask, new.mask):
            name = self.named(variable, self.chosen_from(variable, mask[-1:], current, new), code)
            env[variable] = Adjoint(name, owned=True, mask=mask[:-1] or None)
        elif current.accumulator or (current.buffer and mask is None):
            self.accumulate(env, variable, self.filled(variable, new), code)
        else:
            parts = [
                a.value if a.uniform and a.mask is None else self.filled(variable, a) for a in (current, new)
            ]
            name = self.named(variable, self.plus(parts[0], parts[1], variable), code)
            either = either_holds(self, mask, new.mask, code)
            partial = either is None and all(a.partial or a.mask is not None for a in (current, new))
            zeroed = either is not None
            env[variable] = Adjoint(name, owned=True, mask=either, zeroed=zeroed, partial=partial)

    def accumulate_item(self, env: Env, variable: str, index: Any, value: Any, code: list[Any]) -> bool:
        """Puts a value into the adjoint of a tuple, as that of the item at a literal index; whether it could
        be: the item was not read after this one.
        """
        kind = self.facts.kind_of_name(variable)
        keys = self.domain.positions_of(kind)
        key = index.value if isinstance(index, gast.Constant) else None
        current = env.get(variable)
        if key not in keys or self.is_shadowed(variable):
            return False
        if current is None:
            current = Adjoint(tuple_of([self.zero_item(variable, k) for k in keys]), missing=frozenset(keys))
        if key not in current.missing:
            return False
        parts = [value if k == key else part_of(current.value, constant(k)) for k in keys]
        env.pop(variable, None)
        self.pass_on(env, variable, Adjoint(tuple_of(parts), missing=current.missing - {key}), code)
        return True

    def accumulate_at(self, env: Env, variable: str, index: Any, value: Any, code: list[Any]) -> None:
        """Adds `value` to the part of the adjoint of `variable` that `index` selects, in place."""
        before = env.get(variable)
        partial = before is None or before.accumulator or before.partial or before.mask is not None
        target = self.own(env, variable, code)
        env[variable] = replace(env[variable], partial=partial)
        mask = None if before is None else before.mask
        marks = env[variable].overwritten or marks_of(mask, self.marks)
        if marks is not None:
            code.append(mark_elements(self, marks, index, False))
            env[variable] = replace(env[variable], mask=mask, zeroed=mask is not None)
        elif not env[variable].accumulator and (
            mask is not None or (before is None and self.picks(variable, index))
        ):
            own = mask_at(self, target, variable, index, False, code)
            mask = own if before is None else either_holds(self, mask, own, code)
            env[variable] = replace(env[variable], mask=mask, zeroed=mask is not None)
        if self.adds_in_place(variable, index):
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

    def picks(self, variable: str, index: Any) -> bool:
        """Whether an index picks elements of an array, so that only these have an adjoint."""
        return self.is_choice_of(variable, index)

    def accumulate_field(
        self, env: Env, variable: str, name: str, part: Adjoint, held: str, code: list[Any]
    ) -> None:
        """Adds `part`, the adjoint of an attribute's value `held`, to the adjoint of the object `variable`.
        The parts of an object's adjoint stay apart until something else is added.
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
        owned = part.owned or part.uniform or self.domain.is_scalar(self.facts.kind_of_name(held))
        parts[name] = value
        env[variable] = Adjoint(
            call(like, load(variable), **parts), owned=owned and (current is None or current.owned)
        )

    def adds_in_place(self, variable: str, index: Any) -> bool:
        """Whether `+=` adds to the selected part, as no element is selected twice; it also broadcasts."""
        kind = self.facts.kind_of_name(variable)
        if self.is_number_of(kind, index):
            return True
        selects_once = (
            self.is_basic(index) or self.is_choice_of(variable, index) or self.counts_one_by_one(index)
        )
        return self.domain.is_array(kind) and selects_once

    def is_number_of(self, kind: Any, index: Any) -> bool:
        """Whether an index picks a number from a list of floats."""
        is_place = is_atom(index) and self.domain.is_integer(self.kind(index))
        return bool(is_place and self.domain.holds_floats(kind))

    def counts_one_by_one(self, index: Any) -> bool:
        """Whether an index has a row 0, 1, 2, ... and so selects no element twice, as `a[np.arange(n),
        k]`.
        """
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        picked = [p for p in parts if not isinstance(p, gast.Slice)]
        is_row = all(self.domain.rank(self.kind(p)) in (0, 1) for p in picked)
        return is_row and any(isinstance(p, gast.Name) and self.counts_up(p.id) for p in picked)

    def counts_up(self, name: str) -> bool:
        """Whether a name holds the numbers 0, 1, 2, ... in this order."""
        match self.computed_by(name):
            case Apply(function=function, args=[_], keywords=()):
                arange = self.primitives.array_function("arange")
                return function is arange and not self.changes.is_changed(name)
        return False

    def is_basic(self, index: Any) -> bool:
        """Whether an index selects each element once, by integers and slices alone."""
        return self.domain.is_basic_index(index, self.kind)

    def own(self, env: Env, variable: str, code: list[Any]) -> str:
        """The name of the variable's adjoint, made owned: by a new zero or a copy where it is not."""
        current = env.get(variable)
        if current is not None and isinstance(current.value, gast.Name) and self.is_own(variable, current):
            if current.accumulator:
                self.used.add(variable)
            env[variable] = replace(
                current, buffer=not current.accumulator, mask=None, zeroed=False, masks=None
            )
            return str(current.value.id)
        name = self.adjoint_name(variable)
        code.append(assign(name, self.zero(variable) if current is None else self.copied(current, variable)))
        env[variable] = Adjoint(load(name), owned=True, buffer=True)
        return name

    @cached_property
    def has_calls(self) -> bool:
        """Whether adjoints may come from the bprop of a call."""
        values = (s.value for s in find_nodes(self.program.tree, gast.Assign))
        return any(isinstance(v, gast.Call) and isinstance(self.operation(v), Call) for v in values)

    def copied(self, adjoint: Adjoint, variable: str) -> Any:
        """A copy of an adjoint that has aliases."""
        value = adjoint.value
        if not adjoint.is_full:
            return self.filled(variable, adjoint)
        kind = self.facts.kind_of_name(variable)
        if self.domain.is_scalar(kind):
            return value
        if self.may_have_no_axes(variable):
            return self.array_call("array", value)
        is_numpy = not self.domain.is_foreign(kind)
        if self.domain.is_array(kind) and is_numpy and isinstance(value, gast.Name):
            is_known = not self.has_calls  # an array also when this is differentiated again
            return call(attribute(value, "copy")) if is_known else self.array_call("copy", value)
        return call(self.helper("copy_adjoint"), value)

    def added(self, variable: str, name: str, value: Any) -> Any:
        """The in-place addition to an adjoint, which stays an array even if it has no axes."""
        target: Any = store(name)
        if self.may_have_no_axes(variable):
            target = gast.Subscript(value=load(name), slice=constant(...), ctx=gast.Store())
        return gast.AugAssign(target=target, op=gast.Add(), value=value)

    def added_to_each(self, variable: str, name: str, value: Any) -> Any:
        """The in-place addition to each array in the adjoint of a list."""
        kind = self.facts.kind_of_name(variable)
        element = self.domain.element_kind(kind)
        is_plain = self.domain.is_array(element) and self.domain.is_differentiable(element)
        if self.domain.may_have_no_axes(element) or not (is_plain and self.domain.is_list(kind)):
            return gast.Expr(value=call(self.helper("add_into"), load(name), value))
        part, more = self.names.fresh("part"), self.names.fresh("more")
        pairs = call(self.bind("zip", zip), load(name), value)
        body = [gast.AugAssign(target=store(part), op=gast.Add(), value=load(more))]
        target = gast.Tuple(elts=[store(part), store(more)], ctx=gast.Store())
        return gast.For(target=target, iter=pairs, body=body, orelse=[], type_comment=None)

    def is_own(self, variable: str, adjoint: Adjoint) -> bool:
        """Whether an adjoint may be changed in place. The adjoint of an array without axes may be a NumPy
        number until it is copied.
        """
        made = adjoint.buffer or adjoint.accumulator or not self.may_have_no_axes(variable)
        return adjoint.owned and adjoint.is_full and made

    def zero_or_none(self, variable: str) -> Any:
        """The zero adjoint of a variable that may be unbound; None if it is."""
        if self.domain.is_real_scalar(self.facts.kind_of_name(variable)):
            return constant(0.0)
        self.may_be_unbound[variable] = None
        return call(self.helper("zeros_like"), load(variable))

    def may_have_no_axes(self, variable: str) -> bool:
        """Whether a variable is an array that may have no axes; arithmetic makes a number of it."""
        return self.domain.may_have_no_axes(self.facts.kind_of_name(variable))

    def is_any_array(self, variable: str) -> bool:
        """Whether a variable is an array, with axes or without."""
        is_array = self.domain.is_array(self.facts.kind_of_name(variable))
        return bool(is_array) or self.may_have_no_axes(variable)

    def joined(
        self,
        env: Env,
        arms: list[tuple[Env, list[Any]]],
        is_known: Callable[[str], bool],
        mask_of_arms: Callable[[str, list[Adjoint | None]], Mask | None] = lambda variable, found: None,
    ) -> None:
        """Gives the adjoints that differ between the arms of a branch one name, assigned at the end of each
        arm; `env` becomes the adjoints before the branch. `is_known` tells whether a variable is bound on
        every path; `mask_of_arms(variable, adjoints)` is the mask of one that only some arms have an adjoint
        of.
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
                    partial=any(f is not None and f.partial for f in found),
                )
                continue
            mask = mask_of_arms(variable, found) if is_known(variable) else None
            name = self.adjoint_name(variable)
            for (_, code), adjoint in zip(arms, found, strict=True):
                value = self.zero(variable) if adjoint is None else self.full(variable, adjoint, code)
                if adjoint is None and not is_known(variable) and variable in names_read(value):
                    # The variable may be unbound on this path: nothing reads its adjoint then.
                    value = self.zero_or_none(variable)
                code.append(assign(name, value))
            owned = all(f is None or f.owned for f in found)
            partial = any(f is not None and f.partial for f in found)
            env[variable] = Adjoint(
                load(name), owned=owned, mask=mask, zeroed=mask is not None, partial=partial
            )


def is_parts(value: Any, like: str) -> bool:
    """Whether an adjoint is that of an object, `adjoint_like(x, name=...)`."""
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and value.func.id == like
