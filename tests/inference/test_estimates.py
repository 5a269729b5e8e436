"""Estimates of all kinds: within their errors of enumeration, or marked."""

import numpy as np
import pytest

from made_factors import agreeing, log_joint, marginals_of, random_evidence, random_factors
from made_networks import drawn_network
from made_state_networks import table_network
from mnlearn.inference.chains import estimate
from mnlearn.inference.convergence import SPREAD
from mnlearn.inference.evidence import Evidence
from mnlearn.inference.factor_graphs import first_share, graph_of, interaction_ranges
from mnlearn.inference.plan import TEMPERING, WEIGHTING, Plan
from mnlearn.inference.queries import answer
from mnlearn.inference.settings import inference_of
from mnlearn.inference.tables.factors import factors_of, factors_of_tables
from mnlearn.inference.tempering import respaced, sample_tempered
from mnlearn.inference.terms import terms_of
from mnlearn.inference.weighting import is_directed, weigh_likelihood
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.variables.schema import NO_STATE, numbered_schema

NOTHING = NO_STATE


def off_by(found, truth, row=0):
    """The largest distance from the truth, in errors, of all answers, marked or not."""
    distance = np.abs(found.probability[row] - truth)
    return (distance / np.maximum(found.monte_carlo_error[row], 1e-9)).max()


def ferromagnet(n, weight, field):
    """All pairs of n binary variables agree by `weight`; two modes, one of which is wider."""
    pairs = [(u, v) for v in range(n) for u in range(v)]
    table = np.array([[weight - field, 0.0], [0.0, weight]])
    return factors_of_tables(np.full(n, 2), pairs, [table] * len(pairs))


@pytest.mark.parametrize("seed", range(6))
def test_tables_with_impossible_cells(seed):
    factors = random_factors(seed)
    values = random_evidence(seed, factors, share=0.2)
    log_p = agreeing(log_joint(factors), values)
    found = sample_tempered(factors, values[None], 400, seed=seed)
    if np.isneginf(log_p).all():
        assert not found.converged.all()
    else:
        assert off_by(found, marginals_of(log_p)) < SPREAD


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["gibbs", "mcsat"])
def test_terms(seed, method):
    network = drawn_network(8, 20, 4, seed)
    factors = factors_of(network)
    values = np.stack([np.full(8, NOTHING, np.uint8), random_evidence(seed, factors)])
    found = estimate(terms_of(network), values, inference_of(method, samples=400), seed=seed)
    for row, own in enumerate(values):
        assert off_by(found, marginals_of(agreeing(log_joint(factors), own)), row) < SPREAD
    assert found.converged.all()


@pytest.mark.parametrize("seed", range(6))
def test_bayesian_networks_by_likelihood_weighting(seed):
    rng = np.random.default_rng(seed)
    network, joint = table_network(rng, [2, 3, 1, 2, 4, 2])
    factors = factors_of(network)
    assert is_directed(factors)
    log_p = np.log(np.maximum(joint, 1e-300)).reshape(factors.arity)
    values = np.stack([np.full(6, NOTHING, np.uint8), random_evidence(seed, factors, 0.4)])
    found = weigh_likelihood(factors, values, 1000, seed=seed)
    for row, own in enumerate(values):
        expected = agreeing(log_p, own)
        if expected.max() > -100.0:
            assert off_by(found, marginals_of(expected), row) < SPREAD
            assert found.converged[row].all()


def test_evidence_that_no_draw_meets_goes_to_the_chains():
    """A rare cause is known by its effect; ten thousand draws do not have it."""
    rare = np.array([1 - 1e-9, 1e-9])
    effect = np.array([[1.0, 0.0], [0.0, 1.0]])
    with np.errstate(divide="ignore"):
        tables = [np.log(rare), np.log(effect), np.log([[0.9, 0.1], [0.3, 0.7]])]
    child = np.arange(3, dtype=np.int32)
    factors = factors_of_tables([2, 2, 2], [(0,), (0, 1), (0, 2)], tables, child)
    values = np.array([[NOTHING, 1, NOTHING]], np.uint8)
    assert not weigh_likelihood(factors, values, 100, seed=1, work=1000).converged[0, :2].any()
    found = estimate(factors, values, inference_of("gibbs", samples=400), seed=1)
    assert off_by(found, np.array([0.0, 1.0, 0.0, 1.0, 0.3, 0.7])) < SPREAD
    both = np.vstack([values, np.full((1, 3), NOTHING, np.uint8)])
    chosen = Plan(WEIGHTING, is_exact=False, factors=factors)
    model = MarkovNetwork(numbered_schema([2, 2, 2]), features_of([]), np.zeros(0))
    how = {"inference": inference_of("gibbs", samples=400), "seed": 1}
    for rows, way in (([0], TEMPERING), ([1], WEIGHTING), ([0, 1], f"{WEIGHTING} and {TEMPERING}")):
        found = answer(model, Evidence(both[rows], str), chosen, **how)
        assert found.plan.attrs["inference"] == way


@pytest.mark.parametrize("seed", range(8))
def test_two_modes_do_not_fool_the_chains(seed):
    """A chain that changes one variable at a time stays in the mode in which it begins."""
    factors = ferromagnet(12, 0.9, 0.02)
    truth = marginals_of(log_joint(factors))
    found = sample_tempered(factors, np.full((1, 12), NOTHING, np.uint8), 400, seed=seed)
    assert found.converged.all()
    assert off_by(found, truth) < SPREAD


def test_chains_that_stay_in_one_mode_are_marked():
    """MC-SAT has no temperatures: chains that begin in both modes disagree."""
    pairs = [[(u, x), (v, x)] for v in range(12) for u in range(v) for x in (0, 1)]
    terms = terms_of(markov_network(12, features_of(pairs), np.full(len(pairs), 3.0)))
    values = np.full((1, 12), NOTHING, np.uint8)
    how = inference_of("mcsat", samples=100, burn_in=10)
    assert not estimate(terms, values, how, seed=3, work=1).converged.any()
    found = estimate(terms, values, inference_of("gibbs", samples=400), seed=3)
    assert found.converged.all()
    assert off_by(found, np.full(24, 0.5)) < SPREAD


@pytest.mark.parametrize("seed", [13, 23, 55])
def test_chains_of_mc_sat_that_agree_on_a_mode_are_marked(seed):
    """Weights of 10 and more: without the ladder some of these were off by 27 to 64 errors."""
    drawn = drawn_network(9, int(np.random.default_rng(seed).integers(5, 40)), 5, seed)
    network = markov_network(9, drawn.features, 10.0 * drawn.weight)
    values = np.full((1, 9), NOTHING, np.uint8)
    how = inference_of("mcsat", samples=400, burn_in=100)
    found = estimate(terms_of(network), values, how, seed=seed, work=1 << 21)
    distance = np.abs(found.probability[0] - marginals_of(log_joint(factors_of(network))))
    assert np.all((distance <= SPREAD * found.monte_carlo_error[0]) | ~found.converged[0])


def test_too_little_work_is_marked():
    factors = ferromagnet(14, 2.0, 0.0)
    values = np.full((1, 14), NOTHING, np.uint8)
    found = sample_tempered(factors, values, 1000, seed=0, work=1)
    assert off_by(found, np.full(28, 0.5)) < SPREAD or not found.converged.any()


def test_threads_and_equal_rows_change_nothing():
    factors = random_factors(1, zeros=0.0)
    values = np.stack([random_evidence(s, factors) for s in (1, 2, 1)])
    one, many = (sample_tempered(factors, values, 100, seed=7, threads=t) for t in (1, 3))
    for own, other in zip(one.arrays, many.arrays, strict=True):
        np.testing.assert_array_equal(own, other)
        np.testing.assert_array_equal(own[0], own[2])
    network = factors_of(table_network(np.random.default_rng(0), [2, 3, 2, 2])[0])
    nothing = np.full((1, 4), NOTHING, np.uint8)
    one, many = (weigh_likelihood(network, nothing, 100, seed=7, threads=t) for t in (1, 3))
    np.testing.assert_array_equal(one.probability, many.probability)


def test_interactions_by_their_definition():
    factors = random_factors(5, n_factors=4, zeros=0.0)
    found = interaction_ranges(factors, graph_of(factors).table)
    expected = {}
    for f, scope in enumerate(factors.scopes):
        for i, u in enumerate(scope):
            for j in range(i + 1, len(scope)):
                t = np.moveaxis(factors.table(f), (i, j), (0, 1))
                four = t[:, None, :, None] - t[None, :, :, None]
                four = four - (t[:, None, None, :] - t[None, :, None, :])
                expected[f, u, scope[j]] = np.abs(four).max()
    ranges = {(u, v): [] for u, v in zip(found[0].tolist(), found[1].tolist(), strict=True)}
    for u, v, r in zip(*found, strict=True):
        ranges[int(u), int(v)].append(r)
    for (_, u, v), r in expected.items():
        assert np.isclose(ranges[u, v], r).any()
    assert len(found[0]) == len(expected)


def test_weak_networks_need_no_temperatures():
    weak, strong = ferromagnet(6, 0.1, 0.0), ferromagnet(6, 2.0, 0.0)
    assert first_share(weak, graph_of(weak)) == 1.0
    assert first_share(strong, graph_of(strong)) < 0.2


def test_rungs_are_moved_to_where_exchanges_are_refused():
    share = np.array([0.0, 0.5, 1.0])
    moved = respaced(share, np.array([0.0, 0.9]))
    np.testing.assert_allclose(moved, [0.0, 0.75, 1.0], atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_terms_of_several_states_at_several_temperatures(seed):
    """Features of tables: literals on columns and on sets of states, weights of minus infinity."""
    network, joint = table_network(np.random.default_rng(seed), [2, 3, 1, 4, 2])
    terms, arity = terms_of(network), network.schema.arity
    values = random_evidence(seed, factors_of(network), 0.3)
    log_p = agreeing(np.log(np.maximum(joint, 1e-300)).reshape(arity), values)
    found = estimate(terms, values[None], inference_of("gibbs", samples=400), seed=seed)
    if log_p.max() > -100.0:
        assert off_by(found, marginals_of(log_p)) < SPREAD


def test_interactions_of_terms_are_those_of_their_tables():
    """Each conjunction is a table of its own, so that the sums of their ranges are bounds."""
    network = drawn_network(7, 12, 3, 2)
    terms, factors = terms_of(network), factors_of(network)
    by_terms = first_share(terms, graph_of(terms))
    assert 0.0 < by_terms <= first_share(factors, graph_of(factors))


def test_rows_without_unknown_variables():
    factors = random_factors(1, n_vars=3, zeros=0.0)
    values = np.zeros((2, 3), np.uint8)
    values[1, 1] = NOTHING if factors.arity[1] > 1 else 0
    found = sample_tempered(factors, values, 100, seed=0)
    assert found.probability[0].sum() == 3.0
    assert not found.monte_carlo_error[0].any()
    np.testing.assert_allclose(found.probability[1].sum(), 3.0)


def test_evidence_of_probability_0_is_marked():
    with np.errstate(divide="ignore"):
        equal = np.log(np.array([[1.0, 0.0], [0.0, 1.0]]))
    factors = factors_of_tables([2, 2, 2], [(0, 1), (1, 2)], [equal, equal])
    values = np.array([[0, NOTHING, 1]], np.uint8)
    assert not sample_tempered(factors, values, 100, seed=0).converged[0, 2:4].any()


@pytest.mark.parametrize("method", ["gibbs", "mcsat"])
def test_only_answers_asked_for_are_judged(method):
    """Two modes of twelve variables, which chains seldom leave, beside a variable of its own."""
    pairs = [[(u, x), (v, x)] for v in range(12) for u in range(v) for x in (0, 1)]
    weight = np.array([3.0] * len(pairs) + [0.7])
    network = markov_network(13, features_of([*pairs, [(12, 1)]]), weight)
    values = np.full((1, 13), NOTHING, np.uint8)
    how = {"inference": inference_of(method, samples=400), "seed": 1, "work": 1 << 18}
    assert not estimate(terms_of(network), values, **how).converged.all()
    asked = np.arange(13) == 12
    found = estimate(terms_of(network), values, **how, asked=asked)
    assert found.converged.all()
    truth = 1.0 / (1.0 + np.exp([0.7, -0.7]))
    assert np.all(
        np.abs(found.probability[0, -2:] - truth) < SPREAD * found.monte_carlo_error[0, -2:]
    )
