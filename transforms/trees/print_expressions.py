"""Writes gast expressions as Python source, with parentheses only where precedence asks for them.

Contract: `dispatch(node, level)` writes one expression to `f`, on one line; parsing what was written gives
the same tree. `level` is the loosest precedence that the place allows without parentheses.
"""
from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import gast
from astunparse import Unparser

from ..errors import UnsupportedSyntaxError

__all__ = ["ALWAYS", "ATOM", "BITOR", "NAMED", "TEST", "TUPLE", "YIELD", "ExpressionPrinter", "escaped"]

Node = Any  # gast publishes no types

# Loosest first; the other nodes bind tightest.
_LADDER = (
    (gast.NamedExpr,),
    (gast.Yield, gast.YieldFrom),
    (gast.Tuple,),
    (gast.Lambda, gast.IfExp, gast.MatchAs),
    (gast.Or,),
    (gast.And,),
    (gast.Not,),
    (gast.Compare,),
    (gast.BitOr, gast.MatchOr),
    (gast.BitXor,),
    (gast.BitAnd,),
    (gast.LShift, gast.RShift),
    (gast.Add, gast.Sub),
    (gast.Mult, gast.MatMult, gast.Div, gast.FloorDiv, gast.Mod),
    (gast.UAdd, gast.USub, gast.Invert),
    (gast.Pow,),
    (gast.Await,),
)
_PRECEDENCE = {kind: level for level, kinds in enumerate(_LADDER) for kind in kinds}
NAMED, YIELD, TUPLE, TEST, OR = range(5)  # the first rungs
BITOR, UNARY, POWER, AWAIT = (_PRECEDENCE[kind] for kind in (gast.BitOr, gast.USub, gast.Pow, gast.Await))
ATOM = len(_LADDER)
ALWAYS = ATOM + 1  # a place that has even atoms in parentheses

_NESTED_QUOTES = sys.version_info >= (3, 12)  # PEP 701: any quote and backslash in the fields of f-strings

# Braces as text: doubled in an f-string, but doubling means something else in a format specification.
_BRACES_DOUBLED = str.maketrans({"{": "{{", "}": "}}"})
_BRACES_ESCAPED = str.maketrans({"{": "\\x7b", "}": "\\x7d"})


def _precedence(node: Node) -> int:
    """The precedence of a node."""
    kind = type(node)
    if kind is gast.BinOp or kind is gast.UnaryOp or kind is gast.BoolOp:
        kind = type(node.op)
    elif kind is gast.Constant:
        value = node.value
        signed = type(value) in (int, float) and (value < 0 or (value == 0 and repr(value) == "-0.0"))
        return UNARY if signed else ATOM
    elif kind is gast.Tuple and len(node.elts) < 2:
        return NAMED if node.elts else ATOM  # a lone comma is easily overlooked: (a,)
    elif kind is gast.MatchAs and node.pattern is None:
        return ATOM
    return _PRECEDENCE.get(kind, ATOM)


class ExpressionPrinter(Unparser):  # type: ignore[misc]
    """Writes expressions to `f`; strings are put in `quote` where either kind would do."""

    f: io.StringIO
    quote = '"'

    def dispatch(self, tree: Node, level: int = TEST) -> None:
        """Writes a node, in parentheses if it binds looser than `level`."""
        method = getattr(self, "_" + type(tree).__name__, None)
        if method is None:
            raise UnsupportedSyntaxError(f"{type(tree).__name__} has no source form")
        if _precedence(tree) < level:
            self.write("(")
            method(tree)
            self.write(")")
        else:
            method(tree)

    def write(self, text: str) -> None:
        self.f.write(text)

    def captured(self, node: Node, level: int) -> str:
        """The text of an expression, which is not written."""
        line, self.f = self.f, io.StringIO()
        self.dispatch(node, level)
        text: str = self.f.getvalue()
        self.f = line
        return text

    def write_list(self, items: Iterable[Any], write_item: Callable[[Any], None] | None = None,
                   separator: str = ", ") -> None:
        for index, item in enumerate(items):
            if index:
                self.write(separator)
            (write_item or self.dispatch)(item)

    # ------------------------------------------------------------ operators

    def _BinOp(self, t: Node) -> None:
        level = _PRECEDENCE[type(t.op)]
        power = level == POWER  # associates to the right, and takes a sign there: 2 ** -1
        self.dispatch(t.left, AWAIT if power else level)
        self.write(f" {self.binop[type(t.op).__name__]} ")
        self.dispatch(t.right, UNARY if power else level + 1)

    def _UnaryOp(self, t: Node) -> None:
        self.write("not " if isinstance(t.op, gast.Not) else self.unop[type(t.op).__name__])
        self.dispatch(t.operand, _PRECEDENCE[type(t.op)])

    def _BoolOp(self, t: Node) -> None:
        level = _precedence(t) + 1
        self.write_list(t.values, lambda v: self.dispatch(v, level), f" {type(t.op).__name__.lower()} ")

    def _Compare(self, t: Node) -> None:
        self.dispatch(t.left, BITOR)
        for op, operand in zip(t.ops, t.comparators, strict=True):
            self.write(f" {self.cmpops[type(op).__name__]} ")
            self.dispatch(operand, BITOR)

    def _NamedExpr(self, t: Node) -> None:
        self.dispatch(t.target)
        self.write(" := ")
        self.dispatch(t.value)

    def _IfExp(self, t: Node) -> None:
        self.dispatch(t.body, OR)
        self.write(" if ")
        self.dispatch(t.test, OR)
        self.write(" else ")
        self.dispatch(t.orelse)

    def _Lambda(self, t: Node) -> None:
        self.write(f"lambda {self.captured(t.args, ATOM)}".rstrip() + ": ")
        self.dispatch(t.body)

    def _Await(self, t: Node) -> None:
        self.write("await ")
        self.dispatch(t.value, ATOM)

    def _Yield(self, t: Node) -> None:
        self.write("yield")
        if t.value is not None:
            self.write(" ")
            self.dispatch(t.value, TUPLE)

    def _YieldFrom(self, t: Node) -> None:
        self.write("yield from ")
        self.dispatch(t.value)

    def _comprehension(self, t: Node) -> None:
        self.write(" async for " if t.is_async else " for ")
        self.dispatch(t.target, TUPLE)
        self.write(" in ")
        self.dispatch(t.iter, OR)
        for condition in t.ifs:
            self.write(" if ")
            self.dispatch(condition, OR)

    def _arguments(self, t: Node) -> None:
        self.write_list(_parameters(t), self.write_parameter)

    def write_parameter(self, parameter: tuple[str, Node, Node]) -> None:
        prefix, name, default = parameter
        self.write(prefix)
        annotation = None
        if name is not None:
            self.write(name.id)
            annotation = getattr(name, "annotation", None)
        if annotation is not None:
            self.write(": ")
            self.dispatch(annotation)
        if default is not None:
            self.write("=" if annotation is None else " = ")
            self.dispatch(default)

    # ------------------------------------------------------------ primaries and displays

    def _Name(self, t: Node) -> None:
        self.write(t.id)

    def _Attribute(self, t: Node) -> None:
        integer = isinstance(t.value, gast.Constant) and type(t.value.value) is int  # 1.real is no attribute
        self.dispatch(t.value, ALWAYS if integer else ATOM)
        self.write("." + t.attr)

    def _Call(self, t: Node) -> None:
        self.dispatch(t.func, ATOM)
        if len(t.args) == 1 and not t.keywords and isinstance(t.args[0], gast.GeneratorExp):
            self.dispatch(t.args[0])
            return
        self.write("(")
        self.write_list([*t.args, *t.keywords])
        self.write(")")

    def _Subscript(self, t: Node) -> None:
        self.dispatch(t.value, ATOM)
        self.write("[")
        if isinstance(t.slice, gast.Tuple) and t.slice.elts:
            self.write_list(t.slice.elts)
            if len(t.slice.elts) == 1 and not isinstance(t.slice.elts[0], gast.Starred):
                self.write(",")
        else:
            self.dispatch(t.slice)
        self.write("]")

    def _Starred(self, t: Node) -> None:
        self.write("*")
        self.dispatch(t.value, BITOR)

    def _Tuple(self, t: Node) -> None:
        if not t.elts:
            self.write("()")
        self.write_list(t.elts)
        if len(t.elts) == 1:
            self.write(",")

    def _Set(self, t: Node) -> None:
        self.write("{")
        self.write_list(t.elts)
        self.write("}" if t.elts else "*()}")

    def _Dict(self, t: Node) -> None:
        self.write("{")
        self.write_list(zip(t.keys, t.values, strict=True), self.write_pair)
        self.write("}")

    def write_pair(self, pair: tuple[Node, Node]) -> None:
        key, value = pair
        if key is None:
            self.write("**")
            self.dispatch(value, BITOR)
        else:
            self.dispatch(key)
            self.write(": ")
            self.dispatch(value)

    # ------------------------------------------------------------ constants and f-strings

    def _Constant(self, t: Node) -> None:
        self.write((getattr(t, "kind", None) or "") + self.literal(t.value))

    def literal(self, value: object) -> str:
        """The text that evaluates to exactly this value."""
        match value:
            case None | bool():
                return repr(value)
            case _ if value is Ellipsis:
                return "..."
            case str() | bytes() if type(value) in (str, bytes):
                text = repr(value)
                if self.quote == '"' and text[-1] == "'" and '"' not in text:
                    return text.replace("'", '"')
                return text
            case tuple() if type(value) is tuple:
                return f"({', '.join(map(self.literal, value))}{',' * (len(value) == 1)})"
            case int() | float() | complex() if type(value) in (int, float, complex):
                return _number(value)
        raise UnsupportedSyntaxError(f"a constant of type {type(value).__name__} has no literal")

    def _JoinedStr(self, t: Node) -> None:
        own = self.quote
        self.quote = "'" if own == '"' else '"'
        pieces = list(self.pieces(t.values))
        fields = "".join(text for is_field, text in pieces if is_field)
        literals = "".join(text for is_field, text in pieces if not is_field)
        quotes = [q for q in (own, self.quote, '"""', "'''") if q not in fields]
        self.quote = own
        if _NESTED_QUOTES:
            quotes = quotes or [own]
        elif not quotes or "\\" in fields:
            raise UnsupportedSyntaxError("Python 3.11 cannot write this f-string",
                                         why="its fields hold backslashes or too many kinds of quotes",
                                         instead="compute the values of the fields before the f-string")
        quote = next((q for q in quotes if q[0] not in literals), quotes[0])
        escape = "\\" + quote[0]
        body = "".join(text if is_field else text.replace(quote[0], escape) for is_field, text in pieces)
        self.write(f"f{quote}{body}{quote}")

    def _FormattedValue(self, t: Node) -> None:
        self._JoinedStr(gast.JoinedStr(values=[t]))

    def pieces(self, values: list[Node],
               braces: Mapping[int, str] = _BRACES_DOUBLED) -> Iterator[tuple[bool, str]]:
        """The parts of an f-string: whether each belongs to a field, and its text, quotes not yet escaped."""
        for value in values:
            if isinstance(value, gast.Constant):
                yield False, escaped(value.value).translate(braces)
                continue
            text = self.captured(value.value, YIELD)
            if "lambda" in text:  # its colon would start the format specification
                text = f"({text})"
            conversion = "" if value.conversion in (None, -1) else f"!{chr(value.conversion)}"
            yield True, "{" + " " * text.startswith("{") + text + conversion
            if value.format_spec is not None:
                yield True, ":"
                yield from self.pieces(value.format_spec.values, _BRACES_ESCAPED)
            yield True, "}"


def _parameters(arguments: Node) -> Iterator[tuple[str, Node, Node]]:
    """The parameters in order: prefix, name, default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    for count, (name, default) in enumerate(zip(positional, defaults, strict=True), 1):
        yield "", name, default
        if count == len(arguments.posonlyargs):
            yield "/", None, None
    if arguments.vararg is not None or arguments.kwonlyargs:
        yield "*", arguments.vararg, None
    for name, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield "", name, default
    if arguments.kwarg is not None:
        yield "**", arguments.kwarg, None


def escaped(text: str) -> str:
    """The inside of a string literal, quotes left as they are."""
    if text.isprintable() and "\\" not in text:
        return text
    return "".join(c if c.isprintable() and c != "\\" else repr(c)[1:-1] for c in text)


def _number(value: complex) -> str:
    """An expression that evaluates to the number, without names where a literal is short enough."""
    if isinstance(value, int):
        return repr(value) if value.bit_length() < 8192 else hex(value)  # Python refuses longer decimals
    if isinstance(value, float):
        # An overflowing literal is infinity on every platform.
        return "(1e309 - 1e309)" if math.isnan(value) else repr(value).replace("inf", "1e309")
    if value.imag >= 0 and math.copysign(1, value.imag) > 0 and str(value.real) == "0.0":
        return _number(value.imag).removesuffix(".0") + "j"
    return f"complex({_number(value.real)}, {_number(value.imag)})"


