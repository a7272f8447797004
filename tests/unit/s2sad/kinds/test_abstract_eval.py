"""What is inferred of a result contains it, whatever the values and the lengths of the arguments."""
from __future__ import annotations

import math
import numbers
import operator
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings

from s2sad.kinds.abstraction import contains, kind_of
from s2sad.kinds.abstraction import kinds_of as kinds_together
from s2sad.kinds.elementwise import broadcast_dims
from s2sad.kinds.indexing import (
    SliceItem,
    attribute_kind,
    dict_kind,
    element_kind,
    iteration_kind,
    kind_of_literal,
    kind_of_static,
    list_kind,
    literal_int,
    stored_kind,
    subscript_kind,
    unpack_kinds,
)
from s2sad.kinds.join import join
from s2sad.kinds.lattice import (
    NOT_ONE,
    NOTHING,
    NUMERIC,
    TEXT,
    UNKNOWN,
    Array,
    Dict,
    List,
    Literal,
    Record,
    Scalar,
    Sym,
    Tuple,
)
from s2sad.kinds.result_kinds import call_kind as call_kind_if
from s2sad.kinds.shape_relations import is_differentiable, unbroadcast_plan
from s2sad.primitives.record import is_pure
from s2sad.runtime import adjoints as runtime
from s2sad.transforms.trees.helpers import merged
from tests.unit.s2sad.kinds.kind_values import (
    BOOL,
    FLOAT,
    INT,
    REALS,
    array,
    fast,
    random_array,
    random_number,
    random_operands,
    random_shape,
    seeds,
    sym,
)

many = settings(fast, max_examples=300)


def call_kind(function, args, keywords=None):
    return call_kind_if(function, args, keywords or {}, lambda f: True)


# ---------------------------------------------------------------- calls

F32, N, M = array("n", dtype="float32"), array("n"), array("n", "m")
CALLS = [
    (operator.add, [FLOAT, FLOAT], FLOAT), (operator.mul, [N, FLOAT], N),
    (operator.add, [M, array("k")], M),
    (operator.mul, [F32, Literal(0.5)], F32),
    # np.float64 makes it float64, Python's float does not
    (operator.mul, [F32, FLOAT], array("n", dtype=None)),
    (operator.pow, [FLOAT, Literal(2)], FLOAT), (operator.pow, [FLOAT, INT], FLOAT),
    (operator.pow, [FLOAT, FLOAT], Scalar("number")),  # (-1.0) ** 0.5 is complex
    (operator.pow, [INT, INT], Scalar("real")),  # 2 ** -1 is a float
    (np.power, [FLOAT, FLOAT], FLOAT), (operator.lt, [FLOAT, FLOAT], BOOL),
    (operator.lt, [N, N], array("n", dtype="bool")),
    (operator.add, [NUMERIC, FLOAT], NUMERIC), (operator.add, [NUMERIC, N], Array(None, None)),
    (operator.add, [UNKNOWN, N], UNKNOWN),
    (operator.add, [Array("float64", None), N], Array("float64", None)),
    (operator.iadd, [M, NUMERIC], M), (operator.iadd, [FLOAT, N], N), (np.sin, [FLOAT], FLOAT),
    (math.sin, [FLOAT], FLOAT),
    (math.sin, [NUMERIC], FLOAT), (np.where, [array("n", dtype="bool"), FLOAT, Literal(0.0)], N),
    (np.where, [BOOL, FLOAT, FLOAT], Array("float64", ())),
    (np.modf, [N], Tuple((N, N))), (np.clip, [N, Literal(0.0), Literal(None)], N),
    (operator.matmul, [M, array("k")], N), (np.dot, [N, array("m")], FLOAT), (np.outer, [N, array("m")], M),
    (np.linalg.solve, [M, array("k")], N),
    (np.linalg.slogdet, [M], Tuple((FLOAT, FLOAT), type(np.linalg.slogdet(np.eye(1))))),
    (np.sum, [M], FLOAT), (np.sum, [Array("float64", None)], FLOAT), (np.sum, [NUMERIC], Scalar("number")),
    (np.diff, [N], Array("float64", (sym("n", -1),))),
    (np.concatenate, [Tuple((N, array("m")))], array(None)),
    (np.stack, [Tuple((N, array("m")))], array("=2", "n")),
    (np.array, [list_kind([FLOAT, FLOAT])], array("=2")),
    (np.array, [List(None, N)], Array("float64", None)),  # of an empty list it is 1-d
    (np.subtract.outer, [N, array("m")], array("n", "m")),
    (np.equal.outer, [N, N], array("n", "n", dtype="bool")),
    (np.add.outer, [array(), array()], UNKNOWN), (np.multiply.outer, [FLOAT, N], UNKNOWN),
    (np.add.outer, [array("n", dtype="int64"), M], Array("float64", (sym("n"), *M.dims))),
    (np.logaddexp.reduce, [N], FLOAT),
    (np.add.reduce, [array("n", "m", dtype="float32")], array("m", dtype="float32")),
    (np.add.reduce, [array("n", dtype="int8")], UNKNOWN), (np.less.reduce, [M], array("m", dtype="bool")),
    (np.squeeze, [array("n", 1)], N), (np.squeeze, [array("n", None)], Array("float64", None)),
    (np.convolve, [N, array("m"), Literal("same")], array(None)), (np.sum, [M, INT], array("?")),
    (np.roll, [M, Literal(1), INT], M), (np.pad, [M, INT], array(None, None)),
    (np.emath.sqrt, [N], UNKNOWN),
    (np.take, [N, array("k", dtype="int64")], array("k")),
    (np.einsum, [Literal("ij,jk->ik"), M, array("p", "q")], array("n", "q")),
    (np.zeros, [INT], array(None)), (np.zeros, [Literal(3)], array("=3")),
    (np.zeros, [Literal(10 ** 12)], array(f"={10**12}")),
    (np.zeros, [Tuple((INT, Literal(1)))], array(None, 1)), (np.zeros, [Scalar("int", sym("n"))], N),
    (np.eye, [INT], array(None, None)), (np.arange, [INT], array(None, dtype="int64")),
    (np.linspace, [Literal(0), FLOAT, Literal(1000)], array("=1000")),
    (np.full, [Literal(2), FLOAT], array("=2")),
    (np.reshape, [N, Tuple((Literal(-1), Literal(1)))], array("n", 1)),
    (np.reshape, [M, Literal(-1)], array(None)),
    (np.broadcast_to, [N, Tuple((Literal(4), INT))], array("=4", None)),
    (max, [INT, FLOAT], Scalar("real")), (max, [List(None, FLOAT)], FLOAT),
    (sum, [List(None, FLOAT)], Scalar("real")),
    (sum, [Tuple((FLOAT, FLOAT))], FLOAT), (len, [N], Scalar("int", sym("n"))),
    (len, [Tuple((FLOAT,))], Literal(1)),
    (operator.sub, [Scalar("int", sym("n")), Literal(1)], Scalar("int", sym("n", -1))),
    (operator.add, [Tuple((FLOAT,)), Tuple((INT,))], Tuple((FLOAT, INT))), (list, [N], List(None, FLOAT)),
    (operator.is_, [UNKNOWN, Literal(None)], BOOL),
    (operator.eq, [Literal("a"), Literal("b")], Literal(False)),
    (float, [INT], FLOAT),
    (np.float32, [N], F32), (round, [FLOAT], INT), (divmod, [FLOAT, FLOAT], Tuple((FLOAT, FLOAT))),
    (runtime.unbroadcast, [M, array("k")], array("k")), (runtime.unreduce, [FLOAT, N], N),
    (str, [FLOAT], TEXT), (np.ma.array, [N], UNKNOWN),
    (np.apply_along_axis, [Literal(print), Literal(0), N], UNKNOWN),
    (np.sin, [NOTHING], UNKNOWN), (np.nansum, [array("n", dtype="int64")], Scalar("int64")),
]


@pytest.mark.parametrize(("function", "args", "kind"), CALLS, ids=lambda p: getattr(p, "__name__", None))
def test_kind_of_call(function, args, kind):
    assert call_kind(function, args) is kind


def test_keywords_count():
    assert call_kind(np.sum, [M], {"axis": Literal(0)}) is array("m")
    assert call_kind(np.sum, [M], {"axis": Literal(0), "keepdims": Literal(True)}) is array(1, "m")
    assert call_kind(np.zeros, [INT], {"dtype": Literal(np.float32)}) is array(None, dtype="float32")
    assert call_kind(np.add, [N, N], {"out": N}) is UNKNOWN
    assert call_kind(max, [N], {"key": Literal(abs)}) is UNKNOWN


def test_only_pure_functions_of_known_libraries_are_run():
    def spy(*args):
        raise AssertionError("was run")

    assert call_kind(spy, [FLOAT]) is UNKNOWN
    assert call_kind(np.frompyfunc(spy, 1, 1), [N]) is UNKNOWN
    assert call_kind(np.vectorize(spy), [N]) is UNKNOWN
    assert call_kind_if(np.sin, [N], {}, lambda f: False) is UNKNOWN
    assert call_kind(["not hashable"], [N]) is UNKNOWN


def test_large_literals_ask_for_nothing_large():
    assert call_kind(operator.pow, [Literal(10), Literal(10 ** 9)]) is Scalar("real")
    assert call_kind(operator.lshift, [Literal(1), Literal(10 ** 12)]) is INT
    assert call_kind(np.tile, [N, Literal(10 ** 9)]) is Array("float64", (None,))


def test_warnings_of_trial_runs_are_not_seen():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call_kind(np.mean, [M], {"axis": Literal(1)}) is N
        assert call_kind(np.log, [M]) is M


STRUCTURED = [
    np.sum, np.mean, np.max, np.transpose, np.squeeze, np.ravel, np.cumsum, np.diff, np.sort, np.diag,
    np.trace, np.flip, np.atleast_2d, np.median, np.linalg.norm, np.linalg.det, np.linalg.inv,
    np.linalg.qr, np.fft.fft, np.gradient, np.zeros_like, np.argmax, np.count_nonzero, np.cov,
    partial(np.sum, axis=-1), partial(np.sum, axis=0, keepdims=True), partial(np.pad, pad_width=1),
    partial(np.expand_dims, axis=1), partial(np.reshape, shape=(-1, 1)), partial(np.linalg.svd,
    full_matrices=False), partial(np.roll, shift=1), partial(np.split, indices_or_sections=1),
    partial(np.append, values=1.0), partial(np.fft.irfft, n=4)]
PAIRED = [
    np.dot, np.matmul, np.outer, np.inner, np.vdot, np.kron, np.convolve, np.append, np.linalg.solve,
    np.tensordot, np.cross, np.searchsorted, np.array_equal, np.trapezoid, np.broadcast_arrays, np.take,
    np.interp]
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.eq, operator.and_, np.maximum, np.arctan2, np.hypot, np.power, np.divmod,
    operator.iadd, operator.imul, max, pow]
CHOOSING = (max, np.divmod, operator.lt, operator.eq, operator.and_)
JOINING = [np.array, np.concatenate, np.stack, np.hstack, np.vstack, list, sum, max]


def checked(function, args, kinds, lengths, keywords=None):
    """The result and its inferred kind, after the check that this contains it; None if there is no result."""
    given_kinds = {k: kind_of_literal(v) for k, v in (keywords or {}).items()}
    predicted = call_kind(function, kinds, given_kinds)
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = function(*copies, **(keywords or {}))
        except Exception:  # whatever is raised: there is no result of which something was said
            return None
    assert contains(predicted, result, dict(lengths)), (function, predicted, result)
    return result, predicted


def blurred(rng, kind):
    """The kind, or one above it."""
    if rng.random() < 0.7:
        return kind
    if isinstance(kind, Array):
        some = [NOT_ONE if isinstance(d, Sym) and d.not_one else d for d in kind.dims]
        dims = tuple(rng.choice([None, d, s]) for d, s in zip(kind.dims, some, strict=True))
        same_rank = Array(kind.dtype, dims)
        return rng.choice([same_rank, same_rank, Array(kind.dtype, None), Array(None, dims), NUMERIC])
    return rng.choice([join(kind, INT), join(kind, Scalar("float32")), NUMERIC])


def kinds_of(rng, args):
    """Kinds of the arguments, some of which are cut, some less than fully known; the lengths of all axes."""
    lengths = {f"a{i}.{axis}": n for i, a in enumerate(args) for axis, n in enumerate(np.shape(a))}
    kinds = [kind_of(a, f"a{i}") for i, a in enumerate(args)]
    if rng.random() < 0.5:
        kinds = list(kinds_together(args, tuple(f"a{i}" for i in range(len(args)))))
    for i, a in enumerate(args):
        if np.ndim(a) and rng.random() < 0.2:
            cut = rng.randint(1, 2)
            args[i], kinds[i] = a[cut:], subscript_kind(kinds[i], [SliceItem(cut)])
    return [blurred(rng, k) for k in kinds], lengths


@many
@given(seeds)
def test_kinds_of_elementwise_results_contain_them(rng):
    args = random_operands(rng)
    kinds, lengths = kinds_of(rng, args)
    for function in OPERATORS:
        made = checked(function, args, kinds, lengths)
        if made is not None and function not in CHOOSING:
            for i, (x, kind) in enumerate(zip(args, kinds, strict=True)):
                check_plan(x, kind, *made)
                check_plan(x, kind, *made, [*kinds[:i], *kinds[i + 1 :]])


def check_plan(x, kind, out, predicted, others=None):
    """A cotangent like the result becomes one like the operand by what the plan says."""
    plan = unbroadcast_plan(kind, predicted, others)
    if plan == "guard" or not is_differentiable(kind):
        return
    like = np.asarray(x)
    dtype = np.float64 if like.dtype.kind in "bi" else like.dtype  # an int that shares its name with floats
    out_dtype = np.result_type(out)
    dout = np.ones_like(out, dtype=out_dtype if out_dtype.kind in "fc" else np.float64)
    if plan in ("none", "sum"):
        dx = dout if plan == "none" else np.sum(dout)
    else:
        dx = np.sum(dout, axis=plan[1], keepdims=plan[0] == "kept")
    assert np.shape(dx) == like.shape and np.result_type(dx) == dtype, (plan, kind, predicted)


@fast
@given(seeds)
def test_kinds_of_structured_results_contain_them(rng):
    args = [random_array(rng, random_shape(rng), REALS)]
    kinds, lengths = kinds_of(rng, args)
    for function in STRUCTURED:
        keywords = function.keywords if isinstance(function, partial) else {}
        checked(getattr(function, "func", function), args, kinds, lengths, keywords)


@fast
@given(seeds)
def test_kinds_of_products_contain_them(rng):
    sizes = rng.choice([(3,), (2, 3), (0, 1, 2)])
    args = [random_array(rng, random_shape(rng, 2, sizes), REALS) for _ in range(2)]
    kinds, lengths = kinds_of(rng, args)
    for function in PAIRED:
        checked(function, args, kinds, lengths)


@fast
@given(seeds)
def test_kinds_of_joined_arrays_contain_them(rng):
    shape = random_shape(rng, 2, (1, 2))
    shapes = [rng.choice([shape, random_shape(rng, 2, (1, 2))]) for _ in range(rng.randint(0, 3))]
    parts = [rng.choice([random_number(rng), random_array(rng, s)]) for s in shapes]
    kinds = [kind_of(p, f"a{i}") for i, p in enumerate(parts)]
    lengths = {f"a{i}.{axis}": n for i, a in enumerate(parts) for axis, n in enumerate(np.shape(a))}
    for whole in (list_kind(kinds), kind_of(parts, "whole")):
        for function in JOINING:
            checked(function, [parts], [whole], lengths)


# ---------------------------------------------------------------- elements, items, attributes

@pytest.mark.parametrize(("base", "index", "kind"), [
    (N, [SliceItem(1)], Array("float64", (sym("n", -1),))),
    (N, [SliceItem(None, -2)], Array("float64", (sym("n", -2),))),
    (N, [SliceItem(1, -1)], Array("float64", (sym("n", -2),))), (N, [SliceItem(None, None, -1)], N),
    (N, [SliceItem(0, None, -1)], array(None)), (N, [SliceItem()], N),
    (Array("float64", (sym("n", -1),)), [SliceItem(1)], Array("float64", (sym("n", -2),))),
    (array("n"), [SliceItem(None, 2)], array(None)), (N, [SliceItem(-2)], array(None)),
    (N, [SliceItem("unknown")], array(None)),
    (array("=5"), [SliceItem(1, 3)], array("=2")), (array("=2"), [SliceItem(1)], array(1)),
    (N, [SliceItem(0, 1)], array(None)),
    (N, [INT], FLOAT), (M, [INT], array("m")), (M, [Literal(0), Literal(1)], FLOAT),
    (M, [SliceItem(), INT], N),
    (N, [SliceItem(), Literal(None)], array("n", 1)), (M, [Literal(...), INT], N),
    (N, [Literal(...), INT], Array("float64", ())),
    (N, [array("n", dtype="bool")], array(None)), (M, [array("k", dtype="int64")], array("k", "m")),
    (M, [array("n", "m", dtype="bool")], array(None)), (M, [array("k", dtype="int64"), INT], array(None)),
    (M, [Tuple((INT, INT))], FLOAT), (M, [List(None, INT)], array(None, "m")), (N, [UNKNOWN], NUMERIC),
    (Array("float64", None), [SliceItem(1)], Array("float64", None)),
    (Array("float64", None), [INT], NUMERIC),
    (Array("float64", ()), [Tuple(())], FLOAT), (NUMERIC, [INT], NUMERIC), (UNKNOWN, [INT], UNKNOWN),
    (N, [INT, INT], UNKNOWN),
    (Tuple((FLOAT, INT)), [Literal(-1)], INT), (Tuple((FLOAT, INT)), [INT], Scalar("real")),
    (Tuple((FLOAT, INT, N)), [SliceItem(1)], Tuple((INT, N))), (List(None, N), [INT], N),
    (List(None, N), [SliceItem(1)], List(None, N)),
    (list_kind([FLOAT, N]), [Literal(1)], N), (Dict((("a", FLOAT), ("b", N))), [Literal("b")], N),
    (Dict((("a", FLOAT), ("b", N))), [UNKNOWN], NUMERIC), (Dict(((1, FLOAT),
    (2, N))), [Literal(1.0)], FLOAT), (FLOAT, [INT], UNKNOWN),
], ids=repr)
def test_kind_of_item(base, index, kind):
    assert subscript_kind(base, index) is kind


def random_index(rng):
    if rng.random() < 0.6:
        lower, upper = (rng.choice([None, None, *range(-3, 4)]) for _ in range(2))
        return slice(lower, upper, rng.choice([None, None, None, 1, -1, 2]))
    return rng.choice([
        rng.randint(-2, 2), rng.randint(-2, 2), None, ..., np.int64(1), [0, 1], [True, False, True],
        np.array(0), np.array([[0, 1, 0]]), np.array([True, False, True]), np.ones((2, 3), bool)])


def as_item(item, name, literal):
    if isinstance(item, slice):
        return SliceItem(item.start, item.stop, item.step)
    return Literal(item) if literal and isinstance(item, int) else kind_of(item, name)


@many
@given(seeds)
def test_kinds_of_items_contain_them(rng):
    args = [random_array(rng, random_shape(rng, 3, (0, 1, 2, 3, 3, 4)), REALS)]
    (kind,), lengths = kinds_of(rng, args)
    for _ in range(20):
        index = [random_index(rng) for _ in range(rng.randint(0, np.ndim(args[0]) + 1))]
        try:
            result = args[0][tuple(index)]
        except (IndexError, ValueError):
            continue
        known = lengths | {f"i{i}.{axis}": n for i, item in enumerate(index) if isinstance(item, np.ndarray)
                           for axis, n in enumerate(item.shape)}
        for literal in (True, False):
            items = [as_item(item, f"i{i}", literal) for i, item in enumerate(index)]
            predicted = subscript_kind(kind, items or [Tuple(())])
            assert contains(predicted, result, dict(known)), (kind, index, predicted, result)


@fast
@given(seeds)
def test_kinds_of_elements_and_attributes_contain_them(rng):
    args = random_operands(rng)
    kinds, lengths = kinds_of(rng, args)
    for x, kind in zip(args, kinds, strict=True):
        for attr in ("T", "mT", "shape", "ndim", "size", "dtype", "real", "imag", "itemsize"):
            if not (attr == "mT" and np.ndim(x) < 2) and hasattr(x, attr):
                assert contains(attribute_kind(kind, attr), getattr(x, attr), dict(lengths)), attr
        if np.ndim(x):
            assert all(contains(element_kind(kind), v, dict(lengths)) for v in x)


def test_kinds_of_what_is_unpacked_iterated_stored():
    assert unpack_kinds(Tuple((FLOAT, INT)), 2) == [FLOAT, INT]
    assert unpack_kinds(M, 2) == [array("m")] * 2
    assert unpack_kinds(UNKNOWN, 2) == [UNKNOWN] * 2
    assert iteration_kind(range, [INT]) is INT
    assert iteration_kind(enumerate, [N]) is Tuple((INT, FLOAT))
    assert iteration_kind(zip, [N, List(None, M)]) is Tuple((FLOAT, M))
    assert iteration_kind(reversed, [N]) is FLOAT
    assert stored_kind(List((FLOAT,), FLOAT), INT) is List(None, Scalar("real"))
    assert stored_kind(N, NUMERIC) is N
    assert stored_kind(Dict(()), FLOAT) is UNKNOWN
    pair = Dict((("a", FLOAT), ("b", N)))
    assert stored_kind(pair, FLOAT, TEXT) is UNKNOWN
    assert stored_kind(pair, FLOAT, TEXT, has_key=True) is Dict((("a", FLOAT), ("b", join(N, FLOAT))))
    assert dict_kind(["a", None], [FLOAT, FLOAT]) is UNKNOWN
    assert dict_kind(["a", "a"], [FLOAT, INT]) is Dict((("a", INT),))
    assert element_kind(List(None, NOTHING)) is UNKNOWN  # it may have been filled where nobody looked
    assert [literal_int(k) for k in (Literal(2), Literal(None), INT, Literal(True))] == [2, None,
    "unknown", "unknown"]
    assert kind_of_literal((1, "a")) is Tuple((Literal(1), Literal("a")))
    assert kind_of_static(np.pi) is FLOAT
    assert kind_of_static(np.float32) is Literal(np.float32)
    assert kind_of_static(3.5) is UNKNOWN  # a global may be bound to something else later


def test_lengths_of_broadcasting():
    n, m = sym("n"), sym("m")
    assert broadcast_dims([(n,), (None, 1)]) == (None, n)
    assert broadcast_dims([(n,), (m,)]) == (n,)
    assert broadcast_dims([(Sym("n", -1),), (Sym("m", -1),)]) == (None,)
    assert broadcast_dims([(Sym("n", -1),), (n,)]) == (n,)
    assert broadcast_dims([()]) == ()


SHAPING_CALLS = [
    (np.roll, {"shift": 1}), (np.roll, {"shift": -1, "axis": 0}), (np.flip, {}), (np.flip, {"axis": -1}),
    (np.split, {"indices_or_sections": 2}), (np.split, {"indices_or_sections": 4, "axis": -1}),
    (np.split, {"indices_or_sections": [1, 3]}), (np.array_split, {"indices_or_sections": 3}),
    (np.vsplit, {"indices_or_sections": 2}), (np.hsplit, {"indices_or_sections": 2}),
    (np.dsplit, {"indices_or_sections": [1]}),
]  # fmt: skip


@fast
@given(seeds)
def test_kinds_of_what_is_turned_or_cut_contain_it(rng):
    args = [random_array(rng, random_shape(rng, 3, rng.choice([(0, 1, 2), (4, 8, 12), (1, 8, 9)])), REALS)]
    kinds, lengths = kinds_of(rng, args)
    for function, keywords in SHAPING_CALLS:
        checked(function, args, kinds, lengths, keywords)


@fast
@given(seeds)
def test_kinds_of_open_meshes_contain_them(rng):
    args = [np.arange(rng.choice([0, 1, 2, 9])) for _ in range(rng.randint(1, 3))]
    kinds, lengths = kinds_of(rng, args)
    made = checked(np.ix_, args, kinds, lengths)
    grid = np.ones((9,) * len(args))
    if made is not None and all(len(a) == 0 or a.max() < 9 for a in args):
        kind = subscript_kind(kind_of(grid, "grid"), [made[1]])
        assert contains(kind, grid[made[0]], dict(lengths))


def test_no_axis_of_length_zero_is_taken_from_in_turns():
    x, places = kind_of(np.ones((3, 4)), "x"), array("int64", None)
    found = call_kind(np.take, [x, places], {"axis": Literal(0), "mode": Literal("wrap")})
    assert found is UNKNOWN  # and so it was not run
    found = call_kind(np.take, [x, Literal(7)], {"axis": Literal(0), "mode": Literal("wrap")})
    assert found.dtype == "float64" and len(found.dims) == 1


COUNT = Scalar("int", sym("n"))
PLACES = Array(np.dtype(np.intp).name, (None,))


@pytest.mark.parametrize(("function", "args", "kind"), [
    (np.unique, (array("n"),), Array("float64", (None,))),
    (np.union1d, (array("n"), array("m")), Array("float64", (None,))),
    (np.setdiff1d, (array("n"), array("n", dtype="int64")), UNKNOWN),
    (np.nonzero, (array("n", 1),), Tuple((PLACES, PLACES))), (np.where, (array("n"),), Tuple((PLACES,))),
    (np.flatnonzero, (array("n", "m"),), PLACES),
    (np.repeat, (array("n", "m"), Literal(2)), Array("float64", (None,))),
    (np.repeat, (array("n"), array("m", dtype="int64")), Array("float64", (None,))),
    (np.isin, (array("n"), array("m")), array("n", dtype="bool")),
    (np.fft.fftfreq, (COUNT, FLOAT), array("n")), (np.fft.fftfreq, (COUNT, array("m")), UNKNOWN),
    (np.fft.rfftfreq, (COUNT,), Array("float64", (None,))),
], ids=lambda x: getattr(x, "__name__", repr(x)))
def test_kind_of_what_values_or_sizes_decide(function, args, kind):
    assert call_kind_if(function, args, {}, is_pure) is kind


def test_pairs_of_one_count_are_as_many():
    rows = call_kind_if(np.triu_indices, (COUNT,), {"k": Literal(1)}, is_pure)
    assert rows.items[0] is rows.items[1] and isinstance(rows.items[0].dims[0], Sym)
    assert rows is call_kind_if(np.triu_indices, (COUNT,), {"k": Literal(1)}, is_pure)
    assert rows is not call_kind_if(np.triu_indices, (COUNT,), {"k": Literal(2)}, is_pure)
    assert call_kind_if(np.triu_indices, (COUNT, Scalar("int")), {}, is_pure).items[0] is PLACES
    assert call_kind_if(np.triu_indices, (Scalar("int"),), {}, is_pure).items[0].dims == (None,)


class Body:
    """A class of the tests."""


class Checking(type):
    """Classes that answer for themselves what their objects are."""

    def __instancecheck__(cls, value):
        return True


class Checked(metaclass=Checking):
    """Such a class."""


@pytest.mark.parametrize(("kind", "classes", "answer"), [
    (Record(Body, ()), Literal(Body), Literal(True)), (Record(Body, ()), Literal(float), Literal(False)),
    (FLOAT, Literal(Body), Literal(False)), (array("n"), Literal(Body), Literal(False)),
    (FLOAT, Tuple((Literal(int), Literal(float))), Literal(True)), (Literal(2), Literal(int), Literal(True)),
    (Literal(2.0), Literal(int), Literal(False)), (FLOAT, Literal(int), Literal(False)),
    (UNKNOWN, Literal(Body), BOOL),
    (FLOAT, Literal(numbers.Real), Literal(True)),
    (FLOAT, Literal(Checked), BOOL), (FLOAT, UNKNOWN, BOOL),
    (FLOAT, Tuple((Literal(Body), UNKNOWN)), BOOL),
], ids=repr)
def test_what_kinds_tell_of_classes(kind, classes, answer):
    assert call_kind(isinstance, [kind, classes]) is answer


@pytest.mark.parametrize(("function", "args", "kind"), [
    (operator.add, [TEXT, Literal("a")], TEXT), (operator.eq, [TEXT, Literal("a")], BOOL),
    (str.startswith, [TEXT, Literal("a")], BOOL), (str.split, [TEXT], List(None, TEXT)),
    (str.count, [TEXT, TEXT], INT), (operator.add, [TEXT, FLOAT], UNKNOWN),
    (merged, [Dict((("a", FLOAT), ("b", INT))), Dict((("b", FLOAT),))], Dict((("a", FLOAT), ("b", FLOAT)))),
], ids=lambda x: getattr(x, "__name__", repr(x)))
def test_kinds_of_text_and_of_merged_dicts(function, args, kind):
    assert call_kind(function, args) is kind


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.polynomial.legendre.leggauss, (4,)),
        (np.polynomial.hermite.hermgauss, (1,)),
        (np.hanning, (5,)),
        (np.logspace, (0.0, 1.0, 4)),
        (np.geomspace, (1.0, 2.0)),
        (np.linalg.matrix_power, (np.eye(3) * 2.0, 3)),
        (np.tile, (np.ones((2, 3)), 4)),
    ],
)
def test_results_of_any_size(function, args):
    known = kinds_together(args, tuple("abc"[: len(args)]))
    sized = tuple(Literal(a) if type(a) is int else k for a, k in zip(args, known, strict=True))
    for kinds in (known, sized):
        found = call_kind(function, kinds)
        assert found is not UNKNOWN and contains(found, function(*args))
