"""The queue of splits on made-up candidates: its tournaments, and the same choices as a heap."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.circuits import candidates
from mnlearn.kernels.circuits.candidates import FRESH, STALE, extension_bound, extension_gain
from mnlearn.learning.circuits.queue import SplitQueue
from plain_queue import PlainQueue


def best_by_definition(key):
    """The row and the group of the least key; of equal ones the lowest group, FRESH if the same."""
    least = key.min()
    group = int(np.flatnonzero((key == least).any(axis=0))[0])
    return (FRESH if key[FRESH, group] == least else STALE), group


@pytest.mark.parametrize("n_groups", [2, 4, 8])
def test_tournaments_after_each_change(n_groups):
    rng = np.random.default_rng(n_groups)
    key = rng.integers(-3, 3, (2, n_groups)).astype(float)
    key[rng.random((2, n_groups)) < 0.3] = np.inf
    winner = np.full((2, 2 * n_groups), -1)
    candidates.rank(key, winner)
    for _ in range(60):
        again = np.full_like(winner, -1)
        candidates.rank(key, again)
        assert_array_equal(winner[:, 1:], again[:, 1:])
        for row in range(2):
            assert winner[row, 1] == np.argmin(key[row])
        assert tuple(map(int, candidates.first(key, winner))) == best_by_definition(key)
        row, group = int(rng.integers(2)), int(rng.integers(n_groups))
        value = float(rng.choice([np.inf, *range(-3, 3)]))
        candidates.set_key(key, winner, row, group, value)
        assert key[row, group] == value


def test_groups_are_pushed_and_taken():
    rng = np.random.default_rng(5)
    gain = rng.integers(0, 5, (8, 4)).astype(float)
    gain[3] = -np.inf
    gain[rng.random((8, 4)) < 0.2] = -np.inf
    edges = rng.integers(0, 3, (8, 4))
    key, winner = np.full((2, 8), np.inf), np.empty((2, 16), np.int64)
    candidates.rank(key, winner)
    groups = np.array([1, 3, 6, 0, 7])
    prices = 0.5, 1.0, 2.0**-30
    candidates.push((key, winner), STALE, groups, gain, edges, prices)
    score = gain - 0.5 * edges - 1.0
    for g in range(8):
        assert key[STALE, g] == (-score[g].max() if g in groups else np.inf)
        own = candidates.best_of(gain[g], edges[g], prices)
        assert tuple(own) == (score[g].max(), np.argmax(score[g]) if score[g].max() > -9 else 0)
    expected = sorted((g for g in groups if g != 3), key=lambda g: (key[STALE, g], g))
    taken = np.full(3, -1)
    assert candidates.take_stale(key, winner, taken) == 3
    assert taken.tolist() == expected[:3]
    rest = np.full(4, -1)
    assert candidates.take_stale(key, winner, rest) == 1
    assert rest.tolist() == [expected[3], -1, -1, -1]
    assert (key == np.inf).all()


def test_what_the_search_needs_is_told_apart():
    codes = ("NOTHING_SCORES", "COUNT_GROUP", "RENEW_GAINS", "COUNT_CANDIDATE", "FOUND")
    assert len({getattr(candidates, name) for name in codes}) == len(codes)
    assert not candidates.EXACT & candidates.COUNTED


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
