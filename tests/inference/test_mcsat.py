"""MC-SAT: within its own error of the exact marginals, and the draws that it is made of."""

import numpy as np
import pytest

from made_random import random_data, random_dependency_network, random_network
from mnlearn.inference import mcsat
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.settings import Inference, inference_of
from mnlearn.inference.terms import terms_of
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


def test_states_that_single_changes_do_not_connect_are_both_seen():
    """Either variable is 1 and not both; weights of 50 would hold a Gibbs chain in one state."""
    conjunctions = [[(0, 1), (1, 1)], [(0, 0), (1, 0)], [(0, 1)]]
    network = markov_network(2, features_of(conjunctions), [-50.0, -50.0, np.log(2)])
    rows = np.zeros((1, 2), np.uint8)
    run = inference_of("mcsat")
    found = conditional_marginals(terms_of(network), rows, np.arange(2), run, seed=0)
    np.testing.assert_allclose(found.probability[0], [2 / 3, 1 / 3], atol=0.03)


def test_dependency_networks_are_refused():
    model = random_dependency_network(0)
    rows = np.zeros((1, 5), np.uint8)
    with pytest.raises(InputError, match="MC-SAT: expected a Markov network"):
        conditional_marginals(terms_of(model), rows, np.arange(2), Inference("mcsat"), seed=0)
