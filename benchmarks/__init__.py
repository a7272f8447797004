"""Gradients by s2sad beside those written by hand and those of other tools: `python -m benchmarks`.

`primals` has the programs, `by_hand` and `by_hand_numba` their adjoints written by hand, `with_jax`,
`with_torch` and `without_stores` what users of other tools write where these cannot take the program as it
is. `programs` lists what is measured, `tools` what takes part, `measuring` how, `report` what becomes of
it. `generation` measures what it costs to generate derivatives, and `kernels` holds more programs, which
are checked but not timed.
"""
