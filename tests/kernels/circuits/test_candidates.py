"""Counts, gains and bounds of extensions, and the queue of splits, against definitions."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from made_words import packed
from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.circuits import candidates
from mnlearn.kernels.circuits.candidates import (
    count_ones,
    extension_bound,
    extension_bounds,
    extension_gain,
)
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

    def _best_extension(self, g, v):
        return extension_gain(*self._arguments(g, v))

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


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 130])
def test_ones_of_some_rows(n_rows):
    rng = np.random.default_rng(n_rows)
    rows, weight = rng.integers(0, 2, (n_rows, 4)), rng.uniform(0.5, 2.0, n_rows)
    chosen = rng.random(n_rows) < 0.5
    chosen[-1] = True
    start = np.cumsum([0, *rows.sum(axis=1)]).astype(np.int64)
    ones = np.nonzero(rows)[1].astype(np.int32)
    count = np.full(4, 9.0)
    total = count_ones(packed(chosen[None])[0], start, ones, weight, count)
    assert total == pytest.approx(weight[chosen].sum())
    assert_allclose(count, weight[chosen] @ rows[chosen], atol=1e-12)


def cases():
    rng = np.random.default_rng(0)
    for l1 in (0.0, 0.7, 8.0):
        for precision in (0.0, 0.3, 20.0):
            for prob_of in (1e-4, 0.3, 0.999, 1.0):
                n = 400.0
                prob = prob_of * float(rng.choice([0.003, 0.4, 0.9]))
                count_of = n * min(prob_of * float(rng.choice([0.5, 1.0, 3.0])), 1.0)
                if prob_of == 1.0:
                    count_of = n
                # Without a price, weights are finite only where something was counted.
                share = float(rng.choice([0.1, 0.5, 0.95]))
                yield n, l1, precision, share * count_of, count_of, prob, prob_of


@pytest.mark.parametrize("case", list(cases()))
def test_gains_meet_the_conditions_of_a_maximum(case):
    n, l1, precision, count, count_of, prob, prob_of = case
    gain, *weight = extension_gain(*case)
    c, q = np.array([count_of - count, count]), np.array([prob_of - prob, prob])
    w = np.array(weight)
    total = 1.0 + q @ np.expm1(w)
    penalty = l1 * np.abs(w).sum() + 0.5 * precision * w @ w
    assert gain == pytest.approx(c @ w - n * np.log(total) - penalty, abs=1e-9)
    slope = c - n * q * np.exp(w) / total - precision * w
    # Where f is nearly certain, the two weights nearly stand for one, and are found less well.
    near = 1e-4 if prob_of < 0.9 else 2.0
    for s, x in zip(slope, w, strict=True):
        assert s == pytest.approx(l1 * np.sign(x), abs=near if x else l1 + near)


@pytest.mark.parametrize("case", list(cases()))
def test_bounds_are_the_least_of_moved_counts(case):
    n, l1, precision, count, count_of, prob, prob_of = case
    bound = np.full(2, np.nan)
    extension_bounds(
        n, l1, precision, np.array([count, 0.0]), count_of, np.array([prob, prob]), prob_of, bound
    )
    for found, one in zip(bound, (count, 0.0), strict=True):
        gain = extension_gain(n, l1, precision, one, count_of, prob, prob_of)[0]
        assert found >= gain - 1e-9 * max(1.0, gain)
        if prob_of == 1.0:
            assert found == gain
            continue
        expected = n * np.array([prob_of - prob, prob])
        counts = np.array([count_of - one, one])
        moved = np.clip(expected, counts - l1, counts + l1)
        outcomes = np.append(moved, n - moved.sum())
        chances = np.append(expected, n * (1 - prob_of))
        terms = [a * np.log(a / e) for a, e in zip(outcomes, chances, strict=True) if a > 0]
        assert found == pytest.approx(sum(terms), abs=1e-9)


@pytest.mark.parametrize("prob", [0.0, 9e-14, 0.1 - 5e-14, 0.1])
def test_values_of_no_probability_gain_nothing(prob):
    bound = np.full(1, np.nan)
    extension_bounds(100.0, 0.0, 1.0, np.array([3.0]), 9.0, np.array([prob]), 0.1, bound)
    assert bound[0] == 0.0
    assert extension_gain(100.0, 0.0, 1.0, 3.0, 9.0, prob, 0.1) == (0.0, 0.0, 0.0)
    # A share of a little more than 1e-12 gains something.
    assert extension_gain(100.0, 0.0, 1.0, 3.0, 9.0, 1.5e-13, 0.1)[0] > 0.0
