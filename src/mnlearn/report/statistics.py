"""Statistics of comparisons over datasets: signed-rank tests, corrections, means of ratios."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

# The exact distribution is used up to this many differences, the normal one beyond.
MAX_EXACT = 200
# Differences of decimal numbers are equal when they agree this far; floats add noise at 1e-14.
_DECIMALS = 9


@dataclass(frozen=True)
class Comparison:
    """Two methods compared over the same datasets.

    wins, ties, losses : on how many the first is higher, equal, lower.
    p : two-sided p-value of Wilcoxon's signed-rank test without the ties.
    exact : whether p is from the exact distribution.
    """

    wins: int
    ties: int
    losses: int
    p: float
    exact: bool

    @property
    def n(self) -> int:
        """Number of datasets compared."""
        return self.wins + self.ties + self.losses


def wilcoxon(a: ArrayLike, b: ArrayLike) -> Comparison:
    """Compare paired values by Wilcoxon's two-sided signed-rank test.

    Zero differences are left out. Where differences are equal in size they share their mean
    rank, and the exact p-value is that of all assignments of signs to those ranks.

    Raises
    ------
    ValueError
        The two are not of one length, or hold something that is not a finite number.

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
    return Comparison(wins, ties, losses, p, exact)


def _exact_p(difference: NDArray[np.float64]) -> float:
    """Return the exact two-sided p-value; SciPy's assumes that no two differences are equal."""
    # Mean ranks are multiples of a half: twice them are whole, and sums can be counted.
    ranks = np.rint(2 * stats.rankdata(np.abs(difference))).astype(int)
    ways = np.ones(1)
    for rank in ranks:
        grown = np.zeros(len(ways) + rank)
        grown[: len(ways)] += ways / 2
        grown[rank:] += ways / 2
        ways = grown
    observed = int(min(ranks[difference > 0].sum(), ranks[difference < 0].sum()))
    return float(min(1.0, 2 * ways[: observed + 1].sum()))


def holm(p_values: Sequence[float]) -> NDArray[np.float64]:
    """Return the p-values adjusted for their number by Holm's step-down rule, in given order."""
    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")
    factor = len(p) - np.arange(len(p))
    adjusted = np.minimum(np.maximum.accumulate(p[order] * factor), 1.0)
    out = np.empty_like(p)
    out[order] = adjusted
    return out


def geometric_mean(values: ArrayLike) -> float:
    """Return the geometric mean of positive values.

    Raises
    ------
    ValueError
        There is none, or one is not positive.

    """
    array = np.asarray(values, float)
    if not array.size or not (array > 0).all():
        raise ValueError("geometric mean: expected one or more positive values")
    return float(stats.gmean(array))


@dataclass(frozen=True)
class Ranks:
    """Several methods ranked on the same datasets, 1 the best.

    mean : float64, (n_methods,), mean ranks; equals share theirs. p : of Friedman's test that
    all methods are alike. critical_difference : of mean ranks, by Nemenyi's test.
    """

    mean: NDArray[np.float64]
    p: float
    critical_difference: float


def friedman(values: ArrayLike, level: float = 0.05) -> Ranks:
    """Rank methods on datasets and test whether they differ (Demsar 2006, Section 3.2).

    values : shape (n_datasets, n_methods), higher is better.

    Raises
    ------
    ValueError
        There are fewer than three methods or two datasets, or something is not finite.

    """
    table = np.round(np.asarray(values, float), _DECIMALS)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3:
        raise ValueError(f"expected two datasets and three methods or more, got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("values: not all finite")
    n, k = table.shape
    mean = stats.rankdata(-table, axis=1).mean(axis=0)
    p = float(stats.friedmanchisquare(*table.T).pvalue) if np.ptp(mean) else 1.0
    studentized = stats.studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2)
    return Ranks(mean, p, float(studentized * np.sqrt(k * (k + 1) / (6 * n))))
