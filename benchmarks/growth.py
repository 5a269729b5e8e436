"""Growth of time with rows, variables, literals and features, on data that are drawn."""

from collections.abc import Iterable
from functools import partial

import numpy as np

from benchmarks.measure import SYNTHETIC, Bench, Figure, measure_seconds
from mnlearn.data.dataset import Dataset
from mnlearn.learning.conversion import Orders, cpd_features, smooth_marginals, to_markov_network
from mnlearn.learning.trees import learn_tree_path
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.models.dependency_network import tree_network
from mnlearn.models.tree_features import tree_features


def measure_growth(bench: Bench) -> None:
    """Measure each task at several sizes; the last row of a task has the fitted exponent."""
    kappa = 1e-4
    _add(
        bench,
        "trees, growth in rows",
        (
            (n, measure_seconds(partial(learn_tree_path, _draw(n, 100), kappa), 2))
            for n in (4000, 8000, 16000, 32000)
        ),
    )
    _add(
        bench,
        "trees, growth in variables",
        (
            (n, measure_seconds(partial(learn_tree_path, _draw(8000, n), kappa), 2))
            for n in (50, 100, 200, 400)
        ),
    )
    base = _draw(8000, 100)
    _add(bench, "conversion, growth in literals", map(partial(_convert, base), (1e3, 10, 5, 3, 2)))
    _add(bench, "gradient, growth in features", _gradients(base))


def _draw(n_rows: int, n_vars: int) -> Dataset:
    rng = np.random.default_rng(0)
    rows = rng.random((n_rows, n_vars)) < 0.2
    rows[:, 1::2] ^= rows[:, ::2] & (rng.random((n_rows, n_vars // 2)) < 0.5)
    return Dataset.from_arrays(rows)


def _convert(base: Dataset, divisor: float) -> tuple[int, float]:
    network = tree_network(learn_tree_path(base, 1 / divisor).trees)
    product, orders = smooth_marginals(base), Orders(np.arange(base.n_vars))
    seconds = measure_seconds(partial(to_markov_network, network, product, orders))
    return len(cpd_features(network)[0].var), seconds


def _gradients(base: Dataset) -> Iterable[tuple[int, float]]:
    features = tree_features(learn_tree_path(base, 1.0).trees, "prune-5")
    rng = np.random.default_rng(0)
    for count in [len(features) // k for k in (8, 4, 2, 1)]:
        chosen = features.select(np.sort(rng.permutation(len(features))[:count]))
        likelihood = arrange_stored(chosen, base)
        gradient = partial(likelihood.value_and_gradient, np.full(count, 0.01))
        yield count, measure_seconds(gradient)


def _add(bench: Bench, task: str, measured: Iterable[tuple[int, float]]) -> None:
    found: list[tuple[int, float]] = []
    for size, seconds in measured:
        found.append((size, seconds))
        bench.add(Figure(task, SYNTHETIC, seconds, rate_of(found), size=size))


def rate_of(found: list[tuple[int, float]]) -> str:
    """Return the exponent with which seconds grow with sizes, as text; nothing for one size."""
    if len(found) < 2:
        return ""
    x, seconds = np.log(found).T
    return f"time ~ size^{np.polyfit(x, seconds, 1)[0]:.2f} up to {found[-1][0]:,}"
