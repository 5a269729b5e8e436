"""Every kind of model over variables of 1, 2, 3 and 4 states in every form that holds it."""

import numpy as np
import pytest

from made_state_networks import all_values, mixed_network, named_schema, random_tree
from mnlearn.inference.circuits.exact import log_value
from mnlearn.models.cpds import assemble
from mnlearn.models.dependency_network import LEAF, DependencyNetwork
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.variables.schema import Schema, Variable

ARITY = (3, 1, 2, 4)
SCHEMA = named_schema(ARITY)
ROWS = SCHEMA.rows(all_values(ARITY))


def conjunctions(rng, schema, n):
    """Features that ask a variable for a state, or for none of some states."""
    out = []
    for _ in range(n):
        literals = []
        for v in rng.choice(len(schema), int(rng.integers(1, 4)), replace=False).tolist():
            columns = schema.columns(v)
            if len(columns) > 2 and rng.random() < 0.5:
                literals += [(c, 0) for c in rng.choice(columns, len(columns) - 2, replace=False)]
            elif columns:
                value = int(rng.integers(2)) if len(columns) == 1 else 1
                literals.append((int(rng.choice(columns)), value))
        out.append(sorted(literals))
    return [literals for literals in out if literals]


def network_of_features(seed):
    rng = np.random.default_rng(seed)
    features = conjunctions(rng, SCHEMA, 12)
    weight = rng.normal(size=len(features))
    weight[0] = -np.inf
    return markov_network(SCHEMA, features_of(features), weight)


def dependency_network(seed):
    rng = np.random.default_rng(seed)
    trees = {v: random_tree(rng, SCHEMA, v, v) for v in (0, 3)}
    found = [(v, f) for f in conjunctions(rng, SCHEMA, 12) for v in (0, 2, 3)
             if set(SCHEMA.columns(v)) & {c for c, _ in f}]  # fmt: skip
    target = np.array([v for v, _ in found], np.int32)
    features = features_of([f for _, f in found])
    weight = rng.normal(size=len(found))
    return DependencyNetwork(assemble(SCHEMA, trees), features, target, weight, SCHEMA)


def junction_tree():
    """P(v0, v2) P(v3, v1 | v0), where v0 is never in its last state."""
    rng = np.random.default_rng(0)
    first = rng.dirichlet(np.ones(6)).reshape(3, 2)
    first[2] = 0
    second = rng.dirichlet(np.ones(4), 3).reshape(3, 1, 4)
    with np.errstate(divide="ignore"):
        log_prob = np.log(np.concatenate([(first / first.sum()).ravel(), second.ravel()]))
    return JunctionTree(
        SCHEMA, np.array([0, 2, 5]), np.array([0, 2, 0, 1, 3]), np.array([-1, 0]), log_prob
    )


def log_potential(model):
    """The log-potential of every state, up to what each kind of model says by itself."""
    if isinstance(model, MarkovNetwork):
        return model.potential_of(ROWS)
    if model.has_own_likelihood:
        return model.log_likelihood(ROWS)
    return log_value(model.to_circuit(), ROWS)


def conditionals(network):
    """log P(x_v | rest) of a dependency network for every state of all variables, by definition."""
    out = np.zeros((len(ROWS), len(ARITY)))
    trees = network.trees
    for v, k in enumerate(ARITY):
        score = np.zeros((len(ROWS), k))
        for i, x in enumerate(ROWS):
            node = trees.start[v]
            while trees.split_var[node] != LEAF:
                node = trees.child[node, x[trees.split_var[node]]]
            score[i] = trees.log_prob[node, :k]
        own = network.features.select(network.target == v)
        for state in range(k):
            values = all_values(ARITY)
            values[:, v] = state
            holds = own.satisfied(SCHEMA.rows(values))
            score[:, state] += holds @ network.weight[network.target == v]
        score -= np.logaddexp.reduce(score, axis=1, keepdims=True)
        out[:, v] = score[np.arange(len(ROWS)), all_values(ARITY)[:, v]]
    return out


def saved(model, tmp_path, suffix):
    save_model(model, tmp_path / f"a{suffix}")
    again = load_model(tmp_path / f"a{suffix}")
    np.testing.assert_array_equal(again.schema.arity, ARITY)
    if suffix in (".npz", ".ac", ".bif"):
        assert again.schema == SCHEMA
    return again


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("suffix", [".npz", ".mn", ".uai", ".mn.gz", ".uai.xz"])
def test_markov_networks(seed, suffix, tmp_path):
    network = network_of_features(seed)
    again = saved(network, tmp_path, suffix)
    np.testing.assert_allclose(log_potential(again), log_potential(network), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("suffix", [".npz", ".ac", ".mn", ".uai"])
def test_circuits_of_markov_networks(seed, suffix, tmp_path):
    network = network_of_features(seed)
    again = saved(network.to_circuit(), tmp_path, suffix)
    np.testing.assert_allclose(log_potential(again), log_potential(network), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("suffix", [".npz", ".ac", ".bn", ".bif", ".mn", ".uai"])
def test_circuits_of_bayesian_networks(seed, suffix, tmp_path):
    network = mixed_network(np.random.default_rng(seed), ARITY)
    circuit = network.to_circuit()
    again = saved(circuit, tmp_path, suffix)
    np.testing.assert_allclose(
        np.exp(log_potential(again)), np.exp(network.log_likelihood(ROWS)), atol=1e-12
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("suffix", [".npz", ".dn"])
def test_dependency_networks(seed, suffix, tmp_path):
    network = dependency_network(seed)
    again = saved(network, tmp_path, suffix)
    np.testing.assert_allclose(conditionals(again), conditionals(network), atol=1e-12)


@pytest.mark.parametrize("suffix", [".npz", ".ac", ".mn", ".uai", ".bif", ".bn"])
def test_junction_trees(suffix, tmp_path):
    tree = junction_tree()
    assert np.exp(log_potential(tree)).sum() == pytest.approx(1.0)
    again = saved(tree, tmp_path, suffix)
    found, expected = np.exp(log_potential(again)), np.exp(log_potential(tree))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_states_of_all_types_and_an_order(tmp_path):
    schema = Schema((
        Variable("a", (1, 2, 5), ordered=True), Variable("b", ("only",)),
        Variable("c", (False, True), dtype="bool"), Variable("d=e, f", ("x", "y=z", "2", "-1")),
    ))  # fmt: skip
    features = features_of([[(0, 1), (3, 1)], [(4, 0)]])
    save_model(MarkovNetwork(schema, features, np.array([1.0, 2.0])), tmp_path / "a.npz")
    again = load_model(tmp_path / "a.npz").schema
    assert again == schema
    assert [type(v.states[0]) for v in again] == [int, str, bool, str]
    assert [v.dtype for v in again] == [None, None, "bool", None]
