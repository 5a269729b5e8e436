"""What a score is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.terms import HARD_WEIGHT
from mnlearn.models.model import Model
from mnlearn.runtime.errors import DATA, InputError

Groups = Sequence[Sequence[int]]


@dataclass(frozen=True, eq=False)
class Score:
    """A score of every distinct row, with the errors of its mean.

    per_row : float64, (n_rows,). In nats, for the distinct rows of the dataset. mean : mean over
    examples, in nats. standard_error : of the mean, over the draw of examples; NaN where the mean
    is minus infinity. monte_carlo_error : standard error of the mean due to sampling in inference;
    0 without sampling. converged : share of the queries in which belief propagation or mean
    field converged.
    """

    per_row: NDArray[np.float64]
    mean: float
    standard_error: float
    monte_carlo_error: float = 0.0
    converged: float | None = None


def score_of(per_row: NDArray[np.float64], data: Dataset, monte_carlo_error: float = 0.0) -> Score:
    """Return the score of a dataset."""
    # HARD_WEIGHT stands in for infinity: a score near its negative is that of a forbidden state.
    per_row = np.where(per_row < -HARD_WEIGHT / 2, -np.inf, per_row)
    mean = float(data.weight @ per_row / data.n_examples)
    if not np.isfinite(mean):
        return Score(per_row, mean, np.nan, monte_carlo_error)
    if data.n_examples <= 1:
        return Score(per_row, mean, 0.0, monte_carlo_error)
    variance = float(data.weight @ (per_row - mean) ** 2 / (data.n_examples - 1))
    return Score(per_row, mean, float(np.sqrt(variance / data.n_examples)), monte_carlo_error)


def check_variables(model: Model | Dataset, data: Dataset) -> None:
    """Raise InputError unless the data have the variables of the model."""
    if model.n_vars != data.n_vars:
        raise InputError(
            f"expected {model.n_vars} variables as in the model, got {data.n_vars}.", where=DATA
        )
    both_named = model.schema.is_named and data.schema.is_named
    for number, (own, other) in enumerate(zip(model.schema, data.schema, strict=True), start=1):
        if both_named and own.name != other.name:
            raise InputError(
                f"expected {own.name!r} as column {number} as in the model, got {other.name!r}.",
                where=DATA,
            )
        if own.arity != other.arity:
            raise InputError(
                f"variable {own.name!r}: expected {own.arity} states as in the model, got "
                f"{other.arity}.",
                where=DATA,
            )


def check_groups(groups: Groups, n_vars: int) -> None:
    """Raise InputError if query groups overlap or name variables that do not exist."""
    seen: set[int] = set()
    for group in groups:
        for v in group:
            if not 0 <= v < n_vars:
                raise InputError(f"query groups: expected variables 0 to {n_vars - 1}, got {v}.")
            if v in seen:
                raise InputError(f"query groups: variable {v} is in two groups.")
            seen.add(v)
