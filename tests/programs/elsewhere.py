"""Functions that programs of other files call."""

import zlib

# mypy: allow-untyped-defs


def tripled(x, flag):
    if flag:
        return adler(x)
    return 3.0 * x


def adler(x):
    return zlib.adler32(x)
