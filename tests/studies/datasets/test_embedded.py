"""The datasets that need no network."""

import numpy as np
import pytest

from made_data import examples
from mnlearn.data.own_files import SPLITS
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.embedded import (
    EMBEDDED,
    build_true_network,
    compute_probabilities,
    list_states,
    load_embedded,
    sample_exactly,
)
from mnlearn_studies.datasets.registry import load_datasets


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_datasets_are_as_described(name):
    description = load_datasets()[name]
    parts = load_embedded(name, seed=1)
    assert [part.n_vars for part in parts] == [description.n_vars] * 3
    assert [part.n_examples for part in parts] == [description.n_rows(split) for split in SPLITS]
    assert all(part.schema.is_named for part in parts)
    assert len(set(parts[0].schema.names or ())) == description.n_vars


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_datasets_depend_on_the_seed_alone(name):
    one, again, other = load_embedded(name, 1), load_embedded(name, 1), load_embedded(name, 2)
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(examples(a), examples(b))
    assert not np.array_equal(examples(one[0]), examples(other[0]))


def test_digits_are_the_images():
    parts = load_embedded("digits", seed=3)
    assert sum(part.n_examples for part in parts) == 1797
    assert parts[0].schema.is_named
    assert parts[0].schema.names[:2] == ("pixel_0_0", "pixel_0_1")
    assert parts[0].schema.names[-1] == "pixel_7_7"
    # The first column of every image is blank: constant columns stay.
    assert parts[0].frequency[0] == 0
    assert 0.25 < parts[0].density < 0.4


def test_names_that_are_not_embedded_are_refused():
    with pytest.raises(InputError, match=r"no embedded dataset 'nltcs'; known: digits, grid"):
        load_embedded("nltcs", 0)
    with pytest.raises(InputError, match="no embedded dataset"):
        build_true_network("nltcs", 0)
    with pytest.raises(InputError, match="is not sampled from a known network; grid, triples are"):
        build_true_network("digits", 0)


@pytest.mark.parametrize("seed", range(5))
def test_grid_is_a_grid_of_couplings_of_either_sign(seed):
    network = build_true_network("grid", seed)
    edges = network.edges()
    assert set(edges) == {
        (u, v) for u in range(16) for v in range(16) if (v == u + 1 and v % 4) or v == u + 4
    }
    strength = np.array(list(edges.values()))
    assert (np.abs(strength) >= 1).all()
    assert (np.abs(strength) <= 2).all()
    assert (strength > 0).any()
    assert (strength < 0).any()


@pytest.mark.parametrize("seed", range(5))
def test_triples_are_conjunctions_of_three(seed):
    network = build_true_network("triples", seed)
    assert network.features.length.tolist() == [3] * 6
    assert len(network.edges()) == 18


@pytest.mark.parametrize("name", ["grid", "triples"])
@pytest.mark.parametrize("seed", range(5))
def test_truth_can_be_recovered(name, seed):
    """Every feature is many standard errors away from nothing; no variable is nearly constant."""
    network = build_true_network(name, seed)
    probability = compute_probabilities(network)
    satisfied = network.features.satisfied(list_states(network.n_vars)).astype(float)
    mean = probability @ satisfied
    information = (satisfied * probability[:, None]).T @ satisfied - np.outer(mean, mean)
    error = np.sqrt(np.diag(np.linalg.inv(load_datasets()[name].n_rows("train") * information)))
    interacting = network.features.length > 1
    assert (np.abs(network.weight) / error)[interacting].min() > 8
    marginal = probability @ list_states(network.n_vars)
    assert marginal.min() > 0.2
    assert marginal.max() < 0.8


@pytest.mark.parametrize("name", ["grid", "triples"])
def test_samples_follow_the_network(name):
    network = build_true_network(name, 7)
    states = list_states(network.n_vars)
    probability = compute_probabilities(network)
    data = load_embedded(name, 7)[0]
    satisfied = network.features.satisfied(states)
    expected = probability @ satisfied
    observed = data.weight @ network.features.satisfied(data.rows) / data.n_examples
    error = np.sqrt(expected * (1 - expected) / data.n_examples)
    assert np.abs((observed - expected) / error).max() < 4.5


def test_list_states():
    assert list_states(2).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert len(np.unique(list_states(10), axis=0)) == 1024


def test_exact_sampling_of_a_known_distribution():
    network = markov_network(2, features_of([[(0, 1)], [(0, 1), (1, 1)]]), [0.0, np.log(5)])
    np.testing.assert_allclose(compute_probabilities(network), np.array([1, 1, 1, 5]) / 8)
    data = sample_exactly(network, 80_000, np.random.default_rng(0))
    np.testing.assert_allclose(
        data.weight / data.n_examples, [1 / 8, 1 / 8, 1 / 8, 5 / 8], atol=0.01
    )


def test_forbidden_states_are_never_sampled():
    network = markov_network(2, features_of([[(0, 1), (1, 1)]]), [-np.inf])
    data = sample_exactly(network, 1000, np.random.default_rng(0))
    assert data.rows.tolist() == [[0, 0], [0, 1], [1, 0]]
