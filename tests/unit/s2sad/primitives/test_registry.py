"""How rules are declared and found."""
from __future__ import annotations

import math
import operator
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gast
import numpy as np
import pytest

from s2sad import jvp
from s2sad.primitives.record import bprop, find_rule, is_nondifferentiable, is_pure, nondifferentiable, rules
from s2sad.primitives.template import Template
from s2sad.runtime.adjoints import add_at
from s2sad.testing.check_rules import check_rule


def template(f: Any) -> Template:
    rule = find_rule(f)
    assert rule is not None
    return rule.template


# ---------------------------------------------------------------- lookups

@pytest.mark.parametrize("f", [
    np.sin, np.sum, math.sin, operator.add, abs, float, np.ndarray.sum, np.ndarray.T])
def test_rules_are_found_by_function(f: Any) -> None:
    assert find_rule(f) is not None


def test_methods_have_the_rules_of_the_functions_they_stand_for() -> None:
    assert find_rule(np.ndarray.mean) is find_rule(np.ones(2).mean) is find_rule(np.mean)
    assert find_rule(np.ndarray.real) is find_rule(np.real)
    assert is_nondifferentiable(np.ones(2).argmax)


def test_functions_of_one_rule_share_it() -> None:
    assert find_rule(operator.mul) is find_rule(np.multiply) is find_rule(operator.imul)


@pytest.mark.parametrize("f", [np.histogram2d, [], {}, 3, "sin", lambda x: x, np.ones(2), object()])
def test_what_is_unknown_has_no_rule(f: Any) -> None:
    assert find_rule(f) is None and not is_nondifferentiable(f) and not is_pure(f)


def test_purity() -> None:
    assert is_pure(np.sin) and is_pure(np.floor) and is_pure(operator.add)
    assert not is_pure(operator.iadd) and not is_pure(add_at) and not is_pure(print)


def test_every_thread_finds_the_rules_that_the_first_lookup_imports() -> None:
    code = ("import threading, numpy as np\nfrom s2sad.primitives.record import find_rule\nfound = []\n"
            "ts = [threading.Thread(target=lambda: found.append(find_rule(np.sin))) for _ in range(8)]\n"
            "[t.start() for t in ts]; [t.join() for t in ts]\nassert len(found) == 8 and None not in found\n")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_templates_are_parsed_once_by_many_threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda r: r.template.gradients, rules() * 4))
    assert min(counts) >= 1


# ---------------------------------------------------------------- declarations

def softplus(x: Any) -> Any:
    return np.logaddexp(0, x)


def test_a_users_rule() -> None:
    @bprop(softplus, "elementwise", domain=(-1.0, 1.0))
    def rule(x, out, dout):  # type: ignore[no-untyped-def]
        """The logistic function."""
        dx = dout * np.exp(x - out)
        return (dx,)
    assert find_rule(softplus) is rule and rule.name == "rule" and rule.functions == (softplus,)
    assert rule.template.parameters == ("x",) and rule.template.gradients == 1
    assert [type(s) for s in rule.template.body] == [gast.Assign, gast.Return]

    @rule.jvp
    def forward(x, out, dx):  # type: ignore[no-untyped-def]
        return dx * np.exp(x - out)
    assert find_rule(softplus) is forward
    assert forward.template is rule.template and forward.jvp_template is not None
    assert forward.jvp_template.tangents == ("dx",)


def test_a_forward_template_names_the_parameters_that_it_reads() -> None:
    def scaled(x: Any, factor: float, unit: str = "m") -> Any:
        return x * factor

    @bprop(scaled, samples=[((1.5, 2.0), {}), ((1.5,), {"factor": 3.0, "unit": "s"})])
    def rule(x, factor, unit="m", *, out, dout):  # type: ignore[no-untyped-def]
        return (dout * factor,)

    with pytest.raises(TypeError, match="scale is no parameter of"):
        @rule.jvp
        def wrong(scale, out, dx):  # type: ignore[no-untyped-def]
            return dx * scale

    @rule.jvp
    def forward(factor, out, dx):  # type: ignore[no-untyped-def]
        return dx * factor
    check_rule(forward)
    assert jvp(scaled, argnums=(0,))(1.5, 2.0, 0.5) == (3.0, 1.0)


def test_simpler_templates_are_added_to_what_the_rule_has_become() -> None:
    def f(x: Any, y: Any) -> Any:
        return x @ y

    @bprop(f)
    def rule(x, y, out, dout):  # type: ignore[no-untyped-def]
        return dout @ y.T, x.T @ dout

    @rule.for_ranks(1, 1)
    def vectors(x, y, out, dout):  # type: ignore[no-untyped-def]
        return dout * y, dout * x

    @rule.for_reals
    def reals(x, y, out, dout):  # type: ignore[no-untyped-def]
        return dout @ y.T, x.T @ dout
    final = find_rule(f)
    assert final is reals and list(final.ranks) == [(1, 1)] and final.reals is not None


def test_the_parts_of_a_template() -> None:
    def full(x, *rest, axis=None, out, dout):  # type: ignore[no-untyped-def]
        return dout, None
    found = Template(full)
    assert (found.parameters, found.vararg, found.positional) == (("x", "axis"), "rest", 1)
    assert dict(found.defaults) == {"axis": None} and found.gradients == 2
    assert template(np.clip).parameters == ("a", "a_min", "a_max", "min", "max")
    assert dict(template(np.clip).defaults) == {"a_min": None, "a_max": None, "min": None, "max": None}


def test_the_globals_of_a_template_include_what_it_closes_over() -> None:
    scale = 3.0

    def scaled(x, out, dout):  # type: ignore[no-untyped-def]
        return (dout * scale,)
    assert Template(scaled).globals["scale"] == 3.0 and Template(scaled).globals["np"] is np


def test_what_a_template_closes_over_has_its_own_name():
    def made(inverse, word):
        def rule(x, out, dout):
            return (inverse(dout, word),)

        return Template(rule)

    template = made(np.sqrt, "up")
    assert template.name_of("inverse") == "sqrt" and template.name_of("np") == "np"
    assert [(k, v.value) for k, v in template.words.items()] == [("word", "up")]


def test_wrong_declarations_are_refused() -> None:
    def no_out(x, dout):  # type: ignore[no-untyped-def]
        return (dout,)

    def no_dout(x, out, dx):  # type: ignore[no-untyped-def]
        return (dx,)

    def no_tuple(x, y, out, dout):  # type: ignore[no-untyped-def]
        return dout

    def two_lengths(x, out, dout):  # type: ignore[no-untyped-def]
        if x is None:
            return dout, dout
        return (dout,)
    with pytest.raises(TypeError, match=r"no_out.*`out, dout`"):
        bprop(softplus)(no_out)
    with pytest.raises(TypeError, match=r"no_dout.*`out, dout`"):
        bprop(softplus)(no_dout)
    with pytest.raises(TypeError, match="literal tuple"):
        _ = Template(no_tuple).gradients
    with pytest.raises(TypeError, match="same length"):
        _ = Template(two_lengths).gradients
    with pytest.raises(ValueError, match="unknown structure 'elementary'"):
        bprop(softplus, "elementary")
    with pytest.raises(TypeError, match="bprop needs the function"):
        bprop("linear")


def test_functions_without_derivative_are_declared() -> None:
    def count(x: Any) -> int:
        return len(x)

    def log(x: Any) -> None:
        print(x)
    nondifferentiable([count])
    nondifferentiable([log], pure=False)
    assert is_nondifferentiable(count) and is_pure(count) and is_nondifferentiable(log) and not is_pure(log)
