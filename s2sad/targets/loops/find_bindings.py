"""Finds what the names of a function are bound to, and which arrays may share memory."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable

from ...primitives.record import is_pure
from ..array_types import Number, Types, are_alike
from ..interpreted_functions import interpreted, is_expression
from ..matrices import inverse, product
from .read_expressions import Meaning, Reader, is_computed

__all__ = ["LIKE", "Bindings"]

LIKE = frozenset(("zeros_like", "ones_like", "full_like", "empty_like", "copy"))  # as their first argument
FRESH = frozenset(("zeros", "ones", "empty", "full", "eye", "outer", "dot", "matmul", *LIKE))
METHODS = frozenset(("copy", "reshape", "ravel", "sum"))
OUTSIDE = "<outside>"  # the memory of arguments, and of what is not known


class Bindings(Reader):
    """The names of a function: how often each is read and bound, its value, and whose memory it shows."""

    def __init__(
        self, function: ast.FunctionDef, types: Types, meaning: Meaning, fresh: Callable[[str], str]
    ) -> None:
        super().__init__(types, meaning, fresh)
        self.function = function
        nodes = [n for s in function.body for n in ast.walk(s)]
        self.loads = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        updates = [n.target for n in nodes if isinstance(n, ast.AugAssign)]
        self.updates = Counter(n.id for n in updates if isinstance(n, ast.Name))
        updated = set(map(id, updates))
        bound = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        self.stores = Counter(n.id for n in bound if id(n) not in updated)
        parameters = [a.arg for a in function.args.args]
        self.stable = {n for n, count in self.stores.items() if count == 1 and n not in parameters}
        self.stable |= {n for n in parameters if n not in self.stores}
        loops = [n for n in nodes if isinstance(n, (ast.For, ast.While))]
        again = {t.id for loop in loops for t in ast.walk(loop) if isinstance(t, ast.Name)
                 and isinstance(t.ctx, ast.Store) and id(t) not in updated}  # fmt: skip
        self.constant = self.stable - again  # what means one array throughout a call
        self.values: dict[str, ast.expr] = {}  # of the names that are assigned once
        for n in nodes:
            match n:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.stable:
                    self.values[name] = value
        self.memory: dict[str, set[str]] = {n: {OUTSIDE} for n in parameters}
        self._find_memory(nodes)

    # ------------------------------------------------------------ which arrays may be one

    def may_share(self, a: str, b: str) -> bool:
        """Whether the arrays of two names may have elements in common."""
        return a == b or not self._memory_of(a).isdisjoint(self._memory_of(b))

    def _memory_of(self, name: str) -> set[str]:
        return self.memory.get(name, {OUTSIDE})

    def _find_memory(self, nodes: list[ast.AST]) -> None:
        """Finds for each name which allocations it may show, or hold: each one is called by the name that it
        was first bound to.
        """
        before = -1
        while before != (before := sum(map(len, self.memory.values()))):
            for n in nodes:
                match n:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._makes(name, value):
                        self._holds(name, {name})
                    case ast.Assign(targets=[ast.Subscript(value=base)]) if self.is_array(base):
                        pass  # elements are copied
                    case ast.Assign(targets=[target], value=source) | ast.For(target=target, iter=source):
                        for t in ast.walk(target):
                            if isinstance(t, ast.Name):
                                self._holds(t.id, self._read_by(source))
                    case ast.Call(args=args) if not self._is_known(n):
                        given = [*args, *([n.func.value] if isinstance(n.func, ast.Attribute) else [])]
                        kept = set().union(*map(self._read_by, args))
                        for c in (c for a in given for c in ast.walk(a) if isinstance(c, ast.Name)):
                            if not self.is_array(c):  # it may be a list
                                self._holds(c.id, kept)

    def _is_known(self, node: ast.Call) -> bool:
        """Whether a call keeps nothing of its arguments but in its result."""
        function = self.meaning(node.func)
        if function is None:
            return isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
        module = (getattr(function, "__module__", "") or "builtins").partition(".")[0]
        return module in ("numpy", "math", "cmath", "builtins", "s2sad", "scipy")

    def _holds(self, name: str, memory: set[str]) -> None:
        found = self.memory.setdefault(name, set())
        if not isinstance(self.types.names.get(name), Number):
            found |= memory

    def _read_by(self, node: ast.expr) -> set[str]:
        """What the value of an expression may show."""
        if isinstance(self.types.of(node), Number):
            return set()
        names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        found = set().union(*(self.memory.get(n, set()) for n in names))
        calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        if not names or not all(map(self._shows_operands, calls)):
            return found | {OUTSIDE}
        return found | {f"<{id(node)}>"} if calls else found

    def _shows_operands(self, node: ast.Call) -> bool:
        """Whether the result of a call shows its operands, or new memory."""
        function = self.meaning(node.func)
        if function is None:
            return isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
        if function is interpreted:
            return is_expression(ast.literal_eval(node.args[0]))
        return is_pure(function)

    def _makes(self, name: str, value: ast.expr) -> bool:
        """Whether an expression makes a new array."""
        if self.reduction(value) is not None:
            return are_alike(self.types.names.get(name), self.types.of(value))
        if is_computed(value, self) or isinstance(value, ast.BinOp):
            return True
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Attribute) and value.func.attr == "copy":
                return True
            return self.numpy_name(value.func) in FRESH or self.meaning(value.func) in (product, inverse)
        return False
