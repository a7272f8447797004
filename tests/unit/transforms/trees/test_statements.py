"""The table of statements, and rewriting on it."""

import gast
import pytest

from s2sad.transforms.trees.nodes import header_of
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.rebuild import Rewriter, rewritten
from s2sad.transforms.trees.statements import FORMS, blocks_of, bound_here, places_of, with_blocks

PROGRAM = """
def f(xs, y):
    for x in xs:
        if x:
            y = x
        else:
            y = -x
    with open(y) as (a, b):
        z = a
    try:
        z = b
    except ValueError as e:
        z = e
    finally:
        done()

    def g(u):
        y = u
        return y
    while True:
        y += z
        break
    return g(y)
"""


def function():
    return gast.parse(PROGRAM).body[0]


def is_y(s):
    return isinstance(s, gast.Assign) and s.targets[0].id == "y"


def test_nothing_is_made_anew_where_nothing_changes():
    tree = function()
    assert rewritten(tree, lambda s: None) is tree
    assert Rewriter().function(tree) is tree


@pytest.mark.parametrize("nested", [False, True])
def test_statements_are_replaced_in_all_blocks(nested):
    text = to_source(rewritten(function(), lambda s: [] if is_y(s) else None, nested=nested))
    assert "y = x" not in text and "y = -x" not in text
    assert ("y = u" not in text) == nested
    compile(text, "<text>", "exec")  # `pass` stands where a block must not be empty


def test_inner_statements_come_first_where_that_is_asked():
    seen = []
    rewritten(function(), lambda s: seen.append(type(s).__name__), inner_first=True)
    assert seen.index("Assign") < seen.index("If") < seen.index("For") < seen.index("Return")


@pytest.mark.parametrize("kind", [k for k, form in FORMS.items() if form.blocks is not None])
def test_blocks_are_put_back_in_the_order_in_which_they_are_given(kind):
    s = next(s for s in function().body if isinstance(s, kind)) if kind is not gast.If else (
        function().body[0].body[0]
    )
    markers = [[gast.Expr(value=gast.Constant(value=k, kind=None))] for k, _ in enumerate(blocks_of(s))]
    assert blocks_of(with_blocks(s, markers)) == markers
    empty = with_blocks(s, [[] for _ in markers])
    assert isinstance(blocks_of(empty)[0][0], gast.Pass)


def test_what_a_statement_binds_and_reads_itself():
    loop, context, attempt, nested, endless, _ = function().body
    bound = [bound_here(s) for s in (loop, context, attempt, nested, endless)]
    assert bound == [["x"], ["a", "b"], ["e"], ["g"], []]
    assert header_of(loop) == [loop.iter]
    assert header_of(context) == [context.items[0].context_expr]
    assert header_of(attempt) == [] and header_of(nested) == [nested]


def test_places():
    tree = function()
    loop = tree.body[0]
    branch = loop.body[0]
    places = places_of(tree)
    first, second = places[id(branch.body[0])], places[id(branch.orelse[0])]
    assert first.loops == second.loops == (loop,)
    assert (first.arms, second.arms) == ({id(branch): 0}, {id(branch): 1})
    assert first.number < second.number < places[id(tree.body[1])].number
