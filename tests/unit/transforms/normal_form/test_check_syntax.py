from __future__ import annotations

import pytest

from s2sad.transforms.errors import UnsupportedSyntaxError
from s2sad.transforms.normal_form.check_syntax import check_syntax
from tests.support.stages import read

REFUSED = {
    "y = yield x": "`yield`",
    "y = yield from x": "`yield from`",
    "try:\n        y = x\n    except* ValueError:\n        y = 0": "`except*`",
    "try:\n        y = x\n    finally:\n        return x": "jump in a `finally`",
    "match x:\n        case Point(1): pass": "parts by position",
    "class A: pass": "class definition",
    "global x_\n    for x_ in x: pass": "`global x_`",
    "global x_\n    if (x_ := x): pass": "`global x_`",
    "global x_\n    import os as x_": "`global x_`",
    "global x_\n    def x_(): pass": "`global x_`",
    "y = [a for a.b in x]": "assigns to an attribute",
    "y = eval('x')": "`eval()`",
    "y = locals()": "`locals()`",
    "y = super().f(x)": "`super()`",
    "async def g(): pass": "`async def`",
    "@np.vectorize\n    def g(y): return y": "decorated nested function",
    "def g():\n        def h():\n            return (yield 1)": "`yield`",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_refused(statement: str) -> None:
    _, program = read(f"def f(x):\n    {statement}\n    return x\n")
    with pytest.raises(UnsupportedSyntaxError, match="not differentiated") as caught:
        check_syntax(program)
    assert REFUSED[statement] in str(caught.value)
    assert caught.value.instead
    assert caught.value.where is not None and caught.value.where.line >= 2
    assert caught.value.where.filename == "module.py"


def test_parameters() -> None:
    for parameters in ("*args", "x, **kwargs"):
        with pytest.raises(UnsupportedSyntaxError, match="parameter"):
            check_syntax(read(f"def f({parameters}):\n    return 1\n")[1])


def test_the_error_points_at_the_construct() -> None:
    with pytest.raises(UnsupportedSyntaxError) as caught:
        check_syntax(read("def f(x):\n    y = x\n    z = y + eval('a')\n    return z\n")[1])
    assert str(caught.value) == (
        "`eval()` is not differentiated\n"
        "module.py:3\n"
        "    z = y + eval('a')\n"
        "            ^\n"
        "why: it inspects the function, which is rewritten\n"
        "instead: read the variables by their names"
    )


def test_accepted() -> None:
    text = '''
def f(x, /, y: float = 1.0, *, z=2) -> float:
    """All that is allowed."""
    a: int
    b: int = 3
    (c, *d), e = [x, (y := 1)], {1: 2, "k": {3}}
    x[0], x[1:, None] = c, d
    x[0] += -1 if not a else b @ c
    for i, (j, *k) in enumerate(zip(x, y)):
        if i < j <= 3 and k or y is None:
            continue
        else:
            break
    else:
        raise ValueError(f"{x!r:>{y}}") from None
    while True:
        assert x, "message"
        pass
    global K
    import os.path, numpy as npy
    from math import sin as s
    match x:
        case [1, *_] | {"k": (2, None)} if K: pass
        case {"j": 2, **rest}: pass
        case float() | str() | Point(): pass
        case _: pass
    y = [max(*z, **d) for w, *z in x if w] + [*x, {**y}]
    del y, (x, z)
    g = lambda *a, b=1, **c: {a: 1 for a in b} or sum({i for i in a})
    def locals(a, b=x, *c, **d):
        return lambda c: vars(c) and eval
    return locals(a, b=x.T)
'''
    program = read(text)[1]
    assert check_syntax(program) is program
