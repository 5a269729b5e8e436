"""One descent to the minimum of a penalised likelihood, and the rules that stop it.

The rules are the duality gap, which says how far the objective is above its minimum at most, and
validation data, on which further iterations may no longer help.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.owlqn import MEMORY, Progress, minimise
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
    """The negative log-likelihood of a feature set on a dataset, as a function of the weights.

    It is the pseudo-likelihood, or the likelihood where a circuit computes it, summed over
    examples, in nats.
    """

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def curvature(self) -> NDArray[np.float64]:
        """Diagonal of the Hessian at w = 0 or an estimate of it, shape (n_features,)."""

    @property
    def dual_value(self) -> Callable[[NDArray[np.float64], float], float] | None:
        """Function of w and a factor: the dual of the loss at the residuals of w times the factor.

        None where this is not implemented.
        """

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the negative log-likelihood of all examples and its gradient."""


class Restrictable(Likelihood, Protocol):
    """A likelihood of which some features can be taken alone."""

    def restrict(self, members: NDArray[np.bool_]) -> "Restrictable":
        """Return the likelihood of some of the features alone, in the same order."""


# Number of iterations between two questions to a judge.
PACE = 5


@dataclass(eq=False)
class Judge:
    """Scores of weights on validation data, and the score that they have to reach.

    score : function of weights, higher is better.
    bar : learning ends if it would not reach this score by its last iteration, at the pace of the
        last ten iterations (of the first five, when the judge is asked for the first time).
    at_start : the score of the weights at which learning starts. Learning ends if ten iterations
        made the score worse twice in a row, and the score is below this one. Further training
        would overfit (decision 0011).
    """

    score: Callable[[NDArray[np.float64]], float]
    bar: float
    at_start: float
    scores: list[float] = field(default_factory=list)

    def falls_behind(self, w: NDArray[np.float64], left: int) -> bool:
        """Score weights; return whether learning should end, with `left` iterations to go."""
        if not self.scores:
            self.scores.append(self.at_start)
        self.scores.append(self.score(w))
        recent = self.scores[-3:]
        last, before = recent[-1], recent[0]
        pace = max(last - before, 0.0) / (PACE * (len(recent) - 1))
        if last + left * pace < self.bar:
            return True
        worse = len(self.scores) > 4 and last < before < self.scores[-5]
        return worse and last < self.scores[0]


def gap_terms(
    penalty: Penalty, w: NDArray[np.float64], gradient: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the terms of the duality gap, one for each weight, in nats.

    Parameters
    ----------
    penalty : Penalty
        With or without a Gaussian prior.
    w, gradient : float64 arrays of shape (n_features,)
        The weights, and the gradient of the loss alone. A feature of weight 0 has the term 0
        unless the gradient pulls it harder than the L1 penalty holds.

    Notes
    -----
    The loss is a sum of logistic losses, whose residuals are a dual point. With a Gaussian prior
    every dual point is feasible, and the gap is the Fenchel-Young gap of the penalty. Without one
    a term is infinite where the gradient exceeds the L1 penalty.
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


def duality_gap(
    likelihood: Likelihood,
    penalty: Penalty,
    w: NDArray[np.float64],
    gradient: NDArray[np.float64],
    *,
    objective: float,
) -> float:
    """Return an upper bound on objective - minimum, in nats; inf without any penalty.

    Parameters
    ----------
    likelihood, penalty
        The loss and the penalty.
    w, gradient : float64 arrays of shape (n_features,)
        The weights, and the gradient of the loss alone.
    objective : float
        Penalised loss at `w`, in nats.

    Notes
    -----
    With the L1 penalty alone, the residuals are scaled until no feature is pulled harder than the
    penalty holds. This takes a pass over the data, which not every likelihood implements. Without
    this pass the gap is infinite unless the residuals themselves are feasible.
    """
    if penalty.sd is None and penalty.l1 > 0 and likelihood.dual_value is not None:
        strongest = float(np.abs(gradient).max(initial=0.0))
        feasible = min(1.0, penalty.l1 / strongest) if strongest else 1.0
        return objective - likelihood.dual_value(w, feasible)
    return float(gap_terms(penalty, w, gradient).sum())


Vector = NDArray[np.float64]

# Without a Gaussian prior the gap takes a pass over the data. It is therefore computed in one of
# this many iterations.
_GAP_PACE = 5


@dataclass(frozen=True)
class Stopping:
    """When weight learning is over.

    Attributes
    ----------
    tolerance : float
        Share of the objective. Learning stops when the objective fell by no more than this share
        over the last `window` iterations.
    window : int
        Number of iterations.
    gap : bool
        Whether learning also stops when the duality gap is at most this share.
    nats : float, optional
        Replaces `tolerance` times the objective.
    objective : float
        Learning stops as soon as the objective is at most this, in nats.
    """

    tolerance: float = 1e-4
    window: int = 10
    _: KW_ONLY
    gap: bool = True
    nats: float | None = None
    objective: float = -np.inf

    def allowed(self, objective: float) -> float:
        """Return the decrease and the gap that end learning, in nats."""
        return self.tolerance * abs(objective) if self.nats is None else self.nats


STANDARD = Stopping()
# The rule of Libra's program for weights: five iterations that gain less than a thousandth
# (lab note 0028).
REFERENCE = Stopping(1e-3, 5, gap=False)


@dataclass(eq=False)
class Descent:
    """The descent of one likelihood under one penalty, in scaled variables.

    scale : factors between the weights and the variables of the optimisation.
    falls_behind : asked every 5 iterations, given the weights and the number of iterations made;
        ends the descent if it says so.
    stopped_by : the rule that ended the descent; "" if the iterations ran out.
    """

    likelihood: Likelihood
    penalty: Penalty
    stopping: Stopping
    scale: Vector
    _: KW_ONLY
    falls_behind: Callable[[Vector, int], bool] | None = None
    stopped_by: str = ""
    _objectives: list[float] = field(default_factory=list)

    def run(
        self,
        start: Vector,
        max_iterations: int,
        *,
        memory: int = MEMORY,
        at_start: tuple[float, Vector] | None = None,
    ) -> Progress:
        """Descend; return the last state, in scaled variables.

        at_start : loss and gradient at `start`, if they are known.
        """
        precision, scale = self.penalty.precision, self.scale
        known = [] if at_start is None else [at_start]

        def smooth(u: Vector) -> tuple[float, Vector]:
            w = u * scale
            value, gradient = known.pop() if known else self.likelihood.value_and_gradient(w)
            return value + 0.5 * precision * float(w @ w), scale * (gradient + precision * w)

        state, finished = minimise(
            smooth,
            start / scale,
            self.penalty.l1 * scale,
            self._is_over,
            max_iterations=max_iterations,
            memory=memory,
        )
        if not finished and state.iteration < max_iterations:
            self.stopped_by = "decrease"  # Rounding leaves no step that lowers the objective.
        return state

    def weight(self, state: Progress) -> Vector:
        """Return the weights of a state."""
        return state.x * self.scale

    def gap(self, state: Progress) -> float:
        """Return the duality gap of a state, in nats."""
        w = self.weight(state)
        gradient = state.gradient / self.scale - self.penalty.precision * w  # of the loss alone
        return duality_gap(self.likelihood, self.penalty, w, gradient, objective=state.objective)

    def _is_over(self, state: Progress) -> bool:
        self._objectives.append(state.objective)
        n, window = state.iteration, self.stopping.window
        allowed = self.stopping.allowed(state.objective)
        if state.objective <= self.stopping.objective:
            self.stopped_by = "objective"
        elif self._looks_at_gap(n) and self.gap(state) <= allowed:
            self.stopped_by = "gap"
        elif n >= window and self._objectives[-1 - window] - state.objective <= allowed:
            self.stopped_by = "decrease"
        elif self.falls_behind is not None and n and n % PACE == 0:
            self.stopped_by = "judge" if self.falls_behind(self.weight(state), n) else ""
        return self.stopped_by != ""

    def _looks_at_gap(self, iteration: int) -> bool:
        if self.penalty.sd is None and self.likelihood.dual_value is not None:
            return self.stopping.gap and iteration % _GAP_PACE == 0
        return self.stopping.gap


def preconditioner(likelihood: Likelihood, penalty: Penalty) -> Vector:
    """Return the factors between weights and the variables of the optimisation.

    They are the fourth root of 1 / curvature at 0, which differs by orders of magnitude between
    features that hold often and rarely.
    """
    return np.asarray(np.maximum(likelihood.curvature + penalty.precision, 1e-12) ** -0.25)
