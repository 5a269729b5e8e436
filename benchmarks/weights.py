"""Speed of weight learning until the objective at which Libra stops, by both learners.

DTSL, GSSL, BLM and L1 arrange features by `arrange` and search them with screening. LW arranges
features by `arrange_stored` and searches all of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import (
    Bench,
    Figure,
    compare_seconds,
    describe_score,
    measure_seconds,
)
from mnlearn.data.dataset import Dataset
from mnlearn.learning.weights.arrangement import arrange
from mnlearn.learning.weights.descent import REFERENCE, Likelihood, Penalty, Stopping
from mnlearn.learning.weights.fit import MAX_ITERATIONS, WeightFit, fit_weights
from mnlearn.learning.weights.packed_likelihood import RewrittenLikelihood
from mnlearn.learning.weights.stored_likelihood import StoredLikelihood, arrange_stored
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring.any_model import pll

# Libra's weight learner is L-BFGS of this memory on unscaled weights, which start at 0. It stops by
# the rule `REFERENCE`, or after this number of iterations.
LIBRA_MEMORY = 6
LIBRA_ITERATIONS = 100


def measure_gradient(
    bench: Bench, name: str, features: FeatureSet, train: Dataset
) -> tuple[StoredLikelihood, float]:
    """Return the features arranged for `fit_weights`, and the seconds which that took."""
    likelihood = arrange_stored(features, train)
    arranging = measure_seconds(lambda: arrange_stored(features, train))
    rate = f"{likelihood.n_pairs / arranging / 1e6:,.0f} M pairs/s"
    bench.add(Figure("arrange features", name, arranging, rate))
    w = np.full(len(features), 0.01)
    seconds = measure_seconds(lambda: likelihood.value_and_gradient(w))
    work = likelihood.n_pairs + likelihood.n_cells
    rate = f"{work / seconds / 1e6:,.0f} M pairs and cells/s"
    bench.add(Figure("value and gradient", name, seconds, rate))
    return likelihood, arranging


def measure_weights(
    bench: Bench,
    name: str,
    features: FeatureSet,
    arranged: tuple[StoredLikelihood, float],
    *,
    penalty: Penalty,
    peer: Any,
    parts: tuple[Dataset, Dataset],
) -> MarkovNetwork:
    """Time both learners until Libra's objective, and until their own rule stops them.

    Libra prints no objective. The one used here is that of Libra's optimiser and stopping rule on
    our gradient. Its test PLL is that of Libra, which shows that the two objectives are the same.

    parts : training and test data. Returns the network of the screened weights.
    """
    likelihood, arranging = arranged
    test = parts[1]
    reference = fit_as_libra(likelihood, penalty)
    theirs = pll(MarkovNetwork(test.schema, features, reference.weight), test).mean
    libra = f"Libra's way {reference.n_evaluations} and test PLL {theirs:.4f}"
    kind = f"L1 {penalty.l1:g}" if penalty.sd is None else f"sd {penalty.sd:g}"
    model = _measure_screened(
        bench,
        name,
        features,
        likelihood,
        penalty=penalty,
        peer=peer,
        parts=parts,
        reference=reference,
    )
    as_good = Stopping(0.0, gap=False, objective=reference.objective)

    def reach() -> WeightFit:
        return fit_weights(likelihood, penalty, max_iterations=1000, stopping=as_good)

    reached = reach()
    seconds = arranging + measure_seconds(reach)
    score = pll(MarkovNetwork(test.schema, features, reached.weight), test).mean
    note = f"{reached.n_evaluations} evaluations, {libra}; {describe_score(score, peer)}"
    rate = f"{likelihood.n_features:,} features"
    bench.add(
        Figure(f"weights, {kind}", name, seconds, rate, **compare_seconds(peer, seconds), note=note)
    )
    learned = fit_weights(likelihood, penalty)
    score = pll(MarkovNetwork(test.schema, features, learned.weight), test).mean
    note = (
        f"stopped by {learned.stopped_by} after {learned.n_evaluations} evaluations, "
        f"{_describe_gain(learned.objective, reference)}; {describe_score(score, peer)}"
    )
    seconds = arranging + learned.seconds
    bench.add(Figure(f"weights, {kind}, converged", name, seconds, rate, note=note))
    return model


def _measure_screened(
    bench: Bench,
    name: str,
    features: FeatureSet,
    likelihood: StoredLikelihood,
    *,
    penalty: Penalty,
    peer: Any,
    parts: tuple[Dataset, Dataset],
    reference: WeightFit,
) -> MarkovNetwork:
    """Time the learner of DTSL, GSSL, BLM and L1, features arranged anew in every run."""
    train, test = parts

    def learn(iterations: int) -> tuple[Likelihood, WeightFit]:
        arranged = arrange(features, train)
        return arranged, fit_weights(arranged, penalty, max_iterations=iterations, screen=True)

    kind = f"L1 {penalty.l1:g}" if penalty.sd is None else f"sd {penalty.sd:g}"
    # The screened search sums in single precision, so that it is not stopped at an objective. It
    # gets the number of iterations that reaching the objective takes.
    needed = count_iterations_until(
        lambda n: objective_of(likelihood, penalty, learn(n)[1].weight) <= reference.objective
    )
    for task, limit in ((kind, needed), (f"{kind}, converged", MAX_ITERATIONS)):
        arranged, learned = learn(limit)
        seconds = measure_seconds(lambda limit=limit: learn(limit))  # type: ignore[misc]
        way = "by rare values" if isinstance(arranged, RewrittenLikelihood) else "as is"
        score = pll(MarkovNetwork(test.schema, features, learned.weight), test).mean
        below = _describe_gain(objective_of(likelihood, penalty, learned.weight), reference)
        bench.add(
            Figure(
                f"screened weights, {task}",
                name,
                seconds,
                f"{len(features):,} features",
                **compare_seconds(peer if task == kind else None, seconds),
                note=f"stopped by {learned.stopped_by} after {learned.n_iterations} iterations in "
                f"{learned.n_searches} searches, arranged {way}, {below}; "
                f"{describe_score(score, peer)}",
            )
        )
    return MarkovNetwork(test.schema, features, learned.weight)


def count_iterations_until(reached: Callable[[int], bool]) -> int:
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


def objective_of(likelihood: StoredLikelihood, penalty: Penalty, w: NDArray[np.float64]) -> float:
    """Return the penalised negative log-pseudo-likelihood, in double precision."""
    value = likelihood.value_and_gradient(w)[0]
    return value + 0.5 * penalty.precision * float(w @ w) + penalty.l1 * float(np.abs(w).sum())


def _describe_gain(objective: float, reference: WeightFit) -> str:
    share = (reference.objective - objective) / abs(objective)
    return f"{100 * share:.3f} % below Libra's objective"


def fit_as_libra(likelihood: Likelihood, penalty: Penalty) -> WeightFit:
    """Return the weights at which Libra's weight learner stops."""
    return fit_weights(
        likelihood,
        penalty,
        max_iterations=LIBRA_ITERATIONS,
        stopping=REFERENCE,
        scale=np.ones(likelihood.n_features),
        memory=LIBRA_MEMORY,
    )
