"""Programs that once had a wrong derivative, or none: functions as values, and recursive closures."""

from __future__ import annotations

import pytest

from tests.compare import check_program, check_second
from tests.programs import build
from tests.test_attacks import X, Y, program

RECURSIVE = {
    "once": "def g(n):\n    return x[0] if n == 0 else g(n - 1) * y[n]\nreturn g(3) * g(2)",
    "twice": """
def g(n):
    if n < 2:
        return x[n] * y[n]
    return g(n - 1) * x[2] + g(n - 2) * y[3]
return g(4)
""",
    "with arguments": """
def g(n, z):
    return x[0] * z if n == 0 else g(n - 1, z * x[n]) * y[n] * z
return g(3, y[1])
""",
    "through another": """
def g(n):
    return x[0] if n == 0 else h(n - 1) * y[n]
def h(n):
    return 1.0 if n == 0 else g(n - 1) * x[n]
return g(3) * g(2)
""",
}


@pytest.mark.parametrize("name", RECURSIVE)
def test_nested_functions_that_call_themselves(name: str) -> None:
    f = build(program(RECURSIVE[name]))
    check_program(f, (X, Y), (0, 1))
    check_second(f, (X, Y), (0, 1))


def test_a_loop_variable_after_the_loop_in_code_for_all_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2sad.versions.MAX_VERSIONS", 0)
    f = build(program("s = 0.0\nfor v in x:\n    s = s + v * s + y[0]\nreturn s * v"))
    check_program(f, (X, Y), (0, 1))
