"""Markov networks that people build by hand, and tables in the words of a model."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import mnlearn as mn
from made_random import random_network
from mnlearn.cli import main
from mnlearn.models.features import FeatureSet
from mnlearn.runtime.errors import InputError
from oracles import all_states

DATA = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (80, 3)), columns=["a", "b", "c"])
DATA["b"] = DATA["a"] ^ (np.random.default_rng(1).random(80) < 0.1)


@pytest.mark.parametrize(
    ("features", "weight", "sentence"),
    [
        ([{"x": 1}], [1.0], "features, number 0: there is no variable 'x'"),
        ([{"a": 1}, {"a": 2}], [1.0, 1.0], "features, number 1, 'a': expected '0' or '1', got '2'"),
        ([{"a": 1}, {}], [1.0, 1.0], "features, number 1: expected at least one literal"),
        ([3], [1.0], "features, number 0: expected a mapping"),
        ([{"a": 1, 0: 0}], [1.0], "features, number 0: names the variable 'a' twice"),
        ([{"a": 1}], [np.nan], "weight, number 0: is not a number"),
    ],
)
def test_features_that_mean_nothing_are_refused(features, weight, sentence):
    with pytest.raises(InputError, match=sentence):
        mn.MarkovNetwork.from_features(features, weight, ["a", "b"])


@pytest.mark.parametrize(
    ("var", "value", "sentence"),
    [([5], [1], "expected columns from 0 to 1"), ([-1], [1], "columns"), ([0], [2], "values")],
)
def test_literals_that_kernels_cannot_read_are_refused(var, value, sentence):
    with pytest.raises(InputError, match=sentence):
        mn.MarkovNetwork(2, FeatureSet([0, 1], var, value), [0.5])


def test_a_dependency_network_of_other_columns_is_refused():
    network = mn.DNTree().fit(DATA).model_
    learner = mn.LW(network=network)
    learner.fit(DATA)
    with pytest.raises(InputError, match="expected 'a' as column 1 as in the model, got 'c'"):
        learner.fit(DATA[["c", "b", "a"]])


BIF = """network x {
}
variable rain {
  type discrete [ 2 ] { yes, no };
}
variable wet {
  type discrete [ 2 ] { yes, no };
}
probability ( rain ) {
  table 0.2, 0.8;
}
probability ( wet | rain ) {
  (yes) 0.9, 0.1;
  (no) 0.3, 0.7;
}
"""


def test_tables_in_the_words_of_a_model(tmp_path):
    (tmp_path / "a.bif").write_text(BIF)
    model = mn.load(tmp_path / "a.bif")
    words = pd.DataFrame({"wet": ["yes", "yes"], "rain": ["yes", "no"]})
    np.testing.assert_allclose(model.score_samples(words), np.log([0.2 * 0.9, 0.8 * 0.3]))
    # 1 and True say yes, which is the first state.
    digits = pd.DataFrame({"wet": ["1", "1"], "rain": ["1", "0"]})
    for table in (digits, digits.astype(int), digits == "1"):
        assert model.score(table) == model.score(words)
    with pytest.raises(InputError, match="X, row 0, column 'rain': expected 'yes' or 'no'"):
        model.score(digits.assign(rain=["2", "0"]))
    with pytest.raises(InputError, match="X, row 1, column 'rain': expected 'yes' or 'no', got"):
        model.score(words.assign(rain=["yes", "ja"]))


def test_weights_are_learned_for_features_that_are_given():
    features = [{"a": 1}, {"b": 1}, {"c": 1}, {"a": 1, "b": 1}]
    network = mn.MarkovNetwork.from_features(features, np.zeros(4), ["a", "b", "c"])
    learned = network.fit_weights(DATA)
    assert isinstance(learned, mn.MarkovNetwork)
    assert learned.score(DATA) > network.score(DATA)
    assert learned.edges_frame()["weight"][0] > 2
    # Columns are found by name, and an example of weight 2 counts as two.
    moved = network.fit_weights(DATA[["c", "a", "b"]], n_jobs=2)
    assert moved.weight.tolist() == learned.weight.tolist()
    turned = network.fit_weights(mn.read_data(DATA[["c", "a", "b"]]))
    assert turned.weight.tolist() == learned.weight.tolist()
    assert network.fit_weights(mn.read_data(DATA)).weight.tolist() == learned.weight.tolist()
    twice = network.fit_weights(DATA, sample_weight=np.full(80, 2.0))
    again = network.fit_weights(pd.concat([DATA, DATA]))
    np.testing.assert_allclose(twice.weight, again.weight, atol=1e-6)
    assert not network.fit_weights(DATA, sd=None, l1=1e6).weight.any()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"sd": 0.0}, "sd: expected a positive number"),
        ({"sd": -1.0}, "sd: expected a positive number"),
        ({"sd": "a"}, "sd: expected a number, got 'a'"),
        ({"l1": None}, "l1: expected a number, got None"),
        ({"l1": -1.0}, "l1: expected a number of at least 0"),
        ({"max_iterations": 0}, "max_iterations: expected a whole number from 1, got 0"),
    ],
)
def test_weights_are_not_learned_under_a_penalty_that_is_none(given, sentence):
    network = mn.MarkovNetwork.from_features([{"a": 1}], [0.0], ["a", "b", "c"])
    with pytest.raises(InputError, match=sentence):
        network.fit_weights(DATA, **given)
    with pytest.raises(InputError, match="X: there is no column 'c'"):
        network.fit_weights(DATA[["a", "b"]])


def test_the_order_within_a_feature_does_not_matter(tmp_path):
    one = mn.MarkovNetwork.from_features([{"y": 1, "x": 1}, {"y": 1, "x": 0}], [1, 2], ["x", "y"])
    other = mn.MarkovNetwork.from_features([{"x": 1, "y": 1}, {"x": 0, "y": 1}], [1, 2], ["x", "y"])
    pd.testing.assert_frame_equal(one.edges_frame(), other.edges_frame())
    assert len(one.edges_frame()) == 1
    one.save(tmp_path / "m.npz")
    assert mn.load(tmp_path / "m.npz").log_potential(np.array([[0, 1]], np.uint8)) == [2.0]
    unsorted = FeatureSet(np.array([0, 2]), np.array([1, 0], np.int32), np.ones(2, np.uint8))
    with pytest.raises(InputError, match="number 0: expected its columns in ascending order"):
        mn.MarkovNetwork(2, unsorted, [1.0])
    with pytest.raises(InputError, match="features: expected a list of mappings, got None"):
        mn.MarkovNetwork.from_features(None, [1.0], 2)
    with pytest.raises(InputError, match="features, number 0, 'V0': expected '0' or '1'"):
        mn.MarkovNetwork.from_features([{0: np.ones(2)}], [1.0], 2)


def test_log_partition_by_enumeration():
    network = random_network(3, n_vars=6)
    potential = network.log_potential(all_states(6))
    log_z = np.logaddexp.reduce(potential)
    own = network
    assert own.log_partition() == pytest.approx(log_z, abs=1e-9)
    log_p = mn.score(own, all_states(6), "ll").per_example
    np.testing.assert_allclose(potential - own.log_partition(), log_p, atol=1e-9)
    assert own.log_partition("meanfield") < log_z
    for method in ("bp", "meanfield"):
        scored = mn.score(own, all_states(6), "ll", inference=method).per_example
        np.testing.assert_allclose(potential - own.log_partition(method), scored, atol=1e-9)
    settings = {"chains": 50, "samples": 200, "random_state": 3}
    scored = mn.score(own, all_states(6), "ll", inference="ais", **settings).per_example
    np.testing.assert_allclose(potential - own.log_partition("ais", **settings), scored, atol=1e-9)
    with pytest.warns(UserWarning, match="inference bp: did not converge"):
        own.log_partition("bp", iterations=1)
    with pytest.raises(mn.InputError, match="inference: expected one of exact, bp, meanfield, ais"):
        own.log_partition("gibbs")
    with pytest.raises(mn.InputError, match="samples: is not read by inference bp"):
        own.log_partition("bp", samples=3)


def test_log_partition_of_a_conditioned_circuit_is_that_of_the_evidence():
    learner = mn.ChowLiu().fit(all_states(4)[[0, 1, 3, 3, 7, 15, 15, 8]])
    given = learner.model_.condition({0: 1, 2: 0})
    assert learner.model_.log_partition() == pytest.approx(0, abs=1e-12)
    assert given.log_partition() == pytest.approx(np.log(learner.probability({0: 1, 2: 0})))
    tree = learner.model_.to_bayesian_network()
    assert tree.log_partition("bp") == pytest.approx(0, abs=1e-12)
    with pytest.raises(mn.InputError, match="a dependency network has no joint distribution"):
        mn.DNTree().fit(all_states(4)).model_.log_partition()


@pytest.mark.parametrize("suffix", ["ac", "nnf"])
def test_save_compiles_a_network_as_convert_does(suffix, tmp_path):
    network = random_network(3, n_vars=5)
    mn.save(network, tmp_path / "network.mn")
    arguments = [str(tmp_path / "network.mn"), str(tmp_path / f"converted.{suffix}")]
    assert CliRunner().invoke(main, ["convert", *arguments]).exit_code == 0
    mn.save(mn.load(tmp_path / "network.mn"), tmp_path / f"saved.{suffix}")
    network.save(tmp_path / f"own.{suffix}")
    expected = (tmp_path / f"converted.{suffix}").read_bytes()
    assert (tmp_path / f"saved.{suffix}").read_bytes() == expected
    assert (tmp_path / f"own.{suffix}").exists()
