"""Recursive grouping: the latent tree behind distances between variables (Choi et al. 2011)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from mnlearn.learning.latent_trees.distances import SAME, Distances

Edge = tuple[int, int]
# Two nodes are of one family if the differences of their distances to others spread no more.
_ALIKE = 0.3
# Distances beyond this are not compared: correlations below exp(-_FAR) are mostly noise.
_FAR = 4.0


def grouped(nodes: Sequence[int], distances: Distances) -> list[Edge]:
    """Return the edges of a tree over some nodes and new hidden ones (Section 4).

    Nodes whose differences of distances to all others are constant are one family. A member at
    the distance 0 of the parent of a family is that parent; other families get a hidden one. The
    parents, and nodes without a family, are grouped next. Distances are estimates, so that
    families are complete-linkage clusters of the spread of those differences (the paper has
    k-means); where there is none the two nodes of the least spread are one. Hidden nodes are
    added to `distances` and have the numbers that follow.
    """
    active: list[int] = sorted(nodes)
    edges: list[Edge] = []
    while len(active) > 2:
        parents = []
        for family in _families(active, distances.matrix):
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


def _families(active: list[int], distance: NDArray[np.float64]) -> list[list[int]]:
    """Return the families among active nodes, at least one of two nodes or more."""
    pairs = list(combinations(range(len(active)), 2))
    spread = np.array([_spread(distance[np.ix_(active, active)], i, j) for i, j in pairs])
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
