"""Features by greedy conjunction of two features (Della Pietra, Della Pietra & Lafferty 1997)."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.ties import EQUAL_AT_WEIGHTS
from mnlearn.learning.features.literals import mask_features
from mnlearn.learning.features.pair_gains import Gains, PairCandidates
from mnlearn.learning.shares import Pace
from mnlearn.models.features import FeatureSet, canonicalise
from mnlearn.runtime.progress import pulse

# Candidates that are scored together where only the best is wanted.
_BATCH = 32


@dataclass(eq=False)
class InductionSearch:
    """Adds the best conjunction of two features again and again; learns all weights after each.

    With `quick` only new candidates and those that come up as the best are scored; where none of
    them gains enough, all are scored. What such a pass finds is scored once more before it is
    taken: where expectations are sampled, the best of many gains is too high.
    """

    pool: PairCandidates
    gains: Gains
    min_gain: float
    quick: bool = True
    max_features: float = np.inf
    gained: list[float] = field(default_factory=list)
    n_scored: int = 0

    def begin(self) -> None:
        """Learn the weights of the atomic features."""
        start = np.zeros(len(self.pool.features))
        known = self.gains.weight
        start[: len(known)] = known
        self.gains.refit(self.pool, start)

    def run(self, deadline: float = np.inf, keep: Callable[[], None] = lambda: None) -> str:
        """Add features until the search is over; return what ended it: gain, features or time."""
        pace = Pace()
        while True:
            if len(self.gained) >= self.max_features:
                return "features"
            if time.process_time() > deadline:
                return "time"
            if pace.is_due():
                keep()
            if not self._add_best():
                return "gain"
            pulse(f"{len(self.gained)} features added, last gain {self.gained[-1]:.4g}")

    def features(self) -> FeatureSet:
        """Return the atomic features and those added, in canonical order."""
        return canonicalise(mask_features(self.pool.features, self.pool.data.n_columns))[0]

    def _add_best(self) -> bool:
        best = self._best()
        if best is None:
            return False
        chosen = np.array([best])
        weight, gain = self.gains.score(self.pool, chosen)
        self.pool.add(chosen)
        self.gained.append(float(gain[0]))
        self.gains.refit(self.pool, np.append(self.gains.weight, weight))
        return True

    def _best(self) -> int | None:
        """Return the candidate of the greatest gain, None if no gain is great enough."""
        fresh = self._score(np.isposinf(self.pool.key))
        if self.quick:
            best = self._first(fresh)
            if best is not None:
                return best
        self._score(~fresh & (self.pool.key > -np.inf))
        if not self.quick:
            return self._first(np.ones(len(self.pool), bool))
        self.gains.refresh(self.pool)
        return self._first(np.zeros(len(self.pool), bool))

    def _first(self, fresh: NDArray[np.bool_]) -> int | None:
        """Return the candidate that is the best once its gain is computed with these weights.

        `fresh` marks whose gains are of these weights.
        """
        key = self.pool.key
        if not len(key):
            return None
        least = max(self.min_gain, self.gains.least)
        tolerance = EQUAL_AT_WEIGHTS * self.pool.data.n_examples
        while True:
            near = key >= key.max() - tolerance
            best = int(np.argmax(near))
            if key[best] <= least:
                return None
            if fresh[near].all():
                return best
            bar = max(least, float(key[fresh].max(initial=-np.inf))) - tolerance
            ahead = np.flatnonzero(~fresh & (key >= bar))
            order = np.argsort(-np.rint(key[ahead] / tolerance), kind="stable")
            batch = np.zeros(len(key), bool)
            batch[ahead[order[:_BATCH]]] = True
            fresh |= self._score(batch)

    def _score(self, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Compute the gains of some candidates, a mask; return the mask."""
        chosen = np.flatnonzero(asked)
        self.pool.key[chosen] = self.gains.score(self.pool, chosen)[1]
        self.n_scored += len(chosen)
        return asked

    def state(self) -> dict[str, NDArray]:
        return {
            **{f"gains_{name}": array for name, array in self.gains.state().items()},
            "features": self.pool.features,
            "key": self.pool.key,
            "gained": np.array(self.gained),
            "n_scored": np.array(self.n_scored),
        }

    def restore(self, state: Mapping[str, NDArray]) -> None:
        self.pool.restore(state["features"])
        self.pool.key = state["key"].copy()
        self.gained = state["gained"].tolist()
        self.n_scored = int(state["n_scored"])
        prefix = "gains_"
        parts = {n[len(prefix) :]: a for n, a in state.items() if n.startswith(prefix)}
        self.gains.restore(self.pool, parts)
