"""docs/language.md: each row is a program of the corpus, or provokes the refusal that it tells of.

`python -m tests.docs.test_language` writes the page.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.language import SUPPORTED
from tests.programs.corpus import PROGRAMS
from tests.programs.refusals import table

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
NAMES = {p.function.__name__: p for p in PROGRAMS}
HEAD = """# The language

What of Python is differentiated, and what is refused. This page is written by
`python -m tests.docs.test_language`, from the tests: each row of the first tables names programs that the
tests differentiate, in forward and in reverse mode (`tests/programs/`), and each row of the last is
what the tests provoke.
"""


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for section, rows in SUPPORTED.items():
        parts.append(f"\n## {section}\n\n| | for example |\n|---|---|\n")
        for text, names in rows:
            examples = ", ".join(f"`{name}`" for name in names.split())
            parts.append(f"| {cell(text)} | {examples} |\n")
    parts.append("\n## Refused\n\n| | what is refused | why | instead |\n|---|---|---|---|\n")
    for row in table():
        error = row.expected
        code = "<br>".join(f"`{line}`" for line in row.body.replace("    ", "  ").split("\n"))
        parts.append(f"| {' | '.join(map(cell, (code, error.what, error.why, error.instead)))} |\n")
    return "".join(parts)


@pytest.mark.parametrize("section", SUPPORTED)
def test_each_row_is_differentiated(section: str) -> None:
    for text, names in SUPPORTED[section]:
        missing = [name for name in names.split() if name not in NAMES]
        assert names.split() and not missing, f"{text}: the corpus has no {missing}"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "python -m tests.docs.test_language"


if __name__ == "__main__":
    PAGE.write_text(page())
