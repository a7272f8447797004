"""All that Python and NumPy are written in, tests included, is printed and parsed back to the same tree.

Left out are only the files that the interpreter itself cannot parse (deliberately broken ones in its tests).
A tree holds all that a file says but layout, comments and type comments, so nothing else is lost in printing.
"""
from __future__ import annotations

import ast
import sysconfig
import warnings
from pathlib import Path

import gast
import numpy as np
import pytest

from s2sad.transforms.trees.printer import to_source
from tests.support.tree_difference import difference

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
NUMPY = Path(np.__file__).parent


def packages(root: Path) -> list[Path]:
    """The root itself (for its own modules) and the folders in it that hold Python."""
    folders = [f for f in sorted(root.iterdir()) if f.is_dir() and f.name != "site-packages"]
    return [root, *(f for f in folders if any(f.rglob("*.py")))]


def parsed(path: Path) -> ast.Module | None:
    """The file's tree, or None if the interpreter rejects the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dubious escapes in the original
        try:
            return ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            return None


@pytest.mark.parametrize("folder", [*packages(STANDARD_LIBRARY), *packages(NUMPY)],
                         ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_every_file_survives(folder: Path) -> None:
    files = sorted(folder.glob("*.py") if folder in (STANDARD_LIBRARY, NUMPY) else folder.rglob("*.py"))
    survived, changed = 0, {}
    for path in files:
        tree = parsed(path)
        if tree is not None:
            found = difference(tree, ast.parse(to_source(gast.ast_to_gast(tree))))
            survived += found is None
            if found is not None:
                changed[str(path)] = found
    assert not changed
    assert survived


@pytest.mark.parametrize("before, after", [
    ("x = a - (b - c)", "x = a - b - c"), ("x = 0.0", "x = 0.1"), ("x = 1", "x = True"),
    ("x = 'a'", "x = b'a'"), ("f(a)", "f(a, b)"), ("f'{x}'", "f'{x!s}'"), ("x", "x = y")])
def test_a_difference_is_found(before: str, after: str) -> None:
    assert difference(ast.parse(before), ast.parse(after)) is not None
