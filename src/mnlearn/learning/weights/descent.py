"""One descent to the minimum of a penalised likelihood, and the rules that stop it."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.owlqn import MEMORY, Progress, minimise
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.gap import duality_gap
from mnlearn.learning.weights.judge import PACE
from mnlearn.learning.weights.likelihood import Likelihood

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
