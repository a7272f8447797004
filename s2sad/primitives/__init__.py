"""Primitives: the record that a rule declares, and its templates."""
