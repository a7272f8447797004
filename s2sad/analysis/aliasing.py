"""Whether the result of a primitive shares memory with its arguments."""

from __future__ import annotations

import operator
from typing import Any

import gast
import numpy as np

from ..kinds import domain
from ..kinds.lattice import UNKNOWN, Dict, Kind, List, Literal, Scalar
from ..kinds.scipy_facts import makes_new
from ..primitives.record import find_rule, is_nondifferentiable
from ..rules.choices import kept_where, zeroed_where
from ..rules.complex_parts import with_imag, with_real
from ..rules.convolutions import full_convolution
from ..rules.differences import undo_diff, undo_neighbours
from ..rules.fourier import fitted, irfft_dx, irfftn_dx, rfft_dx, rfftn_dx
from ..rules.index_tricks import columns, rows, unjoined
from ..rules.indexing import untake, untake_along
from ..rules.methods import item_dx, reshape_method, transpose_method, view_method
from ..rules.padding import from_ends, padded
from ..rules.places import at_mask, cycled, from_mask
from ..rules.placing import place_diagonal, undo_diag
from ..rules.products import dot_dx, dot_dy, matmul_dx, matmul_dy
from ..rules.shaping import unrepeat, untile
from ..rules.tensors import kron_dx, kron_dy, tensordot_dx, tensordot_dy
from ..rules.windows import add_windows
from ..runtime import adjoints as runtime
from ..runtime import broadcasting as fitting
from ..runtime import heap
from ..runtime import mutation as updates
from ..runtime import shadow_table as memory
from ..runtime.adjoints import add
from ..runtime.containers import (
    dict_copy,
    dict_items,
    dict_tangent,
    dict_values,
    items_tangent,
    list_copy,
    listed_tangent,
    tangent_of_dict,
    united,
    values_tangent,
)
from ..runtime.mutation import repeated, times_repeated
from ..transforms.analyses.operations import Apply
from ..transforms.trees.helpers import merged

__all__ = ["DICT_VIEWS", "is_fresh", "is_read_only", "is_steady_view", "sharing", "sharing_of"]


def _present(names: str) -> set[Any]:
    """The functions of NumPy with these names, as far as this release has them."""
    found = set()
    for name in names.split():
        owner: Any = np
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if owner is not None:
            found.add(owner)
    return found


# Views of the first argument, whatever it is (of a number a new array, which shares nothing either way).
VIEWS = _present("""
    atleast_1d atleast_2d atleast_3d diagonal expand_dims flip fliplr flipud linalg.diagonal
    linalg.matrix_transpose matrix_transpose moveaxis permute_dims rollaxis rot90 squeeze swapaxes transpose
    array_split dsplit hsplit split vsplit unstack
""") | {transpose_method, view_method, updates.writable, memory.adjoint_of}

# Views, or the argument itself, or copies: that depends on its memory layout or dtype.
MAYBE_VIEWS = _present("""
    array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray astype complex64 complex128
    conjugate diag float16 float32 float64 linalg.matrix_power longdouble clongdouble nan_to_num ravel real
    require reshape
""") | {reshape_method, updates.stored_in, runtime.unbroadcast, runtime.conform}

# Views of a dict, which have what it has got by the time they are read.
DICT_VIEWS = frozenset({dict_items, dict_values})

# New containers of what the argument holds: of an array its rows, which are views of it.
ELEMENTS = frozenset({list, tuple, dict, list_copy, dict_copy})
JOINED = frozenset({operator.concat, updates.repeated, updates.times_repeated, merged, united})
TANGENTS = frozenset({dict_tangent, items_tangent, listed_tangent, tangent_of_dict, values_tangent})

# Views or copies, in ways that the adjoint cannot follow: of another argument than the first, or of several;
# with one element for many; by values; of an imaginary part, whose adjoint has the other sign; without one.
OTHER_VIEWS = _present("""
    broadcast_arrays broadcast_to einsum imag ix_ lib.stride_tricks.sliding_window_view meshgrid real_if_close
    trim_zeros
""") | {runtime.stop_gradient}

# Those of them that are views whatever the values.
STEADY = _present("broadcast_arrays broadcast_to einsum imag lib.stride_tricks.sliding_window_view")

# NumPy lets nobody write into these.
READ_ONLY = _present("diag diagonal linalg.diagonal")

# Those of arrays: they make new ones.
OPERATORS = frozenset(
    {
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.floordiv,
        operator.mod,
        operator.pow,
        operator.matmul,
        operator.neg,
        operator.pos,
        operator.abs,
        operator.invert,
        operator.and_,
        operator.or_,
        operator.xor,
        operator.lshift,
        operator.rshift,
        operator.not_,
        operator.eq,
        operator.ne,
        operator.lt,
        operator.le,
        operator.gt,
        operator.ge,
    }
)

FRESH = OPERATORS | frozenset(
    {
        runtime.zeros_like,
        runtime.zeros_of,
        runtime.like,
        runtime.copy_adjoint,
        runtime.unreduce,
        runtime.take_at,
        runtime.take_stored,
        updates.cast_like,
        updates.kept,
        updates.of_same_dtype,
        runtime.stored_alone,
        kept_where,
        zeroed_where,
        at_mask,
        cycled,
        from_mask,
        with_imag,
        with_real,
        columns,
        rows,
        unjoined,
        float,
        int,
        len,
        abs,
        divmod,
        add_windows,
        dot_dx,
        dot_dy,
        fitted,
        fitting.contracted,
        from_ends,
        full_convolution,
        irfft_dx,
        irfftn_dx,
        item_dx,
        kron_dx,
        kron_dy,
        matmul_dx,
        matmul_dy,
        padded,
        rfft_dx,
        rfftn_dx,
        place_diagonal,
        tensordot_dx,
        tensordot_dy,
        undo_diag,
        undo_diff,
        undo_neighbours,
        unrepeat,
        untake,
        untake_along,
        untile,
        # The heap itself is no memory: the objects are, and no array among them is changed.
        heap.heap_append,
        heap.heap_clear,
        heap.heap_delete,
        heap.heap_enter,
        heap.heap_insert,
        heap.heap_order,
        heap.heap_replace,
        heap.heap_set,
        heap.heap_splice,
        heap.new_heap,
    }
)


# Of positions and truths, new ones.
FRESH |= _present("all any argmax argmin argpartition argsort count_nonzero nonzero searchsorted")

# New ones, unless they are asked for the derivative, or difference, of order zero.
BY_ORDER = _present("diff polyder")

COPIES = (
    list,
    tuple,
    dict,
    sorted,
    list_copy,
    dict_copy,
    merged,
    united,
    operator.concat,
    repeated,
    times_repeated,
)


COPIES_BY_DEFAULT = _present("array astype nan_to_num meshgrid")


def sharing(operation: Apply) -> str:
    """Whether the result of a primitive is "fresh", a "view" of its first argument (or a list of views),
    "maybe" one, as the run tells, a new container of the "elements" of its arguments, a "live" view
    of what the first one, a dict, holds, or "unknown".
    """
    function = operation.function
    if _among(function, VIEWS):
        return "view"
    if _among(function, DICT_VIEWS):
        return "live"
    if _among(function, ELEMENTS):
        return "elements" if len(operation.args) == 1 and not operation.keywords else "unknown"
    if _among(function, JOINED | TANGENTS):
        return "elements"
    if _among(function, COPIES_BY_DEFAULT) and not _says_copy(operation):
        return "fresh"
    if _among(function, BY_ORDER):
        return "fresh" if len(operation.args) < 2 and not operation.keywords else "maybe"
    if function is np.einsum and len(operation.args) > 2 and isinstance(operation.args[0], gast.Constant):
        return "fresh"  # of several operands
    if _among(function, MAYBE_VIEWS):
        is_method = isinstance(operation.node, gast.Call) and not operation.node.args
        copies = function is np.conjugate and not is_method
        return "fresh" if copies or _is_flatten(operation.node) else "maybe"
    return "fresh" if is_fresh(function) or _is_new_of_scipy(operation) else "unknown"


def _is_flatten(node: Any) -> bool:
    """Whether it is the method that copies, which has the rule of the function that may not."""
    return isinstance(node, gast.Call) and getattr(node.func, "attr", None) == "flatten"


def _is_new_of_scipy(operation: Apply) -> bool:
    """Whether a call is of a function of SciPy that makes new arrays, and does not speak of overwriting."""
    told = any(k.startswith("overwrite") for k, _ in operation.keywords)
    return makes_new(operation.function) and len(operation.args) <= 3 and not told


def is_steady_view(function: Any) -> bool:
    """Whether a function gives views, or copies, that only depend on which arrays it is given."""
    return _among(function, STEADY)


def is_read_only(function: Any) -> bool:
    """Whether the views that a function gives cannot be written to, though its argument can."""
    return _among(function, READ_ONLY)


def _says_copy(operation: Apply) -> bool:
    """Whether a call says, or may, by its arguments whether it copies."""
    positional = operation.function is np.nan_to_num and len(operation.args) > 1
    return positional or "copy" in dict(operation.keywords)


def is_fresh(function: Any) -> bool:
    """Whether a function's result surely shares no memory with its arguments, however it is called."""
    if _among(function, VIEWS | MAYBE_VIEWS | OTHER_VIEWS | BY_ORDER) or function is memory.shallow_copy:
        return False
    if isinstance(getattr(function, "__self__", function), np.ufunc) or _among(function, FRESH):
        return True
    module = getattr(function, "__module__", None) or ""
    if module.partition(".")[0] == "numpy" and find_rule(function) is not None:
        return True
    return is_nondifferentiable(function) and not hasattr(np.ndarray, getattr(function, "__name__", ""))


def _among(function: Any, functions: Any) -> bool:
    try:
        return function in functions
    except TypeError:  # not hashable
        return False


# What objects hold is changed in place nowhere: it is replaced.
HEAP_READS = (heap.heap_element, heap.heap_get, heap.heap_number)


def sharing_of(operation: Apply, kinds: list[Kind]) -> str:
    """As `sharing`, with what the kinds of the operands tell: a copy of a list of numbers shares nothing."""
    if any(operation.function is f for f in HEAP_READS):
        return "fresh"
    found = sharing(operation)
    is_listed = any(operation.function is f for f in (list, tuple, sorted))
    if is_listed and kinds and isinstance(kinds[0], Dict):
        return "fresh"  # of the keys
    if found in ("elements", "unknown") and any(operation.function is f for f in COPIES):
        if all(domain.holds_immutables(k) or domain.is_immutable(k) for k in kinds):
            return "fresh"
        is_joined = len(kinds) > 1 and not all(isinstance(k, (List, Dict, Scalar, Literal)) for k in kinds)
        return "unknown" if is_joined else found
    if operation.function is add:  # of None and a list it is that list
        return "fresh" if all(map(domain.holds_immutables, kinds)) else found
    return "elements" if found == "fresh" and _may_join(operation.function, kinds) else found


def _may_join(function: Any, kinds: list[Kind]) -> bool:
    """Whether an operator may be given lists or dicts, for all that is known."""
    if function is operator.mul:
        return UNKNOWN in kinds and any(map(domain.is_integer, kinds))
    is_join = function is operator.add or function is operator.or_
    return is_join and all(k is UNKNOWN for k in kinds)
