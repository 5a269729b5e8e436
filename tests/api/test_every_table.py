"""Every learner takes any table, and answers in its words and dtypes."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

import mnlearn as mn
from mnlearn.methods import class_names

LEARNERS = [*sorted(class_names()), "Ising"]
# Settings with which a learner takes a second at most.
FAST = {"GSSL": {"n_generated": 200}}
N = 120


def _tables():
    """Return a table of each dtype: a chain of variables of two and of three states."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, N)
    b = np.where(rng.random(N) < 0.8, a, rng.integers(0, 3, N))
    c = ((b == 2) ^ (rng.random(N) < 0.1)).astype(int)
    d = (c ^ (rng.random(N) < 0.2)).astype(int)
    words = {
        "a": np.array(["low", "mid", "high"], object)[a],
        "b": np.array(["red", "blue", "green"], object)[b],
        "c": np.array(["f", "m"], object)[c],
        "d": np.array(["no", "yes"], object)[d],
    }
    levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    tables = {
        "str": pd.DataFrame(words).astype("str"),
        "object": pd.DataFrame(words).astype(object),
        "string": pd.DataFrame(words).astype("string"),
        "category": pd.DataFrame(words).astype("category"),
        "ordered": pd.DataFrame(words).astype({"a": levels, "c": "category"}),
        "whole": pd.DataFrame({"a": a + 1, "b": b, "c": c + 1, "d": d}),
        "float": pd.DataFrame({"a": a + 1.0, "b": b * 1.0, "c": c * 1.0, "d": d * 1.0}),
        "bool": pd.DataFrame({"a": a, "b": b, "c": c == 1, "d": d == 1}),
        "interval": pd.DataFrame({"a": pd.cut(a, [-1, 0, 1, 2]), "b": b, "c": c, "d": d}),
        # States that differ in spaces only, and words that all begin with a space.
        "blanks": pd.DataFrame(words).assign(
            a=pd.Categorical(np.array([" x", "x", "x "], object)[a]), b=" " + words["b"]
        ),
        "python": pd.DataFrame(words).astype(pd.StringDtype("python")),
        "nullable": pd.DataFrame({"a": a, "b": b, "c": c == 1, "d": d}).astype(
            {"a": "Int64", "b": "Int8", "c": "boolean", "d": "Float64"}
        ),
    }
    try:
        import pyarrow
    except ImportError:
        return tables
    tables["arrow"] = tables["bool"].assign(b=words["b"]).astype(
        {"a": "int64[pyarrow]", "b": "string[pyarrow]", "c": "bool[pyarrow]"}
    )  # fmt: skip
    tables["arrow words"] = pd.DataFrame(words).astype(
        {"a": "string[pyarrow]", "b": pd.ArrowDtype(pyarrow.string()), "c": "string", "d": "str"}
    )
    return tables


TABLES = _tables()


def _learner(name):
    return getattr(mn, name)(**FAST.get(name, {}))


def _cases(quick):
    """Return each learner with each dtype; those that are not quick are left to the night."""
    return [
        pytest.param(name, form, marks=() if quick(name, form) else pytest.mark.nightly)
        for name in LEARNERS
        for form in TABLES
    ]


# Reading is the same for all learners: by day each dtype is tried with two, and all with words.
CASES = _cases(lambda name, form: form == "str" or name in ("ChowLiu", "DTSL"))
GRIDS = _cases(
    lambda name, form: (
        name in ("DTSL", "DNTree", "Ising") and form in ("str", "ordered", "nullable")
    )
)


def _table(name, form):
    """Return a table of a dtype that a learner takes."""
    if name == "Ising":
        return TABLES[form][["c", "d"]].assign(e=TABLES[form]["c"])
    # Latent trees have the same number of states everywhere.
    return TABLES[form][["a", "b"]] if name == "LTM" else TABLES[form]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_a_learner_takes_a_table_and_answers_in_its_words(name, form, tmp_path):
    table = _table(name, form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = _learner(name).fit(table)
        assert learner.schema_ == learner.model_.schema
        score = learner.score(table)
        assert -5 < score < 0
        drawn = learner.sample(50, random_state=1)
        assert drawn.dtypes.to_dict() == table.dtypes.to_dict()
        for column in table:
            assert set(drawn[column]) <= set(table[column])
        first = table.columns[0]
        known = {first: table[first].iloc[0]}
        for asked in (learner, learner.model_):
            p = asked.query(known)
            np.testing.assert_allclose(p.groupby(level=0).sum(), 1.0, atol=1e-6)
            assert {s for v, s in p.index if v == table.columns[1]} <= set(table.iloc[:, 1])
        if learner.model_.has_joint:
            best = learner.most_probable(known)
            assert set(best.index) >= set(table.columns[1:])
            assert all(best[column] in set(table[column]) for column in best.index)
        mn.save(learner, tmp_path / "m.npz")
        again = mn.load(tmp_path / "m.npz")
        assert again.schema == learner.schema_
        assert mn.score(again, table, learner.criterion).mean == pytest.approx(score)
        copy = pickle.loads(pickle.dumps(learner))
        assert copy.score(table) == score
        assert copy.sample(50, random_state=1).equals(drawn)


LABELS = {
    "counted": ([0, 1, 2, 3], "0"),
    "numbers": ([3, 1, 0, 2], "3"),
    "mixed": (["a", 1, 2.5, True], "a"),
    "times": (pd.to_datetime(["2020", "2021", "2022", "2023"]), "2020-01-01 00:00:00"),
    "levels": (pd.MultiIndex.from_product([["x", "y"], [1, ""]]), "x_1"),
}


@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_all_kinds_are_names(labels):
    given, name = LABELS[labels]
    table = TABLES["str"].set_axis(given, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = mn.ChowLiu().fit(table)
        drawn = learner.sample(30)
        assert drawn.columns[0] == learner.schema_.names[0] == name
        assert drawn.dtypes.tolist() == table.dtypes.tolist()
        assert np.isfinite(learner.score(drawn))
        assert learner.score(table) == mn.score(learner.model_, table, "ll").mean
        asked = learner.query({table.columns[0]: "low"})
        assert asked.equals(learner.model_.query({name: "low"}))
        # Labels are names in any order, but scikit-learn wants that of `fit`.
        other = table.iloc[:, ::-1]
        assert learner.model_.score(other) == learner.score(table)
    with pytest.raises(ValueError, match=r"in this order|in the same order"):
        learner.score(other)
    with pytest.raises(mn.InputError, match=r"two columns are called .*; give one"):
        mn.ChowLiu().fit(table.iloc[:, [0, 1, 1]])


def test_arrays_of_several_kinds_of_states_are_objects():
    rows = np.array([[1, "x", True], [2, "y", False]] * 9, object)
    drawn = mn.Atomic().fit(rows).sample(9)
    assert drawn.dtype == object
    assert [set(map(type, column)) for column in drawn.T] == [{int}, {str}, {bool}]
    assert mn.Atomic().fit(np.eye(2, dtype=bool)).sample(3).dtype == bool
    assert mn.Atomic().fit(np.array([["x", "u"], ["y", "w"]])).schema_[0].dtype == "str"


@pytest.mark.parametrize(("name", "form"), GRIDS)
def test_grids_of_scikit_learn(name, form):
    table = _table(name, form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(_learner(name), {"random_state": [1, 2]}, cv=2, error_score="raise")
        assert np.isfinite(search.fit(table).best_score_)
