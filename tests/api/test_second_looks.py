"""What a second `fit` forgets, and what people give that is no table, no list and no number."""

import warnings

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.runtime.errors import InputError

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.integers(0, 2, (60, 3)), columns=["a", "b", "c"])
BIF = """network small {}
variable a { type discrete [ 2 ] { no, yes }; }
variable b { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.3, 0.7; }
probability ( b | a ) { (no) 0.2, 0.8; (yes) 0.6, 0.4; }
"""


@pytest.fixture
def named(tmp_path):
    """A Bayesian network whose states have names."""
    path = tmp_path / "small.bif"
    path.write_text(BIF)
    return mn.load(path)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("again", [FRAME.to_numpy(), mn.Dataset.from_arrays(FRAME.to_numpy())])
def test_a_second_fit_forgets_how_the_first_table_was_read(again):
    learner = mn.Atomic()
    with pytest.warns(UserWarning, match="2 counts as 1"):
        learner.fit(FRAME + 1)
    learner.fit(again)
    ones = pd.DataFrame(np.ones((2, 3), int), columns=["a", "b", "c"])
    expected = mn.Atomic().fit(again).score_samples(ones)
    np.testing.assert_array_equal(learner.score_samples(ones), expected)
    np.testing.assert_array_equal(learner.score_samples(FRAME), learner.score_samples(again))


def test_a_second_search_forgets_names():
    search = mn.GridSearch(mn.DTSL(), {"kappa": [0.01, 0.1]})
    search.fit(FRAME, validation=FRAME)
    assert search.feature_names_in_.tolist() == ["a", "b", "c"]
    search.fit(FRAME.to_numpy(), validation=FRAME.to_numpy())
    assert not hasattr(search, "feature_names_in_")


def test_names_of_states_beside_numbers_are_refused(named):
    table = pd.DataFrame({"a": ["yes", 0], "b": ["no", "yes"]}, dtype=object)
    with pytest.raises(InputError, match="X, row 1, column 'a': expected 'no' or 'yes', got 0"):
        mn.score(named, table, "ll")
    unknown = pd.DataFrame({"a": ["yes", None], "b": ["no", "yes"]}, dtype=object)
    found = mn.score(named, unknown, "ll").per_example
    np.testing.assert_allclose(np.exp(found), [0.7 * 0.6, 0.3 * 0.8 + 0.7 * 0.4])


def test_rows_of_evidence_have_names_of_states(named):
    rows = pd.DataFrame({"a": ["yes", None]}, dtype=object)
    found = named.query(rows)
    np.testing.assert_allclose(found["b"], [0.4, 0.3 * 0.8 + 0.7 * 0.4])
    with pytest.raises(InputError, match="evidence, row 0, column 'a': expected 'no' or 'yes'"):
        named.query(pd.DataFrame({"a": ["maybe"]}))
    twice = pd.DataFrame([[1, 0]], columns=["a", "a"])
    with pytest.raises(InputError, match="evidence: has two columns 'a'"):
        named.query(twice)


def test_what_is_no_table_no_list_and_no_number_is_refused():
    model = mn.Atomic().fit(FRAME).model_
    infinite = FRAME.astype(float)
    infinite.iloc[3, 1] = np.inf
    for work, sentence in (
        (lambda: mn.Atomic().fit(infinite), "column 'b'"),
        (lambda: mn.score(model, FRAME, "cmll", groups=5), "groups: expected lists of variables"),
        (lambda: mn.score(model, FRAME, "cmll", groups=[0, 1]), "groups: expected lists"),
        (lambda: mn.score(model, FRAME, sample_weight=["x"] * 60), "sample_weight: expected"),
        (lambda: model.query([[0, 1, 0], [1]]), "evidence: expected rows of equal length"),
        (lambda: mn.read_data(5), "source: expected a file or a DataFrame, got int"),
        (lambda: model.sample(True), "n_samples: expected a whole number from 1, got True"),
    ):
        with pytest.raises(InputError, match=sentence):
            work()
    network = mn.DNTree().fit(FRAME).model_
    assert mn.from_dependency_network(network, FRAME, orders="all", max_length=np.int64(4))


def test_a_threshold_that_makes_constants_of_binary_columns_is_told():
    table = FRAME.assign(b=RNG.integers(1, 6, 60))
    with pytest.warns(
        UserWarning, match="binarize=3.5 makes all values 0 in columns of 0 and 1, a, c"
    ):
        mn.Atomic(binarize=3.5).fit(table)
    data = mn.read_data(table, ones=">=4")
    assert data.frequency.tolist() == pytest.approx((table >= [1, 4, 1]).mean().tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mn.Atomic(binarize=0.5).fit(table)
        mn.Atomic(binarize=3.5).fit(table[["b"]])


def test_suffixes_in_capitals(tmp_path):
    model = mn.Atomic().fit(FRAME).model_
    mn.save(model, tmp_path / "M.NPZ")
    assert mn.load(tmp_path / "M.NPZ").n_vars == 3
    mn.read_data(FRAME).save(tmp_path / "D.NPZ")
    assert mn.read_data(tmp_path / "D.NPZ").names == ("a", "b", "c")
