"""The forms that the last derivative of a function was generated from, kept for its next one.

Contract: kept forms give, to the byte, the code that new forms give. So forms are kept only if generation
changed nothing about how other code is read (no assigned outer name, no deferred refusal, no widened kinds),
and reused only for arguments of the same kinds, while their assumptions hold. They are an attribute of the
function. `take_forms` removes them: another thread makes its own.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ..kinds.lattice import Kind
from ..kinds.static_lengths import offered_lengths
from ..primitives.record import count_declared
from ..source.read import read_source
from ..transforms.trees.rebuild import parameter_names
from ..values.code_state import state_of
from .assumptions import capture_key
from .primal_forms import Forms, Style

__all__ = ["keep_forms", "take_forms"]

ATTRIBUTE = "__s2sad_forms__"


class _Kept:
    """Forms, with the state of the function, the kinds of its arguments and the assumptions of the forms."""

    __slots__ = ("assumed", "context", "forms", "kinds")

    def __init__(self, forms: Forms, function: FunctionType, kinds: tuple[Kind, ...]) -> None:
        self.forms, self.kinds, self.context = forms, kinds, _context_of(forms, function)
        self.assumed = [(c, capture_key(c.value(), c.name)) for c in forms.captures.values()]

    def holds(self, function: FunctionType, kinds: tuple[Kind, ...]) -> bool:
        """Whether the same forms would be made now."""
        if self.forms.watched is not function or self.kinds != kinds:
            return False
        if self.context != _context_of(self.forms, function):
            return False
        return all(capture_key(c.value(), c.name) == key for c, key in self.assumed)

    def __reduce__(self) -> Any:
        """Pickles as None, so that a pickled function leaves the forms behind."""
        return type(None), ()


def _context_of(forms: Forms, function: FunctionType) -> tuple[Any, ...]:
    """The other inputs of forms: the function's state, declared rules, and global names, which new names
    avoid.
    """
    around = {id(p.scope.globals): p.scope.globals for p in forms.programs.values()}
    names = [frozenset(scope) for scope in around.values()]
    return state_of(function), count_declared(), bool(offered_lengths()), names


def take_forms(
    function: FunctionType, kinds: tuple[Kind, ...], wrt: tuple[str, ...], style: Style
) -> Forms | None:
    """The kept forms of a function, if a derivative for arguments of these kinds, with respect to `wrt`,
    would make the same ones now; else None.
    """
    kept = vars(function).pop(ATTRIBUTE, None)
    if not isinstance(kept, _Kept) or kept.forms.style != style:
        return None
    try:
        holds = kept.holds(function, kinds)
    except Exception:  # raised by a property, or for a name whose value has no kind now
        return None
    given = dict(zip(parameter_names(read_source(function).tree), kinds, strict=True))
    return kept.forms if holds and kept.forms.serves(wrt, given) else None


def keep_forms(forms: Forms, function: FunctionType, kinds: tuple[Kind, ...]) -> None:
    """Keeps the forms of a derivative as an attribute of its function."""
    vars(function)[ATTRIBUTE] = _Kept(forms, function, kinds)
