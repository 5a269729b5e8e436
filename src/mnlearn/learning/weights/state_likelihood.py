"""The likelihood of features whose expectations are sums over given states."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.search.gains import add_where, weigh_pairs
from mnlearn.runtime.threads import map_ranges


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
    dual_value: ClassVar[None] = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.held)

    @property
    def curvature(self) -> NDArray[np.float64]:
        """Diagonal of the Hessian where all states have the same weight, shape (n_features,)."""
        n_states = len(self.base)
        share = self._sums(np.full(n_states, 1.0 / n_states))
        return np.asarray(self.n_examples * share * (1.0 - share))

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the negative log-likelihood of all examples, in nats, and its gradient."""
        share, log_total = self.state_shares(w)
        value = self.n_examples * log_total - float(self.held @ w)
        return value, self.n_examples * self._sums(share) - self.held

    def log_weights(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithm of the weight of each state, float64 of shape (n_states,)."""
        out = self.base.copy()

        def add(first: int, last: int) -> None:
            add_where(self.bits, w, first, last, out)

        map_ranges(add, self.bits.shape[1], self.threads)
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

    def fill(first: int, last: int) -> None:
        weigh_pairs(bits, one, other, weight, first, last, out)

    map_ranges(fill, len(one), threads)
    return out
