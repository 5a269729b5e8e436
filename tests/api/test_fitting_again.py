"""What a second `fit` of an estimator forgets of the first."""

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.integers(0, 2, (60, 3)), columns=["a", "b", "c"])


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("again", [FRAME.to_numpy(), mn.Dataset.from_arrays(FRAME.to_numpy())])
def test_a_second_fit_forgets_how_the_first_table_was_read(again):
    learner = mn.Atomic()
    learner.fit(FRAME.replace({0: "m", 1: "f"}))
    learner.fit(again)
    ones = pd.DataFrame(np.ones((2, 3), int), columns=["a", "b", "c"])
    expected = mn.Atomic().fit(again).score_samples(ones)
    np.testing.assert_array_equal(learner.score_samples(ones), expected)
    np.testing.assert_array_equal(learner.score_samples(FRAME), learner.score_samples(again))


def test_a_second_fit_forgets_the_names_of_the_first():
    learner = mn.Atomic().fit(FRAME)
    other = FRAME.set_axis(["x", "y", "z"], axis=1)
    learner.fit(mn.Dataset.from_arrays(other))
    expected = learner.score_samples(FRAME.to_numpy())
    np.testing.assert_array_equal(learner.score_samples(other), expected)


def test_a_second_search_forgets_names():
    search = mn.GridSearch(mn.DTSL(), {"kappa": [0.01, 0.1]})
    search.fit(FRAME, validation=FRAME)
    assert search.feature_names_in_.tolist() == ["a", "b", "c"]
    search.fit(FRAME.to_numpy(), validation=FRAME.to_numpy())
    assert not hasattr(search, "feature_names_in_")
