"""Syntax trees: making, reading, copying and printing them, and the program that passes hand on."""
