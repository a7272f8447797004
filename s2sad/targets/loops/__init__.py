"""Statements on arrays as loops over elements: reading, splitting, grouping and emitting them."""
