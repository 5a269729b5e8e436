"""MC-SAT and its uniform draws, against the same draws by listing states in plain Python."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_terms import (
    Term,
    arrays,
    holds,
    left_terms,
    log_odds,
    merge_equal,
    random_literals,
    random_terms,
    single_blocks,
)
from made_words import Stream, word
from mnlearn.kernels.arithmetic.splitmix import chain_seed, fill_logistic
from mnlearn.kernels.sampling import mcsat


def draw(clauses, fixed, block_size, stream, x, total):
    """Draw variables that are not fixed, a block at a time; `clauses` are lists of literals."""
    n, done = len(x), set()
    shift = int(stream.next() * n)
    for v in [*range(shift, n), *range(shift)]:
        own = {u: [c for c in clauses[::-1] if u in dict(c)] for u in range(n)}
        if fixed[v]:
            total[v] += x[v]
        elif not own[v]:
            total[v] += 0.5
            x[v] = stream.next() < 0.5
        elif v not in done:
            block = [v]
            for u in block:
                for c in own[u]:
                    for w, _ in c:
                        new = not fixed[w] and w not in done and w not in block
                        if new and len(block) < block_size:
                            block.append(w)
            states = []
            for s in range(1 << len(block)):
                y = x.copy()
                y[block] = s >> np.arange(len(block)) & 1
                if not any(holds(c, y) for u in block for c in own[u]):
                    states.append(y[block])
            total[block] += np.mean(states, axis=0)
            x[block] = states[int(stream.next() * len(states))]
            done.update(block)


def random_clauses(rng, n, x, n_terms):
    """Terms of which none holds in state `x`, of one literal and more."""
    found = []
    while len(found) < n_terms:
        literals = random_literals(rng, n, int(rng.integers(2, 5)))
        if not holds(literals, x):
            found.append(Term([], literals, 1.0))
    return found


@pytest.mark.parametrize("block_size", [1, 2, 5, 8])
@pytest.mark.parametrize("seed", range(8))
def test_draws_of_blocks(seed, block_size):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10)) if block_size < 6 else block_size + seed % 2
    x = rng.integers(0, 2, n).astype(np.uint8)
    terms = random_clauses(rng, n, x, int(rng.integers(0, 2 * n)) if block_size < 6 else n)
    terms = merge_equal(terms)
    left, n_left, _ = left_terms(terms, n)
    kept = np.flatnonzero(rng.random(n_left) < 0.8)
    fixed = rng.random(n) < (0.2 if block_size < 6 else 0.05)
    blocks = single_blocks(n)
    room = mcsat.room_for_slices(blocks, left.start[n_left], block_size)
    found, total = x.copy(), np.zeros(n)
    stream, expected, means = Stream(seed), x.copy(), np.zeros(n)
    state = stream.state
    for _ in range(3):
        state = word(mcsat.draw_satisfying(left, kept, fixed, blocks, room, state, found, total))
        draw([terms[t].asked for t in kept], fixed, block_size, stream, expected, means)
        assert state == stream.state
        assert_array_equal(found, expected)
    assert_allclose(total, means, atol=1e-12)


def slice_by_definition(single, terms, x, stream):
    """Which variables stay as they are, and the numbers of the terms that must go on to fail."""
    fixed, kept = [], []
    for v, w in enumerate(single):
        met, u = (w > 0) == (x[v] == 1), stream.next()
        fixed.append(met and u < 1 - np.exp(-abs(w)))
    for t, term in enumerate(terms):
        if holds(term.asked, x) != (term.weight > 0):
            continue
        if stream.next() < 1 - np.exp(-abs(term.weight)):
            if term.weight > 0:
                for v, _ in term.asked:
                    fixed[v] = True
            else:
                kept.append(t)
    return np.array(fixed), kept


def propagated(terms, kept, x, fixed):
    """Fix what clauses force, and list the clauses that say something still."""
    while True:
        is_open = []
        for t in kept:
            met = any(fixed[v] and x[v] != value for v, value in terms[t].asked)
            is_open.append([v for v, _ in terms[t].asked if not fixed[v] and not met])
        forced = [free[0] for free in is_open if len(free) == 1]
        if not forced:
            return [t for t, free in zip(kept, is_open, strict=True) if free]
        fixed[forced] = True


class MadeSlice:
    """Terms of two literals or more, weights of single variables, and a state."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        self.n = int(rng.integers(2, 8))
        self.single = rng.normal(size=self.n) * 2
        self.terms = [
            Term([], random_literals(rng, self.n, int(rng.integers(2, 4))), float(w))
            for w in rng.normal(size=int(rng.integers(1, 14))) * 2
        ]
        self.terms = merge_equal(self.terms)
        self.left, self.n_left, _ = left_terms(self.terms, self.n)
        weight = self.left.weight[: self.n_left]
        self.keep = (-np.expm1(-np.abs(self.single)), -np.expm1(-np.abs(weight)))
        self.x = rng.integers(0, 2, self.n).astype(np.uint8)


@pytest.mark.parametrize("seed", range(30))
def test_constraints_of_a_state(seed):
    made = MadeSlice(seed)
    fixed, kept = np.ones(made.n, bool), np.full(made.n_left, -1)
    stream = Stream(seed)
    n_kept, state = mcsat.draw_constraints(
        made.single, made.left, made.keep, made.x, stream.state, fixed, kept
    )
    expected, clauses = slice_by_definition(made.single, made.terms, made.x, stream)
    assert_array_equal(fixed, expected)
    assert kept[:n_kept].tolist() == clauses
    assert word(state) == stream.state
    n_open = mcsat.propagate_units(made.left, kept[:n_kept], made.x, fixed)
    still = propagated(made.terms, clauses, made.x, expected)
    assert_array_equal(fixed, expected)
    assert kept[:n_open].tolist() == still


@pytest.mark.parametrize(("burn_in", "n_samples", "n_batches"), [(0, 5, 2), (3, 4, 4), (1, 3, 1)])
def test_chains_of_rows_of_evidence(burn_in, n_samples, n_batches):
    """More rows than are conditioned at once, the first of them left out."""
    rng = np.random.default_rng(burn_in)
    n, n_rows, block_size = 4, 66, 3
    terms = random_terms(rng, n, 3, 12, longest=3)
    evidence = rng.integers(0, 2, (n_rows, 3)).astype(np.uint8)
    out = np.full((n_rows, n_batches, n), np.nan, np.float32)
    plan = mcsat.SlicePlan(burn_in, n_samples, 2, block_size)
    seed, blocks = np.uint64(9), single_blocks(n)
    mcsat.sample_slices(arrays(terms), evidence, blocks, seed, plan, 1, n_rows, out)
    assert np.isnan(out[0]).all()
    for i in (1, 2, 63, 64, 65):
        stream = Stream(chain_seed(seed, evidence[i]))
        x = np.array([stream.next() < 0.5 for _ in range(n)], np.uint8)
        for _ in range(2):
            thresholds = np.empty(n)
            stream.state = word(fill_logistic(stream.state, thresholds))
            for v in range(n):
                x[v] = thresholds[v] < log_odds(terms, evidence[i], x, v)
        allowed = [t for t in terms if holds(t.known, evidence[i])]
        single = np.zeros(n)
        for t in allowed:
            if len(t.asked) == 1:
                ((v, value),) = t.asked
                single[v] += t.weight if value else -t.weight
        longer = merge_equal(t for t in allowed if len(t.asked) > 1)
        lengths = [len(part) for part in np.array_split(np.arange(n_samples), n_batches)]
        for b, length in enumerate([burn_in, *lengths]):
            total = np.zeros(n)
            for _ in range(length):
                fixed, kept = slice_by_definition(single, longer, x, stream)
                kept = propagated(longer, kept, x, fixed)
                draw([longer[t].asked for t in kept], fixed, block_size, stream, x, total)
            if b:
                assert_allclose(out[i, b - 1], total / length, rtol=2e-7)
