"""The conjunctions of two features of a model: candidates for its next feature, and their gains."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import pack_columns
from mnlearn.inference.marginals import MAX_ENUMERATED
from mnlearn.kernels.search import gains as kernels
from mnlearn.kernels.search.gains import GainPrices, PackedRows, add_where, find_rows, weigh_pairs
from mnlearn.learning.features.literals import literal_log_odds, mask_features
from mnlearn.learning.weights.descent import Penalty, Stopping
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.packed_likelihood import arrange_packed
from mnlearn.models.features import canonicalise
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import Schema


@dataclass(frozen=True, eq=False)
class StateLikelihood:
    """The negative log-likelihood of a feature set whose partition function is a sum over states.

    It is exact where these are all states, with the base 0. For states drawn from a network of
    weights w0, minus whose log-potential is the base, it estimates Z / Z(w0) near w0 (Geyer &
    Thompson 1992).
    """

    held: NDArray[np.float64]
    n_examples: float
    bits: NDArray[np.uint64]
    base: NDArray[np.float64]
    threads: int = 1

    @property
    def n_features(self) -> int:
        return len(self.held)

    @property
    def curvature(self) -> NDArray[np.float64]:
        """Diagonal of the Hessian where all states have the same weight, shape (n_features,)."""
        n_states = len(self.base)
        share = self._sums(np.full(n_states, 1.0 / n_states))
        return np.asarray(self.n_examples * share * (1.0 - share))

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        share, log_total = self.state_shares(w)
        value = self.n_examples * log_total - float(self.held @ w)
        return value, self.n_examples * self._sums(share) - self.held

    def log_weights(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithm of the weight of each state, float64 of shape (n_states,)."""
        out = self.base.copy()
        map_ranges(
            lambda a, b: add_where(self.bits, w, a, b, out), self.bits.shape[1], self.threads
        )
        return out

    def state_shares(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return the probability of each state, and the logarithm of their total weight."""
        log_weight = self.log_weights(w)
        largest = log_weight.max()
        share = np.exp(log_weight - largest)
        total = float(share.sum())
        return share / total, float(largest) + float(np.log(total))

    def _sums(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the total weight of the states where each feature holds."""
        every = np.arange(self.n_features)
        return weigh(self.bits, every, every, weight, self.threads)


def weigh(
    bits: NDArray[np.uint64],
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    weight: NDArray[np.float64],
    threads: int = 1,
) -> NDArray[np.float64]:
    """Return the total weight of the rows where both features of each pair hold."""
    out = np.empty(len(one))
    map_ranges(lambda a, b: weigh_pairs(bits, one, other, weight, a, b, out), len(one), threads)
    return out


Masks = NDArray[np.uint64]


class PairCandidates:
    """A growing set of features, and the distinct conjunctions of two of them.

    features, masks : uint64, (n, n_mask_words), bit c % 64 of word c // 64: column c is 1.
    one, other, held : (n_candidates,), the two features, and the weight of examples with both.
    key : the gain as it was known last; infinity at first, minus infinity once it is a feature.
    """

    def __init__(self, data: Dataset, min_support: float, threads: int = 1) -> None:
        self.data, self.min_support, self.threads = data, min_support, threads
        n_words = -(-data.n_columns // 64)
        self.features = np.empty((0, n_words), np.uint64)
        self.masks = np.empty((0, n_words), np.uint64)
        self.one, self.other = np.empty((2, 0), np.int64)
        self.held, self.key = np.empty((2, 0))
        self._bits = np.empty((0, data.columns.shape[1]), np.uint64)
        self._known: set[bytes] = set()
        every = np.arange(data.n_columns)
        atoms = np.zeros((data.n_columns, n_words), np.uint64)
        atoms[every, every // 64] = np.uint64(1) << (every % 64).astype(np.uint64)
        self._extend(atoms)

    def __len__(self) -> int:
        return len(self.masks)

    def add(self, candidates: Iterable[int]) -> None:
        """Make features of candidates, one after the other."""
        chosen = np.fromiter(candidates, np.int64)
        self.key[chosen] = -np.inf
        self._extend(self.masks[chosen])

    def restore(self, features: Masks) -> None:
        """Add the features that a model had beside the atomic ones, in their order."""
        self._extend(features[self.data.n_columns :])
        added = {mask.tobytes() for mask in features}
        gone = [mask.tobytes() in added for mask in self.masks]
        self.key[np.array(gone, bool)] = -np.inf

    def _extend(self, new: Masks) -> None:
        masks, ones, others = [], [], []
        for mask in new:
            n = len(self.features)
            self._known.add(mask.tobytes())
            both = self.features | mask
            fresh = [g for g in range(n) if self._is_new(both[g])]
            masks.append(both[fresh])
            ones.append(np.full(len(fresh), n))
            others.append(np.array(fresh, np.int64))
            self.features = np.vstack([self.features, mask])
        self._bits = np.vstack([self._bits, rows_of(self.data.columns, new, self.threads)])
        one, other = np.concatenate([*ones, [-1]])[:-1], np.concatenate([*others, [-1]])[:-1]
        held = weigh(self._bits, one, other, self.data.weight, self.threads)
        joined = np.vstack([*masks, self.masks[:0]])
        kept = (held >= self.min_support) & self._can_hold(joined)
        self.masks = np.vstack([self.masks, joined[kept]])
        self.one = np.concatenate([self.one, one[kept]])
        self.other = np.concatenate([self.other, other[kept]])
        self.held = np.concatenate([self.held, held[kept]])
        self.key = np.concatenate([self.key, np.full(int(kept.sum()), np.inf)])

    def _is_new(self, mask: Masks) -> bool:
        name = mask.tobytes()
        if name in self._known:
            return False
        self._known.add(name)
        return True

    def _can_hold(self, masks: Masks) -> NDArray[np.bool_]:
        """Return which conjunctions ask no variable for two states."""
        schema, possible = self.data.schema, np.ones(len(masks), bool)
        if schema.several:
            features = mask_features(masks, schema.n_columns)
            pair = features.owner * len(schema) + schema.variable_of[features.var]
            possible[features.owner[1:][np.diff(pair) == 0]] = False
        return possible

    def feature_weights(self) -> NDArray[np.float64]:
        """Return the total weight of the examples where each feature holds."""
        every = np.arange(len(self.features))
        return weigh(self._bits, every, every, self.data.weight, self.threads)


def rows_of(columns: NDArray[np.uint64], masks: Masks, threads: int = 1) -> NDArray[np.uint64]:
    """Return the rows where conjunctions hold, as bits, uint64 of shape (n, n_words)."""
    out = np.empty((len(masks), columns.shape[1]), np.uint64)
    map_ranges(lambda a, b: find_rows(columns, masks, a, b, out), len(masks), threads)
    return out


Vector = NDArray[np.float64]


class Gains(ABC):
    """A network that grows, and what each candidate would gain with all other weights fixed.

    `least` is the gain in nats below which it cannot be told from 0.
    """

    def __init__(
        self, data: Dataset, penalty: Penalty, min_gain: float, least: float, threads: int
    ) -> None:
        self.data, self.penalty, self.threads, self.least = data, penalty, threads, least
        self.prices = GainPrices(penalty.l1, penalty.precision, max(min_gain, least))
        self.weight = np.empty(0)

    @abstractmethod
    def refit(self, pool: PairCandidates, start: Vector) -> None:
        """Learn all weights, from those given."""

    @abstractmethod
    def score(self, pool: PairCandidates, chosen: NDArray[np.int64]) -> tuple[Vector, Vector]:
        """Return the best weights of candidates and their gains, in nats.

        A weight is 0 where the gain is only bounded, at no more than `prices.needed`.
        """

    def refresh(self, pool: PairCandidates) -> None:  # noqa: B027
        """Renew what is random in the gains: nothing where they are exact."""

    def state(self) -> dict[str, NDArray]:
        """Return what the rest of a search depends on, as arrays."""
        return {"weight": self.weight}

    @abstractmethod
    def restore(self, pool: PairCandidates, state: dict[str, NDArray]) -> None:
        """Go back to a state; the features are those of the pool already."""


class PseudoLikelihoodGains(Gains):
    """Gains in pseudo-likelihood."""

    def __init__(self, data: Dataset, penalty: Penalty, min_gain: float, threads: int = 1) -> None:
        super().__init__(data, penalty, min_gain, _resolution(data), threads)
        self._stopping = _stopping(min_gain, data)
        self._theta = np.empty((0, 0))

    def refit(self, pool: PairCandidates, start: Vector) -> None:
        features, place = canonicalise(mask_features(pool.features, self.data.n_columns))
        likelihood = arrange_packed(features, self.data, self.threads)
        first = np.empty(len(place))
        first[place] = start
        fit = fit_weights(likelihood, self.penalty, start=first, stopping=self._stopping)
        self._use(pool, fit.weight[place])

    def _use(self, pool: PairCandidates, weight: Vector) -> None:
        self.weight = weight
        network = mask_network(pool.features, weight, self.data.schema)
        self._theta = literal_log_odds(network, self.data, self.threads)

    def score(self, pool: PairCandidates, chosen: NDArray[np.int64]) -> tuple[Vector, Vector]:
        data = self.data
        rows = PackedRows(data.columns, data.last_word, data.weight, self._theta)
        weight, gain = np.empty((2, len(chosen)))

        def fill(first: int, last: int) -> None:
            kernels.pseudo_likelihood_gains(
                rows, pool.masks, chosen, self.prices, first, last, weight, gain
            )

        map_ranges(fill, len(chosen), self.threads)
        return weight, gain

    def restore(self, pool: PairCandidates, state: dict[str, NDArray]) -> None:
        self._use(pool, state["weight"])


class LikelihoodGains(Gains):
    """Gains in likelihood, with expectations over all states."""

    def __init__(self, data: Dataset, penalty: Penalty, min_gain: float, threads: int = 1) -> None:
        if np.log2(data.schema.arity).sum() > MAX_ENUMERATED:
            raise InputError(
                f"expectations exact: {data.n_vars} variables are too many to enumerate "
                f"(at most {MAX_ENUMERATED}); use expectations=gibbs."
            )
        super().__init__(data, penalty, min_gain, _resolution(data), threads)
        self._stopping = _stopping(min_gain, data)
        arity = data.schema.arity
        stride = np.cumprod(np.append(1, arity))
        self._n_states = int(stride[-1])
        every = np.arange(self._n_states)[:, None] // stride[:-1] % arity
        self._columns = pack_columns(data.schema.rows(every.astype(np.uint8)))
        self._bits = np.empty((0, 0), np.uint64)
        self._share = np.empty(0)

    def refit(self, pool: PairCandidates, start: Vector) -> None:
        likelihood = self._likelihood(pool)
        fit = fit_weights(likelihood, self.penalty, start=start, stopping=self._stopping)
        self._use(likelihood, fit.weight)

    def _likelihood(self, pool: PairCandidates) -> StateLikelihood:
        bits = rows_of(self._columns, pool.features, self.threads)
        base = np.zeros(self._n_states)
        held = pool.feature_weights()
        return StateLikelihood(held, self.data.n_examples, bits, base, self.threads)

    def _use(self, likelihood: StateLikelihood, weight: Vector) -> None:
        self.weight, self._bits = weight, likelihood.bits
        self._share = likelihood.state_shares(weight)[0]

    def score(self, pool: PairCandidates, chosen: NDArray[np.int64]) -> tuple[Vector, Vector]:
        one, other = pool.one[chosen], pool.other[chosen]
        expected = weigh(self._bits, one, other, self._share, self.threads)
        share = pool.held[chosen] / self.data.n_examples
        return likelihood_gains(share, expected, self.data.n_examples, self.prices, self.threads)

    def restore(self, pool: PairCandidates, state: dict[str, NDArray]) -> None:
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


def mask_network(features: Masks, weight: Vector, schema: Schema) -> MarkovNetwork:
    """Return the network of conjunctions given by bit masks."""
    canonical, place = canonicalise(mask_features(features, schema.n_columns))
    ordered = np.empty(len(weight))
    ordered[place] = weight
    return MarkovNetwork(schema, canonical, ordered)


def _resolution(data: Dataset) -> float:
    """Return the gain in nats that rounding and unfinished weight learning may hide."""
    return 1e-5 * data.n_examples


def _stopping(min_gain: float, data: Dataset) -> Stopping:
    """Return when weight learning in a search is over: all weights are learned again and again."""
    return Stopping(nats=max(0.1 * min_gain, _resolution(data)))
