"""Speed of weight learning until the objective at which Libra stops, by both learners.

DTSL, GSSL, BLM and L1 learn weights by `weight_paths`: features are arranged by `likelihood_of`
and searched by `learn_screened_weights`. LW learns by `pseudo_likelihood` and `learn_weights`.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.method import Task
from mnlearn.learning.owlqn import MEMORY, Progress, minimise
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import MAX_ITERATIONS, learn_weights, preconditioner
from mnlearn.learning.weights.paths import WeightPaths, weight_paths
from mnlearn.learning.weights.rewritten_likelihood import RewrittenLikelihood
from mnlearn.learning.weights.screening import ScreenedWeights
from mnlearn.learning.weights.stored_likelihood import PseudoLikelihood, pseudo_likelihood
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring.any_model import pll
from mnlearn.study.bench.measure import Bench, Figure, against, score_note, seconds_of

# Libra's weight learner: L-BFGS of this memory from 0 on the weights as they are. It stops when
# so many iterations have lowered the objective by less than this share, or after 100.
LIBRA_MEMORY = 6
LIBRA_WINDOW = 5
LIBRA_TOLERANCE = 1e-3
LIBRA_ITERATIONS = 100


def measure_gradient(
    bench: Bench, name: str, features: FeatureSet, train: Dataset
) -> tuple[PseudoLikelihood, float]:
    """Return the features arranged for `learn_weights`, and the seconds which that took."""
    likelihood = pseudo_likelihood(features, train)
    arranging = seconds_of(lambda: pseudo_likelihood(features, train))
    rate = f"{likelihood.n_pairs / arranging / 1e6:,.0f} M pairs/s"
    bench.add(Figure("arrange features", name, arranging, rate))
    w = np.full(len(features), 0.01)
    seconds = seconds_of(lambda: likelihood.value_and_gradient(w))
    work = likelihood.n_pairs + likelihood.n_cells
    rate = f"{work / seconds / 1e6:,.0f} M pairs and cells/s"
    bench.add(Figure("value and gradient", name, seconds, rate))
    return likelihood, arranging


def measure_weights(
    bench: Bench,
    name: str,
    features: FeatureSet,
    arranged: tuple[PseudoLikelihood, float],
    penalty: Penalty,
    peer: Any,
    parts: tuple[Dataset, Dataset],
) -> MarkovNetwork:
    """Time both learners until Libra's objective, and until their own rule stops them.

    Libra prints no objective. It is that of its optimiser and stopping rule run on our gradient;
    that the test PLL is then Libra's shows that the two are the same.

    parts : training and test data. Returns the network of the screened weights.
    """
    likelihood, arranging = arranged
    test = parts[1]
    reference = libra_state(likelihood, penalty)
    theirs = pll(MarkovNetwork(test.n_vars, features, reference.x), test).mean
    libra = f"Libra's way {reference.n_evaluations} and test PLL {theirs:.4f}"
    kind = f"L1 {penalty.l1:g}" if penalty.sd is None else f"sd {penalty.sd:g}"
    model = _measure_screened(bench, name, features, likelihood, penalty, peer, parts, reference)
    scale = preconditioner(likelihood, penalty.precision)

    def reach() -> Progress:
        return _descend(likelihood, penalty, scale, lambda s: s.objective <= reference.objective)

    state = reach()
    seconds = arranging + seconds_of(reach)
    score = pll(MarkovNetwork(test.n_vars, features, state.x * scale), test).mean
    note = f"{state.n_evaluations} evaluations, {libra}; {score_note(score, peer)}"
    rate = f"{likelihood.n_features:,} features"
    bench.add(Figure(f"weights, {kind}", name, seconds, rate, *against(peer, seconds), note))
    learned = learn_weights(likelihood, penalty)
    score = pll(MarkovNetwork(test.n_vars, features, learned.weight), test).mean
    note = (
        f"stopped by {learned.stopped_by} after {learned.n_evaluations} evaluations, "
        f"{_below(learned.objective, reference)}; {score_note(score, peer)}"
    )
    seconds = arranging + learned.seconds
    bench.add(Figure(f"weights, {kind}, converged", name, seconds, rate, note=note))
    return model


def _measure_screened(
    bench: Bench,
    name: str,
    features: FeatureSet,
    likelihood: PseudoLikelihood,
    penalty: Penalty,
    peer: Any,
    parts: tuple[Dataset, Dataset],
    reference: Progress,
) -> MarkovNetwork:
    """Time the learner of DTSL, GSSL, BLM and L1, features arranged anew in every run."""
    train, test = parts

    def learn(iterations: int) -> tuple[WeightPaths, ScreenedWeights]:
        grid: dict[str, list[Any]] = {"l1": [penalty.l1], "sd": [penalty.sd]}
        paths = weight_paths(Task(train, grid), features, iterations, time.perf_counter())
        return paths, paths.weights(penalty)

    kind = f"L1 {penalty.l1:g}" if penalty.sd is None else f"sd {penalty.sd:g}"
    # This learner cannot be stopped at an objective. It is given as many iterations as that takes.
    needed = iterations_until(
        lambda n: objective_of(likelihood, penalty, learn(n)[1].weight) <= reference.objective
    )
    for task, limit in ((kind, needed), (f"{kind}, converged", MAX_ITERATIONS)):
        paths, learned = learn(limit)
        seconds = seconds_of(lambda limit=limit: learn(limit))  # type: ignore[misc]
        way = "by rare values" if isinstance(paths.likelihood, RewrittenLikelihood) else "as is"
        score = pll(MarkovNetwork(test.n_vars, features, learned.weight), test).mean
        below = _below(objective_of(likelihood, penalty, learned.weight), reference)
        bench.add(
            Figure(
                f"screened weights, {task}",
                name,
                seconds,
                f"{len(features):,} features",
                *(against(peer, seconds) if task == kind else ("", None, None)),
                f"stopped by {learned.stopped_by} after {learned.n_iterations} iterations in "
                f"{learned.n_searches} searches, arranged {way}, {below}; "
                f"{score_note(score, peer)}",
            )
        )
    return MarkovNetwork(test.n_vars, features, learned.weight)


def iterations_until(reached: Callable[[int], bool]) -> int:
    """Return the least number of iterations for which `reached` holds, at most `MAX_ITERATIONS`.

    reached : false up to some number of iterations and true from there on.
    """
    low, high = 1, MAX_ITERATIONS
    while low < high:
        middle = (low + high) // 2
        if reached(middle):
            high = middle
        else:
            low = middle + 1
    return high


def objective_of(likelihood: PseudoLikelihood, penalty: Penalty, w: NDArray[np.float64]) -> float:
    """Return the penalised negative log-pseudo-likelihood, in double precision."""
    value = likelihood.value_and_gradient(w)[0]
    return value + 0.5 * penalty.precision * float(w @ w) + penalty.l1 * float(np.abs(w).sum())


def _below(objective: float, reference: Progress) -> str:
    share = (reference.objective - objective) / abs(objective)
    return f"{100 * share:.3f} % below Libra's objective"


def libra_state(likelihood: PseudoLikelihood, penalty: Penalty) -> Progress:
    """Return the state in which Libra's weight learner stops."""
    objectives: list[float] = []

    def done(state: Progress) -> bool:
        objectives.append(state.objective)
        if len(objectives) <= LIBRA_WINDOW:
            return False
        gained = objectives[-1 - LIBRA_WINDOW] - state.objective
        return gained < LIBRA_TOLERANCE * state.objective

    ones = np.ones(likelihood.n_features)
    return _descend(likelihood, penalty, ones, done, LIBRA_ITERATIONS, LIBRA_MEMORY)


def _descend(
    likelihood: PseudoLikelihood,
    penalty: Penalty,
    scale: NDArray[np.float64],
    done: Callable[[Progress], bool],
    max_iterations: int = 1000,
    memory: int = MEMORY,
) -> Progress:
    def smooth(u: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        w = u * scale
        value, gradient = likelihood.value_and_gradient(w)
        value += 0.5 * penalty.precision * float(w @ w)
        return value, scale * (gradient + penalty.precision * w)

    start = np.zeros(likelihood.n_features)
    return minimise(smooth, start, penalty.l1 * scale, done, max_iterations, memory)[0]
