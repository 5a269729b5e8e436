"""Annealed importance sampling against exact partition functions."""

import numpy as np
import pytest

import mnlearn as mn
import oracles
from made_networks import drawn_network, grid_network
from made_state_models import random_states_network
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.annealing import estimate_log_partition
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.circuits.exact import log_partition
from mnlearn.inference.settings import Annealing
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.scoring.any_model import annealed_ll, ll


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("several", [False, True])
def test_estimates_are_within_their_errors(seed, several):
    network = drawn_network(9, 25, 4, seed)
    if several:
        network = random_states_network(seed, (2, 3, 4, 1, 3, 2), n_features=40)
    estimate, error = estimate_log_partition(network, Annealing(200, 500), seed)
    assert 0 < error < (0.1 if several else 0.05)
    assert abs(estimate - oracles.log_partition(network)) < 5 * max(error, 1e-3)


@pytest.mark.nightly
def test_more_steps_make_the_error_smaller():
    network = grid_network(6)
    exact = log_partition(compile_network(network))
    errors = []
    for n_steps in (10, 100, 1000):
        estimate, error = estimate_log_partition(network, Annealing(200, n_steps), 3)
        assert abs(estimate - exact) < 5 * error + 0.01
        errors.append(error)
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.parametrize(
    "network", [grid_network(4), random_states_network(0)], ids=["grid", "states"]
)
def test_threads_do_not_change_the_estimate(network):
    one = estimate_log_partition(network, Annealing(50, 50), 1)
    assert one == estimate_log_partition(network, Annealing(50, 50), 1, threads=3)
    assert one != estimate_log_partition(network, Annealing(50, 50), 2)


def test_chains_and_samples_of_a_score_are_those_of_the_estimate():
    network = drawn_network(9, 25, 4, 0)
    rows = np.random.default_rng(1).integers(0, 2, (30, 9))
    settings = {"inference": "ais", "chains": 3, "samples": 40, "random_state": 5}
    found = mn.score(network, rows, "ll", **settings)
    seed = stream_seed(5, "ais")
    own = Annealing(n_chains=3, n_steps=40)
    expected = annealed_ll(network, merge_rows(rows), own, seed)
    assert (found.mean, found.monte_carlo_error) == (expected.mean, expected.monte_carlo_error)
    swapped = annealed_ll(network, merge_rows(rows), Annealing(40, 3), seed)
    assert found.mean != swapped.mean


def test_too_little_work_is_refused():
    with pytest.raises(InputError, match="at least 2 chains"):
        Annealing(1, 10)


def test_annealed_likelihood():
    network = grid_network(4)
    data = merge_rows(np.random.default_rng(0).integers(0, 2, (50, 16)))
    score = annealed_ll(network, data, Annealing(300, 300), 0)
    assert abs(score.mean - ll(network, data).mean) < 5 * score.monte_carlo_error
    assert np.ptp(score.per_row - ll(network, data).per_row) < 1e-9
    circuit = compile_network(network)
    assert annealed_ll(circuit, data, Annealing(), 0).monte_carlo_error == 0
