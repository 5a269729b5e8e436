"""How stable an Ising network is: weights of resamples, their differences, dropped examples."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

# The interval of the bootstrapped weights, as quantiles.
INTERVAL = (0.025, 0.975)
# Shares of the examples that are dropped, and what the CS coefficient asks for (Epskamp et al.).
DROPPED = tuple(np.linspace(0.05, 0.75, 10).round(4).tolist())
LEAST_CORRELATION, CERTAINTY = 0.7, 0.95
# What `drop_cases` compares with the network of all examples.
MEASURES = ("edges", "strength", "expected_influence")


@dataclass(frozen=True, eq=False)
class EdgeStability:
    """How often, and with what weights, pairs are edges in networks of resampled examples.

    share, mean, low, high : float64, (n_vars, n_vars), of the weights, 0 where there is no edge.
    weights : float64, (n_resamples, n_pairs), of the pairs (u, v) with u < v.
    """

    share: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    weights: NDArray[np.float64]

    def pairs_beside(self, weight: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the pairs that are edges in resamples but have no weight, most frequent first."""
        pairs = np.argwhere(np.triu((self.share > 0) & (weight == 0), 1))
        return pairs[np.argsort(-self.share[tuple(pairs.T)], kind="stable")]

    def weights_of(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weights of pairs (u, v) in each resample, (n_resamples, n_given)."""
        n_vars = len(self.share)
        place = np.zeros((n_vars, n_vars), np.int64)
        place[np.triu_indices(n_vars, 1)] = np.arange(self.weights.shape[1])
        return self.weights[:, place[pairs.min(axis=1), pairs.max(axis=1)]]

    def strengths(self) -> NDArray[np.float64]:
        """Return the strength of each variable in each resample, (n_resamples, n_vars)."""
        return sum_by_variable(np.abs(self.weights), len(self.share))


def sum_by_variable(weights: NDArray[np.float64], n_vars: int) -> NDArray[np.float64]:
    """Return the sums over the pairs of each variable, from pairs (u, v), u < v."""
    u, v = np.triu_indices(n_vars, 1)
    member = np.zeros((len(u), n_vars))
    member[np.arange(len(u)), u] = member[np.arange(len(v)), v] = 1.0
    return np.asarray(weights @ member)


@dataclass(frozen=True, eq=False)
class Differences:
    """Bootstrapped differences between numbers of one network, for every pair of them."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Whether 0 is outside the interval."""
        return (self.low > 0) | (self.high < 0)

    def reorder(self, order: NDArray[np.int64]) -> "Differences":
        """Return the differences with the numbers in another order; intervals keep their signs."""
        place = np.argsort(order)
        return replace(self, first=place[self.first], second=place[self.second])


def bootstrap_differences(
    found: NDArray[np.float64], resampled: NDArray[np.float64]
) -> Differences:
    """Return the difference of every two numbers, (n,), by resamples, (n_resamples, n)."""
    first, second = np.triu_indices(len(found), 1)
    low, high = np.empty(len(first)), np.empty(len(first))
    # One number at a time keeps memory small: the pairs grow with the square of the edges.
    for k in range(len(found) - 1):
        here = first == k
        difference = resampled[:, [k]] - resampled[:, second[here]]
        low[here], high[here] = np.quantile(difference, INTERVAL, axis=0)
    return Differences(first, second, found[first] - found[second], low, high)


@dataclass(frozen=True, eq=False)
class CaseDropping:
    """Correlations of networks of fewer examples with the network of all examples.

    correlation : of each of `MEASURES`, (n_shares, n_resamples); NaN where it is not defined.
    """

    dropped: NDArray[np.float64]
    correlation: dict[str, NDArray[np.float64]]

    def coefficient(self, measure: str) -> float:
        """Return the CS coefficient, or 0.

        It is the largest share that can be dropped such that 95 % of the correlations are at least
        0.7.
        """
        high = np.nan_to_num(self.correlation[measure], nan=-1.0) >= LEAST_CORRELATION
        stable = self.dropped[high.mean(axis=1) >= CERTAINTY]
        return float(stable.max()) if len(stable) else 0.0
