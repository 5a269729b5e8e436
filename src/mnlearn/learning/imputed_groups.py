"""Missing cells of variables of several states: exactly one of their columns is 1."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mnlearn.data.dataset import Dataset
from mnlearn.data.domains import BINARY, named_domains
from mnlearn.data.incomplete import MISSING, IncompleteData
from mnlearn.learning.logistic import TOLERANCE, prepare_regressions

# The penalty of a weight between columns of one variable, as a multiple of that of others: such a
# weight stays 0, because the state would follow from the other columns.
_FORBIDDEN = 1e9


@dataclass(frozen=True, eq=False)
class OpenGroup:
    """The columns of a variable, and the rows in which its state is not known.

    Attributes
    ----------
    columns : ndarray of int64, shape (n_states,)
        A column for each state.
    rows : ndarray of int64, shape (n_open,)
        Rows with missing cells in the columns and no 1.
    possible : ndarray of bool, shape (n_open, n_states)
        Which states the known cells, all of them 0, leave over.
    """

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    possible: NDArray[np.bool_]

    @property
    def first_open(self) -> int:
        """The first column with a state that an open row may have."""
        return int(self.columns[self.possible.any(axis=0)][0])

    def close(self, values: NDArray[np.uint8], missing: NDArray[np.bool_]) -> None:
        """Set the missing cells of rows to 0 that have a 1 in another column of the group."""
        closed = np.ones(len(values), bool)
        closed[self.rows] = False
        own = np.ix_(np.flatnonzero(closed), self.columns)
        values[own] = np.where(missing[own], 0, values[own])
        missing[own] = False

    def shares(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the states of each open row, in proportion to weights.

        weight : positive or 0, shape (n_states,) or (n_open, n_states).
        """
        p = np.where(self.possible, weight, 0.0)
        total = p.sum(axis=1, keepdims=True)
        none = total == 0.0
        # No state that is left over was ever seen: all are alike.
        p = np.where(none, self.possible, p)
        return np.asarray(p / np.where(none, self.possible.sum(axis=1, keepdims=True), total))

    def draw(
        self, values: NDArray[np.uint8], p: NDArray[np.float64], uniform: NDArray[np.float64]
    ) -> None:
        """Set the columns to states that are drawn.

        values : uint8, shape (n_rows, n_vars). p : see `shares`. uniform : in [0, 1), (n_open,).
        """
        below = np.cumsum(p, axis=1)
        drawn = (uniform[:, None] * below[:, -1:] >= below).sum(axis=1)
        self.set_states(values, drawn)

    def set_states(self, values: NDArray[np.uint8], state: NDArray[np.int64]) -> None:
        """Set the columns of the open rows to states, int64 of shape (n_open,)."""
        values[np.ix_(self.rows, self.columns)] = np.arange(len(self.columns)) == state[:, None]

    def learn(self, data: Dataset, penalty: float) -> "LearnedGroup":
        """Return the regressions of each state on the columns of all other variables.

        data : all examples, filled in. penalty : L1 penalty.
        """
        beta, intercept = np.zeros((data.n_vars, len(self.columns))), np.zeros(len(self.columns))
        if not len(self.rows):
            return LearnedGroup(self, beta, intercept)
        regressions = prepare_regressions(data)
        factor = regressions.factor.copy()
        factor[self.columns] = _FORBIDDEN
        regressions = replace(regressions, factor=factor)
        for k, c in enumerate(self.columns.tolist()):
            ones, zeros = data.ones[c], data.n_examples - data.ones[c]
            if ones == 0 or zeros == 0:
                intercept[k] = np.log((ones + 1) / (zeros + 1))
                continue
            found = regressions.path(c, np.array([penalty]), TOLERANCE)
            beta[:, k], intercept[k] = found.beta[0], found.intercept[0]
        return LearnedGroup(self, beta, intercept)


@dataclass(frozen=True, eq=False)
class LearnedGroup:
    """A group with the regressions of its states.

    beta : float64, shape (n_vars, n_states). intercept : float64, shape (n_states,).
    """

    group: OpenGroup
    beta: NDArray[np.float64]
    intercept: NDArray[np.float64]

    def probability(self, values: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the probabilities of the states of the open rows, (n_open, n_states)."""
        return self.group.shares(expit(values[self.group.rows] @ self.beta + self.intercept))


def open_groups(data: IncompleteData) -> list[OpenGroup]:
    """Return the groups of columns with missing cells that are states of one variable.

    Their names agree before an `=`, each row has at most one 1 in them, and a row without a missing
    cell has exactly one.
    """
    if data.names is None:
        return []
    found = []
    for domain in named_domains(data.names, [BINARY] * data.n_vars).values():
        columns = np.array(domain.columns, np.int64)
        own = data.values[:, columns]
        n_ones, is_missing = (own == 1).sum(axis=1), own == MISSING
        is_state = (n_ones == 1) | ((n_ones == 0) & is_missing.any(axis=1))
        if len(columns) > 1 and is_missing.any() and is_state.all():
            rows = np.flatnonzero(n_ones == 0)
            found.append(OpenGroup(columns, rows, is_missing[rows]))
    return found
