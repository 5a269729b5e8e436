"""Weights of examples."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import DATA, InputError


def check_weights(weight: NDArray, where: str = DATA) -> NDArray[np.float64]:
    """Return weights as float64; refuse any that are not positive or have no finite sum."""
    if weight.dtype.kind not in "buif":
        raise InputError(f"expected numbers as weights, got {weight.dtype}.", where=where)
    given = np.atleast_1d(weight).astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(given) & (given > 0)))
    if len(wrong):
        raise InputError(
            f"expected a positive weight, got {given[wrong[0]]}.", where=where, row=wrong[0] + 1
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(given.sum()):
            raise InputError("expected weights with a finite sum.", where=where)
    return given
