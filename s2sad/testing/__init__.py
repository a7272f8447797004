"""Checks of gradients and rules, and the table of supported functions."""
