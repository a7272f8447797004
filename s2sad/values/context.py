"""The `ctx` of a `Function`."""

from __future__ import annotations

from typing import Any

__all__ = ["Context"]


class Context:
    """What the forward part of a `Function` keeps for the backward part."""

    __s2sad_plain__ = True

    saved: tuple[Any, ...] = ()
    marked: tuple[Any, ...] = ()
    marks: int  # a bit for each result that is one of those

    def save_for_backward(self, *arrays: Any) -> None:
        """Keeps arrays, to be read as `ctx.saved`."""
        self.saved = arrays

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The same as `saved`, under PyTorch's name."""
        return self.saved

    def mark_non_differentiable(self, *results: Any) -> None:
        """Declares results without derivative: their cotangents are zero."""
        self.marked = results
