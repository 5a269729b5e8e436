"""Statistics of comparisons over datasets: signed-rank tests, corrections, ranks, mean ratios."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

# Up to this many differences p is exact, beyond it is that of the normal approximation.
MAX_EXACT = 200
# Log-likelihoods in nats, multiplied by this, are in the unit.
UNITS = {"nats": 1.0, "bits": 1.0 / math.log(2.0)}
# Significance level of all tests.
LEVEL = 0.05
# What is compared or drawn is rounded to this many decimals, so that float noise decides nothing.
_DECIMALS = 9


@dataclass(frozen=True)
class Comparison:
    """Two methods compared on the same datasets: on how many the first is higher, equal, or lower.

    p : of Wilcoxon's two-sided signed-rank test without the ties. exact : whether p is from the
    exact distribution. effect : the matched-pairs rank-biserial correlation, from -1 to 1: the sum
    of the ranks of the wins less that of the losses, as a share of both.
    """

    wins: int
    ties: int
    losses: int
    p: float
    exact: bool
    effect: float = 0.0

    @property
    def n(self) -> int:
        """Number of datasets."""
        return self.wins + self.ties + self.losses


def wilcoxon(a: ArrayLike, b: ArrayLike) -> Comparison:
    """Compare paired, finite values by Wilcoxon's two-sided signed-rank test.

    Zero differences are left out, and differences of equal size share their mean rank.
    """
    first, second = np.asarray(a, float), np.asarray(b, float)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"paired values: shapes {first.shape} and {second.shape}")
    if not np.isfinite(first - second).all():
        raise ValueError("paired values: not all finite")
    difference = np.round(first - second, _DECIMALS)
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    ties = len(difference) - wins - losses
    nonzero = difference[difference != 0]
    if not len(nonzero):
        return Comparison(0, ties, 0, 1.0, True)
    exact = len(nonzero) <= MAX_EXACT
    p = _exact_p(nonzero) if exact else float(stats.wilcoxon(nonzero, method="approx").pvalue)
    plus, minus = rank_sums(difference)
    return Comparison(wins, ties, losses, p, exact, (plus - minus) / (plus + minus))


def rank_sums(difference: NDArray[np.float64]) -> tuple[float, float]:
    """Return the sums of the ranks of positive and of negative differences; see `wilcoxon`."""
    nonzero = np.round(difference, _DECIMALS)
    nonzero = nonzero[nonzero != 0]
    ranks = stats.rankdata(np.abs(nonzero))
    return float(ranks[nonzero > 0].sum()), float(ranks[nonzero < 0].sum())


def _exact_p(difference: NDArray[np.float64]) -> float:
    """Return the exact two-sided p-value, by a count of all assignments of signs to mean ranks."""
    # Twice a mean rank is a whole number, so the loop can count the assignments for each rank sum.
    ranks = np.rint(2 * stats.rankdata(np.abs(difference))).astype(int)
    ways = np.ones(1)
    for rank in ranks:
        grown = np.zeros(len(ways) + rank)
        grown[: len(ways)] += ways / 2
        grown[rank:] += ways / 2
        ways = grown
    observed = int(min(ranks[difference > 0].sum(), ranks[difference < 0].sum()))
    return float(min(1.0, 2 * ways[: observed + 1].sum()))


def geometric_mean(values: ArrayLike) -> float:
    """Return the geometric mean of positive values."""
    array = np.asarray(values, float)
    if not array.size or not (array > 0).all():
        raise ValueError("geometric mean: expected one or more positive values")
    return float(stats.gmean(array))


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of methods on the same datasets, from 1, the best; equal values share theirs.

    p : of Friedman's test. critical_difference : Nemenyi's test distinguishes methods whose mean
    ranks differ by at least this.
    """

    mean: NDArray[np.float64]
    p: float
    critical_difference: float


def friedman(values: ArrayLike) -> Ranks:
    """Rank methods on datasets and test whether they differ (Demsar, JMLR 7, 2006, Section 3.2).

    values : shape (n_datasets, n_methods), at least 2 and 3; higher is better.
    """
    table = np.round(np.asarray(values, float), _DECIMALS)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3:
        raise ValueError(f"expected two datasets and three methods or more, got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("values: not all finite")
    n, k = table.shape
    mean = stats.rankdata(-table, axis=1).mean(axis=0)
    p = float(stats.friedmanchisquare(*table.T).pvalue) if np.ptp(mean) else 1.0
    # A search for a root finds it, whose last bits differ among processors.
    studentized = round(float(stats.studentized_range.ppf(1 - LEVEL, k, np.inf)), _DECIMALS)
    return Ranks(mean, p, studentized * math.sqrt(k * (k + 1) / (12 * n)))
