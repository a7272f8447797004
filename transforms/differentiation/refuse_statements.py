"""Statements that neither mode differentiates where their effect on a derivative is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import gast

from ..analyses.operations import Apply, Build, Call, Inert, Item, Opaque, Pop, index_items, is_append
from ..errors import MissingAttributeError, NonDifferentiableError
from ..trees.nodes import (
    call,
    constant,
    find_nodes,
    is_atom,
    located,
    names_read,
    own_statements,
    statements_in,
)
from ..trees.program import MISSING
from ..trees.shown_names import shown_name
from .rule_application import Emitter

__all__ = [
    "check_handlers", "context_nature", "guards_of", "is_item_store", "operand_guard", "refuse_opaque",
]


KEYS = ("items", "keys", "popitem")  # methods of dicts that return keys
READERS = (list, tuple, set, frozenset, sorted, min, max, sum, iter, enumerate, zip, reversed, map, filter)
GIVING_DICTS = ("heap_", "held_", "known", "reference", "united", "merged", "copy_items", "dict_copy")
KEYED = ("get", "pop", "setdefault", "__getitem__")  # methods of dicts that read by a key


def context_nature(emitter: Emitter, s: Any) -> str:
    """The nature of a `with` context; raises UnsupportedSyntaxError for one that may swallow exceptions, and
    for an active one that does more than set options.
    """
    context = s.items[0].context_expr
    made = isinstance(context, gast.Call)
    manager = emitter.program.resolve(context.func if made else context)
    nature = None if manager is MISSING else emitter.primitives.context_nature(manager)
    if nature != "setting" and any(name in emitter.active for name in names_read(context)):
        emitter.program.refuse(
            s,
            "a context that is given a value that carries a derivative",
            "what entering it does to the value is not known",
            "use the value itself in the body",
        )
    if nature is None:
        emitter.program.refuse(
            s,
            "a context that may swallow exceptions, or that is dynamic",
            "how far its body got would not be known",
            "use a context manager of the module's, whose `__exit__` returns nothing",
        )
    return nature


def guards_of(emitter: Emitter, s: Any) -> list[Any]:
    """The run-time checks of a statement. That reads or stores by an active key: an inactive dict may hold a
    value that an earlier call computed from the key, and keys that are read are inactive. That reads a member
    of an active object of unknown kind by the name of one of an array's or list's: it is taken for that.
    """
    checks = lookup_guard(emitter, s) + member_guard(emitter, s)
    if (read := keyed_read(emitter, s)) is not None:
        checks.append(call(emitter.helper("refuse_key"), *read))
    made = new_keys(emitter, s)
    if made and reads_keys(emitter):
        checks.append(call(emitter.helper("refuse_new_key"), *made))
    checks += set_guard(emitter, s)
    return [located(gast.Expr(value=located(check, getattr(s, "value", s))), s) for check in checks]


def operand_guard(emitter: Emitter, s: Any) -> list[Any]:
    """The run-time checks of a statement, through which a derivative flows, that its operands are no arrays
    with operations of their own: a masked array, a column of a table. Raises NonDifferentiableError for one
    that is known to be such.
    """
    checks = []
    for operand in array_operands(emitter, s):
        kind = emitter.kind(operand)
        if not emitter.domain.may_be_other_array(kind):
            continue
        shown = shown_name(emitter.program, operand.id)
        if (words := emitter.domain.other_array_words(kind, shown)) is not None:
            what, why, instead = words
            raise NonDifferentiableError(what, emitter.program.where(getattr(s, "value", s)), why, instead)
        changed = [constant(True)] * is_item_store(s)
        if is_computed(emitter, operand) and not changed:
            continue
        check = call(emitter.helper("refuse_other_array"), operand, constant(shown), *changed)
        checks.append(located(gast.Expr(value=located(check, getattr(s, "value", s))), s))
    return checks


def is_item_store(s: Any) -> bool:
    """Whether a statement is `a[i] = v`."""
    return isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Subscript)


def array_operands(emitter: Emitter, s: Any) -> list[Any]:
    """The names that a statement computes with as arrays or numbers."""
    found: list[Any] = []
    match s:
        case gast.Assign(targets=[gast.Subscript(value=base)], value=value) if emitter.is_active(value):
            found = [base]
        case gast.AugAssign(target=gast.Subscript(value=base), value=value):
            found = [base, value]
        case gast.Assign(value=value) | gast.Expr(value=value):
            match emitter.operation(value):
                case Apply(function=function) as operation if emitter.primitives.computes(function):
                    found = list(operation.operands())
                case Call(function=function, callee=gast.Attribute(value=base)) if function is MISSING:
                    found = [base]
    return [n for n in found if isinstance(n, gast.Name)]


def is_computed(emitter: Emitter, node: Any) -> bool:
    """Whether a name of unknown kind is known to be no array with operations of its own: the result of a
    differentiated computation, or an argument, whose kind is known then.
    """
    is_argument = not emitter.linked and any(node.id == p.id for p in emitter.program.tree.args.args)
    is_container = emitter.domain.is_container(emitter.kind(node))
    return node.id in emitter.plain_names or (is_argument and not is_container)


def member_guard(emitter: Emitter, s: Any) -> list[Any]:
    """A check that an object of unknown kind is an array where a statement reads an attribute that is
    differentiated as an array's, and a list where it appends to it or pops its last item.
    """
    match s:
        case gast.Assign(value=gast.Attribute(value=base, attr=attr) as value):
            if isinstance(emitter.operation(value), (Apply, Inert)) and is_open(emitter, base):
                return [call(emitter.helper("refuse_no_array"), base, constant(attr))]
        case gast.Assign(value=value) if isinstance(found := emitter.operation(value), Pop):
            if is_open(emitter, found.base):
                return [call(emitter.helper("refuse_no_list"), found.base)]
        case gast.Expr(value=value) if is_append(s, emitter.facts) and is_open(emitter, value.func.value):
            return [call(emitter.helper("refuse_no_list"), value.func.value)]
    return []


def is_open(emitter: Emitter, base: Any) -> bool:
    """Whether an atom is active, and of unknown kind."""
    return emitter.is_active(base) and bool(emitter.primitives.is_unknown(emitter.kind(base)))


def lookup_guard(emitter: Emitter, s: Any) -> list[Any]:
    """A check that a subscript with an active index reads an array or container; any other object may compute
    with the index. Raises UnsupportedSyntaxError for one known to be something else.
    """
    match s:
        case gast.Assign(value=gast.Subscript(value=base, slice=index)):
            kind = emitter.kind(base)
            if not emitter.reads_active(index):
                return []
            if not isinstance(emitter.operation(s.value), Item):
                return []  # `np.r_[x, y]`: a function of the index
            domain = emitter.domain
            if domain.item_nature(kind) != "unknown" or domain.is_differentiable(kind) is False:
                return []
            found = emitter.program.resolve(base)
            if found is MISSING:
                return [call(emitter.helper("refuse_lookup"), base)]
            if not isinstance(found, (Sequence, Mapping)):
                emitter.program.refuse(
                    s.value,
                    "a look-up by a value that carries a derivative, in no array or container",
                    "the object may compute anything from the value",
                    "call a function that has a rule or readable source",
                )
    return []


def keyed_read(emitter: Emitter, s: Any) -> tuple[Any, ...] | None:
    """The dict, the key, and the heap, if any, of a statement that may read an inactive dict by an active
    key; else None.
    """
    match s:
        case gast.Assign(value=gast.Subscript(value=base, slice=key)):
            if any(isinstance(part, gast.Slice) for part in index_items(key)):
                return None
        case gast.Assign(value=gast.Call(func=gast.Attribute(value=base, attr=attr), args=[key, *_])) if (
            attr in KEYED
        ):
            pass
        case gast.Assign(value=gast.Call(func=func, args=[heap, base, gast.Name(id=name), *_])) if (
            emitter.is_helper(func, "heap_get")
        ):
            match emitter.computed_by(name):
                case Apply(args=[_, key]) if emitter.reads_active(key):
                    return base, key, heap
            return None
        case _:
            return None
    kind = emitter.kind(base)
    if isinstance(base, gast.Name) and isinstance(emitter.computed_by(base.id), Build):
        return None  # made by the function itself, of constants
    if emitter.reads_active(base) or not emitter.reads_active(key):
        return None
    no_dict = emitter.domain.item_nature(kind) == "array" or emitter.domain.is_list(kind)
    return None if no_dict or emitter.domain.is_tuple(kind) else (base, key)


def new_keys(emitter: Emitter, s: Any) -> list[Any]:
    """The active keys of a dict that a statement makes or stores into."""
    keys: list[Any] = []
    match s:
        case gast.Assign(value=gast.Dict(keys=found)):
            keys = found
        case (
            gast.Assign(targets=[gast.Subscript(value=base, slice=key)])
            | gast.AugAssign(target=gast.Subscript(value=base, slice=key))
        ) if may_be_dict(emitter, base):
            keys = [key]
        case gast.Assign(value=gast.Call(func=func, args=[_, _, gast.Name(id=name), *_])) if (
            emitter.is_helper(func, "heap_set")
        ):
            match emitter.computed_by(name):
                case Apply(args=[_, key]):
                    keys = [key]
        case gast.Assign(value=gast.Call(func=func, args=[_, _, key, *_])) if (
            emitter.is_helper(func, "set_item") or emitter.is_helper(func, "hold_item")
        ):
            keys = [key]
        case gast.Assign(value=gast.Call(func=func, args=[pairs])) if (
            emitter.program.resolve(func) is dict and not emitter.domain.is_dict(emitter.kind(pairs))
        ):
            keys = [pairs]
    return list(filter(emitter.reads_active, keys))


def set_guard(emitter: Emitter, s: Any) -> list[Any]:
    """A check that the elements of a set carry no derivative, since sets count as inactive."""
    match s:
        case gast.Assign(value=gast.Set(elts=elements)):
            found = [e for e in elements if emitter.is_active(e)]
            if any(emitter.domain.is_differentiable(emitter.kind(e)) for e in found):
                refuse_set(emitter, s)
            return [call(emitter.helper("refuse_element"), e) for e in found]
        case gast.Assign(value=gast.Call(func=func, args=[items])) if (
            emitter.program.resolve(func) in (set, frozenset) and emitter.is_active(items)
        ):
            return [call(emitter.helper("refuse_elements"), items)]
    return []


def reads_keys(emitter: Emitter) -> bool:
    """Whether a function may read the keys of a dict as values."""
    if emitter.reads_keys is None:
        emitter.reads_keys = _reads_keys(emitter)
    return emitter.reads_keys


def _reads_keys(emitter: Emitter) -> bool:
    for s in own_statements(emitter.program.tree.body):
        match s:
            case gast.For(iter=value) | gast.Assign(targets=[gast.Tuple()], value=value) if (
                is_atom(value) and may_be_dict(emitter, value)
            ):
                return True
    for c in find_nodes(emitter.program.tree, gast.Call):
        if isinstance(c.func, gast.Attribute) and c.func.attr in KEYS and may_be_dict(emitter, c.func.value):
            return True
        function = emitter.program.resolve(c.func) if is_atom(c.func) else MISSING
        is_loop = getattr(function, "__name__", "") in ("keys_in", "keys_of")
        is_reader = is_loop or any(function is f for f in READERS)
        if is_reader and any(is_atom(a) and may_be_dict(emitter, a) for a in c.args):
            return True
    return False


def may_be_dict(emitter: Emitter, node: Any) -> bool:
    """Whether an atom may be a dict."""
    kind = emitter.kind(node)
    if emitter.domain.is_dict(kind) or not isinstance(node, gast.Name):
        return emitter.domain.is_dict(kind)
    match emitter.computed_by(node.id):
        case Build(node=made):
            return isinstance(made, gast.Dict)
        case Apply(function=function) if not isinstance(function, type) or not issubclass(function, dict):
            return getattr(function, "__name__", "").startswith(GIVING_DICTS)
    return bool(emitter.primitives.is_unknown(kind))


def check_handlers(emitter: Emitter, s: Any) -> None:
    """Raises UnsupportedSyntaxError for a handler that reads from its exception a value that may be
    active.
    """
    for h in s.handlers:
        if h.name is None or h.name.id not in emitter.active:
            continue
        for n in statements_in(h.body):
            if isinstance(n, gast.Assign) and h.name.id in names_read(n.value) and emitter.carries(n.value):
                emitter.program.refuse(
                    n,
                    f"a value from the exception `{h.name.id}`",
                    "whether it carries a derivative is not known",
                    "keep the value in a variable before it is raised",
                )


def refuse_opaque(emitter: Emitter, statement: Any, operation: Opaque) -> NoReturn:
    """Raises UnsupportedSyntaxError for an active operation without a rule."""
    if isinstance(operation.node, gast.Attribute):
        attr = operation.node.attr
        if (told := emitter.domain.missing_attribute(emitter.kind(operation.node.value), attr)) is not None:
            raise MissingAttributeError(told, emitter.program.where(operation.node))
        if emitter.domain.is_array(emitter.kind(operation.node.value)):
            how = "store into the array: `x[0] = v` for `x.at[0].set(v)`, `x[0] += v` for `x.at[0].add(v)`"
            emitter.program.refuse(
                statement, f"arrays of NumPy have no attribute `{attr}`", "", how if attr == "at" else ""
            )
        emitter.program.refuse(
            statement,
            f"the attribute `{attr}` of a value that carries a derivative",
            "how it depends on the value is not known",
            "pass what is needed as an argument of its own",
        )
    emitter.program.refuse(
        statement,
        "an operator on an object that carries a derivative, or whose operand does",
        "which function of which class it calls is dynamic",
        "define the operator in Python without `NotImplemented`, or call a method by its name",
    )


def refuse_set(emitter: Emitter, statement: Any) -> NoReturn:
    emitter.program.refuse(
        statement,
        "a set of values that carry derivatives",
        "its elements have no order, and so derivatives have no place",
        "use a list or a dict",
    )
