"""Checks of gradients and rules, and the list of what is covered."""
