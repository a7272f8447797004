"""Writes to arrays as stores `a[index] = value`: NumPy's functions and methods, `out=`, `a.flat`, lists.

Form in and out: the single-assignment form. Only writes to arrays that may be active are rewritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import gast
import numpy as np

from ..analysis.check_mutation import refuse_attribute
from ..analysis.primitive_table import PRIMITIVES, parameters_of
from ..analysis.writes import OUTPUTS, changed, changed_by_method
from ..kinds import domain
from ..kinds.lattice import UNKNOWN, Array, Kind, List, Literal, Scalar, Tuple
from ..primitives.record import fact
from ..rules import stores as templates
from ..rules.methods import METHODS
from ..rules.places import at_mask
from ..runtime import adjoints as runtime
from ..runtime import mutation as updates
from ..source.read import read_source
from ..transforms import normalise
from ..transforms.analyses.bind_methods import MethodCall
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import IN_PLACE_OPERATORS, Apply
from ..transforms.lowering.inline_calls import inline_calls
from ..transforms.lowering.lower_effects import Place, Writer, Written, lower_effects, without_unread
from ..transforms.trees.nodes import (
    assign,
    attribute,
    call,
    constant,
    find_nodes,
    load,
    located,
    names_read,
    same,
)
from ..transforms.trees.program import MISSING, Program, names_of
from ..transforms.trees.rebuild import rebuilt
from .attribute_stores import ATTRIBUTES, attribute_views, stored_attribute, stored_in_part
from .flat_reads import FlatReads

__all__ = ["is_store", "lowered_writes"]

REPLACING = {"sort": np.sort, "partition": np.partition}  # methods, by the function that makes a new array

UPDATES = {function: node for node, function in IN_PLACE_OPERATORS.items()}
UPDATES |= {getattr(np.ndarray, f"__{function.__name__}__"): node for function, node in UPDATES.items()}
VALUES = frozenset({"src", "v", "val", "vals", "value", "values"})  # parameters for the stored value


def is_store(function: Any) -> bool:
    """Whether a function or method writes to an argument, and this module rewrites it as a store."""
    replaced = [getattr(np.ndarray, name) for name in REPLACING]
    return _hashable(function) and (_stores(function) is not None or function in replaced)


def _stores(function: Any) -> Any:
    """The template with the stores of a function; None for functions without one, and for methods of an
    array of the module's (`TABLE.fill`), whose calls do not name the array as an argument.
    """
    return None if isinstance(getattr(function, "__self__", None), np.ndarray) else fact(function, "stores")


def lowered_writes(facts: Facts) -> Program:
    """The program with its known writes to active arrays as stores."""
    while True:  # the result of a rewritten call is known to be its argument in the next round
        program = facts.program
        finder = _Finder(facts, _displays(program), attribute_views(program))
        found = without_unread(lower_effects(program, finder.rewritten), ATTRIBUTES)
        waiting = sum(map(bool, map(finder.template_call, find_nodes(found.tree, gast.Call))))
        if waiting:
            found = inline_calls(
                found, lambda f, call: _template(f), 0, finder.template_call, lambda f: True, nested=False
            )
            if sum(map(bool, map(finder.template_call, find_nodes(found.tree, gast.Call)))) >= waiting:
                return found  # calls without the arguments that these functions need
        if found is program:
            return program
        facts = facts.again(found)


@cache
def _template(function: Any) -> Program | None:
    """The normal form of a template; None for other functions."""
    if getattr(function, "__module__", None) != templates.__name__:
        return None
    source = read_source(function)
    names = names_of(source.tree, source.scope)
    return normalise(Program(source.tree, source.scope, source.filename, source.lines, names=names))


def _displays(program: Program) -> dict[str, Any]:
    """The names bound to a tuple display, where the name and all atoms are bound at most once."""
    count = Counter(n.id for n in find_nodes(program.tree, gast.Name) if not _is_read(n))
    return {
        n.targets[0].id: n.value
        for n in find_nodes(program.tree, gast.Assign)
        if isinstance(n.targets[0], gast.Name)
        and isinstance(n.value, gast.Tuple)
        and all(count[name] <= 1 for name in names_read(n.value))
        and count[n.targets[0].id] == 1
    }


def _is_read(name: Any) -> bool:
    return isinstance(name.ctx, gast.Load)


@dataclass(frozen=True)
class _Finder:
    facts: Facts
    displays: Mapping[str, Any]
    views: Mapping[str, Any]

    @property
    def program(self) -> Program:
        return self.facts.program

    def kind(self, node: Any) -> Kind:
        found: Kind = self.facts.kind(node)
        return found

    @cached_property
    def flat_reads(self) -> FlatReads:
        flats = {f: v.value for f, v in self.views.items() if v.attr == "flat" and self.varies(v.value)}
        return FlatReads(self.facts, flats)

    def rewritten(self, s: Any, writer: Writer) -> list[Any] | None:
        """The statements in place of a write; None for other statements."""
        read = self.flat_reads.rewritten(s, writer) if self.flat_reads.flats else None
        if read is not None:
            return read
        match s:
            case gast.Expr(value=gast.Call() as node) | gast.Assign(
                targets=[gast.Name()], value=gast.Call() as node
            ):
                if _has_stars(node):
                    return None
                added = self.added(s, node, writer)
                if added is not None:
                    return added
                found = self.updated(s, node) or self.replaced(node, writer) or self.with_output(node, writer)
                return None if found is None else writer.stores(s, found)
            case gast.Assign(targets=[gast.Subscript() as target]) | gast.AugAssign(
                target=gast.Subscript() as target
            ):
                return self.stored(s, target, writer)
            case gast.Assign(targets=[gast.Attribute(value=gast.Name()) as target]):
                if isinstance(self.kind(target.value), Array) and not hasattr(np.ndarray, target.attr):
                    message = f"'numpy.ndarray' object has no attribute '{target.attr}'"
                    error = call(writer.bound(AttributeError, "AttributeError"), constant(message))
                    return [located(gast.Raise(exc=error, cause=None), s)]
                if target.attr not in ATTRIBUTES:
                    refuse_attribute(self.program, target, self.kind(target.value))
                elif self.is_followed(target, s.value, True):
                    return stored_attribute(s, target, writer, _is_complex(self.kind(target.value)))
        return None

    def is_followed(self, part: Any, value: Any, whole: bool = False) -> bool:
        """Whether a store to elements of `a.flat`, `a.real` or `a.imag`, or with `whole` to the attribute, is
        rewritten as one to `a`.
        """
        if part.attr == "flat" or not self.varies(part.value):
            return self.varies(part.value)
        return not _is_complex(self.kind(value)) and (whole or _is_complex(self.kind(part.value)))

    def stored(self, s: Any, target: Any, writer: Writer) -> list[Any] | None:
        """The statements in place of a store to `a.flat` or `a.imag`, or of a list."""
        part = self.views.get(getattr(target.value, "id", ""))
        if part is not None and self.is_followed(part, s.value):
            return stored_in_part(s, target, part, writer)
        if self.varies(target.value) and isinstance(self.kind(s.value), (List, Tuple)):
            value = writer.names.temporary(target.value.id)
            made = located(call(_function(writer, np.array), s.value), s)
            return [assign(value, made, s), rebuilt(s, value=load(value))]
        return None

    def added(self, s: Any, node: Any, writer: Writer) -> list[Any] | None:
        """`np.add.at(a, index, v)`."""
        if not isinstance(node.func, gast.Attribute) or node.func.attr != "at" or isinstance(s, gast.Assign):
            return None
        owner = self.program.resolve(node.func.value)
        if owner not in (np.add, np.subtract) or len(node.args) != 3 or not self.varies(node.args[0]):
            return None
        base, index, value = node.args
        code: list[Any] = []
        if isinstance(self.kind(value), (List, Tuple)):
            code.append(assign(writer.names.temporary(base.id), call(_function(writer, np.array), value), s))
            value = load(code[-1].targets[0].id)
        if owner is np.subtract:
            negative = gast.UnaryOp(op=gast.USub(), operand=value)
            code.append(assign(writer.names.temporary(base.id), located(negative, s), s))
            value = load(code[-1].targets[0].id)
        addition = call(writer.bound(runtime.add_at, "add_at"), base, index, value)
        return [*code, located(gast.Expr(value=located(addition, s)), s)]

    def updated(self, s: Any, node: Any) -> Written | None:
        """`a.__iadd__(v)` or `operator.iadd(a, v)` in the user's code, as `a[...] += v`."""
        function, args = self.callee(node)
        if function not in UPDATES or len(args) != 2 or node.keywords or not self.varies(args[0]):
            return None
        origins = self.program.origins
        if isinstance(s, gast.Assign):
            name = s.targets[0].id
            if origins.get(name, name) == origins.get(args[0].id, args[0].id):
                return None
        return Written(args[1], [Place(args[0])], args[0], operator=UPDATES[function]())

    def replaced(self, node: Any, writer: Writer) -> Written | None:
        """`a.sort()` or `np.nan_to_num(a, copy=False)`, as a store of a new array to all of `a`."""
        found, args = self.callee(node)
        keywords = {k.arg: k.value for k in node.keywords}
        name = getattr(found, "__name__", "")
        if found is np.nan_to_num:
            copies = keywords.pop("copy", None) if len(args) == 1 else None
            if not isinstance(copies, gast.Constant) or copies.value is not False or not self.varies(args[0]):
                return None
            return Written(
                call(_function(writer, found), args[0], **keywords), [Place(args[0])], args[0]
            )
        if name not in REPLACING or found is not getattr(np.ndarray, name) or not self.varies(args[0]):
            return None
        value = call(_function(writer, REPLACING[name]), *args, **keywords)
        return Written(value, [Place(args[0])], constant(None))

    def template_call(self, node: Any) -> MethodCall | None:
        """The template with the stores of a call, and its call; None for other calls."""
        if not isinstance(node, gast.Call) or _has_stars(node):
            return None
        function, args = self.callee(node)
        template = _stores(function)
        if isinstance(node.func, gast.Attribute) and node.func.attr == "at" and not node.keywords:
            ufunc = self.program.resolve(node.func.value)
            template = fact(ufunc, "stores_at") if len(node.args) == getattr(ufunc, "nin", 0) + 1 else None
            args = [*node.args, node.func.value]
        if template is None or len(args) > len(parameters_of(template)):
            return None
        given = _bound(template, args, node.keywords)
        base = given.get(next(iter(parameters_of(template))))
        if base is None or not self.varies(base):
            return None
        where = given.pop("where", None)
        if where is not None and template is templates.copyto:
            template, given["where"] = templates.copyto_masked, where
        names = list(parameters_of(template))
        value = next((self.kind(v) for name, v in given.items() if name in VALUES), UNKNOWN)
        is_number = isinstance(value, Scalar) or (isinstance(value, Literal) and domain.is_scalar(value))
        if not given.keys() <= set(names) or (template is templates.fill and not is_number):
            return None
        if _is_complex(value) and not _is_complex(self.kind(base)):
            return None
        if is_number:
            template = fact(template, "stores_number") or template
        return template, call(node.func, *[given[n] for n in names if n in given])

    def callee(self, node: Any) -> tuple[Any, list[Any]]:
        """The function that is called, with its arguments; for a method of an array, the one of `np.ndarray`.
        """
        found = self.program.resolve(node.func)
        if not _hashable(found):  # nothing that can be called
            return MISSING, []
        if found is not MISSING or not isinstance(node.func, gast.Attribute):
            return found, node.args
        if not isinstance(self.kind(node.func.value), Array):
            return MISSING, []
        return getattr(np.ndarray, node.func.attr, MISSING), [node.func.value, *node.args]

    def varies(self, atom: Any) -> bool:
        """Whether an atom is an array that may be active."""
        kind = self.kind(atom)
        return (
            isinstance(atom, gast.Name)
            and isinstance(kind, Array)
            and domain.is_differentiable(kind) is not False
        )

    # ------------------------------------------------------------ out=c

    def with_output(self, node: Any, writer: Writer) -> Written | None:
        """`np.add(a, b, out=c)`."""
        plain, out = self.without_output(node)
        places = None if out is None else self.places(out, plain.args)
        if places is None:
            return None
        operation = self.facts.operation(plain)
        if not isinstance(operation, Apply) or PRIMITIVES.refusal(operation.function) is not None:
            return None
        is_ufunc = isinstance(operation.function, np.ufunc)
        named = dict(operation.keywords)
        sign = {np.add: gast.Add, np.subtract: gast.Sub}.get(operation.function) if is_ufunc else None
        if sign is not None and not named and same(operation.args[0], out):
            return Written(operation.args[1], places, out, operator=sign())
        before: list[tuple[str, Any]] = []
        mask = named.get("where") if is_ufunc else None
        if mask is not None:
            if len(places) > 1:
                return None
            mask, before, plain = self.masked(plain, places[0].base, mask, writer)
        kinds = [self.kind(a) for a in operation.args]
        result = domain.call_kind(
            operation.function,
            kinds,
            {k: self.kind(v) for k, v in named.items() if mask is None or k != "where"},
            PRIMITIVES.is_pure,
        )
        results = result.items if isinstance(result, Tuple) else [result] * len(places)
        fits = [self.fit(p.base, r, is_ufunc) for p, r in zip(places, results, strict=True)]
        found = [Place(p.base, mask, fit) for p, fit in zip(places, fits, strict=True)]
        return Written(plain, found, out if len(places) > 1 else places[0].base, before)

    def without_output(self, node: Any) -> tuple[Any, Any]:
        """The call without its output arrays, and these; the call itself and None without any."""
        named = {k.arg: k.value for k in node.keywords}
        function = self.program.resolve(node.func)
        own = 0
        if function is MISSING and isinstance(node.func, gast.Attribute):
            found = changed_by_method(self.kind(node.func.value), node.func.attr, len(node.args), named)
            function = METHODS.get(node.func.attr)
            own = 1 if isinstance(self.kind(node.func.value), Array) else 0
        else:
            found = changed(function, len(node.args), named)
        if not found:
            found = [name for name in OUTPUTS if name in named]
        if isinstance(function, np.ufunc) and found == [*range(function.nin, function.nargs)] != found[:1]:
            out = gast.Tuple(elts=node.args[function.nin :], ctx=gast.Load())
            return rebuilt(node, args=node.args[: function.nin]), out
        if len(found) != 1:
            return node, None
        (place,) = found
        if isinstance(place, str):
            keywords = [k for k in node.keywords if k.arg != place]
            return gast.Call(func=node.func, args=node.args, keywords=keywords), named[place]
        if place - own not in range(len(node.args)) or not _is_output(function, place):
            return node, None
        names = list(parameters_of(function))[place + 1 :]
        after = zip(names, node.args[place - own + 1 :], strict=False)
        rest = [gast.keyword(arg=k, value=v) for k, v in after]
        args = node.args[: place - own]
        return gast.Call(func=node.func, args=args, keywords=[*rest, *node.keywords]), node.args[place - own]

    def places(self, out: Any, operands: list[Any]) -> list[Place] | None:
        """The output arrays; None when they are unknown, or neither they nor operands may be active."""
        display = self.displays.get(out.id) if isinstance(out, gast.Name) else out
        arrays = display.elts if isinstance(display, gast.Tuple) else [out]
        varies = any(map(self.varies, [*arrays, *operands]))
        if not varies or not all(isinstance(self.kind(a), Array) for a in arrays):
            return None
        return [Place(a) for a in arrays]

    def masked(
        self, plain: Any, out: Any, where: Any, writer: Writer
    ) -> tuple[Any, list[tuple[str, Any]], Any]:
        """The mask, the statements before, and the call for `np.divide(a, b, out=c, where=mask)`, which
        computes only where the mask is true.
        """
        before: list[tuple[str, Any]] = []

        def named(value: Any) -> Any:
            name = writer.names.temporary(out.id)
            before.append((name, value))
            return load(name)

        mask = named(call(writer.bound(updates.mask_like, "mask_like"), where, out))
        args = []
        for a in plain.args:
            if not isinstance(self.kind(a), (Scalar, Literal)):
                a = named(call(writer.bound(at_mask, "at_mask"), a, mask))
            args.append(a)
        keywords = [k for k in plain.keywords if k.arg != "where"]
        return mask, before, gast.Call(func=plain.func, args=args, keywords=keywords)

    def fit(self, place: Any, result: Kind, casts: bool) -> Any:
        """The helper that converts a result to the array's dtype, or checks it; None where the dtypes agree.
        """
        wanted = getattr(self.kind(place), "dtype", None)
        if wanted is not None and getattr(result, "dtype", None) == wanted:
            return None
        return updates.cast_like if casts else updates.of_same_dtype


def _bound(template: Any, args: list[Any], keywords: list[Any]) -> dict[str, Any]:
    """The arguments, by the names of the template's parameters."""
    return dict(zip(parameters_of(template), args, strict=False)) | {k.arg: k.value for k in keywords}


def _is_complex(kind: Kind) -> bool:
    return str(getattr(kind, "dtype", "")).startswith("complex")


def _has_stars(node: Any) -> bool:
    return any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)


def _hashable(function: Any) -> bool:
    try:
        hash(function)
    except TypeError:
        return False
    return True


def _is_output(function: Any, position: int) -> bool:
    if isinstance(function, np.ufunc):
        return position == function.nin and function.nout == 1
    return any(name in OUTPUTS for name in [*parameters_of(function)][position : position + 1])


def _function(writer: Writer, function: Any) -> Any:
    """The expression of a function of NumPy: `np.sort`."""
    return attribute(writer.bound(np, "np"), function.__name__)
