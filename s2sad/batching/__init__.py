"""Batching: a program for one value becomes one for many, along a leading axis."""
