"""Speed of GSSL: generation, evaluation beside what the machine can do, one setting, the grid.

The paper's seconds are those of GSSL Table 3, on another machine.
"""

import itertools
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.arithmetic.masked_sums import add_where, sum_where
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.likelihood.packed_columns import BLOCK
from mnlearn.learning.features.generation import INITIAL, generate_features
from mnlearn.learning.method import Fitted, Method, Task
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.tuning import validation_score
from mnlearn.learning.weights.descent import MAX_ITERATIONS
from mnlearn.learning.weights.packed_likelihood import packed_likelihood
from mnlearn.learning.weights.rewritten_likelihood import RewrittenLikelihood, likelihood_of
from mnlearn.learning.weights.screening import learn_screened_weights
from mnlearn.methods import load_method
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring.any_model import pll
from mnlearn.study.bench.measure import Bench, Figure, seconds_of
from mnlearn.study.published import Source, load_published, lookup

PENALTY = Penalty(0.5, 5.0)
# Whose examples become all their values in the paper, to judge by its numbers of unique features.
FULL = ("nltcs", "msnbc", "plants", "accidents", "pumsb_star", "dna")
# Where every point of a grid can be learned from the start in minutes.
SMALL = ("nltcs", "dna")
GRID_GENERATED = 500_000
LONGER = 10


def measure_generated(bench: Bench, name: str, train: Dataset, valid: Dataset) -> None:
    """Measure one dataset: a benchmark with the paper's settings, an embedded one with small."""
    published = load_published()
    printed = {
        quantity: lookup(published, Source("gssl", quantity, study="gssl", table="5")).get(name)
        for quantity in ("n_generated", "threshold")
    }
    seconds_printed = lookup(published, Source("gssl", "seconds_learn", study="gssl", table="3"))
    n_generated = 20_000
    threshold = 1
    if printed["n_generated"] is not None and printed["threshold"] is not None:
        n_generated = int(printed["n_generated"].value)
        threshold = int(printed["threshold"].value)
    initial = "full" if name in FULL else "positive"
    began = time.perf_counter()
    run = generate_features(train, n_generated, initial)
    generating = time.perf_counter() - began
    length = float(np.diff(run.start)[run.n_initial :].mean())
    rate = f"{n_generated / generating / 1e6:,.1f} M features/s, mean length {length:.1f}"
    bench.add(Figure("generate features", name, generating, rate))
    began = time.perf_counter()
    features = run.features(n_generated, threshold)
    likelihood = likelihood_of(features, train)
    arranging = time.perf_counter() - began
    learned = learn_screened_weights(likelihood, PENALTY)
    total = generating + arranging + learned.seconds
    theirs = seconds_printed.get(name)
    score = _score(train, features, learned.weight, valid)
    longer = learn_screened_weights(likelihood, PENALTY, None, LONGER * MAX_ITERATIONS)
    gained = _score(train, features, longer.weight, valid) - score
    bench.add(
        Figure(
            "GSSL, one setting",
            name,
            total,
            f"{len(features):,} features",
            "" if theirs is None else "GSSL Table 3",
            None if theirs is None else theirs.value,
            None if theirs is None else theirs.value / total,
            f"validation PLL {score:.4f}; with {LONGER} times the iterations "
            f"{100 * gained / abs(score):+.3f} %",
        )
    )
    _measure_evaluation(bench, name, features, train)
    if name in SMALL:
        _measure_grid(bench, name, train, valid)


def _score(train: Dataset, features: FeatureSet, weight: np.ndarray, valid: Dataset) -> float:
    return pll(MarkovNetwork(train.n_vars, features, weight), valid).mean


def _measure_evaluation(bench: Bench, name: str, features: FeatureSet, train: Dataset) -> None:
    """Measure value and gradient of the features as they are, and in the way that is chosen.

    Rows times columns are what is added up in one direction.
    """
    likelihood = packed_likelihood(features, train)
    w = np.full(likelihood.n_features, 0.01)
    seconds = seconds_of(lambda: likelihood.value_and_gradient(w))
    n_rows = 64 * likelihood.data.n_words
    work = 2.0 * len(likelihood.many) * n_rows
    parts = (likelihood.many, likelihood.few)
    n_bytes = sum(array.nbytes for part in parts for array in vars(part).values())
    n_bytes += likelihood.rows.nbytes + likelihood.features.code.nbytes
    n_literals = len(likelihood.features.code)
    note = (
        f"{100 * work / seconds / peak_rate():.0f} % of masked sums in the nearest cache; "
        f"{n_bytes / n_literals:.0f} bytes a literal with {len(likelihood.rows) / 1e6:.1f} M rows "
        "in lists"
    )
    rate = f"{likelihood.n_features:,} features, {work / seconds / 1e9:,.1f} G rows x columns/s"
    bench.add(Figure("value and gradient, packed", name, seconds, rate, note=note))
    chosen = likelihood_of(features, train)
    if isinstance(chosen, RewrittenLikelihood):
        of_chosen = seconds_of(lambda: chosen.value_and_gradient(w))
        rate = f"{seconds / of_chosen:.1f}x as fast by rare values"
        bench.add(Figure("value and gradient, rewritten", name, of_chosen, rate))


@kernel
def _masked_sums(x: Any, words: Any, places: Any, n_words: int, times: int) -> float:
    total = 0.0
    for _ in range(times):
        add_where(x, words, places, n_words, np.float32(1e-9))  # type: ignore[call-arg]
        total += sum_where(x, words, places, n_words)
    return total


def peak_rate() -> float:
    """Return how many numbers a second are added under masks that stay in the nearest cache."""
    room = np.zeros(64 * BLOCK + 16, np.float32)
    skip = (-room.ctypes.data % 64) // 4
    x = room[skip : skip + 64 * BLOCK]
    words = np.random.default_rng(0).integers(0, 2**64, 2 * BLOCK, np.uint64)
    times = 20_000

    def work() -> None:
        _masked_sums(x, words, (0, BLOCK), BLOCK, times)

    work()
    return 2.0 * times * 64 * BLOCK / seconds_of(work)


def _measure_grid(bench: Bench, name: str, train: Dataset, valid: Dataset) -> None:
    """Compare a part of the study's grid with one in which every point is learned from zero."""
    method = load_method("gssl")
    grid = method.grid(
        {
            "initial": list(INITIAL),
            "n_generated": [GRID_GENERATED],
            "threshold": [1, 2, 5],
            "l1": [1, 5, 10],
            "sd": [0.1, 0.5, 1.0],
        }
    )

    criterion = validation_score(method, valid)
    scores: dict[str, dict[Point, float]] = {}
    seconds = {}
    for way, fitted in (
        ("paths", _on_paths(method, Task(train, grid, criterion=criterion))),
        ("zero", _from_zero(method, train, grid)),
    ):
        scores[way] = {point: criterion(learned.model) for point, learned in fitted.items()}
        seconds[way] = sum(learned.seconds["weights"] for learned in fitted.values())
    best = {way: max(by_point, key=lambda p: by_point[p]) for way, by_point in scores.items()}
    of_paths, of_zero = (scores["zero"][best[way]] for way in ("paths", "zero"))
    note = (
        f"all from zero {seconds['zero']:.1f} s, {seconds['zero'] / seconds['paths']:.1f}x; chosen "
        f"{best['paths']} and {best['zero']}, from zero {of_paths:.4f} and {of_zero:.4f}"
    )
    points = f"{len(scores['paths'])} points"
    bench.add(Figure("GSSL grid on paths", name, seconds["paths"], points, note=note))


Point = tuple[Any, ...]


def _points(method: Method, grid: Mapping[str, list[Any]]) -> Iterator[tuple[Point, Any]]:
    """Yield every point of the grid, and the parameters of the method there."""
    names = method.stages[-1].parameters
    for point in itertools.product(*(grid[name] for name in names)):
        yield point, method.choose(dict(zip(names, point, strict=True)))


def _on_paths(method: Method, task: Task) -> dict[Point, Fitted]:
    workspace, learn = method.prepare(task), method.stages[-1].learn
    return {point: learn(workspace, p, None) for point, p in _points(method, task.grid)}


def _from_zero(
    method: Method, train: Dataset, grid: Mapping[str, list[Any]]
) -> dict[Point, Fitted]:
    """Learn every point by a grid of it alone, in which it is the strongest penalty."""
    names, learn = method.stages[-1].parameters, method.stages[-1].learn
    found = {}
    for point, p in _points(method, grid):
        alone = {name: [value] for name, value in zip(names, point, strict=True)}
        found[point] = learn(method.prepare(Task(train, alone)), p, None)
    return found
