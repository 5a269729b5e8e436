"""The L1-penalised regressions of all variables for each penalty of a path."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import FeatureSet, atomic_features, concatenate, feature_set
from mnlearn.runtime.arrays import read_only
from mnlearn.variables.schema import Schema

MERGES = ("and", "or")


def merge_pairs(coefficient: sparse.csr_array, merge: str) -> NDArray[np.int64]:
    """Return the pairs (u, v), u < v, int64 of shape (n_pairs, 2), in ascending order."""
    found = (coefficient != 0).astype(np.int8)
    pairs = found.multiply(found.T) if merge == "and" else found + found.T
    upper = sparse.triu(pairs, 1).tocoo()
    both = np.column_stack([upper.row, upper.col]).astype(np.int64)
    return both[np.lexsort((both[:, 1], both[:, 0]))]


def build_pair_features(n_columns: int, pairs: NDArray[np.int64]) -> FeatureSet:
    """Return the features that a column is 1, and that both columns of a pair are."""
    both = feature_set(2 * np.arange(len(pairs) + 1), pairs.ravel(), np.ones(2 * len(pairs)))
    return concatenate([atomic_features(n_columns), both])


@dataclass(frozen=True, eq=False, kw_only=True)
class LogisticPath:
    """Logistic regressions of every variable on all others, for penalties in descending order.

    coefficient : for each penalty, row c has the weights of other columns in the logit of column c.
    intercept : (n_penalties, n_columns). gap : (n_penalties, n_vars), in nats. constant_loss :
        (n_vars,), loss of the best constant.
    """

    penalties: NDArray[np.float64]
    coefficient: tuple[sparse.csr_array, ...]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]
    constant_loss: NDArray[np.float64]
    schema: Schema

    def place(self, penalty: float) -> int:
        """Return the position of a penalty of the path."""
        found = np.flatnonzero(self.penalties == penalty)
        if not len(found):
            raise ValueError(f"the path was learned without the penalty {penalty}")
        return int(found[0])

    def weights(self, v: int) -> NDArray[np.float64]:
        """Return coefficients and intercepts for the least penalty, (n_columns + 1, n_logits)."""
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
