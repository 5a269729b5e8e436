"""Budgets of edges: how far they are used, when they end a search, and what is kept of them."""

import numpy as np
import pytest

from mnlearn.data.dataset import merge_rows
from mnlearn.learning import shares
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.circuits.growth import CircuitGrowth, EdgeBudgets, _last_budget
from mnlearn.learning.circuits.markov import MarkovGrowth
from mnlearn.learning.learner import Task
from mnlearn.learning.weights.descent import Penalty
from mnlearn.methods import load_learner

PENALTY = Penalty(0.8, 0.5)
LEARNER = load_learner("acmn")


@pytest.fixture(scope="module")
def train():
    """Examples of 6 variables, of which each depends on the two before it."""
    rows = np.random.default_rng(5).integers(0, 2, (400, 6))
    copied = np.random.default_rng(6).random(rows.shape) < 0.8
    for v in range(2, 6):
        rows[copied[:, v], v] = (rows[:, v - 1] & rows[:, v - 2])[copied[:, v]] ^ (v % 2)
    return merge_rows(rows)


def test_a_split_that_just_fits_is_made(train):
    model = MarkovGrowth(train, PENALTY)
    n_edges = model.circuit.n_edges
    larger = CircuitGrowth(model, 0.05, 0.0, 1000)
    larger.grow(n_edges)
    just = n_edges + larger._pending.n_new_edges
    assert 4 <= just - n_edges < 30
    model = MarkovGrowth(train, PENALTY)
    CircuitGrowth(model, 0.05, 0.0, just).grow(just)
    assert model.circuit.n_edges == just


def fitted(budgets, train, n_edges):
    prices = LEARNER.choose({"max_edges": n_edges, "split_cost": 0.5})
    model = budgets.fit(lambda: MarkovGrowth(train, PENALTY), prices).model
    return model.n_edges, model.child.tobytes(), model.weight.tobytes()


@pytest.mark.parametrize("again", [False, True])
def test_a_smaller_budget_after_a_larger_one_is_grown_anew(train, tmp_path, monkeypatch, again):
    """In one search, and in a search that finds the state of the larger budget on disk."""
    monkeypatch.setattr(shares, "SECONDS_BETWEEN_STATES", -1.0)
    grid = LEARNER.grid({"max_edges": [60, 90, 250]})
    kept = Task(train, grid, store=Checkpoints(tmp_path))
    budgets = EdgeBudgets(kept)
    large = fitted(budgets, train, 250)
    small = fitted(EdgeBudgets(kept) if again else budgets, train, 90)
    assert small == fitted(EdgeBudgets(Task(train, grid)), train, 90)
    assert small[0] <= 90 < large[0]
    # A state within the budget is where the growth goes on.
    monkeypatch.setattr(MarkovGrowth, "first", lambda self: pytest.fail("began again"))
    assert fitted(EdgeBudgets(kept), train, 250) == large


@pytest.mark.parametrize(
    ("scores", "last"),
    [
        ([], None),
        ([3, 2, 2], 30),
        ([1, 3, 2], None),
        ([1, 3, 2, 2], 40),
        ([1, 3, 2, 3], None),
        ([1, 3, 2, 4, 3], None),
        ([1, 3, 2, 2, 4], 40),
    ],
)
def test_two_budgets_in_a_row_below_the_best_end_the_growth(scores, last):
    by_budget = {10 * k: float(score) for k, score in enumerate(scores, start=1)}
    assert _last_budget(by_budget, 100) == last
    if last is not None:
        assert _last_budget(by_budget, last) is None
        assert _last_budget(by_budget, last + 1) == last
