"""Features of weight 0 join no variables, wherever a person sees the edges of a model."""

import csv
import itertools

import networkx as nx
import numpy as np
import pytest

import mnlearn as mn
from command import succeed
from made_models import ISING, log_prob_of, trees_of
from made_state_models import random_states_network
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees, tree_network
from mnlearn.models.features import features_of
from mnlearn.models.interactions import edge_weights, pair_tables, size
from mnlearn.models.io.formats import save_model
from mnlearn.models.io.graphs import write_edges
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


def test_python_shows_no_other_edges():
    model = NETWORK
    table = model.edges_frame()
    shown = zip(table["source"], table["target"], table["weight"], table["n_features"], strict=True)
    assert set(shown) == {
        ("V0", "V1", 2.0, 1), ("V1", "V2", 0.0, 1), ("V1", "V3", 0.0, 1), ("V2", "V3", 0.0, 1),
    }  # fmt: skip
    graph = model.to_networkx()
    assert {(u, v): weight for u, v, weight in graph.edges(data="weight")} == EDGES
    assert model.edges() == EDGES
    assert repr(model) == "<MarkovNetwork: 4 variables, 5 features, 4 edges>"
    directed = dependency_network()
    assert directed.edges() == {(1, 0): 1}
    assert set(directed.to_networkx().edges) == {(1, 0)}
    assert len(directed.edges_frame()) == 1
    assert repr(directed) == "<DependencyNetwork: 3 variables, 1 edges>"


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


def test_circuits_of_features_show_no_other_edges():
    rows = np.random.default_rng(0).integers(0, 2, (200, 3))
    rows[:, 1] = rows[:, 0]
    circuit = mn.ACMN(max_edges=100, l1=0.0).fit(rows).model_
    assert len(circuit.edges_frame())
    assert not len(circuit.with_parameters(np.zeros(len(circuit.weight))).edges_frame())


def correlated(n_rows=300, seed=0):
    """Examples of a chain of five variables, some of which tend to differ."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (n_rows, 5))
    for v, flips in ((1, 0.1), (2, 0.8), (3, 0.2), (4, 0.3)):
        rows[:, v] = rows[:, v - 1] ^ (rng.random(n_rows) < flips)
    return rows


def conditional_log_odds(model, target, given):
    p = model.probability({target: 1}, given)
    return np.log(p / (1 - p))


def pairs_of(frame):
    return {
        frozenset(map(str, (u, v))): float(w)
        for u, v, w in zip(frame["source"], frame["target"], frame["weight"], strict=True)
    }


@pytest.mark.parametrize("learner", [mn.ChowLiu(), mn.ACBN(edge_cost=0.1)], ids=["tree", "acbn"])
def test_a_bayesian_network_has_the_log_odds_of_its_conditional_distributions(learner):
    """Of each parent, with all other parents of the child at 0; found by exact queries."""
    model = learner.fit(correlated()).model_
    frame = model.edges_frame()
    assert {"source", "target", "weight", "n_uses"} == set(frame.columns)
    assert len(frame) >= 4
    assert (frame["weight"] < 0).any()
    for row in frame.itertuples():
        own = frame.loc[frame["target"] == row.target, "source"]
        others = {int(u[1:]): 0 for u in own if u != row.source}
        odds = [
            conditional_log_odds(model, int(row.target[1:]), {int(row.source[1:]): x, **others})
            for x in (0, 1)
        ]
        assert row.weight == pytest.approx(odds[1] - odds[0], abs=1e-9)
    assert frame["weight"].abs().is_monotonic_decreasing


def test_a_tree_has_the_weights_of_its_markov_network():
    model = mn.ChowLiu().fit(correlated()).model_
    undirected = pairs_of(model.to_markov_network().edges_frame())
    assert pairs_of(model.edges_frame()) == pytest.approx(undirected)


@pytest.mark.parametrize("suffix", [".csv", ".graphml"])
@pytest.mark.parametrize(
    "learner",
    [mn.ChowLiu(), mn.ACMN(max_edges=200), mn.DNTree(), NETWORK],
    ids=lambda learner: type(learner).__name__,
)
def test_files_have_the_edges_of_the_table(learner, suffix, tmp_path):
    model = learner if learner is NETWORK else learner.fit(correlated()).model_
    frame = model.edges_frame()
    expected = set(frame[["source", "target", "weight"]].itertuples(index=False, name=None))
    model.save(tmp_path / "m.npz")
    succeed(f"convert {tmp_path / 'm.npz'} {tmp_path / 'e'}{suffix}")
    if suffix == ".csv":
        with (tmp_path / "e.csv").open(newline="") as file:
            listed = csv.DictReader(file)
            found = {(row["source"], row["target"], float(row["weight"])) for row in listed}
    else:
        graph = nx.read_graphml(tmp_path / "e.graphml")
        assert graph.is_directed() == ("n_uses" in frame)
        found = set(graph.edges(data="weight"))
    if "n_features" in frame:
        expected, found = ({(*sorted(e[:2]), e[2]) for e in side} for side in (expected, found))
    assert found == expected


def test_a_regression_has_its_coefficients():
    model = mn.DNLR().fit(correlated()).model_
    table = model.coefficients_frame()
    for row in model.edges_frame().itertuples():
        assert row.weight == pytest.approx(table.loc[row.target, row.source], abs=1e-12)


def test_trees_are_followed_while_all_other_variables_are_0():
    """The oracle evaluates each conditional distribution in both states of the parent."""
    rows = np.random.default_rng(3).integers(0, 2, (400, 5))
    rows[:, 4] = rows[:, 0] ^ rows[:, 1]
    model = mn.DNTree(kappa=0.9).fit(rows).model_
    edges = edge_weights(model)
    assert set(edges) == set(model.edges())
    assert 0.0 in edges.values()
    leaves = np.flatnonzero(model.trees.is_leaf)
    paths = model.trees.paths()

    def log_odds(child, ones):
        for leaf in leaves[model.trees.target[leaves] == child]:
            if all((v in ones) == value for v, value in paths.literals(int(leaf))):
                return np.subtract(*model.trees.log_prob[leaf, ::-1])
        raise AssertionError

    for parent, child in itertools.permutations(range(5), 2):
        expected = log_odds(child, {parent}) - log_odds(child, set())
        assert edges.get((parent, child), 0.0) == pytest.approx(expected, abs=1e-12)


def test_certain_values_make_infinite_weights_or_none(tmp_path):
    """C is A or B, with certainty; D is always 1, whatever A is."""
    (tmp_path / "m.bif").write_text(
        "network n {}\n"
        + "".join(
            f"variable {v} {{ type discrete [ 2 ] {{ no, yes }}; }}\n" for v in ("A", "B", "C", "D")
        )
        + "probability (A) { table 0.5, 0.5; }\nprobability (B) { table 0.5, 0.5; }\n"
        "probability (C | A, B) { (no, no) 1, 0; (no, yes) 0, 1; "
        "(yes, no) 0, 1; (yes, yes) 0, 1; }\n"
        "probability (D | A) { (no) 0, 1; (yes) 0, 1; }\n"
    )
    network = mn.load(tmp_path / "m.bif")
    mn.save(network, tmp_path / "m.graphml")
    assert (tmp_path / "m.graphml").read_text().count(">INF<") == 2
    weights = pairs_of(network.edges_frame())
    assert weights[frozenset("AC")] == weights[frozenset("BC")] == np.inf
    assert weights.get(frozenset("AD"), 0.0) == 0.0


def test_edges_between_variables_of_several_states():
    model = random_states_network(2)
    found = model.edges()
    tables = pair_tables(model.schema, model.features, model.weight)
    assert found == {pair: size(table) for pair, table in tables.items()}
    assert found
