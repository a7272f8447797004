"""The tables of docs/reference.md hold each function's signature and the first sentence of its docstring.

`python -m tests.docs.test_reference` writes them anew, above the directives of mkdocstrings, which only the
site shows.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import s2sad

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
COMMAND = "python -m tests.docs.test_reference"
HEAD = "| | |\n|---|---|\n"


def with_tables(text: str) -> str:
    """The page with a table in each section that has directives, `::: s2sad.api.grad`."""
    text = re.sub(r"^\|.*\n\|---.*\n(?:\|.*\n)*\n?", "", text, flags=re.MULTILINE)
    return re.sub(r"^(?:::: .*\n)+", with_table, text, flags=re.MULTILINE)


def with_table(directives: re.Match[str]) -> str:
    rows = [row for path in re.findall(r"^::: (.*)$", directives[0], re.MULTILINE) for row in rows_of(path)]
    return HEAD + "".join(rows) + "\n" + directives[0]


def rows_of(path: str) -> list[str]:
    """The rows of a directive: of a module one for each public name."""
    found = object_at(path)
    if isinstance(found, ModuleType):
        members = [getattr(found, name) for name in found.__all__ if name in s2sad.__all__]
    else:
        members = [found]
    return [f"| `{member.__name__}{signature(member)}` | {first_sentence(member)} |\n" for member in members]


def object_at(path: str) -> Any:
    module, _, name = path.rpartition(".")
    found = getattr(importlib.import_module(module), name, None)
    return importlib.import_module(path) if found is None else found


def signature(f: Any) -> str:
    """The parameters without their types; of a class nothing."""
    if isinstance(f, type):
        return ""
    given = inspect.signature(f)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in given.parameters.values()]
    return str(given.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def first_sentence(f: Any) -> str:
    """The first sentence of a docstring, on one line."""
    text = " ".join((inspect.getdoc(f) or "").split("\n\n")[0].split())
    found = re.match(r".*?\.(?= [A-Z`]|$)", text)
    sentence = found[0] if found else f"{text.rstrip(':')}."
    return sentence.replace("|", "\\|")


def test_the_tables_are_current() -> None:
    text = PAGE.read_text()
    assert with_tables(text) == text, f"write them anew: {COMMAND}"


def test_all_that_is_public_has_a_row() -> None:
    named = set(re.findall(r"^\| `(\w+)", PAGE.read_text(), re.MULTILINE))
    assert set(s2sad.__all__) - named == set()


def test_a_table_that_is_out_of_date_is_noticed() -> None:
    directive = "::: s2sad.api.hvp\n"
    page = f"## Head\n\n{HEAD}| `hvp(f)` | Something else. |\n\n{directive}"
    made = with_tables(page)
    assert made != page and with_tables(made) == made
    row = "| `hvp(f=None, argnums=0, has_aux=False, **compiling)` | The product of a scalar"
    assert row in made
    assert made.startswith("## Head\n\n|") and made.endswith(f"|\n\n{directive}")


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
