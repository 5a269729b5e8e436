"""Scores of feature and junction trees: LL of the tree, all others of its circuit, all exact."""

from mnlearn.data.dataset import Dataset
from mnlearn.inference.score import Groups, Score, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.models.tree_models import TreeModel, circuit_of
from mnlearn.scoring import circuits


def pll(tree: TreeModel, data: Dataset, threads: int = 1) -> Score:
    """Return the log-pseudo-likelihood; see `scoring.any_model.pll`."""
    return circuits.pll(circuit_of(tree), data, threads)


def cmll(
    tree: TreeModel,
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


def cll(tree: TreeModel, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Return the conditional log-likelihood; see `scoring.any_model.cll`."""
    return circuits.cll(circuit_of(tree), data, groups, threads)


def ll(tree: TreeModel, data: Dataset, threads: int = 1) -> Score:
    """Return the log-likelihood; see `scoring.any_model.ll`."""
    check_variables(tree, data)
    return score_of(tree.log_likelihood(data.rows), data)


def has_exact_likelihood(tree: TreeModel) -> bool:
    """Return True: `ll` is exact and cheap for every such tree."""
    return True
