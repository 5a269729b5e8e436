"""Speed of GSSL: generation, evaluation beside what the machine can do, one setting, the grid.

The paper's seconds are those of GSSL Table 3, on another machine.
"""

import itertools
import time
from typing import Any

import numpy as np

from benchmarks.measure import Bench, Figure, measure_seconds
from mnlearn.data.dataset import Dataset
from mnlearn.kernels.arithmetic.bits import add_where, sum_where
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.likelihood.packed_columns import BLOCK
from mnlearn.learning.features.generation import INITIAL, generate_features
from mnlearn.learning.tuning import tune
from mnlearn.learning.weights.arrangement import arrange
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.fit import MAX_ITERATIONS, fit_weights
from mnlearn.learning.weights.packed_likelihood import RewrittenLikelihood, arrange_packed
from mnlearn.methods.gssl import GSSL
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring.any_model import pll
from mnlearn.scoring.metrics import mean_score
from mnlearn_studies.study.published import Source, load_published, lookup

PENALTY = Penalty(0.5, 5.0)
# The paper starts at all values of the examples on these datasets, judging by its numbers of unique
# features.
FULL = ("nltcs", "msnbc", "plants", "accidents", "pumsb_star", "dna")
# On these datasets every point of a grid can be learned from the start in minutes.
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
    began = time.process_time()
    run = generate_features(train, n_generated, initial)
    generating = time.process_time() - began
    length = float(np.diff(run.start)[run.n_initial :].mean())
    rate = f"{n_generated / generating / 1e6:,.1f} M features/s, mean length {length:.1f}"
    bench.add(Figure("generate features", name, generating, rate))
    began = time.process_time()
    features = run.features(n_generated, threshold)
    likelihood = arrange(features, train)
    arranging = time.process_time() - began
    learned = fit_weights(likelihood, PENALTY, screen=True)
    total = generating + arranging + learned.seconds
    theirs = seconds_printed.get(name)
    score = _score(train, features, learned.weight, valid)
    longest = LONGER * MAX_ITERATIONS
    longer = fit_weights(likelihood, PENALTY, max_iterations=longest, screen=True)
    gained = _score(train, features, longer.weight, valid) - score
    bench.add(
        Figure(
            "GSSL, one setting",
            name,
            total,
            f"{len(features):,} features",
            peer="" if theirs is None else "GSSL Table 3",
            peer_scope="" if theirs is None else "published",
            peer_seconds=None if theirs is None else theirs.value,
            ratio=None if theirs is None else theirs.value / total,
            note=f"validation PLL {score:.4f}; with {LONGER} times the iterations "
            f"{100 * gained / abs(score):+.3f} %",
        )
    )
    _measure_evaluation(bench, name, features, train)
    if name in SMALL:
        _measure_grid(bench, name, train, valid)


def _score(train: Dataset, features: FeatureSet, weight: np.ndarray, valid: Dataset) -> float:
    return pll(MarkovNetwork(train.schema, features, weight), valid).mean


def _measure_evaluation(bench: Bench, name: str, features: FeatureSet, train: Dataset) -> None:
    """Measure value and gradient of the features as they are, and in the way that is chosen.

    Rows times columns are what is added up in one direction.
    """
    likelihood = arrange_packed(features, train)
    w = np.full(likelihood.n_features, 0.01)
    seconds = measure_seconds(lambda: likelihood.value_and_gradient(w))
    n_rows = 64 * likelihood.data.n_words
    work = 2.0 * len(likelihood.many) * n_rows
    parts = (likelihood.many, likelihood.few)
    n_bytes = sum(array.nbytes for part in parts for array in vars(part).values())
    n_bytes += likelihood.rows.nbytes + likelihood.features.code.nbytes
    n_literals = len(likelihood.features.code)
    note = (
        f"{100 * work / seconds / measure_peak_rate():.0f} % of masked sums in the nearest cache; "
        f"{n_bytes / n_literals:.0f} bytes a literal with {len(likelihood.rows) / 1e6:.1f} M rows "
        "in lists"
    )
    rate = f"{likelihood.n_features:,} features, {work / seconds / 1e9:,.1f} G rows x columns/s"
    bench.add(Figure("value and gradient, packed", name, seconds, rate, note=note))
    chosen = arrange(features, train)
    if isinstance(chosen, RewrittenLikelihood):
        of_chosen = measure_seconds(lambda: chosen.value_and_gradient(w))
        rate = f"{seconds / of_chosen:.1f}x as fast by rare values"
        bench.add(Figure("value and gradient, rewritten", name, of_chosen, rate))


@kernel
def _masked_sums(x: Any, words: Any, places: Any, n_words: int, times: int) -> float:
    total = 0.0
    for _ in range(times):
        add_where(x, words, places, n_words, np.float32(1e-9))  # type: ignore[call-arg]
        total += sum_where(x, words, places, n_words)
    return total


def measure_peak_rate() -> float:
    """Return how many numbers a second are added under masks that stay in the nearest cache."""
    room = np.zeros(64 * BLOCK + 16, np.float32)
    skip = (-room.ctypes.data % 64) // 4
    x = room[skip : skip + 64 * BLOCK]
    words = np.random.default_rng(0).integers(0, 2**64, 2 * BLOCK, np.uint64)
    times = 20_000

    def work() -> None:
        _masked_sums(x, words, (0, BLOCK), BLOCK, times)

    work()
    return 2.0 * times * 64 * BLOCK / measure_seconds(work)


def _measure_grid(bench: Bench, name: str, train: Dataset, valid: Dataset) -> None:
    """Compare a part of the study's grid with one in which every point is learned from zero."""
    grid = GSSL.grid(
        {
            "initial": list(INITIAL),
            "n_generated": [GRID_GENERATED],
            "threshold": [1, 2, 5],
            "l1": [1, 5, 10],
            "sd": [0.1, 0.5, 1.0],
        }
    )
    names = GSSL.stages[-1].parameters
    criterion = mean_score(GSSL.criterion, valid)
    on_paths = tune(GSSL, train, grid, criterion).trace
    from_zero = []
    for point in itertools.product(*(grid[name] for name in names)):
        # In a grid of one point learning starts at zero.
        alone = GSSL.grid(dict(zip(names, point, strict=True)))
        from_zero += tune(GSSL, train, alone, criterion).trace
    rows = range(len(on_paths))
    best = {
        way: max(rows, key=lambda row: trace[row]["validation"])
        for way, trace in (("paths", on_paths), ("zero", from_zero))
    }
    chosen = {way: tuple(on_paths[row][name] for name in names) for way, row in best.items()}
    of_paths, of_zero = (from_zero[best[way]]["validation"] for way in ("paths", "zero"))
    seconds, of_all = (sum(row["seconds_weights"] for row in t) for t in (on_paths, from_zero))
    note = (
        f"all from zero {of_all:.1f} s, {of_all / seconds:.1f}x; chosen "
        f"{chosen['paths']} and {chosen['zero']}, from zero {of_paths:.4f} and {of_zero:.4f}"
    )
    bench.add(Figure("GSSL grid on paths", name, seconds, f"{len(rows)} points", note=note))
