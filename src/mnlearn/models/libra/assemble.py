"""From one tree over the parents for each CPD to the flat arrays of a dependency network."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import read_only
from mnlearn.models.dependency_network import LEAF, Trees
from mnlearn.models.libra.target_trees import TargetTree

# Log-probabilities that sum to one this closely are taken as they are, so that what `write_dn`
# writes is read back to the last bit. Libra's own files carry seven digits.
_NORMALISED = 1e-12


def assemble(n_vars: int, trees: dict[int, TargetTree]) -> Trees:
    """Return the trees of all variables in flat arrays, log-probabilities normalised."""
    single = TargetTree(np.array([LEAF]), np.full((1, 2), LEAF), np.zeros((1, 2)), np.zeros(1))
    ordered = [trees.get(target, single) for target in range(n_vars)]
    start = np.concatenate([[0], np.cumsum([len(tree.split_var) for tree in ordered])])
    shifted = [
        np.where(tree.child == LEAF, LEAF, tree.child + offset)
        for tree, offset in zip(ordered, start[:-1], strict=True)
    ]
    split_var = np.concatenate([tree.split_var for tree in ordered])
    child = np.concatenate(shifted)
    log_prob = _normalised(np.concatenate([tree.value for tree in ordered]))
    _fill_inner(split_var, child, log_prob)
    return Trees(
        read_only(start.astype(np.int64)),
        read_only(split_var.astype(np.int32)),
        read_only(child.astype(np.int32)),
        read_only(log_prob),
    )


def _normalised(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-probabilities proportional to exp(value), shape (n_nodes, 2).

    An infinity outweighs all else: (0, inf) becomes (-inf, 0).
    """
    certain = np.isposinf(value).any(axis=1, keepdims=True)
    value = np.where(certain, np.where(np.isposinf(value), 0.0, -np.inf), value)
    with np.errstate(over="ignore"):
        total = np.logaddexp(value[:, :1], value[:, 1:])
        return np.where(np.abs(total) <= _NORMALISED, value, value - total)


def _fill_inner(split_var: NDArray, child: NDArray, log_prob: NDArray[np.float64]) -> None:
    """Overwrite the log-probabilities of inner nodes by those of their children's mean."""
    inner = np.flatnonzero(split_var != LEAF)
    share = np.exp(log_prob[:, 1]).tolist()
    pairs = child[inner].tolist()
    for node, (a, b) in zip(inner[::-1].tolist(), pairs[::-1], strict=True):
        share[node] = 0.5 * (share[a] + share[b])
    ones = np.minimum(np.array(share)[inner], 1.0)
    with np.errstate(divide="ignore"):
        log_prob[inner] = np.log(np.column_stack([1.0 - ones, ones]))
