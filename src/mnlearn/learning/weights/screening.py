"""Which features weight learning searches when most weights are 0 under an L1 penalty."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import Descent, Stopping, preconditioner
from mnlearn.learning.weights.gap import gap_terms, penalty_terms
from mnlearn.learning.weights.judge import Judge
from mnlearn.learning.weights.likelihood import Restrictable

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Screened:
    """The outcome of `descend_screened`; the fields are those of `WeightFit`."""

    weight: Vector
    objective: float
    gap: float
    stopped_by: str
    n_iterations: int
    n_evaluations: int
    n_searches: int
    n_searched: int
    left_out: float


def descend_screened(
    likelihood: Restrictable,
    penalty: Penalty,
    start: Vector,
    max_iterations: int,
    stopping: Stopping,
    judge: Judge | None,
) -> Screened:
    """Minimise the penalised likelihood by searches among the features that may not be 0.

    A search moves only the weights that are not 0 and those that the gradient pulls harder than
    the L1 penalty holds. After each search the gradient of all features is computed. This gradient
    bounds what leaving features out can cost, and says which features to add to the next search.
    Learning is over when one of these conditions holds:

    - The duality gap over all features is small enough.
    - A search stopped because the objective fell too little. This search began with all features
      that were pulled hard enough, and as a whole lowered the objective too little.
    - All searches together made `max_iterations` iterations.
    - The judge says so.
    """
    w = start.copy()
    searched = np.zeros(likelihood.n_features, bool)
    n_searches = n_iterations = n_evaluations = n = 0
    previous, stopped_by = np.inf, ""
    while True:
        value, gradient = likelihood.value_and_gradient(w)
        n_evaluations += 1
        objective = value + penalty_terms(penalty, w).sum()
        terms = gap_terms(penalty, w, gradient)
        allowed = stopping.allowed(objective)
        if stopping.gap and terms.sum() <= allowed:
            stopped_by = "gap"
        elif n_searches and n == 0:
            stopped_by = "decrease"  # Only rounding keeps the gap of all from that of the search.
        elif stopped_by == "gap" or (stopped_by == "decrease" and previous - objective > allowed):
            stopped_by = ""
        if n_iterations >= max_iterations:
            stopped_by = stopped_by or "iterations"
        if stopped_by:
            break
        previous = objective
        searched = (w != 0) | (np.abs(gradient) > penalty.l1)
        part = likelihood.restricted(searched)
        left = max_iterations - n_iterations
        asked = None if judge is None else partial(_ask, judge, searched, left)
        descent = Descent(part, penalty, stopping, preconditioner(part, penalty), asked)
        state = descent.run(w[searched], left, at_start=(value, gradient[searched]))
        w[searched], stopped_by = descent.weight(state), descent.stopped_by
        n = state.iteration
        n_iterations += n
        n_evaluations += state.n_evaluations - 1
        n_searches += 1
    return Screened(
        weight=w,
        objective=float(objective),
        gap=float(terms.sum()),
        stopped_by=stopped_by,
        n_iterations=n_iterations,
        n_evaluations=n_evaluations,
        n_searches=n_searches,
        n_searched=int(searched.sum()),
        left_out=float(terms[~searched].sum()),
    )


def _ask(judge: Judge, searched: NDArray[np.bool_], left: int, weight: Vector, n: int) -> bool:
    """Ask a judge about the weights of some features, with all others 0."""
    whole = np.zeros(len(searched))
    whole[searched] = weight
    return judge.falls_behind(whole, left - n)
