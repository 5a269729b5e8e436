"""Edges of networks as CSV and GraphML."""

import csv

import numpy as np

from made_models import (
    ISING,
    log_prob_of,
    trees_of,
)
from mnlearn.models.dependency_network import (
    DependencyNetwork,
    tree_network,
)
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import save_model, write_edges
from mnlearn.models.markov_network import markov_network


def test_edges_of_a_markov_network(tmp_path):
    write_edges(ISING, tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_bytes().decode()
    assert text == 'source,target,weight\na,b,2.0\nb,"c,d",-3.0\n'
    with (tmp_path / "a.csv").open(newline="") as file:
        assert [row["target"] for row in csv.DictReader(file)] == ["b", "c,d"]
    pair = markov_network(2, features_of([[(0, 0), (1, 0)]]), [0.1])
    write_edges(pair, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == "source,target,weight\nV0,V1,0.1\n"


def test_edges_of_a_dependency_network(tmp_path):
    leaf = log_prob_of(0.0)
    trees = trees_of([(1, (2, leaf, leaf), (2, leaf, leaf)), leaf, (0, leaf, leaf)])
    features = features_of([[(0, 1), (2, 1)], [(1, 1)], [(0, 1), (1, 0), (2, 1)]])
    network = DependencyNetwork(trees, features, np.array([0, 1, 1], np.int32), np.ones(3))
    assert network.edges() == {(1, 0): 1, (2, 0): 3, (0, 2): 1, (0, 1): 1, (2, 1): 1}
    save_model(network, tmp_path / "a.csv")
    # Only the first feature holds where all variables but its parent are 0.
    assert (tmp_path / "a.csv").read_text().splitlines()[1:] == [
        "V0,V1,0.0", "V0,V2,0.0", "V1,V0,0.0", "V2,V0,1.0", "V2,V1,0.0",
    ]  # fmt: skip
    save_model(tree_network(trees_of([leaf])), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == "source,target,weight\n"
