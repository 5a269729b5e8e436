"""Recursive grouping: the latent tree behind distances between variables (Choi et al. 2011)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from mnlearn.learning.latent_trees.distances import SAME, Distances

Edge = tuple[int, int]
# Two nodes are of one family if the differences of their distances to others spread at most so far.
_ALIKE = 0.3
# Distances beyond this are not compared: correlations below exp(-_FAR) are mostly noise.
_FAR = 4.0


def group_recursively(nodes: Sequence[int], distances: Distances) -> list[Edge]:
    """Return the edges of a tree over some nodes and new hidden ones (Choi et al. 2011, Section 4).

    Two nodes are of one family if the difference of their distances to a third node is the same
    for all third nodes. A family gets a hidden parent, unless a member is at a distance less than
    `SAME` from it: then this member is the parent. The parents, and nodes without a family, are
    grouped next.

    Distances are estimates. Families are therefore complete-linkage clusters of the spread of the
    differences (decision 0026). If there is no such cluster, the two nodes of least spread are a
    family. Hidden nodes are added to `distances` and get the next numbers.
    """
    active: list[int] = sorted(nodes)
    edges: list[Edge] = []
    while len(active) > 2:
        parents = []
        for family in _find_families(active, distances.matrix):
            if len(family) == 1:
                parents += family
                continue
            to_parent = distances.add_parent(family, active)
            head = len(distances.matrix) - 1
            nearest = int(np.argmin(to_parent))
            if to_parent[nearest] < SAME:
                distances.remove_last()
                head = family[nearest]
            edges += [(head, i) for i in family if i != head]
            parents.append(head)
        active = sorted(parents)
    if len(active) == 2:
        edges.append((active[0], active[1]))
    return edges


def _find_families(active: list[int], distance: NDArray[np.float64]) -> list[list[int]]:
    """Return the families among active nodes, at least one of two nodes or more."""
    among = distance[np.ix_(active, active)]
    pairs = combinations(range(len(active)), 2)
    spread = np.array([_spread(among, i, j) for i, j in pairs])
    labels = fcluster(linkage(spread, "complete"), max(_ALIKE, spread.min()), "distance")
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
