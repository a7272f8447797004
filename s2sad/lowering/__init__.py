"""Lowering: passes from program to program that need kinds, before differentiation."""
