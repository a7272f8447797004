"""What Python and NumPy are written in, tests included, is printed and parsed back to the same tree: one file
in twelve, all where S2SAD_EXAMPLES is set.

Left out are only the files that the interpreter itself cannot parse (deliberately broken ones in its tests).
A tree holds all that a file says but layout, comments and type comments, so nothing else is lost in printing.
"""
from __future__ import annotations

import ast
import sysconfig
import warnings
import zlib
from pathlib import Path

import gast
import numpy as np
import pytest

from s2sad.transforms.trees.printer import to_source
from tests.support.compare import EVERY_FORM
from tests.support.tree_difference import difference

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
NUMPY = Path(np.__file__).parent


def files(root: Path) -> list[Path]:
    """The files that are printed, always the same ones."""
    found = [f.relative_to(root) for f in sorted(root.rglob("*.py"))]
    of_root = [f for f in found if "site-packages" not in f.parts]
    return [root / f for f in of_root if EVERY_FORM or zlib.crc32(str(f).encode()) % 12 == 0]


def parsed(path: Path) -> ast.Module | None:
    """The file's tree, or None if the interpreter rejects the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dubious escapes in the original
        try:
            return ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            return None


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("root", [STANDARD_LIBRARY, NUMPY], ids=lambda root: root.name)
def test_files_survive(root: Path, part: int) -> None:
    survived, changed = 0, {}
    for path in files(root)[part::4]:
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
