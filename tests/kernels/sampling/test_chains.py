"""Chains of Gibbs sampling, against loops in plain Python that draw the same numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_terms import (
    arrays,
    left_terms,
    log_odds,
    log_potential,
    numbered_states,
    random_terms,
    single_blocks,
)
from made_words import Stream, word
from mnlearn.kernels.arithmetic.splitmix import (
    advance,
    chain_seed,
    fill_logistic,
    mix,
)
from mnlearn.kernels.bayesian_networks import Families, draw_ancestral
from mnlearn.kernels.sampling import gibbs
from mnlearn.kernels.sampling.blocks import advance_states, anneal, sample_block_marginals
from mnlearn.kernels.sampling.conditioning import collapse_pairs


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Drawn:
    """The numbers that a chain draws in each sweep, by either of two ways."""

    def __init__(self, stream, n, *, logistic):
        self.stream, self.n, self.logistic = stream, n, logistic

    def sweep(self):
        """Return for each variable a test of its log-odds: whether the value 1 is drawn."""
        if self.logistic:
            thresholds = np.empty(self.n)
            self.stream = word(fill_logistic(self.stream, thresholds))
            return [lambda odds, t=t: t < odds for t in thresholds]
        own = Stream(self.stream)
        numbers = [own.next() for _ in range(self.n)]
        self.stream = own.state
        return [lambda odds, u=u: u < sigmoid(odds) for u in numbers]


def means_of_chain(odds_of, x, drawn, burn_in, lengths):
    """The mean probability of the value 1 of each variable in each batch; changes `x`."""
    out = []
    for batch, length in enumerate([burn_in, *lengths]):
        total = np.zeros(len(x))
        for _ in range(length):
            for v, draws_one in enumerate(drawn.sweep()):
                odds = odds_of(x, v)
                total[v] += sigmoid(odds)
                x[v] = draws_one(odds)
        if batch:
            out.append(total / length)
    return out


def lengths_of_batches(n_samples, n_batches):
    return [len(part) for part in np.array_split(np.arange(n_samples), n_batches)]


@pytest.mark.parametrize(
    ("seed", "n", "n_terms", "burn_in", "lengths"),
    [(0, 3, 12, 0, [4, 3, 3]), (1, 5, 12, 1, [4, 3, 3]), (2, 1, 12, 3, [2]), (3, 64, 70, 1, [2])],
)
def test_a_chain_by_scans(seed, n, n_terms, burn_in, lengths):
    rng = np.random.default_rng(seed)
    terms = random_terms(rng, n, 0, n_terms, owned=seed % 2 == 1)
    left, n_left, odds = left_terms(terms, n)
    first, stream, effect = rng.integers(0, 2, n).astype(np.uint8), word(seed), np.empty((n, n))
    n_left = collapse_pairs(left, n_left, odds, effect)
    out = np.full((len(lengths), n), np.nan, np.float32)
    chain = first.copy(), stream, burn_in, np.cumsum(lengths), out
    gibbs.sample_by_scans(odds, effect, left, n_left, *chain)
    drawn = Drawn(stream, n, logistic=True)
    expected = means_of_chain(
        lambda x, v: log_odds(terms, (), x, v), first.copy(), drawn, burn_in, lengths
    )
    assert_allclose(out, expected, rtol=2e-7)


def first_state(seed, evidence, n):
    """The state a chain starts from, and the stream after it."""
    stream = Stream(chain_seed(seed, evidence))
    x = np.array([stream.next() < 0.5 for _ in range(n)], np.uint8)
    return x, stream.state


@pytest.mark.parametrize("way", ["scans", "blocks"])
def test_marginals_of_rows_of_evidence(way):
    """More rows than are conditioned at once, the first of them left out."""
    rng = np.random.default_rng(2)
    n, n_rows, n_samples, n_batches, burn_in, seed = 3, 67, 5, 2, 2, np.uint64(5)
    terms = random_terms(rng, n, 4, 10, owned=True)
    evidence = rng.integers(0, 2, (n_rows, 4)).astype(np.uint8)
    lengths = lengths_of_batches(n_samples, n_batches)
    out = np.full((n_rows, n_batches, n), np.nan, np.float32)
    how = seed, burn_in, np.cumsum(lengths), 1, n_rows, out
    if way == "scans":
        gibbs.sample_marginals(arrays(terms), evidence, *how)
    else:
        sample_block_marginals(arrays(terms), evidence, single_blocks(n), *how)
    assert np.isnan(out[0]).all()
    for i in [1, 2, 63, 64, 65, 66]:
        x, stream = first_state(seed, evidence[i], n)
        drawn = Drawn(stream, n, logistic=way == "scans")
        expected = means_of_chain(
            lambda x, v, i=i: log_odds(terms, evidence[i], x, v), x, drawn, burn_in, lengths
        )
        assert_allclose(out[i], expected, rtol=2e-7)


@pytest.mark.parametrize("from_random", [True, False])
def test_chains_that_go_on(from_random):
    rng = np.random.default_rng(4)
    n, n_chains, seed = 5, 4, 11
    terms = random_terms(rng, n, 0, 12)
    states = rng.integers(0, 2, (n_chains, n)).astype(np.uint8)
    before = states.copy()
    how = 3, np.uint64(seed), from_random
    advance_states(arrays(terms), single_blocks(n), *how, 1, n_chains, states)
    assert_array_equal(states[0], before[0])
    nothing = np.empty(0, np.uint8)
    for i in range(1, n_chains):
        x, stream = before[i], word(chain_seed(np.uint64(seed + i), nothing))
        if from_random:
            x, stream = first_state(np.uint64(seed + i), nothing, n)
        drawn = Drawn(stream, n, logistic=True)
        means_of_chain(lambda x, v: log_odds(terms, (), x, v), x, drawn, 3, [])
        assert_array_equal(states[i], x)


@pytest.mark.parametrize("n_steps", [1, 2, 7])
def test_weights_of_annealed_chains(n_steps):
    rng = np.random.default_rng(n_steps)
    n, n_chains, seed = 4, 5, 23
    terms, start_odds = random_terms(rng, n, 0, 12, longest=4), rng.normal(size=n)
    states = rng.integers(0, 2, (n_chains, n)).astype(np.uint8)
    energy = np.array([log_potential(terms, (), x) for x in states])
    weight, start = np.full(n_chains, np.nan), (start_odds, states, energy)
    anneal(arrays(terms), single_blocks(n), *start, n_steps, np.uint64(seed), 1, n_chains, weight)
    assert np.isnan(weight[0])
    for i in range(1, n_chains):
        x, total = states[i], 0.0
        stream = word(chain_seed(np.uint64(seed + i), np.empty(0, np.uint8)))
        drawn = Drawn(stream, n, logistic=True)
        for k in range(1, n_steps + 1):
            total += (log_potential(terms, (), x) - x @ start_odds) / n_steps
            if k < n_steps:
                share = k / n_steps
                means_of_chain(
                    lambda x, v, share=share: (
                        share * log_odds(terms, (), x, v) + (1 - share) * start_odds[v]
                    ),
                    x,
                    drawn,
                    1,
                    [],
                )
        assert weight[i] == pytest.approx(total, abs=1e-9)


def test_draws_of_a_bayesian_network():
    """Variable 1 has a tree on variable 2, variable 0 one on both."""
    order = np.array([2, 1, 0])
    start = np.array([0, 5, 8, 9])
    test_var = np.array([1, 2, -1, -1, -1, 2, -1, -1, -1], np.int32)
    child = np.zeros((9, 2), np.int32)
    child[0], child[1], child[5] = (1, 2), (3, 4), (6, 7)
    p_one = np.array([9, 9, 0.2, 0.9, 0.4, 9, 0.3, 0.8, 0.5])
    leaf, none = np.column_stack([1 - p_one, p_one]), np.zeros(4, np.int64)
    families = Families(
        np.full(3, 2), start, test_var, np.ones(9, np.uint8), child, leaf,
        none, np.zeros(0, np.int32), none, np.zeros(0),
    )  # fmt: skip
    out = np.full((40, 3), 7, np.uint8)
    draw_ancestral(families, order, np.uint64(3), 2, 40, out)
    assert (out[:2] == 7).all()
    for i in range(2, 40):
        own = Stream(mix(word(int(mix(word(advance(np.uint64(3))))) + int(advance(np.uint64(i))))))
        row = [None] * 3
        for v in (2, 1, 0):
            p = 0.5
            if v == 1:
                p = 0.8 if row[2] else 0.3
            elif v == 0:
                p = 0.2 if row[1] else 0.4 if row[2] else 0.9
            row[v] = int(own.next() < p)
        assert out[i].tolist() == row
    assert len({tuple(row) for row in numbered_states(3)} & {tuple(row) for row in out}) > 4
