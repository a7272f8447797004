"""Compilers of generated code: machine code for derivatives.

A target is a module here whose `compiled_for(function, fastmath, cache, form)` gives an object with
`version_for(args)`: the function that runs for arguments of these types.
"""

# By the name that `compile=` is given: the module.
TARGETS = {"numba": "numba_target"}
