"""Weights of very many features under an L1 penalty: searches among those that may not be 0."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.owlqn import Progress, minimise
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import MAX_ITERATIONS, TOLERANCE, WINDOW
from mnlearn.learning.weights.rewritten_likelihood import Likelihood

Vector = NDArray[np.float64]
Judge = Callable[[Vector], float]
# A judge is asked every so many iterations.
_PACE = 5


@dataclass(frozen=True, eq=False)
class ScreenedWeights:
    """The outcome of `learn_screened_weights`.

    weight : float64, shape (n_features,).
    objective : penalised negative log-pseudo-likelihood, nats, summed over examples.
    gap : upper bound on how far the objective is above its minimum over all features, nats; inf
        without a Gaussian prior.
    left_out : part of that bound which is due to features that the last search left out.
    n_searched : features in the last search.
    stopped_by : "gap", "decrease", "iterations" or "judge"; see `learn_screened_weights`.
    """

    weight: Vector
    objective: float
    gap: float
    left_out: float
    n_searched: int
    n_searches: int
    n_iterations: int
    stopped_by: str
    seconds: float

    def summary(self) -> dict[str, float | int | str]:
        """Return everything but the weights, for records; -1 for an infinite bound."""
        names = ("objective", "gap", "left_out", "n_searched", "n_searches", "n_iterations")
        values = {name: getattr(self, name) for name in names}
        for name in ("gap", "left_out"):
            values[name] = values[name] if np.isfinite(values[name]) else -1.0
        return {**values, "stopped_by": self.stopped_by}


def learn_screened_weights(
    likelihood: Likelihood,
    penalty: Penalty,
    initial: Vector | None = None,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = TOLERANCE,
    judge: Judge | None = None,
    bar: float = -np.inf,
) -> ScreenedWeights:
    """Minimise -log PL(w) + sum(w^2) / (2 sd^2) + l1 sum(|w|) over all weights.

    A search moves only the weights that are not 0 and those that the gradient pulls harder than
    the L1 penalty holds. After it the gradient of all features is looked at again: this bounds
    what leaving features out can cost, and says which to add to the next search. It is over when
    the duality gap over all features is at most `tolerance` times the objective, when a search
    of at least 10 iterations, begun with all features that were pulled hard enough, gained less
    than that share (see `learn_weights`, whose rules these are), or after `max_iterations` in
    all searches together.

    judge : score of weights, higher is better. It is asked every 5 iterations, and learning ends
        if twice in a row ten iterations made it worse, and worse than at `initial`: what is learned
        further on fits the training data only.
    bar : score that has to be reached. Learning ends too if it would not be by the last iteration
        allowed, if all that are left raised the score as much as those of the last ten (of the
        first five, when the judge is asked for the first time).
    """
    began = time.perf_counter()
    w = np.zeros(likelihood.n_features) if initial is None else initial.copy()
    searched = np.zeros(likelihood.n_features, bool)
    n_searches = n_iterations = n = 0
    previous, stopped_by = np.inf, ""
    verdict = None if judge is None else Verdict(judge, bar, [judge(w)])
    while True:
        value, gradient = likelihood.value_and_gradient(w)
        objective = value + _penalty_terms(penalty, w).sum()
        terms = gap_terms(penalty, w, gradient)
        allowed = tolerance * abs(objective)
        if terms.sum() <= allowed:
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

        def falls_behind(
            weight: Vector, n_made: int, left: int = left, searched: NDArray[np.bool_] = searched
        ) -> bool:
            whole = np.zeros(len(searched))
            whole[searched] = weight
            return verdict is not None and verdict.falls_behind(whole, left - n_made)

        w[searched], n, stopped_by = _search(
            part, penalty, w[searched], (value, gradient[searched]), left, tolerance, falls_behind
        )
        n_iterations += n
        n_searches += 1
    return ScreenedWeights(
        weight=w,
        objective=float(objective),
        gap=float(terms.sum()),
        left_out=float(terms[~searched].sum()),
        n_searched=int(searched.sum()),
        n_searches=n_searches,
        n_iterations=n_iterations,
        stopped_by=stopped_by,
        seconds=time.perf_counter() - began,
    )


@dataclass(frozen=True)
class Verdict:
    """What a judge has said so far, first of the weights at which learning began."""

    judge: Judge
    bar: float
    scores: list[float]

    def falls_behind(self, w: Vector, left: int) -> bool:
        """Ask the judge; return whether learning should end, with `left` iterations to go."""
        self.scores.append(self.judge(w))
        recent = self.scores[-3:]
        last, before = recent[-1], recent[0]
        pace = max(last - before, 0.0) / (_PACE * (len(recent) - 1))
        if last + left * pace < self.bar:
            return True
        worse = len(self.scores) > 4 and last < before < self.scores[-5]
        return worse and last < self.scores[0]


def _penalty_terms(penalty: Penalty, w: Vector) -> Vector:
    return 0.5 * penalty.precision * w**2 + penalty.l1 * np.abs(w)


def gap_terms(penalty: Penalty, w: Vector, gradient: Vector) -> Vector:
    """Return the terms of the duality gap, one for each weight; see `duality_gap`.

    gradient : of the loss alone. A feature of weight 0 has the term 0 unless it is pulled harder
    than the L1 penalty holds.
    """
    excess = np.maximum(np.abs(gradient) - penalty.l1, 0.0)
    if penalty.sd is None:
        conjugate = np.where(excess > 0, np.inf, 0.0)
    else:
        conjugate = 0.5 * penalty.sd**2 * excess**2
    return _penalty_terms(penalty, w) + conjugate + w * gradient


def _search(
    likelihood: Likelihood,
    penalty: Penalty,
    start: Vector,
    at_start: tuple[float, Vector],
    max_iterations: int,
    tolerance: float,
    falls_behind: Callable[[Vector, int], bool],
) -> tuple[Vector, int, str]:
    """Return the weights found, the iterations made, and what stopped them.

    at_start : the loss at `start` and its gradient.
    """
    precision = penalty.precision
    # As `learning.weights.descent.preconditioner`.
    scale = np.maximum(likelihood.curvature + precision, 1e-12) ** -0.25

    known = [at_start]  # of the first evaluation

    def smooth(u: Vector) -> tuple[float, Vector]:
        w = u * scale
        value, gradient = known.pop() if known else likelihood.value_and_gradient(w)
        return value + 0.5 * precision * float(w @ w), scale * (gradient + precision * w)

    objectives: list[float] = []
    stopped_by = ""

    def done(state: Progress) -> bool:
        nonlocal stopped_by
        objectives.append(state.objective)
        allowed = tolerance * abs(state.objective)
        w = state.x * scale
        if gap_terms(penalty, w, state.gradient / scale - precision * w).sum() <= allowed:
            stopped_by = "gap"
        elif state.iteration >= WINDOW and objectives[-1 - WINDOW] - objectives[-1] <= allowed:
            stopped_by = "decrease"
        elif state.iteration and state.iteration % _PACE == 0 and falls_behind(w, state.iteration):
            stopped_by = "judge"
        return stopped_by != ""

    state, finished = minimise(smooth, start / scale, penalty.l1 * scale, done, max_iterations)
    if not finished and state.iteration < max_iterations:
        stopped_by = "decrease"  # Rounding leaves no step that gains anything.
    return state.x * scale, state.iteration, stopped_by
