"""Weights of a feature set by penalised likelihood."""

import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.owlqn import MEMORY
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import STANDARD, Descent, Stopping, preconditioner
from mnlearn.learning.weights.judge import Judge
from mnlearn.learning.weights.likelihood import Likelihood, Restrictable
from mnlearn.learning.weights.screening import descend_screened
from mnlearn.runtime.blas import single_threaded

# The 100 iterations of Libra are too few under the default priors of GSSL (decision 0007).
MAX_ITERATIONS = 200
# The library of NumPy cuts the products of shorter vectors into no parts. To limit its threads
# takes a millisecond, in which the weights of a few features are learned.
_LONG = 5000


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightFit:
    """The outcome of weight learning.

    Attributes
    ----------
    weight : float64 array of shape (n_features,)
        The weights.
    objective : float
        Penalised negative log-likelihood in nats, summed over examples.
    gap : float
        Upper bound on how far the objective is above its minimum, in nats; inf if unknown.
    stopped_by : str
        "gap", "decrease", "objective", "judge" or "iterations".
    n_iterations, n_evaluations : int
        Iterations, and evaluations of the likelihood, of all searches.
    seconds : float
        Processor seconds of learning.
    n_searches : int, optional
        Searches among a part of the features; None without screening.
    n_searched : int, optional
        Features in the last search.
    left_out : float, optional
        Part of the gap that is due to features that the last search left out, in nats.
    """

    weight: NDArray[np.float64]
    objective: float
    gap: float
    stopped_by: str
    n_iterations: int
    n_evaluations: int
    seconds: float
    n_searches: int | None = None
    n_searched: int | None = None
    left_out: float | None = None

    def summary(self) -> dict[str, float | int | str]:
        """Return everything but the weights, for records; -1 for an infinite bound."""
        screened = ("left_out", "n_searched", "n_searches")
        more = ("n_evaluations",) if self.n_searches is None else screened
        names = ("objective", "gap", "stopped_by", "n_iterations", *more)
        values = {name: getattr(self, name) for name in names}
        infinite = {name: -1.0 for name in ("gap", "left_out") if values.get(name) == np.inf}
        return {**values, **infinite}


def fit_weights(
    likelihood: Likelihood,
    penalty: Penalty,
    *,
    start: NDArray[np.float64] | None = None,
    max_iterations: int = MAX_ITERATIONS,
    stopping: Stopping = STANDARD,
    screen: bool = False,
    judge: Judge | None = None,
    scale: NDArray[np.float64] | None = None,
    memory: int = MEMORY,
) -> WeightFit:
    """Minimise -log L(w) + sum(w^2) / (2 sd^2) + l1 sum(|w|) over all weights w.

    Parameters
    ----------
    likelihood : Likelihood
        L, summed over examples; `Restrictable` with `screen`.
    penalty : Penalty
        The standard deviation sd and the L1 penalty l1.
    start : float64 array of shape (n_features,), optional
        Weights at which learning starts; zeros by default.
    max_iterations : int
        Iterations of all searches together.
    stopping : Stopping
        The rules that end learning before that. Under weak priors, where the gap is loose, it is
        the decrease of the objective that ends learning.
    screen : bool
        Search only among features that may not be 0; see `descend_screened`.
    judge : Judge, optional
        Ends learning that no longer helps on validation data; needs `screen`.
    scale, memory
        Without `screen`: factors between the weights and the variables of the optimisation,
        `preconditioner` by default; and the pairs of differences from which the curvature is
        estimated.
    """
    began = time.process_time()
    w = np.zeros(likelihood.n_features) if start is None else start
    if screen:
        part = cast(Restrictable, likelihood)
        with single_threaded():
            found = descend_screened(
                part, penalty, w, max_iterations, stopping=stopping, judge=judge
            )
        return WeightFit(**vars(found), seconds=time.process_time() - began)
    scale = preconditioner(likelihood, penalty) if scale is None else scale
    descent = Descent(likelihood, penalty, stopping, scale)
    with single_threaded() if len(w) >= _LONG else nullcontext():
        state = descent.run(w, max_iterations, memory=memory)
    return WeightFit(
        weight=descent.weight(state),
        objective=state.objective,
        gap=descent.gap(state),
        stopped_by=descent.stopped_by or "iterations",
        n_iterations=state.iteration,
        n_evaluations=state.n_evaluations,
        seconds=time.process_time() - began,
    )
