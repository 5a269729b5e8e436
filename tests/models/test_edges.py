"""Features of weight 0 join no variables, wherever a person sees the edges of a model."""

import csv

import networkx as nx
import numpy as np
import pytest

import mnlearn as mn
from command import numbers, succeed
from mnlearn.api.models import public
from mnlearn.models.circuit import with_weight
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network

# V0-V1 have a feature of weight 0 and another; V0-V2 and V1-V2 only one of weight 0. V2-V3 have
# a feature whose weight is not 0, though their log odds ratio is.
FEATURES = [[(3, 1)], [(0, 1), (1, 1)], [(0, 0), (1, 1), (2, 0)], [(1, 1), (2, 1), (3, 1)]]
NETWORK = markov_network(4, features_of([*FEATURES, [(0, 1), (2, 1)]]), [0.5, 2.0, 0, -1.0, 0])
EDGES = {(0, 1): 2.0, (1, 2): 0.0, (1, 3): 0.0, (2, 3): 0.0}


def dependency_network():
    """V0 given V1 with weight 1, and V1 given V2 with weight 0."""
    features = features_of([[(0, 1), (1, 1)], [(1, 1), (2, 1)]])
    return DependencyNetwork(flat_trees(3), features, np.array([0, 1]), np.array([1.0, 0.0]))


def test_edges_have_a_feature_with_a_weight():
    assert NETWORK.edges() == EDGES
    assert dependency_network().edges() == {(1, 0): 1}


def test_python_shows_no_other_edges():
    model = public(NETWORK)
    table = model.edges_frame()
    shown = zip(table["source"], table["target"], table["weight"], table["n_features"], strict=True)
    assert set(shown) == {
        ("V0", "V1", 2.0, 1), ("V1", "V2", 0.0, 1), ("V1", "V3", 0.0, 1), ("V2", "V3", 0.0, 1),
    }  # fmt: skip
    graph = model.to_networkx()
    assert {(u, v): weight for u, v, weight in graph.edges(data="weight")} == EDGES
    assert model.edges() == EDGES
    assert repr(model) == "<MarkovNetwork: 4 variables, 5 features, 4 edges>"
    directed = public(dependency_network())
    assert directed.edges() == {(1, 0): 1}
    assert set(directed.to_networkx().edges) == {(1, 0)}
    assert len(directed.edges_frame()) == 1
    assert repr(directed) == "<DependencyNetwork: 3 variables, 1 edges>"


@pytest.mark.parametrize("by", ["mn.save", "model.save", "mnlearn convert"])
def test_files_hold_no_other_edges(by, tmp_path):
    model = public(NETWORK)
    files = tmp_path / "a.csv", tmp_path / "a.graphml"
    model.save(tmp_path / "a.npz")
    for path in files:
        if by == "mnlearn convert":
            succeed(f"convert {tmp_path / 'a.npz'} {path}")
        elif by == "mn.save":
            mn.save(model, path)
        else:
            model.save(path)
    with files[0].open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["source"], line["target"]) for line in lines] == [
        ("V0", "V1"), ("V1", "V2"), ("V1", "V3"), ("V2", "V3"),
    ]  # fmt: skip
    assert [float(line["weight"]) for line in lines] == list(EDGES.values())
    assert nx.read_graphml(files[1]).number_of_edges() == 4
    assert len(mn.load(tmp_path / "a.npz").features) == 5
    assert numbers(f"info {tmp_path / 'a.npz'} --json")["n_edges"] == 4


def test_learners_write_no_other_edges(tmp_path):
    """With a strong L1 penalty no weight is left, so no edge."""
    train = "a,b,c\n" + "0,0,1\n1,1,0\n0,1,1\n1,0,1\n" * 5
    (tmp_path / "train.csv").write_text(train)
    succeed(f"fit dtsl --train {tmp_path / 'train.csv'} --set l1=1000 --out {tmp_path / 'm.npz'}")
    succeed(f"convert {tmp_path / 'm.npz'} {tmp_path / 'e.csv'}")
    assert (tmp_path / "e.csv").read_text() == "source,target,weight\n"


def test_circuits_of_features_show_no_other_edges():
    rows = np.random.default_rng(0).integers(0, 2, (200, 3))
    rows[:, 1] = rows[:, 0]
    circuit = mn.ACMN(max_edges=100, l1=0.0).fit(rows).model_
    assert len(circuit.edges_frame())
    assert not len(public(with_weight(circuit, np.zeros(len(circuit.weight)))).edges_frame())
