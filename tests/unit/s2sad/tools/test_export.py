"""Exported modules stand alone, and give the gradients of `grad` to the last bit."""

from __future__ import annotations

import ast
import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad import NonDifferentiableError, UnsupportedSyntaxError, export
from s2sad.kinds.abstraction import kind_of
from s2sad.tools.kind_tests import described, kind_tests_of
from s2sad.tools.literals import literal
from tests.unit.s2sad.tools import exported_model as model

RUN = """
import pickle, sys
sys.modules["s2sad"] = None
sys.modules["gast"] = None
sys.path.insert(0, sys.argv[1])
import exported
args = pickle.loads(bytes.fromhex(sys.argv[2]))
made = getattr(exported, exported.__all__[0])(*args)
if isinstance(made, tuple) and callable(made[-1]):
    made = (*made[:-1], made[-1](*pickle.loads(bytes.fromhex(sys.argv[3]))))
print(pickle.dumps(made).hex())
"""


def run_alone(text: str, folder: Path, args: Any, cotangents: Any = ()) -> Any:
    """What the exported function gives in a process in which s2sad cannot be imported."""
    (folder / "exported.py").write_text(text)
    given = [pickle.dumps(a).hex() for a in (args, cotangents)]
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(folder), *given], capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return pickle.loads(bytes.fromhex(done.stdout))


def bits(x: Any) -> Any:
    """A value in which equal numbers have equal bits."""
    if isinstance(x, (tuple, list)):
        return type(x).__name__, [bits(v) for v in x]
    if isinstance(x, dict):
        return {k: bits(v) for k, v in x.items()}
    return type(x).__name__, np.asarray(x).dtype, np.shape(x), np.asarray(x).tobytes()


A = np.random.default_rng(0).normal
CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (model.damped, (0.7, 1.3, 2.1)),
    (model.damped, (A(size=4), 1.3, A(size=(3, 4)))),
    (model.square_root, (2.0, 1e-9)),
    (model.square_root, (2.0,)),
    (model.diffuse, (A(size=9), 3)),
    (model.layers, ([(A(size=(2, 3)), A(size=3)), (A(size=(3, 1)), A(size=1))], A(size=(5, 2)))),
    (model.fibonacci, (0.7, 5)),
    (model.of_pair, (1.5,)),
    (model.of_box, (1.5,)),
    (model.with_own_rule, (1.5,)),
    (model.caught, (1.5,)),
    (model.caught, (0.5,)),
    (model.shadowed, (1.5, 0.5, 0.2)),
    (model.keyword_only, (1.5,)),
]


@pytest.mark.parametrize("f, args", CASES, ids=lambda v: v.__name__ if callable(v) else str(len(v)))
def test_gradients_are_the_same_to_the_last_bit(f: Any, args: Any, tmp_path: Path) -> None:
    if f is model.damped and np.ndim(args[0]):
        def f(t: Any, a: Any, b: Any) -> Any:
            return np.sum(model.damped(t, a, b))

    text = export(f, *copy.deepcopy(args), form="value_and_grad")
    expected = s2sad.value_and_grad(f)(*copy.deepcopy(args))
    assert bits(run_alone(text, tmp_path, args)) == bits(expected)


@pytest.mark.parametrize("f, args", [CASES[k] for k in (2, 3, 5, 6, 7, 9)])
def test_generic_code_takes_arguments_of_any_kind(f: Any, args: Any, tmp_path: Path) -> None:
    made = run_alone(export(f), tmp_path, args)
    assert bits(made) == bits(_generic(f, args))


def _generic(f: Any, args: Any) -> Any:
    """The gradient by the generic code."""
    return s2sad.grad(f).__wrapped__(*copy.deepcopy(args))


def test_other_forms(tmp_path: Path) -> None:
    x, w = A(size=(3, 2)), A(size=(2, 4))
    dout = A(size=(3, 4))
    out, bprop = s2sad.vjp(model.matrix, x, w)
    found = run_alone(export(model.matrix, x, w, form="vjp", argnums=None), tmp_path, (x, w), (dout,))
    assert bits(found) == bits((out, bprop(dout)))
    dx, dw = A(size=x.shape), A(size=w.shape)
    found = run_alone(export(model.matrix, x, w, form="jvp", argnums=None), tmp_path, (x, w, dx, dw))
    assert bits(found) == bits(s2sad.jvp(model.matrix)(x, w, dx, dw))


def loaded(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "exported.py", "exec", dont_inherit=True), names)
    return names


def test_cotangents_and_tangents_are_checked() -> None:
    x, w = A(size=(3, 2)), A(size=(2, 4))
    _, bprop = loaded(export(model.matrix, x, w, form="vjp"))["matrix_vjp"](x, w)
    with pytest.raises(TypeError, match="has shape"):
        bprop(np.ones(4))
    push = loaded(export(model.matrix, x, w, form="jvp"))["matrix_jvp"]
    with pytest.raises(TypeError, match="has shape"):
        push(x, w, np.ones(2))


def test_arguments_of_other_kinds_are_refused() -> None:
    slope = loaded(export(model.damped, 0.7, 1.3, 2.1))["damped_grad"]
    assert slope(0.7, 1.3, np.float64(2.1)) == s2sad.grad(model.damped)(0.7, 1.3, 2.1)
    for wrong in (np.ones(3), None, 1j, np.float32(1.0)):
        with pytest.raises(TypeError, match="made for t: a float, a: a real number, b: a real number"):
            slope(0.7, wrong, 2.1)
    with pytest.raises(TypeError, match="made for t: a float"):
        slope(1, 1.3, 2.1)
    u = loaded(export(model.diffuse, np.ones(9), 3))["diffuse_grad"]
    assert u(np.ones(4), 2).shape == (4,)
    with pytest.raises(TypeError, match="float64 array of 1 axis"):
        u(np.ones((4, 4)), 2)
    with pytest.raises(TypeError, match="float64 array"):
        u(np.ones(4, np.float32), 2)


def scaled(p: Any, x: Any, n: Any) -> Any:
    return np.sum((x @ p["w"]["a"] + p["b"]) ** 2) * n


def chained(p: Any, x: Any, n: Any) -> Any:
    out = 0.0 * n
    for k in p:
        out = out * 2.0 + np.sum(p[k]) * x
    return out


def test_numbers_of_other_kinds_are_taken_where_the_code_is_right() -> None:
    p, x = {"w": {"a": A(size=(3, 2))}, "b": A(size=2)}, A(size=(4, 3))
    for example in (900.0, 900):
        slope = loaded(export(scaled, p, x, example))["scaled_grad"]
        for n in (900, 900.0, np.int64(900), True):
            assert bits(slope(p, x, n)) == bits(s2sad.grad(scaled)(p, x, n))
        with pytest.raises(TypeError, match="n: a real number"):
            slope(p, x, np.float32(900))
    slope = loaded(export(scaled, p, x, 900.0, argnums="n"))["scaled_grad"]
    with pytest.raises(TypeError, match="n: a float"):
        slope(p, x, 900)
    u = loaded(export(model.diffuse, np.ones(9), 3))["diffuse_grad"]
    assert bits(u(np.ones(9), np.int64(2))) == bits(u(np.ones(9), 2))
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        u(np.ones(9), 2.0)


@pytest.mark.parametrize("form, argnums", [("grad", "p"), ("value_and_grad", ("x", "p")), ("jvp", "p")])
def test_keys_come_in_any_order_where_the_code_does_not_depend_on_it(form: str, argnums: Any) -> None:
    p, x = {"w": {"a": A(size=(3, 2)), "c": 1.0}, "b": A(size=2)}, A(size=(4, 3))
    turned = {"b": p["b"], "w": {"c": 1.0, "a": p["w"]["a"]}}
    run = loaded(export(scaled, p, x, 2.0, form=form, argnums=argnums))[f"scaled_{form}"]
    derivative = getattr(s2sad, form)(scaled, argnums=argnums)
    for given in (p, turned):
        tangents = (p,) if form == "jvp" else ()
        found, expected = (f(given, x, 2.0, *tangents) for f in (run, derivative))
        assert repr(found) == repr(expected)  # which shows the order of keys


def test_keys_in_another_order_are_refused_where_it_matters() -> None:
    p = {"a": A(size=3), "b": A(size=(2, 3))}
    turned = dict(reversed(p.items()))
    for argnums in ("p", "x"):
        slope = loaded(export(chained, p, 3.0, 2.0, argnums=argnums))["chained_grad"]
        with pytest.raises(TypeError, match="a dict with 'a', 'b' in this order"):
            slope(turned, 3.0, 2.0)
    x = A(size=(4, 3))
    layers = {"w": {"a": A(size=(3, 2))}, "b": A(size=2)}
    run = loaded(export(scaled, layers, x, 2.0, form="vjp", argnums="p"))["scaled_vjp"]
    with pytest.raises(TypeError, match="in this order"):
        run(dict(reversed(layers.items())), x, 2.0)


def test_classes_are_told_by_name_or_are_those_of_the_module() -> None:
    slope = loaded(export(model.stretched, model.Box(2.0, 3.0)))["stretched_grad"]
    assert slope(model.Box(2.0, 3.0)) == model.Box(6.0, 4.0)
    with pytest.raises(TypeError, match="made for box: a Box"):
        slope(model.Pair(2.0, 3.0))
    kind = kind_of(model.Box(2.0, 3.0), "box")
    assert kind_tests_of(("box",), (kind,), lambda cls: "Box_2")[0] == "type(box) is Box_2"
    assert described(kind, lambda cls: "Box_2") == "a Box_2 of this module"


def test_what_the_code_does_not_use_is_not_asked_for() -> None:
    """The example is long, and its kind says so; the code is that of shorter ones as well."""
    text = export(model.diffuse, np.ones(100), 3)
    assert ">= 8" not in text and "u.ndim == 1" in text
    assert "check_arguments" not in export(lambda x: x * x * 0.5, 3.0) or "type(x)" in text


def test_same_bytes_every_time_and_no_paths(tmp_path: Path) -> None:
    code = (
        "import sys; from s2sad import export; from tests.unit.s2sad.tools import exported_model as m\n"
        "import numpy as np; sys.stdout.write(export(m.damped, 1.0, 2.0, 3.0) + export(m.of_pair)"
        " + export(m.caught, 1.0))"
    )
    root = Path(s2sad.__file__).parents[1]
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root), "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "7")
    }
    (text,) = texts
    assert str(root) not in text


@pytest.mark.parametrize("f, args", CASES[:6], ids=lambda v: v.__name__ if callable(v) else str(len(v)))
@pytest.mark.parametrize("form", ["grad", "vjp", "jvp"])
def test_the_text_is_clean(f: Any, args: Any, form: str) -> None:
    text = export(f, *copy.deepcopy(args), form=form)
    tree = ast.parse(text)
    imported = {n.name.split(".")[0] for s in tree.body if isinstance(s, ast.Import) for n in s.names}
    imported |= {(s.module or "").split(".")[0] for s in tree.body if isinstance(s, ast.ImportFrom)}
    assert imported <= {"numpy", *sys.stdlib_module_names}
    defined = [s.name for s in tree.body if isinstance(s, (ast.FunctionDef, ast.ClassDef))]
    assert len(defined) == len(set(defined)) and max(map(len, text.splitlines())) <= 125
    assert defined[0] == loaded(text)["__all__"][0]
    assert "s2sad" in (ast.get_docstring(tree) or "")


def test_what_cannot_stand_alone_is_refused() -> None:
    with pytest.raises(UnsupportedSyntaxError, match=r"cannot stand without(.|\n)*give example arguments"):
        export(model.applied, argnums="x")
    with pytest.raises(UnsupportedSyntaxError, match="assigns"):
        export(model.counted)
    with pytest.raises(NonDifferentiableError, match="is no transform"):
        export(model.damped, form="hessian")
    holder = object()

    def reads_object(x: float) -> float:
        return x * x if holder else x

    with pytest.raises(UnsupportedSyntaxError, match="`holder`, which is a object"):
        export(reads_object)


def test_a_refusal_that_a_handler_catches_is_raised() -> None:
    def careless(x: Any) -> Any:
        try:
            y = x * x
        except Exception:
            y = x
        return y * 2.0

    slope = loaded(export(careless))["careless_grad"]
    assert slope(3.0) == 12.0
    with pytest.raises(TypeError):
        slope([1.0])


def test_the_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "slope.py"
    assert export(model.damped, 0.7, 1.3, 2.1, file=path) == path.read_text()


@pytest.mark.parametrize(
    "value",
    [
        1.5, -0.0, float("inf"), float("nan"), 1 + 2j, complex(-0.0, float("inf")), True, None, "a\n'\"",
        b"\x00", (), (1.0,), [1, [2.0]], {"a": (1, 2), 3: None}, {1, 2}, frozenset({"b"}), set(), range(3),
        slice(1, None), np.float32(0.1), np.array([[1.0, np.nan], [0.1, 3.0]]), np.zeros((0, 3)),
        np.asfortranarray(np.eye(2)[:, :1]), np.array([1, 2], np.uint8), np.array(1 + 2j), np.bool_(True),
        np.dtype("float32"), np.array([0.1], ">f8"),
    ],
    ids=repr,
)  # fmt: skip
def test_literals_make_the_value_again(value: Any) -> None:
    text = literal(value)
    assert text is not None
    made = eval(text, {"np": np})
    assert type(made) is type(value) and bits(made) == bits(value) if hasattr(value, "shape") else True
    assert repr(made) == repr(value) or made == value
    if isinstance(value, np.ndarray):
        assert made.flags.f_contiguous == value.flags.f_contiguous


def test_values_without_a_literal() -> None:
    held: list[Any] = []
    held.append(held)
    for value in (object(), held, np.array([object()]), np.zeros(20_000), np.longdouble(1), lambda: 0):
        assert literal(value) is None


# ---------------------------------------------------------------- compiled


@pytest.mark.parametrize("f, args", [CASES[0], CASES[2], (model.swept, (A(size=7), 3))])
@pytest.mark.parametrize("form", ["grad", "value_and_grad"])
def test_compiled_modules_need_numba_alone(f: Any, args: Any, form: str, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    text = export(f, *copy.deepcopy(args), form=form, compile="numba")
    assert "@njit(" in text and "from numba import njit" in text
    assert text == export(f, *copy.deepcopy(args), form=form, compile="numba")
    expected = getattr(s2sad, form)(f)(*copy.deepcopy(args))
    found = run_alone(text, tmp_path, args)
    pairs = [(found, expected)] if form == "grad" else list(zip(found, expected, strict=True))
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_compiled_forward_mode(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    text = export(model.square_root, 2.0, 1e-9, argnums="a", form="jvp", compile="numba")
    found = run_alone(text, tmp_path, (2.0, 1e-9, 0.5))
    np.testing.assert_allclose(found, s2sad.jvp(model.square_root, argnums="a")(2.0, 1e-9, 0.5), rtol=1e-13)
    with pytest.raises(UnsupportedSyntaxError, match="cannot be compiled by Numba alone"):
        export(model.swept, A(size=7), 3, argnums="u", form="jvp", compile="numba")


def scaled_by_one(a: Any, x: Any) -> Any:
    return np.sum(np.tanh(x * a) ** 2)


def test_what_numba_alone_does_not_compile_is_refused() -> None:
    pytest.importorskip("numba")
    for f, args in ((model.diffuse, (A(size=9), 3)), (model.caught, (1.5,)), (model.of_box, (1.5,))):
        try:
            text = export(f, *args, compile="numba")
        except UnsupportedSyntaxError as error:
            assert "cannot be compiled by Numba alone" in str(error)
        else:
            assert f is model.of_box and "@njit" in text  # its object is inlined
    with pytest.raises(UnsupportedSyntaxError, match=r"(?s)calls `unbroadcast`: Numba.*longer than 1"):
        export(scaled_by_one, np.ones(1), np.ones((2, 3)), compile="numba")
    assert "unbroadcast" not in export(scaled_by_one, np.ones((2, 3)), np.ones((2, 3)), compile="numba")
    with pytest.raises(NonDifferentiableError, match="examples"):
        export(model.swept, compile="numba")
    with pytest.raises(NonDifferentiableError, match="numbers and arrays"):
        export(model.swept, [1.0, 2.0], 3, compile="numba")
    with pytest.raises(UnsupportedSyntaxError, match="float32"):
        export(model.swept, np.ones(3, np.float32), 3, compile="numba")
    with pytest.raises(NonDifferentiableError, match="`vjp` is not exported"):
        export(model.swept, np.ones(3), 3, form="vjp", compile="numba")
    with pytest.raises(NonDifferentiableError, match="no compiler that is known"):
        export(model.swept, np.ones(3), 3, compile="llvm")
