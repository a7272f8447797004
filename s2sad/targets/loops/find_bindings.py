"""Finds what the names of a function are bound to, and which arrays may share memory."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable

from ..array_types import Types
from .read_expressions import Meaning, Reader, is_computed

__all__ = ["LIKE", "Bindings"]

LIKE = frozenset(("zeros_like", "ones_like", "full_like", "empty_like", "copy"))  # as their first argument
FRESH = frozenset(("zeros", "ones", "empty", "outer", *LIKE))


class Bindings(Reader):
    """The names of a function: how often each is read and bound, its value, and whether it owns an array."""

    def __init__(
        self, function: ast.FunctionDef, types: Types, meaning: Meaning, fresh: Callable[[str], str]
    ) -> None:
        super().__init__(types, meaning, fresh)
        self.function = function
        nodes = [n for s in function.body for n in ast.walk(s)]
        self.loads = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        updates = [n.target for n in nodes if isinstance(n, ast.AugAssign)]
        self.updates = Counter(n.id for n in updates if isinstance(n, ast.Name))
        self.updated = set(map(id, updates))
        self.stores = Counter(
            n.id
            for n in nodes
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in self.updated
        )
        parameters = [a.arg for a in function.args.args]
        self.stable = {n for n, count in self.stores.items() if count == 1 and n not in parameters}
        self.stable |= {n for n in parameters if n not in self.stores}
        loops = [n for n in nodes if isinstance(n, (ast.For, ast.While))]
        again = {t.id for loop in loops for t in ast.walk(loop) if isinstance(t, ast.Name)
                 and isinstance(t.ctx, ast.Store) and id(t) not in self.updated}  # fmt: skip
        self.constant = self.stable - again  # what means one array throughout a call
        self.values: dict[str, ast.expr] = {}  # of the names that are assigned once
        for n in nodes:
            match n:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.stable:
                    self.values[name] = value
        self.owned = self._owned(nodes)

    # ------------------------------------------------------------ which arrays may be one

    def _owned(self, nodes: list[ast.AST]) -> set[str]:
        """The names of arrays that the function made, and that nothing else is known to hold."""
        made: set[str] = set()
        shared: set[str] = {a.arg for a in self.function.args.args}
        harmless: set[int] = set()
        for n in nodes:
            match n:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if self._makes(value):
                        made.add(name)
                    else:
                        shared.add(name)
                case ast.Assign(targets=[target]) | ast.For(target=target):
                    targets = [t for t in ast.walk(target) if isinstance(t, ast.Name)]
                    shared |= {t.id for t in targets if isinstance(t.ctx, ast.Store)}
            if isinstance(n, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)) or (
                isinstance(n, ast.Call) and self.meaning(n.func) is not None
            ):
                harmless |= {id(c) for c in ast.iter_child_nodes(n)}
            elif isinstance(n, (ast.Subscript, ast.Attribute)):
                harmless.add(id(n.value))
            elif isinstance(n, ast.Return):
                harmless |= {id(c) for c in ast.walk(n)}
        # A view has a name of its own: what is assigned a part of an array shares with it.
        for n in nodes:
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in harmless:
                shared.add(n.id)
            elif isinstance(n, ast.Assign) and not self._makes(n.value):
                shared |= {c.id for c in ast.walk(n.value) if isinstance(c, ast.Name)}
        return made - shared

    def _makes(self, value: ast.expr) -> bool:
        """Whether an expression makes a new array."""
        if is_computed(value, self) or self.reduction(value) is not None or isinstance(value, ast.BinOp):
            return True
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Attribute) and value.func.attr == "copy":
                return True
            return self.numpy_name(value.func) in FRESH
        return False

    def may_share(self, a: str, b: str) -> bool:
        return a == b or not (a in self.owned or b in self.owned)
