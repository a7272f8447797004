"""Kinds: the lattice, abstraction of values, joins, and what operations make of them."""
