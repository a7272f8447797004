from __future__ import annotations

import math

import pytest

from s2sad.transforms.errors import UnsupportedSyntaxError
from s2sad.transforms.normal_form.bind_imports import bind_imports
from s2sad.transforms.trees.nodes import load
from tests.support.stages import assert_agree, executable, read, up_to


def test_behaviour() -> None:
    assert_agree(
        """
def f(x, kind):
    import math
    import os.path
    import os.path as p
    from math import sqrt as root, floor
    def g(math):
        from operator import add as root
        return root(math, 1)
    if kind:
        import math
        return math.floor(x), root(g(x)), os.path.join("a", "b")
    return floor(x), p.join("a", "b")
""",
        [(2.5, 0), (2.5, 1)],
    )


def test_what_is_imported_is_known() -> None:
    program = up_to(bind_imports, read("def f(x):\n    from math import sin as s\n    return s(x)\n")[1])
    assert program.resolve(load("s")) is math.sin
    assert "s" not in program.locals


@pytest.mark.parametrize(
    "body",
    ["from math import sin as s\n    s = x", "from math import sin as s\n    from math import cos as s"],
)
def test_a_name_with_two_meanings_is_refused(body: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match="import of `s`"):
        up_to(bind_imports, read(f"def f(x):\n    {body}\n    return s\n")[1])


@pytest.mark.parametrize("statement", ["from math import nothing_like_this", "import nothing_like_this"])
def test_a_name_that_cannot_be_imported_is_an_error_where_it_is_reached(statement: str) -> None:
    text = f"def f(x):\n    if x:\n        {statement}\n    return x\n"
    program = up_to(bind_imports, read(text)[1])
    assert executable(program)(0) == 0
    with pytest.raises(ImportError, match="nothing_like_this"):
        executable(program)(1)
