"""The L1-penalised regressions of all variables for each penalty of a path."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.learning.neighbourhoods import build_pair_features
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.runtime.arrays import read_only
from mnlearn.variables.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class LogisticPath:
    """Logistic regressions of every variable on all others, for each penalty.

    penalties : float64, (n_penalties,). The penalties, the largest first.
    coefficient : tuple of sparse arrays of shape (n_columns, n_columns). One for each penalty; row
        c has the weights of the columns of other variables in the logit of column c.
    intercept : float64, (n_penalties, n_columns). The intercepts.
    gap : float64, (n_penalties, n_vars). Bounds on how far each penalised loss is above its
        minimum, in nats, summed over examples.
    constant_loss : float64, (n_vars,). Loss of the best constant, in nats, summed over examples.
    seconds_shared : seconds that other processes took for their shares of the regressions.
    """

    penalties: NDArray[np.float64]
    coefficient: tuple[sparse.csr_array, ...]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]
    constant_loss: NDArray[np.float64]
    schema: Schema
    seconds_shared: float = 0.0

    def place(self, penalty: float) -> int:
        """Return the position of a penalty of the path."""
        found = np.flatnonzero(self.penalties == penalty)
        if not len(found):
            raise ValueError(f"the path was learned without the penalty {penalty}")
        return int(found[0])

    def weights(self, v: int) -> NDArray[np.float64]:
        """Return the coefficients and the intercepts of a variable for the least penalty.

        Returns float64 of shape (n_columns + 1, n_logits).
        """
        own = list(self.schema.columns(v))
        return np.vstack([self.coefficient[-1][own].toarray().T, self.intercept[-1, own]])

    def joined(self, path: "LogisticPath") -> "LogisticPath":
        """Return this path followed by one with lower penalties."""
        return replace(
            self,
            penalties=read_only(np.concatenate([self.penalties, path.penalties])),
            coefficient=self.coefficient + path.coefficient,
            intercept=read_only(np.vstack([self.intercept, path.intercept])),
            gap=read_only(np.vstack([self.gap, path.gap])),
            seconds_shared=self.seconds_shared + path.seconds_shared,
        )

    def network(self, penalty: float) -> DependencyNetwork:
        """Return the dependency network of one penalty: pairs of columns that are 1, and biases."""
        k = self.place(penalty)
        pairs, schema = self.coefficient[k].tocoo(), self.schema
        both = np.sort(np.column_stack([pairs.row, pairs.col]), axis=1)
        target = schema.variable_of[np.concatenate([np.arange(schema.n_columns), pairs.row])]
        return DependencyNetwork(
            flat_trees(schema),
            build_pair_features(schema.n_columns, both),
            read_only(target),
            read_only(np.concatenate([self.intercept[k], pairs.data])),
            schema,
        )
