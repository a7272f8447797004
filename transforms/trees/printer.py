"""Prints gast trees as the Python source that a person would write.

Contract: a gast module, statement, list of statements or expression in, source text out; parsing the text
gives the same tree. `Comment` statements become comments, nested functions are set off by a blank line, and
statements beyond `WIDTH` columns are broken inside their brackets. Positions are not read, so synthetic nodes
need none; type comments, which the parser drops as well, are not printed.
"""
from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import gast

from .break_lines import break_line
from .nodes import Comment
from .print_expressions import ALWAYS, ATOM, BITOR, NAMED, TEST, TUPLE, YIELD, ExpressionPrinter, escaped

__all__ = ["DIVIDING", "WIDTH", "Places", "to_source", "to_source_with_places"]

Node = Any  # gast publishes no types
Place = tuple[int, int] | None  # a line and a column
# By printed line: the position of its statement, and those of its calls and divisions, in order.
Places = dict[int, list[Place]]
DIVIDING = (gast.Div, gast.FloorDiv, gast.Mod, gast.Pow)

MANY = 8  # targets of a loop at which it is put into parentheses
WIDTH = 100

_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
_BREAKABLE = (gast.BinOp, gast.BoolOp, gast.Compare, gast.IfExp, gast.Tuple)


def to_source(node: Node) -> str:
    """The source text of a tree; statements end with a newline, expressions do not.

    >>> to_source(gast.parse("x[(i, (slice(1)))] = (-2)**(2)"))
    'x[i, slice(1)] = (-2) ** 2\\n'
    """
    return _Printer(node).text


def to_source_with_places(node: Node) -> tuple[str, Places]:
    """The source text of a tree, and the positions of the statements, calls and divisions on each of its
    lines.
    """
    printer = _Printer(node)
    return printer.text, printer.places


class _Printer(ExpressionPrinter):
    """Writes a tree line by line: `f` holds the line that is being written, `lines` the finished ones."""

    def __init__(self, tree: Node) -> None:
        self.lines: list[str] = []
        self.is_statement = False
        self.count = 1  # of the lines of text; a finished entry may have several
        self.place: Place = None  # of the latest statement that has one
        self.on_line: list[Place] = [None]
        self.places: Places = {}
        super().__init__(tree, io.StringIO())
        self.end_line()
        self.text = "\n".join(self.lines) + ("\n" if self.is_statement else "")

    # ------------------------------------------------------------ lines and blocks

    def dispatch(self, tree: Node, level: int = TEST) -> None:
        if isinstance(tree, list):
            self.write_statements(tree)
        else:
            super().dispatch(tree, level)

    def fill(self, text: str = "") -> None:
        """Ends the line and starts the next one at the current indentation."""
        if self.is_statement:
            self.end_line()
        self.is_statement = True
        self.on_line = [self.place]
        self.write("    " * self._indent + text)

    def end_line(self) -> None:
        line = self.f.getvalue().rstrip()
        if len(line) > WIDTH and "\n" not in line:
            line = break_line(line, WIDTH)
        self.places[self.count] = self.on_line
        self.lines.append(line)
        self.count += line.count("\n") + 1
        self.f = io.StringIO()

    def write_value(self, node: Node, level: int) -> None:
        """Writes the last expression of a statement's line, in parentheses if it must be broken."""
        start = self.f.tell()
        self.dispatch(node, level)
        if isinstance(node, _BREAKABLE):
            self.bracket_if_long(start)

    def write_test(self, node: Node) -> None:
        """Writes a condition, where even `:=` may stand bare."""
        self.write_value(node, NAMED if isinstance(node, gast.NamedExpr) else TEST)

    def bracket_if_long(self, start: int) -> None:
        """Puts the text of the line from `start` on into parentheses if the line is too long."""
        if self.f.tell() >= WIDTH:
            line = self.f.getvalue()
            self.f = io.StringIO()
            self.write(f"{line[:start]}({line[start:]})")

    def write_statements(self, body: list[Node]) -> None:
        previous: Node = Comment()
        for index, statement in enumerate(body):
            following = statement
            if isinstance(statement, Comment):  # the comments above a definition belong to it
                following = next((s for s in body[index:] if not isinstance(s, Comment)), None)
            set_off = isinstance(following, _DEFINITIONS) or (
                isinstance(previous, _DEFINITIONS) and not self._indent)
            if set_off and not isinstance(previous, Comment):
                for _ in range(1 if self._indent else 2):
                    self.fill()
            self.place = _place_of(statement) or self.place
            self.dispatch(statement)
            previous = statement
        if self._indent and all(isinstance(s, Comment) for s in body):
            self.fill("pass")

    def write_block(self, body: list[Node], orelse: Sequence[Node] = ()) -> None:
        """Writes the colon and body after a header, and an `else`."""
        self.enter()
        self.dispatch(body)
        self.leave()
        if orelse:
            self.fill("else")
            self.write_block(list(orelse))

    def _Call(self, t: Node) -> None:
        self.on_line.append(_place_of(t))
        super()._Call(t)

    def _BinOp(self, t: Node) -> None:
        if isinstance(t.op, DIVIDING):
            self.on_line.append(_place_of(t))
        super()._BinOp(t)

    # ------------------------------------------------------------ statements

    def _Module(self, t: Node) -> None:
        self.dispatch(t.body)

    def _Comment(self, t: Node) -> None:
        for line in t.text.splitlines() or [""]:
            self.fill("# " + line)

    def _Expr(self, t: Node) -> None:
        self.fill()
        if isinstance(t.value, gast.Constant) and isinstance(t.value.value, str):
            body = "\n".join(map(escaped, t.value.value.split("\n")))
            if '"""' in body or body.endswith('"'):
                body = body.replace('"', '\\"')
            self.write(f'{getattr(t.value, "kind", None) or ""}"""{body}"""')
        else:
            self.dispatch(t.value, YIELD)

    def _ImportFrom(self, t: Node) -> None:
        self.fill(f"from {'.' * (t.level or 0)}{t.module or ''} import ")
        start = self.f.tell()
        self.write_list(t.names)
        if t.names[0].name != "*":
            self.bracket_if_long(start)

    def _Assign(self, t: Node) -> None:
        self.fill()
        for target in t.targets:
            self.dispatch(target, TUPLE)
            self.write(" = ")
        self.write_value(t.value, YIELD)

    def _AugAssign(self, t: Node) -> None:
        self.fill()
        self.dispatch(t.target)
        self.write(f" {self.binop[type(t.op).__name__]}= ")
        self.write_value(t.value, YIELD)

    def _AnnAssign(self, t: Node) -> None:
        self.fill()
        self.dispatch(t.target, TEST if t.simple or not isinstance(t.target, gast.Name) else ALWAYS)
        self.write(": ")
        self.dispatch(t.annotation)
        if t.value is not None:
            self.write(" = ")
            self.write_value(t.value, YIELD)

    def _TypeAlias(self, t: Node) -> None:
        self.fill("type ")
        self.dispatch(t.name)
        self.write_type_params(t)
        self.write(" = ")
        self.dispatch(t.value)

    def _Return(self, t: Node) -> None:
        self.fill("return")
        if t.value is not None:
            self.write(" ")
            self.write_value(t.value, TUPLE)

    def _If(self, t: Node, keyword: str = "if ") -> None:
        self.fill(keyword)
        self.write_test(t.test)
        if len(t.orelse) == 1 and isinstance(t.orelse[0], gast.If):
            self.write_block(t.body)
            self._If(t.orelse[0], "elif ")
        else:
            self.write_block(t.body, t.orelse)

    def _While(self, t: Node) -> None:
        self.fill("while ")
        self.write_test(t.test)
        self.write_block(t.body, t.orelse)

    def _For(self, t: Node, keyword: str = "for ") -> None:
        self.fill(keyword)
        long = isinstance(t.target, gast.Tuple) and len(t.target.elts) > MANY
        self.write("(" * long)
        self.dispatch(t.target, TUPLE)
        self.write(")" * long + " in ")
        self.write_value(t.iter, TUPLE)
        self.write_block(t.body, t.orelse)

    def _AsyncFor(self, t: Node) -> None:
        self._For(t, "async for ")

    def _withitem(self, t: Node) -> None:
        # `with (a, b):` would be two items.
        lone_tuple = isinstance(t.context_expr, gast.Tuple) and t.optional_vars is None
        self.write("(" * lone_tuple)
        super()._withitem(t)
        self.write(")" * lone_tuple)

    def _Try(self, t: Node, keyword: str = "except") -> None:
        self.fill("try")
        self.write_block(t.body)
        for handler in t.handlers:
            self.fill(keyword)
            if handler.type is not None:
                self.write(" ")
                self.dispatch(handler.type)
            if handler.name is not None:
                self.write(f" as {handler.name.id}")
            self.write_block(handler.body)
        if t.orelse:
            self.fill("else")
            self.write_block(t.orelse)
        if t.finalbody:
            self.fill("finally")
            self.write_block(t.finalbody)

    def _TryStar(self, t: Node) -> None:
        self._Try(t, "except*")

    def _FunctionDef(self, t: Node, keyword: str = "def ") -> None:
        self.write_decorators(t)
        self.fill(keyword + t.name)
        self.write_type_params(t)
        self.write("(")
        self.dispatch(t.args)
        self.write(")")
        if getattr(t, "returns", None) is not None:
            self.write(" -> ")
            self.dispatch(t.returns)
        self.write_block(t.body)

    def _AsyncFunctionDef(self, t: Node) -> None:
        self._FunctionDef(t, "async def ")

    def _ClassDef(self, t: Node) -> None:
        self.write_decorators(t)
        self.fill("class " + t.name)
        self.write_type_params(t)
        if t.bases or t.keywords:
            self.write("(")
            self.write_list([*t.bases, *t.keywords])
            self.write(")")
        self.write_block(t.body)

    def write_decorators(self, t: Node) -> None:
        for decorator in t.decorator_list:
            self.fill("@")
            self.dispatch(decorator)

    def write_type_params(self, t: Node) -> None:
        if getattr(t, "type_params", None):
            self.write("[")
            self.write_list(t.type_params)
            self.write("]")

    def _TypeVar(self, t: Node, prefix: str = "") -> None:
        self.write(prefix + t.name)
        for sign, value in ((": ", getattr(t, "bound", None)), (" = ", t.default_value)):
            if value is not None:
                self.write(sign)
                self.dispatch(value)

    def _TypeVarTuple(self, t: Node) -> None:
        self._TypeVar(t, "*")

    def _ParamSpec(self, t: Node) -> None:
        self._TypeVar(t, "**")

    # ------------------------------------------------------------ match

    def _Match(self, t: Node) -> None:
        self.fill("match ")
        self.write_test(t.subject)
        self.write_block(t.cases)

    def _match_case(self, t: Node) -> None:
        self.fill("case ")
        self.dispatch(t.pattern)
        if t.guard is not None:
            self.write(" if ")
            self.write_test(t.guard)
        self.write_block(t.body)

    def _MatchValue(self, t: Node) -> None:
        self.dispatch(t.value)

    def _MatchSingleton(self, t: Node) -> None:
        self.write(repr(t.value))

    def _MatchSequence(self, t: Node) -> None:
        self.write("[")
        self.write_list(t.patterns)
        self.write("]")

    def _MatchMapping(self, t: Node) -> None:
        self.write("{")
        self.write_list(zip(t.keys, t.patterns, strict=True), self.write_pair)
        if t.rest is not None:
            self.write(f"{', ' if t.keys else ''}**{t.rest}")
        self.write("}")

    def _MatchClass(self, t: Node) -> None:
        self.dispatch(t.cls, ATOM)
        self.write("(")
        self.write_list([*t.patterns, *map(gast.keyword, t.kwd_attrs, t.kwd_patterns)])
        self.write(")")

    def _MatchStar(self, t: Node) -> None:
        self.write("*" + (t.name or "_"))

    def _MatchAs(self, t: Node) -> None:
        if t.pattern is not None:
            self.dispatch(t.pattern, BITOR)
            self.write(" as ")
        self.write(t.name or "_")

    def _MatchOr(self, t: Node) -> None:
        self.write_list(t.patterns, lambda p: self.dispatch(p, ATOM), " | ")


def _place_of(node: Node) -> Place:
    line = getattr(node, "lineno", None)
    return None if line is None else (line, node.col_offset or 0)
