"""Statements that neither mode differentiates where what they do to a derivative is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import gast

from ..analyses.operations import Item, Opaque
from ..trees.nodes import call, located, names_read, statements_in
from ..trees.program import MISSING

if TYPE_CHECKING:
    from .emit import Emitter

__all__ = ["check_handlers", "context_nature", "index_guard", "refuse_opaque"]


def context_nature(emitter: Emitter, s: Any) -> str:
    """What the context of a `with` does; raises UnsupportedSyntaxError for one that may swallow
    exceptions, or that holds what is differentiated.
    """
    context = s.items[0].context_expr
    made = isinstance(context, gast.Call)
    manager = emitter.program.resolve(context.func if made else context)
    nature = None if manager is MISSING else emitter.primitives.context_nature(manager)
    if nature != "setting" and any(name in emitter.active for name in names_read(context)):
        emitter.program.refuse(
            s,
            "a context of what carries a derivative",
            "what entering it does to the value is not known",
            "use the value itself in the body",
        )
    if nature is None:
        emitter.program.refuse(
            s,
            "a context that may swallow exceptions, or that is not known before the run",
            "how far its body got would not be known",
            "use a context manager of the module's, whose `__exit__` returns nothing",
        )
    return nature


def index_guard(emitter: Emitter, s: Any) -> list[Any]:
    """A check that what is looked up by a value that carries a derivative is in an array or container:
    any other object may compute with it. Raises UnsupportedSyntaxError for one known to be something
    else.
    """
    match s:
        case gast.Assign(value=gast.Subscript(value=base, slice=index)):
            kind = emitter.kind(base)
            if not any(n in emitter.active for n in names_read(index)):
                return []
            if not isinstance(emitter.operation(s.value), Item):
                return []  # `np.r_[x, y]`: a function of the index
            domain = emitter.domain
            if domain.item_nature(kind) != "unknown" or domain.is_differentiable(kind) is False:
                return []
            found = emitter.program.resolve(base)
            if found is MISSING:
                check = located(call(emitter.helper("refuse_lookup"), base), s.value)
                return [located(gast.Expr(value=check), s)]
            if not isinstance(found, (Sequence, Mapping)):
                emitter.program.refuse(
                    s.value,
                    "a look-up by a value that carries a derivative, in what is no array or container",
                    "what the object computes of the value is not known",
                    "call a function that has a rule or readable source",
                )
    return []


def check_handlers(emitter: Emitter, s: Any) -> None:
    """Raises UnsupportedSyntaxError for a handler that reads values from its exception, which may carry
    a derivative.
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
    """Raises UnsupportedSyntaxError for an expression whose derivative is not known."""
    if isinstance(operation.node, gast.Attribute):
        emitter.program.refuse(
            statement,
            f"the attribute `{operation.node.attr}` of a value that carries a derivative",
            "what it has to do with the value is not known",
            "pass what is needed as an argument of its own",
        )
    if not isinstance(operation.node, gast.Set):
        emitter.program.refuse(
            statement,
            "an operator on an object that carries a derivative, or whose operand does",
            "which function of which class it calls cannot be told before the run",
            "define the operator in Python without `NotImplemented`, or call a method by its name",
        )
    emitter.program.refuse(
        statement,
        "a set of values that carry derivatives",
        "its elements have no places that derivatives could have",
        "use a list or a dict",
    )
