"""Scores of variables of several states, which have a column for each: one term per variable."""

from collections.abc import Sequence

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.inference.queries import answer
from mnlearn.inference.score import Groups, Score, check_groups, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.io.native import Model
from mnlearn.models.tree_models import TreeModel
from mnlearn.scoring import any_model

Columns = Sequence[Sequence[int]]


def pll(model: Model, data: Dataset, variables: Columns, threads: int = 1) -> Score:
    """Return the log-pseudo-likelihood: the sum over variables of log P(variable | all others).

    Parameters
    ----------
    model : Model
        Any kind of model. A dependency network has a distribution of each column only; its score is
        the sum over columns.
    data : Dataset
        The examples.
    variables : sequence of sequence of int
        The columns of each variable.
    threads : int
        Number of threads; the result does not depend on it.

    Raises
    ------
    InputError
        A variable of a network has more than 20 columns.
    """
    if isinstance(model, DependencyNetwork):
        return any_model.pll(model, data, threads)
    return any_model.cll(model, data, variables, threads)


def cmll(
    model: Model,
    data: Dataset,
    groups: Groups,
    variables: Columns,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
) -> Score:
    """Return the conditional marginal log-likelihood, with one term for each queried variable.

    The term of a variable of several columns is the log-probability of the column that is 1; it is
    minus infinity for an example where not exactly one of them is. See `any_model.cmll`.

    Parameters
    ----------
    model : Model
        Any kind of model.
    data : Dataset
        The examples.
    groups : sequence of sequence of int
        Disjoint groups of columns, with all columns of a variable or none.
    variables : sequence of sequence of int
        The columns of each variable.
    inference : Inference
        How marginals are computed; no effect on circuits and trees, whose marginals are exact.
    seed : int
        Seed of the samplers.
    threads : int
        Number of threads; the result does not depend on it.

    Notes
    -----
    The error due to sampling is not estimated: it is NaN.
    """
    check_variables(model, data)
    check_groups(groups, data.n_vars)
    per_row = np.zeros(data.n_rows)
    for group in groups:
        asked = np.zeros(data.rows.shape, bool)
        asked[:, list(group)] = True
        found = answer(model, data.rows, asked, inference, seed=seed, threads=threads)
        for columns in variables:
            if columns[0] not in group:
                continue
            own, p = data.rows[:, list(columns)], found[:, list(columns)]
            if len(columns) == 1:
                p_own = np.where(own, p, 1.0 - p)[:, 0]
            else:
                p_own = np.where(own.sum(axis=1) == 1, (own * p).sum(axis=1), 0.0)
            with np.errstate(divide="ignore"):
                per_row += np.log(p_own)
    is_exact = isinstance(model, ArithmeticCircuit | TreeModel)
    is_sampled = not is_exact and inference.method in ("gibbs", "mcsat")
    return score_of(per_row, data, np.nan if is_sampled else 0.0)
