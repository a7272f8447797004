"""The docstrings of derivatives: the result of a call, and then the docstring of the function."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["description"]


def description(form: str, name: str, wrt: Sequence[str] | None, bare: bool, has_aux: bool, doc: str) -> str:
    """The docstring of a derivative of the function `name` with respect to `wrt` (None: all parameters); with
    `bare` the one gradient is not in a tuple.

    >>> description("grad", "loss", ["w"], True, False, "")
    'The gradient of `loss` with respect to `w`. It is called like `loss`.'
    """
    by = "each argument" if wrt is None else " and ".join(f"`{p}`" for p in wrt)
    gradient = f"the gradient of `{name}` with respect to {by}" + ("" if bare else ", in a tuple")
    like = f"It is called like `{name}`."
    match form:
        case "grad":
            text = f"({gradient}, aux), where `{name}` returns (value, aux)." if has_aux else f"{gradient}."
        case "value_and_grad":
            value = f"What `{name}` returns, (value, aux)," if has_aux else f"The value of `{name}`"
            text = f"{value} and {gradient}: a tuple of the two."
        case "vjp":
            each = f"to that of {by}" if bare else f"to a tuple of those of {by}"
            parts = f"value, its `bprop`, and aux, where `{name}` returns (value, aux)" if has_aux else ""
            parts = parts or f"result of `{name}`, and its `bprop`: a tuple of the two"
            text = (
                f"The {parts}. The `bprop` takes a cotangent of the result {each}, as often as it is called."
            )
        case "batched":
            text = f"`{name}` for many values of {by}, along an axis."
        case _:
            text = f"The value, its tangent, and aux, where `{name}` returns (value, aux)."
            text = text if has_aux else f"The result of `{name}`, and its tangent: a tuple of the two."
            like = f"It is called with the arguments of `{name}` and then with the tangents of {by}."
    text = f"{text[0].upper()}{text[1:]} {like}"
    return f"{text}\n\n`{name}` itself:\n\n{doc}" if doc else text
