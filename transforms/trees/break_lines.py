"""Breaks a long line of a statement into several.

Contract: one line of Python in, equivalent text out. It is broken only inside its brackets, after commas and
before binary operators; a line without brackets, a comment or a long string comes back unchanged.
"""
from __future__ import annotations

import tokenize
from dataclasses import dataclass

__all__ = ["break_line"]

# Where to break within one pair of brackets, first choice first.
_PREFERENCE = (", for", "if else", "or", "and", "|", "^", "&", "<< >>", "+ -", "* / // % @", "**")
_RANK = {token: rank for rank, tokens in enumerate(_PREFERENCE) for token in tokens.split()}


@dataclass(frozen=True)
class _Break:
    """A place where a line may be broken, and the brackets that are open there."""

    position: int
    brackets: tuple[int, ...]
    rank: int


def break_line(line: str, width: int) -> str:
    """The line in pieces of at most `width` columns where that can be had, each aligned with its bracket.

    >>> print(break_line("x = np.clip(a + b, lower, upper)", 26))
    x = np.clip(a + b, lower,
                upper)
    """
    breaks = _breaks(line)
    start = indent = base = len(line) - len(line.lstrip())
    done: list[str] = []
    inside: dict[int, int] = {}  # bracket -> the column after it
    while indent + len(line) - start > width:
        shift = indent - start
        inside |= {bracket: bracket + shift + 1 for b in breaks for bracket in b.brackets if bracket >= start}
        fitting = [b for b in breaks if start < b.position <= start + width - indent]
        if not fitting:
            break
        # The outermost break that leaves no line nearly empty.
        fitting = [b for b in fitting if b.position - start > (width - indent) // 3] or fitting
        chosen = min(fitting, key=lambda b: (len(b.brackets), b.rank, -b.position))
        done.append(" " * indent + line[start:chosen.position].rstrip())
        start, indent = chosen.position, inside[chosen.brackets[-1]]
        if indent > width * 2 // 3:
            indent = base + 8
    return "\n".join([*done, " " * indent + line[start:]])


def _breaks(line: str) -> list[_Break]:
    found: list[_Break] = []
    brackets: tuple[int, ...] = ()
    f_strings = 0  # Python 3.12 splits them into tokens
    for token in tokenize.generate_tokens(iter([line]).__next__):
        column, end, text = token.start[1], token.end[1], token.string
        kind = tokenize.tok_name[token.type]
        f_strings += (kind == "FSTRING_START") - (kind == "FSTRING_END")
        if f_strings or kind not in ("OP", "NAME"):
            continue
        if text in ("(", "[", "{"):
            brackets += (column,)
        elif text in (")", "]", "}"):
            brackets = brackets[:-1]
        elif brackets and text in _RANK and line[end:end + 1] == " ":
            if text == ",":
                found.append(_Break(end + 1, brackets, _RANK[text]))
            elif line[column - 1] == " ":  # not a sign, a star or a slash among parameters
                found.append(_Break(column, brackets, _RANK[text]))
    return found
