"""The base class of both modes: the facts of the program, and the application of rules to operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import gast

from ..analyses.definitions import Definitions
from ..analyses.facts import Facts
from ..analyses.find_active import find_active
from ..analyses.find_computed import find_computed
from ..analyses.find_dynamic_parts import find_dynamic_parts
from ..analyses.find_equal_shapes import find_equal_shapes
from ..analyses.find_overwrites import find_changes
from ..analyses.operations import Apply, Call, Inert, Operation
from ..analyses.primitive_table import Rule, Template
from ..analyses.template_slots import results_of, uncovered_argument
from ..errors import missing_rule, not_covered
from ..trees.nodes import bound_counts, call, constant, find_nodes, load, names_read, subscript, tuple_of
from ..trees.program import MISSING
from ..trees.rebuild import map_children, rebuilt
from .generated_names import Objects
from .generation import Slot, Task
from .inline_template import inline_template, literal_of

__all__ = ["Emitter"]


class Emitter(Objects):
    """The facts of a differentiation's program, and the code that both modes write."""

    def __init__(self, facts: Facts, task: Task) -> None:
        super().__init__(facts.program, facts.primitives)
        self.active = facts.of(find_active, task.wrt)
        self.changes = facts.of(find_changes, self.active, task.form == "vjp")
        self.kinds: dict[str, Any] = dict(facts.kinds)  # also of generated names
        self.facts = facts.extended(self.kinds)
        self.domain, self.kind = facts.domain, self.facts.kind
        self.plain_names = facts.of(find_computed, task.wrt, not task.linked)
        self.link, self.shadowed = task.link, task.shadowed
        self.careful, self.linked, self.changing = task.careful, task.linked, task.changing
        self.reads_keys: bool | None = None  # whether a function may read dict keys; None: not computed
        self.same_shape: set[frozenset[str]] = set()
        self.checks: dict[str, list[Any]] = {}
        self._literal_tuples = literal_tuples(facts.program.tree)

    # ------------------------------------------------------------ the program

    def operation(self, value: Any) -> Operation:
        found = self.facts.operation(value)
        if isinstance(found, (Apply, Call)):
            for operand in found.operands():
                if isinstance(operand, gast.Starred) and self.is_active(operand.value):
                    self.refuse_starred(found, operand)
        return found

    @cached_property
    def definitions(self) -> Definitions:
        return Definitions(self.program.tree)

    def computed_by(self, name: str) -> Operation | None:
        """The operation that defines a variable; None unless it is assigned once."""
        value = self.definitions.value(name)
        return None if value is None else self.operation(value)

    def refuse_starred(self, operation: Apply | Call, operand: Any) -> None:
        if isinstance(operation, Apply) and self.primitives.is_nondifferentiable(operation.function):
            return
        self.program.refuse(
            operand if hasattr(operand, "lineno") else self.program.tree,
            f"a `*` argument that carries a derivative, `*{names_read(operand)[0]}`",
            "how many arguments it stands for is not known",
            "pass the arguments one by one",
        )

    def passed_to(self, value: Any) -> list[str]:
        """The active names that receive the adjoint of an expression."""
        return [n for n in self.facts.sources(value) if n in self.active]

    def is_shadowed(self, name: str) -> bool:
        """Whether a variable has a shadow."""
        return name in self.shadowed

    def is_active(self, node: Any) -> bool:
        return isinstance(node, gast.Name) and node.id in self.active

    def reads_active(self, node: Any) -> bool:
        """Whether an expression reads an active name."""
        return not self.active.isdisjoint(names_read(node))

    def zero(self, name: str) -> Any:
        """An expression for the zero adjoint or tangent of a variable."""
        return self.zero_like(load(name), self.facts.kind_of_name(name))

    def zero_item(self, name: str, key: Any) -> Any:
        """The same for an item of a container."""
        item = subscript(load(name), constant(key))
        return self.zero_like(item, self.domain.item_kind(self.kind(load(name)), item.slice, self.kind))

    def zero_like(self, node: Any, kind: Any) -> Any:
        if self.domain.holds_floats(kind):
            zeros = gast.List(elts=[constant(0.0)], ctx=gast.Load())
            length = call(load(self.bind("len", len)), node)
            return gast.BinOp(left=zeros, op=gast.Mult(), right=length)
        match self.domain.zero_plan(kind):
            case "0.0":
                return constant(0.0)
            case "None":
                return constant(None)
            case "array":
                return self.array_call("zeros_like", node)
        return call(self.helper("zeros_like"), node)

    def as_returned(self, derivative: Any, node: Any, kind: Any) -> Any:
        """The gradient or tangent that is returned for a value of this kind; to users, with None for each
        integer.
        """
        domain = self.domain
        has_integers = domain.holds_integers(kind)
        if self.linked or has_integers is False:
            return derivative
        if not domain.is_container(kind):
            if has_integers:
                return constant(None)
            is_made = self.is_made_like(derivative) or self.has_parts(node)
            if domain.is_numeric(kind) or not is_made:
                return derivative
            return call(self.helper("without_integers"), derivative, node)
        if not isinstance(derivative, (gast.Dict, gast.List, gast.Tuple)):
            return call(self.helper("without_integers"), derivative, node)

        def part(key: Any, item: Any) -> Any:
            read = subscript(node, constant(key))
            return self.as_returned(item, read, domain.item_kind(kind, read.slice, self.kind))

        if isinstance(derivative, gast.Dict):
            pairs = zip(derivative.keys, derivative.values, strict=True)
            return gast.Dict(keys=derivative.keys, values=[part(k.value, v) for k, v in pairs])
        return type(derivative)(elts=[part(k, v) for k, v in enumerate(derivative.elts)], ctx=gast.Load())

    def is_made_like(self, derivative: Any) -> bool:
        """Whether a derivative was not computed, but made in the structure of its value."""
        return isinstance(derivative, gast.Call) and self.is_helper(derivative.func, "zeros_like")

    def has_parts(self, node: Any) -> bool:
        """Whether a name is the result of a primitive that returns a tuple, whose parts may be integers."""
        for s in find_nodes(self.program.tree, gast.Assign):
            if isinstance(node, gast.Name) and getattr(s.targets[0], "id", "") == node.id:
                operation = self.operation(s.value)
                rule = self.primitives.find_rule(operation.function) if isinstance(operation, Apply) else None
                forward = None if rule is None else self.primitives.with_forward(rule).jvp_template
                return forward is not None and results_of(forward) is not None
        return False

    def zero_of(self, node: Any) -> Any:
        """The zero adjoint or tangent of an atom."""
        return self.zero(node.id) if isinstance(node, gast.Name) else constant(None)

    def plus(self, a: Any, b: Any, name: str) -> Any:
        """`a + b` for adjoints or tangents of the variable `name`."""
        if self.domain.is_numeric(self.facts.kind_of_name(name)):
            return gast.BinOp(left=a, op=gast.Add(), right=b)
        return call(self.helper("add"), a, b)

    # ------------------------------------------------------------ rules at a call

    def rule(self, operation: Apply) -> Any:
        rule = self.primitives.find_rule(operation.function)
        if rule is None:
            raise missing_rule(
                operation.function,
                self.primitives.refusal(operation.function),
                self.program.where(operation.node),
            )
        return rule

    def arguments(
        self, operation: Apply, template: Template, rule: Rule
    ) -> tuple[dict[str, Any], list[Slot]]:
        """The template's parameters bound to the operation's atoms, and the active ones as slots."""
        bound: dict[str, Any] = {}
        slots: list[Slot] = []
        extra: list[Any] = []
        named: dict[str, Any] = {}
        positional = template.parameters[: template.positional]
        where = self.program.where(operation.node)
        uncovered = uncovered_argument(operation, template)
        if uncovered is not None:
            raise not_covered(operation.function, uncovered, where)
        for k, atom in enumerate(operation.args):
            if k < len(positional):
                bound[positional[k]] = atom
                if self.is_active(atom) and positional[k] not in rule.inert:
                    slots.append(Slot(atom.id, k, None, positional[k]))
            else:
                if self.is_active(atom):
                    slots.append(Slot(atom.id, len(positional), len(extra), template.vararg or ""))
                extra.append(atom)
        for name, atom in operation.keywords:
            if name in template.parameters:
                bound[name] = atom
            else:
                named[name] = atom
            if name in rule.inert:
                continue
            if self.is_active(atom) and name in bound:
                slots.append(Slot(atom.id, template.parameters.index(name), None, name))
            elif self.is_active(atom):
                last = len(positional) + (template.vararg is not None)
                slots.append(Slot(atom.id, last, name, template.kwarg or name))
        if template.vararg is not None:
            bound[template.vararg] = tuple_of(extra)
        if template.kwarg is not None:
            bound[template.kwarg] = gast.Dict(keys=list(map(constant, named)), values=list(named.values()))
        for name in template.parameters:
            if name not in bound:
                if name not in template.defaults:
                    raise not_covered(operation.function, f"a call without `{name}`", where)
                bound[name] = self.default(template.defaults[name], name)
        slots = [s for s in slots if s.parameter not in rule.refused or not self.is_constant(load(s.name))]
        for slot in slots:
            if slot.gradient >= template.gradients or slot.parameter in rule.refused:
                what = f"a derivative with respect to `{slot.parameter}`"
                own_words = rule.refused.get(slot.parameter, "")
                raise not_covered(operation.function, what, where, own_words)
        return {name: self.spelled_out(atom) for name, atom in bound.items()}, slots

    def is_constant(self, node: Any) -> bool:
        """Whether the parts of an atom's value have no derivative, as is checked where it is made."""
        return bool(self.domain.is_constant(self.kind(node)))

    def spelled_out(self, atom: Any) -> Any:
        """The atom, or the literal tuple that it names, so that a template can be decided by it."""
        return self._literal_tuples.get(atom.id, atom) if isinstance(atom, gast.Name) else atom

    def carries(self, value: Any) -> bool:
        """Whether a derivative may flow through an expression."""
        operation = self.operation(value)
        return not isinstance(operation, Inert) and not (
            isinstance(operation, Apply) and self.primitives.is_nondifferentiable(operation.function)
        )

    def default(self, value: Any, name: str) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return constant(value)
        return load(self.bind(name, value))

    def template_for(self, operation: Apply, rule: Rule, out: str) -> Any:
        """The rule's reverse template, the simplest that the kinds of arguments and result allow."""
        kinds = [self.kind(a) for a in operation.args]
        if rule.rows and self.makes_row(operation, out):
            return rule.rows[tuple if self.domain.is_tuple(kinds[0]) else list]
        if list in rule.rows and self.is_of_floats(kinds, out):
            return rule.rows[list]
        for known, template in rule.ranks.items():
            if known[0] == 0:
                if self.is_elementwise(operation, rule) and (known[-1] is ... or len(kinds) == 2):
                    return template
                continue
            leading = kinds[: len(known)]
            if tuple(map(self.domain.rank, leading)) == known and self.domain.keep_real_dtype(leading):
                return template
        if rule.reals is not None and all(map(self.domain.is_real, kinds)):
            return rule.reals
        return rule.template

    def is_elementwise(self, operation: Apply, rule: Rule) -> bool:
        """Whether the template for an operation computes element by element, as also that of `max` of
        numbers.
        """
        if rule.structure == "elementwise":
            return True
        has_numbers = any(known[0] == 0 for known in rule.ranks)
        return has_numbers and len(operation.args) > 1 and self.is_of_numbers(operation)

    def is_of_floats(self, kinds: list[Any], out: str) -> bool:
        """Whether the result is a float, or a list of floats, computed from a list of floats and numbers."""
        if not kinds or not self.domain.holds_floats(kinds[0]):
            return False
        made = self.kind(load(out))
        is_made = self.domain.is_scalar(made) or self.domain.holds_floats(made)
        return bool(is_made and all(map(self.domain.is_real_scalar, kinds[1:])))

    def makes_row(self, operation: Apply, out: str, whole: bool = False) -> bool:
        """Whether the result is a vector of the floats in its first argument, a list or tuple."""
        if not self.domain.is_vector_of_floats(self.kind(load(out))):
            return False
        return bool(operation.args) and self.domain.is_row(self.kind(operation.args[0]), whole)

    def inline(
        self, template: Template, arguments: Mapping[str, Any], wanted: list[int], base: str
    ) -> tuple[list[Any], dict[int, Any]]:
        def nature(node: Any) -> str | None:
            kind = self.kind(node) if isinstance(node, gast.Name) else self.domain.UNKNOWN
            if self.domain.is_array(kind):
                return "array"
            return "integer" if self.domain.is_integer(kind) else None

        code, found = inline_template(template, arguments, wanted, self.names, self.bind, base, nature)
        return list(map(self.without_defaults, code)), {k: self.without_defaults(v) for k, v in found.items()}

    def inline_at(
        self, template: Template, bound: dict[str, Any], out: str, dout: Any, *wanted: int
    ) -> tuple[list[Any], dict[int, Any]]:
        """A reverse template for the result `out` and this cotangent, or tangent."""
        return self.inline(template, {**bound, "out": load(out), "dout": dout}, list(wanted), "d" + out)

    def without_defaults(self, node: Any) -> Any:
        """A statement or expression whose calls omit literals, by keyword or last, that equal the default."""
        node = map_children(node, self.without_defaults)
        if not isinstance(node, gast.Call) or not (node.keywords or node.args[1:]):
            return node
        is_default, function = self.primitives.is_default, self.object_of(node.func)
        kept = [k for k in node.keywords if not is_default(function, k.arg, literal_of(k.value))]
        last = len(node.args)
        while last > 1 and is_default(function, last - 1, literal_of(node.args[last - 1])):
            last -= 1
        if len(kept) == len(node.keywords) and last == len(node.args):
            return node
        return rebuilt(node, args=node.args[:last], keywords=kept)

    def is_of_numbers(self, operation: Apply) -> bool:
        """Whether all operands are floats, or exact numbers and None beside at least one float."""
        kinds = [self.kind(o) for o in operation.operands()]
        return all(map(self.domain.is_python_real, kinds)) and any(map(self.domain.is_real_scalar, kinds))

    def shape_plan(self, operation: Apply, operand: Any, out: str, is_elementwise: bool = True) -> Any:
        """How an operand's adjoint gets its shape from the result's: "none" (it has it), "sum", ("axes", ...)
        or "guard" (a helper decides). An elementwise result of one operand and literals has the operand's
        shape, unless that may be an object.
        """
        others = _others(operation, operand)
        literal = all(
            isinstance(a, (gast.Constant, gast.UnaryOp)) and not isinstance(_literal_value(a), complex)
            for a in others
        ) and not self.is_unknown_part(operand)
        result = self.facts.kind_of_name(out)
        if self.is_of_numbers(operation) and self.is_as_number(out):
            return "none"
        domain, kind = self.domain, self.kind(operand)
        is_real = domain.is_real(result) or not (domain.is_real(kind) and domain.is_scalar(result))
        if literal and is_elementwise and not self.rule(operation).widens and is_real:
            return "none"
        plan = domain.unbroadcast_plan(kind, result, [self.kind(a) for a in others])
        return "none" if plan == "guard" and is_elementwise and self.are_alike(operand, out) else plan

    def are_alike(self, operand: Any, out: str) -> bool:
        """Whether an operand surely is an array of the result's shape and dtype."""
        name = getattr(operand, "id", "")
        if not self.share_dtype(name, out):
            return False
        return self.first_alike(name) == self.first_alike(out) or frozenset((name, out)) in self.same_shape

    def share_dtype(self, a: str, b: str) -> bool:
        """Whether two variables hold real numbers of one dtype."""
        return bool(self.domain.share_real_dtype([self.kind(load(a)), self.kind(load(b))]))

    def first_alike(self, name: str) -> str:
        """The first array that surely has the shape of another one."""
        return self._alike.get(name, name)

    @cached_property
    def times_bound(self) -> Counter[str]:
        """How often each name is bound."""
        return bound_counts(self.program.tree)

    @cached_property
    def _alike(self) -> dict[str, str]:
        return find_equal_shapes(self.facts)

    def is_reduced(self, name: str) -> bool:
        """Whether a variable is a number, or what another library has in its place."""
        kind = self.facts.kind_of_name(name)
        return self.domain.is_scalar(kind) or (self.domain.is_foreign(kind) and self.is_as_number(name))

    def is_as_number(self, name: str) -> bool:
        """Whether the adjoint of a variable may be a number: the variable is one, or an array without
        axes.
        """
        kind = self.facts.kind_of_name(name)
        is_float = self.domain.rank(kind) == 0 and self.domain.is_float(kind)
        return is_float and not self.changes.is_changed(name)

    def may_have_no_axes(self, name: str) -> bool:
        """Whether a variable is an array that may have no axes; arithmetic makes a number of it."""
        return self.domain.may_have_no_axes(self.facts.kind_of_name(name))

    def is_any_array(self, name: str) -> bool:
        """Whether a variable is an array, with axes or without."""
        return bool(self.domain.is_array(self.facts.kind_of_name(name))) or self.may_have_no_axes(name)

    def has_adjoint(self, name: str) -> bool:
        """Whether the adjoint of a variable is never None."""
        kind = self.facts.kind_of_name(name)
        return bool(self.domain.is_numeric(kind) and self.domain.is_differentiable(kind))

    @cached_property
    def parts(self) -> frozenset[str]:
        """The names that may hold an item of a container or object, or a value that a dynamic caller or
        callee gives.
        """
        given = [p.id for p in self.program.tree.args.args] if self.linked else []
        return find_dynamic_parts(self.facts, given)

    def is_unknown_part(self, node: Any) -> bool:
        """Whether an atom may be an object with operators of its own."""
        return getattr(node, "id", "") in self.parts and bool(self.primitives.is_unknown(self.kind(node)))

    def summed_by(self, plan: Any, value: Any) -> Any | None:
        """The sum of a value to the shape of an operand; None where that shape is dynamic."""
        match plan:
            case "sum":
                return self.array_call("sum", value)
            case ("axes" | "kept", axes):
                axis = constant(axes[0]) if len(axes) == 1 else tuple_of([constant(a) for a in axes])
                keywords = {"keepdims": constant(True)} if plan[0] == "kept" else {}
                return self.array_call("sum", value, axis=axis, **keywords)
        return None

    def lends_shape(self, operation: Apply, operand: Any, out: str, as_floats: bool = False) -> bool:
        """Whether an operand is an array of the shape of an elementwise result; with `as_floats`, one of
        integers with a result of floats.
        """
        others = [self.kind(a) for a in _others(operation, operand)]
        result = self.facts.kind_of_name(out)
        return self.domain.lends_shape(self.kind(operand), result, others, as_floats)

    def linked_operands(self, operation: Call) -> tuple[list[Any], dict[str, Any]]:
        return [self.kind(a) for a in operation.args], {k: self.kind(v) for k, v in operation.keywords}


def _others(operation: Apply, operand: Any) -> list[Any]:
    """The operands of an operation but one."""
    return [
        a
        for a in operation.operands()
        if not (isinstance(a, gast.Name) and isinstance(operand, gast.Name) and a.id == operand.id)
    ]


def literal_tuples(tree: Any) -> dict[str, Any]:
    """The tuples of literals, as in `axis=(1, 2)`, by the names that are assigned nothing else."""
    found: dict[str, Any] = {}
    for n in find_nodes(tree, gast.Assign):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Tuple()):
                if literal_of(n.value) is not MISSING:
                    found[name] = n.value
    if not found:
        return found
    assigned = bound_counts(tree)
    return {name: value for name, value in found.items() if assigned[name] == 1}


def _literal_value(node: Any) -> Any:
    return node.value if isinstance(node, gast.Constant) else node.operand.value
