"""The statements of one function during rewriting, with their def-use index.

`Code` holds the function's own statements as lines, and knows the lines that bind and that read each name. A
rule is a function of the code and one line, which replaces, deletes or renames; the index is updated, and
lines that may match another rule now go on the work list. So a rule inspects the statements around one, and
costs nothing where it does not apply.

    def rule(code: Code, line: Line) -> bool: ...       # whether it has changed something

    tree = apply_rules(tree, facts, {gast.Assign: (rule, ...), gast.AugAssign: (...)})
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gast

from ..analyses.find_uses import Uses, find_uses, map_nested
from ..trees.nodes import (
    Comment,
    blocks_of,
    bound_here,
    header_expressions,
    loads,
    located,
    target_names,
)
from ..trees.rebuild import alike, with_blocks, with_body, with_names
from .facts import GeneratedFacts

__all__ = ["Block", "Code", "Line", "Rules", "apply_rules"]

Node = Any  # gast publishes no types


class Line:
    """A statement, its position in a block, and its own blocks; `node` is None once it is deleted."""

    __slots__ = ("block", "blocks", "is_waiting", "node", "place")

    def __init__(self, node: Node, block: Block, place: int) -> None:
        self.node, self.block, self.place = node, block, place
        self.blocks: list[Block] = []
        self.is_waiting = False


class Block:
    """The lines of a block, and the compound statement that it belongs to."""

    __slots__ = ("lines", "owner")

    def __init__(self, owner: Line | None) -> None:
        self.owner = owner
        self.lines: list[Line] = []


Rule = Callable[["Code", Line], bool]
Rules = Mapping[type, tuple[Rule, ...]]  # by the class of the statement


def apply_rules(tree: Node, facts: GeneratedFacts, *phases: Rules) -> Node:
    """The function and its nested functions, innermost first, after all rules that apply: those of the first
    phase, then those of the next.
    """
    tree = map_nested(tree, lambda nested: apply_rules(nested, facts, *phases))
    uses = find_uses(tree)
    if uses is None:
        return tree
    code = Code(tree, uses, facts)
    for rules in phases:
        code.run(rules)
    return code.tree()


class Code:
    """`definers` and `readers` map names to the lines that bind and read them, with the number of reads;
    `bound` and `read` have the totals. `captured` are the names that nested functions read.
    """

    def __init__(self, tree: Node, uses: Uses, facts: GeneratedFacts) -> None:
        self.function, self.facts = tree, facts
        self.parameters, self.captured, self.fixed = uses.parameters, uses.captured, uses.fixed
        self.headers = uses.headers
        self.bound, self.read = Counter(uses.bound), Counter(uses.read)
        self.definers: dict[str, dict[Line, None]] = {}
        self.readers: dict[str, dict[Line, int]] = {}
        self.known: dict[Any, Line] = {}  # the first line of each operation in each block
        self.computed_with: dict[str, bool] = {}  # kept until a line with the name changes
        self.uncopied: set[str] = set()  # parts of arrays that were copies
        self.lines: list[Line] = []  # in their first order, without comments
        self.waiting: deque[Line] = deque()
        self.is_changed = False
        self.body = self._block(tree.body, None)

    def _block(self, statements: list[Node], owner: Line | None) -> Block:
        block = Block(owner)
        for place, s in enumerate(statements):
            line = Line(s, block, place)
            block.lines.append(line)
            self._enter(line)
            line.blocks = [self._block(inner, line) for inner in blocks_of(s)]
        return block

    def _enter(self, line: Line) -> None:
        s = line.node
        if isinstance(s, Comment):
            return
        for name in bound_here(s):
            self.definers.setdefault(name, {})[line] = None
        for name in self.own_reads(s):
            lines = self.readers.setdefault(name, {})
            lines[line] = lines.get(line, 0) + 1
        self.lines.append(line)

    def own_reads(self, s: Node) -> tuple[str, ...]:
        """The names that a statement reads outside of its blocks, with repetitions."""
        kind = s.__class__
        if kind is gast.Assign:
            return loads(s)
        if kind is gast.AugAssign:
            return (*loads(s.target), *target_names(s.target), *loads(s.value))
        if kind is gast.FunctionDef:
            return tuple(self.headers[id(s)].reads)
        parts = [s.test] if kind is gast.While else header_expressions(s)
        return tuple(name for part in parts for name in loads(part))

    # ------------------------------------------------------------ the work list

    def run(self, rules: Rules) -> None:
        """Applies rules until none applies, from the first line on."""
        for line in self.lines:
            self.visit(line)
        while self.waiting:
            line = self.waiting.popleft()
            line.is_waiting = False
            if line.node is not None:
                for rule in rules.get(line.node.__class__, ()):
                    if rule(self, line):
                        self.visit(line)
                        break

    def visit(self, line: Line) -> None:
        """Puts a line on the work list."""
        if line.node is not None and not line.is_waiting:
            line.is_waiting = True
            self.waiting.append(line)

    # ------------------------------------------------------------ changes

    def replace(self, line: Line, node: Node) -> None:
        """Replaces the statement of a line; its blocks stay."""
        self._leave(line)
        self._put(line, node)

    def _put(self, line: Line, node: Node) -> None:
        line.node = node
        self.is_changed = True
        for name in bound_here(node):
            self.definers.setdefault(name, {})[line] = None
            self.bound[name] += 1
            self.computed_with.pop(name, None)
        for name in self.own_reads(node):
            lines = self.readers.setdefault(name, {})
            lines[line] = lines.get(line, 0) + 1
            self.read[name] += 1
            self.computed_with.pop(name, None)
        self.visit(line)

    def insert_after(self, line: Line, node: Node) -> None:
        """Inserts a simple statement after a line."""
        new = Line(None, line.block, line.place + 1)
        line.block.lines.insert(new.place, new)
        for place in range(new.place, len(line.block.lines)):
            line.block.lines[place].place = place
        self._put(new, node)

    def delete(self, line: Line) -> None:
        """Deletes a simple statement."""
        self._leave(line)
        line.node = None

    def _leave(self, line: Line) -> None:
        self.is_changed = True
        for name in bound_here(line.node):
            self.definers[name].pop(line, None)
            self.bound[name] -= 1
            self.computed_with.pop(name, None)
        for name in self.own_reads(line.node):
            self.readers[name].pop(line, None)
            self.read[name] -= 1
            self.computed_with.pop(name, None)

    def move_after(self, line: Line, other: Line) -> None:
        """Moves a line after a later one of its block."""
        lines = line.block.lines
        lines.insert(other.place, lines.pop(line.place))
        for place in range(line.place, other.place + 1):
            lines[place].place = place

    def put(self, name: str, value: Node) -> None:
        """Replaces the reads of a name by an expression."""
        for line in list(self.readers.get(name, ())):
            self.replace(line, with_names(line.node, {name: value}))

    # ------------------------------------------------------------ queries

    def definer(self, name: str) -> Line | None:
        """The only line that binds a name; None if there are several, or it is a parameter."""
        if self.bound[name] != 1:
            return None
        return next(iter(self.definers.get(name, ())), None)

    def is_own(self, name: str) -> bool:
        """Whether only the function's own statements bind and read a name."""
        return name not in self.captured and name not in self.fixed and name not in self.parameters

    def in_block(self, line: Line, block: Block) -> Line | None:
        """The line of a block that is, or contains, a line."""
        at: Line | None = line
        while at is not None and at.block is not block:
            at = at.block.owner
        return at

    def is_between(self, first: Line, line: Line, last: Line) -> bool:
        """Whether a line comes after the first of two lines of a block, and not after the last."""
        at = self.in_block(line, first.block)
        return at is not None and first.place < at.place <= last.place

    def after(self, line: Line) -> Line | None:
        """The next line of the block."""
        lines, place = line.block.lines, line.place + 1
        while place < len(lines) and lines[place].node is None:
            place += 1
        return lines[place] if place < len(lines) else None

    def before(self, line: Line) -> Line | None:
        """The previous line of the block."""
        lines, place = line.block.lines, line.place - 1
        while place >= 0 and lines[place].node is None:
            place -= 1
        return lines[place] if place >= 0 else None

    def last_reader(self, name: str, line: Line) -> Line | None:
        """The last reader of a name in a line's block, if all readers stand there after the line; else
        None.
        """
        last: Line | None = None
        for reader in self.readers.get(name, ()):
            at = self.in_block(reader, line.block)
            if at is None or at.place <= line.place:
                return None
            last = at if last is None or at.place > last.place else last
        return last

    def lines_between(self, first: Line, last: Line) -> Iterator[Line]:
        """The lines of a block after the first one up to the last."""
        lines = first.block.lines
        return (i for i in lines[first.place + 1 : last.place + 1] if i.node is not None)

    # ------------------------------------------------------------ the result

    def tree(self) -> Node:
        """The rewritten function, which shares unchanged nodes with the original."""
        if not self.is_changed:
            return self.function
        body = _statements(self.body)
        return with_body(self.function, body or [located(gast.Pass(), self.function)])


def _statements(block: Block) -> list[Node]:
    result = []
    for line in block.lines:
        if line.node is not None:
            if line.blocks:
                old = blocks_of(line.node)
                new = [_statements(b) for b in line.blocks]
                if not all(map(alike, old, new)):
                    result.append(with_blocks(line.node, new))
                    continue
            result.append(line.node)
    return result


