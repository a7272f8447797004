"""The table of primitives as the transforms see it: functions, and methods and attributes of arrays."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, ModuleType
from typing import Any

import gast
import numpy as np

from ..kinds.class_members import FIXED, is_fixed, member_of, reflects
from ..kinds.lattice import (
    Array,
    Dict,
    Foreign,
    Instance,
    Kind,
    List,
    Literal,
    Numeric,
    Object,
    OtherArray,
    Record,
    Scalar,
    Text,
    Tuple,
    Unknown,
)
from ..kinds.memory import BIRTHS, CHANGES, OF_HEAP, READS
from ..kinds.queries import is_float, is_immutable
from ..kinds.sparse import sparse_operator
from ..kinds.wrapped_functions import chosen_by_kind, is_dispatcher
from ..primitives.aliasing import (
    is_fresh,
    is_read_only,
    is_steady_view,
    permissions,
    positional_parameters,
    sharing,
)
from ..primitives.code_reach import leads_far
from ..primitives.provided import provided
from ..primitives.record import (
    computes,
    fact,
    find_rule,
    is_nondifferentiable,
    is_pure,
    refusal,
    stand_in,
    takes_arrays,
)
from ..rules import choices, containers, places, reductions
from ..rules.arithmetic import one_over
from ..rules.index_tricks import indexed
from ..rules.math import planar_hypot
from ..rules.methods import ATTRIBUTES, METHODS, view_method
from ..runtime import adjoints as runtime
from ..runtime import broadcasting as fitting
from ..runtime import heap, heap_adjoints, shapes, slots
from ..runtime import mutation as updates
from ..runtime import object_graph as heap_places
from ..runtime import real_power as powers
from ..runtime import records as mirrors
from ..runtime import shadow_table as memory
from ..runtime.containers import DICT_METHODS, LIST_METHODS, TUPLE_METHODS, united
from ..runtime.mutation import repeated, times_repeated
from ..source.fixed_arity import call_method, call_star
from ..source.getters import GETTERS
from ..transforms.analyses.operations import Apply, Member
from ..transforms.analyses.template_slots import differentiable_slots
from ..transforms.trees.nodes import attribute
from ..transforms.trees.program import MISSING, ArrayLibrary
from ..values.objects import is_named_tuple
from .aliasing import sharing_of
from .context_managers import nature_of_context
from .declined_operands import may_decline
from .identity_calls import copied_by, returned_by
from .writes import changed, changed_by_method, is_changing_method

__all__ = ["PRIMITIVES", "NumPy", "RulePrimitives"]


# The modules with the helpers that generated code calls.
HELPERS = (
    runtime, shapes, fitting, powers, updates, mirrors, choices, containers, places, reductions, memory, heap,
    heap_places, heap_adjoints, slots,
)  # fmt: skip
BUILDERS = (mirrors.adjoint_like, mirrors.holding, mirrors.made_like)
COPIED = "__s2sad_copied__"  # the attribute of a function with the parameters that it copies before it reads
CALLS_FIRST: set[Any] = {  # functions that call their first argument when they are given more
    call_star,
    call_method,
}


UFUNC_KEYWORDS = {
    "out": None,
    "where": True,
    "casting": "same_kind",
    "order": "K",
    "dtype": None,
    "subok": True,
    "signature": None,
}


NOT_GIVEN = inspect.signature(np.sum).parameters["keepdims"].default  # stands for False


@lru_cache(maxsize=1024)
def parameters_of(function: Any) -> Mapping[str, Any]:
    """The parameters of a function with their defaults, positional ones first; empty without a signature.

    >>> parameters_of(np.fliplr)
    {'m': <class 'inspect._empty'>}
    """
    if isinstance(function, np.ufunc):
        return UFUNC_KEYWORDS
    try:
        return {p.name: p.default for p in inspect.signature(function).parameters.values()}
    except (TypeError, ValueError):  # a C function without a signature
        return {}


def _is_value(node: Any, value: Any) -> bool:
    """Whether an atom is this literal."""
    return isinstance(node, gast.Constant) and type(node.value) is type(value) and node.value == value


_ONE, _ONE_FLOAT = Literal(1), Literal(1.0)


class RulePrimitives:
    """Implements `transforms.analyses.primitive_table.Primitives` over the registry."""

    find_rule = staticmethod(find_rule)
    indexed = staticmethod(indexed)
    is_nondifferentiable = staticmethod(is_nondifferentiable)
    is_fixed = staticmethod(is_fixed)
    refusal = staticmethod(refusal)
    changed = staticmethod(changed)
    changed_by_method = staticmethod(changed_by_method)
    is_changing_method = staticmethod(is_changing_method)
    is_fresh = staticmethod(is_fresh)
    sharing = staticmethod(sharing)
    sharing_of = staticmethod(sharing_of)
    is_steady_view = staticmethod(is_steady_view)
    takes_arrays = staticmethod(takes_arrays)
    computes = staticmethod(computes)
    returned_by = staticmethod(returned_by)
    copied_by = staticmethod(copied_by)
    permissions = staticmethod(permissions)
    is_read_only = staticmethod(is_read_only)
    is_immutable = staticmethod(is_immutable)

    @staticmethod
    def with_forward(rule: Any) -> Any:
        """The rule itself; one for reverse mode alone with a forward template, its transpose."""
        is_whole = rule.structure is not None or rule.jvp_template is not None
        return rule if is_whole else provided("with_forward")(rule)

    @staticmethod
    def shape_only(function: Any) -> tuple[int, ...]:
        """The positions of arguments whose shape and dtype alone a function reads."""
        return fact(function, "shape_only") or ()

    @staticmethod
    def takes_likeness(function: Any) -> bool:
        """Whether a function accepts the result of the helper `like` for these arguments."""
        return bool(fact(function, "likeness"))

    @staticmethod
    def takes_objects(function: Any) -> bool:
        """Whether a function takes objects, whose tangents its rule computes nothing with."""
        return bool(fact(function, "objects"))

    @staticmethod
    def changes_heap(function: Any) -> bool:
        """Whether a function is a helper that changes its second argument, an object in a heap."""
        return getattr(function, "__module__", "") in OF_HEAP and function.__name__ in CHANGES - BIRTHS

    @staticmethod
    def checks_heap(function: Any) -> bool:
        """Whether a function is a helper that asks about objects in a heap, and changes none."""
        is_change = function is heap_places.change_set or RulePrimitives.changes_heap(function)
        return getattr(function, "__module__", "") in OF_HEAP and not is_change

    @staticmethod
    def is_of_numpy(function: Any) -> bool:
        """Whether a function is NumPy's, so that it converts lists to arrays."""
        return isinstance(function, np.ufunc) or str(getattr(function, "__module__", "")).startswith("numpy")

    @staticmethod
    def is_pure(function: Any) -> bool:
        """Whether a function is pure: no side effects, and a result that depends on its arguments alone."""
        return any(function is builder for builder in BUILDERS) or is_pure(function)

    @staticmethod
    def writes_nothing(function: Any) -> bool:
        """Whether a primitive is declared to change no argument."""
        return bool(fact(function, "writes") == ())

    @staticmethod
    def slope(operation: Apply, is_number: Callable[[Any], bool]) -> str:
        """The slope of an elementwise operation: "constant", "finite" at finite arguments, or "any"."""
        word = fact(operation.function, "slope")
        return word(*operation.args[:2], is_number) if callable(word) else word or "any"

    @staticmethod
    def moves(operation: Apply) -> bool:
        """Whether gradients are elements of the cotangent, in another shape or order."""
        return bool(fact(operation.function, "moves")) or sharing(operation) in ("view", "maybe")

    @staticmethod
    def selects(function: Any) -> bool:
        """Whether a result may lack elements of an argument."""
        return bool(fact(function, "selects"))

    @staticmethod
    def is_builder(function: Any) -> bool:
        """Whether a function makes an object like its first argument, with the keywords as attributes."""
        return any(function is builder for builder in BUILDERS)

    @staticmethod
    def method(kind: Kind, name: str, count: int) -> Any:
        """The function equivalent to a method of a value of this kind, called with `count` arguments; None
        when it is dynamic.
        """
        if isinstance(kind, Dict):
            return DICT_METHODS.get(name)
        if isinstance(kind, (List, Tuple)):
            return (LIST_METHODS if isinstance(kind, List) else TUPLE_METHODS).get(name)
        if isinstance(kind, Text) or (isinstance(kind, Literal) and type(kind.value) is str):
            return getattr(str, name, None)
        if not isinstance(kind, (Array, Foreign, Numeric, Scalar)):
            return None
        member = getattr(np.ndarray, name, None)
        if name == "view" and not count:  # otherwise of another type
            return view_method
        return member if refusal(member) else METHODS.get(name)

    @staticmethod
    def positional(
        function: Any, args: tuple[Any, ...], keywords: tuple[tuple[str, Any], ...]
    ) -> tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]:
        """A call's arguments as the function's rule takes them. Those that may be active, or whose parameter
        the rule names differently, are positional, those behind the rule's positional parameters go by their
        names; defaults such as `out=None` are left out.
        """
        rule = find_rule(function)
        if rule is None:
            return args, keywords
        own, positional = rule.template.parameters, rule.template.positional
        behind = rule.template.vararg is None and len(args) > positional
        if not keywords and not behind:
            return args, keywords
        names = positional_parameters(function)[positional : len(args)] if behind else []
        if behind and len(names) == len(args) - positional:
            keywords = (*zip(names, args[positional:], strict=True), *keywords)
            args = args[:positional]
        left = dict(keywords)
        named = parameters_of(function)
        last = max((k for k in differentiable_slots(rule.template) if k < positional), default=-1)
        end = positional if rule.template.vararg is None else len(named)
        for k, name in list(enumerate(named))[len(args) : end] if named is not UFUNC_KEYWORDS else ():
            if name not in left or (name in own and (k > last or own[k] != name)):
                break
            args = (*args, left.pop(name))
        kept = [
            (k, v) for k, v in left.items() if k in rule.template.parameters or not _is_value(v, named.get(k))
        ]
        return args, tuple(kept)

    @staticmethod
    def is_default(function: Any, name: str | int | None, value: Any) -> bool:
        """Whether a value is the default of a parameter, given by name or position, of a library function."""
        of_library = str(getattr(function, "__module__", "")).partition(".")[0] in FIXED
        if name is None or value is MISSING or not of_library:
            return False
        known = parameters_of(function)
        if isinstance(name, int):
            is_listed = name < len(known) and not isinstance(function, np.ufunc)
            name = [*known][name] if is_listed else ""
        default = known.get(name, MISSING)
        if default is NOT_GIVEN:
            return name == "keepdims" and value is False
        return type(default) is type(value) and default == value

    @staticmethod
    def is_list(kind: Kind) -> bool | None:
        """Whether values of the kind are lists; None when that is dynamic."""
        if isinstance(kind, Instance) and not issubclass(kind.cls, list):
            return False
        return None if isinstance(kind, Unknown) else isinstance(kind, List)

    @staticmethod
    def attribute(kind: Kind, name: str) -> Any:
        """The function equivalent to an attribute of a value of this kind; None for an inactive attribute."""
        return ATTRIBUTES.get(name) if isinstance(kind, (Array, Foreign, Numeric, Scalar, Unknown)) else None

    @staticmethod
    def member(kind: Kind, name: str) -> Member | None:
        """The member that an attribute of an object of this kind is; None when it is dynamic."""
        return member_of(kind, name)

    @staticmethod
    def tuple_positions(function: Any, count: int, keywords: list[str]) -> list[int] | None:
        """For the constructor of a named tuple, the item that each argument becomes; None for other calls."""
        if not isinstance(function, type) or not is_named_tuple(function):
            return None
        names: tuple[str, ...] = function._fields  # type: ignore[attr-defined]
        found = [*range(count), *(names.index(k) for k in keywords if k in names)]
        defaults = function._field_defaults  # type: ignore[attr-defined]
        given = {*found, *(k for k, name in enumerate(names) if name in defaults)}
        fits = len(set(found)) == count + len(keywords) and given == set(range(len(names)))
        return found if fits else None

    @staticmethod
    def tuple_length(function: Any) -> int:
        """The number of items of a class of named tuples."""
        return len(function._fields)

    @staticmethod
    def function_of(kind: Kind) -> Any:
        """The one callable of a literal kind, or MISSING."""
        value = kind.value if isinstance(kind, Literal) else MISSING
        return value if callable(value) else MISSING

    @staticmethod
    def is_object(kind: Kind) -> bool:
        """Whether values of the kind are objects of a user's class."""
        return isinstance(kind, (Record, Instance, Object))

    @staticmethod
    def prefers_right(left: Kind, right: Kind, names: tuple[str, str]) -> bool:
        """Whether `left op right` calls the right operand's method; `names` are those of the two methods."""
        return reflects(left, right, *names)

    @staticmethod
    def may_decline(function: FunctionType, kinds: list[Kind]) -> bool:
        """Whether the method of an operator may return `NotImplemented` for arguments of these kinds."""
        return may_decline(function, kinds)

    @staticmethod
    def is_unknown(kind: Kind) -> bool:
        """Whether nothing is known of values of the kind."""
        return isinstance(kind, (Unknown, Object, OtherArray))

    @staticmethod
    def is_inert(attribute: str) -> bool:
        """Whether an attribute of this name is inactive for every value, such as `shape`."""
        return is_nondifferentiable(getattr(np.ndarray, attribute, None))

    @staticmethod
    def is_dynamic(function: Any, count: int, keywords: list[str]) -> bool:
        """Whether a call is of a dynamic function, as `vjp(f, x)` calls `vjp(f)`, or is treated as one: of a
        library function that calls much code of its library.
        """
        if hasattr(type(function), "lift_call"):
            return True
        if hasattr(type(function), "function_for_kinds") and function.is_dynamic:
            return True
        if isinstance(function, (functools.partial, *GETTERS)):
            return find_rule(function) is None
        if isinstance(function, MethodType) and find_rule(function) is None:
            return not is_nondifferentiable(function) and refusal(function) is None
        if type(function) is BuiltinFunctionType and type(function.__self__) is not ModuleType:
            method = getattr(type(function.__self__), function.__name__, None)  # its rule has `self`, too
            is_known = find_rule(method) is not None or fact(method, "writes") is not None
            return isinstance(method, MethodDescriptorType) and is_known
        if isinstance(function, FunctionType) and function in CALLS_FIRST:
            return count > 1 or "primals" in keywords
        return isinstance(function, FunctionType) and leads_far(function)

    @staticmethod
    def operator(function: Any, left: Kind, right: Kind) -> Any:
        """The function that an operator applies to operands of these kinds: `+` concatenates sequences, `/`
        of the literal 1 has a simpler slope.
        """
        of_sparse = sparse_operator(function, left, right)
        if of_sparse is not None:
            return of_sparse
        if function is operator.truediv and left in (_ONE, _ONE_FLOAT) and is_float(right):
            return one_over
        if isinstance(left, (Array, Foreign)) or isinstance(right, (Array, Foreign)):
            return function
        if isinstance(left, (Tuple, List)) or isinstance(right, (Tuple, List)):
            times = repeated if isinstance(left, (Tuple, List)) else times_repeated
            return {operator.add: operator.concat, operator.mul: times}.get(function, function)
        if function is operator.or_ and {Dict, Unknown} & {type(left)} and {Dict, Unknown} & {type(right)}:
            return united
        return function

    @staticmethod
    def meant(function: Any, count: int, keywords: list[str]) -> Any:
        """The function to differentiate in place of `function`: `np.empty` for `np.ndarray(shape)`, a hypot
        of two numbers for `math.hypot(x, y)`, its stand-in, or itself.
        """
        if function is math.hypot and count == 2:
            return planar_hypot
        plain = function is np.ndarray and count <= 2 and {*keywords} <= {"shape", "dtype", "order"}
        return np.empty if plain else stand_in(function)

    @staticmethod
    def dispatched(function: Any, kind: Kind) -> Any:
        """The function that a dispatcher chooses for a first argument of this kind, MISSING where that is
        dynamic; the function itself if it is no dispatcher.
        """
        if not is_dispatcher(function):
            return function
        found = chosen_by_kind(function, kind)
        return MISSING if found is None else found

    @staticmethod
    @cache
    def helper(name: str) -> Any:
        """The run-time helper of this name."""
        if name in ("fprop_of", "jvp_of"):
            return provided(name)
        return next(getattr(m, name) for m in HELPERS if name in m.__all__)

    @staticmethod
    def array_module() -> tuple[str, Any]:
        """The module of array functions, and its name in generated code."""
        return "np", np

    @staticmethod
    def array_function(name: str) -> Any:
        """The array function of this name."""
        return getattr(np, name)

    context_nature = staticmethod(nature_of_context)

    @staticmethod
    def copied(function: Any) -> frozenset[str]:
        """The parameters that a user's function copies first, and then reads the copy only."""
        return getattr(function, COPIED, frozenset())

    @staticmethod
    def is_in_place(function: Any) -> bool:
        """Whether a primitive changes its first argument, and returns it."""
        return bool(fact(function, "updates"))


# The helpers that return one of their arguments, or a copy of it, by its position.
HANDING_ON = {
    **dict.fromkeys(("held_items", "known", "plain_number", "reference"), 0),
    **dict.fromkeys(("copy_items", "heap_copy", "heap_view", "key_of", "read_items", "read_rows"), 1),
}


class NumPy(ArrayLibrary):
    """The answers of NumPy and SciPy to normal form."""

    indices = np.ndindex
    items = np.ndenumerate
    array = staticmethod(np.asarray)

    def writes(self, function: Any) -> bool:
        return bool(fact(function, "writes")) or isinstance(getattr(function, "__self__", None), np.ufunc)

    def takes_items(self, function: Any) -> bool:
        return function is np.fromiter

    def takes_arrays(self, function: Any) -> bool:
        return function is not MISSING and find_rule(function) is not None and takes_arrays(function)

    def written(self, function: Any, args: list[Any]) -> Any:
        if getattr(function, "__module__", "") not in OF_HEAP:
            return None
        name = function.__name__
        if name in HANDING_ON:
            return args[HANDING_ON[name]]
        if name not in READS:
            return None
        x, key, *options = args[READS[name] :]
        is_field = name.endswith("_field") or any(getattr(o, "value", None) is True for o in options)
        if not is_field:
            return gast.Subscript(value=x, slice=key, ctx=gast.Load())
        return attribute(x, key.value) if isinstance(key, gast.Constant) else None

    def takes_outputs(self, function: Any) -> bool:
        library = (getattr(function, "__module__", None) or "").partition(".")[0]
        return isinstance(function, np.ufunc) or library in ("numpy", "scipy")


PRIMITIVES = RulePrimitives()
