"""Ising networks as they are estimated in psychometrics: penalties by EBIC, bootstrapped edges."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.logistic import LogisticPath, learn_logistic_path
from mnlearn.learning.neighbourhoods import MERGES, pair_features
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream

GAMMA = 0.25
# The path: so many penalties, evenly on a log scale, down to this share of the largest.
N_PENALTIES = 100
SMALLEST = 0.01
# The interval of the bootstrapped weights, as quantiles.
INTERVAL = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class IsingNetwork:
    """Pairwise network over {0, 1} variables: P(x) ∝ exp(Σ threshold_v x_v + Σ weight_uv x_u x_v).

    weight : float64, (n_vars, n_vars), symmetric, 0 on the diagonal and where there is no edge.
    threshold : float64, (n_vars,), the intercepts of the regressions.
    regression : float64, (n_vars, n_vars), row v the weights of the others in the regression of v.
    penalty, ebic : float64, (n_vars,), chosen penalty of each regression and its EBIC.
    at_end : bool, (n_vars,), whether the smallest penalty of the path was chosen.
    names : names of the variables, or None.
    """

    weight: NDArray[np.float64]
    threshold: NDArray[np.float64]
    regression: NDArray[np.float64]
    penalty: NDArray[np.float64]
    ebic: NDArray[np.float64]
    at_end: NDArray[np.bool_]
    names: tuple[str, ...] | None = None

    def edges(self) -> NDArray[np.int64]:
        """Return the pairs (u, v), u < v, with a weight, strongest first; int64, (n_edges, 2)."""
        u, v = np.nonzero(np.triu(self.weight, 1))
        order = np.lexsort((v, u, -np.abs(self.weight[u, v])))
        return np.column_stack([u, v])[order]

    def plus_minus(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and thresholds of the same distribution over {-1, 1} variables."""
        return self.weight / 4, self.threshold / 2 + self.weight.sum(axis=1) / 4

    def markov_network(self) -> MarkovNetwork:
        """Return the network with features X_v = 1 and, for every edge, X_u = 1 and X_v = 1."""
        n_vars, edges = len(self.threshold), self.edges()
        weight = np.concatenate([self.threshold, self.weight[tuple(edges.T)]])
        return markov_network(n_vars, pair_features(n_vars, edges), weight, self.names)


@dataclass(frozen=True, eq=False)
class EdgeStability:
    """What became of the edges in networks of resampled examples.

    share : float64, (n_vars, n_vars), share of the resamples in which the pair is an edge.
    mean : mean of its weights, those of absent edges being 0.
    low, high : the quantiles `INTERVAL` of its weights.
    """

    share: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def learn_ising(
    data: Dataset, gamma: float = GAMMA, merge: str = "and", threads: int = 1
) -> IsingNetwork:
    """Estimate an Ising network by L1-penalised logistic regressions (van Borkulo et al. 2014).

    Every variable is regressed on all others along a path of penalties; the penalty of least
    EBIC = -2 log-likelihood + k log(n) + 2 gamma k log(n_vars - 1), k the number of neighbours
    (Foygel & Drton 2010), is chosen for each. The weight of an edge is the mean of the two
    regressions' weights. The penalty is on inputs scaled to unit variance, as in the R package
    IsingFit; weights and thresholds are those of the values 0 and 1.

    gamma : at least 0; larger values find fewer edges.
    merge : "and", both regressions must have the edge; "or", one of them.

    Raises
    ------
    InputError
        gamma is negative, the rule is unknown, there are fewer than two variables, or one is
        constant and so has neither threshold nor edges.
    """
    if not (np.isfinite(gamma) and gamma >= 0):
        raise InputError(f"gamma: expected a number of at least 0, got {gamma}.")
    if merge not in MERGES:
        raise InputError(f"merge: expected one of {', '.join(MERGES)}, got {merge!r}.")
    if data.n_vars < 2:
        raise InputError("data: expected at least two variables.")
    constant = np.flatnonzero(np.ptp(data.rows, axis=0) == 0)
    if len(constant):
        names = data.names or tuple(f"V{v}" for v in range(data.n_vars))
        listed = ", ".join(f"{names[v]} (always {data.rows[0, v]})" for v in constant)
        raise InputError(f"data: leave out what never varies: {listed}.")
    return _learn(data, gamma, merge, threads)


def bootstrap(
    data: Dataset,
    n_resamples: int,
    gamma: float = GAMMA,
    merge: str = "and",
    seed: int = 20,
    threads: int = 1,
    show: Callable[[Iterable[range]], Iterable[range]] = lambda blocks: blocks,
) -> EdgeStability:
    """Estimate the network again from resampled examples (Epskamp, Borsboom & Fried 2018).

    A resample in which a variable is constant gives it no edges. The result does not depend on
    the number of threads. show : wraps the blocks of resamples, to show progress.

    Raises
    ------
    InputError
        There is no resample to draw.
    """
    if n_resamples < 1:
        raise InputError(f"bootstraps: expected at least 1, got {n_resamples}.")
    upper = np.triu_indices(data.n_vars, 1)
    weight = np.empty((n_resamples, len(upper[0])))

    def learn(b: int) -> None:
        resample = data.resample(stream(seed, "ising", "bootstrap", str(b)))
        weight[b] = _learn(resample, gamma, merge, 1).weight[upper]

    size = -(-n_resamples // 20)
    blocks = [range(a, min(a + size, n_resamples)) for a in range(0, n_resamples, size)]
    with ThreadPoolExecutor(threads) as pool:
        for block in show(blocks):
            list(pool.map(learn, block))
    low, high = np.quantile(weight, INTERVAL, axis=0)
    symmetric = []
    for values in ((weight != 0).mean(axis=0), weight.mean(axis=0), low, high):
        matrix = np.zeros((data.n_vars, data.n_vars))
        matrix[upper] = values
        symmetric.append(matrix + matrix.T)
    return EdgeStability(*symmetric)


def _learn(data: Dataset, gamma: float, merge: str, threads: int) -> IsingNetwork:
    path = learn_logistic_path(data, _penalties(data), standardise=True, threads=threads)
    ebic = _ebic(path, data, gamma)
    best = np.argmin(ebic, axis=0)
    every = np.arange(data.n_vars)
    regression = np.zeros((data.n_vars, data.n_vars))
    for k in np.unique(best):
        chosen = best == k
        regression[chosen] = path.coefficient[k][np.flatnonzero(chosen)].toarray()
    found = regression != 0
    kept = found & found.T if merge == "and" else found | found.T
    return IsingNetwork(
        read_only(np.where(kept, (regression + regression.T) / 2, 0.0)),
        read_only(path.intercept[best, every]),
        read_only(regression),
        read_only(path.penalties[best]),
        read_only(ebic[best, every]),
        read_only(best == len(path.penalties) - 1),
        data.names,
    )


def _penalties(data: Dataset) -> list[float]:
    """Return the path of penalties, from one that leaves every neighbourhood empty."""
    weighted = data.rows * data.weight[:, None]
    one = weighted.sum(axis=0)
    pull = np.abs(weighted.T @ data.rows - np.outer(one, one) / data.n_examples)
    deviation = np.sqrt(data.frequency * (1 - data.frequency))
    pull /= np.where(deviation > 0, deviation, 1.0)
    np.fill_diagonal(pull, 0.0)
    # Where no two variables depend on each other at all, any penalty will do.
    largest = max(float(pull.max()), 1e-6 * data.n_examples)
    return np.geomspace(largest, SMALLEST * largest, N_PENALTIES).tolist()


def _ebic(path: LogisticPath, data: Dataset, gamma: float) -> NDArray[np.float64]:
    """Return the EBIC of every penalty and variable, (n_penalties, n_vars)."""
    rows = data.rows.astype(np.float64)
    sign = np.where(data.rows == 1, -1.0, 1.0)
    price = np.log(data.n_examples) + 2 * gamma * np.log(data.n_vars - 1)
    out = np.empty((len(path.penalties), data.n_vars))
    for k, coefficient in enumerate(path.coefficient):
        log_odds = (coefficient @ rows.T).T + path.intercept[k]
        loss = data.weight @ np.logaddexp(0.0, sign * log_odds)
        out[k] = 2 * loss + price * np.diff(coefficient.indptr)
    return out
