"""Every kind of model over variables of 1, 2, 3 and 4 states in every form that holds it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import oracles
from made_feature_trees import learned_twice
from made_hidden_trees import random_hidden_tree
from made_state_models import random_states_dependency_network, random_states_network
from made_state_networks import mixed_network, named_schema, random_tree, table_network
from made_states import every_row
from mnlearn.inference.circuits.exact import log_value
from mnlearn.models.bayesian_network import bayesian_network
from mnlearn.models.cpds import assemble
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.variables.schema import Schema, Variable

ARITY = (3, 1, 2, 4)
SCHEMA = named_schema(ARITY)


def network_of_features(seed):
    network = replace(random_states_network(seed, ARITY, 12), schema=SCHEMA)
    return replace(
        network, weight=np.where(np.arange(len(network.weight)), network.weight, -np.inf)
    )


def dependency_network(seed):
    features = random_states_network(seed, ARITY, 12).features
    target = SCHEMA.variable_of[features.var[features.start[:-1]]]
    return replace(
        random_states_dependency_network(seed, ARITY),
        schema=SCHEMA,
        features=features,
        target=target,
        weight=np.random.default_rng(seed).normal(size=len(features)),
    )


def mixed(seed, arity=ARITY):
    return mixed_network(np.random.default_rng(seed), arity)


def trees(seed):
    """A Bayesian network of variables of two states, all with trees."""
    rng, schema = np.random.default_rng(seed), named_schema((2,) * 6)
    own = {v: random_tree(rng, schema, v, v) for v in range(6)}
    return bayesian_network(assemble(schema, own), schema)


def junction_tree(_):
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


# Models by kind, and the forms that hold them.
MARKOV = (".npz", ".mn", ".uai", ".mn.gz", ".uai.xz")
BAYESIAN = (".npz", ".bn", ".bif", ".uai", ".bn.gz", ".mn")
OF_CPDS = (".npz", ".ac", ".mn", ".uai", ".bif", ".bn")
MODELS = {
    "features": (network_of_features, MARKOV),
    "circuit of features": (lambda k: network_of_features(k).to_circuit(), (*OF_CPDS[:4],)),
    "dependency network": (dependency_network, (".npz", ".dn")),
    "trees": (trees, BAYESIAN),
    "trees and tables": (mixed, BAYESIAN),
    "tables": (lambda k: table_network(np.random.default_rng(k), (2, 5, 1, 3))[0], BAYESIAN),
    "one state each": (lambda k: mixed(k, (1, 1)), BAYESIAN),
    "circuit of CPDs": (lambda k: mixed(k).to_circuit(), OF_CPDS),
    "junction tree": (junction_tree, OF_CPDS),
    "feature tree": (lambda k: learned_twice(k)[0], (".npz", ".ac", ".mn", ".uai")),
    "hidden tree": (random_hidden_tree, (".npz", ".ac")),
    "circuit of a hidden tree": (lambda k: random_hidden_tree(k).to_circuit(), (".npz", ".ac")),
}
CASES = [
    (kind, suffix, seed)
    for kind, (_, forms) in MODELS.items()
    for suffix in forms
    for seed in range(3)
]


def log_potential(model):
    """The log-potential of every state, up to what each kind of model says by itself."""
    rows = every_row(model.schema)
    if isinstance(model, DependencyNetwork):
        return oracles.log_conditionals(model, rows)
    if isinstance(model, MarkovNetwork):
        return model.potential_of(rows)
    if model.has_own_likelihood:
        return model.log_likelihood(rows)
    return log_value(model.to_circuit(), rows)


@pytest.mark.parametrize(("kind", "suffix", "seed"), CASES)
def test_a_file_keeps_the_distribution(kind, suffix, seed, tmp_path):
    model, path = MODELS[kind][0](seed), tmp_path / f"a{suffix}"
    save_model(model, path)
    again = load_model(path)
    np.testing.assert_array_equal(again.schema.arity, model.schema.arity)
    if suffix in (".npz", ".ac", ".bif"):
        assert again.schema == model.schema
    found, expected = log_potential(again), log_potential(model)
    is_exact = suffix == ".npz" or (kind, suffix) == ("trees", ".bn")
    if is_exact:
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(np.exp(found), np.exp(expected), rtol=1e-9, atol=1e-12)
    has_tables = hasattr(model, "tables")
    if is_exact or suffix == ".bif" or (has_tables and suffix == ".uai"):
        save_model(again, tmp_path / f"b{suffix}")
        assert path.read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    if has_tables and suffix in (".npz", ".bif", ".uai"):
        for v in range(model.n_vars):
            assert again.table(v).parents == model.table(v).parents
            np.testing.assert_allclose(again.table(v).prob, model.table(v).prob, rtol=3e-16)


def test_states_of_all_types_and_an_order(tmp_path):
    schema = Schema((
        Variable("a", (1, 2, 5), ordered=True), Variable("b", ("only",)),
        Variable("c", (False, True), dtype="bool"), Variable("d=e, f", ("x", "y=z", "2", "-1")),
        Variable("g", (pd.Interval(0, 1), pd.Interval(1.5, 3, "left"))),
        Variable("h", (pd.Timestamp("2020"), pd.Timedelta("1h"), pd.Period("2021-03", "M"))),
    ))  # fmt: skip
    features = features_of([[(0, 1), (3, 1)], [(4, 0)]])
    save_model(MarkovNetwork(schema, features, np.array([1.0, 2.0])), tmp_path / "a.npz")
    again = load_model(tmp_path / "a.npz").schema
    assert again == schema
    assert [type(v.states[0]) for v in again][:4] == [int, str, bool, str]
    assert [v.dtype for v in again][:4] == [None, None, "bool", None]


@pytest.mark.parametrize("suffix", [".npz", ".ac"])
@pytest.mark.parametrize("states", [(False, True), (0, 1), ("0", "1"), (1, 0)])
def test_equal_states_are_told_apart(suffix, states, tmp_path):
    own = {"a": states, "b": states}
    network = MarkovNetwork.from_features([{"a": states[1], "b": states[1]}], [1.0], own)
    save_model(network.to_circuit(), tmp_path / f"a{suffix}")
    # The second time, what the file says is written again.
    save_model(load_model(tmp_path / f"a{suffix}"), tmp_path / f"b{suffix}")
    again = load_model(tmp_path / f"b{suffix}")
    assert [[type(s) for s in v.states] for v in again.schema] == [[type(states[0])] * 2] * 2
    assert again.schema == network.schema
    assert set(again.sample(9)["a"].map(str)) <= set(map(str, states))
