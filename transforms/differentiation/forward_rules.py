"""Forward mode of one operation: the tangent of its result, by the structure of its rule.

An elementwise template with the tangent in the place of `dout`, one term for each active operand; a linear
function itself, on tangents; both terms of a bilinear one; or the rule's forward template.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.operations import Apply
from ..analyses.primitive_table import Rule, Template
from ..analyses.template_slots import carrying_operands, differentiable_slots, results_of
from ..trees.nodes import (
    assign,
    assigned_names,
    call,
    constant,
    is_atom,
    load,
    located,
    names_read,
    same,
    subscript,
    tuple_of,
    walk,
)
from ..trees.program import MISSING
from ..trees.rebuild import call_at, rebuilt, substitute
from .choices import of_numbers, one_of, part_at, scalar_choices
from .concatenation import joined
from .generation import Slot, Task
from .inline_template import ZERO, Zeros, fold_zeros, real
from .rule_application import Emitter

__all__ = ["TangentEmitter"]


class TangentEmitter(Emitter):
    """Names the tangents of variables and writes the tangents of results."""

    def __init__(self, facts: Facts, task: Task) -> None:
        super().__init__(facts, task)
        self.tangents: dict[str, str] = {}
        self.of_numbers = set[str]()  # tangents, and their parts, computed from numbers alone

    def tangent_name(self, variable: str) -> str:
        """The name of a variable's tangent, one for each variable."""
        if variable not in self.tangents:
            self.tangents[variable] = self.names.fresh("d" + variable)
            self.note_origin(self.tangents[variable], variable)
        return self.tangents[variable]

    def tangent(self, node: Any) -> Any:
        """The tangent of an atom."""
        if self.is_active(node):
            return load(self.tangent_name(node.id))
        if isinstance(node, gast.Name) and self.domain.is_differentiable(self.kind(node)) is not False:
            return self.zero(node.id)
        return self.zero_like(node, self.kind(node))

    def part(self, node: Any) -> Any:
        """The tangent of an operand that a rule computes with: of a number always a number, of a container in
        its structure.
        """
        if isinstance(node, gast.Name) and self.is_active(node):
            return self.of_operand(node.id)
        if self.domain.is_container(self.kind(node)):
            return call(self.helper("zeros_like"), node)
        return self.tangent(node)

    def of_operand(self, name: str) -> Any:
        """The tangent of a number or array; a helper refuses an object with operators of its own."""
        tangent, kind = self.tangent(load(name)), self.facts.kind_of_name(name)
        if name not in self.parts or self.domain.is_numeric(kind):
            return tangent
        return call(self.helper("of_operand"), tangent, load(name))

    def unless_none(self, base: Any, value: Any) -> Any:
        """The part `value` of the tangent of a base; None where that is None, as of a text, which only a base
        of unknown kind may be.
        """
        if not self.is_active(base) or not self.primitives.is_unknown(self.kind(base)):
            return value
        is_none = gast.Compare(left=self.tangent(base), ops=[gast.Is()], comparators=[constant(None)])
        return gast.IfExp(test=is_none, body=constant(None), orelse=value)

    # ------------------------------------------------------------ rules

    def apply(self, s: Any, operation: Apply, out: str) -> list[Any]:
        rule = self.rule(operation)
        if not any(self.is_active(o) for o in carrying_operands(operation, rule)):
            return [s, assign(self.tangent_name(out), self.zero(out), s)]
        rule = self.primitives.with_forward(rule)
        is_elementwise = self.is_elementwise(operation, rule)
        template = self.template_for(operation, rule, out) if is_elementwise else rule.template
        is_own = is_elementwise and rule.structure != "elementwise"  # a template for numbers alone
        bound, slots = self.arguments(operation, template if is_own else rule.template, rule)
        before: list[Any] = []
        if rule.rows and self.makes_row(operation, out, whole=True):
            row = operation.args[0]
            value = substitute(operation.node, {row.id: self.part(row)})
        elif (tangent := self.tangent_of_join(operation, rule, out)) is not None:
            value = tangent
        elif (
            rule.jvp_template is not None
            and not is_own
            and (template is rule.template or template is not rule.reals)
        ):
            part = self.tangent if self.primitives.takes_objects(operation.function) else self.part
            value = self.explicit(rule, bound, slots, out, before, part)
        elif is_elementwise:
            value = self.elementwise(operation, template, bound, slots, out, before)
        elif rule.structure == "linear":
            tangents = {n: self.part(load(n)) for n in self.linear_operands(operation, rule)}
            value = substitute(self.without_literals(operation, rule), tangents)
        else:
            slots = [slot for slot in slots if slot.gradient in differentiable_slots(rule.template)]
            terms = [self.replaced_at(operation, slot) for slot in slots]
            value = self.sum(terms, out)
        if out in self.shadowed and self.primitives.sharing(operation) not in ("fresh", "unknown"):
            return self.placed(s, out, before, self.viewed(operation, out, value))
        if all(self.domain.is_scalar(self.kind(a)) for a in (*operation.operands(), load(out))):
            self.of_numbers |= {*assigned_names(before), self.tangent_name(out)}
        return self.placed(s, out, before, self.unshared(operation, out, value))

    def tangent_of_join(self, operation: Apply, rule: Rule, out: str) -> Any | None:
        """The tangent of a function that joins arrays: the join of tangents; None for any other."""
        join = joined(self, operation, rule, out)
        if join is None:
            return None

        def tangents(node: Any) -> Any:
            if (items := join.items(node)) is None:
                return self.part(node)
            return gast.List(elts=list(map(tangents, items)), ctx=gast.Load())

        if isinstance(operation.node, gast.Subscript):
            parts = list(map(tangents, operation.args))
            return rebuilt(operation.node, slice=tuple_of(parts) if len(parts) > 1 else parts[0])
        return rebuilt(operation.node, args=[tangents(operation.args[0]), *operation.node.args[1:]])

    def viewed(self, operation: Apply, out: str, value: Any) -> Any:
        """The tangent of a result that is, or may be, a view of the first operand: the same view of its
        tangent; `value` is the tangent of a copy.
        """
        source, sharing = operation.args[0], self.primitives.sharing(operation)
        is_one = len(operation.args) == 1 and not self.domain.is_dict(self.kind(source))
        if sharing == "live" or (sharing == "elements" and not is_one):
            return value
        view = substitute(operation.node, {source.id: self.part(source)})
        if sharing in ("elements", "view"):
            return view
        shared = call(self.array_function("may_share_memory"), load(out), source)
        return gast.IfExp(test=shared, body=view, orelse=call(self.helper("copy_adjoint"), value))

    def unshared(self, operation: Apply, out: str, value: Any) -> Any:
        """The tangent `value` of a new object, copied if it is an alias of an operand's tangent and is
        changed in place. Without changes `b = a + 1.0` has the tangent of `a`.
        """
        if self.primitives.sharing(operation) != "fresh" or self.is_fresh(value):
            return value
        names = {o.id for o in operation.operands() if self.is_active(o)} | {out}
        are_numbers = all(self.domain.is_scalar(self.kind(load(n))) for n in names)  # no arrays without axes
        if are_numbers or not any(map(self.changes.is_changed, names)):
            return value
        return call(self.helper("copy_adjoint"), value)

    def placed(self, s: Any, out: str, before: list[Any], value: Any) -> list[Any]:
        for b in before:
            located(b, s)
        if isinstance(value, gast.Subscript) and isinstance(s.value, gast.Subscript):
            value = self.unless_none(s.value.value, value)
        return [s, *before, assign(self.tangent_name(out), call_at(value, s.value), s)]

    def sum(self, terms: list[Any], out: str) -> Any:
        value = terms[0]
        for term in terms[1:]:
            value = one_of(self, value, term) or self.plus(value, term, out)
        return value

    def elementwise(
        self,
        operation: Apply,
        template: Template,
        bound: dict[str, Any],
        slots: list[Slot],
        out: str,
        before: list[Any],
    ) -> Any:
        """One term for each active operand: the template with the tangent in the place of `dout`."""
        terms: list[Any] = []
        full = False
        named = [a for a in operation.operands() if isinstance(a, gast.Name)]
        arrays = {a.id for a in named if not self.domain.is_scalar(self.kind(a))}
        for slot in slots:
            tangent = self.of_operand(slot.name)
            statements, results = self.inline_at(template, bound, out, tangent, slot.gradient)
            if slot.gradient not in results:
                continue
            again = _extended(before, statements)
            value = substitute(results[slot.gradient], again)
            if slot.part is not None:
                value = part_at(self, value, slot.part)
            terms.append(value)
            read = set(names_read(value))
            if names_read(tangent)[0] in read:
                read.add(slot.name)
            full = full or out in read or (bool(arrays) and arrays <= read)
            full = full or self.shape_plan(operation, load(slot.name), out) == "none"
        if not terms:
            return self.zero(out)
        value = self.sum(terms, out)
        if self.is_of_numbers(operation):
            before[:] = [of_numbers(self, s) for s in before]
            return scalar_choices(self, value)
        if full or self.domain.is_scalar(self.facts.kind_of_name(out)):
            return value
        return call(self.helper("broadcast_like"), value, load(out))

    def explicit(
        self,
        rule: Rule,
        bound: dict[str, Any],
        slots: list[Slot],
        out: str,
        before: list[Any],
        part: Callable[[Any], Any],
    ) -> Any:
        """A forward template with the tangents that `part` gives; those of inactive operands are symbolic
        zeros.
        """
        template = rule.jvp_template
        assert template is not None
        arguments = {**bound, "out": load(out)}
        zeros: dict[str, Any] = {}
        active = {slot.parameter for slot in slots}
        for tangent in template.tangents:
            parameter = tangent[1:]
            if parameter in active:
                primal = bound[parameter]
                match primal:
                    case gast.Tuple():
                        arguments[tangent] = tuple_of([part(e) for e in primal.elts])
                    case gast.Dict():
                        arguments[tangent] = rebuilt(primal, values=[part(v) for v in primal.values])
                    case _:
                        arguments[tangent] = part(primal)
            else:
                symbol = f"{ZERO} {parameter}"
                zeros[symbol] = bound.get(parameter)
                arguments[tangent] = load(symbol)
        count = results_of(template)
        statements, results = self.inline(template, arguments, list(range(count or 1)), "d" + out)

        def materialise(node: Any) -> Any:
            symbol = next((n for n in zeros if n in names_read(node)), None)
            return self.zero(out) if symbol is None else part(zeros[symbol])

        folding = Zeros(materialise, self.linear_arguments)
        for s in statements:
            for block in _assignments([s]):
                has_shape = any(isinstance(n, gast.Call) for n in walk(block.value))
                folded = real(block.value, folding) if has_shape else fold_zeros(block.value, folding)
                block.value = constant(0.0) if folded is None else folded
        before.extend(statements)
        if count is not None:
            return tuple_of([self.part_of_result(out, k, results.get(k), folding) for k in range(count)])
        value = fold_zeros(results[0], folding)
        return self.zero(out) if value is None else value

    def part_of_result(self, out: str, k: int, tangent: Any, folding: Zeros) -> Any:
        """The tangent of an item of a result; zero where the template gives none."""
        if tangent is not None and not (isinstance(tangent, gast.Constant) and tangent.value is None):
            return real(tangent, folding)
        item = subscript(load(out), constant(k))
        return call(self.helper("zeros_like"), item)

    def linear_arguments(self, node: Any) -> list[list[Any]]:
        """The groups of arguments that a call in a template is linear in: all at once, or each of a bilinear
        one.
        """
        function = self.object_of(node.func)
        rule = None if function is MISSING else self.primitives.find_rule(function)
        if rule is None or rule.structure not in ("linear", "bilinear"):
            return []
        names, slots = rule.template.parameters, differentiable_slots(rule.template)
        found = [a for k, a in enumerate(node.args) if k in slots]
        found += [k.value for k in node.keywords if k.arg in names and names.index(k.arg) in slots]
        return [[a] for a in found] if rule.structure == "bilinear" else [found] * bool(found)

    def linear_operands(self, operation: Apply, rule: Rule) -> list[str]:
        """The names among the operands in which a linear function is linear."""
        template = rule.template
        slots = differentiable_slots(template)
        given = [(min(k, template.positional), a) for k, a in enumerate(operation.args)]
        parameters = template.parameters
        given += [(parameters.index(k), a) for k, a in operation.keywords if k in parameters]
        return list(dict.fromkeys(a.id for k, a in given if isinstance(a, gast.Name) and k in slots))

    def without_literals(self, operation: Apply, rule: Rule) -> Any:
        """The call of a linear function with zeros for the literals among its linear operands."""
        node = operation.node
        if not isinstance(node, gast.Call):
            return node
        parameters, slots = rule.template.parameters, differentiable_slots(rule.template)
        first = int(self.program.resolve(node.func) is MISSING)  # 1 for a method

        def without(k: int, atom: Any) -> Any:
            is_literal = k in slots and is_atom(atom) and not isinstance(atom, gast.Name)
            return constant(0.0) if is_literal and self.domain.is_scalar(self.kind(atom)) else atom

        args = [without(k, a) for k, a in enumerate(node.args, first)]
        keywords = [
            gast.keyword(k.arg, without(parameters.index(k.arg), k.value)) if k.arg in parameters else k
            for k in node.keywords
        ]
        return rebuilt(node, args=args, keywords=keywords)

    def replaced_at(self, operation: Apply, slot: Slot) -> Any:
        """The user's expression with the tangent for one operand."""
        tangent = self.of_operand(slot.name)
        node = operation.node
        if slot.parameter in dict(operation.keywords):
            keywords = [k if k.arg != slot.parameter else gast.keyword(k.arg, tangent) for k in node.keywords]
            return rebuilt(node, keywords=keywords)
        positions = [
            k for k, a in enumerate(operation.args) if isinstance(a, gast.Name) and a.id == slot.name
        ]
        position = next(
            k for k in positions if k == slot.gradient or len(positions) == 1 or slot.part is not None
        )
        if isinstance(node, gast.BinOp):
            return gast.BinOp(
                left=tangent if position == 0 else node.left,
                op=node.op,
                right=tangent if position == 1 else node.right,
            )
        if isinstance(node, gast.Call):
            method = self.program.resolve(node.func) is MISSING
            args = list(operation.args)
            args[position] = tangent
            keywords = [gast.keyword(arg=name, value=atom) for name, atom in operation.keywords]
            if method:
                return gast.Call(
                    func=gast.Attribute(value=args[0], attr=node.func.attr, ctx=gast.Load()),
                    args=args[1:],
                    keywords=keywords,
                )
            return gast.Call(func=node.func, args=args, keywords=keywords)
        return substitute(node, {slot.name: tangent})


def _extended(block: list[Any], statements: list[Any]) -> dict[str, Any]:
    """Adds a template's statements to a block without those that the block has already; maps the targets that
    are left out to the block's names.
    """
    again: dict[str, Any] = {}
    for s in statements:
        new = substitute(s, again) if again else s
        match new:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                made = [b.targets[0] for b in block if isinstance(b, gast.Assign) and same(b.value, value)]
                if made and isinstance(made[0], gast.Name):
                    again[name] = load(made[0].id)
                    continue
        block.append(new)
    return again


def _assignments(statements: list[Any]) -> list[Any]:
    return [n for s in statements for n in walk(s) if isinstance(n, gast.Assign)]
