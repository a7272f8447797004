"""The writer of random programs: text that runs, whose variables are defined where they are read.

What is assigned in a loop is wrapped in a bounded function, so that no value grows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from hypothesis import strategies as st

from tests.random.expressions import POOL, Expressions, Scope

__all__ = ["Writer"]


class Writer(Expressions):
    """Writes one module, drawing every choice."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(draw)
        self.lines: list[str] = []
        self.budget = 0
        self.result = "f"
        self.fresh = 0

    # Statements

    def emit(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def block(self, scope: Scope, indent: int) -> bool:
        """Writes one to three statements; whether control never gets past them."""
        return any(self.statement(scope, indent) for _ in range(self.pick(1, 1, 2, 2, 3)))

    def statement(self, scope: Scope, indent: int) -> bool:
        self.budget -= 1
        deep = self.budget <= 0 or indent > 4
        forms: list[Callable[[Scope, int], bool | None]] = [
            self.assignment,
            self.assignment,
            self.augmented,
            self.exchange,
            self.flag,
        ]
        if not deep:
            forms += [self.branch, self.branch, self.for_loop, self.for_loop, self.while_loop, self.closure]
            forms += [self.attempt, self.context, self.star_call, self.comprehension, self.container]
            forms += [self.display]
        if indent > 1 and self.chance(4):
            return self.jump(scope, indent)
        form = self.draw(st.sampled_from(forms))
        return bool(form(scope, indent))

    def target(self, scope: Scope, kind: str) -> str:
        return self.pick(*(n for n in POOL[kind] if n not in scope.fixed))

    def assignment(self, scope: Scope, indent: int) -> None:
        kind = self.pick("f", "f", "f", "v", "m")
        target = self.target(scope, kind)
        self.emit(indent, f"{target} = {self.bounded(scope, kind)}")
        scope.names[kind].add(target)

    def augmented(self, scope: Scope, indent: int) -> None:
        names = sorted(scope.names["f"] - scope.fixed)
        if not names:
            return self.assignment(scope, indent)
        self.emit(
            indent,
            f"{self.pick(*names)} {self.pick('+=', '-=', '*=')} 0.6 * {self.pick('np.sin', 'math.cos')}("
            f"{self.value(scope, 'f', 1)})",
        )
        return None

    def exchange(self, scope: Scope, indent: int) -> None:
        names = sorted(scope.names["f"] - scope.fixed)
        pairs = [n for n, t in scope.functions.items() if t == "ff>ff"]
        if pairs and self.chance(2):
            left, right = self.target(scope, "f"), self.target(scope, "f")
            call = f"{self.pick(*sorted(pairs))}({self.leaf(scope, 'f')}, {self.leaf(scope, 'f')})"
            self.emit(indent, f"{left}, {right} = {call}")
            scope.names["f"] |= {left, right}
        elif len(names) > 1:
            first = self.pick(*names)
            second = self.pick(*(n for n in names if n != first))
            values = self.pick(second, f"0.5 * {second}"), self.pick(first, f"np.sin({first})")
            self.emit(indent, f"{first}, {second} = {', '.join(values)}")
        else:
            self.assignment(scope, indent)

    def flag(self, scope: Scope, indent: int) -> None:
        target = self.target(scope, "b")
        self.emit(indent, f"{target} = {self.test(scope, 1)}")
        scope.names["b"].add(target)

    def branch(self, scope: Scope, indent: int) -> bool:
        self.emit(indent, f"if {self.test(scope, 1)}:")
        passing: list[Scope] = []  # the arms that control gets past
        self.arm(scope, indent, passing)
        if self.chance(4):
            self.emit(indent, f"elif {self.test(scope, 1)}:")
            self.arm(scope, indent, passing)
        if self.chance(2):
            self.emit(indent, "else:")
            self.arm(scope, indent, passing)
        else:
            passing.append(scope.copy())
        if passing:
            scope.keep_common(passing)
        return not passing

    def arm(self, scope: Scope, indent: int, passing: list[Scope]) -> None:
        inside = scope.copy()
        if not self.block(inside, indent + 1):
            passing.append(inside)

    def attempt(self, scope: Scope, indent: int) -> bool:
        """A `try` whose body may raise, and whose handler goes on or not."""
        target = self.target(scope, "f")
        self.emit(indent, "try:")
        self.emit(indent + 1, f"{target} = checked({self.bounded(scope, 'f')}, {self.test(scope, 0)})")
        passing: list[Scope] = []
        inside = scope.copy()
        inside.names["f"].add(target)
        self.emit(indent, f"except {self.pick('ValueError', '(KeyError, ValueError)')}:")
        self.arm(scope, indent, passing)
        if self.chance(3):
            self.emit(indent, "else:")
            self.arm(inside, indent, passing)
        else:
            passing.append(inside)
        if self.chance(4):
            self.emit(indent, "finally:")
            self.emit(indent + 1, "pass")
        if passing:
            scope.keep_common(passing)
        return not passing

    def context(self, scope: Scope, indent: int) -> bool:
        """A `with` around a block, of one or two contexts, with or without a name."""
        target = self.target(scope, "f")
        named = f"contextlib.nullcontext({self.bounded(scope, 'f')}) as {target}"
        contexts = [
            self.pick(
                "np.errstate(over='ignore')",
                "np.printoptions(precision=3)",
                "open(os.devnull) as file",
                "open(os.devnull)",
                named,
            )
            for _ in range(self.pick(1, 1, 2))
        ]
        self.emit(indent, f"with {', '.join(contexts)}:")
        if named in contexts:
            scope.names["f"].add(target)
        return self.block(scope, indent + 1)

    def display(self, scope: Scope, indent: int) -> None:
        """Displays made of the parts of displays."""
        self.fresh += 1
        first, second, target = f"first{self.fresh}", f"second{self.fresh}", self.target(scope, "f")
        one, two = self.pick(f"{self.leaf(scope, 'f')}", "0.7"), self.bounded(scope, "f")
        parts, made = self.pick(
            (("['a']", "['b']"), "{{'a': {}, 'b': {}}}"),
            (("[0]", "[1]"), "({}, {})"),
            (("[0]", "[-1]"), "[{}, {}]"),
            (("['s']", "['x_1']"), "dict(s={}, x_1={})"),
        )
        self.emit(indent, f"{first} = {made.format(one, two)}")
        items = [f"{first}{part}" for part in parts]
        held = [self.pick(*items), self.pick(*items, f"0.5 * {items[0]}")]
        again = self.pick(made.format(*held), f"{{'a': {held[0]}, 'b': ({held[1]}, {one})}}")
        self.emit(indent, f"{second} = {again}")
        keys = ("['a']", "['b'][0]") if "'b': (" in again else parts
        self.emit(indent, f"{target} = 0.4 * np.sin({second}{keys[0]}) + 0.3 * np.tanh({second}{keys[1]})")
        scope.names["f"].add(target)

    def star_call(self, scope: Scope, indent: int) -> None:
        """A call that expands tuples, lists, arrays or dicts."""
        target, one, two = self.target(scope, "f"), self.bounded(scope, "f"), self.bounded(scope, "f")
        call = self.pick(
            f"folded(*({one}, {two}))",
            f"folded({one}, *[{two}, {one}])",
            f"folded(*{self.leaf(scope, 'v')}, k={one})",
            f"folded({one}, **{{'k': {two}}})",
            f"folded(*[0.5 * v for v in {self.leaf(scope, 'v')}])",
        )
        self.emit(indent, f"{target} = 0.5 * np.sin({call})")
        scope.names["f"].add(target)

    def for_loop(self, scope: Scope, indent: int) -> None:
        body = scope.copy(loops=scope.loops + 1)
        count, item, vector = self.pick(*POOL["i"]), self.target(scope, "f"), self.target(scope, "v")
        other = self.pick(*(n for n in POOL["f"] if n not in (item, *scope.fixed)))
        kind, head = self.pick(
            ("i", f"{count} in range({self.pick('0', '2', '3', *sorted(scope.names['i'] & {'n'}))})"),
            ("i", f"{count} in reversed(range(2))"),
            ("f", f"{item} in {self.leaf(scope, 'v')}"),
            ("fi", f"{count}, {item} in enumerate({self.leaf(scope, 'v')})"),
            ("ff", f"{item}, {other} in zip({self.leaf(scope, 'v')}, {self.leaf(scope, 'v')}[::-1])"),
            ("v", f"{vector} in {self.leaf(scope, 'm')}"),
            ("f", f"{item} in ({self.leaf(scope, 'f')}, {self.leaf(scope, 'f')})"),
        )
        if count in scope.fixed:  # an enclosing while loop counts with it
            kind, head = "f", f"{item} in {self.leaf(scope, 'v')}"
        self.emit(indent, f"for {head}:")
        bound = {
            "i": {"i": {count}},
            "f": {"f": {item}},
            "fi": {"i": {count}, "f": {item}},
            "ff": {"f": {item, other}},
            "v": {"v": {vector}},
        }
        for k, names in bound[kind].items():
            body.names[k] |= names
            if kind != "i":
                scope.names[k] |= names
        self.block(body, indent + 1)
        self.loop_else(scope, indent)

    def while_loop(self, scope: Scope, indent: int) -> None:
        self.fresh += 1
        count = f"count{self.fresh}" if self.chance(2) else f"trips{self.fresh}"
        body = scope.copy(loops=scope.loops + 1, fixed=scope.fixed | {count})
        body.names["i"].add(count)
        self.emit(indent, f"{count} = 0")
        self.emit(
            indent, f"while {count} < {self.pick('2', '3')}{self.pick('', f' and {self.test(scope, 0)}')}:"
        )
        self.emit(indent + 1, f"{count} += 1")
        self.block(body, indent + 1)
        scope.names["i"].add(count)
        self.loop_else(scope, indent)

    def loop_else(self, scope: Scope, indent: int) -> None:
        if self.chance(5):
            self.emit(indent, "else:")
            self.block(scope.copy(), indent + 1)

    def jump(self, scope: Scope, indent: int) -> bool:
        form = self.pick("return", "break", "continue") if scope.loops else "return"
        self.emit(indent, f"return {self.returned(scope)}" if form == "return" else form)
        return True

    def comprehension(self, scope: Scope, indent: int) -> None:
        """A sum over a comprehension, of a list, a dict or a generator."""
        target = self.target(scope, "f")
        inside = scope.copy(loops=1)
        inside.names["f"].add("q")
        value, test = self.bounded(inside, "f"), f" if {self.test(inside, 0)}" if self.chance(3) else ""
        vectors = sorted(scope.names["v"])
        source = f"[{self.leaf(scope, 'f')}, {self.leaf(scope, 'f')}]"
        source = self.pick(*vectors, source) if vectors else source
        consumed = self.pick(
            f"[{value} for q in {source}{test}]",
            f"({value} for q in {source}{test})",
            f"{{k: {value} for k, q in enumerate({source}){test}}}.values()",
            f"[0.5 * r for r in [{value} for q in {source}{test}]]",
        )
        self.emit(indent, f"{target} = 0.4 * sum({consumed})")
        scope.names["f"].add(target)

    def container(self, scope: Scope, indent: int) -> None:
        """A list and a dict that are changed, by one of their names or another, and read."""
        self.fresh += 1
        items, named = f"items{self.fresh}", f"named{self.fresh}"
        target = self.target(scope, "f")
        self.emit(indent, f"{items} = [{self.leaf(scope, 'f')}, {self.bounded(scope, 'f')}]")
        self.emit(indent, f"{named} = {{'a': {self.bounded(scope, 'f')}}}")
        name = items
        if self.chance(3):
            name = self.pick(f"rows{self.fresh}[0]", f"same{self.fresh}")
            holder = f"rows{self.fresh} = [{items}, {items}]"
            self.emit(indent, holder if "[" in name else f"{name} = {items}")
        for _ in range(self.pick(1, 2, 3)):
            value = self.bounded(scope, "f")
            self.emit(
                indent,
                self.pick(
                    f"{name}.append({value})",
                    f"{name}[0] = {value}",
                    f"{items}[-1] = 0.5 * {name}[0]",
                    f"{named}['{self.pick('a', 'b')}'] = {value}",
                ),
            )
        self.emit(indent, f"{target} = 0.3 * sum({items}) + 0.2 * {named}['a'] * {name}[1]")
        scope.names["f"].add(target)

    def closure(self, scope: Scope, indent: int) -> None:
        self.fresh += 1
        name = f"inner{self.fresh}"
        inside = scope.copy(loops=1)
        inside.names["f"] |= {"a", "b"}
        body = self.bounded(inside, "f")
        if self.chance(2):
            self.emit(indent, f"{name} = lambda a, b: {body}")
        else:
            self.emit(indent, f"def {name}(a, b=0.4):")
            if self.chance(2):
                self.emit(indent + 1, f"if {self.test(inside, 0)}:")
                self.emit(indent + 2, f"return {self.bounded(inside, 'f')}")
            self.emit(indent + 1, f"return {body}")
        scope.functions[name] = "ff>f"

    def returned(self, scope: Scope) -> str:
        return ", ".join(self.value(scope, kind, 1) for kind in self.result)

    def rest(self, scope: Scope) -> str:
        """What is added to the last result so that it depends on most of what was computed."""
        kind = self.result[-1]
        terms = sorted(scope.names[kind])
        if kind == "f":
            terms += [f"({n} @ {n})" for n in sorted(scope.names["v"])] + [
                f"np.sum({n})" for n in sorted(scope.names["m"])
            ]
        elif kind == "v":
            terms += [f"{n}[0]" for n in sorted(scope.names["m"])]
        return "".join(f" {self.pick('+', '-')} {0.2 * (i + 1):.1f} * {term}" for i, term in enumerate(terms))

    # Modules

    def function(self, header: str, scope: Scope, result: str, budget: int) -> None:
        self.result, self.budget = result, budget
        self.emit(0, f"def {header}:")
        ends = False
        while self.budget > 0 and not ends:
            ends = self.statement(scope, 1)
        if not ends:
            self.emit(1, f"return {self.returned(scope)}{self.rest(scope)}")

    def module(self) -> str:
        """The text: two functions, up to two more, and the function `program(x, y, z, h, n)`."""
        self.lines += [
            "import contextlib",
            "import os",
            "def checked(a, fails):",
            "    if fails:",
            "        raise ValueError('fails')",
            "    return a",
            "def folded(*args, k=0.3):",
            "    s = k",
            "    for a in args:",
            "        s = 0.6 * s + np.sin(a) * k",
            "    return s",
        ]
        functions: dict[str, str] = {}
        for name, kind in (
            ("helper", self.pick("ff>f", "vf>v", "ff>ff", None)),
            ("other", self.pick("ff>f", "ff>ff", None, None)),
        ):
            if kind is None:
                continue
            parameters, result = kind.split(">")
            scope = Scope(functions=dict(functions))
            scope.names[parameters[0]].add("a")
            scope.names[parameters[1]].add("b")
            self.function(f"{name}(a, b{self.pick('', '=0.4')})", scope, result, self.pick(1, 3))
            functions[name] = kind
        if self.chance(4):
            functions["again"] = "ff>f"
            self.lines += [
                "def again(a, b, n=3):",
                f"    if n == 0 or a > {self.pick('0.83', '0.41')}:",
                f"        return {self.pick('a * b', 'b', 'np.sin(a)')}",
                "    return 0.7 * again(0.8 * a + 0.1, b * a, n - 1)",
            ]
        scope = Scope(functions=functions)
        for kind, names in (("f", "xy"), ("v", "z"), ("m", "h"), ("i", "n")):
            scope.names[kind] |= set(names)
        self.function(
            "program(x, y, z, h, n)", scope, self.pick("f", "f", "v", "fv", "fm"), self.pick(3, 6, 9)
        )
        return ast.unparse(ast.parse("\n".join(self.lines))) + "\n"  # which leaves out the needless brackets
