"""What is found of a program: kinds, aliases, activity, liveness, uses, changes."""
