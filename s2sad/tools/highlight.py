"""Python source with its tokens told apart, for terminals and pages.

Contract: the visible text is the source, to the last character; text that is no Python is left as it is.
"""

from __future__ import annotations

import html
import io
import keyword
import tokenize
from collections.abc import Iterator
from typing import IO

__all__ = ["for_terminal", "html_lines", "takes_colours"]

# Of ANSI terminals.
CODES = {"keyword": "35", "comment": "32", "string": "33", "number": "36", "name": "34;1"}


def takes_colours(file: IO[str], environment: dict[str, str]) -> bool:
    """Whether a stream is a terminal that shows colours; see https://no-color.org."""
    is_terminal = hasattr(file, "isatty") and file.isatty()
    return is_terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def for_terminal(source: str) -> str:
    """The source with colours for a terminal."""
    return "\n".join(
        "".join(f"\x1b[{CODES[kind]}m{text}\x1b[0m" if kind else text for kind, text in line)
        for line in _lines(source)
    )


def html_lines(source: str) -> list[str]:
    """The lines of the source as HTML, escaped, with a span for each token that is told apart.

    >>> html_lines("if x:  # <b>")
    ['<span class="keyword">if</span> x:  <span class="comment"># &lt;b&gt;</span>']
    """
    return [
        "".join(
            f'<span class="{kind}">{html.escape(text)}</span>' if kind else html.escape(text)
            for kind, text in line
        )
        for line in _lines(source)
    ]


def _lines(source: str) -> Iterator[list[tuple[str, str]]]:
    """For each line its parts: the kind of a token, or "", and the text."""
    marks = _marks(source)
    for number, text in enumerate(source.split("\n"), 1):
        parts, at = [], 0
        for start, stop, kind in marks.get(number, []):
            parts += [("", text[at:start])] if start > at else []
            parts.append((kind, text[start:stop]))
            at = stop
        yield [*parts, *([("", text[at:])] if at < len(text) else [])]


def _marks(source: str) -> dict[int, list[tuple[int, int, str]]]:
    """The tokens that are told apart, by line: their columns and kinds."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    previous = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind = _kind(token, previous)
            previous = token.string
            if kind and token.start[0] == token.end[0]:
                found.setdefault(token.start[0], []).append((token.start[1], token.end[1], kind))
            elif kind:  # a string of several lines
                lines = source.split("\n")
                for number in range(token.start[0], token.end[0] + 1):
                    first = token.start[1] if number == token.start[0] else 0
                    last = token.end[1] if number == token.end[0] else len(lines[number - 1])
                    found.setdefault(number, []).append((first, last, kind))
    except (tokenize.TokenError, SyntaxError):
        return {}
    return found


def _kind(token: tokenize.TokenInfo, previous: str) -> str:
    if token.type == tokenize.COMMENT:
        return "comment"
    if token.type == tokenize.STRING:
        return "string"
    if token.type == tokenize.NUMBER:
        return "number"
    if token.type == tokenize.NAME:
        return "keyword" if keyword.iskeyword(token.string) else "name" if previous == "def" else ""
    return ""
