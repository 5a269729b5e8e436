"""Scores of variables of several states, which have a column for each: one term per variable."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference import hidden_trees
from mnlearn.inference.circuits import exact
from mnlearn.inference.circuits.evaluation import UNKNOWN
from mnlearn.inference.group_sampling import groups_sampled, marginals_of_groups
from mnlearn.inference.score import Groups, Score, check_groups, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.feature_tree import FeatureTree
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.io.native import Model
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.tree_models import TreeModel, circuit_of
from mnlearn.scoring import any_model
from mnlearn.scoring.networks import Network

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
    if isinstance(model, ArithmeticCircuit | TreeModel):
        is_sampled = False
        conditionals = _exact_conditionals(model, threads)
    else:
        is_sampled = inference.method in ("gibbs", "mcsat")
        conditionals = _network_conditionals(model, inference, seed, threads)
    per_row = np.zeros(data.n_rows)
    converged: list[float] = []
    for group in groups:
        asked = np.array(sorted(group), np.int64)
        found = conditionals(data.rows, asked)
        own = data.rows[:, asked] == 1
        log_p = np.where(own, found.log_one, found.log_zero)
        for columns in variables:
            if columns[0] in group:
                k = np.searchsorted(asked, columns)
                per_row += _term(own[:, k], log_p[:, k])
        if found.converged is not None:
            converged.append(float(data.weight @ found.converged / data.n_examples))
    score = score_of(per_row, data, np.nan if is_sampled else 0.0)
    return replace(score, converged=float(np.mean(converged))) if converged else score


def _term(own: NDArray[np.bool_], log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-probability of the value of a variable for each row.

    own : values of its columns. log_p : log-probability of the value of each column.
    """
    if own.shape[1] == 1:
        return log_p[:, 0]
    of_state = np.where(own, log_p, 0.0).sum(axis=1)
    return np.where(own.sum(axis=1) == 1, of_state, -np.inf)


class _Conditionals(NamedTuple):
    """Probabilities of columns given evidence.

    log_one, log_zero : float64, shape (n_rows, n_columns); both are minus infinity if the evidence
    has probability 0. converged : of each row, for belief propagation and mean field.
    """

    log_one: NDArray[np.float64]
    log_zero: NDArray[np.float64]
    converged: NDArray[np.bool_] | None = None


# Returns log P(column = x | the columns that are not asked for). Arguments: the rows, and the
# columns that are asked for, ascending.
_Answer = Callable[[NDArray[np.uint8], NDArray[np.int64]], _Conditionals]


def _exact_conditionals(model: ArithmeticCircuit | TreeModel, threads: int) -> _Answer:
    circuit = circuit_of(model) if isinstance(model, FeatureTree | JunctionTree) else model

    def answer(rows: NDArray[np.uint8], asked: NDArray[np.int64]) -> _Conditionals:
        evidence = rows.copy()
        evidence[:, asked] = UNKNOWN
        if isinstance(circuit, HiddenTree):
            p = hidden_trees.conditionals(circuit, evidence, threads)[1]
        else:
            p = exact.conditionals(circuit, evidence, threads)[1]
        p = np.nan_to_num(p[:, asked])
        return _Conditionals(_log(p[:, :, 1]), _log(p[:, :, 0]))

    return answer


def _network_conditionals(
    network: Network, inference: Inference, seed: int, threads: int
) -> _Answer:
    terms, groups = terms_of(network), groups_sampled(network, inference)

    def answer(rows: NDArray[np.uint8], asked: NDArray[np.int64]) -> _Conditionals:
        found = marginals_of_groups(
            terms, rows, asked, groups, inference, seed=seed, threads=threads
        )
        if found.approximation is None:
            one, zero = _log(found.probability), _log(found.complement)
            return _Conditionals(one[found.row_of], zero[found.row_of])
        # From the log-odds: 1 minus a probability could be 0.
        odds = found.approximation.log_odds[found.row_of]
        ended = found.approximation.converged[found.row_of]
        return _Conditionals(-np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds), ended)

    return answer


def _log(p: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(p)
