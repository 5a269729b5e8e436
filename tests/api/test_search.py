"""Grids, the Ising estimator, and what importing the package does."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.api import search as search_module
from mnlearn.learning.ising.estimation import learn_ising
from mnlearn.learning.ising.resampling import bootstrap
from mnlearn.learning.tuning import tune
from mnlearn.methods import load_learner
from mnlearn.runtime import code_digest
from mnlearn.scoring.metrics import mean_score

RNG = np.random.default_rng(3)
ROWS = RNG.integers(0, 2, (90, 5))
ROWS[:, 1] = ROWS[:, 0] ^ (RNG.random(90) < 0.2)
ROWS[:, 3] = ROWS[:, 2] ^ (RNG.random(90) < 0.3)
TRAIN = pd.DataFrame(ROWS[:60], columns=list("abcde"))
VALID = pd.DataFrame(ROWS[60:], columns=list("abcde"))
GRID = {"kappa": [0.001, 0.5], "feature_mode": ["prune", "nonzero"], "sd": [0.1, 1.0]}


def test_a_search_chooses_as_the_command_line_does(tmp_path):
    search = mn.GridSearch(mn.DTSL(), GRID, checkpoints=tmp_path).fit(TRAIN, validation=VALID)
    learner = load_learner("dtsl")
    train, valid = (mn.Dataset.from_arrays(x, names=list("abcde")) for x in (TRAIN, VALID))
    tuned = tune(learner, train, learner.grid(GRID), mean_score(learner.criterion, valid))
    assert search.best_params_ == {name: tuned.best.parameters[name] for name in GRID}
    assert search.best_score_ == tuned.best.score == search.score(VALID)
    results = pd.DataFrame(search.cv_results_)
    assert len(results) == 6
    assert results.loc[results["rank_test_score"] == 1, "stage"].tolist() == [0, 1]
    kept = sorted(path.name for path in tmp_path.iterdir())
    again = mn.GridSearch(mn.DTSL(), GRID, checkpoints=tmp_path).fit(TRAIN, validation=VALID)
    assert sorted(path.name for path in tmp_path.iterdir()) == kept
    assert again.cv_results_["params"] == search.cv_results_["params"]
    np.testing.assert_array_equal(again.model_.weight, search.model_.weight)
    refitted = mn.DTSL(**search.best_params_).fit(TRAIN)
    assert refitted.score(VALID) == pytest.approx(search.best_score_, abs=0.01)
    # Other validation data are another search, and so are the rows in another order.
    mn.GridSearch(mn.DTSL(), GRID, checkpoints=tmp_path).fit(TRAIN, validation=VALID[:20])
    assert len(list(tmp_path.iterdir())) == 2 * len(kept)
    turned = TRAIN.iloc[::-1]
    mn.GridSearch(mn.DTSL(), GRID, checkpoints=tmp_path).fit(turned, validation=VALID)
    assert len(list(tmp_path.iterdir())) == 3 * len(kept)


def test_a_search_by_cmll_and_by_held_out_rows():
    by_cmll = mn.GridSearch(mn.L1(merge="and"), {"lambda_": [1, 30]}, criterion="cmll", folds=2)
    by_cmll.fit(TRAIN, validation=VALID)
    assert by_cmll.best_params_.keys() == {"lambda_"}
    assert by_cmll.best_estimator_.merge == "and"
    scored = mn.score(by_cmll, VALID, "cmll", folds=np.int64(2))
    assert scored.mean == pytest.approx(by_cmll.best_score_)
    held_out = mn.GridSearch(mn.Atomic(), {"pseudocount": [0.5, 5]}).fit(TRAIN, validation=0.3)
    assert held_out.feature_names_in_.tolist() == list("abcde")


WEIGHTS = np.arange(60) % 3 + 1.0


def test_weights_of_a_search_count_as_repeated_rows():
    search = mn.GridSearch(mn.Atomic(), {"pseudocount": [0.5, 5]})
    weighted = search.fit(TRAIN, validation=VALID, sample_weight=WEIGHTS).best_score_
    repeated = search.fit(TRAIN.loc[TRAIN.index.repeat(WEIGHTS)], validation=VALID).best_score_
    assert weighted == pytest.approx(repeated, abs=1e-12)
    assert weighted != search.fit(TRAIN, validation=VALID).best_score_


@pytest.mark.parametrize(
    ("learner", "criterion", "grid"),
    [(mn.DTSL, "ll", {"sd": [0.05, 0.2, 1.0]}), (mn.ChowLiu, "pll", {"pseudocount": [0.1, 2, 20]})],
)
def test_a_search_takes_the_best_by_another_criterion(learner, criterion, grid):
    search = mn.GridSearch(learner(), grid, criterion=criterion).fit(TRAIN, validation=VALID)
    ((name, values),) = grid.items()
    scores = {
        metric: [mn.score(learner(**{name: x}).fit(TRAIN), VALID, metric).mean for x in values]
        for metric in ("pll", "ll")
    }
    expected = scores.pop(criterion)
    assert search.cv_results_["mean_test_score"] == pytest.approx(expected, abs=0.01)
    assert not np.allclose(expected, *scores.values(), atol=0.05)
    best = {name: values[int(np.argmax(expected))]}
    assert search.best_params_ == best
    assert search.best_estimator_.get_params().items() >= best.items()


def searched(folder, estimator=None, sample_weight=None, **arguments):
    """The scores of a search, whose finished points a folder may keep."""
    search = mn.GridSearch(
        estimator or mn.DTSL(), {"sd": [0.1, 1.0]}, checkpoints=folder, **arguments
    )
    search.fit(TRAIN, validation=VALID, sample_weight=sample_weight)
    return search.cv_results_["mean_test_score"].tolist()


CHANGES = {
    "sample_weight": ({}, {"sample_weight": WEIGHTS + 0.5}),
    "network": tuple({"estimator": mn.LW(network=mn.DNTree(kappa=k))} for k in (0.001, 0.9)),
    "folds": tuple({"criterion": "cmll", "inference": "exact", "folds": n} for n in (1, 3)),
    "inference": tuple(
        {"criterion": "cmll", "folds": 1, "inference": how} for how in ("exact", "meanfield")
    ),
    "random_state": tuple(
        {"criterion": "cmll", "inference": "exact", "random_state": n} for n in (3, 4)
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_finished_points_of_another_search_are_not_taken(name, tmp_path):
    before, after = CHANGES[name]
    first, second = searched(tmp_path, **before), searched(tmp_path, **after)
    assert second == searched(None, **after) != first


def test_checkpoints_depend_on_the_code_of_the_criteria(tmp_path, monkeypatch):
    """The folder keeps scores too: a change of what computes them must not return old ones."""
    roots = []

    def record(*given):
        roots.extend(given)
        return "digest"

    monkeypatch.setattr(search_module, "code_digest", record)
    grid = {"pseudocount": [0.5, 5]}
    mn.GridSearch(mn.Atomic(), grid, checkpoints=tmp_path).fit(TRAIN, validation=VALID)
    covered = code_digest.reached(*roots)
    assert {
        ("mnlearn.methods.atomic", "Atomic"),
        ("mnlearn.learning.tuning", "tune"),
        ("mnlearn.api.scores", "validation_criterion"),
        ("mnlearn.scoring.any_model", "cmll"),
        ("mnlearn.scoring.any_model", "pll"),
        ("mnlearn.inference.query_groups", "random_partition"),
        ("mnlearn.runtime.random_streams", "stream_seed"),
    } <= covered


ONE = {"kappa": [0.1]}


@pytest.mark.parametrize(
    ("grid", "arguments", "message"),
    [
        ({"kapa": [1]}, {}, "parameter kapa: expected one of"),
        ({"kappa": 0.1}, {}, r"grid, kappa: expected a list of values, got 0\.1"),
        (ONE, {"criterion": "auc"}, "criterion: expected one of pll, cmll, cll, ll"),
        (ONE, {"n_jobs": 0}, "n_jobs: expected a whole number other than 0"),
        ({}, {"estimator": "dtsl"}, "estimator: expected a learner"),
        ({}, {"validation": 1.5}, "validation: expected data or a share"),
        *((ONE, {"criterion": "cmll", "folds": n}, "folds: expected a whole number from 1, got")
          for n in (0, "a", 2.5, True)),
        *((ONE, {"criterion": criterion, name: value}, f"{name}: is not read by the metric pll")
          for criterion in (None, "pll") for name, value in (("folds", 5), ("inference", "exact"))),
    ],
)  # fmt: skip
def test_wrong_searches_are_named(grid, arguments, message):
    given = {"estimator": mn.DTSL(), "validation": VALID, **arguments}
    estimator, validation = given.pop("estimator"), given.pop("validation")
    with pytest.raises(mn.InputError, match=message):
        mn.GridSearch(estimator, grid, **given).fit(TRAIN, validation=validation)


def test_query_groups_by_default_and_as_a_number_of_numpy_are_the_same_search(tmp_path):
    kept = []
    for folds in (None, 4, np.int64(4)):
        search = mn.GridSearch(
            mn.Atomic(),
            {"pseudocount": [1, 2]},
            criterion="cmll",
            folds=folds,
            checkpoints=tmp_path,
        )
        search.fit(TRAIN, validation=VALID)
        kept.append({path.name for path in tmp_path.iterdir()})
    assert kept[0] == kept[1] == kept[2] != set()


def test_several_points_need_a_criterion():
    learner = load_learner("dtsl")
    data = mn.Dataset.from_arrays(TRAIN)
    with pytest.raises(mn.InputError, match=r"criterion: expected one .* values of kappa"):
        tune(learner, data, learner.grid({"kappa": [0.1, 0.2]}), None)
    with pytest.raises(mn.InputError, match=r"criterion: expected one .* values of l1, sd"):
        tune(learner, data, learner.grid({"sd": [0.1, 0.2], "l1": [0, 1]}), None)


def test_an_ising_network():
    ising = mn.Ising(gamma=0.1, merge="or", random_state=5).fit(TRAIN)
    data = mn.Dataset.from_arrays(TRAIN, names=list("abcde"))
    expected = learn_ising(data, 0.1, "or")
    np.testing.assert_array_equal(ising.weights_, expected.weight)
    np.testing.assert_array_equal(ising.thresholds_, expected.threshold)
    assert ising.edges_frame().equals(expected.edges_frame())
    table = ising.bootstrap(8, n_jobs=2)
    stability = bootstrap(data, 8, gamma=0.1, merge="or", seed=5)
    assert table.equals(expected.edges_frame(stability))
    assert ising.edges_frame().equals(table)
    assert ising.edges_frame("-1/1").equals(expected.edges_frame(stability, "-1/1"))
    assert not ising.edges_frame("-1/1").equals(table)
    for name in ("variables_frame", "weights_frame"):
        frame = getattr(ising, name)("-1/1")
        assert frame.equals(getattr(expected, name)("-1/1"))
        assert not frame.equals(getattr(expected, name)())
    assert np.isfinite(ising.score(VALID))
    p_one, p_zero = (ising.query({"a": a})["b", 1] for a in (1, 0))
    assert p_one > p_zero


# Modules that take long to import; the parts of the package that import nothing.
PROBE = """
import sys
import mnlearn as mn
heavy = {"numpy", "scipy", "pandas", "numba", "sklearn", "networkx"} & set(sys.modules)
assert not heavy, heavy
assert {"DTSL", "load", "GridSearch"} <= set(dir(mn))
assert not {"pandas", "sklearn", "networkx"} & set(sys.modules)
from mnlearn import *
assert DTSL is mn.DTSL and score is mn.score
assert not hasattr(mn, "Unknown")
"""


def test_importing_imports_nothing_heavy(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stdout
    assert list(tmp_path.iterdir()) == []


def test_missing_validation_cells_are_refused_unless_something_is_said_of_them():
    gaps = VALID.astype(float).mask(np.random.default_rng(0).random(VALID.shape) < 0.3)
    search = mn.GridSearch(mn.Atomic(), {"pseudocount": [0.5, 1.0]})
    with pytest.raises(mn.InputError, match=r"validation, row \d+, column '.': is missing"):
        search.fit(TRAIN, validation=gaps)
    imputing = mn.GridSearch(mn.Atomic(missing="impute"), {"pseudocount": [0.5, 1.0]})
    assert np.isfinite(imputing.fit(TRAIN, validation=gaps).best_score_)


def test_rows_of_an_earlier_stage_have_parameters_that_are_not_used():
    grid = {"kappa": [0.01, 0.1], "l1": [0.1, 10.0]}
    found = [
        mn.GridSearch(mn.DTSL(), {**grid, "l1": values}).fit(TRAIN, validation=VALID).cv_results_
        for values in (grid["l1"], grid["l1"][::-1])
    ]
    for results, unused in zip(found, (0.1, 10.0), strict=True):
        assert results["stage"].tolist() == [0, 0, 1, 1]
        assert results["param_l1"][:2].tolist() == [unused, unused]
    assert found[0]["mean_test_score"][:2].tolist() == found[1]["mean_test_score"][:2].tolist()
