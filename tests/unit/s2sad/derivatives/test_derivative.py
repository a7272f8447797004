"""Derivatives as objects: shown, pickled, debugged, shared by threads; what they leave alone."""

from __future__ import annotations

import copy
import inspect
import io
import math
import pdb
import pickle
import pydoc
import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad import grad, value_and_grad
from tests.support.watch import watching

TRANSFORMS = [
    *(s2sad.grad, s2sad.value_and_grad, s2sad.vjp, s2sad.jvp, s2sad.jacobian, s2sad.jacfwd),
    *(s2sad.jacrev, s2sad.hessian, s2sad.hvp, s2sad.elementwise_grad),
]


def loss(w: Any, scale: float = 2.0) -> Any:
    """The loss."""
    total = 0.0
    for x in w:
        if x > 0:  # noqa: SIM108
            total = total + scale * x**3
        else:
            total = total - x
    return total


def fragile(x: float) -> float:
    y = x * 2.0
    return math.log(y - 5.0)


loss_gradient = grad(loss)


# ---------------------------------------------------------------- showing


def test_source() -> None:
    source = loss_gradient.source
    assert source == loss_gradient.source == inspect.getsource(loss_gradient)
    assert source.startswith("def loss_grad(w, scale=2.0):\n")
    assert "# total = total + scale * x**3" in source
    specific = loss_gradient.source_for(np.ones(3))
    assert specific == inspect.getsource(loss_gradient.function_for(np.ones(3)))
    compile(source, "<source>", "exec")
    compile(specific, "<source>", "exec")
    assert s2sad.vjp(loss).source.startswith("def loss_fprop(w, scale=2.0):\n")
    assert s2sad.jvp(loss, argnums=0).source.startswith("def loss_jvp(w, scale, dw):\n")


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_looks_like_the_function(transform: Any) -> None:
    made = transform(loss)
    assert made.__module__ == __name__
    assert "loss" in made.__name__
    assert "loss" in repr(made)
    assert list(inspect.signature(made).parameters)[:2] == ["w", "scale"]


def test_help() -> None:
    text = pydoc.render_doc(loss_gradient)
    assert "loss" in text
    assert loss_gradient.__doc__ == (
        "The gradient of `loss` with respect to `w`. It is called like `loss`.\n\n`loss` itself:\n\nThe loss."
    )
    assert "gradient of `loss`" in text and "The loss." in text
    assert inspect.signature(loss_gradient) == inspect.signature(loss)
    assert inspect.unwrap(loss_gradient).__name__ == "loss_grad"  # type: ignore[arg-type]


def test_docstrings_say_what_is_returned() -> None:
    both = s2sad.value_and_grad(loss, argnums=("w", "scale"), has_aux=True).__doc__
    assert both is not None
    assert both.startswith("What `loss` returns, (value, aux), and the gradient of `loss` with respect to")
    assert "in a tuple" in both
    assert "`bprop`" in (s2sad.vjp(loss).__doc__ or "")
    assert "then with the tangents of each argument" in (s2sad.jvp(loss).__doc__ or "")
    assert "(the gradient" in (s2sad.grad(loss, has_aux=True).__doc__ or "")
    assert "Trigonometric sine" in (s2sad.grad(np.sin).__doc__ or "")
    text = pydoc.render_doc(s2sad.vjp(loss)(np.ones(2))[1])
    assert "cotangent" in text and "__init__" not in text


def test_short_reprs() -> None:
    explained = s2sad.explain(loss, np.ones(2))
    assert len(repr(explained)) < 100 and "loss_grad" in repr(explained)
    assert repr(explained.stages["to_anf"]) == "<stage to_anf>"
    assert "def loss_grad" in str(explained)


def test_tracebacks_show_generated_lines() -> None:
    try:
        value_and_grad(fragile)(1.0)
    except ValueError as error:
        text = "".join(traceback.format_exception(error))
        frame = traceback.extract_tb(error.__traceback__)[-1]
    assert frame.name == "fragile_value_and_grad"
    assert frame.line is not None
    assert frame.line in value_and_grad(fragile).source_for(1.0)
    assert frame.line in text


def test_pdb_steps_through_generated_lines() -> None:
    function = loss_gradient.function_for(np.ones(2))
    output = io.StringIO()
    debugger = pdb.Pdb(
        stdin=io.StringIO("step\nlist\nnext\nnext\nwhere\ncontinue\n"), stdout=output, nosigint=True
    )
    debugger.use_rawinput = False  # type: ignore[attr-defined]
    result = debugger.runcall(function, np.ones(2))
    np.testing.assert_array_equal(result, [6.0, 6.0])
    shown = output.getvalue()
    assert "loss_grad()" in shown
    assert "-> for x in w:" in shown


def test_generated_source_is_the_same_in_every_process() -> None:
    program = "\n".join(
        [
            "from tests.unit.s2sad.derivatives.test_derivative import loss_gradient, loss",
            "import numpy as np, s2sad",
            "from tests.programs.corpus import PROGRAMS",
            "print(loss_gradient.source, loss_gradient.source_for(np.ones(3)), s2sad.vjp(loss).source)",
            "for p in PROGRAMS[::40]:",
            "    print(s2sad.vjp(p.function, argnums=p.wrt).source_for(*p.args))",
        ]
    )

    def run(seed: str) -> str:
        root = Path(__file__).parents[4]
        path = str(Path(s2sad.__file__).parents[1])
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": f"{root}:{path}"}
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            cwd=root,
        )
        return done.stdout

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, ["1", "2"])
    assert len(first) > 1000
    assert first == second


# ---------------------------------------------------------------- pickling and copies


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_pickling(transform: Any) -> None:
    made = transform(loss)
    again = pickle.loads(pickle.dumps(made))
    w = np.array([1.0, -2.0])
    args = (w, 2.0, w, 0.0) if transform is s2sad.jvp else (w, 2.0, w) if transform is s2sad.hvp else (w,)
    expected, found = made(*args), again(*args)
    if transform is s2sad.vjp:
        expected, found = expected[1](1.0)[0], found[1](1.0)[0]
    np.testing.assert_equal(found, expected)
    assert repr(copy.deepcopy(made)) == repr(made)


def test_options_survive_pickling() -> None:
    made = pickle.loads(pickle.dumps(grad(loss, argnums=("scale", 0))))
    scale, w = made(np.array([1.0, -2.0]))
    assert scale == 1.0
    assert w.tolist() == [6.0, -1.0]


def test_lambdas_do_not_pickle_like_functions() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(grad(lambda x: x))


# ---------------------------------------------------------------- threads


def test_threads_generate_and_call_at_once() -> None:
    def f(x: Any, n: int) -> Any:
        for _ in range(n):
            x = np.sin(x) * x
        return np.sum(x)

    gradient, barrier = value_and_grad(f), Barrier(8)
    inputs = [0.5, np.float32(0.5), np.array(0.5), np.full(1, 0.5), np.full(3, 0.5), np.full((2, 2), 0.5)]
    expected = [value_and_grad(f)(x, 3) for x in inputs]

    def work(seed: int) -> bool:
        barrier.wait()
        order = np.random.default_rng(seed).permutation(len(inputs))
        for k in [*order, *order]:
            value, slope = gradient(inputs[k], 3)
            np.testing.assert_array_equal(value, expected[k][0])
            np.testing.assert_array_equal(slope, expected[k][1])
            local = grad(lambda x, k=k: x * x * k)(2.0)
            assert local == 4.0 * k
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


# ---------------------------------------------------------------- what is left alone


def test_the_function_and_its_module_are_unchanged() -> None:
    module, before = sys.modules[__name__], dict(vars(sys.modules[__name__]))

    def own() -> tuple[object, ...]:
        # What derivatives keep for the next one lives as long as the function: it is an attribute.
        attributes = {k: v for k, v in vars(loss).items() if k != "__s2sad_forms__"}
        return attributes, loss.__code__, loss.__defaults__, loss.__doc__

    state = own()
    for transform in TRANSFORMS[:4]:
        args = (np.ones(2), 2.0, np.ones(2), 0.0) if transform is s2sad.jvp else (np.ones(2),)
        transform(loss)(*args)
    s2sad.explain(loss, np.ones(2))
    assert dict(vars(module)) == before
    assert own() == state


def test_arguments_are_unchanged() -> None:
    w = np.array([1.0, -2.0])
    w.flags.writeable = False
    for transform in (s2sad.grad, s2sad.vjp, s2sad.jacobian, s2sad.hessian):
        transform(loss)(w)
    s2sad.jvp(loss, (w, 2.0), (w, 1.0))


def steps_in_place(w, x):
    u = x.copy()
    v = u
    for k in range(3):
        v[1:] += np.sin(w[k] * u[:-1])
    return np.sum(u * v)


def test_what_is_shown_assumes_arrays_where_slices_are_set():
    derivative = s2sad.grad(steps_in_place)
    shown = derivative.source
    assert shown.startswith("# for arrays of floats `x`, since slices of them are set\ndef steps_in_")
    assert "raise" not in shown and "dw" in shown
    module: dict = {}
    exec(s2sad.export(steps_in_place), module)
    w, x = np.array([0.3, 0.2, 0.5]), np.arange(4.0)
    assert np.all(module["steps_in_place_grad"](w, x) == derivative(w, x))
    with pytest.raises(TypeError, match="made for x: a float64 array"):
        module["steps_in_place_grad"](w, [1.0, 2.0])


def test_a_derivative_is_not_generated_for_its_signature() -> None:
    gradient = s2sad.grad(lambda x: x**3)
    with watching() as made:
        s2sad.grad(gradient)
    assert made == []
