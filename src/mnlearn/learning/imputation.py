"""Filling in missing cells with a dependency network."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.incomplete import MISSING, IncompleteData, incomplete, merge_cells
from mnlearn.learning.logistic import LogisticPath, learn_logistic_path
from mnlearn.learning.missing_cells import TREATMENTS
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import SEED, stream


def draw_states(p: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a state of each row, drawn in proportion to p, (n_rows, n_states); (n_rows,)."""
    below = np.cumsum(p, axis=1)
    return np.asarray((uniform[:, None] * below[:, -1:] >= below).sum(axis=1))


FILLS = ("sample", "likely")
# The L1 penalty of the regressions, as a share of sqrt(examples * log(variables)), and its least
# value.
_PENALTY, _LEAST = 0.1, 0.5


@dataclass(frozen=True)
class Imputation:
    """How missing cells are filled in.

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
    """Return data whose missing cells are filled in, by stochastic expectation maximisation.

    In each iteration regressions of each variable on all others are learned from the completed
    data, and each missing cell is drawn given the rest of its row: one sweep of a Gibbs sampler in
    the dependency network (Celeux & Diebolt 1985; Heckerman et al. 2000).
    """
    how = Imputation() if how is None else how
    values = data.values.copy()
    missing = values == MISSING
    draw, share = stream(seed, "impute", "start").random(values.shape), data.frequency()
    values[missing] = (draw < share)[missing]
    several = [np.array(own) for own in data.schema.several if missing[:, own[0]].any()]
    for own in several:
        rows = np.flatnonzero(missing[:, own[0]])
        p = np.broadcast_to(share[own], (len(rows), len(own)))
        _set_states(values, rows, own, draw_states(p, draw[rows, own[0]]))
    likely = np.zeros(values.shape)
    penalty = max(_LEAST, _PENALTY * np.sqrt(data.n_examples * np.log(max(data.n_columns, 2))))
    for k in range(how.iterations):
        path = learn_logistic_path(data.filled(values), [penalty], threads=threads)
        rng = stream(seed, "impute", str(k))
        probability = _sweep(values, missing, path, rng)
        if k >= how.iterations // 2:
            likely += probability
    if how.fill == "likely":
        counted = how.iterations - how.iterations // 2
        values[missing] = (likely > counted / 2)[missing]
        for own in several:
            rows = np.flatnonzero(missing[:, own[0]])
            _set_states(values, rows, own, likely[np.ix_(rows, own)].argmax(axis=1))
    return data.filled(values)


def _set_states(
    values: NDArray[np.uint8],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    state: NDArray[np.int64],
) -> None:
    """Set the columns of a variable of several states in some rows."""
    values[np.ix_(rows, columns)] = np.arange(len(columns)) == state[:, None]


def _sweep(
    values: NDArray[np.uint8],
    missing: NDArray[np.bool_],
    path: LogisticPath,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw the missing states of each variable given the rest; return the probabilities of 1."""
    weights, intercept, schema = path.coefficient[0], path.intercept[0], path.schema
    out = np.zeros(values.shape)
    for v in range(len(schema)):
        own = np.arange(schema.start[v], schema.start[v + 1])
        rows = np.flatnonzero(missing[:, own[:1]].any(axis=1))
        if not len(rows):
            continue
        if len(own) > 1:
            p = softmax(values[rows] @ weights[own].T + intercept[own], axis=1)
            out[np.ix_(rows, own)] = p
            _set_states(values, rows, own, draw_states(p, rng.random(len(rows))))
            continue
        c = own[0]
        span = slice(weights.indptr[c], weights.indptr[c + 1])
        neighbours = weights.indices[span]
        log_odds = values[np.ix_(rows, neighbours)] @ weights.data[span] + intercept[c]
        out[rows, c] = expit(log_odds)
        values[rows, c] = rng.random(len(rows)) < out[rows, c]
    return out


def complete(
    data: Dataset | IncompleteData, treatment: str, *, seed: int, threads: int = 1
) -> Dataset:
    """Return complete data: those given, or what a treatment makes of them."""
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
    """Return complete data of groups that are to be compared.

    Cells are filled in from all groups together: with a network of its own for each group, they
    would differ between groups that do not.
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
