"""Refuses the constructs that no pass handles.

Form in: a function as its author wrote it. Form out: the same tree, every node of which some later pass
handles. Constructs are allowed by a list; any other is an error with its line, a caret, and an alternative.

>>> from s2sad.transforms.trees.program import program_of
>>> try:
...     check_syntax(program_of('''
... def f(x):
...     y = yield x
... '''))
... except SyntaxError as error:
...     print(error)
a `yield` whose value is used is not differentiated
<text>:3
    y = yield x
        ^
because: values sent to a generator are not followed
instead: write `yield` as a statement of its own, and pass arguments
"""

from __future__ import annotations

import builtins
from typing import Any

import gast

from ..trees.nodes import children, constant, defaults_of, find_nodes, walk_scope
from ..trees.program import MISSING, Program
from ..trees.rebuild import bound_names, rebuilt

__all__ = ["check_syntax"]

Node = Any  # gast publishes no types

STATEMENTS = """FunctionDef Return Assign AugAssign AnnAssign For While If With Try Raise Assert Expr Pass
    Break Continue Match Global Nonlocal Delete Import ImportFrom TypeAlias"""
EXPRESSIONS = """BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set Compare Call FormattedValue JoinedStr
    Constant Attribute Subscript Starred Name List Tuple Slice ListComp SetComp DictComp GeneratorExp"""
PARTS = """arguments keyword expr_context boolop operator unaryop cmpop comprehension alias withitem
    ExceptHandler match_case MatchValue MatchSingleton MatchSequence MatchMapping MatchStar MatchAs MatchOr
    MatchClass"""
ALLOWED = tuple(getattr(gast, name) for name in f"{STATEMENTS} {EXPRESSIONS} {PARTS}".split())

YIELDING = (gast.Yield, gast.YieldFrom)

# The user's name of each construct, and its replacement.
REFUSED: dict[str, tuple[str, str]] = {
    "AsyncFunctionDef": ("`async def`", "write a plain function"),
    "AsyncFor": ("`async for`", "write a plain `for`"),
    "AsyncWith": ("`async with`", "write plain statements"),
    "Await": ("`await`", "compute the value before the call and pass it as an argument"),
    "TryStar": ("`except*`", "write a plain `except`"),
    "ClassDef": ("a class definition inside the function", "define the class at the module's top"),
}

# Classes whose pattern has one part, which is the object itself.
MATCHED_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)

# Builtins that see the function's own names, which passes rename.
REFLECTIVE = {getattr(builtins, name): name for name in ("eval", "exec", "locals", "vars", "dir", "super")}


def check_syntax(program: Program) -> Program:
    """The program itself; raises UnsupportedSyntaxError at the first construct that is not supported."""
    local = bound_names(program.tree) | program.locals
    check_function(program, program.tree)
    for statement in program.tree.body:
        check(program, statement, local)
    return program


def check(program: Program, node: Node, local: frozenset[str]) -> None:
    if isinstance(node, gast.Expr) and isinstance(node.value, YIELDING):
        node = rebuilt(node, value=node.value.value or constant(None))
    if isinstance(node, YIELDING):
        program.refuse(
            node,
            f"a `{'yield' if isinstance(node, gast.Yield) else 'yield from'}` whose value is used is not "
            "differentiated",
            "values sent to a generator are not followed",
            "write `yield` as a statement of its own, and pass arguments",
        )
    if not isinstance(node, ALLOWED):
        what, instead = REFUSED.get(
            type(node).__name__, (f"`{type(node).__name__}`", "write it with plain statements")
        )
        program.refuse(node, f"{what} is not differentiated", instead=instead)
    match node:
        case gast.FunctionDef() | gast.Lambda():
            check_function(program, node)
            parts = defaults_of(node)
            parts += node.body if isinstance(node, gast.FunctionDef) else [node.body]
        case gast.TypeAlias(name=gast.Name(id=name)):
            if name in read_outside_annotations(program.tree):
                what = f"the type alias `{name}`, which the function reads, is not differentiated"
                program.refuse(node, what, instead="define it at the module's top")
            return
        case gast.AnnAssign():
            parts = [node.target, *([node.value] if node.value else [])]
        case _:
            check_parts(program, node, local)
            parts = children(node)
    for child in parts:
        check(program, child, local)


def read_outside_annotations(tree: Node) -> set[str]:
    """The names that are read when a function runs."""
    annotations = [n.annotation for n in gast.walk(tree) if getattr(n, "annotation", None) is not None]
    aliases = [n for n in gast.walk(tree) if isinstance(n, gast.TypeAlias)]
    returns = [n.returns for n in gast.walk(tree) if getattr(n, "returns", None) is not None]
    unread = {id(n) for part in (*annotations, *aliases, *returns) for n in gast.walk(part)}
    return {n.id for n in gast.walk(tree) if isinstance(n, gast.Name) and id(n) not in unread}


def check_function(program: Program, node: Node) -> None:
    """Refuses decorators, globals that are bound by other statements than assignments, and
    star parameters of the function itself (for which a function of the call's arity is differentiated).
    """
    for starred, name in ((node.args.vararg, "*args"), (node.args.kwarg, "**kwargs")):
        if starred is not None and node is program.tree:
            program.refuse(
                starred,
                f"a `{name}` parameter is not differentiated",
                instead="name the parameters, or pass one tuple or dict",
            )
    if isinstance(node, gast.FunctionDef):
        check_globals(program, node)
    if isinstance(node, gast.FunctionDef) and node is not program.tree:
        for decorator in node.decorator_list:
            program.refuse(
                decorator,
                "a decorated nested function is not differentiated",
                "the decorator may replace it by anything",
                "define it without the decorator, or decorate it at the module's top",
            )


def check_globals(program: Program, function: Node) -> None:
    """Refuses other statements than assignments that bind globals, or variables of enclosing functions of the
    differentiated one.
    """
    if not find_nodes(function, gast.Global, gast.Nonlocal):
        return
    found = list(walk_scope(function.body))
    declared = {name: n for n in found if isinstance(n, gast.Global) for name in n.names}
    around = {name: n for n in found if isinstance(n, gast.Nonlocal) for name in n.names}
    declared |= {name: around[name] for name in around.keys() & program.scope.cells.keys()}
    for n in found:
        for name in bound_by(n):
            if name in declared:
                word = type(declared[name]).__name__.lower()
                program.refuse(
                    declared[name],
                    f"`{word} {name}` with `{name}` bound by more than assignments is not differentiated",
                    instead=f"bind another name, and assign it: `{name} = ...`",
                )


def bound_by(node: Node) -> list[str]:
    """The variables that a node other than an assignment binds."""
    match node:
        case gast.FunctionDef(name=name):
            return [name]
        case gast.Import(names=names) | gast.ImportFrom(names=names):
            return [a.asname or a.name.partition(".")[0] for a in names]
        case (
            gast.For(target=bound)
            | gast.NamedExpr(target=bound)
            | gast.withitem(optional_vars=bound)
            | gast.ExceptHandler(name=bound)
        ) if bound is not None:
            return [bound] if isinstance(bound, str) else [n.id for n in find_nodes(bound, gast.Name)]
        case gast.MatchAs(name=str() as name) | gast.MatchStar(name=str() as name):
            return [name]
    return []


def check_parts(program: Program, node: Node, local: frozenset[str]) -> None:
    """Refuses parts that an allowed node may not have."""
    match node:
        case gast.comprehension():
            check_target(program, node.target)
        case gast.Try():
            check_final_jumps(program, node)
        case gast.MatchClass():
            check_class_pattern(program, node, local)
        case gast.Call():
            check_reflection(program, node, local)


def check_final_jumps(program: Program, node: Node) -> None:
    """Refuses a `finally` that swallows exceptions."""
    for n in walk_scope(node.finalbody):
        if isinstance(n, (gast.Return, gast.Break, gast.Continue)):
            program.refuse(
                n,
                "a jump in a `finally` is not differentiated",
                "it ends the handling of an exception, wherever that came from",
                "jump after the `try`",
            )


def check_class_pattern(program: Program, pattern: Node, local: frozenset[str]) -> None:
    """Refuses class patterns with more positional parts than `__match_args__` names."""
    found = MISSING if getattr(pattern.cls, "id", None) in local else program.resolve(pattern.cls)
    single = len(pattern.patterns) == 1 and found in MATCHED_WHOLE
    if not single and len(pattern.patterns) > len(getattr(found, "__match_args__", ())):
        program.refuse(
            pattern,
            "a class pattern with parts by position is not differentiated where its class names too few",
            "the attributes that they match are not known",
            "name the attributes: `case Point(x=x, y=y):`",
        )


def check_reflection(program: Program, node: Node, local: frozenset[str]) -> None:
    """Refuses calls that inspect the running function's names."""
    name = getattr(node.func, "id", None)
    if name is None or name in local:
        return
    found = program.scope.lookup(name)
    if (
        isinstance(found, (type, type(len)))
        and found in REFLECTIVE
        and (found not in (vars, dir, super) or not node.args)
    ):
        program.refuse(
            node,
            f"`{name}()` is not differentiated",
            "it inspects the function, which is rewritten",
            "read the variables by their names",
        )


def check_target(program: Program, target: Node) -> None:
    """Refuses attributes among the targets of a loop or context."""
    if isinstance(target, (gast.Tuple, gast.List)):
        for item in target.elts:
            check_target(program, item)
    elif isinstance(target, gast.Starred):
        check_target(program, target.value)
    elif isinstance(target, gast.Attribute):
        program.refuse(
            target,
            "a loop or context that assigns to an attribute is not differentiated",
            instead="assign to a name in the head, and to the attribute in the body",
        )
