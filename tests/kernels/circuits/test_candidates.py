"""The queue of splits on made-up candidates makes the same choices as a heap."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.circuits import candidates
from mnlearn.kernels.circuits.candidates import extension_bound, extension_gain
from mnlearn.learning.circuits.queue import SplitQueue
from plain_queue import PlainQueue


class MadeUp:
    """Candidates with random counts, probabilities and edges, which change with every split."""

    def __init__(self, seed, batch, n_groups=9, n_columns=5):
        self.rng, self.batch = np.random.default_rng(seed), batch
        self.circuit = SimpleNamespace(n_edges=100, n_columns=n_columns)
        self.n, self.l1, self.precision = 200.0, 1.0, 0.5
        self.tolerance = EQUAL * self.n
        self.count_of = self.rng.uniform(20, 150, n_groups)
        self.count = self.count_of[:, None] * self.rng.random((n_groups, n_columns))
        self.slot = self.rng.permutation(n_groups)
        self.whole = self.rng.integers(0, 12, (n_groups, n_columns)).astype(float)
        self.refused = self.rng.random((n_groups, n_columns)) < 0.1
        self.change()

    def change(self):
        n_groups, n_columns = self.count.shape
        prob_of = np.empty(n_groups)
        prob_of[self.slot] = self.count_of / self.n * self.rng.uniform(0.9, 1.1, n_groups)
        self.prob_of, self.prob = prob_of, prob_of[:, None] * self.rng.random((n_groups, n_columns))
        self.cost = self.rng.integers(4, 16, (n_groups, n_columns))

    def _arguments(self, g, v):
        s = self.slot[g]
        own = self.count[g, v], self.count_of[g], self.prob[s, v], self.prob_of[s]
        return self.n, self.l1, self.precision, *own

    def bounds(self, groups):
        if not self.batch:
            return [self.whole[g].copy() for g in groups]
        every = range(self.circuit.n_columns)
        return [np.array([extension_bound(*self._arguments(g, v)) for v in every]) for g in groups]

    def renew(self, groups, gain):
        if self.batch:
            slots = self.slot[groups]
            candidates.renew_bounds(np.array(groups), slots, gain, self.terms())

    def terms(self):
        if not self.batch:
            none, table = np.empty(0), np.empty((0, 0))
            return 0.0, 0.0, 0.0, table, none, table, none, np.empty(0, np.int64)
        own = self.count, self.count_of, self.prob, self.prob_of, self.slot
        return self.n, self.l1, self.precision, *own

    def gain(self, g, v):
        return self.whole[g, v] if not self.batch else extension_gain(*self._arguments(g, v))[0]

    def edges(self, g):
        return np.maximum(self.cost[g] - self.cost[g] % 4, 1)

    def new_edges(self, g, v, limit):
        if self.refused[g, v]:
            return None
        return int(self.cost[g, v]) if self.cost[g, v] <= limit else limit + 1


def choices(kind, seed, batch, quick):
    """All splits until none scores; the circuit grows with each, and prices fall."""
    made = MadeUp(seed, batch)
    queue = kind(made, 0.5, 0.25, quick)
    for g, bound in enumerate(made.bounds(range(7))):
        queue.add(g, np.where(made.rng.random(5) < 0.1, -np.inf, bound))
    found = []
    for step in itertools.count():
        split = queue.best(14 - step % 3)
        if split is None:
            break
        found.append((split.group, split.var, split.gain, split.n_new_edges))
        queue.remove(split.group, split.var)
        made.circuit.n_edges += split.n_new_edges
        made.change()
        if step in (2, 4):
            g = 7 + step // 4
            queue.add(g, made.bounds([g])[0])
        if step == 3 and not batch:
            queue.remove_group(split.group)
        if step % 4 == 3:
            queue.lower_price(0.5 / (step + 1))
    return found, queue.is_empty()


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("batch", [0, 2, 16])
@pytest.mark.parametrize("seed", range(8))
def test_the_choices_of_a_heap(seed, batch, quick):
    found, is_empty = choices(SplitQueue, seed, batch, quick)
    expected, ends_empty = choices(PlainQueue, seed, batch, quick)
    assert found == expected
    assert is_empty == ends_empty
    assert len(found) > 5
