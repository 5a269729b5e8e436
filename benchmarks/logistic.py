"""Speed of the logistic regressions: beside Libra's and scikit-learn's liblinear.

All three penalise the intercept here, as Libra and liblinear do.
"""

import time

import numpy as np
from scipy import sparse

from benchmarks.conversion import measure_conversion
from benchmarks.measure import (
    Bench,
    Figure,
    compare_seconds,
    describe_score,
    measure_seconds,
)
from mnlearn.data.dataset import Dataset
from mnlearn.learning.logistic import TOLERANCE, LogisticPath, learn_logistic_path
from mnlearn.scoring.any_model import pll
from mnlearn_studies.datasets.registry import load_registry

PENALTY = 2.0
# The grid of the DN2MN paper.
PENALTIES = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
# liblinear is timed on this many variables, spread over all.
N_SAMPLED = 5
# Its own tolerances, loosest first: the first that reaches our objective is timed.
LIBRARY_TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def measure_logistic(bench: Bench, name: str, train: Dataset, test: Dataset) -> None:
    """Measure one penalty and the path on datasets that Libra was timed on, or embedded ones."""
    peer = bench.peer(name, rf"dnlearn -i {name}\.train\.data -logistic -l1 {PENALTY:g}")
    if name in load_registry() and peer is None:
        return
    seconds = measure_seconds(lambda: learn_logistic_path(train, [PENALTY], free_intercept=False))
    path = learn_logistic_path(train, [PENALTY], free_intercept=False)
    network = path.network(PENALTY)
    note = describe_score(pll(network, test).mean, peer)
    rate = f"{train.n_vars / seconds:,.0f} regressions/s"
    task = f"logistic, penalty {PENALTY:g}"
    bench.add(Figure(task, name, seconds, rate, **compare_seconds(peer, seconds), note=note))
    _measure_library(bench, name, train, path, ours_seconds=seconds)
    seconds = measure_seconds(
        lambda: learn_logistic_path(train, PENALTIES, free_intercept=False), 1
    )
    rate = f"{len(PENALTIES) * train.n_vars / seconds:,.0f} regressions/s"
    bench.add(Figure(f"logistic, {len(PENALTIES)} penalties", name, seconds, rate))
    task, of_libra = "conversion, 2n orders, logistic", f"{name}-lr{PENALTY:g}"
    measure_conversion(bench, task, name, network, (train, test), of_libra)


def _measure_library(
    bench: Bench, name: str, train: Dataset, path: LogisticPath, *, ours_seconds: float
) -> None:
    """Time liblinear, where installed, until its objective is within our gap of ours."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        return
    varying = np.flatnonzero(np.ptp(train.rows, axis=0))
    sampled = varying[np.linspace(0, len(varying) - 1, N_SAMPLED).astype(int)]
    ones = np.ones((train.n_rows, 1))
    theirs = 0.0
    for v in sampled:
        x = sparse.csr_matrix(np.hstack([np.delete(train.rows, v, axis=1), ones]).astype(float))
        y = train.rows[:, v]
        ours = path.coefficient[0][[v]].toarray()[0]
        ours = np.append(np.delete(ours, v), path.intercept[0, v])
        reached = _objective(x, y, train.weight, ours) + TOLERANCE * path.constant_loss[v]
        for tolerance in LIBRARY_TOLERANCES:
            library = LogisticRegression(
                C=1 / PENALTY, l1_ratio=1, solver="liblinear", fit_intercept=False,
                tol=tolerance, max_iter=10000, random_state=0,
            )  # fmt: skip
            began = time.process_time()
            library.fit(x, y, train.weight)
            seconds = time.process_time() - began
            if _objective(x, y, train.weight, library.coef_[0]) <= reached:
                break
        theirs += seconds
    theirs *= train.n_vars / len(sampled)
    bench.add(
        Figure(
            f"logistic, penalty {PENALTY:g}, liblinear",
            name,
            theirs,
            f"{train.n_vars / theirs:,.1f} regressions/s",
            note=f"ours {theirs / ours_seconds:,.1f}x as fast; {len(sampled)} variables timed",
        )
    )


def _objective(
    x: sparse.csr_matrix, y: np.ndarray, weight: np.ndarray, coefficient: np.ndarray
) -> float:
    odds = x @ coefficient
    loss = weight @ np.logaddexp(0.0, np.where(y == 1, -odds, odds))
    return float(loss + PENALTY * np.abs(coefficient).sum())
