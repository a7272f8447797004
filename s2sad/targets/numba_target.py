"""The target `numba`: a derivative of one sweep, as machine code.

Contract: what is compiled is the generated code as it is shown, with three changes at its border. What it
reads of the user's module and closure is read at each call and passed as an argument, so that no value is
frozen; containers among the arguments and in the result are tuples; and indices out of bounds raise. A
statement for which Numba has no code is interpreted (`interpreted_calls.py`), or refused at the user's line
by UnsupportedSyntaxError. Arrays are of float64, complex128, integers or booleans.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import inspect
import re
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import chain
from traceback import walk_tb
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np
from numpy import ndarray

from ..kinds.eval_guard import is_known
from ..kinds.memory import OF_HEAP
from ..runtime.adjoints import add, zeros_like
from ..runtime.containers import kept_items, values_adjoint
from ..runtime.records import adjoint_like, made_like
from ..source.compiling import compile_function
from ..source.locate import GENERATED, origins
from ..transforms.errors import NonDifferentiableError, SourceLocation, UnsupportedSyntaxError
from ..transforms.trees.helpers import merged
from ..values.code_state import names_in
from ..values.libraries import is_other_array, refuse_libraries
from ..values.objects import fields_of, is_plain
from . import Settings
from .array_types import Type, type_of
from .arrays_of_lists import name_arrays_of_lists
from .arrays_to_loops import with_loops
from .checked_operations import with_checks
from .flatten_containers import check_lengths, flattened
from .flatten_values import NotFlat
from .interpreted_calls import Interpreter
from .interpreted_functions import interpreted
from .loops.rewrite_helpers import REWRITTEN
from .one_path import LengthsDiffer, is_repeatable, repeated, with_guards, without_ones
from .progress import shown_when_slow
from .special_functions import special_functions
from .structures import Structure, converted, listing, owned, packed, structure_of
from .without_contexts import without_contexts

__all__ = ["CompiledFunction", "compiled_for"]

# Numbers of these precisions mean the same in NumPy and in compiled code.
DTYPES = frozenset(map(np.dtype, ("float64", "complex128", "int64", "int32", "intp", "bool")))
FLATTENED = (adjoint_like, made_like, values_adjoint, merged, kept_items)  # helpers that become tuples
DTYPE_OF: dict[Any, Any] = {float: np.float64, complex: np.complex128, int: np.int64, bool: np.bool_}
DATA = (bool, int, float, complex, str, np.ndarray, np.generic, tuple, list, dict)
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # of what compiled code alone calls
HARMLESS = frozenset((adjoint_like,))  # functions that change nothing
PARALLEL = {  # loops that say so, and nothing else
    "prange": True, "comprehension": False, "reduction": False, "inplace_binop": False, "setitem": False,
    "numpy": False, "stencil": False, "fusion": False,
}  # fmt: skip
LIBRARIES = frozenset({"numpy", "math", "cmath", "builtins"})  # whose constants stay
_LINE = re.compile(r'File "(<s2sad [^"]*>)", line (\d+)')


@cache
def helpers() -> Any:
    """The module with Numba's implementations of helpers; it imports Numba."""
    try:
        importlib.import_module(".numba_lists", __package__)
        return importlib.import_module(".numba_helpers", __package__)
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise NonDifferentiableError(
            'compile="numba" needs Numba, which is not installed', instead="pip install s2sad[numba]"
        ) from None


# ---------------------------------------------------------------- calling


class CompiledFunction:
    """A generated function that runs as machine code: one version for each structure of its arguments, and
    in each one for the types that Numba tells apart.
    """

    def __init__(self, function: FunctionType, settings: Settings, form: str) -> None:
        self.function, self.settings = function, settings
        name = ".two_sweeps" if form == "vjp" else None
        self._of = importlib.import_module(name, __package__).TwoSweeps if name else Version
        self._versions: dict[tuple[Structure, ...], Version] = {}
        self._met: dict[tuple[Any, ...], Callable[..., Any]] = {}  # what takes arguments of types met before

    def version_for(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        """What runs for such arguments."""
        key = tuple(map(key_of, args))
        found = self._met.get(key)
        return found if found is not None else self._begin(key, args)

    def _begin(self, key: tuple[Any, ...], args: tuple[Any, ...]) -> Callable[..., Any]:
        """What runs for types that were not met before, or for containers; it is compiled."""
        refuse_libraries(args, "compiled code", "leave `compile` out")
        structures = tuple(map(structure_of, args))
        version = self._versions.get(structures)
        if version is None:
            version = self._versions[structures] = self._shared(structures)
        run = version.compiled(args)
        if not version.outside:
            self._met[key] = run
        return run


    def _shared(self, structures: tuple[Structure, ...]) -> Version:
        """The version for these structures: that of another function with the same code, if its names mean
        the same and the data that it reads has the same structure.
        """
        key = self._of, self.settings, structures, *_meanings(self.function)
        with _lock:
            found = _versions.pop(key, None)
        version = self._of(self.function, structures, self.settings) if found is None else found
        with _lock:
            _versions[key] = version
            while len(_versions) > MAX_VERSIONS:
                _versions.popitem(last=False)
        return version if found is None else version.of(self.function)


MAX_VERSIONS = 512
_versions: OrderedDict[Any, Version] = OrderedDict()
_lock = threading.Lock()


def _meanings(function: FunctionType) -> Iterator[Any]:
    """What the machine code of a function depends on, besides types: objects by identity, which it keeps."""
    code, scope = function.__code__, function.__globals__
    yield code
    yield id(scope)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    for name in (*code.co_freevars, *sorted(names_in(code) & scope.keys())):
        try:
            value = cells[name].cell_contents if name in cells else scope[name]
        except ValueError:  # a cell that is filled later
            value = cells[name]
        yield structure_of(value) if isinstance(value, DATA) else id(value)


def key_of(value: Any) -> Any:
    """What tells values apart that need other code."""
    cls = type(value)
    if cls is ndarray:
        ones = tuple([n == 1 for n in value.shape]) if 1 in value.shape else value.ndim
        return value.dtype, ones, value.flags.num
    if cls is dict:
        return cls, *value, *map(key_of, value.values())
    if isinstance(value, (list, tuple)):
        return (cls, *map(key_of, value))
    if cls.__module__ == "builtins" or not is_plain(cls):
        return cls
    return (cls, *((name, key_of(v)) for name, v in fields_of(value).items()))


@dataclass(frozen=True)
class Made:
    """What Numba compiles, and whether it may raise LengthsDiffer."""

    dispatcher: Any
    has_one_path: bool


class Version:
    """The code for arguments of certain structures: one dispatcher for each of their types. `finish` changes
    the tree of a dispatcher, and returns the objects that it names then.
    """

    def __init__(
        self,
        function: FunctionType,
        structures: tuple[Structure, ...],
        settings: Settings,
        tree: ast.FunctionDef | None = None,
        finish: Callable[[ast.FunctionDef], dict[str, Any]] = lambda tree: {},
    ) -> None:
        self.function, self.structures, self.settings = function, structures, settings
        self._code = code = _Code(function, tree or tree_of(function), structures, finish)
        self.result, self.outside = code.result, code.outside_of(function)
        self._dispatchers: dict[tuple[tuple[Type, ...], bool], Made] = {}

    def of(self, function: FunctionType) -> Version:
        """The same machine code for another function with the same code."""
        new = copy.copy(self)
        new.function, new.outside = function, self._code.outside_of(function)
        return new

    def compiled(self, args: tuple[Any, ...], is_general: bool = False) -> Callable[..., Any]:
        """What runs for such arguments; it is compiled for their types, if that was not done before."""
        made, _ = self.dispatcher_for(args, is_general)
        run = converted(made.dispatcher, self.structures, self.outside, self.result)
        return repeated(run, partial(self.compiled, is_general=True)) if made.has_one_path else run

    def dispatcher_for(self, args: tuple[Any, ...], is_general: bool) -> tuple[Made, tuple[Any, ...]]:
        """The compiled function for such arguments, and their types as Numba has them."""
        given = *map(packed, args, self.structures), *(read() for read in self.outside)
        check_types(given, self.function)
        try:
            exact = tuple(map(helpers().numba.typeof, given))
        except ValueError as error:
            raise UnsupportedSyntaxError(
                f"`{self.function.__name__}` is not compiled for these arguments",
                None,
                "one of them is, or holds, an object that Numba has no type for",
                "pass the numbers and arrays that it holds, or leave `compile` out",
            ) from error
        types = [without_ones(type_of(value)) for value in given]
        for k, structure in enumerate(self.structures):
            if not structure.has_lists:  # which may be longer at the next call, as arrays outside
                types[k] = type_of(given[k])
        return self.dispatcher(tuple(types), exact, is_general), exact

    def dispatcher(self, types: tuple[Type, ...], exact: tuple[Any, ...], is_general: bool) -> Made:
        """The compiled function for arguments of these types, which are `exact` as Numba has them."""
        if is_general:
            types = tuple(map(without_ones, types))
        while True:
            made = self._dispatchers.get((types, is_general))
            if made is None:
                found = None if is_general else self._code.dispatcher(types, self.settings, False)
                if found is None and not is_general:
                    return self.dispatcher(types, exact, True)
                made = found or self._code.dispatcher(types, self.settings, True)
                assert made is not None
                self._dispatchers[types, is_general] = made
                if self.settings.cache:
                    helpers().keep_on_disk(made.dispatcher)
            try:
                slow = shown_when_slow(self.function.__name__)
                with warnings.catch_warnings(), slow, helpers().linked():
                    warnings.simplefilter("ignore", helpers().NumbaWarning)
                    made.dispatcher.compile(exact)
            except Exception as error:  # of Numba's, or an assertion in it that fails
                line = self._code.line_of(error)
                if not self._code.interpret(line):
                    refuse_by_numba(error, self.function, line)
                self._dispatchers.pop((types, is_general))
                continue
            overloads = made.dispatcher.overloads.values()
            for difference in chain.from_iterable(map(helpers().differences, overloads)):
                refuse_by_numba(difference, self.function, self._code.line_of(difference))
            return made


def check_types(values: tuple[Any, ...], function: FunctionType) -> None:
    """Raises UnsupportedSyntaxError for numbers and arrays whose dtypes Numba promotes differently than
    NumPy.
    """
    for value in values:
        if type(value) is tuple:
            check_types(value, function)
        elif isinstance(value, (np.ndarray, np.generic)) and (
            value.dtype not in DTYPES or type(value).__module__ != "numpy" or is_other_array(type(value))
        ):
            raise UnsupportedSyntaxError(
                f"`{function.__name__}` is not compiled for a {type(value).__name__} of dtype {value.dtype}",
                None,
                "Numba computes in other precisions than NumPy does",
                "pass float64, complex128, integers or booleans, or leave `compile` out",
            )


@lru_cache(maxsize=1024)
def compiled_for(function: FunctionType, settings: Settings, form: str) -> CompiledFunction:
    """The compiled form of a generated function; of a `vjp`, one that returns the result and its `bprop`."""
    return CompiledFunction(function, settings, form)


# ---------------------------------------------------------------- the code


def tree_of(function: FunctionType) -> ast.FunctionDef:
    """The tree of a generated function."""
    tree = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


class _Code:
    """The function to compile: of the arguments as tuples, and then of the data that it reads outside."""

    def __init__(
        self,
        function: FunctionType,
        tree: ast.FunctionDef,
        structures: tuple[Structure, ...],
        finish: Callable[[ast.FunctionDef], dict[str, Any]],
    ) -> None:
        if special_functions():
            helpers()
            importlib.import_module(".numba_special", __package__).declare_special()
        self.original, self.tree, self.finish = function, tree, finish
        self.variables = {n.id for n in stored_names(tree)}
        tree.body = without_contexts(tree.body, self.is_silent)
        self.refuse_inner()
        self.constants: dict[str, Any] = {"__builtins__": builtins, "__name__": __name__}
        self.readers: dict[str, Callable[[FunctionType], Any]] = {}
        self.parameters: dict[str, str] = {}  # that stand for data, by its name or dotted path
        names = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
        variables = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
        self.lines: dict[str, int] = {}  # of the functions of loops: the lines that they stand for
        self.loops: dict[tuple[str, bool], Any] = {}  # the compiled functions of loops, by their texts
        self.unknown: list[tuple[ast.expr, str]] = []  # where helpers are read that do not compile
        self.interpreted: set[int] = set()  # the lines of statements that Numba has no code for
        self.taken = {*names, *(n.id for n in variables)}
        self.variables |= {*names}
        tree.body = [_ReadOutside(self).visit(s) for s in tree.body]
        given = dict(zip(names, structures, strict=True))
        try:
            own = self.fresh("add_adjoints"), self.fresh("zero_adjoint"), self.fresh("check_lengths")
            self.constants.update(zip(own, (add, zeros_like, check_lengths), strict=True))
            given |= self.structures_outside()
            self.result = flattened(tree, given, self.object_of, self.fresh, own)
        except NotFlat as error:
            instead = "pass what it holds as arguments of their own, or leave `compile` out"
            self.refuse(error.node, error.why, instead)
        passed, lists = self.read_lists(tree, given)
        self.constants |= name_arrays_of_lists(tree, lists, self.object_of, self.fresh)
        name = self.fresh("interpreted")
        filename, local = function.__code__.co_filename, frozenset((*self.variables, *self.readers))
        self.interpreter = Interpreter(local, dict(self.constants), self.object_of, filename, name)
        self.constants[name] = interpreted
        self.interpreter.defer(tree.body)
        self.interpret_others(tree)
        for node, helper in self.unknown:
            if node.lineno not in self.interpreted and not self.interpret(node.lineno):
                self.refuse(node, _uncompiled(self.constants[helper], helper), "leave `compile` out")
        parameters = [passed.get(n, n) for n in (*names, *self.readers)]
        tree.args = ast.arguments([], [ast.arg(n) for n in parameters], None, [], [], None, [])
        tree.returns = None

    def interpret_others(self, tree: ast.FunctionDef) -> None:
        """Makes calls of what Numba does otherwise than NumPy interpreted ones: orders of equal numbers,
        roundings, and norms by name. Random numbers are refused, since Numba's generator is one of its own.
        """
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            function = self.object_of(node.func)
            if isinstance(getattr(function, "__self__", None), np.random.RandomState):
                why = "Numba draws random numbers of its own, which `np.random.seed` does not change"
                self.refuse(node, why, "draw them outside and pass them, or leave `compile` out")
            is_order = function is np.argsort or (
                function is None and isinstance(node.func, ast.Attribute) and node.func.attr == "argsort"
            )
            is_rounding = function in (round, np.round, np.around) and len(node.args) + len(node.keywords) > 1
            given = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "ord")]
            named = [v for v in given if isinstance(v, ast.Constant) and isinstance(v.value, str)]
            is_norm = function is np.linalg.norm and bool(named)
            if not (is_order or is_rounding or is_norm) or node.lineno in self.interpreted:
                continue
            if not self.interpret(node.lineno):
                what = "orders equal numbers" if is_order else "rounds" if is_rounding else "names norms"
                self.refuse(node, f"Numba {what} otherwise than NumPy does", "leave `compile` out")

    def read_lists(
        self, tree: ast.FunctionDef, given: dict[str, Structure]
    ) -> tuple[dict[str, str], set[str]]:
        """Puts in front the statements that make lists of what is passed for them; returns the new names of
        their parameters, and the names of those that are lists.
        """
        found = {name: s for name, s in given.items() if owned(s) != s}
        if not found:
            return {}, set()
        made = self.fresh("list")
        self.constants[made] = list
        first, parameters, front = tree.body[0], {}, []
        for name, structure in found.items():
            parameters[name] = passed = self.fresh(name)
            value = ast.parse(listing(passed, structure, made), mode="eval").body
            new = ast.Assign([ast.Name(name, ast.Store())], value)
            for node in ast.walk(new):
                ast.copy_location(node, first)
            front.append(new)
        tree.body = [*front, *tree.body]
        return parameters, {name for name, s in found.items() if s.is_list}

    def dispatcher(self, types: tuple[Type, ...], settings: Settings, is_general: bool) -> Made | None:
        """The function to compile for arguments of these types: what it computes of arrays are loops. Unless
        it is general it has one path; None if it must not, since a run has effects.
        """
        tree, constants, taken = copy.deepcopy(self.tree), dict(self.constants), {*self.taken}
        njit, fastmath = helpers().numba.njit, settings.fastmath
        self.interpreter.replace(tree.body, self.interpreted)
        given = dict(zip([a.arg for a in tree.args.args], types, strict=True))
        checks = with_checks(tree, given, self.object_of, self.fresh)
        self.constants |= checks
        constants |= checks
        may_repeat = partial(is_repeatable, helpers=HARMLESS | helpers().HELPERS)
        allowed = (lambda code: True) if is_general else may_repeat
        how_to_loop = not is_general, allowed, settings.parallel
        found = with_loops(tree, given, self.object_of, self.fresh, *how_to_loop)
        if found is None:
            self.taken = taken
            return None
        made, called = found
        constants |= called
        for loops in made:
            of_loops = helpers().CALLED_IN_LOOPS
            scope = {**constants, **{name: of_loops[of] for name, of in loops.names.items()}}
            exec(compile(loops.text, f"<s2sad {loops.name}>", "exec"), scope)
            self.lines[loops.name] = loops.line
            how = {"fastmath": fastmath, "error_model": "numpy", **INNER}
            if loops.parts:
                part, run, threads = loops.parts
                scope[threads] = njit(scope[run], parallel=PARALLEL, **how)
                scope[part], scope[run] = njit(scope[part], **how), njit(scope[run], **how)
            compiled = njit(scope[loops.name], **how)
            constants[loops.name] = self.loops.setdefault((loops.text, fastmath), compiled)
        self.taken = taken  # so that the next ones have the same names, and are not compiled again
        error = self.fresh("LengthsDiffer")
        has_guards = with_guards(tree, given, error)
        if has_guards:
            constants[error] = LengthsDiffer
        constants.update(self.finish(tree))
        with_other_numbers(tree)
        ast.fix_missing_locations(tree)
        code = compile_function(tree, self.original.__code__.co_filename, ())
        function = FunctionType(code, constants, self.original.__name__)
        model = "numpy" if fastmath else "python"
        options = {"boundscheck": True, "fastmath": fastmath, "error_model": model, "no_cfunc_wrapper": True}
        has_one_path = has_guards or any("LengthsDiffer" in loops.names.values() for loops in made)
        return Made(njit(function, **options), has_one_path)

    def line_of(self, error: Exception) -> int:
        """The line of the generated function that Numba has no code for: the last one that it names."""
        own = self.original.__code__.co_filename
        files = {own: 0, **{f"{GENERATED}{name}>": line for name, line in self.lines.items()}}
        found = [files[name] or int(line) for name, line in _LINE.findall(str(error)) if name in files]
        if not found:  # an assertion of Numba's that fails
            passes = [frame.f_locals.get("self") for frame, _ in walk_tb(error.__traceback__)]
            places: list[Any] = [getattr(p, "loc", None) for p in passes if root_of(type(p)) == "numba"]
            places = [loc for loc in places if isinstance(loc, helpers().Loc)]
            found = [files[loc.filename] or loc.line for loc in places if loc.filename in files]
        return found[-1] if found else 1

    def interpret(self, line: int) -> bool:
        """Makes the statement at a line an interpreted one from now on; whether it can be one."""
        if line in self.interpreted or not self.interpreter.replace(copy.deepcopy(self.tree).body, {line}):
            return False
        self.interpreted.add(line)
        return True

    def object_of(self, node: ast.expr) -> Any:
        """What an expression of names from outside means; None for all others."""
        path = dotted(node)
        found = self.constants.get(path[0], getattr(builtins, path[0], None)) if path else None
        if not path or path[0] in self.variables:
            return None
        for attr in path[1:]:
            found = getattr(found, attr, None) if isinstance(found, ModuleType) else None
        return found

    def outside_of(self, function: FunctionType) -> list[Callable[[], Any]]:
        """What reads the data that a function with this code is given behind its arguments."""
        return [partial(read, function) for read in self.readers.values()]

    def structures_outside(self) -> dict[str, Structure]:
        found = {}
        for name, read in list(self.readers.items()):
            structure = structure_of(read(self.original))
            if not structure.is_leaf:
                found[name] = structure
                self.readers[name] = partial(packed_now, read=read, structure=structure)
        return found

    def is_silent(self, context: ast.expr) -> bool:
        """Whether a context only keeps NumPy from warning."""
        if not isinstance(context, ast.Call) or context.args or not (path := dotted(context.func)):
            return False
        found = self.meaning(path[0])
        value = found[0] if found is not None else None
        for attr in path[1:]:
            value = getattr(value, attr, None) if isinstance(value, ModuleType) else None
        silent = all(getattr(k.value, "value", None) in ("ignore", "warn") for k in context.keywords)
        return value is np.errstate and silent

    def refuse_inner(self) -> None:
        for node in ast.walk(self.tree):
            if node is not self.tree and isinstance(node, (ast.FunctionDef, ast.Lambda, ast.With, ast.Try)):
                what = {ast.With: "`with`", ast.Try: "`try`"}.get(type(node), "a function inside another one")
                self.refuse(node, f"it holds {what}", "leave `compile` out")
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
                path = dotted(node)
                if path and path[0] not in self.variables:
                    self.refuse(node, f"it sets `{path[-1]}`, which is outside of it", "leave `compile` out")

    def refuse(self, node: ast.AST, why: str, instead: str) -> NoReturn:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        raise UnsupportedSyntaxError(
            "the derivative cannot be compiled by Numba", place(self.original, line, column), why, instead
        )

    def meaning(self, name: str) -> tuple[Any, Callable[[FunctionType], Any]] | None:
        """What a free name means now, and what reads it for a function with this code; None for a variable of
        the function's own.
        """
        code: CodeType = self.original.__code__
        if name in code.co_freevars:
            k = code.co_freevars.index(name)
            cells: tuple[CellType, ...] = self.original.__closure__ or ()
            return cells[k].cell_contents, lambda f: (f.__closure__ or ())[k].cell_contents
        if name in self.variables:
            return None
        scope = self.original.__globals__
        if name in scope:
            return scope[name], lambda f: scope[name]
        found = getattr(builtins, name, self)
        return None if found is self else (found, lambda f: found)

    def parameter_for(self, name: str, read: Callable[[FunctionType], Any]) -> str:
        """The name of the parameter that stands for data from outside."""
        known = self.parameters.get(name)
        if known is None:
            known = self.parameters[name] = self.fresh(name.replace(".", "_"))
            self.readers[known] = read
        return known

    def fresh(self, name: str) -> str:
        """A name that nothing has yet."""
        found, count = name, 0
        while found in self.taken:
            count += 1
            found = f"{name}_{count}"
        self.taken.add(found)
        return found

    def constant(self, node: ast.expr, name: str, value: Any) -> None:
        """A name of a module or function, which stays what it is."""
        if isinstance(value, FunctionType) and not is_library(value):
            if value in (*helpers().HELPERS, *REWRITTEN, *FLATTENED):
                pass
            elif is_of_package(value) and is_known(value):
                self.unknown.append((node, name))
            elif is_of_package(value) or value.__code__.co_filename.startswith(GENERATED):
                self.refuse(node, _uncompiled(value, name), "leave `compile` out")
            else:
                value = self.callee(node, name, value)
        self.constants[name] = value

    def callee(self, node: ast.AST, name: str, function: FunctionType) -> Any:
        """A function of the user's that is called, compiled; it must read nothing but functions and modules
        outside.
        """
        for inner in names_outside(function):
            value = inspect.getclosurevars(function)
            found = {**value.globals, **value.nonlocals}.get(inner)
            if isinstance(found, DATA):
                self.refuse(
                    node,
                    f"`{name}`, which it calls, reads `{inner}` of what is around it",
                    "pass it as an argument",
                )
        return helpers().numba.njit(function)


def packed_now(function: FunctionType, read: Callable[[FunctionType], Any], structure: Structure) -> Any:
    """The value of an outer name, as tuples; raises NonDifferentiableError if its structure has changed."""
    value = read(function)
    if structure_of(value) != structure:
        raise NonDifferentiableError(
            "a container that compiled code reads outside of its function has other parts than before",
            instead="pass it as an argument",
        )
    return packed(value, structure)


class _ReadOutside(ast.NodeTransformer):
    """Makes parameters of the data that a function reads from outer scopes."""

    def __init__(self, code: _Code) -> None:
        self.code = code

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        path = dotted(node) if isinstance(node.ctx, ast.Load) else []
        found = self.code.meaning(path[0]) if path else None
        if found is None or not isinstance(found[0], ModuleType):
            return self.generic_visit(node)
        value = found[0]
        for attr in path[1:]:
            if not isinstance(value, ModuleType):
                return self.generic_visit(node)
            module, value = value, getattr(value, attr)
        self.code.constants[path[0]] = found[0]
        if isinstance(value, DATA) and module.__name__.split(".")[0] not in LIBRARIES:
            return self.parameter(node, ".".join(path), lambda f: getattr(module, path[-1]))
        if isinstance(value, FunctionType) and not is_library(value):
            name = self.code.fresh("_".join(path))
            self.code.constant(node, name, value)
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        found = self.code.meaning(node.id) if isinstance(node.ctx, ast.Load) else None
        if found is None:
            return node
        value, read = found
        if isinstance(value, DATA):
            return self.parameter(node, node.id, read)
        self.code.constant(node, node.id, value)
        return node

    def visit_keyword(self, node: ast.keyword) -> Any:
        """A dtype that a class of Python's stands for is one of NumPy's, which Numba knows."""
        self.generic_visit(node)
        cls = self.code.object_of(node.value) if node.arg == "dtype" else None
        if cls in DTYPE_OF:
            name = self.code.fresh(DTYPE_OF[cls].__name__)
            self.code.constants[name] = DTYPE_OF[cls]
            node.value = ast.copy_location(ast.Name(name, ast.Load()), node.value)
        return node

    def parameter(self, node: ast.expr, name: str, read: Callable[[FunctionType], Any]) -> ast.expr:
        return ast.copy_location(ast.Name(self.code.parameter_for(name, read), ast.Load()), node)


def with_other_numbers(tree: ast.FunctionDef) -> None:
    """Changes the names of variables that end in numbers: Numba calls a version of `x` `x_1`, too."""
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    renamed = {n.id: re.sub(r"_(\d+)$", r"_v\1", n.id) for n in stored_names(tree)}
    renamed = {name: new for name, new in renamed.items() if new not in names}
    for n in ast.walk(tree):
        if isinstance(n, ast.Name):
            n.id = renamed.get(n.id, n.id)
        elif isinstance(n, ast.arg):
            n.arg = renamed.get(n.arg, n.arg)


def stored_names(tree: ast.AST) -> Iterator[ast.Name]:
    """The names that a tree binds, where it does."""
    return (n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def dotted(node: ast.expr) -> list[str]:
    """The names of a dotted path; none for what is no path."""
    if isinstance(node, ast.Name):
        return [node.id]
    base = dotted(node.value) if isinstance(node, ast.Attribute) else []
    return [*base, node.attr] if base and isinstance(node, ast.Attribute) else []


def is_of_package(value: Any) -> bool:
    """Whether a function is one of this package's."""
    return root_of(value) == root_of(is_of_package)


def root_of(value: Any) -> str:
    """The package that a function or class is from."""
    return str(getattr(value, "__module__", "")).partition(".")[0]


def is_library(value: Any) -> bool:
    return root_of(value) in (*LIBRARIES, "scipy")


def names_outside(function: FunctionType) -> Iterator[str]:
    """The names that a function reads of what is around it."""
    yield from function.__code__.co_freevars
    yield from (name for name in function.__code__.co_names if name in function.__globals__)


# ---------------------------------------------------------------- refusals


def place(function: FunctionType, line: int, column: int = 0) -> SourceLocation:
    """A line of a generated function, or the first one that stands for one of the user's."""
    filename = function.__code__.co_filename
    places = origins[filename].places if filename in origins else {}
    first = min([k for k, (statement, *_) in places.items() if statement is not None], default=line)
    return SourceLocation(filename, max(line, first), column if line >= first else 0, "")


def refuse_by_numba(error: Exception, function: FunctionType, line: int) -> NoReturn:
    """Raises UnsupportedSyntaxError for the statement that Numba could not compile."""
    where = place(function, line)
    text = inspect.getsource(function).splitlines()[where.line - 1].strip()
    raise UnsupportedSyntaxError(
        "the derivative cannot be compiled by Numba",
        where,
        getattr(error, "why", f"Numba has no code for `{text}` with values of these types"),
        "write it with scalars, loops or other functions of NumPy, or leave `compile` out",
    ) from error


def _uncompiled(function: Any, name: str) -> str:
    """Why a call of a helper is refused."""
    is_of_heap = getattr(function, "__module__", "") in OF_HEAP
    return "changes of objects do not compile" if is_of_heap else f"`{name}` does not compile"
