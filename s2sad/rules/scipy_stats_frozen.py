"""`scipy.stats`: distributions with given parameters, as `norm(loc, scale)` makes them.

The adjoint and the tangent of one hold those of its arguments and keywords; its methods are read. What
multivariate ones hold is computed from their parameters by code that is not: these are refused.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scipy import stats
from scipy.stats._multivariate import multi_rv_generic

from ..primitives.record import Rule, bprop, for_instances, for_methods_like, refuse
from ..primitives.template import Template
from ..runtime.adjoints import zeros_like
from ..values.objects import mirror

DISTRIBUTIONS = [
    d for d in vars(stats).values() if isinstance(d, (stats.rv_continuous, stats.rv_discrete))
]


def same_parameters(one: Any, other: Any) -> bool:
    """Whether two distributions of one class have the same support."""
    return (one.a, one.b) == (other.a, other.b)


def parts_of_frozen(d: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The adjoints of arguments and keywords, from that of the distribution that has them."""
    if d is None:
        return zeros_like(args), zeros_like(keywords)
    return d.args, d.kwds


def frozen_of_parts(dargs: tuple[Any, ...], dkeywords: dict[str, Any], frozen: Any) -> Any:
    """The tangent of a distribution, from those of its arguments and keywords: the transpose of
    `parts_of_frozen`.
    """
    found = {"args": dargs or zeros_like(frozen.args), "kwds": dkeywords or zeros_like(frozen.kwds)}
    return mirror(frozen, {"dist": None, "a": 0.0, "b": 0.0, **found})


LIKE = SimpleNamespace(args=(0.5,), kwds={"scale": 1.5}, dist=None, a=0.0, b=0.0)  # a frozen distribution


TANGENT = frozen_of_parts((0.7,), {"scale": 0.3}, LIKE)


@bprop(parts_of_frozen, "linear", samples=[(TANGENT, (0.5,), {"scale": 1.5})])
def parts_of_frozen_(d, args, keywords, out, dout):
    return frozen_of_parts(dout[0], dout[1], d), None, None


@bprop(frozen_of_parts, "linear", samples=[((0.7,), {"scale": 0.3}, LIKE)])
def frozen_of_parts_(dargs, dkeywords, frozen, out, dout):
    dd_args, dd_keywords = parts_of_frozen(dout, dargs, dkeywords)
    return dd_args, dd_keywords, None


def frozen_rule(distribution: Any) -> Rule:
    """The rule of a call of a distribution."""

    def freeze(*args, out, dout, **keywords):
        dargs, dkeywords = parts_of_frozen(dout, args, keywords)
        return dargs, dkeywords

    def freeze_jvp(*args, out, dargs, dkeywords, **keywords):
        return frozen_of_parts(dargs, dkeywords, out)

    return Rule("frozen", (distribution,), None, Template(freeze), Template(freeze_jvp))


for _distribution in DISTRIBUTIONS:
    for_instances(type(_distribution))(frozen_rule)
    for_methods_like(_distribution, same_parameters)

refuse(
    [d for d in vars(stats).values() if isinstance(d, multi_rv_generic)],
    "what a distribution with given parameters holds is not followed; give them to its method: "
    "`multivariate_normal.logpdf(x, mean, cov)`",
    writes=(),
)
