"""Belief propagation and mean field, iteration by iteration, against sums over all states."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_terms import (
    Term,
    arrays,
    holds,
    log_odds,
    log_potential,
    numbered_states,
    random_terms,
    single_blocks,
)
from mnlearn.kernels.sampling import belief_propagation
from mnlearn.kernels.sampling.belief_propagation import PropagationPlan, propagate_beliefs
from mnlearn.kernels.sampling.mean_field import fit_mean_field
from oracles import BeliefPropagation


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def propagation(terms, n):
    """The oracle of terms; equal ones stay factors of their own."""
    features = SimpleNamespace(literals=lambda f: sorted(terms[f].asked))
    return BeliefPropagation(
        SimpleNamespace(n_vars=n, features=features, weight=[t.weight for t in terms])
    )


def bethe(oracle):
    """The Bethe estimate of any messages: normalisers of variables and factors, less of edges."""
    total = np.logaddexp(0, oracle.beliefs).sum()
    for variables, states, table, messages in oracle.factors:
        cavity = oracle.beliefs[variables] - messages
        total += np.logaddexp.reduce(np.log(table) + states @ cavity)
        total -= np.logaddexp(0, oracle.beliefs[variables]).sum()
    return total


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_iterations_of_belief_propagation(seed, parallel):
    rng = np.random.default_rng(seed)
    n, n_rows = 5, 3
    terms = random_terms(rng, n, 3, 16, longest=4)
    # A weight at which the constants of messages change, and one of a term that is no factor.
    for t, w in enumerate([[29.9, 30.0, 31.0, -7.0][seed % 4], 0.0]):
        terms[t] = terms[t]._replace(weight=w, known=[])
    evidence = rng.integers(0, 2, (n_rows, 3)).astype(np.uint8)
    damping = float(rng.choice([0.0, 0.4]))
    for n_iterations in (0, 1, 3):
        plan = PropagationPlan(n_iterations, 0.0, damping, parallel)
        odds, report = np.full((n_rows, n), np.nan), np.full((n_rows, 3), np.nan)
        propagate_beliefs(arrays(terms), evidence, plan, 1, n_rows, odds, report)
        assert np.isnan(odds[0]).all()
        for i in range(1, n_rows):
            left = [t for t in terms if holds(t.known, evidence[i]) and t.weight != 0.0]
            oracle, before = propagation(left, n), np.inf
            for _ in range(n_iterations):
                before = oracle.beliefs.copy()
                oracle.iterate(damping, parallel)
            assert_allclose(odds[i], oracle.beliefs, rtol=1e-7, atol=1e-9)
            assert report[i, 0] == n_iterations
            if n_iterations:
                change = np.abs(oracle.beliefs - before).max()
                assert report[i, 1] == pytest.approx(change, rel=1e-7, abs=1e-9)
            assert report[i, 2] == pytest.approx(bethe(oracle), abs=1e-7)


def test_iterations_end_at_the_tolerance():
    rng = np.random.default_rng(3)
    terms = random_terms(rng, 4, 0, 9, longest=3)
    nothing = np.empty((1, 0), np.uint8)
    odds, report = np.empty((1, 4)), np.empty((1, 3))
    changes = []
    for n_iterations in range(1, 12):
        for parallel in (True, False):
            plan = PropagationPlan(n_iterations, 0.0, 0.2, parallel)
            propagate_beliefs(arrays(terms), nothing, plan, 0, 1, odds, report)
            changes.append((parallel, report[0, 1]))
    for parallel in (True, False):
        own = [change for p, change in changes if p == parallel]
        tolerance = own[5]
        plan = PropagationPlan(100, tolerance, 0.2, parallel)
        propagate_beliefs(arrays(terms), nothing, plan, 0, 1, odds, report)
        assert report[0, 0] == 1 + next(k for k, change in enumerate(own) if change <= tolerance)


@pytest.mark.parametrize(("n_terms", "n_query"), [(1, 2), (63, 2), (64, 3), (65, 3), (150, 4)])
def test_factors_of_one_run_share_no_variable(n_terms, n_query):
    rng = np.random.default_rng(n_terms)
    terms = random_terms(rng, n_query, 2, n_terms, longest=2)
    terms[0] = terms[0]._replace(known=[], weight=0.5)
    evidence = np.array([1, 0], np.uint8)
    run = np.full(n_terms, 99)
    n_runs = belief_propagation._find_runs(arrays(terms), evidence, n_query, run)
    runs, expected = [], []
    for t in terms:
        own = {v for v, _ in t.asked}
        if not holds(t.known, evidence):
            expected.append(-1)
            continue
        first = next((r for r, taken in enumerate(runs) if not own & taken), len(runs))
        runs[first : first + 1] = [own | (runs[first] if first < len(runs) else set())]
        expected.append(first)
    assert_array_equal(run, expected)
    assert n_runs == len(runs)
    factors = belief_propagation._room_for_factors(arrays(terms))
    belief_propagation._sort_by_run(run, n_runs, factors)
    for r in range(n_runs):
        own = factors.term[factors.run_start[r] : factors.run_start[r + 1]]
        assert own.tolist() == [t for t, place in enumerate(expected) if place == r]


def test_factors_take_the_place_of_those_of_other_evidence():
    rng = np.random.default_rng(8)
    terms = [t for t in random_terms(rng, 5, 2, 20) if t.owner < 0]
    factors = belief_propagation._room_for_factors(arrays(terms))
    for part in (factors.start, factors.var, factors.value, factors.term, factors.run_start):
        part[:] = 77
    factors.constants[:] = np.nan
    n_runs = belief_propagation._collect_factors(
        arrays(terms), np.array([1, 0], np.uint8), 5, factors
    )
    n = factors.run_start[n_runs]
    assert sorted(factors.term[:n]) == [
        t for t, term in enumerate(terms) if holds(term.known, [1, 0])
    ]
    for f, t in enumerate(factors.term[:n]):
        own = slice(factors.start[f], factors.start[f + 1])
        found = [*zip(factors.var[own].tolist(), factors.value[own].tolist(), strict=True)]
        assert found == terms[t].asked
        assert_allclose(factors.constants[:, f], [0.0, 1.0, np.exp(terms[t].weight)])


def test_runs_beyond_those_with_bits():
    used, free = np.zeros((3, 2), np.uint64), np.full(3, 128)
    for k in range(128):
        assert belief_propagation._take_run(np.array([0]), used, free) == k
    for variables, expected in (([0, 1], 128), ([2], 0), ([0], 129), ([1], 0), ([1, 0], 130)):
        assert belief_propagation._take_run(np.array(variables), used, free) == expected


def test_runs_of_thousands_of_factors_of_one_variable():
    """The first 4,096 runs have bits for their variables."""
    terms = [Term([], [(0, 1)], 1.0)] * 4099 + [
        Term([], [(v, 1) for v in own], 1.0) for own in ([1], [0, 1], [1], [0], [2, 1])
    ]
    run = np.full(len(terms), -9)
    nothing = np.empty(0, np.uint8)
    n_runs = belief_propagation._find_runs(arrays(terms), nothing, 3, run)
    assert run.tolist() == [*range(4099), 0, 4099, 1, 4100, 2]
    assert n_runs == 4101


def mean_field(terms, evidence, n, n_iterations):
    """Log-odds, the change of the last iteration, and the bound of log Z, by all states."""
    states, odds, p = numbered_states(n), np.zeros(n), np.full(n, 0.5)
    change = np.inf

    def chance(without=None):
        each = np.where(states == 1, p, 1 - p)
        if without is not None:
            each[:, without] = 0.5
        return each.prod(axis=1)

    for _ in range(n_iterations):
        change = 0.0
        for v in range(n):
            own = [log_odds(terms, evidence, x, v) for x in states]
            before, odds[v] = odds[v], chance(v) @ own
            change = max(change, abs(odds[v] - before))
            p[v] = sigmoid(odds[v])
    expected = chance() @ [log_potential(terms, evidence, x) for x in states]
    return odds, change, expected - (p * np.log(p) + (1 - p) * np.log(1 - p)).sum()


@pytest.mark.parametrize("owned", [True, False])
@pytest.mark.parametrize("n_iterations", [0, 1, 4])
def test_iterations_of_mean_field(owned, n_iterations):
    """More rows than are conditioned at once, the first of them left out."""
    rng = np.random.default_rng(n_iterations)
    n, n_rows = 4, 66
    terms = random_terms(rng, n, 4, 14, owned=owned)
    evidence = rng.integers(0, 2, (n_rows, 4)).astype(np.uint8)
    odds, report = np.full((n_rows, n), np.nan), np.full((n_rows, 3), np.nan)
    fit_mean_field(
        arrays(terms), evidence, single_blocks(n), n_iterations, 0.0, 1, n_rows, odds, report
    )
    assert np.isnan(odds[0]).all()
    for i in (1, 2, 64, 65):
        found, change, bound = mean_field(terms, evidence[i], n, n_iterations)
        assert_allclose(odds[i], found, atol=1e-9)
        assert report[i, 0] == n_iterations
        assert report[i, 1] == pytest.approx(change, abs=1e-9)
        if not owned:
            assert report[i, 2] == pytest.approx(bound, abs=1e-9)


def test_mean_field_ends_at_the_tolerance():
    terms = [Term([], [(0, 1), (1, 1)], 1.5), Term([], [(0, 1)], -0.5), Term([], [(1, 0)], 0.3)]
    nothing = np.empty((1, 0), np.uint8)
    odds, report = np.empty((1, 2)), np.empty((1, 3))
    changes = [mean_field(terms, (), 2, k)[1] for k in range(1, 9)]
    fit_mean_field(
        arrays(terms), nothing, single_blocks(2), 100, changes[3] * (1 + 1e-9), 0, 1, odds, report
    )
    assert report[0, 0] == 4
    # Certain variables have no entropy, and the bound is a number.
    terms = [Term([], [(0, 1)], 800.0), Term([], [(1, 0)], 800.0), Term([], [(0, 1), (1, 0)], 2.0)]
    fit_mean_field(arrays(terms), nothing, single_blocks(2), 5, 0.0, 0, 1, odds, report)
    assert report[0, 2] == pytest.approx(1602.0)
    assert odds[0].tolist() == [802.0, -802.0]
