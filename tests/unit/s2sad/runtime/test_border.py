"""What users see of errors: their own frames, their own exceptions, and for faults of s2sad its own error."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.derivatives import primal_forms

A = np.array([0.5, 1.5])


def frames(error: BaseException) -> list[traceback.FrameSummary]:
    return list(traceback.extract_tb(error.__traceback__))


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    package = str(Path(s2sad.__file__).parent)
    return [f for f in frames(error) if f.filename.startswith(package) or "/transforms/" in f.filename]


def uses_class(x: float) -> float:
    class Local:
        pass

    return x


def fails(x: Any) -> Any:
    y = x * 2.0
    if np.sum(y) < 100:
        raise ValueError("too small")
    return y


def takes_item(x: Any) -> Any:
    return x[7] * x[0]


def no_number(x: Any) -> Any:
    return np.linalg.svd(x)[0]


def matrix(x: Any) -> Any:
    return np.sum(x * np.ones((2, 2)))


CALLS: dict[str, Callable[[], Any]] = {
    "grad": lambda: s2sad.grad(uses_class)(1.0),
    "value_and_grad": lambda: s2sad.value_and_grad(uses_class)(1.0),
    "vjp": lambda: s2sad.vjp(uses_class)(1.0),
    "vjp at once": lambda: s2sad.vjp(uses_class, 1.0),
    "jvp": lambda: s2sad.jvp(uses_class)(1.0, 1.0),
    "jvp at once": lambda: s2sad.jvp(uses_class, (1.0,), (1.0,)),
    "jacobian": lambda: s2sad.jacobian(uses_class)(1.0),
    "jacfwd": lambda: s2sad.jacfwd(uses_class)(1.0),
    "jacrev": lambda: s2sad.jacrev(uses_class)(1.0),
    "hessian": lambda: s2sad.hessian(uses_class)(1.0),
    "hvp": lambda: s2sad.hvp(uses_class)(1.0, 1.0),
    "elementwise_grad": lambda: s2sad.elementwise_grad(uses_class)(1.0),
    "linearize": lambda: s2sad.linearize(uses_class, 1.0)[1](1.0),
    "check_grads": lambda: s2sad.check_grads(uses_class, (1.0,)),
    "explain": lambda: s2sad.explain(uses_class, 1.0),
    "source": lambda: s2sad.grad(uses_class).source,
    "source_for": lambda: s2sad.grad(uses_class).source_for(1.0),
    "argnums": lambda: s2sad.grad(uses_class, argnums="y"),
    "argnums of a Jacobian": lambda: s2sad.jacobian(uses_class, argnums=3),
    "a bprop": lambda: s2sad.vjp(matrix, A)[1](np.ones(7)),
    "a stars call": lambda: s2sad.grad(lambda *xs: xs[0] * xs[1])("a", 2.0),
    "a call that does not fit": lambda: s2sad.grad(uses_class)(),
    "no function": lambda: s2sad.grad(3),  # type: ignore[call-overload]
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_refusal_shows_no_frame_of_s2sad(call: Callable[[], Any]) -> None:
    with pytest.raises(s2sad.S2sadError) as caught:
        call()
    assert not isinstance(caught.value, s2sad.InternalError)
    assert own_frames(caught.value) == []
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert len(frames(caught.value)) == 2  # of this test, and of the lambda that makes the call


@pytest.mark.parametrize("shown", [True, False])
def test_a_traceback_as_it_is_printed(shown: bool, tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        textwrap.dedent("""\
            import s2sad

            def f(x):
                async def g():
                    return x
                return x

            s2sad.grad(f)(1.0)
        """)
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(s2sad.__file__).parents[1])}
    environment.pop("S2SAD_DEBUG", None)
    if not shown:
        environment["S2SAD_DEBUG"] = "1"
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    lines = done.stderr.splitlines()
    assert ("derivative.py" not in done.stderr) is shown
    if shown:
        assert len(lines) <= 11
        assert f'File "{script}", line 8, in <module>' in lines[1]
        assert any(f'File "{script}", line 4' in line for line in lines)
        assert any(line.startswith("instead: ") for line in lines)


# ---------------------------------------------------------------- exceptions of the user's function


@pytest.mark.parametrize(
    ("f", "x", "kind", "line"),
    [
        (fails, A, ValueError, 'raise ValueError("too small")'),
        (takes_item, A, IndexError, "return x[7] * x[0]"),
        (lambda x: math.log(x - 5.0) * x, 1.0, ValueError, "math.log(x - 5.0)"),
        (lambda x: np.linalg.inv(x)[0, 0], np.ones((2, 2)), np.linalg.LinAlgError, "np.linalg.inv"),
        (lambda x: x["a"] * 2.0, {"b": 1.0}, KeyError, 'x["a"]'),
    ],
)
@pytest.mark.parametrize(
    "transform", [s2sad.value_and_grad, s2sad.vjp, lambda f: lambda x: s2sad.jvp(f)(x, x)]
)
def test_an_exception_of_the_function_keeps_its_type(
    f: Any, x: Any, kind: type[Exception], line: str, transform: Any
) -> None:
    with pytest.raises(kind) as caught:
        transform(f)(x)
    assert not isinstance(caught.value, s2sad.S2sadError)
    assert own_frames(caught.value) == []
    assert frames(caught.value)[-1].filename.startswith(("<s2sad", np.__path__[0]))
    (note,) = caught.value.__notes__
    assert note.startswith(f"differentiated at {__file__}:")
    assert line in note


def test_an_exception_of_a_statement_that_a_gradient_leaves_out() -> None:
    with pytest.raises(IndexError, match="out of bounds") as caught:
        s2sad.grad(lambda x: x[7])(A)
    assert "x[7]" in caught.value.__notes__[0]


def test_a_note_is_added_once() -> None:
    def outer(x: Any) -> Any:
        return s2sad.grad(lambda y: fails(y))(x) * x

    with pytest.raises(ValueError, match="too small") as caught:
        s2sad.value_and_grad(outer)(1.5)
    assert len(caught.value.__notes__) == 1


def test_endless_recursion_of_the_function_is_its_own_exception() -> None:
    def endless(x: float) -> float:
        return endless(x * 0.5) + x

    with pytest.raises(RecursionError):
        s2sad.value_and_grad(endless)(1.0)


def test_warnings_as_errors_pass() -> None:
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        s2sad.grad(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 1.0]))


# ---------------------------------------------------------------- faults of s2sad


def summed(x: Any) -> Any:
    total = 0.0
    for row in x:
        total = total + np.sum(row * row)
    return total


def test_a_fault_in_a_pass_is_an_internal_error_at_the_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(facts: Any, *args: Any) -> None:
        program = facts.program
        s = program.tree.body[1]
        raise KeyError(s.lineno)

    monkeypatch.setattr(primal_forms, "lowered", broken)
    for call in (
        lambda: s2sad.grad(summed)(np.ones((3, 2))),
        lambda: s2sad.grad(summed).source_for(np.ones((3, 2))),
        lambda: s2sad.explain(summed, np.ones((3, 2))),
        lambda: s2sad.hessian(summed)(np.ones((3, 2))),
    ):
        message = r"summed was generated(.|\n)*KeyError(.|\n)*report"
        with pytest.raises(s2sad.InternalError, match=message) as caught:
            call()  # type: ignore[no-untyped-call]
        where = caught.value.where
        assert where is not None and where.filename == __file__
        assert where.text.strip() == "for row in x:"
        assert own_frames(caught.value) == []


def test_recursion_while_generating_is_a_refusal() -> None:
    text = "def f(x):\n    return " + "(" * 80 + "x" + " * x)" * 80 + "\n"
    namespace: dict[str, Any] = {}
    filename = "<nested>"
    import linecache

    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), namespace)
    limit = sys.getrecursionlimit()
    depth = len(traceback.extract_stack())
    sys.setrecursionlimit(depth + 120)
    try:
        with pytest.raises(s2sad.UnsupportedSyntaxError, match="nested too deeply"):
            s2sad.grad(namespace["f"])(1.0)
    finally:
        sys.setrecursionlimit(limit)


def opaque(x: Any) -> Any:
    return x * 2.0


@s2sad.bprop(opaque, "elementwise")
def opaque_rule(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout * None,)


def with_faulty_rule(x: Any) -> Any:
    y = x + 1.0
    return np.sum(opaque(y))


@pytest.mark.parametrize(
    "call",
    [
        lambda: s2sad.grad(with_faulty_rule)(A),
        lambda: s2sad.vjp(with_faulty_rule)(A)[1](1.0),
        lambda: s2sad.jvp(with_faulty_rule)(A, A),
    ],
)
def test_a_fault_in_a_line_of_the_derivative_is_an_internal_error(call: Callable[[], Any]) -> None:
    with pytest.raises(s2sad.InternalError, match=r"TypeError(.|\n)*rule of yours") as caught:
        call()
    assert caught.value.where is not None
    assert caught.value.where.text.strip() == "return np.sum(opaque(y))"
    assert own_frames(caught.value) == []


def test_what_is_wrong_with_a_line_of_the_reverse_sweep_is_no_exception_of_the_function() -> None:
    def local(x: Any, y: Any) -> Any:
        return np.sum(x * y)

    _, bprop = s2sad.vjp(local)(np.ones(3), 2.0)
    cells = dict(zip(bprop.__wrapped__.__code__.co_freevars, bprop.__wrapped__.__closure__, strict=True))
    cells["y"].cell_contents = None
    with pytest.raises(s2sad.InternalError, match="TypeError: unsupported operand") as caught:
        bprop(1.0)
    assert caught.value.where is not None
    assert caught.value.where.text.strip() == "return np.sum(x * y)"
    assert isinstance(caught.value.__cause__, TypeError)


def test_an_object_is_looked_at_without_its_own_code() -> None:
    class Odd:
        __slots__ = ("a",)

        def __getattr__(self, name: str) -> Any:
            raise StopIteration(name)

    assert s2sad.grad(lambda x, odd: x * 2.0)(1.0, Odd()) == 2.0


def test_an_exception_of_a_signal_handler_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(number: int, frame: Any) -> None:
        raise TimeoutError("late")

    def interrupted(*args: Any) -> Any:
        return signal.raise_signal(signal.SIGINT)

    gradient = s2sad.grad(lambda x: np.sum(x * x))
    before = signal.signal(signal.SIGINT, late)
    try:
        with monkeypatch.context() as patch, pytest.raises(TimeoutError, match="late"):
            patch.setattr("s2sad.derivatives.generator.simplify", interrupted)
            gradient(np.ones(2))
    finally:
        signal.signal(signal.SIGINT, before)
    np.testing.assert_array_equal(gradient(np.ones(2)), [2.0, 2.0])
