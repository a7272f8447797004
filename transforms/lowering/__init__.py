"""Rewrites programs of known kinds: inlines calls, makes variables of attributes, and stores of other
effects.
"""
