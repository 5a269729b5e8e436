"""Weights of a feature set by penalised likelihood.

Under an L1 penalty most weights are 0: only a part of the features is searched.
"""

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.sums import dot
from mnlearn.learning.owlqn import MEMORY, History, new_history, restrict_history
from mnlearn.learning.weights.descent import (
    CONVERGED,
    REFERENCE,
    STALLED,
    STANDARD,
    Descent,
    Judge,
    Likelihood,
    Penalty,
    Restrictable,
    Stopping,
    gap_terms,
    may_fall,
    penalty_terms,
    preconditioner,
)
from mnlearn.learning.weights.heavy_cells import HeavyCells

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightFit:
    """The outcome of weight learning; `objective`, `gap` and `may_fall` are in nats.

    gap : upper bound on how far the objective is above its minimum; inf if unknown.
    stopped_by : "gap", "decrease", "rounding", "objective", "behind" or "iterations".
    n_searches, n_searched, left_out : searches among a part of the features, features in the last
        one, and the part of the gap due to others; None without screening.
    """

    weight: NDArray[np.float64]
    objective: float
    gap: float
    stopped_by: str
    n_iterations: int
    n_evaluations: int
    may_fall: float
    seconds: float = 0.0
    n_searches: int | None = None
    n_searched: int | None = None
    left_out: float | None = None

    def summary(self) -> dict[str, float | int | str]:
        """Return everything but the weights, for records; -1 for an infinite bound."""
        screened = ("left_out", "n_searched", "n_searches")
        more = ("n_evaluations",) if self.n_searches is None else screened
        names = ("objective", "gap", "may_fall", "stopped_by", "n_iterations", *more)
        values = {name: getattr(self, name) for name in names}
        bounds = ("gap", "left_out", "may_fall")
        infinite = {name: -1.0 for name in bounds if values.get(name) == np.inf}
        return {**values, "converged": self.stopped_by in CONVERGED, **infinite}


# Iterations on a sample of the rows between two evaluations on all of them.
_SAMPLED = 100


@dataclass(frozen=True, eq=False)
class Sample:
    """The likelihood of a sample of the rows, and how many times as many examples all rows are."""

    likelihood: Restrictable
    factor: float

    def corrected(
        self, members: NDArray[np.bool_], w: Vector, value: float, gradient: Vector
    ) -> "_Corrected":
        """Return the likelihood of some features with a given value and gradient at weights `w`."""
        part = self.likelihood.restrict(members)
        of_sample, slope = part.value_and_gradient(w)
        slope = gradient - self.factor * slope
        constant = value - self.factor * of_sample - dot(slope, w)
        return _Corrected(part, self.factor, slope, constant)


@dataclass(frozen=True, eq=False)
class _Corrected:
    """The likelihood of a sample, times a factor, plus a linear function of the weights."""

    sample: Likelihood
    factor: float
    slope: Vector
    constant: float
    dual_value: ClassVar[None] = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.sample.n_features

    @property
    def curvature(self) -> Vector:
        """Diagonal of the Hessian at w = 0."""
        return self.factor * self.sample.curvature

    def value_and_gradient(self, w: Vector) -> tuple[float, Vector]:
        """Return the corrected negative log-likelihood and its gradient."""
        value, gradient = self.sample.value_and_gradient(w)
        linear = self.constant + dot(self.slope, w)
        return self.factor * value + linear, self.factor * gradient + self.slope


@dataclass(eq=False)
class _Search:
    """Searches among the features that may not be 0.

    A search moves the weights that are not 0 and those that the gradient of all features pulls
    harder than the L1 penalty holds. With a sample it goes down the likelihood of the sample,
    corrected by the gradient of all rows where it begins (Shamir, Srebro & Zhang 2014).

    previous : the objective at the start of the last search. before, objectives : the objective
        after each iteration; `objectives` has those of the last search and of those that it
        continues.
    """

    likelihood: Restrictable
    penalty: Penalty
    stopping: Stopping
    judge: Judge | None
    _: KW_ONLY
    weight: Vector
    sample: Sample | None = None
    cells: HeavyCells | None = None
    before_search: Vector = field(init=False)
    searched: NDArray[np.bool_] = field(init=False)
    before: list[float] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    history: History = field(default_factory=new_history)
    previous: float = np.inf
    stopped_by: str = ""
    n_searches: int = 0
    n_iterations: int = 0
    n_last_iterations: int = 0
    n_evaluations: int = 0

    def __post_init__(self) -> None:
        self.searched = np.zeros(self.likelihood.n_features, bool)

    def run(self, max_iterations: int) -> WeightFit:
        while True:
            self.n_evaluations += 1
            value, gradient = self.likelihood.value_and_gradient(self.weight)
            objective = value + penalty_terms(self.penalty, self.weight).sum()
            risen = objective - self.previous
            if self.sample is not None and risen > STALLED * self.stopping.allowed(objective):
                # The gradient at the start was that of all rows, so that a shorter step goes down.
                self.weight = 0.5 * (self.weight + self.before_search)
                continue
            terms = gap_terms(self.penalty, self.weight, gradient)
            left = max_iterations - self.n_iterations
            stopped_by = self._rule(objective, terms.sum()) or ("" if left > 0 else "iterations")
            if stopped_by:
                break
            self._descend(objective, value, gradient, left)
        return WeightFit(
            weight=self.weight,
            objective=float(objective),
            gap=float(terms.sum()),
            stopped_by=stopped_by,
            n_iterations=self.n_iterations,
            n_evaluations=self.n_evaluations,
            n_searches=self.n_searches,
            n_searched=int(self.searched.sum()),
            left_out=float(terms[~self.searched].sum()),
            may_fall=may_fall(self.before + self.objectives),
        )

    def _rule(self, objective: float, gap: float) -> str:
        """Return the rule that ends learning, by the objective and gap of all features; or ""."""
        allowed = self.stopping.allowed(objective)
        if self.stopping.gap and gap <= allowed:
            return "gap"
        if self.n_searches and self.n_last_iterations == 0:
            return "rounding"  # Only rounding keeps the gap of all from that of the search.
        # Other features may still be pulled hard enough.
        if self.stopped_by == "behind":
            return "behind"
        if self.sample is not None:
            return "decrease" if self.previous - objective <= STALLED * allowed else ""
        by_gap = self.stopped_by == "gap"
        fell = self.stopped_by and self.previous - objective > allowed
        return "" if by_gap or fell else self.stopped_by

    def _descend(self, objective: float, value: float, gradient: Vector, left: int) -> None:
        """Search among the features that may not be 0, in at most `left` iterations."""
        if self.stopped_by or not self.n_searches or self.sample is not None:
            self.before += self.objectives
            self.objectives, self.previous = [], objective
        searched = (self.weight != 0) | (np.abs(gradient) > self.penalty.l1)
        self.history = restrict_history(self.history, self.searched, searched)
        self.searched = searched
        weight, pull = self.weight[searched], gradient[searched]
        self.before_search = self.weight.copy()
        part: Likelihood
        if self.sample is None:
            part = self.likelihood.restrict(searched)
        else:
            part = self.sample.corrected(searched, weight, value, pull)
            left = min(left, _SAMPLED)
        scale = preconditioner(part, self.penalty)
        descent = Descent(
            part,
            self.penalty,
            self.stopping,
            scale,
            objectives=self.objectives,
            falls_behind=None if self.judge is None else self._ask,
            may_shrink=self.penalty.l1 > 0,
            cells=None if self.cells is None else self.cells.restrict(searched),
            before=self.n_iterations,
        )
        at_start = value, pull
        state = descent.run(weight, left, history=self.history, at_start=at_start)
        self.weight[searched], self.stopped_by = descent.weight(state), descent.stopped_by
        self.n_last_iterations = state.iteration
        self.n_iterations += state.iteration
        self.n_evaluations += state.n_evaluations - 1
        self.n_searches += 1

    def _ask(self, weight: Callable[[], Vector]) -> bool:
        """Ask the judge about the weights of the features searched, with all others 0."""

        def of_all() -> Vector:
            whole = np.zeros(len(self.searched))
            whole[self.searched] = weight()
            return whole

        return self.judge is not None and self.judge.falls_behind(
            of_all, self.before + self.objectives
        )


# Under weak priors some thousand iterations are needed (decision 0007).
MAX_ITERATIONS = 10_000


def fit_as_libra(
    likelihood: Likelihood, penalty: Penalty, start: Vector | None, max_iterations: int
) -> WeightFit:
    """Learn weights as Libra's program does: by its rule, without scaling, with seven pairs."""
    return fit_weights(
        likelihood, penalty, start=start, max_iterations=max_iterations, stopping=REFERENCE,
        scale=np.ones(likelihood.n_features), memory=7,
    )  # fmt: skip


def fit_weights(
    likelihood: Likelihood,
    penalty: Penalty,
    *,
    start: NDArray[np.float64] | None = None,
    max_iterations: int = MAX_ITERATIONS,
    stopping: Stopping = STANDARD,
    screen: bool = False,
    judge: Judge | None = None,
    sample: Sample | None = None,
    cells: HeavyCells | None = None,
    scale: NDArray[np.float64] | None = None,
    memory: int = MEMORY,
) -> WeightFit:
    """Minimise -log L(w) + sum(w^2) / (2 sd^2) + l1 sum(|w|) over all weights w, from `start` or 0.

    With `screen` only features that may not be 0 are searched, a judge may end learning, and most
    iterations look at a sample of the rows if there is one; without, `scale` has factors between
    weights and variables, `memory` the pairs that estimate the curvature. The Hessian of `cells`,
    if there are any, shortens long descents.
    """
    began = time.process_time()
    w = np.zeros(likelihood.n_features) if start is None else start
    if screen:
        search = _Search(
            cast(Restrictable, likelihood),
            penalty,
            stopping,
            judge,
            weight=w.copy(),
            sample=sample,
            cells=cells,
        )
        fit = search.run(max_iterations)
        return replace(fit, seconds=time.process_time() - began)
    scale = preconditioner(likelihood, penalty) if scale is None else scale
    descent = Descent(likelihood, penalty, stopping, scale, cells=cells)
    state = descent.run(w, max_iterations, history=new_history(memory))
    return WeightFit(
        weight=descent.weight(state),
        objective=state.objective,
        gap=descent.gap(state),
        stopped_by=descent.stopped_by or "iterations",
        n_iterations=state.iteration,
        n_evaluations=state.n_evaluations,
        may_fall=may_fall(descent.objectives),
        seconds=time.process_time() - began,
    )
