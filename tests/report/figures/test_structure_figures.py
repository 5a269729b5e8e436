"""Figures of structures, and the couplings they show."""

import itertools

import numpy as np
import pytest

from made_figures import BY_KIND, material, record, ring
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.variables.schema import binary_schema
from mnlearn_studies.records.kinds.structures import couplings
from mnlearn_studies.report.figures import draw


def test_structure_tells_found_missed_and_extra_edges(structures):
    product = {**BY_KIND["structure"], "max_edges": 3}
    figure = draw(material(structures, truths={"d0": ring()}), product)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    # The strongest three of the learned: the last pairs of the ring and the chord.
    assert labels == ["positive", "negative", "found, 2", "missed, 4", "extra, 1"]
    assert len(figure.axes[0].patches) == 3 + 4


def test_structure_draws_the_names_of_the_variables(structures, tmp_path):
    network = ring()
    names = tuple(f"item_{v + 1}" for v in range(6))
    named = markov_network(binary_schema(6, names), network.features, network.weight)
    record(named, tmp_path)
    figure = draw(material(tmp_path), BY_KIND["structure"])
    assert [text.get_text() for text in figure.axes[0].texts] == list("123456")


def test_couplings_are_those_of_the_energy_in_signs():
    rng = np.random.default_rng(1)
    conjunctions = [[(0, 1), (1, 0)], [(0, 0), (1, 1), (2, 1)], [(1, 1), (2, 0)], [(2, 1)]]
    network = markov_network(3, features_of(conjunctions), rng.normal(size=4))
    states = np.array(list(itertools.product((0, 1), repeat=3)), np.uint8)
    energy, signs = network.potential_of(states), 2.0 * states - 1
    expected = {
        (u, v): np.mean(energy * signs[:, u] * signs[:, v]) for u, v in ((0, 1), (0, 2), (1, 2))
    }
    assert couplings(network) == pytest.approx(expected)
