"""Exact bottom-up search against an independent optimiser, and the approximate one beside it."""

import numpy as np
import pytest
from scipy.optimize import minimize

from made_random import random_data
from mnlearn.learning.features.bottom_up import search_bottom_up, search_exactly
from mnlearn.learning.learner import Start, Task
from mnlearn.learning.weights.descent import Penalty, Stopping
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.methods.blm import BLM
from mnlearn.models.features import atomic_features, canonicalise, concatenate, features_of
from mnlearn.runtime.errors import InputError

PENALTY = Penalty(1.0, 1.0)


def score(conjunctions, data, price):
    """The best score of lists of literals, weights found by bounded L-BFGS on split weights."""
    features, _ = canonicalise(
        concatenate([atomic_features(data.n_vars), features_of(sorted(conjunctions))])
    )
    holds = features.satisfied(data.rows)
    n_vars, n = data.n_vars, len(features)
    flipped = []
    for v in range(n_vars):
        rows = data.rows.copy()
        rows[:, v] ^= 1
        flipped.append(holds.astype(float) - features.satisfied(rows))

    def loss(split):
        w = split[:n] - split[n:]
        value, gradient = 0.5 * w @ w * PENALTY.precision, PENALTY.precision * w
        for difference in flipped:
            margin = difference @ w
            value += data.weight @ np.logaddexp(0.0, -margin)
            gradient = gradient - difference.T @ (data.weight / (1.0 + np.exp(margin)))
        slopes = np.concatenate([gradient + PENALTY.l1, PENALTY.l1 - gradient])
        return value + PENALTY.l1 * split.sum(), slopes

    found = minimize(
        loss, np.zeros(2 * n), jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * n),
        options={"ftol": 1e-12, "gtol": 1e-7, "maxiter": 2000, "maxfun": 5000},
    )  # fmt: skip
    return -found.fun - price * sum(map(len, conjunctions))


def test_no_generalisation_of_what_is_found_scores_higher():
    data, price, k = random_data(3, 40, 5), 0.5, 4
    found = search_exactly(data, PENALTY, "full", k, price=price)
    assert found.replaced[-1] == 0
    assert sum(found.replaced) > 10
    # Members with the weight 0 are not returned, but cost their literals: score by hand.
    members = [
        tuple(found.features.literals(f)) for f in range(len(found.features))
        if found.features.length[f] > 1
    ]  # fmt: skip
    best = score(members, data, price)
    assert -found.objective - price * sum(map(len, members)) == pytest.approx(best, rel=1e-6)
    for member in members:
        rest = [m for m in members if m != member]
        violated = [tuple((v, x) for v, x in member if row[v] != x) for row in data.rows]
        nearest = sorted(filter(None, violated), key=len)[:k]
        for dropped in set(nearest):
            left = tuple(literal for literal in member if literal not in dropped)
            if len(left) > 1:
                changed = {*rest, left}
                assert score(changed, data, price) <= best + 1e-3 * abs(best)


@pytest.mark.parametrize("initial", ["full", "positive"])
def test_the_approximate_search_scores_as_high(initial):
    data, price = random_data(5, 60, 6), 1.0

    def minimum(features):
        likelihood = arrange_stored(features, data)
        return fit_weights(likelihood, PENALTY, max_iterations=1000, stopping=Stopping(1e-8))

    def total(found):
        learned = minimum(found.features)
        paid = (learned.weight != 0.0) & (found.features.length > 1)
        return learned.objective + price * found.features.length[paid].sum()

    exact = search_exactly(data, PENALTY, initial, 5, price=price)
    near = search_bottom_up(data, PENALTY, initial, 5, price=price)
    alone = minimum(atomic_features(6))
    assert total(exact) < alone.objective
    assert total(near) < total(exact) + 0.2 * (alone.objective - total(exact))


def test_chosen_by_a_parameter():
    data = random_data(1, 30, 4)
    grid = BLM.grid({"relearn": "candidate", "initial": "full"})
    learned = BLM(relearn="candidate", initial="full").learn(BLM.prepare(Task(data, grid)), Start())
    found = search_exactly(data, Penalty(1.0, 5.0), "full")
    assert learned.details["n_replaced"] == sum(found.replaced) > 0
    with pytest.raises(InputError, match="relearn: expected one of pass, candidate, got 'never'"):
        BLM.choose({"relearn": "never"})
