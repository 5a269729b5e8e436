"""Scores of arithmetic circuits: PLL, CMLL, CLL and LL, all of them exact."""

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.exact import conditionals, flip_log_odds, log_partition, log_value
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.inference.score import Groups, Score, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.kernels.likelihood.stored_columns import sum_log_probabilities
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.scoring import exact


def pll(circuit: ArithmeticCircuit, data: Dataset, threads: int = 1) -> Score:
    """Return the log-pseudo-likelihood; see `scoring.any_model.pll`.

    A circuit with features is scored by its features, any other by the circuit itself.
    """
    check_variables(circuit, data)
    if circuit.features is None:
        odds = flip_log_odds(circuit, data.rows, threads)
        # A row and its neighbour that are both impossible: the row has the score of any such row.
        odds[np.isnan(odds)] = -np.inf
        return score_of(-np.logaddexp(0.0, -odds).sum(axis=1), data)
    per_row = np.empty(data.n_rows)
    sum_log_probabilities(conditional_log_odds(circuit, data, threads), data.rows, per_row)
    return score_of(per_row, data)


def cmll(
    circuit: ArithmeticCircuit,
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
    return exact.cmll(circuit, data, groups, conditionals, threads)


def cll(circuit: ArithmeticCircuit, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Return the conditional log-likelihood; see `scoring.any_model.cll`."""
    return exact.cll(circuit, data, groups, log_value, threads)


def ll(circuit: ArithmeticCircuit, data: Dataset, threads: int = 1) -> Score:
    """Return the log-likelihood; see `scoring.any_model.ll`."""
    check_variables(circuit, data)
    return score_of(log_value(circuit, data.rows, threads) - log_partition(circuit), data)


def has_exact_likelihood(circuit: ArithmeticCircuit) -> bool:
    """Return True: `ll` is exact and cheap for every circuit."""
    return True
