"""Functions with star parameters, as functions of the arguments of one call."""

from __future__ import annotations

from typing import Any

import pytest

from s2sad.source.fixed_arity import has_stars, of_arity
from s2sad.transforms.errors import NonDifferentiableError
from tests.support.compare import check_program


def stars(a: Any, b: Any = 2, /, *c: Any, k: Any = 3, **d: Any) -> Any:
    return a, b, c, k, d


def plain(a: Any, b: Any = 2) -> Any:
    return a, b


def uses_the_name(**named: Any) -> Any:
    x = 1
    return x, named


def reads_the_name(**named: Any) -> Any:
    return plain(named["plain"])


def test_has_stars() -> None:
    assert has_stars(stars) and not has_stars(plain) and not has_stars(len)


@pytest.mark.parametrize(
    ("args", "keywords"),
    [((1,), {}), ((1, 5), {"k": 4}), ((1, 5, 6, 7), {}), ((1, 5, 6), {"z": 8, "k": 9}), ((1,), {"z": 8})],
)
def test_the_same_result(args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    made = of_arity(stars, len(args), keywords)
    assert not has_stars(made)
    assert made(*args, **keywords) == stars(*args, **keywords)


def test_a_closure_keeps_its_cells() -> None:
    def outer(x: Any) -> Any:
        def inner(*args: Any) -> Any:
            return x, args

        return inner

    assert of_arity(outer(1), 2, ())(5, 6) == (1, (5, 6))
    assert of_arity(outer(2), 2, ())(5, 6) == (2, (5, 6))


def test_a_call_that_does_not_fit() -> None:
    with pytest.raises(TypeError):
        of_arity(stars, 0, ())


def test_a_keyword_named_like_a_variable() -> None:
    assert of_arity(uses_the_name, 0, ("x", "named"))(x=2, named=3) == (1, {"x": 2, "named": 3})


def test_a_keyword_named_like_a_global_is_refused() -> None:
    with pytest.raises(NonDifferentiableError, match="uses the name `plain`"):
        of_arity(reads_the_name, 0, ("plain",))


def test_derivatives_of_nested_functions() -> None:
    def product(x: float, y: float) -> float:
        def g(*args: float, scale: float = 2.0, **named: float) -> float:
            return args[0] * args[1] * scale + named["shift"]

        return g(x, y, shift=x * y * y) * g(y, y, scale=x, shift=1.0)

    check_program(product, (0.8, 1.3), (0, 1))
