"""The regression of one variable on all others for each penalty of glmnet's path."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.l1_logistic.dense import DenseData, DenseGoal, DenseResult, dense_path

# As in glmnet (decision 0660): so many penalties, evenly on a log scale, down to a share of the
# largest that depends on whether there are fewer examples than predictors.
N_PENALTIES = 100
SMALLEST, SMALLEST_WIDE = 1e-4, 1e-2
# The path ends once so much of the deviance is explained, or a penalty adds less than this.
_EXPLAINED, _GAIN = 0.999, 1e-5


class RegressionPath(NamedTuple):
    """The regression of one variable for each penalty.

    penalties, intercept, loss, gap : float64, (n_penalties,), loss and gap in nats.
    beta : float64, (n_penalties, n_vars).
    """

    penalties: NDArray[np.float64]
    beta: NDArray[np.float64]
    intercept: NDArray[np.float64]
    loss: NDArray[np.float64]
    gap: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Items:
    """What the regressions of all variables have in common; see `prepare_items`.

    Attributes
    ----------
    data : Dataset
        The training data.
    flipped : bool array of shape (n_vars,)
        Which columns are stored negated.
    factor : float64 array of shape (n_vars + 1,)
        What the penalty of each weight is multiplied by; the intercept comes last.
    """

    data: Dataset
    flipped: NDArray[np.bool_]
    factor: NDArray[np.float64]
    _dense: DenseData

    def path(self, v: int, tolerance: float) -> RegressionPath:
        """Return the regression of a variable, which has both values, for each penalty.

        Parameters
        ----------
        v
            The variable.
        tolerance
            Greatest duality gap, as a share of the loss of the best constant.
        """
        n_vars = self.data.n_vars
        share = SMALLEST_WIDE if self.data.n_examples < n_vars - 1 else SMALLEST
        goal = DenseGoal(
            np.geomspace(1.0, share, N_PENALTIES), self.factor, tolerance, _EXPLAINED, _GAIN
        )
        theta = np.zeros((N_PENALTIES, n_vars + 1))
        penalties, gap, loss = (np.zeros(N_PENALTIES) for _ in range(3))
        y = np.ascontiguousarray(self.data.rows[:, v])
        n = dense_path(v, self._dense, y, goal, DenseResult(penalties, theta, gap, loss))
        beta, intercept = theta[:n, :-1], theta[:n, -1].copy()
        intercept += beta @ self.flipped
        beta[:, self.flipped] *= -1.0
        return RegressionPath(penalties[:n], beta, intercept, loss[:n], gap[:n])


def prepare_items(data: Dataset) -> Items:
    """Return what the regressions share; the inputs are scaled to unit variance.

    Columns with more ones than zeros are stored negated: less is lost where sums of many rows are
    subtracted from each other.
    """
    share = data.frequency
    flipped = share > 0.5
    deviation = np.sqrt(share * (1 - share))
    factor = np.append(np.where(deviation > 0, deviation, 1.0), 0.0)
    columns = np.ascontiguousarray((data.rows ^ flipped.astype(np.uint8)).T)
    return Items(data, flipped, factor, DenseData(columns, data.weight))
