"""Liveness: what may still be read after each statement."""
from __future__ import annotations

from s2sad.transforms.analyses.find_live import find_live
from s2sad.transforms.analyses.find_uses import find_uses
from tests.support.before_after import Node, parse, text_of


def live_lines(text: str) -> list[tuple[str, str]]:
    """For each statement its first line and the names live after it."""
    tree = parse(text)
    uses = find_uses(tree)
    assert uses is not None
    live = find_live(tree, uses)
    found = []

    def visit(block: list[Node]) -> None:
        for s in block:
            found.append((text_of(s).strip().splitlines()[0], " ".join(sorted(live.names_after(s)))))
            if hasattr(s, "body") and not hasattr(s, "args"):
                visit(s.body)
                visit(s.orelse)

    visit(tree.body)
    return found


def test_straight_lines() -> None:
    assert live_lines("""
        def f(x):
            y = x * 2
            z = y + x
            y = z
            return y
    """) == [("y = x * 2", "x y"), ("z = y + x", "z"), ("y = z", "y"), ("return y", "")]


def test_branches_join() -> None:
    assert live_lines("""
        def f(c, x, y):
            if c:
                z = x
            else:
                z = y
            return z
    """) == [("if c:", "z"), ("z = x", "z"), ("z = y", "z"), ("return z", "")]


def test_a_loop_carries_what_the_next_iteration_reads() -> None:
    assert live_lines("""
        def f(n, x):
            s = 0.0
            for i in range(n):
                t = s * x
                s = t + i
            return s
    """) == [("s = 0.0", "n s x"), ("for i in range(n):", "s"), ("t = s * x", "i t x"), ("s = t + i", "s x"),
             ("return s", "")]


def test_break_and_continue_go_where_they_go() -> None:
    assert live_lines("""
        def f(x, y):
            while True:
                if x:
                    break
                if y:
                    z = 1
                    continue
                x = y
            return x
    """) == [("while True:", "x"), ("if x:", "x y"), ("break", "x"), ("if y:", "y"), ("z = 1", "x y"),
             ("continue", "x y"), ("x = y", "x y"), ("return x", "")]


def test_captured_names_stay_live_from_the_definition_on() -> None:
    assert live_lines("""
        def f(x):
            y = x
            y = y + 1
            def g():
                return y
            z = 2
            y = 3
            return g
    """) == [("y = x", "y"), ("y = y + 1", "y"), ("def g():", "g y"), ("z = 2", "g y"), ("y = 3", "g y"),
             ("return g", "y")]


def test_a_definition_in_a_loop_sees_the_next_iterations() -> None:
    lines = dict(live_lines("""
        def f(xs):
            gs = []
            for x in xs:
                y = x * 2
                def g():
                    return y
                gs.append(g)
            return gs
    """))
    assert "y" in lines["gs = []"]


def test_constructs_that_are_not_analysed_are_refused() -> None:
    for text in ("x = (y := 1)", "del x", "global x", "yield x", "class A:\n        pass"):
        assert find_uses(parse(f"def f(x):\n    {text}\n")) is None
