"""to_source: the text parses to the tree that was printed, and reads as if it had been written by hand."""
from __future__ import annotations

import ast
import doctest
import math
import random
import sys
from typing import Any

import gast
import pytest

from s2sad.transforms.errors import UnsupportedSyntaxError
from s2sad.transforms.trees import printer
from s2sad.transforms.trees.nodes import Comment, assign, call, load, tuple_of
from s2sad.transforms.trees.printer import to_source
from tests.support.tree_difference import difference

Node = Any

# Texts that are printed exactly as they stand: how generated code looks.
FIXED_POINTS = """
x = a + b - c
x = a - (b - c)
x = a * (b + c) / -d
x = -x ** 2
x = (-x) ** 2
x = (-2) ** 2
x = 2 ** -1
x = a ** b ** c
x = (a ** b) ** c
x = --x
x = ~x & y | z ^ w << 2
x = a @ b @ (c @ d)
x = not a
x = not (a and b) or c
x = (a or b) and (c or d)
x = a or (b or c)
x = a < b <= c
x = (a < b) <= c
x = not a in b
x = a not in b and a is not None
x = (a if b else c) if d else e
x = a if b else c if d else e
x = (lambda: 1)()
x = lambda a, *b, c=1, **d: (a, b)
x = lambda: (yield)
x = [*a, *(b or c)]
x = a, b
x = (a,)
(x,) = a
x, *y = a
x = (a, b), c
x = ()
x += a, b
x: int = 1
(x): int
x.y: int
x: tuple[int, ...] = 1, 2
x = y = z = 0
x[i, j] = a[1:, :, ::2, ...]
x = a[(i, j), k]
x = a[i,]
x = a[()]
x = a[*b]
x = a[i + 1:n - 1]
x = a[lambda: 1]
x = (1).real + 1.5.real + 1j.imag
x = "a".join(b)
x = f(a, *b, c=1, **d)
x = f((a, b), (yield))
x = f(i for i in a)
x = f((i for i in a), b)
x = [i for i in a if i if not i]
x = {i: j for i, j in a for k in (b if c else d)}
x = {i async for i in a}
x = {**a, "b": 1, **(c or d)}
x = {1, 2}
x = await a ** 2
x = await (a ** 2)
x = yield
x = yield a, b
x = 1 + (yield from a)
x = (y := 1)
x = 1e309
x = 2j
x = 1e-09
x = "it's"
x = 'say "it"'
x = b"\\x00"
x = "\\n\\\\ é"
x = f"{a}"
x = f"it's {a!r:>{w}.2f} {{}}"
x = f"{a['b']}"
x = f"{ {1: 2}[1]}"
x = f"{(lambda: 1)}"
x = f"{a if b else c}, {a, b} {a != b}"
x = f'"{a}"'
x = f"\\"it's\\" {a}"
x = f"{a:%H\\n\\x7b}"
return
return a, b
return (a,)
return *a, b
assert a, "b"
del a, b[0]
del (a, b), c
raise
raise A from b
import a.b as c, d
from . import a
from ..a import b as c
global a, b
nonlocal a
pass
print(a)
"""

BLOCKS = """
if a:
    b
elif c:
    d
else:
    e
---
if a:
    b
else:
    if c:
        d
    e
---
if a := b:
    c
---
while a and (b := c):
    break
else:
    continue
---
for i, (j, *k) in a, b:
    pass
else:
    pass
---
for (i,) in a:
    pass
---
async def f():
    async for i in a:
        pass
    async with a as b:
        pass
---
with a as b, c, (d, e) as f:
    pass
---
with ((a, b)):
    pass
---
try:
    a
except A as b:
    c
except (B, C):
    d
except:
    e
else:
    f
finally:
    g
---
try:
    a
except* A as b:
    try:
        c
    except D:
        e
---
def f(a, b=1, /, c: int = 2, *d: int, e, f=3, **g: str) -> int:
    return a
---
def f(a, *, b):
    return a
---
def f(*args: *Ts):
    return args
---
def f():
    \"\"\"One line.\"\"\"
    a = 1

    def g():
        pass
    return g
---
class A(B, *c, metaclass=D):
    \"\"\"Two

    lines.\"\"\"
    x: int = 0

    def f(self):
        pass

    def g(self):
        pass
---
class A:
    pass


x = 1


@a.b
@c(1)
def f():
    pass
---
match (a, b):
    case [1, -1 | 2 + 1j, *_]:
        pass
    case {"a": b, **c} if b > 1:
        pass
    case A.b | A(b, c=1 | 2 as d) | None | (x as y):
        pass
    case {**c}:
        pass
    case _:
        pass
""".strip("\n").split("\n---\n")

if sys.version_info >= (3, 12):
    BLOCKS += ["type A[T: int, *Ts, **P] = list[T]", "def f[T](a: T):\n    pass", "class A[T](B):\n    pass"]
    FIXED_POINTS += """x = f"{'\\\\n'.join(a)}"\nx = f"{f\'\'\'{f\"\"\"{f'{f"{a}"}'}\"\"\"}\'\'\'}"\n"""
if sys.version_info >= (3, 13):
    BLOCKS += ["def f[T = int, *Ts = *tuple[int], **P = [int]]():\n    pass"]


OTHER_SPELLINGS = [
    "x = (y)", "x[(1, 2)]", "x[1:2,]", "x[a:=1]", "a[b:c, *d]", "f((x for x in y))", "f(*a or b)", "f(x:=1)",
    "a; b", "print(*a, **b, c=1)", "(a := 1, b)", "(yield)", "{*()}", "lambda *, a: 1", "lambda a, /: 1",
    "if a:\n b\nelse:\n if c: d", "for x in *a, b: pass", "with (a, b): pass", "with (a as b, c): pass",
    "async def f(): return [await x for x in y]", "0x" + "f" * 5000,
    "'a' 'b'", "u'a'", "'''a\"'''", "'''\"\"\" \\' \\\\ \\t \\r\n'''", "'\\ud800\\u200b'",
    "f'{x=}'", "f'' 'a{' f'{x:{\"a\"}}'", "f'{x!s:}'", "f'{lambda_}'", "f'{\"a\" + (lambda: \"b\")()}'",
]


def read(text: str) -> Node:
    return gast.parse(text)


@pytest.mark.parametrize("text", FIXED_POINTS.split("\n")[1:-1] + BLOCKS)
def test_well_written_code_is_printed_as_it_stands(text: str) -> None:
    assert to_source(read(text)) == text + "\n"


@pytest.mark.parametrize("text", OTHER_SPELLINGS)
def test_other_spellings_parse_to_the_same_tree(text: str) -> None:
    assert difference(ast.parse(text), ast.parse(to_source(read(text)))) is None


def test_the_docstring_example() -> None:
    result = doctest.testmod(printer)
    assert result.attempted and not result.failed


# ---------------------------------------------------------------- what only transformed trees hold

@pytest.mark.parametrize("value", [
    True, None, ..., 0.0, -0.0, math.inf, -math.inf, math.nan, -3, -2.5, 10 ** 5000, -10 ** 5000,
    (), (1,), (-1, ("a", b"b")), 1 + 2j, complex(-0.0, 2), complex(0, -0.0), complex(0, math.inf),
    complex(1, math.nan),    3j, 1e22j, "", 'a"b', "a'b\"c",
], ids=lambda value: type(value).__name__)
def test_a_constant_evaluates_to_exactly_its_value(value: object) -> None:
    text = to_source(gast.Constant(value=value, kind=None))
    assert difference(eval(text), value) is None


def test_negative_constants_keep_their_sign_under_operators() -> None:
    minus_two = gast.Constant(value=-2, kind=None)
    power = gast.BinOp(left=minus_two, op=gast.Pow(), right=minus_two)
    assert to_source(power) == "(-2) ** -2"
    assert to_source(gast.Attribute(value=minus_two, attr="real", ctx=gast.Load())) == "(-2).real"


@pytest.mark.parametrize("value", [object(), frozenset([1]), type("Int", (int,), {})(1)])
def test_constants_without_a_literal_are_refused(value: object) -> None:
    with pytest.raises(UnsupportedSyntaxError, match="has no literal"):
        to_source(gast.Constant(value=value, kind=None))


def test_nodes_without_a_source_form_are_refused() -> None:
    with pytest.raises(UnsupportedSyntaxError, match="Load has no source form"):
        to_source(gast.Load())


def test_a_field_that_an_f_string_cannot_hold() -> None:
    field = gast.FormattedValue(value=gast.Constant(value="\n", kind=None), conversion=-1, format_spec=None)
    tree = gast.JoinedStr(values=[field])
    if sys.version_info >= (3, 12):
        assert eval(to_source(tree)) == "\n"
    else:
        with pytest.raises(UnsupportedSyntaxError, match="compute the values of the fields before"):
            to_source(tree)


def test_nodes_without_positions_or_optional_fields() -> None:
    result = gast.Return(value=tuple_of([load("x"), load("y")]))
    body = [assign("y", call("g", load("x"), k=load("x"))), result]
    arguments = read("lambda x: 0").body[0].value.args
    function = gast.FunctionDef(name="f", args=arguments, decorator_list=[], body=body)
    assert to_source(function) == "def f(x):\n    y = g(x, k=x)\n    return x, y\n"


def test_expressions_and_lists_of_statements() -> None:
    assert to_source(read("x + 1").body[0].value) == "x + 1"
    assert to_source(read("x, 1").body[0].value) == "(x, 1)"
    assert to_source(read("x = 1\ny = 2").body) == "x = 1\ny = 2\n"
    assert to_source([]) == ""


def test_comments_and_blank_lines() -> None:
    tree = read("def f():\n a = 1\n def g():\n  pass\n if a:\n  pass\n return g").body[0]
    one, inner, branch, last = tree.body
    branch.body = [Comment("nothing to do")]
    tree.body = [Comment("first\n\nof two"), one, Comment("the inner one"), inner, branch, Comment(), last]
    assert to_source(tree) == """\
def f():
    # first
    #
    # of two
    a = 1

    # the inner one
    def g():
        pass
    if a:
        # nothing to do
        pass
    #
    return g
"""


def test_a_definition_that_comes_first_has_no_blank_line() -> None:
    assert to_source(read("def f():\n\n  def g(): pass\n  return g")).startswith("def f():\n    def g():\n")


# ---------------------------------------------------------------- random trees

EXPRESSIONS = (
    "x", "1", "-1", "2.5", "'a'", "()", "-x", "~x", "not x", "x + x", "x * x", "x ** x", "x << x", "x | x",
    "x @ x - x", "x < x in x", "x and x", "x or x", "x if x else x", "lambda x=x: x", "(x := x)",
    "(yield x)", "(yield)", "(yield from x)", "await x", "x, x", "(x,)", "*x, x", "[x, *x]", "{x}",
    "{x: x, **x}", "x[x]", "x[x,]", "x[x:x, x]", "x[x:x:x]", "x[x, *x]", "x.x", "x(x, *x, x=x, **x)",
    "x(x for x in x)", "(x for x in x if x)", "[x for x in x]", "f'a{x!r:{x}b}'")
STATEMENTS = (
    "x", "x = x", "x += x", "x: x = x", "x[x] = x", "del x[x]", "assert x, x", "return x", "raise x from x",
    "import x", "if x: pass\nelif x: pass", "while x: pass", "for x[x] in x: pass", "with x as y, x: pass",
    "with x: pass", "def f(x: x = x) -> x: return x", "@x\nclass A(x, y=x): pass",
    "match x:\n case y if x: pass")


class Grow(ast.NodeTransformer):
    """Replaces loaded names by other expressions."""

    def __init__(self, choose: random.Random, depth: int) -> None:
        self.choose, self.depth = choose, depth

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and self.choose.random() < 0.8:
            return random_expression(self.choose, self.depth - 1)
        return node


def random_expression(choose: random.Random, depth: int) -> ast.expr:
    if depth <= 0:
        return ast.Name("x", ast.Load())
    statement = ast.parse(choose.choice(EXPRESSIONS)).body[0]
    assert isinstance(statement, ast.Expr)
    grown: ast.expr = Grow(choose, depth).visit(statement.value)
    return grown


@pytest.mark.parametrize("seed", range(10))
def test_random_trees_survive(seed: int) -> None:
    choose = random.Random(seed)
    for _ in range(200):
        tree = ast.Module([Grow(choose, 3).visit(ast.parse(choose.choice(STATEMENTS)).body[0])], [])
        text = to_source(gast.ast_to_gast(ast.fix_missing_locations(tree)))
        found = difference(tree, ast.parse(text))
        assert found is None, f"{found}\n{text}"
