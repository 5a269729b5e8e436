"""Model files: exact round trips, suffixes, and native files that are refused."""

import zipfile

import numpy as np
import pytest
from hypothesis import given

import oracles
from libra_oracle import accepted_by_libra
from made_models import (
    ISING,
    TREES,
    arrays_of,
    assert_equal_models,
    dependency_networks,
    log_prob_of,
    markov_networks,
    modest,
    trees_of,
)
from mnlearn.data.dataset import merge_rows
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import (
    Trees,
    tree_network,
)
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.io.suffixes import _of as suffixes_of
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError


@given(markov_networks() | dependency_networks())
@modest
def test_npz_round_trip(tmp_path, model):
    path = tmp_path / "model.npz"
    save_model(model, path)
    loaded = load_model(path)
    assert_equal_models(loaded, model)
    first = path.read_bytes()
    save_model(loaded, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == first


@given(markov_networks())
@modest
def test_mn_round_trip(tmp_path, network):
    path = tmp_path / "model.mn"
    save_model(network, path)
    text = path.read_text()
    assert accepted_by_libra(text)
    loaded = load_model(path)
    rows = oracles.all_states(network.n_vars)
    np.testing.assert_array_equal(loaded.potential_of(rows), network.potential_of(rows))
    for name, array in arrays_of(network).items():
        np.testing.assert_array_equal(arrays_of(loaded)[name], array)
    save_model(loaded, path)
    assert path.read_text() == text


@given(dependency_networks())
@modest
def test_dn_round_trip(tmp_path, network):
    path = tmp_path / "model.dn"
    save_model(network, path)
    assert accepted_by_libra(path.read_text())
    loaded = load_model(path)
    rows = oracles.all_states(network.n_vars)
    np.testing.assert_array_equal(
        oracles.log_odds_matrix(loaded, rows), oracles.log_odds_matrix(network, rows)
    )
    assert np.all(np.abs(np.logaddexp(*loaded.trees.log_prob.T)) < 1e-12)
    # Branches out of reach are gone now, so that the second writing is the first again.
    save_model(loaded, path)
    first = path.read_bytes()
    again = load_model(path)
    assert_equal_models(again, loaded)
    save_model(again, path)
    assert path.read_bytes() == first


def test_equal_models_have_equal_bytes_whatever_their_memory_layout(tmp_path):
    trees = trees_of([(1, (2, (-1.0, np.log1p(-np.exp(-1.0))), (-np.inf, 0.0)), log_prob_of(2.0))]
                     + [log_prob_of(0.3)] * 2)  # fmt: skip
    other = Trees(
        trees.start.copy(),
        trees.split_var.astype(np.int64),
        np.asfortranarray(trees.child),
        np.asfortranarray(trees.log_prob),
    )
    for suffix in (".npz", ".dn", ".csv", ".graphml"):
        save_model(tree_network(trees), tmp_path / f"a{suffix}")
        save_model(tree_network(other), tmp_path / f"b{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("suffix", [".mn", ".dn"])
def test_a_weight_that_is_not_a_number_is_not_written(tmp_path, suffix):
    network = markov_network(1, features_of([[(0, 1)]]), [0.5])
    model = type(network)(1, network.features, np.array([np.nan]))
    if suffix == ".dn":
        model = tree_network(trees_of([(np.nan, np.nan)]))
    with pytest.raises(InputError, match="not a number"):
        save_model(model, tmp_path / f"a{suffix}")
    assert not list(tmp_path.iterdir())


def test_suffixes(tmp_path):
    save_model(ISING, tmp_path / "a.NPZ")
    assert load_model(tmp_path / "a.NPZ").schema.names == ("a", "b", "c,d")
    sentence = f"{tmp_path / 'a.txt'}: expected a model file that ends in "
    written = ".npz, .mn, .dn, .bn, .bif, .ac, .nnf, .uai, .csv or .graphml."
    with pytest.raises(InputError) as caught:
        save_model(ISING, tmp_path / "a.txt")
    assert str(caught.value) == sentence + written
    with pytest.raises(InputError) as caught:
        load_model(tmp_path / "a.txt")
    assert str(caught.value).startswith(sentence + ".npz, .mn, .dn")
    with pytest.raises(InputError, match=r"a\.mn: a \.mn file holds a Markov network, not"):
        save_model(TREES, tmp_path / "a.mn")
    with pytest.raises(InputError, match=r"a\.dn: a \.dn file holds a dependency network, not"):
        save_model(ISING, tmp_path / "a.dn")
    for suffix in (".csv", ".graphml"):
        save_model(ISING, tmp_path / f"a{suffix}")
        with pytest.raises(InputError, match="can only be written"):
            load_model(tmp_path / f"a{suffix}")
    assert {p.name for p in tmp_path.iterdir()} == {"a.NPZ", "a.csv", "a.graphml"}
    edges, every = (".csv", ".graphml"), (".npz",)
    assert suffixes_of(MarkovNetwork) == (*every, ".mn", ".uai", *edges)
    assert suffixes_of(ArithmeticCircuit, BayesianNetwork) == (
        *every, ".bn", ".bif", ".ac", ".nnf", ".uai",
    )  # fmt: skip


def test_npz_of_another_kind(tmp_path):
    merge_rows(np.eye(3)).save(tmp_path / "data.npz")
    with pytest.raises(InputError, match=r"data\.npz: expected a model, .* holds a dataset\."):
        load_model(tmp_path / "data.npz")
    np.savez(tmp_path / "plain.npz", data=np.eye(3))
    with pytest.raises(InputError, match=r"expected a model, .* a file of unnamed kind\."):
        load_model(tmp_path / "plain.npz")
