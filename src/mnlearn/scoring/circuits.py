"""Scores of arithmetic circuits, all of them exact: PLL, CMLL, CLL and LL."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.exact import UNKNOWN, conditionals, log_partition, log_value
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.inference.score import Groups, Score, check_groups, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.kernels.likelihood.stored_columns import sum_log_probabilities
from mnlearn.models.circuit import ArithmeticCircuit


def pll(circuit: ArithmeticCircuit, data: Dataset, threads: int = 1) -> Score:
    """Log-pseudo-likelihood: from the features where the circuit has them."""
    check_variables(circuit, data)
    if circuit.features is None:
        return cll(circuit, data, [[v] for v in range(data.n_vars)], threads)
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
    """Conditional marginal log-likelihood; `inference` and `seed` have no part in it."""
    check_variables(circuit, data)
    check_groups(groups, data.n_vars)
    per_row = np.zeros(data.n_rows)
    for group in groups:
        p = conditionals(circuit, _without(data.rows, group), threads)[1][:, group]
        p_own = np.where(data.rows[:, group], p[:, :, 1], p[:, :, 0])
        with np.errstate(divide="ignore"):
            per_row += np.log(p_own).sum(axis=1)
    return score_of(per_row, data)


def cll(circuit: ArithmeticCircuit, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Conditional log-likelihood."""
    check_variables(circuit, data)
    check_groups(groups, data.n_vars)
    per_row = np.zeros(data.n_rows)
    own = log_value(circuit, data.rows, threads)
    for group in groups:
        per_row += own - log_value(circuit, _without(data.rows, group), threads)
    return score_of(per_row, data)


def ll(circuit: ArithmeticCircuit, data: Dataset, threads: int = 1) -> Score:
    """Log-likelihood."""
    check_variables(circuit, data)
    return score_of(log_value(circuit, data.rows, threads) - log_partition(circuit), data)


def has_exact_likelihood(circuit: ArithmeticCircuit) -> bool:
    """Tell that `ll` is exact and cheap."""
    return True


def _without(rows: NDArray[np.uint8], group: Sequence[int]) -> NDArray[np.uint8]:
    """Return the rows with the values of a group of variables unknown."""
    evidence = rows.copy()
    evidence[:, group] = UNKNOWN
    return evidence
