"""The latent tree behind information distances between variables.

Of distances that are equal within rounding the first is the least. In neighbour joining, any two of
three nodes are as near as any other two.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.ties import EQUAL, first_greatest, rounded

# A hidden variable closer than this to another variable is that variable.
SAME = 0.05
# Larger distances are cut off: correlations below exp(-_FARTHEST) are noise.
_FARTHEST = 10.0


def information_distances(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return -log |correlation| of binary variables, which adds up along a tree (Section 3.1)."""
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
        """Add a hidden parent of some nodes; return its distances to them (equations 12 and 13)."""
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


Edge = tuple[int, int]


def join_neighbours(nodes: Sequence[int], distances: Distances) -> list[Edge]:
    """Return the edges of a tree over some nodes and new hidden ones (Saitou & Nei 1987).

    Each step gives the pair (i, j) of least (n - 2) d_ij - sum_k d_ik - sum_k d_jk a hidden parent,
    or the node that is closer than `SAME` to it. Hidden nodes are added to `distances`.
    """
    return _group(nodes, distances, lambda active, d: [_choose_pair(active, d)], among_all=True)


def group_recursively(nodes: Sequence[int], distances: Distances) -> list[Edge]:
    """Return the edges of a tree over some nodes and new hidden ones (Choi et al. 2011, Section 4).

    Families are complete-linkage clusters of the spread of differences of distances to third nodes
    (decision 0026). Each gets a hidden parent, or the member that is closer than `SAME` to it.
    """
    return _group(nodes, distances, _find_families, among_all=False)


def _group(
    nodes: Sequence[int],
    distances: Distances,
    find_families: Callable[[list[int], NDArray[np.float64]], list[list[int]]],
    among_all: bool,
) -> list[Edge]:
    active: list[int] = sorted(nodes)
    edges: list[Edge] = []
    while len(active) > 2:
        heads = set(active)
        for family in find_families(active, distances.matrix):
            if len(family) == 1:
                continue
            to_family = distances.add_parent(family, active)
            others = [k for k in active if k not in family] if among_all else []
            near = np.array([*to_family, *distances.matrix[-1, others]])
            head = len(distances.matrix) - 1
            closest = first_greatest(-near, EQUAL)
            if near[closest] < SAME:
                distances.remove_last()
                head = [*family, *others][closest]
            edges += [(head, i) for i in family if i != head]
            heads = heads - set(family) | {head}
        active = sorted(heads)
    if len(active) == 2:
        edges.append((active[0], active[1]))
    return edges


def _choose_pair(active: list[int], distance: NDArray[np.float64]) -> list[int]:
    d = distance[np.ix_(active, active)]
    total = d.sum(axis=1)
    criterion = (len(active) - 2) * d - total[:, None] - total[None, :]
    np.fill_diagonal(criterion, np.inf)
    # A sum of 2 n distances, so that its tolerance is that of as many.
    least = first_greatest(-criterion.ravel(), 2 * len(active) * EQUAL)
    i, j = divmod(least, len(active))
    return [active[i], active[j]]


# Two nodes are of one family if the differences of their distances to others spread at most so far.
_ALIKE = 0.3
# Distances beyond this are not compared: correlations below exp(-_FAR) are mostly noise.
_FAR = 4.0


def _find_families(active: list[int], distance: NDArray[np.float64]) -> list[list[int]]:
    """Return the families among active nodes, at least one of two nodes or more."""
    among = distance[np.ix_(active, active)]
    pairs = combinations(range(len(active)), 2)
    # Rounded: clusters are joined in the order of their distances.
    spread = np.array([rounded(_spread(among, i, j), EQUAL) for i, j in pairs])
    joined = scipy.cluster.hierarchy.linkage(spread, "complete")
    labels = scipy.cluster.hierarchy.fcluster(joined, max(_ALIKE, spread.min()), "distance")
    return [[active[k] for k in np.flatnonzero(labels == c)] for c in np.unique(labels)]


def _spread(d: NDArray[np.float64], i: int, j: int) -> float:
    """Return how far the differences of the distances of two nodes to all others range."""
    others = np.ones(len(d), bool)
    others[[i, j]] = False
    near = others & (np.maximum(d[i], d[j]) < _FAR)
    if not near.any():
        near = others
    difference = d[i, near] - d[j, near]
    return float(difference.max() - difference.min())
