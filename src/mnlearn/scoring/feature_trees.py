"""Scores of feature trees: LL from the tree, PLL, CMLL and CLL from its circuit, all exact."""

from mnlearn.data.dataset import Dataset
from mnlearn.inference.score import Groups, Score, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.models.feature_tree import FeatureTree
from mnlearn.models.feature_tree_circuit import circuit_of
from mnlearn.scoring import circuits


def pll(tree: FeatureTree, data: Dataset, threads: int = 1) -> Score:
    """Return the log-pseudo-likelihood; see `scoring.any_model.pll`."""
    return circuits.pll(circuit_of(tree), data, threads)


def cmll(
    tree: FeatureTree,
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


def cll(tree: FeatureTree, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Return the conditional log-likelihood; see `scoring.any_model.cll`."""
    return circuits.cll(circuit_of(tree), data, groups, threads)


def ll(tree: FeatureTree, data: Dataset, threads: int = 1) -> Score:
    """Return the log-likelihood; see `scoring.any_model.ll`."""
    check_variables(tree, data)
    return score_of(tree.log_likelihood(data.rows), data)


def has_exact_likelihood(tree: FeatureTree) -> bool:
    """Return True: `ll` is exact and cheap for every feature tree."""
    return True
