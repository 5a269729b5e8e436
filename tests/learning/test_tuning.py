"""Methods, grids, tuning and checkpoints."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_random import random_data, random_dependency_network
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.conversion import Orders, smooth_marginals, to_markov_network
from mnlearn.learning.learner import Stage
from mnlearn.learning.tuning import tune
from mnlearn.methods import learner_names, load_learner
from mnlearn.methods.dn_tree import DNTree
from mnlearn.models.io.native import write_npz
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.any_model import pll
from mnlearn.scoring.metrics import mean_score
from mnlearn_studies.datasets.embedded import load_embedded

GRID = {"kappa": [0.001, 0.1, 1.0], "feature_mode": ["default", "prune"], "sd": [0.1, 1.0]}


@pytest.mark.parametrize("name", learner_names())
def test_every_method_learns_the_same_bytes_on_any_threads_and_counts_processor_seconds(
    name, tmp_path, monkeypatch
):
    learner, data = load_learner(name), random_data(0)
    network = random_dependency_network(0, data.n_vars) if learner.network == "required" else None
    contents, seconds = set(), []
    for threads in (1, 3):
        best = tune(learner, data, learner.grid({}), None, network=network, threads=threads).best
        write_npz(best.fitted.model, tmp_path / "a.npz")
        contents.add((tmp_path / "a.npz").read_bytes())
        seconds.append(sum(best.fitted.seconds.values()))
        # The clock of the processor stands from here on, so that another clock shows.
        monkeypatch.setattr(time, "process_time", lambda: 1.0)
    assert len(contents) == 1
    assert best.fitted.model.n_vars == data.n_vars
    assert np.isfinite(pll(best.fitted.model, data).mean)
    assert seconds[0] > 0 == seconds[1]


def test_the_best_on_validation_data_is_chosen_stage_by_stage():
    train, valid = random_data(1), random_data(2)
    method = load_learner("dtsl")
    tuned = tune(method, train, method.grid(GRID), mean_score(method.criterion, valid))
    first = [row for row in tuned.trace if row["stage"] == 0]
    second = [row for row in tuned.trace if row["stage"] == 1]
    assert [row["kappa"] for row in first] == GRID["kappa"]
    best_kappa = max(first, key=lambda row: row["validation"])["kappa"]
    assert {row["kappa"] for row in second} == {best_kappa}
    assert len(second) == 4
    assert tuned.best.score == max(row["validation"] for row in second)
    assert_allclose(tuned.best.score, pll(tuned.best.fitted.model, valid).mean)
    assert set(tuned.variants) == {"default", "prune"}
    for name, candidate in tuned.variants.items():
        of_mode = [row["validation"] for row in second if row["feature_mode"] == name]
        assert candidate.score == max(of_mode)


@pytest.mark.parametrize(
    ("score_of", "tried"),
    [
        ({}, [0.1, 1.0, 2.0, 5.0, 10.0, 20.0]),  # scores rise to the last
        ({5.0: 9.0}, [0.1, 1.0, 2.0, 5.0, 10.0, 20.0]),  # the third lower one is the last
        ({10.0: 9.0}, [1.0, 2.0, 5.0, 10.0, 20.0]),
        ({20.0: 9.0}, [2.0, 5.0, 10.0, 20.0]),
        ({20.0: 9.0, 2.0: 9.0}, [0.1, 1.0, 2.0, 5.0, 10.0, 20.0]),
        ({20.0: 1.0, 10.0: 1.0, 5.0: 1.0, 2.0: 1.0, 1.0: 1.0, 0.1: 1.0},
         [0.1, 1.0, 2.0, 5.0, 10.0, 20.0]),  # equal scores are not worse
    ],
)  # fmt: skip
def test_penalties_are_tried_until_three_in_a_row_are_worse(score_of, tried):
    method = load_learner("dn_lr")
    asked = [5.0, 20.0, 0.1, 2.0, 1.0, 10.0]
    falling = iter(sorted(asked, reverse=True))
    below = {}

    def criterion(model):
        """Scores fall after each that is given, and rise up to the first."""
        penalty = next(falling)
        if penalty in score_of:
            below["top"] = score_of[penalty]
        elif "top" in below:
            below["top"] -= 1.0
        return below.get("top", -penalty)

    tuned = tune(method, random_data(1), method.grid({"lambda": asked}), criterion)
    found = [row["lambda"] for row in tuned.trace]
    assert sorted(found) == tried
    assert found == [value for value in asked if value in tried]


def test_a_resumed_search_ends_with_the_same_bytes(tmp_path):
    train, valid = random_data(1), random_data(2)
    method = load_learner("dtsl")
    grid = method.grid(GRID)
    whole = tune(method, train, grid, mean_score(method.criterion, valid))

    class KilledError(Exception):
        pass

    def dies_after(n):
        seen = []

        def criterion(model):
            seen.append(model)
            if len(seen) > n:
                raise KilledError
            return pll(model, valid).mean

        return criterion

    for n in (1, 2, 3):
        with pytest.raises(KilledError):
            tune(method, train, grid, dies_after(n), checkpoints=Checkpoints(tmp_path, code="x"))
    resumed = tune(
        method,
        train,
        grid,
        mean_score(method.criterion, valid),
        checkpoints=Checkpoints(tmp_path, code="x"),
    )
    assert_array_equal(resumed.best.fitted.model.weight, whole.best.fitted.model.weight)
    assert [r["validation"] for r in resumed.trace] == [r["validation"] for r in whole.trace]
    kept = len(list(tmp_path.glob("*.npz")))
    assert kept == len(whole.trace)
    tune(
        method,
        random_data(5),
        grid,
        mean_score(method.criterion, valid),
        checkpoints=Checkpoints(tmp_path, code="y"),
    )
    assert len(list(tmp_path.glob("*.npz"))) > kept


def test_the_seconds_of_a_grid_are_those_of_all_its_points(tmp_path, monkeypatch):
    """Learning takes 7 seconds and a validation score 1; a resumed search counts both again."""
    train, clock = random_data(1), [0.0]

    def learn(*arguments):
        clock[0] += 7.0
        return DNTree.learn_trees(*arguments)

    def criterion(model):
        clock[0] += 1.0
        return pll(model, train).mean

    monkeypatch.setattr("time.process_time", lambda: clock[0])
    monkeypatch.setattr(DNTree, "stages", (Stage(("kappa",), learn),))
    grid = DNTree.grid({"kappa": [0.01, 0.1, 1.0]})
    for kept in (Checkpoints(None), Checkpoints(tmp_path), Checkpoints(tmp_path)):
        assert tune(DNTree, train, grid, criterion, checkpoints=kept).tuning_seconds == 24.0
    assert clock[0] == 24.0 + 24.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kapa": 1}, "parameter kapa: expected one of kappa"),
        ({"kappa": []}, "parameter kappa: expected at least one value"),
        ({"kappa": "x"}, "parameter kappa: expected a number, got 'x'"),
        ({"kappa": 2.0}, "parameter kappa: expected 1e-300 to 1, got 2"),
        ({"feature_mode": "all"}, "parameter feature_mode: expected one of default"),
        ({"min_leaf_examples": [1, 2]}, "parameter min_leaf_examples: expected one value"),
        ({"max_iterations": 1.5}, "parameter max_iterations: expected a whole number"),
        ({"max_iterations": float("inf")}, "parameter max_iterations: expected a whole number"),
        ({"sd": -1}, "parameter sd: expected a number above 0, got -1"),
        ({"kappa": None}, "parameter kappa: expected a value"),
    ],
)
def test_parameters_that_make_no_sense(values, message):
    with pytest.raises(InputError, match=message):
        load_learner("dtsl").grid(values)


def test_text_from_a_command_line_becomes_typed():
    grid = load_learner("dtsl").grid({"kappa": "0.5", "sd": "none", "max_iterations": "7"})
    assert grid["kappa"] == [0.5]
    assert grid["sd"] == [None]
    assert grid["max_iterations"] == [7]


def test_an_unknown_method():
    with pytest.raises(InputError, match="expected one of acbn, acmn, atomic, blm, chow_liu"):
        load_learner("dtls")


@pytest.mark.parametrize("longest", [None, 1, 4])
def test_dn2mn_converts_a_network_that_is_given(longest):
    """Over both rotations, or features up to its max_length over all orders."""
    data = random_data(3, n_examples=400)
    network = random_dependency_network(5, data.n_vars)
    method = load_learner("dn2mn")
    grid = method.grid({} if longest is None else {"orders": "all", "max_length": longest})
    found = tune(method, data, grid, None, network=network).best.fitted.model
    orders = Orders(np.arange(data.n_vars), all_up_to=longest or 0)
    expected = to_markov_network(network, smooth_marginals(data), orders)
    assert_array_equal(found.weight, expected.weight)


def test_a_network_must_be_wanted_and_fit():
    data = random_data(3)
    network = random_dependency_network(5, data.n_vars)
    with pytest.raises(InputError, match="does not build on a dependency network"):
        tune(load_learner("dtsl"), data, load_learner("dtsl").grid({}), None, network=network)
    small = random_dependency_network(5, data.n_vars - 1)
    with pytest.raises(InputError, match="got one of"):
        tune(load_learner("dn2mn"), data, load_learner("dn2mn").grid({}), None, network=small)


def test_kappa_can_be_chosen_by_the_converted_network():
    train, valid, _ = load_embedded("grid", 20)
    method = load_learner("dn2mn")
    kappas = [1e-4, 1e-3, 1e-2, 0.1, 1.0]
    scores = {}
    for kappa in kappas:
        fitted = tune(method, train, method.grid({"kappa": kappa}), None).best.fitted
        scores[kappa] = pll(fitted.model, valid).mean
    grid = method.grid({"kappa": kappas, "kappa_by": "converted"})
    best = tune(method, train, grid, mean_score(method.criterion, valid)).best
    assert best.parameters["kappa"] == max(scores, key=scores.get)
    assert best.score == max(scores.values())
