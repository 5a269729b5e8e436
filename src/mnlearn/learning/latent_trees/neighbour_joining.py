"""Neighbour joining: the latent tree behind distances between variables (Saitou & Nei 1987)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.latent_trees.distances import SAME, Distances

Edge = tuple[int, int]


def join_neighbours(nodes: Sequence[int], distances: Distances) -> list[Edge]:
    """Return the edges of a tree over some nodes and new hidden ones (Saitou & Nei 1987).

    Each step takes the pair (i, j) of least (n - 2) d_ij - sum_k d_ik - sum_k d_jk, where n is the
    number of nodes left, and gives it a hidden parent. A node at a distance less than `SAME` from
    this parent is the parent instead. Hidden nodes are added to `distances` and get the next
    numbers.
    """
    active, edges = sorted(nodes), []
    while len(active) > 2:
        pair = _choose_pair(active, distances.matrix)
        to_pair = distances.add_parent(pair, active)
        others = [k for k in active if k not in pair]
        near = [*to_pair, *distances.matrix[-1, others]]
        head = len(distances.matrix) - 1
        closest = int(np.argmin(near))
        if near[closest] < SAME:
            distances.remove_last()
            head = [*pair, *others][closest]
        edges += [(head, i) for i in pair if i != head]
        active = sorted({*others, head})
    if len(active) == 2:
        edges.append((active[0], active[1]))
    return edges


def _choose_pair(active: list[int], distance: NDArray[np.float64]) -> list[int]:
    d = distance[np.ix_(active, active)]
    total = d.sum(axis=1)
    criterion = (len(active) - 2) * d - total[:, None] - total[None, :]
    np.fill_diagonal(criterion, np.inf)
    i, j = divmod(int(np.argmin(criterion)), len(active))
    return [active[i], active[j]]
