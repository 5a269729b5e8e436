"""Terms given evidence, their effects and their tables, against sums over the terms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_terms import (
    arrays,
    holds,
    left_terms,
    log_odds,
    log_potential,
    merge_equal,
    numbered_states,
    random_terms,
    single_blocks,
)
from mnlearn.kernels.likelihood.log_odds import LongerFeatures, add_owned
from mnlearn.kernels.sampling import chains, conditioning, enumeration, gibbs
from mnlearn.kernels.sampling.conditioning import SYMMETRIC

SEEDS = range(12)


@pytest.mark.parametrize("n_rows", [1, 2, 63, 64])
def test_terms_that_each_row_of_evidence_allows(n_rows):
    rng = np.random.default_rng(n_rows)
    terms = random_terms(rng, 3, 5, 12, owned=True)
    evidence = rng.integers(0, 2, (n_rows, 5)).astype(np.uint8)
    start, held = conditioning.holding_terms(arrays(terms), evidence)
    assert len(start) == n_rows + 1
    assert start[0] == 0
    assert start[n_rows] == len(held)
    for i, row in enumerate(evidence):
        expected = [t for t, term in enumerate(terms) if holds(term.known, row)]
        assert held[start[i] : start[i + 1]].tolist() == expected


@pytest.mark.parametrize("owned", [False, True])
def test_terms_of_one_kind_become_one(owned):
    """Few variables, so that many terms have the same literals and owner."""
    rng = np.random.default_rng(owned)
    n, n_terms = 3, 200
    terms = random_terms(rng, n, 4, n_terms, owned=owned, longest=3)
    kind = arrays(terms).kind
    same = {}
    for t, k in zip(terms, kind.tolist(), strict=True):
        assert same.setdefault((tuple(t.asked), t.owner), k) == k
    assert sorted(same.values()) == list(range(len(same)))
    as_arrays = arrays(terms)
    left = conditioning.room_for(as_arrays)
    # The room has what is left of the row before.
    for evidence in rng.integers(0, 2, (8, 4)).astype(np.uint8):
        _, held = conditioning.holding_terms(as_arrays, evidence[None])
        n_left = conditioning.condition(as_arrays, held, np.zeros(n), left)
        expected = merge_equal(
            t
            for t in terms
            if holds(t.known, evidence) and len(t.asked) >= (2 if t.owner == SYMMETRIC else 1)
        )
        assert n_left == len(expected)
        for t, term in enumerate(expected):
            own = slice(left.start[t], left.start[t + 1])
            found = [*zip(left.var[own].tolist(), left.value[own].tolist(), strict=True)]
            assert (found, left.owner[t]) == (term.asked, term.owner)
            assert left.weight[t] == pytest.approx(term.weight, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_become_effects(seed):
    """The matrix, the log-odds and the terms left give the log-odds in every state."""
    rng = np.random.default_rng(seed)
    n = 5
    terms = random_terms(rng, n, 0, 14, owned=seed % 2 == 1)
    left, n_left, odds = left_terms(terms, n)
    effect = np.full((n, n), np.nan)
    n_left = conditioning.collapse_pairs(left, n_left, odds, effect)
    sizes = np.diff(left.start[: n_left + 1])
    assert (sizes > np.where(left.owner[:n_left] == SYMMETRIC, 2, 1)).all()
    entry_start, mask, asked, signed = gibbs._conditions(left, n_left, n)
    neighbours = gibbs._neighbours(effect, entry_start, mask)
    for x in numbered_states(n):
        expected = [log_odds(terms, (), x, v) for v in range(n)]
        found = odds.copy()
        conditioning.add_effects(effect, x, found)
        state = np.uint64(gibbs._pack(x))
        assert int(state) == sum(int(value) << v for v, value in enumerate(x))
        own = [slice(*entry_start[v : v + 2]) for v in range(n)]
        scratch = np.empty(len(mask))
        held = [gibbs._sum_held(state, mask[e], asked[e], signed[e], scratch) for e in own]
        assert_allclose(found + held, expected, atol=1e-12)
        for v in range(n):
            y = x.copy()
            y[v] ^= 1
            moved = [u for u in range(n) if abs(log_odds(terms, (), y, u) - expected[u]) > 1e-9]
            assert {*moved} - {v} <= {u for u in range(n) if int(neighbours[v]) >> u & 1}
            after = found.copy()
            conditioning.flip_effects(effect, v, y[v], after)
            again = odds.copy()
            conditioning.add_effects(effect, y, again)
            assert_allclose(after, again, atol=1e-12)
            stale = np.zeros(n + 1, bool)
            conditioning.mark_affected(effect, v, stale)
            assert_array_equal(stale[:n], np.abs(after - found) > 0)
    # A variable without terms is nobody's neighbour.
    for v in range(n):
        own = {v for t in terms for v in (t.owner, *(u for u, _ in t.asked)) if len(t.asked) > 1}
        if v not in own and not (effect[v].any() or effect[:, v].any()):
            assert int(neighbours[v]) == 0


@pytest.mark.parametrize("seed", range(24))
def test_log_odds_are_kept_up_to_date_flip_by_flip(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    terms = random_terms(rng, n, 0, 20, owned=seed % 2 == 1)
    left, n_left, base = left_terms(terms, n)
    x, odds = np.zeros(n + 1, np.uint8), np.zeros(n + 1)
    x[:n], odds[:n] = rng.integers(0, 2, n), base
    by_literal, violated = chains.index_terms(left, n_left, n, x, odds)
    start, term = by_literal
    for v in range(n):
        for a in range(2):
            expected = [
                t
                for t in range(n_left)
                for k in range(left.start[t], left.start[t + 1])
                if (left.var[k], left.value[k]) == (v, a)
            ]
            assert term[start[2 * v + a] : start[2 * v + a + 1]].tolist() == expected
    for _ in range(25):
        assert_allclose(odds[:n], [log_odds(terms, (), x[:n], u) for u in range(n)], atol=1e-9)
        before, stale = odds.copy(), np.zeros(n + 1, bool)
        v = int(rng.integers(n))
        x[v] ^= 1
        chains.update_terms(v, x, left, by_literal, violated, odds, stale)
        assert stale[:n][np.abs(odds - before)[:n] > 1e-9].all()
        assert not stale[v]


@pytest.mark.parametrize("seed", range(6))
def test_features_of_a_cpd_are_added_to_log_odds(seed):
    rng = np.random.default_rng(seed)
    n = 5
    rows = rng.integers(0, 2, (9, n)).astype(np.uint8)
    constant, effect, out = rng.normal(size=n), rng.normal(size=(n, n)), rng.normal(size=(9, n))
    terms = random_terms(rng, n, 0, 8, longest=4)
    a = arrays(terms)
    owner = rng.integers(0, n, 8)
    longer = LongerFeatures(
        a.query_start, a.query_var.astype(np.int32), a.query_value, owner, a.weight
    )
    expected = out + constant + rows @ effect
    for i, row in enumerate(rows):
        for t, term in enumerate(terms):
            expected[i, owner[t]] += term.weight * holds(term.asked, row)
    add_owned(rows, constant, effect, longer, out)
    assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize(("seed", "n_rows"), [(0, 1), (1, 3), (2, 64), (3, 66)])
def test_enumeration_of_the_query_states(seed, n_rows):
    rng = np.random.default_rng(seed)
    n = 3
    terms, states = random_terms(rng, n, 4, 14), numbered_states(n)
    evidence = rng.integers(0, 2, (n_rows, 4)).astype(np.uint8)
    energy = np.array([[log_potential(terms, row, x) for x in states] for row in evidence])
    p = np.exp(energy)
    p /= p.sum(axis=1, keepdims=True)
    out = np.full((2, n_rows, n), np.nan)
    first = min(1, n_rows - 1)
    known = arrays(terms), evidence, single_blocks(n)
    enumeration.enumerate_marginals(*known, False, 1e-12, first, n_rows, out)
    assert_allclose(out[1, first:], (p @ states)[first:], rtol=1e-11)
    assert_allclose(out[0, first:], (p @ (1 - states))[first:], rtol=1e-11)
    assert np.isnan(out[:, :first]).all()
    of_row = rng.integers(0, n_rows, 80)
    order = np.argsort(of_row, kind="stable")
    start = np.searchsorted(of_row[order], np.arange(n_rows + 1))
    state, found = rng.integers(0, 1 << n, 80), np.full(80, np.nan)
    enumeration.enumerate_log_likelihood(*known, start, order, state, 0, n_rows, found)
    log_p = energy - np.log(np.exp(energy).sum(axis=1, keepdims=True))
    assert_allclose(found, log_p[of_row, state], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_distribution_that_sweeps_over_cpds_leave_alone(seed):
    rng = np.random.default_rng(seed)
    n = 3
    terms, states = random_terms(rng, n, 0, 18, owned=True), numbered_states(n)
    terms = [t for t in terms if t.owner != SYMMETRIC]
    sweep = np.eye(1 << n)
    for v in range(n):
        odds = np.array([log_odds(terms, (), x, v) for x in states])
        p_one, step = 1 / (1 + np.exp(-odds)), np.zeros((1 << n, 1 << n))
        for s in range(1 << n):
            step[s, s | 1 << v] += p_one[s]
            step[s, s & ~(1 << v)] += 1 - p_one[s]
        sweep = sweep @ step
    p = np.linalg.matrix_power(sweep, 2000)[0]
    out = np.full((2, 1, n), np.nan)
    known = arrays(terms), np.empty((1, 0), np.uint8), single_blocks(n)
    enumeration.enumerate_marginals(*known, True, 1e-13, 0, 1, out)
    assert_allclose(out[:, 0], [p @ (1 - states), p @ states], rtol=1e-9)
