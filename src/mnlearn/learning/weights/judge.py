"""Ends weight learning that no longer helps on validation data."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

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
