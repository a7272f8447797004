"""Makes arrays of lists of rows of numbers, once these are filled: compiled code then knows all aliases.

Form: the normal form, in and out. A table is a list that one loop fills with new lists, whose elements are
read and set afterwards, by indices and in loops, and nothing else. Rows of an array are views of it, as the
rows of the table are the lists in it. Rows of different lengths raise when the array is made.

    t = []                              t_1 = []
    for _ in range(n):                  for _ in range(n):
        row = [0.0] * m                     row = [0.0] * m
        t.append(row)            ->         t_1.append(row)
    s = t[i]                            t = table_of(t_1)
    s[j] = x                            s = t[i]
                                        s[j] = x
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast

from ..kinds.lattice import List, Scalar
from ..rules.containers import table_of
from ..transforms.analyses.facts import Facts
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import (
    assign,
    assigned_names,
    blocks_of,
    call,
    find_nodes,
    is_atom,
    load,
    located,
    names_read,
    statements_in,
    target_names,
)
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import map_blocks, parameter_names, substitute, with_body

__all__ = ["tables_to_arrays"]


def tables_to_arrays(facts: Facts) -> Program:
    """The program with arrays in place of tables; the program itself where there are none."""
    program = facts.program
    if find_nodes(program.tree, gast.FunctionDef) != [program.tree]:
        return program
    found = {name for name in _filled(program) if _is_table(facts, name)}
    if not found:
        return program
    names = program.names.copy()
    objects = Objects(program, names)
    made = objects.name(table_of)
    lists = {name: names.temporary(name) for name in sorted(found)}

    def block(statements: list[Any]) -> list[Any]:
        new: list[Any] = []
        for s in (map_blocks(s, block) for s in statements):
            fills = [name for name in lists if _fills(s, name, program)]
            made_here = [n for n in assigned_names([s]) if n in lists and not blocks_of(s)]
            of = {name: load(lists[name]) for name in (*fills, *made_here)}
            if not of:
                new.append(s)
                continue
            new.append(assign(lists[made_here[0]], s.value, s) if made_here else substitute(s, of))
            new += [located(assign(name, call(made, load(lists[name]))), s) for name in fills]
        return new

    tree = with_body(program.tree, block(program.tree.body))
    return program.with_tree(tree, names=names, bindings=objects.all_bindings())


def _filled(program: Program) -> Iterator[str]:
    """The names of lists that are made once, empty, and filled by one loop with a new list at a time."""
    statements = [*statements_in(program.tree.body)]
    bound = Counter(n for s in statements for n in assigned_names([s]) if not blocks_of(s))
    for s in statements:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.List(elts=[])) if bound[name] == 1:
                fills = [loop for loop in statements if _fills(loop, name, program)]
                if len(fills) == 1 and _holds_both(program.tree.body, s, fills[0]):
                    yield name


def _holds_both(statements: list[Any], first: Any, then: Any) -> bool:
    """Whether one block holds both statements."""
    if any(s is first for s in statements):
        return any(s is then for s in statements)
    return any(_holds_both(block, first, then) for s in statements for block in blocks_of(s))


def _fills(s: Any, name: str, program: Program) -> bool:
    """Whether a statement is a loop that appends a new list to a name, and reads that name no more."""
    if not isinstance(s, gast.For) or s.orelse or find_nodes(s, gast.Break, gast.Continue):
        return False
    match s.body[-1]:
        case gast.Expr(
            value=gast.Call(
                func=gast.Attribute(value=gast.Name(id=to), attr="append"),
                args=[gast.Name(id=row)],
                keywords=[],
            )
        ) if to == name:
            reads = [n for n in find_nodes(s, gast.Name) if n.id == name]
            return len(reads) == 1 and _is_own(s, row, program)
    return False


def _makes(s: Any, row: str, program: Program) -> bool:
    """Whether a statement binds a name to a new list."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.List() | gast.BinOp()):
            return bool(name == row)
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(func=func)):
            return bool(name == row) and program.resolve(func) is list
    return False


def _is_own(loop: Any, row: str, program: Program) -> bool:
    """Whether a loop makes a row anew, and only statements of it that call the row's methods name it."""
    bound = [b for b in statements_in(loop.body) if not blocks_of(b) and row in assigned_names([b])]
    if len(bound) != 1 or not any(b is bound[0] for b in loop.body) or not _makes(bound[0], row, program):
        return False
    for s in statements_in(loop.body):
        if blocks_of(s):
            if isinstance(s, gast.For) and row in target_names(s.target):
                return False
        elif row in names_read(s) and s is not loop.body[-1]:
            given = s.value.args if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call) else [s]
            if any(n.id == row for a in given for n in find_nodes(a, gast.Name)):
                return False
    return True


def _is_table(facts: Facts, name: str) -> bool:
    """Whether a list holds lists of floats, and only their elements are read and set."""
    match facts.kind_of_name(name):
        case List(_, List(_, Scalar(dtype="float"))):
            pass
        case _:
            return False
    program = facts.program
    filled = [s for s in statements_in(program.tree.body) if _fills(s, name, program)]
    inside = {id(s) for loop in filled for s in statements_in([loop])}
    others = [s for s in statements_in(program.tree.body) if id(s) not in inside]
    built = {loop.body[-1].value.args[0].id for loop in filled}
    if any(n.id in built for s in others for n in find_nodes(s, gast.Name)):
        return False
    rows: set[str] = set()
    while more := {n for s in others for n in _rows_of(s, name, rows)} - rows:
        rows |= more
    bound = [n for s in statements_in(program.tree.body) for n in assigned_names([s]) if not blocks_of(s)]
    bound += [n for s in find_nodes(program.tree, gast.For) for n in target_names(s.target)]
    bound += parameter_names(program.tree)
    own = [n for s in others for n in _rows_of(s, name, rows)]
    if any(bound.count(row) != own.count(row) for row in rows) or bound.count(name) != 1:
        return False
    held = {name, *rows}
    reads = Counter(n.id for n in find_nodes(program.tree, gast.Name) if isinstance(n.ctx, gast.Load))
    plain = Counter(n for s in others for n in _read_plainly(s, name, rows, facts))
    plain[name] += 1  # in the loop that fills it
    return all(reads[n] == plain[n] for n in held)


def _rows_of(s: Any, table: str, rows: set[str]) -> list[str]:
    """The names that a statement binds to rows of a table."""
    match s:
        case gast.Assign(
            targets=[gast.Name(id=row)], value=gast.Subscript(value=gast.Name(id=of), slice=index)
        ) if of == table and is_atom(index):
            return [row]
        case gast.Assign(targets=[gast.Name(id=row)], value=gast.Name(id=of)) if of in rows:
            return [row]
        case gast.For(target=gast.Name(id=row), iter=gast.Name(id=of)) if of == table:
            return [row]
    return []


def _read_plainly(s: Any, table: str, rows: set[str], facts: Facts) -> Iterator[str]:
    """The names among the table and its rows that a statement reads as arrays are read as well."""
    for n in [] if blocks_of(s) else find_nodes(s, gast.Subscript):
        if isinstance(n.value, gast.Name) and is_atom(n.slice):
            is_row = n.value.id == table and table in names_read(s) and bool(_rows_of(s, table, rows))
            if n.value.id in rows or is_row:
                yield n.value.id
    match s:
        case gast.Assign(value=gast.Name(id=name)) if name in rows and _rows_of(s, table, rows):
            yield name
        case gast.Assign(value=gast.Call(func=func, args=[gast.Name(id=name)], keywords=[])) if (
            name in {table, *rows} and facts.program.resolve(func) is len
        ):
            yield name
        case gast.For(target=gast.Name(), iter=gast.Name(id=name)) if name in {table, *rows}:
            yield name

