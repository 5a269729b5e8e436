"""Which features weight learning searches when most weights are 0 under an L1 penalty."""

from dataclasses import KW_ONLY, dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import Descent, Stopping, preconditioner
from mnlearn.learning.weights.gap import gap_terms, penalty_terms
from mnlearn.learning.weights.judge import Judge
from mnlearn.learning.weights.likelihood import Restrictable

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
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
    *,
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
    search = _Search(likelihood, penalty, stopping, judge, weight=start.copy())
    while True:
        value, gradient = search.evaluate()
        objective = value + penalty_terms(penalty, search.weight).sum()
        terms = gap_terms(penalty, search.weight, gradient)
        left = max_iterations - search.n_iterations
        stopped_by = search.rule(objective, terms.sum()) or ("" if left > 0 else "iterations")
        if stopped_by:
            break
        search.descend(objective, value, gradient, left)
    return Screened(
        weight=search.weight,
        objective=float(objective),
        gap=float(terms.sum()),
        stopped_by=stopped_by,
        n_iterations=search.n_iterations,
        n_evaluations=search.n_evaluations,
        n_searches=search.n_searches,
        n_searched=int(search.searched.sum()),
        left_out=float(terms[~search.searched].sum()),
    )


@dataclass(eq=False)
class _Search:
    """The searches made so far; previous : the objective at the start of the last search."""

    likelihood: Restrictable
    penalty: Penalty
    stopping: Stopping
    judge: Judge | None
    _: KW_ONLY
    weight: Vector
    searched: NDArray[np.bool_] = field(init=False)
    previous: float = np.inf
    stopped_by: str = ""
    n_searches: int = 0
    n_iterations: int = 0
    n_last_iterations: int = 0
    n_evaluations: int = 0

    def __post_init__(self) -> None:
        self.searched = np.zeros(self.likelihood.n_features, bool)

    def evaluate(self) -> tuple[float, Vector]:
        """Return the loss and its gradient over all features."""
        self.n_evaluations += 1
        return self.likelihood.value_and_gradient(self.weight)

    def rule(self, objective: float, gap: float) -> str:
        """Return the rule that ends learning, by the objective and gap of all features; or ""."""
        allowed = self.stopping.allowed(objective)
        if self.stopping.gap and gap <= allowed:
            return "gap"
        if self.n_searches and self.n_last_iterations == 0:
            return "decrease"  # Only rounding keeps the gap of all from that of the search.
        # Other features may still be pulled hard enough.
        by_gap = self.stopped_by == "gap"
        fell = self.stopped_by == "decrease" and self.previous - objective > allowed
        return "" if by_gap or fell else self.stopped_by

    def descend(self, objective: float, value: float, gradient: Vector, left: int) -> None:
        """Search among the features that may not be 0, in at most `left` iterations."""
        self.previous = objective
        searched = self.searched = (self.weight != 0) | (np.abs(gradient) > self.penalty.l1)
        part = self.likelihood.restrict(searched)
        asked = None if self.judge is None else partial(self._ask, self.judge, left)
        scale = preconditioner(part, self.penalty)
        descent = Descent(part, self.penalty, self.stopping, scale, falls_behind=asked)
        at_start = value, gradient[searched]
        state = descent.run(self.weight[searched], left, at_start=at_start)
        self.weight[searched], self.stopped_by = descent.weight(state), descent.stopped_by
        self.n_last_iterations = state.iteration
        self.n_iterations += state.iteration
        self.n_evaluations += state.n_evaluations - 1
        self.n_searches += 1

    def _ask(self, judge: Judge, left: int, weight: Vector, n: int) -> bool:
        """Ask the judge about the weights of the features searched, with all others 0."""
        whole = np.zeros(len(self.searched))
        whole[self.searched] = weight
        return judge.falls_behind(whole, left - n)
