"""Ising networks of resampled examples, and of some of the examples."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.learning.ising.estimation import GAMMA, check_settings, estimate
from mnlearn.learning.ising.stability import (
    DROPPED,
    INTERVAL,
    MEASURES,
    CaseDropping,
    EdgeStability,
    sum_by_variable,
)
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.runtime.progress import begin_work
from mnlearn.runtime.random_streams import SEED, stream

T = TypeVar("T")


def bootstrap(
    data: Dataset,
    n_resamples: int,
    *,
    gamma: float = GAMMA,
    merge: str = "and",
    seed: int = SEED,
    threads: int = 1,
) -> EdgeStability:
    """Estimate the network again from resampled examples (Epskamp, Borsboom & Fried 2018).

    A variable of which a value occurs fewer than twice in a resample has no edges there.
    """
    check_settings(gamma, merge)
    if n_resamples < 1:
        raise InputError(f"n_resamples: expected at least 1, got {n_resamples}.")
    upper = np.triu_indices(data.n_vars, 1)

    def learn(b: int) -> NDArray[np.float64]:
        resample = data.resample(stream(seed, "ising", "bootstrap", str(b)))
        return estimate(resample, gamma, merge).weight[upper]

    weight = np.array(map_resamples(learn, n_resamples, "bootstrap", threads))
    quantiles = np.quantile(weight, INTERVAL, axis=0)
    symmetric = []
    for values in ((weight != 0).mean(axis=0), weight.mean(axis=0), *quantiles):
        matrix = np.zeros((data.n_vars, data.n_vars))
        matrix[upper] = values
        symmetric.append(matrix + matrix.T)
    share, mean, low, high = symmetric
    return EdgeStability(share, mean, low, high, weight)


def drop_cases(
    data: Dataset,
    n_resamples: int,
    *,
    gamma: float = GAMMA,
    merge: str = "and",
    seed: int = SEED,
    threads: int = 1,
) -> CaseDropping:
    """Estimate the network again from some of the examples (Epskamp, Borsboom & Fried 2018)."""
    check_settings(gamma, merge)
    if n_resamples < 1:
        raise InputError(f"n_resamples: expected at least 1, got {n_resamples}.")
    count, upper = count_rows(data), np.triu_indices(data.n_vars, 1)

    def learn(k: int) -> NDArray[np.float64]:
        share, number = divmod(k, n_resamples)
        rng = stream(seed, "ising", "case drop", str(share), str(number))
        n_kept = max(1, round((1 - DROPPED[share]) * int(count.sum())))
        drawn = draw_rows(count, n_kept, rng)
        return estimate(select_rows(data, drawn), gamma, merge).weight[upper]

    network = estimate(data, gamma, merge, threads)
    signed = network.signed[upper]
    whole = _measures(network.weight[upper], signed, data.n_vars)
    weights = np.array(map_resamples(learn, n_resamples * len(DROPPED), "case drops", threads))
    some = _measures(weights, signed, data.n_vars)
    correlation = {
        measure: _correlate(whole[measure], some[measure]).reshape(len(DROPPED), n_resamples)
        for measure in MEASURES
    }
    return CaseDropping(np.array(DROPPED), correlation)


def _measures(
    weights: NDArray[np.float64], signed: NDArray[np.bool_], n_vars: int
) -> dict[str, NDArray[np.float64]]:
    """Return what is compared, by its name; the last axis of each array has pairs or variables."""
    return {
        "edges": weights,
        "strength": sum_by_variable(np.abs(weights), n_vars),
        "expected_influence": sum_by_variable(np.where(signed, weights, 0.0), n_vars),
    }


def _correlate(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlation of each row of `y` with `x`; NaN where either is constant."""
    x, y = x - x.mean(), y - y.mean(axis=1, keepdims=True)
    product = np.sqrt((x**2).sum() * (y**2).sum(axis=1))
    return np.divide(y @ x, product, out=np.full(len(y), np.nan), where=product > 1e-12)


def count_rows(data: Dataset) -> NDArray[np.int64]:
    """Return how often each row occurs."""
    if data.is_weighted:
        raise InputError("examples with weights cannot be dropped or exchanged.", where=DATA)
    return data.weight.astype(np.int64)


def draw_rows(count: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how often each row is among `n` examples that are drawn without replacement."""
    return rng.multivariate_hypergeometric(count, n, method="marginals")


def select_rows(data: Dataset, count: NDArray[np.int64]) -> Dataset:
    """Return the dataset in which each row of `data` occurs so many times."""
    kept = np.flatnonzero(count)
    return merge_rows(data.rows[kept], count[kept].astype(np.float64), data.schema)


def map_resamples(learn: Callable[[int], T], n_resamples: int, label: str, threads: int) -> list[T]:
    """Return learn(0), learn(1), ... and log the progress under a label."""
    size = -(-n_resamples // 20)
    blocks = [range(a, min(a + size, n_resamples)) for a in range(0, n_resamples, size)]
    found: list[T] = []
    with ThreadPoolExecutor(threads) as pool, begin_work(label, n_resamples) as work:
        for block in blocks:
            found += pool.map(learn, block)
            work.advance(len(block), f"{label}: {len(found)}/{n_resamples}")
    return found
