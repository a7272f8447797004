"""The templates of functions that write into arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import stores as templates

__all__ = ["AT", "OF_NUMBERS", "TEMPLATES"]

TEMPLATES: dict[Any, Any] = {
    np.copyto: templates.copyto,
    np.ndarray.fill: templates.fill,
    np.put: templates.put,
    np.ndarray.put: templates.put,
    np.place: templates.place,
    np.putmask: templates.putmask,
    np.fill_diagonal: templates.fill_diagonal,
    np.put_along_axis: templates.put_along_axis,
    operator.setitem: templates.set_item,
    np.ndarray.__setitem__: templates.set_item,
    templates.set_flat: templates.set_flat,
    templates.set_all_flat: templates.set_all_flat,
}
OF_NUMBERS = {
    templates.copyto_masked: templates.set_masked,
    templates.place: templates.set_masked,
    templates.putmask: templates.set_masked,
    templates.put: templates.put_number,
    templates.set_flat: templates.set_flat_number,
    templates.set_all_flat: templates.fill,
    templates.fill_diagonal: templates.fill_diagonal_number,
}
AT: dict[Any, Any] = {  # `np.multiply.at` and those that round alike for one element and for many
    **dict.fromkeys(
        [(f, 3) for f in (np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin)],
        templates.combine_at,
    ),
    **dict.fromkeys([(f, 2) for f in (np.negative, np.absolute, np.square)], templates.apply_at),
}
