"""What a score is, and what scoring models of one kind consists of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import HARD_WEIGHT
from mnlearn.models.io.native import Model
from mnlearn.runtime.errors import InputError

Groups = Sequence[Sequence[int]]


@dataclass(frozen=True, eq=False)
class Score:
    """A score of every distinct row, with the errors of its mean.

    per_row : float64, shape (n_rows,), of the rows of the dataset.
    mean : mean over examples. standard_error : of that mean over the draw of examples.
    monte_carlo_error : standard error due to sampling in inference; 0 if exact.
    """

    per_row: NDArray[np.float64]
    mean: float
    standard_error: float
    monte_carlo_error: float = 0.0


class Scorer(Protocol):
    """Scores models of one kind; a module with these functions, which a method names.

    So what a learned model is scored with is imported by the file of its method, and a result
    depends on no code for other kinds of models. See `scoring.any_model` for what the scores are.
    """

    def pll(self, model: Any, data: Dataset, threads: int = 1) -> Score:
        """Return the log-pseudo-likelihood."""

    def cmll(
        self,
        model: Any,
        data: Dataset,
        groups: Groups,
        inference: Inference,
        *,
        seed: int,
        threads: int = 1,
    ) -> Score:
        """Return the conditional marginal log-likelihood."""

    def ll(self, model: Any, data: Dataset, threads: int = 1) -> Score:
        """Return the log-likelihood."""

    def has_exact_likelihood(self, model: Any) -> bool:
        """Tell whether `ll` is exact and cheap."""


def score_of(per_row: NDArray[np.float64], data: Dataset, monte_carlo_error: float = 0.0) -> Score:
    """Return the score of a dataset whose distinct rows have the given scores."""
    # A sum over a forbidden state is about minus HARD_WEIGHT; say what it stands for.
    per_row = np.where(per_row < -HARD_WEIGHT / 2, -np.inf, per_row)
    mean = float(data.weight @ per_row / data.n_examples)
    if not np.isfinite(mean) or data.n_examples <= 1:
        return Score(per_row, mean, 0.0, monte_carlo_error)
    variance = float(data.weight @ (per_row - mean) ** 2 / (data.n_examples - 1))
    return Score(per_row, mean, float(np.sqrt(variance / data.n_examples)), monte_carlo_error)


def check_variables(model: Model, data: Dataset) -> None:
    """Refuse data with other variables than the model's."""
    if model.n_vars != data.n_vars:
        raise InputError(
            f"data: expected {model.n_vars} variables as in the model, got {data.n_vars}."
        )
    if model.names and data.names and model.names != data.names:
        raise InputError("data: the columns have other names, or another order, than the model's.")


def check_groups(groups: Groups, n_vars: int) -> None:
    """Refuse query groups that overlap or name variables that do not exist."""
    seen: set[int] = set()
    for group in groups:
        for v in group:
            if not 0 <= v < n_vars:
                raise InputError(f"query groups: expected variables 0 to {n_vars - 1}, got {v}.")
            if v in seen:
                raise InputError(f"query groups: variable {v} is in two groups.")
            seen.add(v)
