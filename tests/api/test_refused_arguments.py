"""What people give that is no table, no list and no number, and thresholds that make constants."""

import warnings

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.runtime.errors import InputError

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.integers(0, 2, (60, 3)), columns=["a", "b", "c"])


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
        (
            lambda: mn.Atomic().fit([["a", "b"], ["a"]]),
            "X: expected rows of equal length; lists of",
        ),
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
