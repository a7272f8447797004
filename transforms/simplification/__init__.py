"""Generated code to the code that a person would write.

Rules (`cancel_divisions`, `common_subexpressions`, `move_signs`, `repeat_indices`, `update_in_place`,
`zeroed_stores`) look at one statement and what reads it: `code` applies them from a work list over a def-use
index. The other modules are passes that see a whole function: dead code, coalescing, nesting, names.
All are given `GeneratedFacts`, and each is correct by itself, whatever ran before.
"""
