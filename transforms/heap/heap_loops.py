"""Loops over objects and containers that may be changed meanwhile, as loops over their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

from ..trees.nodes import assign, load, store, tuple_of
from ..trees.rebuild import map_blocks, rebuilt, substitute

if TYPE_CHECKING:
    from .heap_writer import Writer

__all__ = ["Loops"]

Node = Any  # gast publishes no types


class Loops:
    """Writes loops into the program of `to`."""

    def __init__(self, to: Writer, resizes: bool) -> None:
        self.to, self.resizes = to, resizes

    def items(self, name: str) -> None:
        """Writes `name = d.items()` and the like, as a list."""
        x, method = self.to.lazy[name]
        function = {"items": "dict_items", "keys": "keys_of", "values": "dict_values"}[method]
        checked = self.to.made(self.to.base(x), self.to.helper("mapped", x))
        shown = checked if method == "keys" else self.to.copy(x)
        self.to.put(name, self.to.helper(function, shown))

    def loop(self, s: Node) -> None:
        sources = s.iter.args if isinstance(s.iter, gast.Call) else [s.iter]
        callee = getattr(getattr(s.iter, "func", None), "id", "")
        targets = [s.target] if not isinstance(s.target, gast.Tuple) else list(s.target.elts)
        if callee == "range" or all(map(self.is_plain, sources)):
            self.to.emit(map_blocks(s, self.to.inner))
            return
        names = targets[1:] if callee == "enumerate" else targets
        if callee == "zip" and len(names) != len(sources):
            names = []
        if callee != "zip" and len(names) > 1:
            self.pairs(s, sources[0], names, callee)
            return
        if not names:
            self.to.refuse(
                "a loop over objects whose items are not named, among changes of objects",
                "which items they are is not followed",
                "name each item: `for a, b in zip(x, y)`",
            )
        mapping: dict[str, Node] = {}
        taken: list[tuple[str, str, Node, Node]] = []  # target, the name of its key, source and its keys
        for x, t in zip(sources, names, strict=False):
            if not isinstance(x, gast.Name) or self.is_plain(x):
                continue
            base, method = self.to.lazy.get(x.id, (x, ""))
            keys = self.to.made("keys", self.to.helper("keys_of", self.mapped(base, method)))
            mapping[x.id] = keys
            taken.append((t.id, t.id if method == "keys" else self.to.names.temporary("key"), base, keys))
        renamed = {t: key for t, key, _, _ in taken}
        checks = [(x, keys) for _, _, x, keys in taken]
        code, at = self.to.code, self.to.at
        self.to.code = []
        self.check_lengths(checks)
        for (t, key, x, _), source in zip(
            taken, [x for x in sources if getattr(x, "id", "") in mapping], strict=True
        ):
            if key == t:
                continue
            if self.to.lazy.get(source.id, (x, ""))[1] == "items":
                item = self.to.made("item", self.to.helper("heap_get", load(self.to.heap), x, load(key)))
                self.to.put(t, tuple_of([load(key), item]))
            else:
                if source.id in self.to.lazy:  # `d.values()`
                    self.to.get(t, x, load(key))
                else:
                    self.to.element(t, x, load(key))
        start = self.to.code
        self.to.code, self.to.at = code, at
        self.finish(s, renamed, mapping, start, checks)

    def is_plain(self, x: Node) -> bool:
        """Whether an iterable gives no objects."""
        return self.to.nature(x) == "plain" and not self.to.values.is_set(x)

    def mapped(self, x: Node, method: str) -> Node:
        return self.to.made(self.to.base(x), self.to.helper("mapped", x)) if method else x

    def pairs(self, s: Node, source: Node, names: list[Node], callee: str) -> None:
        """A loop that unpacks its elements: over `d.items()`, or a list of tuples."""
        base, method = self.to.lazy.get(getattr(source, "id", ""), (source, ""))
        if callee:
            self.to.refuse(
                "a loop that takes objects apart, among changes of objects",
                "which parts they have is not followed",
                "name the item, and take it apart in the loop's body",
            )
        keys = self.to.made("keys", self.to.helper("keys_of", self.mapped(base, method)))
        code, at = self.to.code, self.to.at
        self.to.code = []
        self.check_lengths([(base, keys)])
        if method == "items":
            key = names[0].id
            self.to.get(names[1].id, base, load(key))
        else:
            key = self.to.names.temporary("key")
            item = self.to.made("item", self.to.helper("heap_element", load(self.to.heap), base, load(key)))
            self.unpack_of([n.id for n in names], item)
        start = self.to.code
        self.to.code, self.to.at = code, at
        new = rebuilt(s, target=store(key), iter=keys)
        self.finish(new, {}, {}, start, [(base, keys)])

    def unpack_of(self, targets: list[str], item: Node) -> None:
        record = self.to.made("item", self.to.helper("places_of", item))
        shown = self.to.made("item", self.to.helper("heap_view", load(self.to.heap), item, record))
        parts = [self.to.names.temporary(t) for t in targets]
        self.to.emit(assign(tuple_of(map(store, parts), gast.Store()), shown))
        for target, part in zip(targets, parts, strict=True):
            self.to.known(target, load(part))

    def check_lengths(self, checks: list[tuple[Node, Node]]) -> None:
        for x, keys in checks if self.resizes else ():
            self.to.emit(gast.Expr(value=self.to.helper("same_length", x, keys)))

    def finish(
        self, s: Node, renamed: dict[str, str], mapping: dict[str, Node], start: list[Node], checks: Any
    ) -> None:
        target = s.target
        if isinstance(target, gast.Tuple):
            target = rebuilt(target, elts=[store(renamed.get(t.id, t.id)) for t in target.elts])
        else:
            target = store(renamed.get(target.id, target.id))
        body = [*start, *self.to.inner(s.body)]
        self.to.emit(rebuilt(s, target=target, iter=substitute(s.iter, mapping), body=body))
        self.check_lengths(checks)
