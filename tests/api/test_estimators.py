"""Every learner is a scikit-learn estimator."""

import dataclasses
import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.utils.estimator_checks import check_estimator

import mnlearn as mn
from daily import daily
from mnlearn.learning.tuning import tune
from mnlearn.methods import class_names, load_learner
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.scoring.metrics import Request, find_metric

LEARNERS = sorted(class_names())
RNG = np.random.default_rng(20)
ROWS = RNG.integers(0, 2, (60, 4))
ROWS[:, 1] = ROWS[:, 0] ^ (RNG.random(60) < 0.2)
FRAME = pd.DataFrame(ROWS, columns=["sleep", "mood", "work", "sport"])


# Their data are fractions, which are no states. A test below has whole numbers.
FRACTIONS = {
    f"check_sample_weight_equivalence_on_{form}_data": "the data are fractions"
    for form in ("dense", "sparse")
}
# What the two learners say that do not learn every number of states.
REFUSED = {
    "Ising": "an Ising network is of variables with two",
    "LTM": "expected variables with the same number of states",
}


def _sentences(error):
    """Return what an error says, and those that caused it."""
    return "" if error is None else f"{error} {_sentences(error.__cause__ or error.__context__)}"


# Those that take longest only at night.
QUICK = [name for name in LEARNERS if name not in ("TreeBag", "HCLT", "DNBag", "Mixture")]


@pytest.mark.parametrize("name", daily([*LEARNERS, "Ising"], QUICK))
def test_scikit_learn_accepts_an_estimator(name):
    estimator = getattr(mn, name)()
    if name == "GSSL":
        estimator.set_params(n_generated=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_fail=None, expected_failed_checks=FRACTIONS)
    refused = REFUSED.get(name, "no such sentence")
    failed = [
        (one["check_name"], str(one["exception"]))
        for one in found
        if one["status"] == "failed" and refused not in _sentences(one["exception"])
    ]
    assert failed == []
    assert sum(one["status"] == "passed" for one in found) > (25 if name in REFUSED else 35)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_learns_what_the_command_line_learns(name):
    """Same arguments, same defaults, same model; clones and pickles score the same."""
    learner = load_learner(class_names()[name])
    made = getattr(mn, name)
    hyperparameters = {field.name: field.default for field in dataclasses.fields(learner)}
    arguments = inspect.signature(made).parameters
    assert {n: arguments[n].default for n in hyperparameters} == hyperparameters
    fitted = made().fit(FRAME)
    data = mn.Dataset.from_arrays(ROWS, names=list(FRAME.columns))
    network = None
    if learner.network == "required":
        trees = load_learner("dn_tree")
        network = tune(trees, data, trees.grid({}), None).best.fitted.model
    model = tune(learner, data, learner.grid({}), None, network=network).best.fitted.model
    score = find_metric(learner.criterion).measure(model, data, Request())
    expected = score.per_row[data.row_of]
    np.testing.assert_array_equal(fitted.score_samples(FRAME), expected)
    assert fitted.score(FRAME) == pytest.approx(expected.mean())
    assert mn.score(fitted, FRAME).metric == mn.score(fitted.model_, FRAME).metric
    assert fitted.criterion == mn.score(fitted, FRAME).metric
    assert fitted.feature_names_in_.tolist() == list(FRAME.columns)
    assert fitted.model_.schema.names == tuple(FRAME.columns)


def test_weights_stand_for_repeated_rows():
    weight = np.arange(len(ROWS)) % 3
    repeated = mn.DTSL().fit(np.repeat(ROWS, weight, axis=0))
    weighted = mn.DTSL().fit(ROWS, sample_weight=weight)
    expected = repeated.score_samples(ROWS)
    np.testing.assert_allclose(weighted.score_samples(ROWS), expected, rtol=1e-9)
    mean = np.average(expected, weights=weight)
    assert weighted.score(ROWS, sample_weight=weight) == pytest.approx(mean)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, np.asarray, list])
def test_forms_of_data(form):
    expected = mn.Atomic().fit(FRAME).score_samples(FRAME)
    given = form(ROWS.tolist()) if form is list else form(ROWS)
    np.testing.assert_array_equal(mn.Atomic().fit(given).score_samples(given), expected)
    other = sparse.csr_array(ROWS * 7) if sparse.issparse(given) else ROWS * 7
    learner = mn.Atomic().fit(other)
    np.testing.assert_array_equal(learner.score_samples(other), expected)
    assert learner.schema_["V0"].states == (0, 7)


def test_model_selection_of_scikit_learn(rng):
    grid = {"lambda_": [1.0, 100.0], "merge": ["and", "or"]}
    search = GridSearchCV(mn.L1(), grid, cv=2).fit(FRAME)
    assert search.best_params_.keys() == grid.keys()
    counts = rng.poisson(1.0, (40, 3))
    pipeline = make_pipeline(Binarizer(threshold=1.5), mn.ChowLiu())
    scores = cross_val_score(pipeline, counts, cv=3)
    cut = mn.read_data(counts, cut=2, as_frame=True)
    np.testing.assert_allclose(scores, cross_val_score(mn.ChowLiu(), cut, cv=3))


def test_a_learner_builds_on_the_network_of_another():
    network = mn.DNLR(lambda_=2.0)
    by_estimator = mn.LW(network=network).fit(FRAME)
    by_model = mn.LW(network=network.fit(FRAME).model_).fit(FRAME)
    assert by_estimator.score(FRAME) == by_model.score(FRAME)
    by_estimator.set_params(network__lambda_=50.0).fit(FRAME)
    assert by_estimator.score(FRAME) != by_model.score(FRAME)
    assert isinstance(network.model_, DependencyNetwork)
    with pytest.raises(mn.InputError, match="network: expected a dependency network"):
        mn.LW(network=mn.Atomic()).fit(FRAME)


def test_random_state_is_the_seed_of_learning():
    def features(**arguments):
        model = mn.GSSL(n_generated=30, **arguments).fit(ROWS).model_
        return model.features_frame()["feature"].sort_values().tolist()

    assert features(random_state=3) == features(generation_seed=3)
    assert features(random_state=3) != features(random_state=4)
    assert features() == features(random_state=20)
    assert features(random_state=3, generation_seed=4) == features(generation_seed=4)


def test_the_representation_shows_what_was_chosen():
    assert repr(mn.DTSL(kappa=0.1)) == "DTSL(kappa=0.1)"
    assert mn.DTSL.__module__ == "mnlearn"
    assert "Structure prior: a split gains more" in mn.DTSL.__doc__


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kappa": 2.0}, "parameter kappa: expected 1e-300 to 1, got 2"),
        ({"kappa": [0.1, 0.2]}, "parameter kappa: expected a number"),
        ({"feature_mode": "nothing"}, "parameter feature_mode: expected one of"),
        ({"n_jobs": 0}, "n_jobs: expected a whole number"),
        ({"random_state": -1}, "random_state: expected a whole number"),
    ],
)
def test_a_wrong_argument_is_named(arguments, message):
    with pytest.raises(mn.InputError, match=message):
        mn.DTSL(**arguments).fit(FRAME)


def test_a_wrong_cell_is_named():
    fit = mn.Atomic().fit
    half = FRAME.astype(float)
    half.loc[7, "work"] = 0.5
    with pytest.raises(
        mn.InputError, match=r"X, row 7, column 'work': '0.5' is a fraction; cut it"
    ):
        fit(half)
    missing = FRAME.astype(float)
    missing.iloc[2, 1] = np.nan
    with pytest.raises(mn.InputError, match=r"X, row 2, column 'mood': is missing"):
        fit(missing)
    fitted = fit(FRAME.assign(sleep=FRAME["sleep"].map({0: "well", 1: "badly"})))
    with pytest.raises(mn.InputError, match="column 'sleep': expected 'badly' or 'well', got 'a"):
        fitted.score(FRAME.assign(sleep="a"))
    with pytest.raises(mn.InputError, match=r"X, row 1, column 0: '0.5' is a fraction"):
        fit(sparse.csr_array([[0, 1], [0.5, 0]]))
    with pytest.raises(mn.InputError, match="sample_weight, row 1: expected a number from 0"):
        fit(ROWS[:2], sample_weight=[1, -1])
    with pytest.raises(mn.InputError, match="X: expected a matrix, got a mapping"):
        fit(FRAME.to_dict("list"))
    assert mn.Atomic().fit(FRAME.astype(bool)).score(FRAME) == fit(FRAME).score(FRAME)
    assert mn.Atomic().fit(ROWS.astype(bool)).sample(2).dtype == bool
    assert mn.Atomic().fit(FRAME.astype("boolean")).score(FRAME) == fit(FRAME).score(FRAME)


EMPTY = {
    "DataFrame": (pd.DataFrame(), "sample"),
    "frame without rows": (FRAME[:0], "sample"),
    "frame without columns": (FRAME[[]], "feature"),
    "no rows": (np.zeros((0, 3)), "sample"),
    "no columns": (np.zeros((3, 0)), "feature"),
    "list": ([], "sample"),
    "list of lists": ([[], []], "feature"),
    "sparse": (sparse.csr_array((0, 3)), "sample"),
}


@pytest.mark.parametrize("form", EMPTY)
@pytest.mark.parametrize("name", ["DTSL", "Ising"])
def test_empty_data_are_refused_in_one_sentence(name, form):
    data, missing = EMPTY[form]
    sentence = rf"X: has 0 {missing}\(s\) \(shape=\(.*\)\) while a minimum of 1 is required\.$"
    with pytest.raises(mn.InputError, match=sentence):
        getattr(mn, name)().fit(data)


def test_empty_data_are_refused_wherever_data_are_given():
    fitted = mn.Atomic().fit(FRAME)
    empty = pd.DataFrame()
    for ask in (fitted.score, fitted.model_.score, mn.impute, mn.Atomic(missing="drop").fit):
        with pytest.raises(mn.InputError, match="X: has 0 sample"):
            ask(empty)
    with pytest.raises(mn.InputError, match="source: has 0 sample"):
        mn.read_data(empty)


def test_a_table_is_read_as_people_write_it():
    """Ids are left out, which a warning says; other tables are read like that of `fit`."""
    coded = pd.DataFrame(
        {
            "person_id": [f"p{i}" for i in range(len(ROWS))],
            "sleep": ROWS[:, 0] + 1,
            "mood": ROWS[:, 1].astype(bool),
            "work": ROWS[:, 2].astype(float),
            "sport": np.where(ROWS[:, 3], "Yes", "no"),
        }
    )
    with pytest.warns(UserWarning, match="X: left out 'person_id', which numbers the rows"):
        learner = mn.ChowLiu().fit(coded)
    assert list(learner.feature_names_in_) == list(FRAME.columns)
    assert [v.states for v in learner.schema_] == [(1, 2), (False, True), (0, 1), ("no", "Yes")]
    assert learner.score(coded[:20].assign(sleep=1)) == pytest.approx(
        mn.ChowLiu().fit(FRAME).score(FRAME[:20].assign(sleep=0))
    )
    data = mn.read_data(coded, leave_out="person_id")
    np.testing.assert_array_equal(data.rows[data.row_of], ROWS)
    assert mn.score(mn.ChowLiu().fit(data), coded).mean == mn.score(learner, coded).mean
    with pytest.raises(ValueError, match="unseen at fit time:\n- other"):
        mn.ChowLiu().fit(data).score(coded.assign(other=0))
    with pytest.raises(mn.InputError, match="source, keep: there is no column 'age'"):
        mn.read_data(coded, keep="age")


@pytest.mark.parametrize("missing", ["drop", "impute", "em"])
def test_missing_cells_of_sparse_matrices(missing):
    dense = ROWS.astype(float)
    dense[3, 1] = np.nan
    found, expected = (mn.ChowLiu(missing=missing).fit(X) for X in (sparse.csr_array(dense), dense))
    assert found.score(ROWS) == expected.score(ROWS)
    with pytest.raises(mn.InputError, match="X, row 3, column 1: is missing"):
        mn.ChowLiu().fit(sparse.csr_array(dense))


def test_missing_cells_in_python():
    holes = FRAME.astype(float).mask(np.random.default_rng(0).random(FRAME.shape) < 0.2)
    for missing in ("drop", "impute", "em"):
        learner = mn.ChowLiu(missing=missing).fit(holes)
        assert learner.n_features_in_ == 4
        assert np.isfinite(learner.score(holes))
    assert learner.score(holes) >= mn.ChowLiu(missing="drop").fit(holes).score(holes)
    full = mn.impute(holes, random_state=3)
    assert full.notna().all().all()
    assert (full == holes)[holes.notna()].sum().sum() == holes.notna().sum().sum()
    words = holes.replace({0.0: "no", 1.0: "yes"}).astype(object)
    assert mn.impute(words, random_state=3).eq("yes").equals(full.eq(1))
    assert mn.Ising(missing="drop").fit(holes).n_features_in_ == 4
    for made, message in (
        (lambda: mn.DTSL(missing="em").fit(holes), "missing em: expected a method that learns"),
        (lambda: mn.DTSL(missing="mean").fit(holes), "missing: expected drop, impute, em or None"),
        (lambda: mn.score(learner, holes, "pll"), r"row \d+, column '\w+': is missing"),
    ):
        with pytest.raises(mn.InputError, match=message):
            made()


def test_score_treats_missing_cells_as_fit_does():
    holes = FRAME.astype(float).mask(np.random.default_rng(0).random(FRAME.shape) < 0.1)
    whole = holes.notna().all(axis=1).to_numpy()
    weight = np.arange(len(holes)) % 3
    for missing in ("drop", "impute"):
        assert np.isfinite(cross_val_score(mn.Atomic(missing=missing), holes, cv=3)).all()
        learner = mn.Atomic(missing=missing).fit(holes)
        each = learner.score_samples(holes)
        assert each.shape == whole.shape
        np.testing.assert_allclose(
            each[whole], mn.score(learner.model_, holes[whole], "pll").per_example
        )
        assert np.isnan(each[~whole]).all() == (missing == "drop")
        found = mn.score(learner, holes, "pll", sample_weight=weight)
        used = (weight > 0) & (whole if missing == "drop" else True)
        np.testing.assert_array_equal(~np.isnan(found.per_example), used)
        weighed = np.average(found.per_example[used], weights=weight[used])
        assert found.mean == pytest.approx(weighed)
        assert learner.score(holes, sample_weight=weight) == found.mean
        search = mn.GridSearch(mn.Atomic(missing=missing), {"pseudocount": [0.5, 1.0]})
        assert np.isfinite(search.fit(holes).score(holes))
    with pytest.raises(mn.InputError, match="is missing"):
        mn.score(learner.model_, holes, "pll")
