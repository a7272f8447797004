"""The functions of NumPy, and methods of arrays, that have no rule, each with the reason.

The reason goes into the error message of a call that carries a derivative.
"""

from __future__ import annotations

import random

import numpy as np

from ..primitives.record import refuse
from .constant import named

refuse(named(np, "copyto put putmask place put_along_axis fill_diagonal"),
       "whether it changes an array is known at run time only; store with `a[index] = values` instead")
refuse(named(np.ndarray, "fill itemset partition put resize sort setfield setflags"),
       "whether it changes an array is known at run time only, or the change is not followed; make a new "
       "array")
refuse(named(np, "unique_all unique_counts unique_inverse unique_values union1d intersect1d setdiff1d "
                 "setxor1d"),
       "which elements its result has depends on which are equal; sort, and pick by indices that you compute",
       sharing="fresh", writes=())
refuse(named(np, "histogram2d histogramdd histogram_bin_edges"),
       "counts step where numbers cross from bin to bin; np.histogram is differentiated by its weights",
       sharing="fresh", writes=())
refuse(named(np, "matrix asmatrix bmat"), "operators mean something else for matrices; use arrays")
refuse(named(np, "poly1d"), "use np.polyval, np.polymul and the like on arrays")
refuse(named(np, "memmap recarray record ndarray void object_"),
       "its result is no plain array of numbers; use np.array")
refuse(named(np, "frompyfunc"), "its results are arrays of objects; use np.vectorize, or a loop")
refuse(named(np, "nditer nested_iters ndenumerate flatiter broadcast"),
       "its elements are not told apart; go over np.ndindex, or np.broadcast_arrays for several arrays")
refuse(
    named(np.ndarray, "flat"),
    "it is read by an index, or at once where nothing changes the array; use np.ravel"
)
refuse(named(np.ndarray, "view getfield data ctypes to_device base byteswap __dlpack__"),
       "it reads the memory of the array as something else; use astype, reshape or slices")

refuse(named(np, "frombuffer from_dlpack"),
       "it makes an array of memory that something else holds; use that itself")

refuse(named(np, "trapz"), "it is deprecated; use np.trapezoid")
refuse(named(np, "row_stack"), "it is deprecated; use np.vstack")
refuse(named(np.ndarray, "newbyteorder ptp tostring"), "NumPy 2 has it in name only")

refuse([iter, next],
       "an iterator changes as it is read, and others may read it, too; read `x[0]` by its index, and go "
       "over `x[1:]`")

_DISTRIBUTIONS = """
    beta binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic
    lognormal logseries multinomial multivariate_hypergeometric multivariate_normal negative_binomial
    noncentral_chisquare noncentral_f normal pareto poisson power rayleigh standard_gamma standard_t
    triangular uniform vonmises wald weibull zipf
    """
for _source in (np.random, np.random.Generator, np.random.RandomState):
    refuse(named(_source, _DISTRIBUTIONS),
           "how a draw varies with the parameters is not known; draw from a distribution without any, and "
           "use them after: `mean + scale * rng.standard_normal(n)`")
    refuse(named(_source, "choice permutation permuted shuffle"),
           "which values it takes is random; draw indices, and take by them: `x[rng.permutation(len(x))]`")
refuse([random.shuffle],
       "which values it moves is random; shuffle the indices, and make a list of the items: "
       "`[x[i] for i in indices]`",
       writes=(0,))
