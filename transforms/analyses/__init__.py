"""Analyses of a program: kinds, aliases, activity, liveness, uses, effects.

A program and the results of its analyses are its `Facts`: `facts.of(find_aliases)` is computed on first use
and kept. An analysis `find_x(facts)` imports the analyses that it uses; the imports have no circle.
"""
