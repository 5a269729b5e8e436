"""Gains in likelihood of the conjunctions of two features, with expectations by Gibbs sampling."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.persistent_chains import advance_chains
from mnlearn.kernels.search.conjunctions import GainPrices
from mnlearn.learning.features.pair_candidates import PairCandidates, rows_of
from mnlearn.learning.features.pair_gains import likelihood_gains, mask_network, pack_columns
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import Stopping
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.state_likelihood import StateLikelihood, weigh
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


class SampledGains:
    """Gains in likelihood, with expectations over the states of Gibbs chains.

    The chains are never started again: after each change of the weights they make a few sweeps
    (Younes 1989; Tieleman 2008). At first they are exact samples of independent variables.

    min_gain : as in `PseudoLikelihoodGains`.
    n_chains, n_sweeps : number of chains, and of the sweeps that each makes at a time.
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
        self.data, self.penalty, self.threads = data, penalty, threads
        # The gain of a candidate that is worth nothing is off by half of this, on average.
        self.least = data.n_examples / n_chains
        self.prices = GainPrices(penalty.l1, penalty.precision, max(min_gain, self.least))
        self.n_sweeps, self.seed = n_sweeps, seed
        share = (data.frequency * data.n_examples + 0.5) / (data.n_examples + 1.0)
        self.weight = np.log(share) - np.log1p(-share)
        drawn = stream(seed, "della_pietra", "start").random((n_chains, data.n_vars))
        self._states = (drawn < share).astype(np.uint8)
        self._n_draws = 0
        self._bits = np.empty((0, 0), np.uint64)

    def refit(self, pool: PairCandidates, start: Vector) -> None:
        """Learn all weights by likelihood, from those given.

        The states stand for a network near the one that they were drawn from, by importance
        weights. Weights therefore move in steps, and states are drawn again after each step.
        """
        self.weight = np.append(self.weight, np.zeros(len(start) - len(self.weight)))
        # A weight that is fitted to a sample is off by half of `least` on average.
        error = 0.5 * self.least * len(start)
        stopping = Stopping(nats=_TOLERANCE * max(error, self.prices.needed), window=_WINDOW)
        for _ in range(_MAX_MOVES):
            likelihood = self._likelihood(pool)
            fit = fit_weights(likelihood, self.penalty, start=start, stopping=stopping)
            wanted = fit.weight - self.weight
            move = np.clip(wanted, -_LARGEST_MOVE, _LARGEST_MOVE)
            reached = bool(move[-1] == wanted[-1])
            while _worth(likelihood, self.weight + move) < _LEAST_WORTH:
                move, reached = 0.5 * move, False
            self.weight = self.weight + move
            self.refresh(pool)
            if reached:
                break
            start = self.weight

    def _likelihood(self, pool: PairCandidates) -> StateLikelihood:
        """Return the likelihood by importance weights of the states."""
        columns = pack_columns(self._states)
        bits = rows_of(columns, pool.features, self.threads)
        held, n_examples = pool.feature_weights(), self.data.n_examples
        every = StateLikelihood(held, n_examples, bits, np.zeros(len(self._states)), self.threads)
        base = -every.log_weights(self.weight)
        return StateLikelihood(held, n_examples, bits, base, self.threads)

    def score(self, pool: PairCandidates, chosen: NDArray[np.int64]) -> tuple[Vector, Vector]:
        """See `Gains.score`. Half a count keeps expectations from 0."""
        n_chains, one, other = len(self._states), pool.one[chosen], pool.other[chosen]
        counts = weigh(self._bits, one, other, np.ones(n_chains), self.threads)
        expected = (counts + 0.5) / (n_chains + 1.0)
        share = pool.held[chosen] / self.data.n_examples
        return likelihood_gains(share, expected, self.data.n_examples, self.prices, self.threads)

    def refresh(self, pool: PairCandidates) -> None:
        """Let the chains go on."""
        network = mask_network(pool.features, self.weight, self.data.n_vars)
        seed = stream_seed(self.seed, "della_pietra", str(self._n_draws))
        self._states = advance_chains(
            network, self._states, self.n_sweeps, seed, threads=self.threads
        )
        self._n_draws += 1
        self._find_rows(pool)

    def _find_rows(self, pool: PairCandidates) -> None:
        self._bits = rows_of(pack_columns(self._states), pool.features, self.threads)

    def state(self) -> dict[str, NDArray]:
        """Return the weights, the chains and the number of draws."""
        packed = np.packbits(self._states, axis=1)
        return {"weight": self.weight, "chains": packed, "n_draws": np.array(self._n_draws)}

    def restore(self, pool: PairCandidates, state: dict[str, NDArray]) -> None:
        """See `Gains.restore`."""
        self.weight, self._n_draws = state["weight"], int(state["n_draws"])
        self._states = np.unpackbits(state["chains"], axis=1, count=self.data.n_vars)
        self._find_rows(pool)


def _worth(likelihood: StateLikelihood, weight: Vector) -> float:
    """Return the number of equally weighted states that reweighted ones are worth, as a share."""
    share = likelihood.state_shares(weight)[0]
    return 1.0 / (len(share) * float(share @ share))
