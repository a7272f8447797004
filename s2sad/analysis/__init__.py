"""Analyses of a program that need primitives or kinds, and the rewrites of calls that need them."""
