"""Rewrites generated code to the code that a person would write.

Rules (`cancel_divisions`, `common_subexpressions`, `move_signs`, `repeat_indices`,
`zeroed_stores`) look at one statement and its readers: `code` applies them from a work list over a def-use
index. The other modules are passes over a whole function: dead code, coalescing, nesting, names. All are
given `GeneratedFacts`, and none depends on the order in which they run.
"""
