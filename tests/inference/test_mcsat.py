"""MC-SAT: within its own error of the exact marginals, and the draws that it is made of."""

import numpy as np
import pytest

import oracles
from made_random import random_data, random_dependency_network, random_network
from made_terms import single_blocks
from mnlearn.inference import mcsat
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.settings import Inference, inference_of
from mnlearn.inference.terms import terms_of
from mnlearn.kernels.sampling.conditioning import LeftTerms
from mnlearn.kernels.sampling.mcsat import draw_satisfying, room_for_slices
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError

EXACT = Inference("exact")


@pytest.mark.parametrize("block_size", [1, 3, 8])
def test_marginals_of_fifty_networks_are_within_their_error(block_size, monkeypatch):
    """With small blocks most draws are sweeps from the last state, which must be right as well."""
    monkeypatch.setattr(mcsat, "BLOCK_SIZE", block_size)
    errors = []
    # Batches of 2,000 samples; means of shorter ones depend on each other in slow chains.
    run = inference_of("mcsat", samples=40000)
    for seed in range(50):
        network = random_network(seed, n_vars=8, n_features=30)
        rows, query = random_data(seed, n_vars=8).rows[:2], np.array([0, 1, 3, 4, 6, 7])
        found = conditional_marginals(terms_of(network), rows, query, run, seed=seed)
        exact = conditional_marginals(terms_of(network), rows, query, EXACT, seed=0)
        spread = found.batches.std(axis=1, ddof=1) / np.sqrt(found.batches.shape[1])
        errors.append((found.probability - exact.probability) / np.maximum(spread, 3e-4))
    errors = np.concatenate([e.ravel() for e in errors])
    assert np.abs(errors).max() < 5
    assert 0.5 < errors.std() < 1.3


def test_numbers_of_samples_are_those_of_the_paper():
    assert inference_of("mcsat") == Inference("mcsat", 1000, 10000)
    assert inference_of("mcsat", burn_in=5) == Inference("mcsat", 5, 10000)
    assert inference_of("gibbs") == Inference("gibbs", 100, 1000)


@pytest.mark.parametrize("n_vars", [1, 3, 6, 8])
@pytest.mark.parametrize("seed", range(3))
def test_a_block_with_all_variables_is_drawn_uniformly(n_vars, seed):
    rng = np.random.default_rng(seed)
    conjunctions = [[(v, 1), ((v + 1) % n_vars, 1)] for v in range(n_vars)] if n_vars > 1 else []
    for _ in range(n_vars):
        chosen = sorted(rng.choice(n_vars, min(3, n_vars), replace=False).tolist())
        conjunctions.append([(v, int(rng.integers(2))) for v in chosen])
    features = features_of(conjunctions)
    states = oracles.all_states(n_vars)
    satisfying = states[~features.satisfied(states).any(axis=1)]
    assert len(satisfying)
    left = LeftTerms(
        features.start.copy(), features.var.astype(np.int64), features.value.astype(np.int64),
        np.full(len(features), -1.0), np.full(len(features), -1),
        np.arange(len(features)), np.zeros(len(features), np.int64),
    )  # fmt: skip
    blocks = single_blocks(n_vars)
    room = room_for_slices(blocks, len(features.var), 12)
    kept, fixed = np.arange(len(features)), np.zeros(n_vars, bool)
    x, total, stream = satisfying[0].copy(), np.zeros(n_vars), np.uint64(seed)
    drawn = np.zeros(2**n_vars)
    n_draws = 20000
    for _ in range(n_draws):
        stream = draw_satisfying(left, kept, fixed, blocks, room, np.uint64(stream), x, total)
        drawn[int("".join(map(str, x)), 2)] += 1
    np.testing.assert_allclose(total / n_draws, satisfying.mean(axis=0), atol=1e-12)
    expected = n_draws / len(satisfying)
    places = [int("".join(map(str, s)), 2) for s in satisfying]
    assert drawn[places].sum() == n_draws
    chi2 = ((drawn[places] - expected) ** 2 / expected).sum()
    n = len(satisfying)
    assert chi2 < n - 1 + 5 * np.sqrt(2 * n)


def test_states_that_single_changes_do_not_connect_are_both_seen():
    """Either variable is 1 and not both; weights of 50 would hold a Gibbs chain in one state."""
    conjunctions = [[(0, 1), (1, 1)], [(0, 0), (1, 0)], [(0, 1)]]
    network = markov_network(2, features_of(conjunctions), [-50.0, -50.0, np.log(2)])
    rows = np.zeros((1, 2), np.uint8)
    run = inference_of("mcsat")
    found = conditional_marginals(terms_of(network), rows, np.arange(2), run, seed=0)
    np.testing.assert_allclose(found.probability[0], [2 / 3, 1 / 3], atol=0.03)


def test_an_infinite_weight_forbids_a_state():
    network = markov_network(2, features_of([[(0, 1), (1, 1)], [(0, 1)]]), [-np.inf, 1.0])
    rows = np.array([[0, 1], [0, 0]], np.uint8)
    run = inference_of("mcsat")
    found = conditional_marginals(terms_of(network), rows, np.array([0]), run, seed=0)
    assert found.probability[found.row_of[0], 0] < 1e-3
    assert found.probability[found.row_of[1], 0] == pytest.approx(1 / (1 + np.exp(-1)), abs=0.03)


def test_bytes_do_not_depend_on_threads_or_on_other_rows():
    network = random_network(1, n_vars=12, n_features=60)
    rows, query = random_data(1, n_vars=12).rows, np.arange(0, 12, 2)
    run = Inference("mcsat", burn_in=10, samples=50)
    one = conditional_marginals(terms_of(network), rows, query, run, seed=3)
    for threads in (2, 4):
        more = conditional_marginals(terms_of(network), rows, query, run, seed=3, threads=threads)
        assert one.probability.tobytes() == more.probability.tobytes()
    part = conditional_marginals(terms_of(network), rows[5:9], query, run, seed=3)
    np.testing.assert_array_equal(part.probability[part.row_of], one.probability[one.row_of[5:9]])
    other = conditional_marginals(terms_of(network), rows, query, run, seed=4)
    assert (one.probability != other.probability).any()


def test_dependency_networks_are_refused():
    model = random_dependency_network(0)
    rows = np.zeros((1, 5), np.uint8)
    with pytest.raises(InputError, match="MC-SAT: expected a Markov network"):
        conditional_marginals(terms_of(model), rows, np.arange(2), Inference("mcsat"), seed=0)
