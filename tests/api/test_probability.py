"""The probability of an event against sums over all states."""

import numpy as np
import pytest

import mnlearn as mn
from made_networks import dense_network
from mnlearn.inference import forms
from mnlearn.models.io.formats import save_model
from mnlearn.runtime.errors import InputError

N = 5
RNG = np.random.default_rng(0)
ROWS = (RNG.random((300, N)) < RNG.random((3, N))[RNG.integers(0, 3, 300)]).astype(int)


def test_a_hidden_tree_of_many_states_is_asked_without_its_circuit():
    """Which would have more edges than a circuit may have."""
    rng, n_vars, n_states = np.random.default_rng(1), 300, 80
    transition = rng.dirichlet(np.ones(n_states), (n_vars, n_states))
    transition[0] = transition[0, 0]
    parent = np.arange(-1, n_vars - 1).astype(np.int32)
    model = mn.HiddenTree(parent, transition, rng.random((n_vars, n_states)))
    with pytest.raises(InputError, match="edges"):
        model.to_circuit()
    given = {n_vars - 2: 0}
    expected = model.query(given).iloc[-1]
    assert model.probability({n_vars - 1: 1}, given) == pytest.approx(expected, rel=1e-9)
    assert model.joint([n_vars - 1], given).iloc[1] == pytest.approx(expected, rel=1e-9)


def test_names_of_variables_and_what_is_refused():
    features = [{"rain": 1, "wet": 0}, {"rain": 1}]
    network = mn.MarkovNetwork.from_features(features, [-np.inf, 1.0], ["rain", "wet"])
    assert network.probability({"rain": 1, "wet": 0}) == 0.0
    assert network.probability({"wet": 1}, {"rain": 1}) == 1.0
    for event, given, sentence in (
        ({"sun": 1}, None, "event: there is no variable 'sun'"),
        ({}, {"sun": 1}, "given: there is no variable 'sun'"),
        ({"wet": 1}, {"wet": 1}, "event: the value of 'wet' is given."),
        ({"wet": 2}, None, "event, variable 'wet': expected '0' or '1', got '2'."),
        ([1, 0], None, "event: expected a mapping of variables to values, got list."),
        ({}, [1, 0], "given: expected a mapping of variables to values, got list."),
    ):
        with pytest.raises(InputError, match=sentence):
            network.probability(event, given)
    certain = mn.MarkovNetwork.from_features([{"a": 1}], [-np.inf], ["a", "b"])
    with pytest.raises(InputError, match=r"given: has probability 0\."):
        certain.probability({"b": 1}, {"a": 1})
    with pytest.raises(InputError, match="a dependency network has no joint distribution"):
        mn.DNTree().fit(ROWS).model_.probability({0: 1})


def test_a_large_network_is_compiled_once(monkeypatch):
    """Whatever is asked; `query` goes on as before, so that no answer depends on another."""
    calls = []
    compiled = forms.compile_network

    def count(network, max_edges):
        calls.append(network)
        return compiled(network, max_edges)

    monkeypatch.setattr(forms, "compile_network", count)
    monkeypatch.setattr(forms, "SMALL", 0)
    monkeypatch.setattr(forms, "factors_of", lambda model: None)
    model = mn.DTSL().fit(ROWS).model_
    first = model.probability({0: 1}, {1: 1})
    model.joint([0, 2])
    model.most_probable({3: 1})
    assert model.probability({0: 1}, {1: 1}) == first
    assert len(calls) == 1


def test_a_network_that_cannot_be_compiled_is_refused_once(tmp_path, monkeypatch):
    save_model(dense_network(40), tmp_path / "dense.npz")
    dense = mn.load(tmp_path / "dense.npz")
    tried = []
    compiled = forms.compile_network

    def count(network, max_edges):
        tried.append(1)
        return compiled(network, max_edges)

    monkeypatch.setattr(forms, "compile_network", count)
    for ask in (
        lambda: dense.probability({0: 1}),
        lambda: dense.joint([0, 1]),
        lambda: dense.most_probable({0: 1}),
    ):
        with pytest.raises(InputError, match="circuit: compiling takes more than"):
            ask()
    assert len(tried) == 1
