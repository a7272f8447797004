"""Kinds: the lattice, the abstraction of values, joins, and the kinds of results of operations."""
