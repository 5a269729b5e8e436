"""Distances between the variables of a latent tree (Choi et al. 2011)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# A hidden variable closer than this to another variable is that variable.
SAME = 0.05
# Larger distances are cut off: correlations below exp(-_FARTHEST) are noise.
_FARTHEST = 10.0


def information_distances(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return -log |correlation| of binary variables, which adds up along a tree (Section 3.1).

    correlation : float64, (n_vars, n_vars).
    """
    with np.errstate(divide="ignore"):
        distance = np.minimum(-np.log(np.abs(correlation)), _FARTHEST)
    distance = np.maximum(distance, 0.0)
    np.fill_diagonal(distance, 0.0)
    return distance


class Distances:
    """Distances between nodes of a tree, to which hidden nodes can be added."""

    def __init__(self, observed: NDArray[np.float64]) -> None:
        self.matrix = observed.copy()

    def add_parent(self, children: Sequence[int], among: Sequence[int]) -> NDArray[np.float64]:
        """Add a hidden parent of some nodes; return its distances to them (equations 12 and 13).

        among : the nodes that the distances are averaged over.
        """
        d = self.matrix
        own = np.array([self._to_parent(i, children, among) for i in children])
        to_all = (d[children] - own[:, None]).mean(axis=0)
        to_all[children] = own
        to_all = np.clip(to_all, 1e-6, _FARTHEST)
        n = len(d)
        grown = np.zeros((n + 1, n + 1))
        grown[:n, :n] = d
        grown[n, :n] = grown[:n, n] = to_all
        self.matrix = grown
        return to_all[children]

    def remove_last(self) -> None:
        """Take the node added last out again."""
        self.matrix = self.matrix[:-1, :-1]

    def _to_parent(self, i: int, children: Sequence[int], among: Sequence[int]) -> float:
        d = self.matrix
        estimates = []
        for j in children:
            others = [k for k in among if k not in (i, j)]
            if j != i and others:
                estimates.append(0.5 * (d[i, j] + float(np.mean(d[i, others] - d[j, others]))))
        return float(np.mean(estimates)) if estimates else 0.5 * float(d[i, children].max())
