"""The range of an axis on which some curves must be visible and others may leave."""

import numpy as np
from numpy.typing import NDArray


def visible_range(staying: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[float, float]:
    """Return the range of the values that must be visible, extended by other values near it.

    Parameters
    ----------
    staying : ndarray of float64
        The values that must be visible, in any order.
    drawn : ndarray of float64
        All values. They extend the range by at most its own width on each side.
    """
    span = float(np.ptp(staying))
    low = max(float(drawn.min()), float(staying.min()) - span)
    high = min(float(drawn.max()), float(staying.max()) + span)
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin
