"""Random functions that consist of jumps: out of loops of all kinds, and out of the function.

A function `f(log, choices)` notes each step in `log`, and takes each decision from `choices`; when these
are used up it raises IndexError.
"""

from __future__ import annotations

import random

__all__ = ["random_function"]


def random_function(seed: int) -> str:
    """The text of a function."""
    return _Writer(random.Random(seed)).function()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.count = 0

    def function(self) -> str:
        self.line(0, "def f(log, choices):")
        self.line(1, "k = 0")
        self.block(1, depth=0, in_loop=False)
        return "\n".join(self.lines) + "\n"

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def step(self) -> str:
        self.count += 1
        return f"k = k * 3 + {self.count}; log.append(k)"

    def block(self, indent: int, depth: int, in_loop: bool) -> None:
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            self.statement(indent, depth, in_loop)

    def statement(self, indent: int, depth: int, in_loop: bool) -> None:
        simple = ["step", "step", "return", "raise"] + ["break", "continue", "break", "continue"] * in_loop
        kind = self.rng.choice(
            simple if depth > 3 else [*simple, "if", "if", "if", "if", "for", "while", "forever"]
        )
        match kind:
            case "step":
                self.line(indent, self.step())
            case "return":
                self.line(indent, self.rng.choice(("return k", "return k, len(log)", "return")))
            case "raise":
                self.line(indent, "raise KeyError(k)" if self.rng.random() < 0.3 else self.step())
            case "break" | "continue":
                self.line(indent, kind)
            case "if":
                self.branch(indent, depth, in_loop)
            case _:
                self.loop(kind, indent, depth, in_loop)

    def branch(self, indent: int, depth: int, in_loop: bool) -> None:
        self.line(indent, "if choices.pop():")
        self.block(indent + 1, depth + 1, in_loop)
        if self.rng.random() < 0.3:
            self.line(indent, "elif choices.pop():")
            self.block(indent + 1, depth + 1, in_loop)
        if self.rng.random() < 0.4:
            self.line(indent, "else:")
            self.block(indent + 1, depth + 1, in_loop)

    def loop(self, kind: str, indent: int, depth: int, in_loop: bool) -> None:
        headers = {
            "for": f"for i{depth} in range(choices.pop() * 2 + 1):",
            "while": "while choices.pop():",
            "forever": "while True:",
        }
        self.line(indent, headers[kind])
        if kind == "forever":
            self.line(
                indent + 1,
                self.rng.choice(
                    ("if choices.pop(): break", "if choices.pop(): return k", "log.append(choices.pop())")
                ),
            )
        self.block(indent + 1, depth + 1, in_loop=True)
        if self.rng.random() < 0.4:
            self.line(indent, "else:")
            self.block(indent + 1, depth + 1, in_loop)
