"""The duality gap of penalised weights: how far their objective is above its minimum at most."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.likelihood import Likelihood


def gap_terms(
    penalty: Penalty, w: NDArray[np.float64], gradient: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the terms of the duality gap, one for each weight, in nats.

    Parameters
    ----------
    penalty : Penalty
        With or without a Gaussian prior.
    w, gradient : float64 arrays of shape (n_features,)
        The weights, and the gradient of the loss alone. A feature of weight 0 has the term 0
        unless the gradient pulls it harder than the L1 penalty holds.

    Notes
    -----
    The loss is a sum of logistic losses, whose residuals are a dual point. With a Gaussian prior
    every dual point is feasible, and the gap is the Fenchel-Young gap of the penalty. Without one
    a term is infinite where the gradient exceeds the L1 penalty.
    """
    excess = np.maximum(np.abs(gradient) - penalty.l1, 0.0)
    if penalty.sd is None:
        conjugate = np.where(excess > 0, np.inf, 0.0)
    else:
        conjugate = 0.5 * penalty.sd**2 * excess**2
    return penalty_terms(penalty, w) + conjugate + w * gradient


def penalty_terms(penalty: Penalty, w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the penalty of each weight, in nats."""
    return 0.5 * penalty.precision * w**2 + penalty.l1 * np.abs(w)


def duality_gap(
    likelihood: Likelihood,
    penalty: Penalty,
    w: NDArray[np.float64],
    gradient: NDArray[np.float64],
    *,
    objective: float,
) -> float:
    """Return an upper bound on objective - minimum, in nats; inf without any penalty.

    Parameters
    ----------
    likelihood, penalty
        The loss and the penalty.
    w, gradient : float64 arrays of shape (n_features,)
        The weights, and the gradient of the loss alone.
    objective : float
        Penalised loss at `w`, in nats.

    Notes
    -----
    With the L1 penalty alone, the residuals are scaled until no feature is pulled harder than the
    penalty holds. This takes a pass over the data, which not every likelihood implements. Without
    this pass the gap is infinite unless the residuals themselves are feasible.
    """
    if penalty.sd is None and penalty.l1 > 0 and likelihood.dual_value is not None:
        strongest = float(np.abs(gradient).max(initial=0.0))
        feasible = min(1.0, penalty.l1 / strongest) if strongest else 1.0
        return objective - likelihood.dual_value(w, feasible)
    return float(gap_terms(penalty, w, gradient).sum())
