"""Scores of trees of hidden variables: PLL, CMLL, CLL and LL, all of them exact."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.hidden_trees import UNKNOWN, conditionals, log_conditionals, log_value
from mnlearn.inference.score import Groups, Score, check_groups, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.models.hidden_tree import HiddenTree


def pll(tree: HiddenTree, data: Dataset, threads: int = 1) -> Score:
    """Return the log-pseudo-likelihood; see `scoring.any_model.pll`."""
    check_variables(tree, data)
    if ((tree.emission <= 0) | (tree.emission >= 1)).any():
        # What is impossible cannot be divided out of the posterior of all variables.
        return cll(tree, data, [[v] for v in range(data.n_vars)], threads)
    return score_of(log_conditionals(tree, data.rows, threads).sum(axis=1), data)


def cmll(
    tree: HiddenTree,
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
    check_variables(tree, data)
    check_groups(groups, data.n_vars)
    per_row = np.zeros(data.n_rows)
    for group in groups:
        p = conditionals(tree, _without(data.rows, group), threads)[1][:, group]
        p_own = np.where(data.rows[:, group], p[:, :, 1], p[:, :, 0])
        with np.errstate(divide="ignore"):
            per_row += np.log(p_own).sum(axis=1)
    return score_of(per_row, data)


def cll(tree: HiddenTree, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Return the conditional log-likelihood; see `scoring.any_model.cll`."""
    check_variables(tree, data)
    check_groups(groups, data.n_vars)
    per_row = np.zeros(data.n_rows)
    own = log_value(tree, data.rows, threads)
    for group in groups:
        per_row += own - log_value(tree, _without(data.rows, group), threads)
    return score_of(per_row, data)


def ll(tree: HiddenTree, data: Dataset, threads: int = 1) -> Score:
    """Return the log-likelihood; see `scoring.any_model.ll`."""
    check_variables(tree, data)
    return score_of(log_value(tree, data.rows, threads), data)


def has_exact_likelihood(tree: HiddenTree) -> bool:
    """Return True: `ll` is exact and cheap for every such tree."""
    return True


def _without(rows: NDArray[np.uint8], group: Sequence[int]) -> NDArray[np.uint8]:
    """Return the rows with the values of a group of variables unknown."""
    evidence = rows.copy()
    evidence[:, group] = UNKNOWN
    return evidence
