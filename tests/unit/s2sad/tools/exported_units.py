"""A module that an exported function reads."""

from __future__ import annotations

SCALE = 0.125
