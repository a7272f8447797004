"""What is found of a program: kinds, aliases, activity, liveness, uses, changes.

A program and all that is found of it are its `Facts`: `facts.of(find_aliases)` is computed when it is first
asked for, and kept. An analysis `find_x(facts)` imports those that it asks for; none of these asks for it.
"""
