"""Splitting at random, and the datasets that need no network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.splits import SPLITS, split_examples
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream
from mnlearn.study.datasets.embedded import (
    EMBEDDED,
    all_states,
    embedded,
    sample_exactly,
    state_probabilities,
    truth,
)


def examples(data: Dataset) -> np.ndarray:
    """The examples in the order of their source."""
    return data.rows[data.row_of]


def numbered(n: int) -> Dataset:
    """Distinct examples: the binary digits of 0 … n - 1."""
    return merge_rows(np.arange(n)[:, None] >> np.arange(10) & 1, names=tuple("abcdefghij"))


# --- splitting --------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.integers(10, 300), st.integers(0, 2**32))
def test_parts_are_disjoint_and_together_everything(n, seed):
    data = numbered(n)
    parts = split_examples(data, (0.5, 0.2, 0.3), np.random.default_rng(seed))
    numbers = [(examples(part) @ (1 << np.arange(10))).tolist() for part in parts]
    assert sorted(number for part in numbers for number in part) == list(range(n))
    assert [len(part) for part in numbers] == [
        round(0.5 * n),
        round(0.7 * n) - round(0.5 * n),
        n - round(0.7 * n),
    ]
    # The order of the source survives.
    assert all(part == sorted(part) for part in numbers)
    assert all(part.names == data.names for part in parts)


def test_equal_examples_are_split_one_by_one():
    data = merge_rows(np.ones((100, 2), int))
    parts = split_examples(data, (0.7, 0.1, 0.2), np.random.default_rng(0))
    assert [part.n_examples for part in parts] == [70, 10, 20]


def test_split_is_decided_by_the_generator():
    data = numbered(200)

    def split(seed: int) -> list[list[list[int]]]:
        parts = split_examples(data, (0.7, 0.1, 0.2), stream(seed, "split"))
        return [examples(part).tolist() for part in parts]

    assert split(1) == split(1)
    assert split(1) != split(2)


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ((0.5, 0.5), "expected three numbers"),
        ((0.5, 0.5, 0), "expected three numbers"),
        ((1.2, -0.1, -0.1), "expected three numbers"),
        ((0.5, 0.2, 0.2), "expected a sum of 1"),
        ((0.98, 0.01, 0.01), "the valid part of 20 examples would be empty"),
        ((float("nan"), 0.5, 0.5), "expected three numbers"),
    ],
)
def test_fractions_that_make_no_split_are_refused(fractions, message):
    with pytest.raises(InputError, match=message):
        split_examples(numbered(20), fractions, np.random.default_rng(0))


def test_fractions_may_round():
    assert split_examples(numbered(30), (1 / 3, 1 / 3, 1 / 3), np.random.default_rng(0))


def test_weighted_examples_are_not_split():
    data = merge_rows(np.eye(9), np.arange(1, 10))
    with pytest.raises(InputError, match="weighted examples cannot be split"):
        split_examples(data, (0.4, 0.3, 0.3), np.random.default_rng(0))


# --- embedded ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_datasets_are_as_described(name):
    description = EMBEDDED[name]
    parts = embedded(name, seed=1)
    assert description.name == name
    assert [part.n_vars for part in parts] == [description.n_vars] * 3
    assert [part.n_examples for part in parts] == [description.n_rows(split) for split in SPLITS]
    assert all(part.names is not None for part in parts)
    assert len(set(parts[0].names or ())) == description.n_vars


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_datasets_depend_on_the_seed_alone(name):
    one, again, other = embedded(name, 1), embedded(name, 1), embedded(name, 2)
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(examples(a), examples(b))
    assert not np.array_equal(examples(one[0]), examples(other[0]))


def test_digits_are_the_images():
    parts = embedded("digits", seed=3)
    assert sum(part.n_examples for part in parts) == 1797
    assert parts[0].names is not None
    assert parts[0].names[:2] == ("pixel_0_0", "pixel_0_1")
    assert parts[0].names[-1] == "pixel_7_7"
    # The first column of every image is blank: constant columns stay.
    assert parts[0].frequency[0] == 0
    assert 0.25 < parts[0].density < 0.4


def test_names_that_are_not_embedded_are_refused():
    with pytest.raises(InputError, match=r"no embedded dataset 'nltcs'; known: digits, grid"):
        embedded("nltcs", 0)
    with pytest.raises(InputError, match="no embedded dataset"):
        truth("nltcs", 0)
    with pytest.raises(InputError, match="is not sampled from a known network; grid, triples are"):
        truth("digits", 0)


@pytest.mark.parametrize("seed", range(5))
def test_grid_is_a_grid_of_couplings_of_either_sign(seed):
    network = truth("grid", seed)
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
    network = truth("triples", seed)
    assert network.features.length.tolist() == [3] * 6
    assert len(network.edges()) == 18


@pytest.mark.parametrize("name", ["grid", "triples"])
@pytest.mark.parametrize("seed", range(5))
def test_truth_can_be_recovered(name, seed):
    """Every feature is many standard errors away from nothing; no variable is nearly constant."""
    network = truth(name, seed)
    probability = state_probabilities(network)
    satisfied = network.features.satisfied(all_states(network.n_vars)).astype(float)
    mean = probability @ satisfied
    information = (satisfied * probability[:, None]).T @ satisfied - np.outer(mean, mean)
    error = np.sqrt(np.diag(np.linalg.inv(EMBEDDED[name].n_train * information)))
    interacting = network.features.length > 1
    assert (np.abs(network.weight) / error)[interacting].min() > 8
    marginal = probability @ all_states(network.n_vars)
    assert marginal.min() > 0.2
    assert marginal.max() < 0.8


@pytest.mark.parametrize("name", ["grid", "triples"])
def test_samples_follow_the_network(name):
    network = truth(name, 7)
    states = all_states(network.n_vars)
    probability = state_probabilities(network)
    data = embedded(name, 7)[0]
    satisfied = network.features.satisfied(states)
    expected = probability @ satisfied
    observed = data.weight @ network.features.satisfied(data.rows) / data.n_examples
    error = np.sqrt(expected * (1 - expected) / data.n_examples)
    assert np.abs((observed - expected) / error).max() < 4.5


def test_all_states():
    assert all_states(2).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert len(np.unique(all_states(10), axis=0)) == 1024


def test_exact_sampling_of_a_known_distribution():
    network = markov_network(2, features_of([[(0, 1)], [(0, 1), (1, 1)]]), [0.0, np.log(5)])
    np.testing.assert_allclose(state_probabilities(network), np.array([1, 1, 1, 5]) / 8)
    data = sample_exactly(network, 80_000, np.random.default_rng(0))
    np.testing.assert_allclose(
        data.weight / data.n_examples, [1 / 8, 1 / 8, 1 / 8, 5 / 8], atol=0.01
    )


def test_forbidden_states_are_never_sampled():
    network = markov_network(2, features_of([[(0, 1), (1, 1)]]), [-np.inf])
    data = sample_exactly(network, 1000, np.random.default_rng(0))
    assert data.rows.tolist() == [[0, 0], [0, 1], [1, 0]]
