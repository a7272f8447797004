"""The helpers that generated code calls at run time."""
