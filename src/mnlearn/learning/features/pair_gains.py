"""Gains of the conjunctions of two features, by pseudo-likelihood or by likelihood."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.inference.marginals import MAX_ENUMERATED
from mnlearn.kernels.search import gains as kernels
from mnlearn.kernels.search.gains import GainPrices, PackedRows
from mnlearn.learning.features.pair_candidates import Masks, PairCandidates, mask_features, rows_of
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import Stopping
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.packed_likelihood import arrange_packed
from mnlearn.learning.weights.state_likelihood import StateLikelihood, weigh
from mnlearn.models.features import canonicalise
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges

Vector = NDArray[np.float64]


class Gains(Protocol):
    """A network that grows, and what each candidate would gain with all other weights fixed.

    weight : float64, (n_features,), in the order of the features of the candidates.
    least : nats; smaller gains cannot be told from 0.
    """

    weight: Vector
    least: float

    def refit(self, pool: PairCandidates, start: Vector) -> None:
        """Learn all weights, from those given."""

    def score(self, pool: PairCandidates, chosen: NDArray[np.int64]) -> tuple[Vector, Vector]:
        """Return the best weights of candidates and their gains, in nats.

        A weight is 0 where the gain is an upper bound, which then is not above what is of interest.
        """

    def refresh(self, pool: PairCandidates) -> None:
        """Renew what is random in the gains."""

    def state(self) -> dict[str, NDArray]:
        """Return what the rest of a search depends on, as arrays."""

    def restore(self, pool: PairCandidates, state: dict[str, NDArray]) -> None:
        """Go back to a state; the features are those of the pool already."""


class PseudoLikelihoodGains:
    """Gains in pseudo-likelihood.

    min_gain : nats; a candidate of a smaller gain is not of interest.
    """

    def __init__(self, data: Dataset, penalty: Penalty, min_gain: float, threads: int = 1) -> None:
        self.data, self.penalty, self.threads = data, penalty, threads
        self.least = _resolution(data)
        self.prices = GainPrices(penalty.l1, penalty.precision, max(min_gain, self.least))
        self.stopping = _stopping(min_gain, data)
        self.weight = np.empty(0)
        self._theta = np.empty((0, 0))

    def refit(self, pool: PairCandidates, start: Vector) -> None:
        """Learn all weights by pseudo-likelihood, from those given."""
        features, place = canonicalise(mask_features(pool.features, self.data.n_vars))
        likelihood = arrange_packed(features, self.data, self.threads)
        first = np.empty(len(place))
        first[place] = start
        fit = fit_weights(likelihood, self.penalty, start=first, stopping=self.stopping)
        self._use(pool, fit.weight[place])

    def _use(self, pool: PairCandidates, weight: Vector) -> None:
        self.weight = weight
        network = mask_network(pool.features, weight, self.data.n_vars)
        odds = conditional_log_odds(network, self.data, self.threads)
        self._theta = np.ascontiguousarray(odds.T)

    def score(self, pool: PairCandidates, chosen: NDArray[np.int64]) -> tuple[Vector, Vector]:
        """See `Gains.score`."""
        data = self.data
        rows = PackedRows(data.columns, data.last_word, data.weight, self._theta)
        weight, gain = np.empty((2, len(chosen)))

        def fill(first: int, last: int) -> None:
            kernels.pseudo_likelihood_gains(
                rows, pool.masks, chosen, self.prices, first, last, weight, gain
            )

        map_ranges(fill, len(chosen), self.threads)
        return weight, gain

    def refresh(self, pool: PairCandidates) -> None:
        """Do nothing: these gains are exact."""

    def state(self) -> dict[str, NDArray]:
        """Return the weights."""
        return {"weight": self.weight}

    def restore(self, pool: PairCandidates, state: dict[str, NDArray]) -> None:
        """See `Gains.restore`."""
        self._use(pool, state["weight"])


class LikelihoodGains:
    """Gains in likelihood, with expectations over all states.

    min_gain : as in `PseudoLikelihoodGains`.
    """

    def __init__(self, data: Dataset, penalty: Penalty, min_gain: float, threads: int = 1) -> None:
        if data.n_vars > MAX_ENUMERATED:
            raise InputError(
                f"expectations exact: {data.n_vars} variables are too many to enumerate "
                f"(at most {MAX_ENUMERATED}); use expectations=gibbs."
            )
        self.data, self.penalty, self.threads = data, penalty, threads
        self.least = _resolution(data)
        self.prices = GainPrices(penalty.l1, penalty.precision, max(min_gain, self.least))
        self.stopping = _stopping(min_gain, data)
        self.weight = np.empty(0)
        every = np.arange(2**data.n_vars)[:, None] >> np.arange(data.n_vars) & 1
        self._columns = pack_columns(every.astype(np.uint8))
        self._bits = np.empty((0, 0), np.uint64)
        self._share = np.empty(0)

    def refit(self, pool: PairCandidates, start: Vector) -> None:
        """Learn all weights by likelihood, from those given."""
        likelihood = self._likelihood(pool)
        fit = fit_weights(likelihood, self.penalty, start=start, stopping=self.stopping)
        self._use(likelihood, fit.weight)

    def _likelihood(self, pool: PairCandidates) -> StateLikelihood:
        bits = rows_of(self._columns, pool.features, self.threads)
        base = np.zeros(2**self.data.n_vars)
        held = pool.feature_weights()
        return StateLikelihood(held, self.data.n_examples, bits, base, self.threads)

    def _use(self, likelihood: StateLikelihood, weight: Vector) -> None:
        self.weight, self._bits = weight, likelihood.bits
        self._share = likelihood.state_shares(weight)[0]

    def score(self, pool: PairCandidates, chosen: NDArray[np.int64]) -> tuple[Vector, Vector]:
        """See `Gains.score`."""
        one, other = pool.one[chosen], pool.other[chosen]
        expected = weigh(self._bits, one, other, self._share, self.threads)
        share = pool.held[chosen] / self.data.n_examples
        return likelihood_gains(share, expected, self.data.n_examples, self.prices, self.threads)

    def refresh(self, pool: PairCandidates) -> None:
        """Do nothing: these gains are exact."""

    def state(self) -> dict[str, NDArray]:
        """Return the weights."""
        return {"weight": self.weight}

    def restore(self, pool: PairCandidates, state: dict[str, NDArray]) -> None:
        """See `Gains.restore`."""
        self._use(self._likelihood(pool), state["weight"])


def likelihood_gains(
    share: Vector, expected: Vector, n_examples: float, prices: GainPrices, threads: int = 1
) -> tuple[Vector, Vector]:
    """Return the best weights and gains in likelihood; see the kernel of this name."""
    weight, gain = np.empty((2, len(share)))

    def fill(first: int, last: int) -> None:
        kernels.likelihood_gains(share, expected, n_examples, prices, first, last, weight, gain)

    map_ranges(fill, len(share), threads)
    return weight, gain


def mask_network(features: Masks, weight: Vector, n_vars: int) -> MarkovNetwork:
    """Return the network of conjunctions given by bit masks."""
    canonical, place = canonicalise(mask_features(features, n_vars))
    ordered = np.empty(len(weight))
    ordered[place] = weight
    return MarkovNetwork(n_vars, canonical, ordered)


def pack_columns(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return rows as packed columns, uint64 of shape (n_vars, n_words); see `Dataset.columns`."""
    padded = np.zeros((rows.shape[1], -(-len(rows) // 64) * 64), np.uint8)
    padded[:, : len(rows)] = rows.T
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _resolution(data: Dataset) -> float:
    """Return the gain in nats that rounding and unfinished weight learning may hide."""
    return 1e-5 * data.n_examples


def _stopping(min_gain: float, data: Dataset) -> Stopping:
    """Return when weight learning in a search is over: all weights are learned again and again."""
    return Stopping(nats=max(0.1 * min_gain, _resolution(data)))
