"""Ising networks as they are estimated in psychometrics: penalties by EBIC, bootstrapped edges."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.logistic import LogisticPath, learn_logistic_path
from mnlearn.learning.neighbourhoods import MERGES, build_pair_features
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import track
from mnlearn.runtime.random_streams import stream

if TYPE_CHECKING:
    import pandas as pd

GAMMA = 0.25
# The path has this many penalties, evenly on a log scale, down to this share of the largest.
N_PENALTIES = 100
SMALLEST = 0.01
# The interval of the bootstrapped weights, as quantiles.
INTERVAL = (0.025, 0.975)
# Values of the variables that weights and thresholds can be for.
CODINGS = ("0/1", "-1/1")


@dataclass(frozen=True, eq=False)
class IsingNetwork:
    """Pairwise network over {0, 1} variables: P(x) ∝ exp(Σ threshold_v x_v + Σ weight_uv x_u x_v).

    Attributes
    ----------
    weight : float64 array of shape (n_vars, n_vars)
        Symmetric; 0 on the diagonal and where there is no edge.
    threshold : float64 array of shape (n_vars,)
        Intercepts of the regressions.
    regression : float64 array of shape (n_vars, n_vars)
        Row v has the weights of the other variables in the regression of v.
    penalty, ebic : float64 array of shape (n_vars,)
        Chosen penalty of each regression, and its EBIC.
    at_end : bool array of shape (n_vars,)
        Whether the smallest penalty of the path was chosen.
    frequency : float64 array of shape (n_vars,)
        Share of the examples in which each variable is 1.
    names : tuple of str, or None
        Names of the variables.
    """

    weight: NDArray[np.float64]
    threshold: NDArray[np.float64]
    regression: NDArray[np.float64]
    penalty: NDArray[np.float64]
    ebic: NDArray[np.float64]
    at_end: NDArray[np.bool_]
    frequency: NDArray[np.float64]
    names: tuple[str, ...] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the variables; V0, V1, ... if they have none."""
        return self.names or tuple(f"V{v}" for v in range(len(self.threshold)))

    def edges(self) -> NDArray[np.int64]:
        """Return the edges as pairs of variables, strongest first.

        Returns
        -------
        int64 array of shape (n_edges, 2)
            Pairs (u, v) with u < v.
        """
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
        return markov_network(n_vars, build_pair_features(n_vars, edges), weight, self.names)

    def edges_frame(
        self, stability: "EdgeStability | None" = None, coding: str = "0/1"
    ) -> "pd.DataFrame":
        """Return the edges as a table, strongest first.

        Parameters
        ----------
        stability
            Result of `bootstrap`; its columns are added, and then the pairs that are edges in
            resamples only, most frequent first, with weight 0.
        coding
            Values of the variables that the weights are for: "0/1" or "-1/1".

        Returns
        -------
        pandas.DataFrame
            Columns `source`, `target`, `weight`, `in_regression_of_source` and
            `in_regression_of_target`; with `stability` also `bootstrap_share`, `bootstrap_mean`,
            `bootstrap_low` and `bootstrap_high`.
        """
        import pandas as pd

        scale, _ = self._in_coding(coding)
        pairs = self.edges()
        if stability is not None:
            pairs = np.concatenate([pairs, stability.pairs_beside(self.weight)])
        labels, (u, v) = np.array(self.labels, dtype=object), pairs.T
        columns = {
            "source": labels[u],
            "target": labels[v],
            "weight": scale * self.weight[u, v],
            "in_regression_of_source": scale * self.regression[u, v],
            "in_regression_of_target": scale * self.regression[v, u],
        }
        if stability is not None:
            columns["bootstrap_share"] = stability.share[u, v]
            columns["bootstrap_mean"] = scale * stability.mean[u, v]
            columns["bootstrap_low"] = scale * stability.low[u, v]
            columns["bootstrap_high"] = scale * stability.high[u, v]
        return pd.DataFrame(columns)

    def variables_frame(self, coding: str = "0/1") -> "pd.DataFrame":
        """Return the variables as a table, in their order.

        Parameters
        ----------
        coding
            Values of the variables that thresholds and strengths are for: "0/1" or "-1/1".

        Returns
        -------
        pandas.DataFrame
            Columns `variable`, `frequency` (of the value 1), `threshold`, `degree` (number of
            edges), `strength` (sum of their absolute weights), `penalty` and `ebic`.
        """
        import pandas as pd

        scale, threshold = self._in_coding(coding)
        return pd.DataFrame(
            {
                "variable": self.labels,
                "frequency": self.frequency,
                "threshold": threshold,
                "degree": (self.weight != 0).sum(axis=1),
                "strength": scale * np.abs(self.weight).sum(axis=1),
                "penalty": self.penalty,
                "ebic": self.ebic,
            }
        )

    def weights_frame(self, coding: str = "0/1") -> "pd.DataFrame":
        """Return the matrix of weights as a table whose rows and columns are the variables."""
        import pandas as pd

        scale, _ = self._in_coding(coding)
        index = pd.Index(self.labels, name="variable")
        return pd.DataFrame(scale * self.weight, index=index, columns=self.labels)

    def _in_coding(self, coding: str) -> tuple[float, NDArray[np.float64]]:
        """Return the factor of all weights, and the thresholds, for other values of variables."""
        if coding not in CODINGS:
            raise InputError(f"coding: expected one of {', '.join(CODINGS)}, got {coding!r}.")
        return (1.0, self.threshold) if coding == "0/1" else (0.25, self.plus_minus()[1])


@dataclass(frozen=True, eq=False)
class EdgeStability:
    """How often, and with what weights, pairs are edges in networks of resampled examples.

    Attributes
    ----------
    share : float64 array of shape (n_vars, n_vars)
        Share of the resamples in which the pair is an edge.
    mean : float64 array of shape (n_vars, n_vars)
        Mean of the weights; where there is no edge, the weight is 0.
    low, high : float64 array of shape (n_vars, n_vars)
        Quantiles `INTERVAL` of the weights.
    """

    share: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def pairs_beside(self, weight: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the pairs that are edges in resamples but have no weight, most frequent first."""
        pairs = np.argwhere(np.triu((self.share > 0) & (weight == 0), 1))
        return pairs[np.argsort(-self.share[tuple(pairs.T)], kind="stable")]


def learn_ising(
    data: Dataset, gamma: float = GAMMA, merge: str = "and", threads: int = 1
) -> IsingNetwork:
    """Estimate an Ising network by L1-penalised logistic regressions.

    Parameters
    ----------
    data
        Training data, with at least two variables and no constant one.
    gamma
        Gamma of the EBIC, at least 0; larger values find fewer edges.
    merge
        "and": an edge needs both regressions; "or": it needs one of them.
    threads
        Number of threads; the result does not depend on it.

    Raises
    ------
    InputError
        gamma is negative, the rule is unknown, there are fewer than two variables, or one is
        constant and so has neither threshold nor edges.

    Notes
    -----
    Every variable is regressed on all others along a path of penalties. Each regression gets the
    penalty with the least EBIC = -2 log-likelihood + k log(n) + 2 gamma k log(n_vars - 1) [2]_,
    where k is its number of neighbours and n the number of examples. The weight of an edge is the
    mean of its weights in the two regressions. The penalty is on inputs scaled to unit variance,
    as in the R package IsingFit. Weights and thresholds are for the values 0 and 1.

    References
    ----------
    .. [1] van Borkulo et al., "A new method for constructing networks from binary data",
       Scientific Reports, 2014.
    .. [2] Foygel and Drton, "Extended Bayesian information criteria for Gaussian graphical
       models", NIPS 2010.
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
    *,
    gamma: float = GAMMA,
    merge: str = "and",
    seed: int = 20,
    threads: int = 1,
) -> EdgeStability:
    """Estimate the network again from resampled examples.

    A variable that is constant in a resample has no edges there.

    Parameters
    ----------
    data
        Training data.
    n_resamples
        Number of resamples, at least 1; each has as many examples as the data.
    gamma, merge
        As in `learn_ising`.
    seed
        Seed of the resamples.
    threads
        Number of threads; the result does not depend on it.

    Raises
    ------
    InputError
        There is no resample to draw.

    References
    ----------
    .. [1] Epskamp, Borsboom and Fried, "Estimating psychological networks and their accuracy",
       Behavior Research Methods, 2018.
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
        for block in track(blocks, "bootstrap"):
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
        read_only(data.frequency),
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
