"""Methods, grids, tuning and checkpoints."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_random import random_data, random_dependency_network
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.conversion import BASES, ORDERS, Orders, smooth_marginals, to_markov_network
from mnlearn.learning.learner import Stage
from mnlearn.learning.tuning import tune
from mnlearn.methods import learner_names, load_learner
from mnlearn.methods.dn_tree import DNTree
from mnlearn.models.io.native import write_npz
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.any_model import pll
from mnlearn.scoring.metrics import mean_score
from mnlearn_studies.datasets.embedded import build_true_network, load_embedded

GRID = {"kappa": [0.001, 0.1, 1.0], "feature_mode": ["default", "prune"], "sd": [0.1, 1.0]}


@pytest.mark.parametrize("name", learner_names())
def test_every_method_learns_with_its_defaults_the_same_bytes_on_any_threads(name, tmp_path):
    method = load_learner(name)
    data = random_data(0)
    network = random_dependency_network(0, data.n_vars) if method.network == "required" else None
    contents = set()
    for threads in (1, 3):
        tuned = tune(method, data, method.grid({}), None, network=network, threads=threads)
        write_npz(tuned.best.fitted.model, tmp_path / "a.npz")
        contents.add((tmp_path / "a.npz").read_bytes())
    assert len(contents) == 1
    assert tuned.best.fitted.model.n_vars == data.n_vars
    assert np.isfinite(pll(tuned.best.fitted.model, data).mean)
    assert sum(tuned.best.fitted.seconds.values()) > 0


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


def test_the_structure_of_a_known_network_is_recovered():
    """The strongest learned edges are the grid's own."""
    train, valid, _ = load_embedded("grid", 20)
    method = load_learner("dtsl")
    grid = method.grid({"kappa": [0.0001, 0.01], "feature_mode": ["prune-5"], "sd": [1.0]})
    network = tune(method, train, grid, mean_score(method.criterion, valid)).best.fitted.model
    true_edges = set(build_true_network("grid", 20).edges())
    strength = {edge: abs(w) for edge, w in network.edges().items()}
    strongest = sorted(strength, key=strength.get, reverse=True)[: len(true_edges)]
    assert len(true_edges & set(strongest)) >= 0.8 * len(true_edges)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("orders", ORDERS)
def test_dn2mn_converts_the_trees_of_dn_tree(base, orders):
    data = random_data(3, n_examples=400)
    shared = {"kappa": 0.1}
    trees = tune(load_learner("dn_tree"), data, load_learner("dn_tree").grid(shared), None)
    method = load_learner("dn2mn")
    tuned = tune(method, data, method.grid({**shared, "base": base, "orders": orders}), None)
    network = tuned.best.fitted.model
    assert isinstance(network, MarkovNetwork)
    # The trees of dependent columns are nearly consistent, and so the scores nearly equal.
    assert abs(pll(network, data).mean - pll(trees.best.fitted.model, data).mean) < 0.1


def test_dn2mn_converts_a_network_that_is_given():
    data = random_data(3, n_examples=400)
    network = random_dependency_network(5, data.n_vars)
    method = load_learner("dn2mn")
    tuned = tune(method, data, method.grid({}), None, network=network)
    expected = to_markov_network(network, smooth_marginals(data), Orders(np.arange(data.n_vars)))
    assert_array_equal(tuned.best.fitted.model.weight, expected.weight)


@pytest.mark.parametrize("longest", [1, 4])
def test_dn2mn_averages_features_up_to_its_max_length_over_all_orders(longest):
    data = random_data(3, n_examples=400)
    network = random_dependency_network(5, data.n_vars)
    method = load_learner("dn2mn")
    grid = method.grid({"orders": "all", "max_length": longest})
    found = tune(method, data, grid, None, network=network).best.fitted.model
    orders = Orders(np.arange(data.n_vars), all_up_to=longest)
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


@pytest.mark.parametrize("name", learner_names())
def test_seconds_are_those_of_the_processor(name, monkeypatch):
    learner, data = load_learner(name), random_data(1, 60, 4)
    given = {"n_generated": [100]} if name == "gssl" else {}
    network = None
    if learner.network == "required":
        trees = load_learner("dn_tree")
        network = tune(trees, data, trees.grid({}), None).best.fitted.model
    # The clock of the processor stands, so that another clock shows.
    monkeypatch.setattr(time, "process_time", lambda: 1.0)
    found = tune(learner, data, learner.grid(given), None, network=network).best.fitted
    assert set(found.seconds.values()) == {0.0}
