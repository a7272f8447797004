"""Nested functions that are used as values, and partial applications, as objects of classes with a slot for
each captured variable.

Form: a function with resolved names, in and out. A captured variable that has more than one value while the
closure may be called is a cell, an object too, which all share.

    log, total = [], 0.0                    log, total_cell = [], Cell()
                                            total_cell.total = 0.0
    def add(v):
        nonlocal total
        total += v
        log.append(v)
    hooks.append(add)                       hooks.append(add_closure(total_cell, log))
    return total                            return total_cell.total

                                            def __call__(this, v):  # of the class `add_closure`
                                                total_cell = this.total_cell
                                                log = this.log
                                                total_cell.total += v
                                                log.append(v)

So closures are known by their classes, as other callable objects are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import gast

from ..trees.bind_objects import Objects
from ..trees.generators import is_generator
from ..trees.nodes import (
    assign,
    attribute,
    call,
    children,
    find_nodes,
    load,
    located,
    names_in,
    param,
    walk_scope,
)
from ..trees.program import Program
from ..trees.rebuild import map_children, parameters, rebuilt
from .resolve_names import comprehension_names, local_names, map_parameters

__all__ = ["Classes", "closures_to_objects"]

Node = Any  # gast publishes no types
Function = (gast.FunctionDef, gast.Lambda)
Comprehension = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
Display = (gast.List, gast.Dict, gast.Set)
FIRST = -1  # the place of parameters


class Classes(Protocol):
    """What makes the classes of closures, and knows which calls do not keep the functions they are given."""

    absent: Any  # what a parameter is whose default is not given

    def cell(self, name: str) -> type:
        """The class of the cells of a variable, its value an attribute of its name; they have a method `put`
        that sets it and returns True.
        """
        raise NotImplementedError

    def made(self, program: Program, tree: Node, slots: list[str], is_recursive: bool) -> type:
        """The class of objects that are made of the values of their slots, with the method `tree`, which may
        reach itself by what they hold.
        """
        raise NotImplementedError

    def partial(self, program: Program, node: Node) -> tuple[type, list[Node]] | None:
        """The class of the partial application that a call makes, and the arguments for its slots; None for
        other calls.
        """
        raise NotImplementedError

    def is_function(self, program: Program, node: Node) -> bool:
        """Whether a call is one of a function of the user's."""
        raise NotImplementedError

    def keeps(self, program: Program, node: Node) -> bool:
        """Whether a call may keep a function that it is given."""
        raise NotImplementedError


def closures_to_objects(program: Program, classes: Classes) -> Program:
    """The program with objects for its nested functions that are used as values and its partial applications;
    itself where it has none.
    """
    has_partials = any(classes.partial(program, n) is not None for n in find_nodes(program.tree, gast.Call))
    if not has_partials and not find_nodes(program.tree, *Function)[1:]:
        return program
    scopes = _Scopes(program, classes)
    has_any = scopes.converted or scopes.cells or has_partials
    return _Writer(program, scopes, classes).run() if has_any else program


@dataclass
class _Nested:
    """A nested function, the names it is bound to, its place among the statements, and what it captures."""

    node: Node
    name: str | None
    place: int
    captured: set[str] = field(default_factory=set)


class _Scopes:
    """The variables of a function and of its nested functions, and which of these become objects."""

    def __init__(self, program: Program, classes: Classes) -> None:
        self.program, self.classes = program, classes
        self.count = 0  # of statements
        self.owner: dict[str, Node] = {}  # the function of each variable
        self.bound: dict[str, list[tuple[int, bool]]] = defaultdict(list)  # places, and whether in a loop
        self.others: set[str] = set()  # variables that imports and handlers bind
        self.imported: dict[str, Any] = {}
        self.renewed: set[str] = set()  # variables of comprehensions that are evaluated several times
        self.nested: list[_Nested] = []
        self.values: set[str] = set()  # the names that are read as values
        self.passed: set[str] = set()  # the names that are arguments of functions
        self.alone: set[int] = set()  # lambdas that are values themselves
        self.function(program.tree)
        named = {n.name: n for n in self.nested if n.name is not None and len(self.bound[n.name]) == 1}
        for n in self.nested:
            inside = {name for name, f in self.owner.items() if _is_in(f, n.node)}
            n.captured = {i for i in _names(n.node) if i in self.owner} - inside
        self.converted = {
            id(n.node): n
            for n in self.nested
            if not is_generator_node(n.node) and self.is_converted(n)
        }
        while more := [n for n in self.nested if id(n.node) not in self.converted and self.is_beside(n)]:
            self.converted |= {id(n.node): n for n in more}
        changed = _stored_into(program.tree)  # they may hold arrays, which one place holds then
        self.cells = {
            name
            for n in self.converted.values()
            for name in n.captured - {n.name if n.name in named else None}
            if name in changed or not self.is_settled(name, n.place)
        }
        generators = [n.node for n in self.nested if is_generator_node(n.node)]
        self.cells |= {name for g in generators for name in _rebinds(g)}

    def is_converted(self, nested: _Nested) -> bool:
        """Whether a function rebinds variables, is used as a value, or calls itself; not where it calls
        itself, may change an array, and is at most passed to functions: it may be put in there.
        """
        if nested.name in self.values or id(nested.node) in self.alone or _rebinds(nested.node):
            return True
        reached = self.reached(nested)
        if nested.name not in reached:
            return nested.name in self.passed
        functions = [nested, *(n for n in self.nested if n.name in reached)]
        changed = set().union(*(_changed_in(n.node) for n in functions))
        return changed <= _displayed(self.program.tree)

    def is_beside(self, nested: _Nested) -> bool:
        """Whether a function has a name that is captured by a closure or is bound to one, too."""
        closures = self.converted.values()
        is_held = any(nested.name == n.name or nested.name in n.captured for n in closures)
        return nested.name is not None and is_held and not is_generator_node(nested.node)

    def reached(self, nested: _Nested) -> set[str]:
        """The variables that a function captures, and the functions that these are capture."""
        found: set[str] = set()
        more = nested.captured
        while not more <= found:
            found |= more
            more = {c for n in self.nested if n.name in found for c in n.captured}
        return found

    def is_settled(self, name: str, place: int) -> bool:
        """Whether a variable has its only value before a place."""
        bindings = self.bound[name]
        return len(bindings) == 1 and not bindings[0][1] and bindings[0][0] < place

    def function(self, node: Node) -> None:
        stars = [p for p in (node.args.vararg, node.args.kwarg) if p is not None]
        for p in [*parameters(node), *stars]:
            self.bound[p.id].append((FIRST, False))
        for name in local_names(node):
            self.owner[name] = node
        for s in node.body if isinstance(node, gast.FunctionDef) else [node.body]:
            self.visit(s, node, False)

    def visit(self, node: Node, owner: Node, in_loop: bool) -> None:
        if isinstance(node, gast.stmt):
            self.count += 1
        match node:
            case gast.FunctionDef() | gast.Lambda():
                for d in [*node.args.defaults, *node.args.kw_defaults]:
                    if d is not None:
                        self.visit(d, owner, in_loop)
                if isinstance(node, gast.FunctionDef):
                    self.bound[node.name].append((self.count, in_loop))
                    self.nested.append(_Nested(node, node.name, self.count))
                elif not any(n.node is node for n in self.nested):
                    self.nested.append(_Nested(node, None, self.count))
                    self.alone.add(id(node))
                self.function(node)
            case gast.Assign(targets=[gast.Name(id=name) as target], value=gast.Lambda() as value):
                self.nested.append(_Nested(value, name, self.count))
                self.visit(value, owner, in_loop)
                self.visit(target, owner, in_loop)
            case gast.Assign():
                for part in (node.value, *node.targets):
                    self.visit(part, owner, in_loop)
            case gast.Call():
                keeps = self.classes.keeps(self.program, node)
                for part in children(node):
                    value = part.value if isinstance(part, gast.keyword) else part
                    if isinstance(value, gast.Name) and (part is node.func or not keeps):
                        continue
                    if isinstance(value, gast.Name) and self.classes.is_function(self.program, node):
                        self.passed.add(value.id)
                        continue
                    if isinstance(value, gast.Lambda) and (part is node.func or not keeps):
                        self.nested.append(_Nested(value, None, self.count))
                    self.visit(part, owner, in_loop)
            case gast.For() | gast.While():
                for part in children(node):
                    self.visit(part, owner, in_loop or part is not getattr(node, "iter", None))
            case gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.GeneratorExp():
                for name in comprehension_names(node):
                    self.owner[name] = owner
                    if in_loop:
                        self.renewed.add(name)
                for part in children(node):
                    self.visit(part, owner, True)
            case gast.Name(id=name, ctx=gast.Load()):
                self.values.add(name)
            case gast.Name(id=name):
                self.bound[name].append((self.count, in_loop))
            case gast.ExceptHandler(name=gast.Name(id=name)):
                self.others.add(name)
                self.bound[name].append((self.count, True))
                for part in children(node):
                    self.visit(part, owner, in_loop)
            case gast.NamedExpr(target=gast.Name(id=name)):
                self.bound[name].append((self.count, True))
                self.visit(node.value, owner, in_loop)
            case gast.Import() | gast.ImportFrom():
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    found = getattr(node, "module", None), getattr(node, "level", 0), alias.name
                    self.others.add(name)
                    if self.imported.get(name) != found:
                        self.imported[name] = found
                        self.bound[name].append((self.count, False))
            case _:
                for part in children(node):
                    self.visit(part, owner, in_loop)


def _rebinds(function: Node) -> set[str]:
    """The variables of functions around it that a function assigns."""
    inner = walk_scope(function.body) if isinstance(function, gast.FunctionDef) else ()
    return {name for n in inner if isinstance(n, gast.Nonlocal) for name in n.names}


def _stored_into(node: Node) -> set[str]:
    """The variables whose items are set."""
    stores = [s for s in find_nodes(node, gast.Subscript) if isinstance(s.ctx, gast.Store)]
    return {s.value.id for s in stores if isinstance(s.value, gast.Name)}


def _changed_in(node: Node) -> set[str]:
    """The variables that a function changes in place, or may."""
    updates = [s.target.id for s in find_nodes(node, gast.AugAssign) if isinstance(s.target, gast.Name)]
    return _stored_into(node) | set(updates)


def _displayed(node: Node) -> set[str]:
    """The variables that hold a list, dict or set."""
    made = [s for s in find_nodes(node, gast.Assign) if isinstance(s.value, (*Display, *Comprehension))]
    return {t.id for s in made for t in s.targets if isinstance(t, gast.Name)}


def is_generator_node(node: Node) -> bool:
    return isinstance(node, gast.FunctionDef) and is_generator(node)


def _is_in(node: Node, whole: Node) -> bool:
    return any(n is node for n in gast.walk(whole))


def _names(function: Node) -> set[str]:
    """The names in a function, defaults aside."""
    body = function.body if isinstance(function.body, list) else [function.body]
    found = set()
    for n in (n for part in body for n in gast.walk(part)):
        if isinstance(n, gast.Name):
            found.add(n.id)
        elif isinstance(n, gast.Nonlocal):
            found.update(n.names)
    return found


class _Writer:
    def __init__(self, program: Program, scopes: _Scopes, classes: Classes) -> None:
        self.program, self.scopes, self.classes = program, scopes, classes
        self.names = program.names.copy()
        self.objects = Objects(program, self.names)
        self.cells = {name: self.names.fresh(f"{name}_cell") for name in sorted(scopes.cells)}

    def run(self) -> Program:
        for name in sorted(self.scopes.others & self.cells.keys()):
            self.program.refuse(
                self.program.tree,
                f"a nested function that is used as a value and reads `{name}`",
                f"`{name}` is bound by an import or an `except`, and may change",
                "bind another name to it before",
            )
        tree = self.function(self.program.tree)
        self.names.taken -= self.cells.keys() - names_in(tree)
        return self.program.with_tree(tree, names=self.names, bindings=self.objects.all_bindings())

    def function(self, node: Node) -> Node:
        """A function, its variables that are cells made at its beginning."""
        own = [n for n in local_names(node) if n in self.cells]
        if isinstance(node, gast.Lambda):
            if own:
                self.program.refuse(
                    node,
                    "a lambda whose parameter a function in it captures that is used as a value",
                    "whether it may change is not followed",
                    "write a function with `def`",
                )
            return rebuilt(node, args=self.arguments(node.args), body=self.change(node.body))
        given = [p.id for p in [*parameters(node), node.args.vararg, node.args.kwarg] if p is not None]
        start = [s for name in own for s in self.new_cell(name, name in given)]
        body = [located(s, node.body[0]) for s in start] + self.block(node.body)
        return rebuilt(node, args=self.arguments(node.args), body=body)

    def arguments(self, args: Node) -> Node:
        return rebuilt(
            args,
            defaults=[self.change(d) for d in args.defaults],
            kw_defaults=[d and self.change(d) for d in args.kw_defaults],
        )

    def new_cell(self, name: str, is_given: bool) -> list[Node]:
        cell = self.cells[name]
        made = assign(cell, self.made_cell(name))
        return [made, *([self.set(name)] if is_given else [])]

    def made_cell(self, name: str) -> Node:
        return call(self.objects.name(self.classes.cell(name)))

    def set(self, name: str) -> Node:
        """`cell.name = name`."""
        target = gast.Attribute(value=load(self.cells[name]), attr=name, ctx=gast.Store())
        return assign(target, load(name))

    def block(self, statements: list[Node]) -> list[Node]:
        return [new for s in statements for new in self.statement(s)]

    def statement(self, s: Node) -> list[Node]:
        match s:
            case gast.FunctionDef(name=name) if id(s) in self.scopes.converted:
                target = gast.Name(id=name, ctx=gast.Store(), annotation=None, type_comment=None)
                made = self.closure(self.scopes.converted[id(s)])
                return [located(assign(self.change(target), made), s)]
            case gast.FunctionDef():
                return [self.function(s)]
            case gast.Nonlocal():
                kept = [n for n in s.names if n not in self.cells]
                return [rebuilt(s, names=kept) if kept else located(gast.Pass(), s)]
        start: list[Node] = []
        for n in _own_expressions(s):
            if isinstance(n, Comprehension):
                own = [v for v in comprehension_names(n) if v in self.cells.keys() - self.scopes.renewed]
                start += [c for v in own for c in self.new_cell(v, False)]
        new = self.with_blocks(s)
        return [*(located(c, s) for c in start), new]

    def with_blocks(self, s: Node) -> Node:
        """A statement with its blocks and expressions changed. What a loop or a context binds is set in cells
        at the beginning of its block.
        """
        changes: dict[str, Any] = {}
        bound: list[str] = []
        for name in s._fields:
            value: Any = getattr(s, name, None)
            if isinstance(value, list) and value and isinstance(value[0], gast.stmt):
                changes[name] = self.block(value)
            elif isinstance(s, (gast.For, gast.With)) and name in ("target", "items"):
                parts = [value] if name == "target" else [i.optional_vars for i in value if i.optional_vars]
                bound += [n.id for p in parts for n in gast.walk(p) if isinstance(n, gast.Name)
                          and isinstance(n.ctx, gast.Store) and n.id in self.cells]  # fmt: skip
                changes[name] = value if name == "target" else [
                    rebuilt(i, context_expr=self.change(i.context_expr)) for i in value
                ]  # fmt: skip
            elif isinstance(value, list):
                changes[name] = [self.change(v) if isinstance(v, gast.AST) else v for v in value]
            elif isinstance(value, gast.AST) and value._fields:
                changes[name] = self.change(value)
        if bound:
            changes["body"] = [*(located(self.set(n), s) for n in bound), *changes["body"]]
        return rebuilt(s, **changes)

    def change(self, node: Node) -> Node:
        """An expression, or another part of a statement."""
        match node:
            case gast.Name(id=name) if name in self.cells:
                return located(gast.Attribute(value=load(self.cells[name]), attr=name, ctx=node.ctx), node)
            case gast.NamedExpr(target=gast.Name(id=name)) if name in self.cells:
                return self.named(node, self.change)
            case gast.Lambda() if id(node) in self.scopes.converted:
                return self.closure(self.scopes.converted[id(node)])
            case gast.Lambda():
                return self.function(node)
            case gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.GeneratorExp():
                return self.comprehension(node)
            case gast.ExceptHandler():
                return rebuilt(node, body=self.block(node.body))
            case gast.Call() if (found := self.classes.partial(self.program, node)) is not None:
                cls, given = found
                return located(call(self.objects.name(cls), *map(self.change, given)), node)
        return map_children(node, self.change)

    def named(self, node: Node, change: Callable[[Node], Node]) -> Node:
        """`cell.put(value) and cell.name` for `name := value`."""
        cell, name = self.cells[node.target.id], node.target.id
        put = call(attribute(load(cell), "put"), change(node.value))
        read = attribute(load(cell), name)
        return located(gast.BoolOp(op=gast.And(), values=[put, read]), node)

    def comprehension(self, node: Node) -> Node:
        """A comprehension that sets cells; where it is evaluated several times, it begins with new ones."""
        loops = []
        for name in comprehension_names(node):
            if name in self.cells and name in self.scopes.renewed:
                cell = gast.Name(id=self.cells[name], ctx=gast.Store(), annotation=None, type_comment=None)
                made = gast.Tuple(elts=[self.made_cell(name)], ctx=gast.Load())
                new = gast.comprehension(target=cell, iter=made, ifs=[], is_async=0)
                loops.append(located(new, node))
        for g in node.generators:
            bound = [n.id for n in gast.walk(g.target) if isinstance(n, gast.Name) and n.id in self.cells]
            puts = [call(attribute(load(self.cells[n]), "put"), load(n)) for n in bound]
            tests = [*(located(p, node) for p in puts), *map(self.change, g.ifs)]
            loops.append(rebuilt(g, iter=self.change(g.iter), ifs=tests))
        values = {f: self.change(getattr(node, f)) for f in ("elt", "key", "value") if f in node._fields}
        return rebuilt(node, generators=loops, **values)

    # ------------------------------------------------------------ closures

    def closure(self, nested: _Nested) -> Node:
        """The expression that makes the object of a nested function."""
        node, own = nested.node, nested.name
        is_own = own is not None and len(self.scopes.bound[own]) == 1
        captured = sorted(nested.captured - {own if is_own else None})
        slots = [self.cells.get(name, name) for name in captured]
        given = [load(s) for s in slots]
        this = self.names.temporary("this")
        start = [assign(s, attribute(load(this), s)) for s in slots]
        if is_own and own in nested.captured:
            start.append(assign(own, load(this)))
        args, defaults = node.args, []
        absent = self.objects.name(self.classes.absent, "absent")

        def default(p: Node, value: Node) -> Node:
            """The default of a parameter: a literal, or what says that it is read in a slot."""
            if value is None or isinstance(value, gast.Constant):
                return value
            slot = f"default_{p.id}"
            slots.append(slot)
            given.append(self.change(value))
            test = gast.Compare(left=load(p.id), ops=[gast.Is()], comparators=[load(absent)])
            read = assign(p.id, attribute(load(this), slot))
            defaults.append(gast.If(test=test, body=[read], orelse=[]))
            return load(absent)

        positional = [*args.posonlyargs, *args.args]
        late = positional[len(positional) - len(args.defaults) :]
        new_args = map_parameters(
            args,
            lambda p: p,
            defaults=[default(p, d) for p, d in zip(late, args.defaults, strict=True)],
            kw_defaults=[default(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)],
        )
        field_ = "posonlyargs" if args.posonlyargs else "args"
        new_args = rebuilt(new_args, **{field_: [param(this), *getattr(new_args, field_)]})
        if isinstance(node, gast.Lambda):
            body = [located(gast.Return(value=self.inner(node.body)), node)]
        else:
            body = [self.inner(s) for s in node.body]
        start = [located(s, node) for s in (*start, *defaults)]
        name = own if isinstance(node, gast.FunctionDef) and own is not None else "function"
        tree = gast.FunctionDef(
            name=name, args=new_args, body=[*start, *body], decorator_list=[], returns=None,
            type_comment=None, type_params=[],
        )  # fmt: skip
        is_recursive = own in self.scopes.reached(nested)
        cls = self.classes.made(self.program, located(tree, node), slots, is_recursive)
        return located(call(self.objects.name(cls), *given), node)

    def inner(self, node: Node) -> Node:
        """A part of a closure's body, in which captured cells are read and set."""
        match node:
            case gast.Name(id=name) if name in self.cells:
                return located(gast.Attribute(value=load(self.cells[name]), attr=name, ctx=node.ctx), node)
            case gast.NamedExpr(target=gast.Name(id=name)) if name in self.cells:
                return self.named(node, self.inner)
            case gast.Nonlocal(names=names):
                kept = [n for n in names if n not in self.cells]
                return rebuilt(node, names=kept) if kept else located(gast.Pass(), node)
        return map_children(node, self.inner)


def _own_expressions(s: Node) -> list[Node]:
    """The nodes of a statement outside of its blocks and of nested functions."""
    found: list[Node] = []
    todo = [c for c in children(s) if not isinstance(c, (gast.stmt, gast.ExceptHandler))]
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, Function):
            todo += [c for c in children(node) if not isinstance(c, gast.stmt)]
    return found
