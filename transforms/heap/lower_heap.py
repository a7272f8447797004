"""Lowers changes of objects with aliases to changes of one variable, the heap.

Form: the normal form, in and out. Helpers that are given the heap read and set attributes and items; those
that change it return it. An object that a call or `return` takes is replaced by a view with its present
contents.

    p = items[0]            p = heap_object(items, 0)
    p.value = v * x         p_1 = v * x
                            heap = heap_set(heap, p, "value", p_1, True)
    return items            items_1 = places_of(items)
                            items_2 = heap_view(heap, items, items_1)
                            return items_2

Objects are inactive then; the heap is active, by place. This is exact for all aliases and costs more than
variables: it serves the programs that have no other form.
"""

from __future__ import annotations

import itertools
from typing import Any

import gast

from ..analyses.bind_methods import applied_operator
from ..analyses.liveness import free_names
from ..trees.nodes import (
    assign,
    blocks_of,
    call,
    constant,
    find_nodes,
    load,
    located,
    names_read,
    param,
    statements_in,
    store,
    tuple_of,
    walk,
)
from ..trees.program import MISSING, Program
from ..trees.rebuild import map_blocks, parameters, rebuilt
from .heap_arrays import Arrays, is_of_array
from .heap_attempts import lower_attempt
from .heap_loops import Loops
from .heap_methods import Methods, is_list_change
from .heap_values import HeapValues
from .heap_writer import Writer

__all__ = ["lower_heap", "lower_to_heap"]

Node = Any  # gast publishes no types


def lower_heap(program: Program, values: HeapValues, writes: bool, left: list[str] | None = None) -> Program:
    """The program with a heap; the program itself where it changes no object.

    `writes` says that it may change the contents of its arguments; `left` is as in `Writer`.
    """
    statements = statements_in(program.tree.body)
    if any(changes(s, program, values) or reads_with_heap(s, values) for s in statements):
        return _Lowerer(program, values, left=left).run(writes)
    return program


def lower_to_heap(program: Program, values: HeapValues) -> Program:
    """The program with a heap before its parameters, that returns the heap and its result."""
    return _Lowerer(program, values, passes=True).run_on_heap()


def changes(s: Node, program: Program, values: HeapValues) -> bool:
    """Whether a statement changes an object or container."""
    match s:
        case (
            gast.Assign(targets=[gast.Attribute() | gast.Subscript() as target])
            | gast.AugAssign(target=gast.Subscript() as target)
        ):
            return values.of(target.value) != "plain"
        case gast.AugAssign(target=gast.Name() as target):
            return values.of(target) == "object"
        case gast.Assign(value=gast.Call()) | gast.Expr(value=gast.Call()):
            return is_list_change(s.value, values) or values.with_heap(s.value) is not None
    return False


def reads_with_heap(s: Node, values: HeapValues) -> bool:
    """Whether a statement calls a function that reads or makes objects and cannot be put in."""
    match s:
        case gast.Assign(targets=[target], value=gast.Call() as value):
            return values.takes_objects(value, target) and values.with_heap(value, reads=True) is not None
    return False


class _Lowerer(Writer):
    def __init__(
        self, program: Program, values: HeapValues, passes: bool = False, left: list[str] | None = None
    ) -> None:
        super().__init__(program, values, passes, left)
        self.is_caught = False  # whether an exception may be caught around the statement
        self.methods = Methods(self)
        self.loops = Loops(self, self.methods.resizes)
        self.arrays = Arrays(self)
        calls = find_nodes(program.tree, gast.Call)
        self.counts = any(program.resolve(c.func) is itertools.count for c in calls)

    def run(self, writes: bool) -> Program:
        tree = self.program.tree
        first = next(iter(statements_in(tree.body)))
        given = [p.id for p in parameters(tree) if self.values.given(p.id) != "plain"]
        self.begin(first)
        self.put(self.heap, self.helper("new_heap"))
        if given:
            together = self.made(given[0], tuple_of(map(load, given)))
            record = self.made(given[0], self.helper("arguments_of", together))
            own = [] if writes else [constant(False)]
            self.put(self.heap, self.helper("heap_enter", load(self.heap), together, record, *own))
            for name in given:
                if self.nature(load(name)) == "object":
                    self.put(name, self.helper("reference", load(name)))
        start = self.code
        body = self.block(tree.body)
        if self.arrays.follows:
            self.begin(first)
            self.put(self.heap, self.helper("new_heap", *self.arrays.outside()))
            start[0] = self.code[-1]
        first_values = [assign(name, constant(None), first) for name in self.arrays.unassigned]
        return self.finished(rebuilt(tree, body=[*start, *first_values, *body]))

    def run_on_heap(self) -> Program:
        tree = self.program.tree
        self.begin(next(iter(statements_in(tree.body))))
        if self.arrays.follows:
            self.refuse_array()
        for p in parameters(tree):
            if self.values.given(p.id) == "object":
                self.put(p.id, self.helper("reference", load(p.id), *self.class_of(p.id)))
        body = [*self.code, *self.block(tree.body)]
        args = rebuilt(tree.args, posonlyargs=[param(self.heap), *tree.args.posonlyargs])
        return self.finished(rebuilt(tree, args=args, body=body))

    def finished(self, tree: Node) -> Program:
        return self.program.with_tree(
            tree,
            names=self.names,
            bindings=self.objects.all_bindings(),
        )

    # ------------------------------------------------------------ statements

    def statement(self, s: Node) -> None:
        match s:
            case gast.Assign(targets=[gast.Name(id=target)], value=gast.Name(id=name)) if name in self.lazy:
                self.methods.check_one_value(target, self.lazy[name][1])
                self.lazy[target] = self.lazy[name]
                return
        if not blocks_of(s) or isinstance(s, gast.FunctionDef):
            for name in [n for n in names_read(s) if n in self.lazy]:
                self.loops.items(name)
        match s:
            case gast.Assign(targets=[gast.Name(id=target)], value=value):
                self.assignment(s, target, value)
            case gast.Assign(targets=[gast.Tuple(elts=elts)], value=value):
                self.unpack([e.id for e in elts], value)
            case gast.Assign(targets=[gast.Attribute(value=x)], value=value) if self.nature(x) == "plain":
                self.emit(rebuilt(s, value=self.number(value)))  # a module or class
                self.note_outside(value)
            case gast.Assign(targets=[gast.Attribute(value=x, attr=attr)], value=value):
                self.change("heap_set", x, constant(attr), value, constant(True))
            case gast.Assign(targets=[gast.Subscript(value=x, slice=index)], value=value):
                if self.nature(x) == "plain" or is_of_array(index):
                    self.store(s, x)
                elif isinstance(index, gast.Slice):
                    self.set_slice(s, x, index, value)
                else:
                    self.no_slice(index)
                    self.change("heap_set", x, self.key(x, index), value)
            case gast.AugAssign():
                self.update(s)
            case gast.Expr(value=gast.Call() as value):
                self.call(s, None, value)
            case gast.For():
                self.loops.loop(s)
            case gast.If(test=test) if (truth := self.values.truth_of(test)) is not None:
                self.code += self.inner(s.body if truth else s.orelse)
            case gast.If(test=gast.Name() as test) if self.nature(test) != "plain":
                # the object may be empty, and so false, later
                truth = self.made(test.id, call(self.bound(bool, "bool"), test))
                self.emit(map_blocks(rebuilt(s, test=truth), self.inner))
            case gast.Try():
                outer, self.is_caught = self.is_caught, self.is_caught or bool(s.handlers)
                lower_attempt(self, s)
                self.is_caught = outer
            case gast.FunctionDef():
                self.captured(s)
            case gast.Return(value=value):
                self.emit(rebuilt(s, value=self.result(value)))
            case _:
                self.emit(map_blocks(s, self.inner))

    def result(self, value: Node) -> Node:
        return self.made("out", tuple_of([load(self.heap), value])) if self.passes else self.view(value)

    def captured(self, s: Node) -> None:
        """A nested function, which may read numbers of the enclosing one."""
        for name in sorted(free_names(s) - {s.name}):
            nature = self.nature(load(name)) if name in self.program.locals else "plain"
            if nature == "object":
                self.refuse(
                    f"changes of objects, and a nested function that reads `{name}`",
                    "what the function sees when it is called is not followed",
                    "pass it as an argument",
                )
            if nature == "unknown" and name in self.bound_to:
                self.emit(gast.Expr(value=self.helper("plain_number", load(name))))
        self.emit(s)

    def assignment(self, s: Node, target: str, value: Node) -> None:
        match value:
            case gast.List(elts=elts) if target in self.displays:
                self.emit(rebuilt(s, value=rebuilt(value, elts=[self.copy(e, deep=True) for e in elts])))
            case gast.List() | gast.Dict():
                self.enter(target, value)
            case gast.Set(elts=elements):
                elements = [self.made("element", self.helper("set_element", e)) for e in elements]
                self.put(target, rebuilt(value, elts=elements))
            case gast.Attribute(value=x, attr="__dict__") if self.is_dynamic(value, x):
                self.methods.note_attributes(target, x)
            case gast.Attribute(value=x, attr=attr) if self.is_dynamic(value, x):
                if self.values.is_method(value):
                    self.refuse(
                        f"the method `{attr}` as a value, among changes of objects",
                        "the attributes of its object at the time of the call are not followed",
                        "call it where it is named",
                    )
                if self.values.is_held(value):
                    self.get(target, x, constant(attr), is_field=True)
                else:
                    self.enter(target, rebuilt(value, value=self.view(x)), only_items=False, is_made=False)
            case gast.Subscript(value=x, slice=index) if self.nature(x) != "plain":
                if is_of_array(index):
                    self.emit(rebuilt(s, value=rebuilt(value, value=self.number(x))))
                elif _has_slice(index):
                    new = rebuilt(value, value=self.copy(x, only_items=True))
                    self.enter(target, new, is_made=self.values.is_list(x))
                else:
                    self.get(target, x, self.key(x, index))
            case gast.BinOp(left=a, right=b):
                self.operator(s, target, value, a, b)
            case gast.UnaryOp(op=op, operand=a) if not isinstance(op, gast.Not):
                self.emit(rebuilt(s, value=rebuilt(value, operand=self.number(a))))
            case gast.Call(args=[a, b]) if (op := applied_operator(value, self.values.facts)) is not None:
                self.operator(s, target, located(gast.BinOp(left=a, op=op(), right=b), value), a, b)
            case gast.Call():
                self.call(s, target, value)
            case gast.Attribute() if self.program.resolve(value) is MISSING:
                self.emit(s)
                self.note_outside(load(target))
            case _:
                self.emit(s)

    def note_outside(self, node: Node) -> None:
        """Notes that a module or class holds a value: its arrays must not be changed."""
        if self.arrays.follows and isinstance(node, gast.Name):
            self.emit(gast.Expr(value=self.helper("note_outside", load(self.heap), node)))

    def is_dynamic(self, value: Node, x: Node) -> bool:
        """Whether the owner of an attribute is a dynamic object."""
        return self.program.resolve(value) is MISSING and self.nature(x) != "plain"

    def operator(self, s: Node, target: str, value: Node, a: Node, b: Node) -> None:
        lists = [x for x in (a, b) if self.values.is_list(x)]
        if isinstance(value.op, gast.Add) and lists and all(self.nature(x) != "plain" for x in (a, b)):
            for x in (a, b):
                if x not in lists:
                    self.emit(gast.Expr(value=self.helper("the_list", x)))
            views = self.copy(a, only_items=True), self.copy(b, only_items=True)
            self.enter(target, self.helper("concat", *views))
        elif isinstance(value.op, gast.Mult) and any(map(self.values.is_list, (a, b))):
            items, count = (a, b) if self.values.is_list(a) else (b, a)
            self.enter(target, self.helper("repeated", self.copy(items, only_items=True), count))
        else:
            left, right = map(self.operand, (a, b))
            self.put(target, self.set_or_number(rebuilt(value, left=left, right=right)))

    def operand(self, node: Node) -> Node:
        """An operand of a binary operator: a number, or a set such as `d.keys()`."""
        if getattr(node, "id", "") in self.lazy:
            return self.made(node.id, call(self.bound(set, "set"), node))
        return self.number(node)

    def set_slice(self, s: Node, x: Node, index: Node, value: Node) -> None:
        """`x[a:b] = v` of a list, or of a value that may be an array."""
        if self.values.is_list(x) or self.nature(value) == "object":
            self.methods.set_slice(x, index, value)
            return
        test = self.made("is_array", self.helper("is_array", x))
        code, self.code = self.code, []
        self.arrays.store(s)
        body, self.code = self.code, []
        self.methods.set_slice(x, index, value)
        other, self.code = self.code, code
        self.emit(gast.If(test=test, body=body, orelse=other))

    def update(self, s: Node) -> None:
        match s.target:
            case gast.Name() as x if self.nature(x) == "object":
                if not isinstance(s.op, gast.Add) or not self.values.is_list(x):
                    self.number(x)
                self.methods.extend(load(x.id), s.value)
            case gast.Subscript(value=x, slice=index) if self.nature(x) != "plain" and not is_of_array(index):
                self.no_slice(index)
                key = self.key(x, index)
                item = self.made(self.base(x), self.helper("heap_number", load(self.heap), x, key))
                if self.passes and not self.values.holds_numbers(x, index):
                    self.emit(gast.Expr(value=self.helper("refuse_shared", item)))
                new = self.arrays.updated(s, item)
                if not self.passes and not self.values.holds_numbers(x, index):
                    self.arrays.replace(s, item, new)
                self.change("heap_set", x, key, new)
            case gast.Subscript(value=x):
                self.store(s, x)
            case _ if self.arrays.replaces(s):
                self.arrays.update(s)
            case _:
                self.emit(rebuilt(s, value=self.number(s.value)))

    def store(self, s: Node, x: Node) -> None:
        """`x[i] = v` or `x[i] += v` of an array."""
        if self.arrays.replaces(s):
            self.arrays.store(s)
        else:
            self.emit(rebuilt(s, value=self.number(s.value)))

    def no_slice(self, index: Node) -> None:
        if _has_slice(index):
            self.refuse(
                "a slice of a list that is set, among changes of objects",
                "which items it holds is not followed",
                "set the items one by one, or build a new list",
            )

    # ------------------------------------------------------------ calls

    def call(self, s: Node, target: str | None, value: Node) -> None:
        if target is not None and self.program.resolve(value.func) is self.values.helper("outer_object"):
            self.put(self.heap, self.helper("heap_admit", load(self.heap), value.args[0]))
            self.put(target, self.helper("reference", value.args[0], *self.class_of(target)))
            return
        if self.methods.written(target, value):
            return
        if self.values.makes_object(value) and target is not None:
            self.enter(target, value)
            return
        result = None if target is None else load(target)
        is_followed = (self.left is not None or not self.arrays.follows) and not self.is_caught
        reads = is_followed and self.values.takes_objects(value, result)
        function = self.values.with_heap(value, reads)
        if function is not None:
            self.pass_heap(target, value, function)
            return
        func = value.func
        if target is not None and self.program.resolve(func) in (set, frozenset) and len(value.args) == 1:
            items = self.made("items", self.helper("set_items", self.view(value.args[0])))
            self.put(target, rebuilt(value, args=[items]))
            return
        if self.values.changes_array(value):
            self.arrays.call(s, value)
            return
        if self.counts and self.program.resolve(func) is next and len(value.args) == 1:
            counter = self.made("counter", self.helper("counter_of", value.args[0]))
            new = rebuilt(value, args=[counter])
            self.emit(rebuilt(s, value=new)) if target is None else self.put(target, new)
            return
        if self.values.is_inert(value):
            if self.values.sharing(value) == "view":  # of an array without a name
                self.refuse_array()
            self.emit(s)
            return
        if target is not None and self.values.takes_numbers(value):
            args = [self.number(a, "a function of numbers") for a in value.args]
            self.put(target, rebuilt(value, args=args))
            return
        changing = self.values.may_change(value)
        primitive = self.values.is_primitive(value)
        deep = primitive and self.values.gives_number(value)
        # A list that the derivative of a primitive reads stays as it is; the program changes its copy.
        is_read = primitive and not deep and self.values.reads_result(value)
        only_items = primitive and not deep and not is_read and self.values.hands_items_on(value)
        records: list[tuple[Node, Node]] = []

        def shown(node: Node) -> Node:
            if not isinstance(node, gast.Name) or self.nature(node) == "plain":
                return node
            found = self.copy(node, deep, only_items) if primitive else self.view(node)
            if changing and node.id not in self.lazy:
                records.append((self.code[-1].value.args[2], node))
            return found

        if self.program.resolve(func) is not MISSING:
            pass
        elif isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name):
            func = rebuilt(func, value=shown(func.value))
        elif isinstance(func, gast.Name):
            func = shown(func)
        args = [
            rebuilt(a, value=shown(a.value)) if isinstance(a, gast.Starred) else shown(a) for a in value.args
        ]
        keywords = [rebuilt(k, value=shown(k.value)) for k in value.keywords]
        new = rebuilt(value, func=func, args=args, keywords=keywords)
        found = None
        checks = [(r, node, self.made(node.id, self.helper("arrays_of", r))) for r, node in records]
        if target is None:
            self.emit(rebuilt(s, value=new))
        elif self.nature(load(target)) == "plain" and primitive:
            self.put(target, new)
        else:
            found = self.made(target, new)
        for check in checks:
            self.emit(gast.Expr(value=self.helper("check_same", *check)))
        if found is not None and self.arrays.follows and self.values.is_unknown(value):
            self.note_outside(found)
        if found is not None and target is not None:
            new = self.helper("copied_lists", found) if is_read else found
            self.enter(target, new, only_items, is_made=False)

    def pass_heap(self, target: str | None, value: Node, function: Any) -> None:
        """A call of a function of the heap."""
        if self.is_caught:
            self.refuse(
                "a call of a recursive function that changes objects, where its exceptions are caught",
                "what it has changed before it raises is not followed",
                "call it outside of the `try`",
            )
        if self.arrays.follows and self.left is not None:  # what is changed may turn out to be numbers
            self.left.append(self.heap)
        elif self.arrays.follows:
            self.refuse(
                "a call of a recursive function that changes objects, among changes of arrays in place",
                "the arrays that it keeps are not followed",
                "make new arrays: `a = a + v` in place of `a += v`",
            )
        name = getattr(value.func, "attr", getattr(value.func, "id", "call"))
        callee = load(self.bound(function, name))
        operation: Any = self.values.operation(value)  # of a method with its object
        args = [load(self.heap), *operation.args]
        found = self.made("found", rebuilt(value, func=callee, args=args))
        result = self.names.temporary(target or "result")
        self.emit(assign(tuple_of([store(self.heap), store(result)], gast.Store()), found))
        if target is not None:
            self.known(target, load(result))


def _has_slice(index: Node) -> bool:
    return any(isinstance(n, gast.Slice) for n in walk(index))
