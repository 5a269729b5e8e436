"""One descent to the minimum of a penalised likelihood, and the rules that stop it."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.sums import dot
from mnlearn.learning.owlqn import History, Product, Progress, minimise
from mnlearn.learning.weights.heavy_cells import HeavyCells
from mnlearn.runtime.errors import InputError


@dataclass(frozen=True)
class Penalty:
    """Gaussian prior of standard deviation `sd` and L1 penalty `l1`; either may be absent."""

    sd: float | None = None
    l1: float = 0.0

    def __post_init__(self) -> None:
        if self.sd is not None and not self.sd > 0:
            raise InputError(f"sd: expected a positive number, got {self.sd}.")
        if not 0 <= self.l1 < np.inf:
            raise InputError(f"l1: expected a number of at least 0, got {self.l1}.")

    @property
    def precision(self) -> float:
        """1 / sd^2, or 0 without a Gaussian prior."""
        return 0.0 if self.sd is None else self.sd**-2


class Likelihood(Protocol):
    """The negative log-likelihood, in nats, of a feature set on a dataset by its weights.

    It is the pseudo-likelihood, or the likelihood where a circuit computes it, summed over
    examples.
    """

    @property
    def n_features(self) -> int: ...

    @property
    def curvature(self) -> NDArray[np.float64]:
        """Diagonal of the Hessian at w = 0 or an estimate of it, shape (n_features,)."""

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]: ...


class Restrictable(Likelihood, Protocol):
    """A likelihood of which some features can be taken alone."""

    def restrict(self, members: NDArray[np.bool_]) -> "Restrictable":
        """Return the likelihood of some of the features alone, in the same order."""


def gap_terms(
    penalty: Penalty, w: NDArray[np.float64], gradient: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the terms of the duality gap, one for each weight, in nats; inf without any penalty.

    The residuals of the logistic losses are a dual point. With a Gaussian prior every dual point is
    feasible, and the gap is the Fenchel-Young gap of the penalty; without one a term is infinite
    where the gradient of the loss exceeds the L1 penalty.
    """
    excess = np.maximum(np.abs(gradient) - penalty.l1, 0.0)
    if penalty.sd is None:
        conjugate = np.where(excess > 0, np.inf, 0.0)
    else:
        conjugate = 0.5 * penalty.sd**2 * excess**2
    return penalty_terms(penalty, w) + conjugate + w * gradient


def penalty_terms(penalty: Penalty, w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the penalty of each weight, in nats."""
    return 0.5 * penalty.precision * w**2 + penalty.l1 * np.abs(w)


Vector = NDArray[np.float64]

# A search that has made so many iterations, and in which so small a share of the weights is not 0,
# goes on among fewer features.
_SHRINK_AFTER, _SHRINK_BELOW = 50, 0.8
# After so many iterations an estimate of the Hessian is worth its making (lab note 0053).
FIRST_ESTIMATE = 100
# Fewer iterations than this say little about those that follow.
_SHORTEST = 25
# Half of the iterations made may gain this share of the tolerance: those to come gain more than one
# more half, and equal objectives can have other scores on other data.
STALLED = 0.2


@dataclass(frozen=True)
class Stopping:
    """When weight learning is over: the objective fell too little over `window` iterations.

    tolerance : share of the objective, or `nats` in place of it.
    window : by default half of the iterations made, and at least 25, which may gain a fifth of this
        share, so that a minimisation that becomes slower is not taken for one that is over.
    gap : whether a duality gap of at most this share ends learning, too.
    objective : learning stops as soon as the objective is at most this, in nats.
    """

    tolerance: float = 1e-4
    window: int | None = 10
    _: KW_ONLY
    gap: bool = True
    nats: float | None = None
    objective: float = -np.inf

    def allowed(self, objective: float) -> float:
        """Return the decrease and the gap that end learning, in nats."""
        return self.tolerance * abs(objective) if self.nats is None else self.nats

    def stalled(self, objectives: Sequence[float]) -> bool:
        """Tell whether the last iterations gained too little."""
        made, allowed = len(objectives) - 1, self.allowed(objectives[-1])
        window = self.window
        if window is None:
            window, allowed = max(_SHORTEST, made // 2), STALLED * allowed
        return made >= window and objectives[-1 - window] - objectives[-1] <= allowed


def may_fall(objectives: Sequence[float]) -> float:
    """Estimate how far an objective may still fall, in nats: twice what the last half gained."""
    return 2.0 * (objectives[(len(objectives) - 1) // 2] - objectives[-1]) if objectives else np.inf


@dataclass(eq=False)
class Judge:
    """Ends the learning of weights that cannot become the best of a grid.

    They cannot if their score would be below `bar` even if it gained as much, per example, as the
    objective may still fall. The judge is asked at `next` iterations, which doubles each time.
    """

    score: Callable[[Vector], float]
    bar: float
    n_examples: float
    next: int = _SHORTEST

    def falls_behind(self, weight: Callable[[], Vector], objectives: Sequence[float]) -> bool:
        """Tell whether learning should end."""
        if len(objectives) <= self.next:
            return False
        self.next *= 2
        return self.score(weight()) + may_fall(objectives) / self.n_examples < self.bar


# The weights of models are learned until the objective is within 1e-5 of its minimum.
STANDARD = Stopping(1e-5, window=None)
# What searches for features take as too little.
QUICK = Stopping()
# The rule of Libra's program for weights: five iterations that gain less than a thousandth
# (lab note 0028).
REFERENCE = Stopping(1e-3, 5, gap=False)
# The rules that say that weights are at their optimum, to the tolerance.
CONVERGED = ("gap", "decrease", "rounding")


@dataclass(eq=False)
class Descent:
    """The descent of one likelihood under one penalty, in scaled variables.

    objectives : before the first iteration, and after each; also those of a descent that it
        continues.
    may_shrink : ends the descent, by no rule, once many of the features have the weight 0.
    cells : those whose Hessian helps a long descent. before : iterations of earlier descents.
    stopped_by : the rule that ended the descent; "" if the iterations ran out.
    """

    likelihood: Likelihood
    penalty: Penalty
    stopping: Stopping
    scale: Vector
    _: KW_ONLY
    objectives: list[float] = field(default_factory=list)
    falls_behind: Callable[[Callable[[], Vector]], bool] | None = None
    may_shrink: bool = False
    cells: HeavyCells | None = None
    before: int = 0
    stopped_by: str = ""
    shrinks: bool = False
    _made: int = 0
    _product: Product | None = None

    def run(
        self,
        start: Vector,
        max_iterations: int,
        *,
        history: History | None = None,
        at_start: tuple[float, Vector] | None = None,
    ) -> Progress:
        """Descend; return the last state, in scaled variables. `at_start` may be known."""
        precision, scale = self.penalty.precision, self.scale
        known = [] if at_start is None else [at_start]

        def smooth(u: Vector) -> tuple[float, Vector]:
            w = u * scale
            value, gradient = known.pop() if known else self.likelihood.value_and_gradient(w)
            return value + 0.5 * precision * dot(w, w), scale * (gradient + precision * w)

        state, finished = minimise(
            smooth,
            start / scale,
            self.penalty.l1 * scale,
            self._is_over,
            max_iterations=max_iterations,
            history=history,
            estimate=self._estimate,
        )
        if not finished and state.iteration < max_iterations:
            self.stopped_by = "rounding"  # No step lowers the objective.
        return state

    def _estimate(self, state: Progress) -> Product | None:
        """Return `HeavyCells.inverse_hessian`, made anew when the iterations have doubled."""
        made = self.before + state.iteration
        if self.cells is None or made < FIRST_ESTIMATE or (self._made and made < 2 * self._made):
            return self._product
        self._made, self._product, w = made, None, self.weight(state)
        if self.cells.may_help(w):
            precision, scale = self.penalty.precision, self.scale
            product = self.cells.inverse_hessian(w, self.likelihood.curvature, precision)
            self._product = lambda x: product(x / scale) / scale
        return self._product

    def weight(self, state: Progress) -> Vector:
        return state.x * self.scale

    def gap(self, state: Progress) -> float:
        """Return the duality gap of a state, in nats."""
        w = self.weight(state)
        gradient = state.gradient / self.scale - self.penalty.precision * w  # of the loss alone
        return float(gap_terms(self.penalty, w, gradient).sum())

    def _is_over(self, state: Progress) -> bool:
        if state.iteration or not self.objectives:
            self.objectives.append(state.objective)
        allowed = self.stopping.allowed(state.objective)
        if state.objective <= self.stopping.objective:
            self.stopped_by = "objective"
        elif self.stopping.gap and self.gap(state) <= allowed:
            self.stopped_by = "gap"
        elif self.stopping.stalled(self.objectives):
            self.stopped_by = "decrease"
        elif self.falls_behind and self.falls_behind(lambda: self.weight(state)):
            self.stopped_by = "behind"
        elif self.may_shrink and state.iteration >= _SHRINK_AFTER:
            self.shrinks = bool(np.count_nonzero(state.x) < _SHRINK_BELOW * len(state.x))
        return self.shrinks or self.stopped_by != ""


def preconditioner(likelihood: Likelihood, penalty: Penalty) -> Vector:
    """Return the scale of the optimisation: 1 / curvature^(1/4) at w = 0."""
    return np.asarray(np.maximum(likelihood.curvature + penalty.precision, 1e-12) ** -0.25)
