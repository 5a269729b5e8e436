"""CMLL and CLL of models that sum variables out exactly."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.evaluation import UNKNOWN
from mnlearn.inference.score import Groups, Score, check_groups, check_variables, score_of

Rows = NDArray[np.uint8]
Values = NDArray[np.float64]


def cmll(
    model: Any,
    data: Dataset,
    groups: Groups,
    conditionals: Callable[[Any, Rows, int], tuple[Values, Values]],
    threads: int,
) -> Score:
    """Return the conditional marginal log-likelihood; see `scoring.any_model.cmll`.

    It is minus infinity for a row whose evidence has probability 0.
    conditionals : returns the log-probability of each row of evidence, and P(X_v = x | evidence).
    """
    check_variables(model, data)
    check_groups(groups, data.n_vars)
    per_row = np.zeros(data.n_rows)
    for group in groups:
        evidence, p = conditionals(model, _without(data.rows, group), threads)
        p_own = np.where(data.rows[:, group], p[:, group, 1], p[:, group, 0])
        with np.errstate(divide="ignore"):
            log_p = np.log(p_own).sum(axis=1)
        per_row += np.where(np.isneginf(evidence), -np.inf, log_p)
    return score_of(per_row, data)


def cll(
    model: Any,
    data: Dataset,
    groups: Groups,
    log_value: Callable[[Any, Rows, int], Values],
    threads: int,
) -> Score:
    """Return the conditional log-likelihood; see `scoring.any_model.cll`.

    It is minus infinity for a row of probability 0, also where the evidence has probability 0.
    log_value : returns the log-probability of each row of evidence, up to a constant.
    """
    check_variables(model, data)
    check_groups(groups, data.n_vars)
    own = log_value(model, data.rows, threads)
    possible = np.isfinite(own)
    per_row = np.where(possible, 0.0, -np.inf)
    for group in groups:
        evidence = log_value(model, _without(data.rows, group), threads)
        per_row[possible] += own[possible] - evidence[possible]
    return score_of(per_row, data)


def _without(rows: Rows, group: Sequence[int]) -> Rows:
    """Return the rows with the values of a group of variables unknown."""
    evidence = rows.copy()
    evidence[:, group] = UNKNOWN
    return evidence
