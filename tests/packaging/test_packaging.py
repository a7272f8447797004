"""What is installed, what is shipped, and which way imports go."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
IGNORED = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")


PACKAGES = [
    "transforms", "values", "source", "primitives", "runtime", "rules", "kinds",
    "analysis", "lowering", "batching", "targets", "derivatives", "testing", "tools",
]  # fmt: skip
LAYERS = ["trees", "analyses", "normal_form", "lowering", "heap", "differentiation", "simplification"]


def modules(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.py")) if path.is_file()]


def package() -> list[Path]:
    """The modules of s2sad beside the transforms, to which a folder of it may be a link."""
    paths = sorted((ROOT / "s2sad").rglob("*.py"))
    return [path for path in paths if path.relative_to(ROOT).parts[1] != "transforms"]


def transforms() -> list[Path]:
    return sorted((ROOT / "transforms").rglob("*.py"))


def package_files() -> set[str]:
    """All that an installed s2sad holds, by its path in site-packages."""
    files = {str(path.relative_to(ROOT)) for path in package()}
    files |= {f"s2sad/{path.relative_to(ROOT)}" for path in transforms()}
    return files | {"s2sad/py.typed"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution of this tree."""
    tree = tmp_path_factory.mktemp("built") / "tree"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=IGNORED)
    shutil.copytree(ROOT / ".ci", tree / ".ci")
    build(tree)
    return tree / "dist"


def build(tree: Path) -> None:
    hooks = "from setuptools import build_meta as b; b.build_wheel('dist'); b.build_sdist('dist')"
    done = subprocess.run([sys.executable, "-c", hooks], cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def wheel_names(dist: Path) -> set[str]:
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def unpacked(dist: Path, folder: Path) -> Path:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def run(folder: Path, code: str) -> str:
    """What the code prints, run in a folder by an interpreter that finds s2sad nowhere else first."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_wheel_holds_s2sad_and_nothing_else(built: Path, tmp_path: Path) -> None:
    names = wheel_names(built)
    described = f"s2sad-{PROJECT['project']['version']}.dist-info"
    assert {name for name in names if not name.startswith(described)} == package_files()
    assert f"{described}/licenses/LICENSE" in names

    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        archive.extractall(tmp_path)
    source = tmp_path / "differentiated.py"
    source.write_text("def cube(x):\n    return x ** 3\n")
    printed = run(
        tmp_path, "import s2sad, differentiated as d; print(s2sad.__file__, s2sad.grad(d.cube)(2.0))"
    )
    assert printed == f"{tmp_path / 's2sad' / '__init__.py'} 12.0"


def test_the_source_distribution_is_a_checkout(built: Path, tmp_path: Path) -> None:
    tree = unpacked(built, tmp_path)
    missing = []
    for folder in ("s2sad", "transforms", "tests", "examples", "benchmarks", "docs", ".ci"):
        for path in sorted((ROOT / folder).rglob("*")):
            relative = path.relative_to(ROOT)
            if path.is_file() and not any(p.startswith(".") and p != ".ci" for p in relative.parts):
                missing += [] if (tree / relative).exists() or path.suffix == ".pyc" else [str(relative)]
    assert not missing
    for path in transforms():
        assert (tree / "s2sad" / path.relative_to(ROOT)).read_bytes() == path.read_bytes()
    assert package_files() <= {str(path.relative_to(tree)) for path in tree.rglob("*")}
    # It imports as it is, and gives the same wheel.
    assert run(tree, "import s2sad; print(s2sad.__file__)") == str(tree / "s2sad" / "__init__.py")
    shutil.rmtree(tree / "dist", ignore_errors=True)
    build(tree)
    assert wheel_names(tree / "dist") == wheel_names(built)


def test_every_package_is_declared() -> None:
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "s2sad").rglob("*.py")}
    # A link in a checkout, a copy in a source distribution.
    folders = {f for f in folders if f.parts[:2] != ("s2sad", "transforms")}
    linked = {Path("s2sad") / path.parent.relative_to(ROOT) for path in transforms()}
    declared = {Path(*name.split(".")) for name in PROJECT["tool"]["setuptools"]["packages"]}
    assert folders | linked == declared
    assert {path.parent.name for path in transforms()} == {"transforms", *LAYERS}


def test_the_version_is_told_once_and_the_same() -> None:
    tree = ast.parse((ROOT / "s2sad" / "__init__.py").read_text())
    versions = [
        ast.literal_eval(s.value)
        for s in tree.body
        if isinstance(s, ast.Assign) and getattr(s.targets[0], "id", "") == "__version__"
    ]
    assert versions == [PROJECT["project"]["version"]]


def imported(path: Path, package: str) -> set[str]:
    """The absolute names of all modules that a module of `package` imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                found |= {name.name for name in names}
            case ast.ImportFrom(module=module, names=names, level=level):
                parts = package.split(".")
                base = parts[: len(parts) - level + 1] if level else []
                base += module.split(".") if module else []
                found |= {".".join([*base, name.name]) for name in names} if not module else {".".join(base)}
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                found.add(name)
    return found


def unwanted_imports(path: Path) -> set[str]:
    """What a module of the transforms imports and must not: the rest of s2sad, and what is not Python's."""
    allowed = {*sys.stdlib_module_names, "gast", "astunparse"}
    return {
        name
        for name in imported(path, package_of(path))
        if name.split(".")[0] not in allowed and not name.startswith("s2sad.transforms.")
    }


def package_of(path: Path) -> str:
    """The package that a module of the transforms is in; of no other module that asks, the transforms."""
    inner = path.parent.relative_to(ROOT).parts if path.is_relative_to(ROOT) else ("transforms",)
    return ".".join(["s2sad", *inner])


@pytest.mark.parametrize("path", transforms(), ids=lambda path: "/".join(path.parts[-2:]))
def test_transforms_stand_alone(path: Path) -> None:
    assert not unwanted_imports(path)
    assert not library_names(path.read_text())


def library_names(text: str) -> set[str]:
    """The libraries of arrays that a module names in code or in a string without a space."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            found.add(node.value.partition(".")[0])
    return found & {"np", "numpy", "scipy"}


@pytest.mark.parametrize("line", ["numpy.sum(x)", "name == 'numpy.sum'", "helper('np')", "('scipy',)"])
def test_a_library_that_is_named_is_noticed(line: str) -> None:
    assert library_names(f"class A:\n    \"Doc of np.sum.\"\n    def f():\n        return {line}\n")


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_of_the_transforms(layer: str) -> None:
    below = {f"s2sad.transforms.{name}" for name in LAYERS[: LAYERS.index(layer) + 1]}
    for path in modules(ROOT / "transforms" / layer):
        read = {name for name in imported(path, package_of(path)) if name.startswith("s2sad.")}
        assert {".".join(name.split(".")[:3]) for name in read} <= {*below, "s2sad.transforms.errors"}, path


@pytest.mark.parametrize("name", PACKAGES[1:])
def test_packages_import_from_those_before_them(name: str) -> None:
    below = {f"s2sad.{p}" for p in PACKAGES[: PACKAGES.index(name) + 1]}
    for path in modules(ROOT / "s2sad" / name):
        read = {found for found in imported(path, f"s2sad.{name}") if found.startswith("s2sad")}
        above = {found for found in read if ".".join(found.split(".")[:2]) not in below}
        # The rules are found by the names of their modules, as plugins are.
        plugins = {"s2sad.rules", "s2sad.rules.methods", "s2sad.transform_rules"}
        assert above <= (plugins if path.name == "record.py" else set()), path


def imports_of(root: Path) -> dict[str, set[str]]:
    """For each module below a folder the others that it imports, anywhere in it."""
    paths = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in root.rglob("*.py")
    }
    found = {}
    for name, path in paths.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        read = imported(path, package)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:  # of a package its modules
                base = package.rsplit(".", node.level - 1)[0] + "." if node.level else ""
                read |= {f"{base}{node.module}.{n.name}" for n in node.names}
        found[name] = {n for n in read if n in paths and n != name}
    return found


def circles(imports: dict[str, set[str]]) -> set[str]:
    """The modules that stand in a circle of imports, or are needed by none that stand in none."""
    left = {name: set(read) for name, read in imports.items()}
    while True:
        needed = {n for read in left.values() for n in read}
        outer = {name for name, read in left.items() if not read & left.keys() or name not in needed}
        if not outer:
            return set(left)
        left = {name: read - outer for name, read in left.items() if name not in outer}


def test_no_circle_of_modules(tmp_path: Path) -> None:
    """Imports inside functions and for type checkers included."""
    tree = tmp_path / "s2sad"
    shutil.copytree(ROOT / "s2sad", tree, ignore=shutil.ignore_patterns("transforms", "__pycache__"))
    shutil.copytree(ROOT / "transforms", tree / "transforms", ignore=shutil.ignore_patterns("__pycache__"))
    imports = imports_of(tmp_path)
    imports["s2sad.primitives.record"] -= {"s2sad.rules", "s2sad.rules.methods"}  # found by names, as plugins
    assert circles(imports) == set()


def test_a_circle_of_modules_is_noticed(tmp_path: Path) -> None:
    texts = {"a": "import b", "b": "def f():\n    from c import x", "c": "from b import y", "d": "import c"}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert circles(imports_of(tmp_path)) == {"b", "c"}


def test_every_package_has_a_place_and_says_what_it_is_for() -> None:
    inside = [path.relative_to(ROOT / "s2sad") for path in package()]
    found = {path.parts[0] for path in inside if len(path.parts) > 1}
    assert found == set(PACKAGES[1:])
    for name in PACKAGES:
        text = ast.get_docstring(ast.parse((ROOT / "s2sad" / name / "__init__.py").read_text()))
        assert text is not None


@pytest.mark.parametrize("line, found", [
    ("from ..kinds import Kind", "s2sad.kinds"), ("from .. import kinds", "s2sad.kinds"),
    ("import s2sad.api", "s2sad.api"), ("from s2sad import grad", "s2sad"),
    ("def f():\n    import numpy as np", "numpy"), ("importlib.import_module('s2sad.api')", "s2sad.api")])
def test_an_unwanted_import_is_noticed(line: str, found: str, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(f"import ast\nimport gast\nfrom .nodes import load\nfrom . import nodes\n{line}\n")
    assert unwanted_imports(path) == {found}


def test_nothing_is_imported_before_it_is_used() -> None:
    loaded = "print([m for m in sys.modules if m.startswith(('numpy', 's2sad.')) and '.values' not in m])"
    assert run(ROOT, f"import sys, s2sad; dir(s2sad); {loaded}") == "[]"
    wrong = "[n for n in s2sad.__all__ if n not in dir(s2sad) or getattr(s2sad, n).__name__ != n]"
    assert run(ROOT, f"import s2sad; print({wrong})") == "[]"
    assert run(ROOT, "from s2sad import *; print(grad(abs)(-2.0), S2sadError.__name__)") == "-1.0 S2sadError"
    assert run(ROOT, "import s2sad; print(s2sad.transforms.errors.S2sadError is s2sad.S2sadError)") == "True"
    assert run(ROOT, "import s2sad; print(hasattr(s2sad, 'gradient'))") == "False"


def test_transforms_of_an_unloaded_module_have_their_rules(tmp_path: Path) -> None:
    """The rules of `grad` are there in a function that is read before anybody has named a transform."""
    (tmp_path / "nested.py").write_text(
        "import s2sad\ndef f(x):\n    return s2sad.grad(lambda y: y ** 3)(x) * x\n"
    )
    code = (
        f"import sys; sys.path.append({str(tmp_path)!r}); import nested\n"
        "from s2sad.derivatives.derivative import Derivative\n"
        "print(Derivative(nested.f, 'grad', 0)(2.0), Derivative(nested.f, 'jvp', 0)(2.0, 1.0))"
    )
    assert run(ROOT, code) == "36.0 (24.0, 36.0)"


def test_the_command_is_where_the_project_says() -> None:
    module, _, name = PROJECT["project"]["scripts"]["s2sad"].partition(":")
    assert run(ROOT, f"import {module} as m; print(m.{name}(['check', 's2sad.values.gc_pause']))") == "0"


def test_threads_load_at_once() -> None:
    code = (
        "import s2sad, concurrent.futures as c\n"
        "with c.ThreadPoolExecutor(8) as pool:\n"
        "    found = list(pool.map(lambda n: getattr(s2sad, n), s2sad.__all__))\n"
        "print(all(getattr(s2sad, n) is f for n, f in zip(s2sad.__all__, found)))"
    )
    assert run(ROOT, code) == "True"


def test_no_optional_library_is_imported() -> None:
    declared = {requirement.split(">")[0] for requirement in PROJECT["project"]["dependencies"]}
    assert declared == {"numpy", "gast", "astunparse"}
    optional = ("scipy", "numba", "hypothesis", "pytest", "autograd", "jax")
    found = f"[m for m in {optional} if m in sys.modules]"
    assert run(ROOT, f"import sys, s2sad.api, s2sad.rules; print({found})") == "[]"
