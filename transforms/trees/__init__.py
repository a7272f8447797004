"""Syntax trees: making, reading, copying and printing them, and the `Program` that passes take and return."""
