"""Scores of feature and junction trees: LL, PLL of the tree, others of its circuit, all exact."""

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.inference.score import Groups, Score, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.models.tree_models import ObservedTree, circuit_of
from mnlearn.scoring import circuits


def pll(tree: ObservedTree, data: Dataset, threads: int = 1) -> Score:
    """Return the log-pseudo-likelihood; see `scoring.any_model.pll`.

    Each row is evaluated once for each variable with its other value. A row takes the nodes that it
    satisfies, and the circuit would take all nodes.
    """
    check_variables(tree, data)
    own = tree.log_likelihood(data.rows)
    per_row, rows = np.zeros(data.n_rows), data.rows.copy()
    for v in range(data.n_vars):
        rows[:, v] ^= 1
        other = tree.log_likelihood(rows)
        rows[:, v] ^= 1
        per_row -= np.where(np.isneginf(own), np.inf, np.logaddexp(0.0, other - own))
    return score_of(per_row, data)


def cmll(
    tree: ObservedTree,
    data: Dataset,
    groups: Groups,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
) -> Score:
    """Return the conditional marginal log-likelihood; see `scoring.any_model.cmll`.

    Marginals are exact: `inference` and `seed` have no effect.
    """
    return circuits.cmll(circuit_of(tree), data, groups, inference, seed=seed, threads=threads)


def cll(tree: ObservedTree, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Return the conditional log-likelihood; see `scoring.any_model.cll`."""
    return circuits.cll(circuit_of(tree), data, groups, threads)


def ll(tree: ObservedTree, data: Dataset, threads: int = 1) -> Score:
    """Return the log-likelihood; see `scoring.any_model.ll`."""
    check_variables(tree, data)
    return score_of(tree.log_likelihood(data.rows), data)


def has_exact_likelihood(tree: ObservedTree) -> bool:
    """Return True: `ll` is exact and cheap for every such tree."""
    return True
