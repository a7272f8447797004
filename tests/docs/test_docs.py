"""Every block of code in README, CONTRIBUTING and docs/ is executed, and prints what the page shows.

A `python` block is run with the names that the page's blocks before it defined. The `py` (Python again, as
generated) or `text` block behind it is exactly what it prints; without one it prints nothing. A block that
begins with the comment `# name.py` stands in a file of that name, as errors show. A `sh` block that begins
with `s2sad` is run in a folder with these files, and prints likewise. The README's `sh` blocks are run by
.ci/run.

Tables of packages hold the first lines of the packages' docstrings.

`python -m tests.docs.test_docs` writes what is printed now, and these lines, into the pages.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import s2sad

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
README = PAGES[0].read_text()
OUTPUTS = ("py", "text")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A block that is run, what the block behind it says that it prints, and where in the page that stands
    (None: there is no such block).
    """

    language: str
    code: str
    line: int
    printed: str
    shown: tuple[int, int] | None


def examples(text: str) -> Iterator[Example]:
    """The examples of a page, in order."""
    blocks = list(BLOCK.finditer(text))
    for k, block in enumerate(blocks):
        if is_run(block):
            line = text.count("\n", 0, block.start(2)) + 1
            following = blocks[k + 1] if k + 1 < len(blocks) and blocks[k + 1][1] in OUTPUTS else None
            if following is None:
                yield Example(block[1], block[2], line, "", None)
            else:
                yield Example(block[1], block[2], line, following[2], following.span(2))


def is_run(block: re.Match[str]) -> bool:
    return block[1] == "python" or (block[1] == "sh" and block[2].startswith("s2sad "))


def printed_by_shell(commands: str, folder: Path) -> str:
    """What commands print, on both outputs, in a folder."""
    script = f's2sad() {{ {shlex.quote(sys.executable)} -m s2sad "$@"; }}\n{commands}'
    environment = {**os.environ, "PYTHONPATH": str(Path(s2sad.__file__).parents[1])}
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ).stdout


def printed_by(text: str) -> list[str]:
    """What each example of a page prints, run one after the other in one module."""
    page = types.ModuleType("page")
    printed, files = [], []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        stack.callback(lambda: [linecache.cache.pop(name, None) for name in files])
        for example in examples(text):
            if example.language == "sh":
                printed.append(clean(printed_by_shell(example.code, Path(folder))))
                continue
            named = re.match(r"# (\w+\.py)\n", example.code)
            filename = named[1] if named else f"<example {example.line}>"
            files.append(filename)
            if named:
                Path(folder, filename).write_text(example.code)
            linecache.cache[filename] = (len(example.code), None, example.code.splitlines(True), filename)
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(example.code, filename, "exec", dont_inherit=True), page.__dict__)
            printed.append(clean(output.getvalue()))
    return printed


def clean(output: str) -> str:
    """The output without spaces at the ends of lines, and without empty lines at the end, as printed source
    has one.
    """
    return "".join(f"{line.rstrip()}\n" for line in output.rstrip().splitlines())


def updated(text: str) -> str:
    """The page with what its examples print now."""
    found = list(zip(examples(text), printed_by(text), strict=True))
    for example, printed in reversed(found):
        if example.shown is not None:
            start, end = example.shown
            text = text[:start] + printed + text[end:]
        elif printed:
            raise ValueError(f"line {example.line}: a block that shows what is printed is missing")
    return text


def with_contracts(text: str) -> str:
    """The page with the first lines of docstrings in tables of packages: below a head `| `folder/` | |`."""
    lines, folder = text.splitlines(keepends=True), None
    for k, line in enumerate(lines):
        folder = found[1] if (found := re.match(r"\| `(\w+)/` \| \|", line)) else folder
        if folder and (found := re.match(r"\| `(\w+)` \| ", line)):
            tree = ast.parse((ROOT / folder / found[1] / "__init__.py").read_text())
            lines[k] = f"{found[0]}{(ast.get_docstring(tree) or '').partition(chr(10))[0]} |\n"
        elif not line.startswith("|"):
            folder = None
    return "".join(lines)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_tables_of_packages_hold_their_docstrings(path: Path) -> None:
    text = path.read_text()
    assert with_contracts(text) == text


def test_a_contract_that_is_out_of_date_is_noticed() -> None:
    page = "| `s2sad/` | |\n|---|---|\n| `runtime` | something else |\n\n| `runtime` | no package |\n"
    first = (importlib.import_module("s2sad.runtime").__doc__ or "").splitlines()[0]
    assert with_contracts(page) == page.replace("something else", first)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_examples_print_what_the_page_shows(path: Path) -> None:
    text = path.read_text()
    for example, printed in zip(examples(text), printed_by(text), strict=True):
        assert printed == example.printed, f"{path.name}, line {example.line}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_block_is_of_a_known_kind(path: Path) -> None:
    text = path.read_text()
    blocks = list(BLOCK.finditer(text))
    assert {block[1] for block in blocks} <= {"python", "sh", *OUTPUTS}
    assert text.count("```") == 2 * len(blocks)
    for before, block in zip([None, *blocks], blocks, strict=False):
        assert block[1] not in OUTPUTS or (before is not None and is_run(before))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_and_named_files_are_there(path: Path) -> None:
    text = BLOCK.sub("", path.read_text())
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", re.sub(r"`[^`]*`", "", text)):
        assert (path.parent / target).exists(), target
    for named in re.findall(r"`((?:s2sad|transforms|tests|examples|benchmarks|docs)/[\w/.]*)`", text):
        assert (ROOT / named).exists(), named


def test_a_page_that_is_out_of_date_is_noticed() -> None:
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert [e.printed for e in examples(page)] == ["3\n"]
    assert printed_by(page) == ["2\n"]
    assert updated(page) == page.replace("3", "2")


def test_the_readme_has_two_commands() -> None:
    first, second = (text for language, text in BLOCK.findall(README) if language == "sh")
    assert first.splitlines()[-1] == "python examples/logistic_regression.py"
    assert second.splitlines()[-1] == "pytest"


def test_continuous_integration_runs_the_commands_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    start = script.index("commands() {")
    function = script[start:script.index("\n}\n", start) + 3]
    shown = [text for language, text in BLOCK.findall(README) if language == "sh"]
    for k, text in enumerate(shown[:2], start=1):
        call = ["bash", "-c", f"{function}\ncommands {k}"]
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
        assert done.stdout == text
        assert f'"$(commands {k})"' in script


def test_the_pages_name_all_that_is_public() -> None:
    pages = README + "".join((ROOT / "docs" / page).read_text() for page in ("limits.md", "reference.md"))
    assert {name for name in s2sad.__all__ if not re.search(rf"\b{name}\b", pages)} == set()


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


if __name__ == "__main__":
    for page_path in PAGES:
        page_path.write_text(with_contracts(updated(page_path.read_text())))
