"""Holm's correction of p-values for their number."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def holm(p_values: Sequence[float]) -> NDArray[np.float64]:
    """Return p-values adjusted for their number by Holm's step-down rule, in the given order."""
    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")
    factor = len(p) - np.arange(len(p))
    adjusted = np.minimum(np.maximum.accumulate(p[order] * factor), 1.0)
    out = np.empty_like(p)
    out[order] = adjusted
    return out
