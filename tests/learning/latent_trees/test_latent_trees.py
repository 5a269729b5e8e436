"""Latent trees: grouping on exact distances, EM, and learning from samples of a known tree."""

import networkx as nx
import numpy as np
import pytest

from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.exact import (
    draw,
    expected_counts,
    expected_counts_given,
    log_partition,
    log_value,
)
from mnlearn.learning.latent_trees import search
from mnlearn.learning.latent_trees.chow_liu import PairTables
from mnlearn.learning.latent_trees.grouping import (
    Distances,
    group_recursively,
    information_distances,
    join_neighbours,
)
from mnlearn.learning.latent_trees.search import learn_latent_tree
from mnlearn.learning.latent_trees.tree import LatentTree, TreeMessages, run_em
from mnlearn.learning.learner import Task
from mnlearn.methods.chow_liu import ChowLiu
from mnlearn.models.circuit_building import NO_PARENT, tree_circuit


def random_latent_tree(n_observed, rng):
    """A tree whose leaves are observed and whose inner nodes, of three or more edges, hidden."""
    graph, hidden = nx.Graph(), n_observed
    graph.add_edges_from((hidden, leaf) for leaf in range(3))
    for leaf in range(3, n_observed):
        if rng.random() < 0.4:
            inner = [v for v in graph if v >= n_observed]
            graph.add_edge(int(rng.choice(inner)), leaf)
            continue
        u, v = sorted(graph.edges)[rng.integers(graph.number_of_edges())]
        hidden += 1
        graph.remove_edge(u, v)
        graph.add_edges_from([(u, hidden), (hidden, v), (hidden, leaf)])
    return graph


def path_lengths(graph, n_observed):
    lengths = dict(nx.all_pairs_dijkstra_path_length(graph, weight="length"))
    return np.array([[lengths[u][v] for v in range(n_observed)] for u in range(n_observed)])


GROUPINGS = pytest.mark.parametrize("tree_behind", [join_neighbours, group_recursively])


@GROUPINGS
@pytest.mark.parametrize("seed", range(8))
def test_exact_distances_give_the_tree(seed, tree_behind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    graph = random_latent_tree(n, rng)
    for u, v in graph.edges:
        graph.edges[u, v]["length"] = rng.uniform(0.2, 0.5)
    distances = Distances(path_lengths(graph, n))
    found = nx.Graph()
    for u, v in tree_behind(range(n), distances):
        found.add_edge(u, v, length=distances.matrix[u, v])
    assert nx.is_tree(found)
    assert found.number_of_nodes() == graph.number_of_nodes()
    np.testing.assert_allclose(path_lengths(found, n), path_lengths(graph, n), atol=1e-6)


@GROUPINGS
def test_a_parent_among_the_nodes_is_found(tree_behind):
    """A star around node 0 needs no hidden node."""
    length = np.array([0.0, 0.3, 0.4, 0.5, 0.6])
    distance = length[:, None] + length[None, :]
    np.fill_diagonal(distance, 0.0)
    edges = tree_behind(range(5), Distances(distance))
    assert {tuple(sorted(edge)) for edge in edges} == {(0, 1), (0, 2), (0, 3), (0, 4)}


@pytest.mark.parametrize("seed", range(4))
def test_noisy_distances_are_grouped_into_the_same_tree(seed):
    """Distances that are up to 5 per cent wrong: families spread, but less than others do."""
    rng = np.random.default_rng(seed)
    graph = random_latent_tree(9, rng)
    for u, v in graph.edges:
        graph.edges[u, v]["length"] = rng.uniform(0.3, 0.5)
    distance = path_lengths(graph, 9)
    noise = np.triu(rng.uniform(-0.05, 0.05, distance.shape), 1)
    edges = group_recursively(range(9), Distances(distance * (1.0 + noise + noise.T)))
    assert splits(nx.Graph(edges), 9) == splits(graph, 9)


def splits(tree, n_observed):
    """Return the observed nodes on the side of node 0 of every inner edge."""
    found = set()
    for edge in list(tree.edges):
        if min(edge) >= n_observed:
            rest = tree.copy()
            rest.remove_edge(*edge)
            side = nx.node_connected_component(rest, 0)
            found.add(frozenset(v for v in side if v < n_observed))
    return found


def test_distances_add_up_along_a_chain():
    flip = np.array([[0.9, 0.1], [0.2, 0.8]])
    joint = np.zeros((2, 2, 2))
    for a in (0, 1):
        for b in (0, 1):
            for c in (0, 1):
                joint[a, b, c] = (0.6, 0.4)[a] * flip[a, b] * flip[b, c]
    states = np.array(list(np.ndindex(2, 2, 2)))
    mean = joint.ravel() @ states
    covariance = (states - mean).T @ (joint.ravel()[:, None] * (states - mean))
    sd = np.sqrt(np.diag(covariance))
    d = information_distances(covariance / np.outer(sd, sd))
    assert d[0, 2] == pytest.approx(d[0, 1] + d[1, 2])


@pytest.fixture(scope="module")
def sample():
    """Examples of six observed variables below two hidden ones that are joined."""
    parent = np.array([6, 6, 6, 7, 7, 7, NO_PARENT, 6])
    p = np.array([[0.1, 0.8], [0.2, 0.9], [0.7, 0.1]] * 2 + [[0.4, 0.4], [0.1, 0.9]])
    log_prob = np.log(np.stack([1 - p, p], axis=2))
    circuit = tree_circuit(parent, log_prob, 6)
    return circuit, merge_rows(draw(circuit, 6000, 1))


@pytest.mark.parametrize("grouping", ["joining", "recursive"])
def test_hidden_variables_are_recovered(sample, grouping):
    circuit, data = sample
    tree = learn_latent_tree(data, grouping, 1.0, 20, n_iterations=200, tolerance=1e-7)
    assert tree.n_hidden == 2
    hidden = [{u for u in near if u < 6} for v, near in tree.neighbours().items() if v >= 6]
    assert sorted(map(sorted, hidden)) == [[0, 1, 2], [3, 4, 5]]
    truth = data.weight @ log_value(circuit, data.rows)
    assert tree.log_likelihood > truth - 1.0
    learned = tree.circuit()
    learned.check()
    assert log_partition(learned) == pytest.approx(0.0, abs=1e-9)
    assert data.weight @ log_value(learned, data.rows) == pytest.approx(tree.log_likelihood)


def test_an_exact_hidden_copy_changes_nothing(sample, monkeypatch):
    """With no noise the copy is the variable itself: the likelihood is that of the tree before."""
    _, data = sample
    pairs = PairTables(data, 1.0).all()
    edges = [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5)]
    tables = {(u, v): pairs[:, :, u, v] for u, v in edges}
    tree = LatentTree(6, tables, -np.inf)
    monkeypatch.setattr(search, "_NOISE", 1e-13)
    for v in (1, 3, 4):
        trial, _ = search._Grouping(pairs, join_neighbours).shadow(tree, v)
        assert set(trial.neighbours()[6]) == {v, *tree.neighbours()[v]}
        np.testing.assert_allclose(
            log_value(trial.circuit(), data.rows), log_value(tree.circuit(), data.rows), atol=1e-9
        )


def test_em_never_lowers_the_likelihood(sample):
    _, data = sample
    rng = np.random.default_rng(3)
    edges = [(v, 6) for v in range(3)] + [(v, 7) for v in range(3, 6)] + [(6, 7)]
    tables = {edge: rng.dirichlet(np.ones(4)).reshape(2, 2) for edge in edges}
    tree = LatentTree(6, tables, -np.inf)
    reached = []
    for _ in range(15):
        _, before = expected_counts(tree.circuit(), data)
        reached.append(before)
        tree = run_em(tree, data, 1e-9, n_iterations=1, tolerance=0.0)
        assert tree.log_likelihood == pytest.approx(before)
    assert (np.diff(reached) > -1e-6).all()
    assert reached[-1] > reached[0]


@pytest.mark.parametrize("seed", range(4))
def test_potentials_of_a_region_stand_for_the_rest_of_the_tree(seed):
    """The region with its potentials has the likelihood, and the flows, of the whole tree."""
    rng = np.random.default_rng(seed)
    parent = np.array([NO_PARENT, 0, 1, 1, 2, 2, 3, 3, 0])
    p = rng.uniform(0.1, 0.9, (9, 2))
    log_prob = np.log(np.stack([1 - p, p], axis=2))
    rows = rng.integers(0, 2, (30, 6)).astype(np.uint8)
    messages = TreeMessages(rows)
    messages.change(range(9), parent, log_prob)
    whole = tree_circuit(parent, log_prob, 6)
    np.testing.assert_allclose(messages.log_value(), log_value(whole, rows), atol=1e-9)
    # Nodes 1, 2, 3 and 6: the last hidden, its parent 3 and below it nothing.
    region = [1, 2, 3, 6]
    assert messages.top(region) == 1
    potentials = messages.potentials(region)
    local = tree_circuit(np.array([NO_PARENT, 0, 0, 2]), np.where(
        np.arange(4)[:, None, None] == 0, 0.0, log_prob[region]
    ), 4)  # fmt: skip
    weight = rng.uniform(0.5, 2.0, len(rows))
    counts, total = expected_counts_given(local, potentials, weight)
    assert total == pytest.approx(weight @ log_value(whole, rows))
    whole_counts, _ = expected_counts(whole, merge_rows(rows, weight))
    # Parameters of node v of the whole tree begin at 4 v - 2, of the local one likewise.
    for k, v in enumerate(region[1:], start=1):
        np.testing.assert_allclose(
            counts[4 * k - 2 : 4 * k + 2], whole_counts[4 * v - 2 : 4 * v + 2], atol=1e-9
        )


@pytest.mark.parametrize("seed", range(4))
def test_messages_of_a_changed_tree_are_those_of_a_new_one(seed):
    """Nodes move, come and go; tables change: whatever is kept must still hold."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (30, 6)).astype(np.uint8)
    messages = TreeMessages(rows)
    hidden, table = [6, 7], {v: rng.uniform(0.1, 0.9, 2) for v in range(20)}
    up = {0: NO_PARENT, 6: 0, 1: 6, 2: 6, 7: 6, 3: 7, 4: 7, 5: 0}
    for step in range(12):
        change = step % 3
        if change == 0:
            table[int(rng.integers(6))] = rng.uniform(0.1, 0.9, 2)
        elif change == 1:
            up[int(rng.integers(1, 6))] = int(rng.choice([0, *hidden]))
        else:
            gone = hidden.pop()
            hidden.append(8 + step)
            up = {
                hidden[-1] if v == gone else v: hidden[-1] if u == gone else u
                for v, u in up.items()
            }
        nodes = [*range(6), *sorted(hidden)]
        parent = np.array([NO_PARENT if up[v] == NO_PARENT else nodes.index(up[v]) for v in nodes])
        p = np.array([table[v] for v in nodes])
        log_prob = np.log(np.stack([1 - p, p], axis=2))
        messages.change(nodes, parent, log_prob)
        new = TreeMessages(rows)
        new.change(nodes, parent, log_prob)
        whole = tree_circuit(parent, log_prob, 6)
        np.testing.assert_allclose(messages.log_value(), log_value(whole, rows), atol=1e-9)
        for v in nodes:
            region = [v, *(u for u in nodes if up[u] == v)]
            kept, made = messages.potentials(region), new.potentials(region)
            assert kept.tobytes() == made.tobytes()


def test_the_bic_counts_the_free_parameters():
    """One for the root, and two for each other variable given its parent."""
    table = np.full((2, 2), 0.25)
    chain = {(0, 1): table, (1, 2): table}
    for tables, n_parameters in ((chain, 5), ({(0, 1): table}, 3)):
        tree = LatentTree(2, tables, -10.0)
        assert tree.bic(np.e**2) == pytest.approx(-10.0 - n_parameters)
        assert tree.bic(1) == -10.0


@pytest.mark.parametrize("constant", [0, 1])
def test_a_chow_liu_tree_without_pseudocount_below_a_constant_column(constant):
    data = merge_rows([[constant, 1, 1], [constant, 0, 0], [constant, 0, 1], [constant, 0, 0]])
    model = ChowLiu(pseudocount=0.0).learn(Task(data, {})).model
    states = np.array(list(np.ndindex(2, 2, 2)), np.uint8)
    total = np.exp(log_value(model, states))
    assert total.sum() == pytest.approx(1.0)
    # Of two variables that vary, the tree has the joint frequencies.
    assert total[[4 * constant, 4 * constant + 1]] == pytest.approx([0.5, 0.25])
