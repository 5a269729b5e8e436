"""What people give that is no table, no list and no number."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.integers(0, 2, (60, 3)), columns=["a", "b", "c"])
INFINITE = FRAME.astype(float)
INFINITE.iloc[3, 1] = np.inf


@cache
def ising():
    """A fitted network; not at the import, which each worker of a run does."""
    return mn.Ising().fit([[0, 0], [1, 1], [0, 1], [1, 0]] * 20)


@cache
def atomic():
    return mn.Atomic().fit(FRAME).model_


def cmll(**given):
    return mn.score(atomic(), FRAME, "cmll", **given)


def test_a_number_of_numpy_is_a_number():
    network = mn.DNTree().fit(FRAME).model_
    assert mn.from_dependency_network(network, FRAME, orders="all", max_length=np.int64(4))


def test_log_potentials_take_what_scores_take():
    model = atomic()
    expected = np.where(model.features.satisfied(FRAME.to_numpy(np.uint8)), model.weight, 0).sum(1)
    for rows in (FRAME, FRAME[["c", "a", "b"]], FRAME.to_numpy(), FRAME.to_numpy(np.uint8)):
        np.testing.assert_array_equal(model.log_potential(rows), expected)
    np.testing.assert_array_equal(model.log_potential(dict(FRAME.loc[7])), expected[[7]])


def test_suffixes_in_capitals(tmp_path):
    mn.save(atomic(), tmp_path / "M.NPZ")
    assert mn.load(tmp_path / "M.NPZ").n_vars == 3
    mn.read_data(FRAME).save(tmp_path / "D.NPZ")
    assert mn.read_data(tmp_path / "D.NPZ").schema.names == ("a", "b", "c")


NEVER = mn.MarkovNetwork.from_features([{"b": 1}], [-np.inf], ["a", "b", *"cdefghijklmnopq"])
NETWORK = mn.MarkovNetwork.from_features([{"a": 1, "b": 1}], [0.5], ["a", "b"])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mn.Atomic().fit(INFINITE), "column 'b'"),
        (lambda: cmll(groups=5), "groups: expected lists of variables"),
        (lambda: cmll(groups=[0, 1]), "groups: expected lists"),
        (lambda: cmll(groups=[]), r"groups: expected .*, got \[\]"),
        (lambda: cmll(groups=[["a"], []]), "at least one in each, got"),
        (lambda: mn.score(atomic(), FRAME, sample_weight=["x"] * 60), "sample_weight: expected"),
        (lambda: atomic().query([[0, 1, 0], [1]]), "evidence: expected rows of equal length"),
        (lambda: mn.Atomic().fit([["a", "b"], ["a"]]), "X: expected rows of equal length; scikit"),
        (lambda: mn.ChowLiu().fit(np.ma.masked_equal(FRAME, 1)), "X: expected NaN in missing"),
        (
            lambda: NETWORK.query(np.ma.masked_equal([[0, 1, 0]], 1)),
            "evidence: expected NaN in missing cells, got a mask",
        ),
        (lambda: mn.GridSearch(mn.ChowLiu(), {}).fit(FRAME, validation=5), "validation: expected"),
        (lambda: mn.save(mn.ChowLiu(), "m.npz"), "model: expected a model, or a learner after"),
        (
            lambda: mn.read_data(FRAME, cut=">=x"),
            "cut, column .>.: expected rising numbers or median, got",
        ),
        (
            lambda: atomic().log_potential([1, 1, 0]),
            "rows: expected a mapping of variables to states",
        ),
        (lambda: atomic().log_potential({"a": 1, "b": 0}), "rows, .*column 'c': is missing"),
        (
            lambda: mn.read_data(5),
            "source: expected a matrix with a row for each example, got 0 axes",
        ),
        (lambda: atomic().sample(True), "n_samples: expected a whole number from 1, got True"),
        (lambda: ising().bootstrap("x"), "n_resamples: expected a whole number from 1, got 'x'"),
        (lambda: ising().drop_cases(2.5), "n_resamples: expected a whole number from 1, got 2.5"),
        (
            lambda: mn.compare_ising({"x": [[0]], "y": [[1]]}, "x"),
            "n_permutations: expected a whole",
        ),
        (lambda: mn.compare_ising({1: [[0]], "1": [[0]]}), "groups: two of them are called '1'"),
        (lambda: mn.Ising(gamma="x").fit([[0, 1], [1, 0]]), "gamma: expected a number .* got 'x'"),
        (lambda: NETWORK.to_circuit("x"), "max_edges: expected a whole number from 1, got 'x'"),
        (lambda: NETWORK.query({"a": 10**400}), "a"),
        (
            lambda: NETWORK.query({"a": 1}, inference="bp", samples=5),
            "samples: is not read by inference bp, which reads iterations, tolerance",
        ),
        (lambda: NETWORK.query(inference="exact", samples=5), "samples: .* reads no settings"),
        *(
            (
                lambda X=X, n=n: mn.impute(X, iterations=n),
                "iterations: expected a whole number from 1",
            )
            for n in (2.5, "3", True, 0)
            for X in ([[0, 1], [1, 0]], [[0, 1], [1, float("nan")]])
        ),
        (lambda: NETWORK.query(damping=0.3), "damping: is not read by inference auto"),
        (lambda: NETWORK.joint(["a", 0]), "variables: names the variable 'a' twice"),
        (lambda: NETWORK.joint(["a"], {"a": 1}), "variables: the value of 'a' is given"),
        (lambda: NETWORK.joint(["x"]), "variables: there is no variable 'x'"),
        (lambda: NETWORK.joint(["a"], {"x": 1}), "given: there is no variable 'x'"),
        (lambda: NETWORK.joint(["a"], [1]), "given: expected a mapping of variables to values"),
        (lambda: NETWORK.joint([]), "from 1 to 65,536 combinations of their states, got 0"),
        (lambda: NEVER.joint(["a"], {"b": 1}), "given: has probability 0"),
        (lambda: NEVER.joint(range(17)), "combinations of their states, got 131,072"),
    ],
)
def test_values_of_other_kinds_and_settings_that_are_not_read_are_refused(call, sentence):
    with pytest.raises(mn.InputError, match=sentence):
        call()
