"""Filling in missing cells with a dependency network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.incomplete import MISSING, IncompleteData, incomplete, merge_cells
from mnlearn.learning.logistic import (
    TOLERANCE,
    LogisticPath,
    learn_logistic_path,
    prepare_regressions,
)
from mnlearn.learning.missing_cells import TREATMENTS
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import SEED, stream

# The penalty of a weight between columns of one variable, as a multiple of that of others: such a
# weight stays 0, because the state would follow from the other columns.
_FORBIDDEN = 1e9


@dataclass(frozen=True, eq=False)
class OpenVariable:
    """The columns of a variable of several states, and the rows in which its state is not known.

    Attributes
    ----------
    columns : ndarray of int64, shape (n_states,)
        A column for each state.
    rows : ndarray of int64, shape (n_open,)
        The rows whose state is missing.
    """

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]

    def draw(
        self, values: NDArray[np.uint8], p: NDArray[np.float64], uniform: NDArray[np.float64]
    ) -> None:
        """Set the columns to states that are drawn.

        values : uint8, shape (n_rows, n_columns). p : in proportion to the probabilities of the
        states, (n_states,) or (n_open, n_states). uniform : in [0, 1), (n_open,).
        """
        below = np.cumsum(np.broadcast_to(p, (len(self.rows), len(self.columns))), axis=1)
        drawn = (uniform[:, None] * below[:, -1:] >= below).sum(axis=1)
        self.set_states(values, drawn)

    def set_states(self, values: NDArray[np.uint8], state: NDArray[np.int64]) -> None:
        """Set the columns of the open rows to states, int64 of shape (n_open,)."""
        values[np.ix_(self.rows, self.columns)] = np.arange(len(self.columns)) == state[:, None]

    def learn(self, data: Dataset, penalty: float) -> "LearnedVariable":
        """Return the regressions of each state on the columns of all other variables.

        data : all examples, filled in. penalty : L1 penalty.
        """
        beta, intercept = np.zeros((data.n_columns, len(self.columns))), np.zeros(len(self.columns))
        regressions = prepare_regressions(data)
        factor = regressions.factor.copy()
        factor[self.columns] = _FORBIDDEN
        regressions = replace(regressions, factor=factor)
        for k, c in enumerate(self.columns.tolist()):
            ones, zeros = data.ones[c], data.n_examples - data.ones[c]
            if ones == 0 or zeros == 0:
                intercept[k] = np.log((ones + 1) / (zeros + 1))
                continue
            found = regressions.path(c, np.array([penalty]), TOLERANCE)
            beta[:, k], intercept[k] = found.beta[0], found.intercept[0]
        return LearnedVariable(self, beta, intercept)


@dataclass(frozen=True, eq=False)
class LearnedVariable:
    """A variable with the regressions of its states.

    beta : float64, shape (n_columns, n_states). intercept : float64, shape (n_states,).
    """

    variable: OpenVariable
    beta: NDArray[np.float64]
    intercept: NDArray[np.float64]

    def probability(self, values: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the probabilities of the states of the open rows, (n_open, n_states)."""
        p = expit(values[self.variable.rows] @ self.beta + self.intercept)
        return np.asarray(p / p.sum(axis=1, keepdims=True))


def open_variables(data: IncompleteData) -> list[OpenVariable]:
    """Return the variables of several states that lack a state in some rows."""
    found = []
    for own in data.schema.several:
        rows = np.flatnonzero(data.values[:, own[0]] == MISSING)
        if len(rows):
            found.append(OpenVariable(np.array(own, np.int64), rows))
    return found


FILLS = ("sample", "likely")
# The L1 penalty of the regressions, as a share of sqrt(examples * log(variables)), and its least
# value.
_PENALTY, _LEAST = 0.1, 0.5


@dataclass(frozen=True)
class Imputation:
    """How missing cells are filled in.

    Attributes
    ----------
    iterations : int
        How often a network is learned and the cells are drawn again.
    fill : {"sample", "likely"}
        "sample" keeps the last values that were drawn, which have the spread of the data. "likely"
        takes the value of greater mean probability in the second half of the iterations.
    """

    iterations: int = 10
    fill: str = "sample"

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise InputError(f"iterations: expected at least 1, got {self.iterations}.")
        if self.fill not in FILLS:
            raise InputError(f"fill: expected one of {', '.join(FILLS)}, got {self.fill!r}.")


def impute(
    data: IncompleteData, how: Imputation | None = None, *, seed: int = SEED, threads: int = 1
) -> Dataset:
    """Return data whose missing cells are filled in.

    Parameters
    ----------
    data : IncompleteData
        Examples with missing cells.
    how : Imputation, optional
        Its settings.
    seed : int
        Seed of all draws.
    threads : int
        Number of threads; the result does not depend on it.

    Notes
    -----
    Stochastic expectation maximisation [1]_. Missing cells are first drawn from the share of ones
    among the known cells of their variable. Then, in each iteration, logistic regressions of each
    variable on all others are learned from the completed data, and each missing cell is drawn
    given the rest of its row, one variable after the other: one sweep of a Gibbs sampler in the
    dependency network [2]_. A variable of several states has a regression for each state on the
    columns of the other variables, and its state is drawn in proportion to their probabilities.

    References
    ----------
    .. [1] Celeux and Diebolt, "The SEM algorithm", Computational Statistics Quarterly 2, 1985.
    .. [2] Heckerman et al., "Dependency networks for inference, collaborative filtering, and data
       visualization", JMLR 1, 2000.
    """
    how = Imputation() if how is None else how
    values = data.values.copy()
    missing = values == MISSING
    several = open_variables(data)
    draw, share = stream(seed, "impute", "start").random(values.shape), data.frequency()
    values[missing] = (draw < share)[missing]
    for one in several:
        one.draw(values, share[one.columns], draw[one.rows, one.columns[0]])
    likely = np.zeros(values.shape)
    penalty = max(_LEAST, _PENALTY * np.sqrt(data.n_examples * np.log(max(data.n_columns, 2))))
    for k in range(how.iterations):
        filled = data.filled(values)
        path = learn_logistic_path(filled, [penalty], threads=threads)
        learned = [one.learn(filled, penalty) for one in several]
        rng = stream(seed, "impute", str(k))
        probability = _sweep(values, missing, path, learned, rng)
        if k >= how.iterations // 2:
            likely += probability
    if how.fill == "likely":
        counted = how.iterations - how.iterations // 2
        values[missing] = (likely > counted / 2)[missing]
        for one in several:
            one.set_states(values, likely[np.ix_(one.rows, one.columns)].argmax(axis=1))
    return data.filled(values)


def _sweep(
    values: NDArray[np.uint8],
    missing: NDArray[np.bool_],
    path: LogisticPath,
    several: Sequence[LearnedVariable],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw the missing cells of each variable given the rest; return their probabilities of 1."""
    weights, intercept = path.coefficient[0], path.intercept[0]
    out = np.zeros(values.shape)
    variable_of = {c: one for one in several for c in one.variable.columns.tolist()}
    for v in np.flatnonzero(missing.any(axis=0)).tolist():
        own = variable_of.get(v)
        if own is not None:
            if v == own.variable.columns[0]:
                p = own.probability(values)
                out[np.ix_(own.variable.rows, own.variable.columns)] = p
                own.variable.draw(values, p, rng.random(len(p)))
            continue
        rows = np.flatnonzero(missing[:, v])
        span = slice(weights.indptr[v], weights.indptr[v + 1])
        neighbours = weights.indices[span]
        log_odds = values[np.ix_(rows, neighbours)] @ weights.data[span] + intercept[v]
        out[rows, v] = expit(log_odds)
        values[rows, v] = rng.random(len(rows)) < out[rows, v]
    return out


def complete(
    data: Dataset | IncompleteData, treatment: str, *, seed: int, threads: int = 1
) -> Dataset:
    """Return complete data: those given, or what a treatment makes of them.

    Parameters
    ----------
    data : Dataset or IncompleteData
        The examples.
    treatment : {"drop", "impute"}
        Leave out the examples with missing cells, or fill the cells in; see `impute`.
    seed, threads : int
        See `impute`.

    Raises
    ------
    InputError
        The treatment is none of these, or no example is complete.
    """
    if treatment not in TREATMENTS:
        raise InputError(f"missing: expected one of {', '.join(TREATMENTS)}, got {treatment!r}.")
    if isinstance(data, Dataset):
        return data
    if treatment == "drop":
        return data.complete_examples()
    return impute(data, seed=seed, threads=threads)


def complete_groups(
    groups: Mapping[str, Dataset | IncompleteData], treatment: str, *, seed: int, threads: int = 1
) -> dict[str, Dataset]:
    """Return complete data of groups that are to be compared; the arguments are as for `complete`.

    Missing cells are filled in from the examples of all groups together. With a network of its own
    for each group, the cells filled in would differ between groups that do not.
    """
    whole = all(isinstance(data, Dataset) for data in groups.values())
    if whole or treatment != "impute":
        return {
            name: data if isinstance(data, Dataset) else complete(data, treatment, seed=seed)
            for name, data in groups.items()
        }
    parts = {name: incomplete(data) for name, data in groups.items()}
    weight = np.concatenate([part.given_weight for part in parts.values()])
    schema = next(iter(parts.values())).schema
    pooled = merge_cells(np.vstack([part.values for part in parts.values()]), weight, schema)
    filled = complete(pooled, treatment, seed=seed, threads=threads)
    values = filled.rows[filled.row_of]
    ends = np.cumsum([len(part.row_of) for part in parts.values()])[:-1]
    return {
        name: merge_rows(own, part.given_weight, schema)
        for (name, part), own in zip(parts.items(), np.split(values, ends), strict=True)
    }
