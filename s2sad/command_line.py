"""The command `s2sad`: shows, checks and exports derivatives of functions in files.

    s2sad show pkg.mod:func --args "np.ones(3), 2.0"
    s2sad check pkg.mod
    s2sad export pkg.mod:func -o pkg/func_grad.py

Exit status: 0 when all is well, 1 for refusals and for an export that is out of date, 2 when the command
names what is not there, or a file that cannot be written.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import api
from .derivatives.derivative import Derivative
from .explanation import FORMS, explain
from .tools.check import Finding, find_refusals, functions_of
from .tools.export import code_of, module_text
from .tools.highlight import for_terminal, takes_colours
from .tools.targets import NotFound, example_arguments, example_call, load_function, load_module
from .transforms.errors import S2sadError

__all__ = ["main"]

MANY = 8  # names of functions that a summary lists


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with these arguments (those of the process by default); returns the exit status."""
    given = _parser().parse_args(arguments)
    try:
        status: int = given.run(given)
        sys.stdout.flush()
        return status
    except NotFound as error:
        print(f"s2sad: {error}", file=sys.stderr)
        return 2
    except S2sadError as error:
        print(f"s2sad: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # of `s2sad show ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # of a file that cannot be written
        if error.filename is None:
            raise
        print(f"s2sad: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("s2sad", description="Derivatives of Python functions, as source.")
    version = f"%(prog)s {importlib.import_module(__package__ or '').__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    show = commands.add_parser("show", help="print the source of a derivative")
    _add_target(show)
    show.add_argument("--stage", metavar="NAME", help="the function after this pass; `all` for each one")
    show.add_argument("--html", metavar="FILE", help="write a page with function, derivative and stages")
    show.set_defaults(run=_show)

    check = commands.add_parser("check", help="list all that would be refused")
    check.add_argument("target", nargs="+", help="pkg.mod, pkg.mod:func, or the path of a .py file")
    check.add_argument("--args", metavar="EXPR", help="example arguments of the function")
    check.add_argument(
        "--format", choices=("text", "json"), default="text", help="for people, or for editors"
    )
    check.set_defaults(run=_check)

    export = commands.add_parser("export", help="write a derivative as a module that needs NumPy alone")
    _add_target(export)
    export.add_argument("-o", "--output", metavar="FILE", required=True, help="the module to write")
    export.add_argument(
        "--target", dest="needs", choices=("numpy", "numba"), default="numpy", help="what it needs to run"
    )
    export.add_argument("--check", action="store_true", help="write nothing; fail if FILE is out of date")
    export.set_defaults(run=_export)
    return parser


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", help="pkg.mod:func, or path/to/file.py:func")
    parser.add_argument("--mode", choices=FORMS, default="grad", help="the transform")
    parser.add_argument("--wrt", metavar="NAMES", help="the parameters to differentiate by: x,y")
    parser.add_argument(
        "--args", metavar="EXPR", help="example arguments, as 'np.ones(3), 2.0': the code is for their kinds"
    )


def _argnums(given: argparse.Namespace) -> Any:
    if given.wrt is not None:
        names = tuple(name.strip() for name in given.wrt.split(","))
        chosen = tuple(int(name) if name.lstrip("-").isdigit() else name for name in names)
        return chosen if len(chosen) > 1 else chosen[0]
    return None if given.mode in ("vjp", "jvp") else 0


def _show(given: argparse.Namespace) -> int:
    f, module = load_function(given.target)
    argnums = _argnums(given)
    if given.stage is None and given.html is None:
        args, keywords = example_call(given.args, module)
        derivative = getattr(api, given.mode)(f, argnums=argnums)
        _print(derivative.source_for(*args, **keywords) if args or keywords else derivative.source)
        return 0
    args = example_arguments(given.args, module, f)
    found = explain(f, *args, argnums=argnums, form=given.mode)
    if given.html is not None:
        Path(given.html).write_text(found.html(), encoding="utf-8")
    if given.stage == "all":
        found.show()
    elif given.stage in found.stages:
        _print(found.stages[given.stage].source)
    elif given.stage is not None:
        raise NotFound(f"there is no stage {given.stage!r}: name one of {', '.join(found.stages)}")
    return 0


def _print(source: str) -> None:
    """Prints source, with colours in a terminal that shows them."""
    print(for_terminal(source) if takes_colours(sys.stdout, dict(os.environ)) else source, end="")


def _check(given: argparse.Namespace) -> int:
    found: dict[Finding, None] = {}
    checked: list[str] = []
    for target in given.target:
        module_name, colon, _ = target.rpartition(":")
        if colon and not (os.name == "nt" and len(module_name) == 1):
            f, module = load_function(target)
            functions = [(f, example_arguments(given.args, module, f))]
        else:
            if given.args is not None:
                raise NotFound("--args belongs to one function: write pkg.mod:func")
            functions = [(f, ()) for f in functions_of(load_module(target))]
        for f, args in functions:
            found |= dict.fromkeys(find_refusals(f, *args))
            checked.append(getattr(f, "__qualname__", target))
    findings = [_relative(f) for f in found]
    if given.format == "json":
        print(json.dumps([asdict(f) for f in findings], indent=2))
    else:
        for finding in findings:
            print(finding)
    print(f"s2sad: {_summary(checked, len(findings))}", file=sys.stderr)
    return 1 if findings else 0


def _summary(names: list[str], refusals: int) -> str:
    """Which functions were checked, and what was found."""
    listed = ", ".join([*names[:MANY], *(["..."] if len(names) > MANY else [])])
    what = f"{len(names)} function{'s' * (len(names) != 1)}" + (f" ({listed})" if names else "")
    return f"checked {what}: {refusals or 'no'} refusal{'s' * (refusals != 1)}"


def _relative(finding: Finding) -> Finding:
    """The finding with its file as seen from the current folder."""
    path = Path(finding.file)
    is_below = path.is_absolute() and path.is_relative_to(Path.cwd())
    return Finding(**{**asdict(finding), "file": str(path.relative_to(Path.cwd()))}) if is_below else finding


def _export(given: argparse.Namespace) -> int:
    f, module = load_function(given.target)
    args, argnums = example_arguments(given.args, module, f), _argnums(given)
    mode = given.mode if given.mode != "grad" else None
    compiler = None if given.needs == "numpy" else given.needs
    options = {"--mode": mode, "--wrt": given.wrt, "--args": given.args, "--target": compiler}
    words = [word for option, value in options.items() if value is not None for word in (option, value)]
    name = f"{module.__name__}:{given.target.rpartition(':')[2]}"  # the same for all ways to name the file
    how = shlex.join(["s2sad", "export", name, *words])
    text = module_text(Derivative(f, given.mode, argnums, writes=True), args, how, compiler)
    path = Path(given.output)
    if not given.check:
        path.write_text(text, encoding="utf-8", newline="\n")
        return 0
    if path.is_file() and _is_code_of(path, text):
        return 0
    state = "is not what the function gives now" if path.exists() else "is not there"
    again = shlex.join(["s2sad", "export", given.target, *words, "-o", given.output])
    print(f"s2sad: {path} {state}: {again}", file=sys.stderr)
    return 1


def _is_code_of(path: Path, text: str) -> bool:
    """Whether a file has the code of a module; its docstring may say that it was made in another way."""
    try:
        return code_of(path.read_text(encoding="utf-8")) == code_of(text)
    except (ValueError, SyntaxError, IndexError):  # of a file that is something else
        return False
