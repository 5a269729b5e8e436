"""Gains in likelihood of the conjunctions of two features, with expectations by Gibbs sampling."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import pack_columns
from mnlearn.inference.sampling import advance_chains
from mnlearn.learning.features.pair_gains import (
    Gains,
    PairCandidates,
    StateLikelihood,
    likelihood_gains,
    mask_network,
    rows_of,
    weigh,
)
from mnlearn.learning.weights.descent import Penalty, Stopping
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.runtime.random_streams import stream, stream_seed

Vector = NDArray[np.float64]

# The most that a weight moves between two samples: that of a feature that holds in no state, or in
# all of them, would move without limit.
_LARGEST_MOVE = 2.0
_MAX_MOVES = 5
# Learning ends where this share of the error that the sample makes in the objective is left.
_TOLERANCE = 0.1
_WINDOW = 5
# Share of the chains that the reweighted states have to be worth.
_LEAST_WORTH = 0.5
# Reweighted states that are worth at least this share are used for further features.
_REUSED_WORTH = 0.8


class SampledGains(Gains):
    """Gains in likelihood, with expectations over the states of Gibbs chains.

    The states are reweighted when the weights change (Geyer & Thompson 1992). When these are worth
    too little, the chains go on for a few sweeps (Younes 1989; Tieleman 2008). At first they are
    exact samples of independent variables.
    """

    def __init__(
        self,
        data: Dataset,
        penalty: Penalty,
        min_gain: float,
        n_chains: int,
        n_sweeps: int,
        seed: int,
        threads: int = 1,
    ) -> None:
        # The gain of a candidate that is worth nothing is off by half of `least`, on average.
        super().__init__(data, penalty, min_gain, data.n_examples / n_chains, threads)
        self.n_sweeps, self.seed = n_sweeps, seed
        share = (data.frequency * data.n_examples + 0.5) / (data.n_examples + 1.0)
        self.weight = np.log(share) - np.log1p(-share)
        drawn = stream(seed, "della_pietra", "start").random((n_chains, data.n_vars))
        values = np.zeros(drawn.shape, np.uint8)
        schema = data.schema
        for v, own in enumerate(map(schema.columns, range(len(schema)))):
            if len(own) == 1:
                values[:, v] = drawn[:, v] < share[own[0]]
            elif own:
                count = data.counts(v) + 0.5
                values[:, v] = np.searchsorted(np.cumsum(count[:-1]) / count.sum(), drawn[:, v])
                self.weight[own[0] : own[-1] + 1] = np.log(count / count.sum())
        self._n_draws = 0
        self._use(schema.rows(values))

    def _use(self, states: NDArray[np.uint8]) -> None:
        """Take states that were drawn with the weights as they are."""
        self._states, self._columns = states, pack_columns(states)
        self._drawn = self.weight
        self._share = np.full(len(states), 1.0 / len(states))
        self._bits = np.empty((0, self._columns.shape[1]), np.uint64)
        self._base = np.empty(0)

    def refit(self, pool: PairCandidates, start: Vector) -> None:
        """Learn all weights from those given; draw states again when these are too far off."""
        self.weight = _padded(self.weight, len(start))
        # A weight that is fitted to a sample is off by half of `least` on average.
        error = 0.5 * self.least * len(start)
        stopping = Stopping(nats=_TOLERANCE * max(error, self.prices.needed), window=_WINDOW)
        for _ in range(_MAX_MOVES):
            likelihood = self._likelihood(pool)
            fit = fit_weights(likelihood, self.penalty, start=start, stopping=stopping)
            drawn = _padded(self._drawn, len(start))
            low, high = drawn - _LARGEST_MOVE, drawn + _LARGEST_MOVE
            # The new feature may also move as far from the weight that is the best for it alone.
            low[-1] = min(low[-1], start[-1] - _LARGEST_MOVE)
            high[-1] = max(high[-1], start[-1] + _LARGEST_MOVE)
            near = np.clip(fit.weight, low, high)
            reached = bool(near[-1] == fit.weight[-1])
            move = near - self.weight
            while _worth(likelihood.state_shares(self.weight + move)[0]) < _LEAST_WORTH:
                move, reached = 0.5 * move, False
            self.weight = self.weight + move
            self._share = likelihood.state_shares(self.weight)[0]
            if reached and _worth(self._share) >= _REUSED_WORTH:
                break
            # The weights are fitted to new states as well, before candidates are scored by these.
            self._draw(pool)
            start = self.weight

    def _likelihood(self, pool: PairCandidates) -> StateLikelihood:
        """Return the likelihood by importance weights of the states."""
        held, n_examples = pool.feature_weights(), self.data.n_examples
        self._find_rows(pool)
        if not len(self._base):
            no_base = np.zeros(len(self._states))
            every = StateLikelihood(held, n_examples, self._bits, no_base, self.threads)
            self._base = -every.log_weights(_padded(self._drawn, len(held)))
        drawn = _padded(self._drawn, len(held))
        return _HalfCounted(held, n_examples, self._bits, self._base, self.threads, drawn)

    def score(self, pool: PairCandidates, chosen: NDArray[np.int64]) -> tuple[Vector, Vector]:
        """See `Gains.score`. Half a count keeps expectations from 0."""
        self._find_rows(pool)
        n_chains, one, other = len(self._states), pool.one[chosen], pool.other[chosen]
        counts = weigh(self._bits, one, other, n_chains * self._share, self.threads)
        expected = (counts + 0.5) / (n_chains + 1.0)
        share = pool.held[chosen] / self.data.n_examples
        return likelihood_gains(share, expected, self.data.n_examples, self.prices, self.threads)

    def refresh(self, pool: PairCandidates) -> None:
        self._draw(pool)
        self.refit(pool, self.weight)

    def _draw(self, pool: PairCandidates) -> None:
        network = mask_network(pool.features, self.weight, self.data.schema)
        seed = stream_seed(self.seed, "della_pietra", str(self._n_draws))
        states = advance_chains(network, self._states, self.n_sweeps, seed, threads=self.threads)
        self._n_draws += 1
        self._use(states)

    def _find_rows(self, pool: PairCandidates) -> None:
        """Find the states of the features that were added since."""
        new = rows_of(self._columns, pool.features[len(self._bits) :], self.threads)
        self._bits = np.vstack([self._bits, new])

    def state(self) -> dict[str, NDArray]:
        return {
            "weight": self.weight,
            "drawn": self._drawn,
            "chains": np.packbits(self._states, axis=1),
            "n_draws": np.array(self._n_draws),
        }

    def restore(self, pool: PairCandidates, state: dict[str, NDArray]) -> None:
        self.weight, self._n_draws = state["drawn"], int(state["n_draws"])
        self._use(np.unpackbits(state["chains"], axis=1, count=self.data.n_columns))
        self.weight = state["weight"]
        self._share = self._likelihood(pool).state_shares(self.weight)[0]


@dataclass(frozen=True, eq=False)
class _HalfCounted(StateLikelihood):
    """A likelihood in which half a state more holds each feature, as in the gains.

    Without it the prior would move the weight of a feature that no state holds back to 0.
    """

    drawn: Vector = field(default_factory=lambda: np.empty(0))

    def value_and_gradient(self, w: Vector) -> tuple[float, Vector]:
        value, gradient = super().value_and_gradient(w)
        half = 0.5 * self.n_examples / len(self.base) * np.exp(np.minimum(w - self.drawn, 30.0))
        return value + float(half.sum()), gradient + half


def _padded(weight: Vector, n: int) -> Vector:
    """Return the weights and, for features that were added since, zeros."""
    return np.append(weight, np.zeros(n - len(weight)))


def _worth(share: Vector) -> float:
    """Return the number of equally weighted states that reweighted ones are worth, as a share."""
    return 1.0 / (len(share) * float(share @ share))
