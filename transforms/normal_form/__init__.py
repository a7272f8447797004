"""Transforms source programs to the normal form, and the normal form to single assignment."""
