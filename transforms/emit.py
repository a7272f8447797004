"""What both modes of differentiation share: names and objects for generated code, kinds of atoms, and rules
put in at a call.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import gast

from .errors import MissingRuleError, UnsupportedSyntaxError
from .inline_template import inline_template, literal_of
from .nodes import attribute, call, constant, load, located, names_read, statements_in, tuple_of, walk
from .operations import Apply, Call, Inert, Opaque, Operation, Primitives, classify
from .program import MISSING, Program

__all__ = [
    "Emitter",
    "Generation",
    "Link",
    "Slot",
    "carrying_operands",
    "differentiable_slots",
    "missing_rule",
    "results_of",
]


@dataclass(frozen=True)
class Slot:
    """An active operand of an operation: the rule's gradient that belongs to it, and which of the variadic
    ones, by position or name (`part`).
    """

    name: str
    gradient: int
    part: int | str | None
    parameter: str


@dataclass(frozen=True)
class Generation:
    """What is known of generated code: the lists that are traces, the names of adjoints or tangents, and the
    name of the closure that holds the reverse sweep.
    """

    traces: frozenset[str]
    derivatives: frozenset[str]
    bprop: str | None = None


@dataclass(frozen=True)
class Link:
    """The derivative of a user's function: its name, what stands for it, and the function's parameters with
    their defaults.
    """

    name: str
    function: Any
    parameters: tuple[tuple[str, Any], ...]


class Emitter:
    """The common part of a differentiation: what it knows of the program, and what it adds to it."""

    def __init__(
        self,
        program: Program,
        kinds: Mapping[str, Any],
        active: frozenset[str],
        primitives: Primitives,
        domain: Any,
        link: Callable[[Call, list[int | str], list[Any], dict[str, Any], bool], Link],
    ) -> None:
        self.program, self.active = program, active
        self.kinds: dict[str, Any] = dict(kinds)
        self.primitives, self.domain, self.link = primitives, domain, link
        self.names = program.names.copy()
        self.bindings: dict[str, Any] = dict(program.bindings)
        self.origins = dict(program.origins)
        self._operations: dict[int, Operation] = {}
        self._literal_tuples = literal_tuples(program.tree)

    # ------------------------------------------------------------ names and objects

    def bind(self, hint: str, value: Any) -> str:
        """The name by which generated code reads an object: the hint itself wherever that already means the
        object.
        """
        for name, bound in self.bindings.items():
            if bound is value:
                return name
        if hint not in self.program.locals and hint not in self.bindings:
            found = self.program.scope.lookup(hint)
            if found is value:
                return hint
            if found is MISSING and hint not in self.names.taken:
                self.names.taken.add(hint)
                self.bindings[hint] = value
                return hint
        name = self.names.temporary(hint)
        self.bindings[name] = value
        return name

    def note_origin(self, name: str, variable: str) -> None:
        """Notes that `name` holds the adjoint or tangent of a variable."""
        origin = self.program.origins.get(variable, variable)
        if not re.search(r"_\d+$", origin):
            self.origins[name] = "d" + origin

    def helper(self, name: str) -> Any:
        return load(self.bind(name, self.primitives.helper(name)))

    def numpy_call(self, name: str, *args: Any, **keywords: Any) -> Any:
        """`np.name(...)`."""
        return call(self.numpy(name), *args, **keywords)

    def numpy(self, name: str) -> Any:
        """`np.name`."""
        return attribute(load(self.bind("np", self.primitives.helper("np"))), name)

    def object_of(self, node: Any) -> Any:
        """What a name in generated code means, or an attribute of such a name, as far as is known."""
        if isinstance(node, gast.Attribute):
            owner = self.object_of(node.value)
            return MISSING if owner is MISSING else getattr(owner, node.attr, MISSING)
        if not isinstance(node, gast.Name) or node.id in self.program.locals:
            return MISSING
        return self.bindings.get(node.id, self.program.scope.lookup(node.id))

    def is_helper(self, node: Any, *path: str) -> bool:
        """Whether an expression means a helper, or what a path of attributes leads to from it."""
        if not isinstance(node, gast.Attribute if path[1:] else gast.Name):
            return False
        wanted = self.primitives.helper(path[0])
        for name in path[1:]:
            wanted = getattr(wanted, name)
        return self.object_of(node) is wanted

    # ------------------------------------------------------------ what the program means

    def operation(self, value: Any) -> Operation:
        found = self._operations.get(id(value))
        if found is None:
            found = self._operations[id(value)] = classify(value, self.program, self.primitives, self.kind)
            inert = isinstance(found, Apply) and self.primitives.is_nondifferentiable(found.function)
            for operand in found.operands() if isinstance(found, (Apply, Call)) and not inert else ():
                if isinstance(operand, gast.Starred) and any(map(self.is_active, [operand.value])):
                    self.program.refuse(
                        operand if hasattr(operand, "lineno") else self.program.tree,
                        f"a `*` argument that carries a derivative, `*{names_read(operand)[0]}`",
                        "how many arguments it stands for is not known",
                        "pass the arguments one by one",
                    )
        return found

    def kind(self, node: Any) -> Any:
        domain = self.domain
        if isinstance(node, gast.Name):
            found = self.kinds.get(node.id, MISSING)
            if found is not MISSING:
                return found
        if isinstance(node, gast.Constant):
            return domain.kind_of_literal(node.value)
        if isinstance(node, gast.UnaryOp):
            return domain.kind_of_literal(-node.operand.value)
        static = self.program.resolve(node)
        return domain.UNKNOWN if static is MISSING else domain.kind_of_static(node, static)

    def is_active(self, node: Any) -> bool:
        return isinstance(node, gast.Name) and node.id in self.active

    def zero(self, name: str) -> Any:
        """An expression for the zero adjoint or tangent of a variable."""
        plan = self.domain.zero_plan(self.kinds.get(name, self.domain.UNKNOWN))
        match plan:
            case "0.0":
                return constant(0.0)
            case "None":
                return constant(None)
            case "np.zeros_like":
                return self.numpy_call("zeros_like", load(name))
        return call(self.helper("zeros_like"), load(name))

    def zero_of(self, node: Any) -> Any:
        """The zero adjoint or tangent of an atom."""
        return self.zero(node.id) if isinstance(node, gast.Name) else constant(None)

    def plus(self, a: Any, b: Any, name: str) -> Any:
        """`a + b` for adjoints or tangents of the variable `name`."""
        if self.domain.is_numeric(self.kinds.get(name, self.domain.UNKNOWN)):
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

    def arguments(self, operation: Apply, template: Any, rule: Any) -> tuple[dict[str, Any], list[Slot]]:
        """The template's parameters bound to the call's atoms, and where the active ones stand."""
        bound: dict[str, Any] = {}
        slots: list[Slot] = []
        extra: list[Any] = []
        named: dict[str, Any] = {}
        positional = template.parameters[: template.positional]
        for k, atom in enumerate(operation.args):
            if k < len(positional):
                bound[positional[k]] = atom
                if self.is_active(atom):
                    slots.append(Slot(atom.id, k, None, positional[k]))
            elif template.vararg is not None:
                if self.is_active(atom):
                    slots.append(Slot(atom.id, len(positional), len(extra), template.vararg))
                extra.append(atom)
            else:
                self.refuse_argument(operation, f"positional argument {k + 1}")
        for name, atom in operation.keywords:
            if name in bound or (name not in template.parameters and template.kwarg is None):
                self.refuse_argument(operation, f"argument `{name}`")
            if name in template.parameters:
                bound[name] = atom
            else:
                named[name] = atom
            if self.is_active(atom) and name in bound:
                slots.append(Slot(atom.id, template.parameters.index(name), None, name))
            elif self.is_active(atom):
                last = len(positional) + (template.vararg is not None)
                slots.append(Slot(atom.id, last, name, template.kwarg))
        if template.vararg is not None:
            bound[template.vararg] = tuple_of(extra)
        if template.kwarg is not None:
            bound[template.kwarg] = gast.Dict(keys=list(map(constant, named)), values=list(named.values()))
        for name in template.parameters:
            if name not in bound:
                if name not in template.defaults:
                    self.refuse_argument(operation, f"a call without `{name}`")
                bound[name] = self.default(template.defaults[name], name)
        for slot in slots:
            if slot.gradient >= template.gradients or slot.parameter in rule.refused:
                self.refuse_argument(operation, f"a derivative with respect to `{slot.parameter}`")
        return {name: self.spelled_out(atom) for name, atom in bound.items()}, slots

    def spelled_out(self, atom: Any) -> Any:
        """The atom, or the literal tuple that it names: a template decides its branches by it."""
        return self._literal_tuples.get(atom.id, atom) if isinstance(atom, gast.Name) else atom

    def context_nature(self, s: Any) -> str:
        """What the context of a `with` does; raises UnsupportedSyntaxError for one that may swallow
        exceptions, or that holds what is differentiated.
        """
        context = s.items[0].context_expr
        made = isinstance(context, gast.Call)
        manager = self.program.resolve(context.func if made else context)
        nature = None if manager is MISSING else self.primitives.context_nature(manager)
        if nature != "setting" and any(name in self.active for name in names_read(context)):
            self.program.refuse(
                s,
                "a context of what carries a derivative",
                "what entering it does to the value is not known",
                "use the value itself in the body",
            )
        if nature is None:
            self.program.refuse(
                s,
                "a context that may swallow exceptions, or that is not known before the run",
                "how far its body got would not be known",
                "use a context manager of the module's, whose `__exit__` returns nothing",
            )
        return nature

    def index_guard(self, s: Any) -> list[Any]:
        """A check that what is looked up by a value that carries a derivative is in an array or container:
        any other object may compute with it. Raises UnsupportedSyntaxError for one known to be something
        else.
        """
        match s:
            case gast.Assign(value=gast.Subscript(value=base, slice=index)):
                kind = self.kind(base)
                if not any(n in self.active for n in names_read(index)):
                    return []
                if self.domain.item_nature(kind) != "unknown" or self.domain.is_differentiable(kind) is False:
                    return []
                found = self.program.resolve(base)
                if found is MISSING:
                    return [located(gast.Expr(value=call(self.helper("refuse_lookup"), base)), s)]
                if not isinstance(found, (Sequence, Mapping)):
                    self.program.refuse(
                        s,
                        "a look-up by a value that carries a derivative, in what is no array or container",
                        "what the object computes of the value is not known",
                        "call a function that has a rule or readable source",
                    )
        return []

    def check_handlers(self, s: Any) -> None:
        """Raises UnsupportedSyntaxError for a handler that reads values from its exception, which may carry
        a derivative.
        """
        for h in s.handlers:
            if h.name is None or h.name.id not in self.active:
                continue
            for n in statements_in(h.body):
                if isinstance(n, gast.Assign) and h.name.id in names_read(n.value) and self.carries(n.value):
                    self.program.refuse(
                        n,
                        f"a value from the exception `{h.name.id}`",
                        "whether it carries a derivative is not known",
                        "keep the value in a variable before it is raised",
                    )

    def carries(self, value: Any) -> bool:
        """Whether a derivative may flow through an expression."""
        operation = self.operation(value)
        return not isinstance(operation, Inert) and not (
            isinstance(operation, Apply) and self.primitives.is_nondifferentiable(operation.function)
        )

    def refuse_opaque(self, statement: Any, operation: Opaque) -> NoReturn:
        """Raises UnsupportedSyntaxError for an expression whose derivative is not known."""
        if isinstance(operation.node, gast.Attribute):
            self.program.refuse(
                statement,
                f"the attribute `{operation.node.attr}` of a value that carries a derivative",
                "what it has to do with the value is not known",
                "pass what is needed as an argument of its own",
            )
        if not isinstance(operation.node, gast.Set):
            self.program.refuse(
                statement,
                "an operator on an object that carries a derivative, or whose operand does",
                "which function of which class it calls cannot be told before the run",
                "define the operator in Python without `NotImplemented`, or call a method by its name",
            )
        self.program.refuse(
            statement,
            "a set of values that carry derivatives",
            "its elements have no places that derivatives could have",
            "use a list or a dict",
        )

    def default(self, value: Any, name: str) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return constant(value)
        return load(self.bind(name, value))

    def refuse_argument(self, operation: Apply, what: str) -> None:
        raise MissingRuleError(
            f"the rule of {describe(operation.function)} does not cover {what}",
            self.program.where(operation.node),
            "its derivative in this form is not known",
            "call it without, or write the computation out",
        )

    def template_for(self, operation: Apply, rule: Any) -> Any:
        """The rule's reverse template, the simplest that the kinds of the arguments allow."""
        kinds = [self.kind(a) for a in operation.args]
        for known, template in rule.ranks.items():
            leading = kinds[: len(known)]
            if tuple(map(self.domain.rank, leading)) == known and self.domain.share_real_dtype(leading):
                return template
        if rule.reals is not None and all(map(self.domain.is_real, kinds)):
            return rule.reals
        return rule.template

    def inline(
        self, template: Any, arguments: Mapping[str, Any], wanted: list[int], base: str
    ) -> tuple[list[Any], dict[int, Any]]:
        def is_array(node: Any) -> bool:
            return isinstance(node, gast.Name) and bool(self.domain.is_array(self.kind(node)))

        return inline_template(template, arguments, wanted, self.names, self.bind, base, is_array)

    def is_of_numbers(self, operation: Apply) -> bool:
        """Whether all operands are floats, or exact numbers and None beside floats."""
        kinds = [self.kind(o) for o in operation.operands()]
        return all(map(self.domain.is_python_real, kinds)) and any(map(self.domain.is_real_scalar, kinds))

    def shape_plan(self, operation: Apply, operand: Any, out: str) -> Any:
        """How the shape of an elementwise result relates to that of an operand: "none" (the same), "sum",
        ("axes", ...) or "guard".
        """
        others = [
            a
            for a in operation.operands()
            if not (isinstance(a, gast.Name) and isinstance(operand, gast.Name) and a.id == operand.id)
        ]
        literal = all(
            isinstance(a, (gast.Constant, gast.UnaryOp)) and not isinstance(_literal_value(a), complex)
            for a in others
        )
        result = self.kinds.get(out, self.domain.UNKNOWN)
        if self.is_of_numbers(operation) and self.domain.rank(result) == 0 and self.domain.is_float(result):
            return "none"
        if literal and not self.rule(operation).widens:
            return "none"
        return self.domain.unbroadcast_plan(self.kind(operand), self.kinds.get(out, self.domain.UNKNOWN))

    def linked_operands(self, operation: Call) -> tuple[list[Any], dict[str, Any]]:
        return [self.kind(a) for a in operation.args], {k: self.kind(v) for k, v in operation.keywords}

    def located_error(self, node: Any, what: str, why: str, instead: str) -> UnsupportedSyntaxError:
        return UnsupportedSyntaxError(what, self.program.where(node), why, instead)


@lru_cache(maxsize=4096)
def differentiable_slots(template: Any) -> frozenset[int]:
    """Which of a template's parameters get a gradient; the others only lend their shape, or say how."""
    found: set[int] = set()
    for statement in template.body:
        for n in walk(statement):
            if isinstance(n, gast.Return):
                elements = n.value.elts if isinstance(n.value, gast.Tuple) else [n.value]
                found |= {
                    k
                    for k, e in enumerate(elements)
                    if not (isinstance(e, gast.Constant) and e.value is None)
                }
    return frozenset(found)


@lru_cache(maxsize=4096)
def results_of(template: Any) -> int | None:
    """How many results' tangents a forward template returns as a tuple; None for one that is no tuple."""
    returned = [n.value for s in template.body for n in walk(s) if isinstance(n, gast.Return)]
    counts = {len(v.elts) if isinstance(v, gast.Tuple) else None for v in returned}
    return counts.pop() if len(counts) == 1 else None


def carrying_operands(operation: Apply, rule: Any) -> list[Any]:
    """The operands of a call that its derivative may flow through."""
    template = rule.template
    slots = differentiable_slots(template) | {
        k for k, name in enumerate(template.parameters) if name in rule.refused
    }
    by_position = [
        a
        for k, a in enumerate(operation.args)
        if min(k, template.positional) in slots or k >= template.gradients
    ]
    return by_position + [
        v
        for k, v in operation.keywords
        if k not in template.parameters or template.parameters.index(k) in slots
    ]


def literal_tuples(tree: Any) -> dict[str, Any]:
    """The tuples of literals, as `axis=(1, 2)` has one, by the names that hold them and nothing else."""
    assigned = Counter(
        n.id for n in walk(tree) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)
    )
    found: dict[str, Any] = {}
    for n in walk(tree):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Tuple()) if (
                assigned[name] == 1 and literal_of(n.value) is not MISSING
            ):
                found[name] = n.value
    return found


def _literal_value(node: Any) -> Any:
    return node.value if isinstance(node, gast.Constant) else node.operand.value


def describe(function: Any) -> str:
    """How a person would name a function: `numpy.linalg.solve`."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    return f"`{module}.{name}`" if module and module != "builtins" else f"`{name}`"


def missing_rule(function: Any, refusal: str | None, where: Any = None) -> MissingRuleError:
    """The error for a function without a rule; `refusal` is why it is declared to have none."""
    name = getattr(function, "__name__", "f")
    return MissingRuleError(
        f"{describe(function)} has no rule" + ("" if refusal else " and no Python source to differentiate"),
        where,
        refusal or "its derivative is not known",
        f"declare it: `@s2sad.bprop({name})` over `def {name}_rule(x, out, dout): return (dx,)`",
    )


def reads(node: Any, names: set[str]) -> bool:
    return any(n in names for n in names_read(node))
