"""Scores of trees of hidden variables: PLL, CMLL, CLL and LL, all of them exact."""

from mnlearn.data.dataset import Dataset
from mnlearn.inference.hidden_trees import conditionals, log_conditionals, log_value
from mnlearn.inference.score import Groups, Score, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.scoring import exact


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
    return exact.cmll(tree, data, groups, conditionals, threads)


def cll(tree: HiddenTree, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Return the conditional log-likelihood; see `scoring.any_model.cll`."""
    return exact.cll(tree, data, groups, log_value, threads)


def ll(tree: HiddenTree, data: Dataset, threads: int = 1) -> Score:
    """Return the log-likelihood; see `scoring.any_model.ll`."""
    check_variables(tree, data)
    return score_of(log_value(tree, data.rows, threads), data)


def has_exact_likelihood(tree: HiddenTree) -> bool:
    """Return True: `ll` is exact and cheap for every such tree."""
    return True
