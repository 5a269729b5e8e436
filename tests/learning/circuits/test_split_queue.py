"""The compiled queue of splits chooses what a heap in plain Python chooses."""

import numpy as np
import pytest

from mnlearn.data.dataset import merge_rows
from mnlearn.learning.circuits import growth as growth_module
from mnlearn.learning.circuits.bayes import BayesGrowth
from mnlearn.learning.circuits.growth import CircuitGrowth
from mnlearn.learning.circuits.markov import MarkovGrowth
from mnlearn.learning.weights.descent import Penalty
from plain_queue import PlainQueue

N = 12
SPLIT_COST = 0.2


@pytest.fixture(scope="module")
def train():
    """Examples of two clusters, in which variables depend on those before them."""
    rng = np.random.default_rng(11)
    rows = rng.integers(0, 2, (900, N))
    for v in range(2, N):
        copied = rng.random(len(rows)) < 0.7
        rows[copied, v] = (rows[copied, v - 1] & rows[copied, v - 2]) ^ (v % 2)
    rows[:300, ::2] |= rng.integers(0, 2, (300, 1))
    return merge_rows(rows)


def choices(model, limit, *, quick, resume_at=None):
    """Return all splits of a growth, and its model; resume once from a stored state."""
    grown = CircuitGrowth(model(), 0.5, SPLIT_COST, limit, quick=quick)
    found = []
    while (split := grown._next()) is not None:
        found.append((split.group, split.var, split.gain, split.n_new_edges, grown.edge_cost))
        grown._take(split)
        if len(found) == resume_at:
            state = grown.state()
            grown = CircuitGrowth(model(), 0.5, SPLIT_COST, limit, quick=quick, state=state)
    return found, grown.model.model()


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("kind", ["acmn", "acmn without penalty", "acbn"])
def test_the_same_splits_as_a_heap(train, monkeypatch, kind, quick):
    def model():
        if kind == "acbn":
            return BayesGrowth(train, 0.5)
        return MarkovGrowth(train, Penalty(1.0, 0.0 if "without" in kind else 1.0))

    limit = 3000 if quick else 700
    found, learned = choices(model, limit, quick=quick)
    resumed, _ = choices(model, limit, quick=quick, resume_at=7)
    monkeypatch.setattr(growth_module, "SplitQueue", PlainQueue)
    expected, by_heap = choices(model, limit, quick=quick)
    assert found == expected == resumed
    assert len({price for *_, price in found}) > 1
    assert len(found) > (60 if quick else 20)
    assert learned.weight.tobytes() == by_heap.weight.tobytes()
    assert learned.child.tobytes() == by_heap.child.tobytes()
