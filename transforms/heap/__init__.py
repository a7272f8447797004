"""Lowers changes of objects with aliases to changes of one variable, the heap."""
