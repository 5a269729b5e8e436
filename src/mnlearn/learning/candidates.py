"""The points of a grid that were learned, and the choice among them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mnlearn.learning.learner import Fitted


@dataclass(frozen=True, eq=False)
class Candidate:
    """One grid point; `rank` is its place in the order of learning. The score may be NaN."""

    parameters: dict[str, Any]
    fitted: Fitted
    score: float
    rank: int

    @property
    def is_open(self) -> bool:
        """Whether more iterations of weight learning are needed, and allowed."""
        ended = self.fitted.details.get("stopped_by")
        return ended in ("iterations", "behind") and self.left > 0

    @property
    def left(self) -> float:
        """Iterations of weight learning that its hyperparameters allow beyond those made."""
        most = self.parameters.get("max_iterations", math.inf)
        return float(most - self.fitted.details["n_iterations"])

    def can_reach(self, n_examples: float) -> float:
        """Estimate the score at the optimum, at most: it gains no more than the objective falls."""
        may_fall = self.fitted.details["may_fall"]
        return math.inf if may_fall < 0 else self.score + may_fall / n_examples


# Scores of grid points that differ by less than this, in nats per example, are equal: learned
# weights are not more exact, and sums of counts round far below the smaller one.
EQUAL_WEIGHTS, EQUAL_COUNTS = 1e-4, 1e-9


def best_of(candidates: Sequence[Candidate], equal: float) -> Candidate:
    """Return the candidate of the best score; of equals, the one that is learned first.

    It has the stronger prior, or the smaller of two sets of features.
    """
    highest = max(candidates, key=lambda one: one.score).score
    # Without a criterion there is one candidate, and its score is not a number.
    equals = [one for one in candidates if not one.score < highest - equal]
    return min(equals, key=lambda one: one.rank)


def join(before: Fitted, after: Fitted) -> Fitted:
    """Return the result of going on, with the seconds and iterations of both parts."""
    details = dict(after.details)
    for name in ("n_iterations", "n_evaluations", "n_searches"):
        if name in details:
            details[name] += before.details[name]
    seconds = dict(after.seconds)
    seconds["weights"] += before.seconds["weights"]
    return replace(after, seconds=seconds, details=details)


def best_variants(
    names: Sequence[str], candidates: Sequence[Candidate], equal: float
) -> dict[str, Candidate]:
    """Return the best candidate of each combination of values of hyperparameters; none without."""
    variants: dict[str, list[Candidate]] = {}
    for candidate in candidates if names else ():
        name = "-".join(str(candidate.parameters[key]) for key in names)
        variants.setdefault(name, []).append(candidate)
    return {name: best_of(members, equal) for name, members in variants.items()}
