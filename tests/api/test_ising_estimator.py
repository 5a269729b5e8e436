"""`mn.Ising` and `mn.compare_ising`: tables of an estimate, warnings and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import mnlearn as mn
from made_questionnaires import answers

ROWS = answers("rare")
FRAME = pd.DataFrame(ROWS, columns=[f"item{v}" for v in range(ROWS.shape[1])])


def test_tables_of_an_estimate():
    with pytest.warns(UserWarning, match="a value fewer than 2 times: item3, item5"):
        ising = mn.Ising(random_state=0).fit(FRAME)
    weights = ising.weights_frame()
    assert weights.columns.tolist() == FRAME.columns.tolist()
    np.testing.assert_array_equal(weights, ising.weights_)
    centrality = ising.centrality_frame()
    np.testing.assert_allclose(centrality["strength"], np.abs(ising.weights_).sum(axis=0))
    predicted = ising.predictability_frame().set_index("variable")
    # Item 8 nearly repeats item 2, and item 3 never varies.
    assert predicted.loc["item8", "normalised_accuracy"] > 0.9
    assert np.isnan(predicted.loc["item3", "normalised_accuracy"])
    with pytest.raises(NotFittedError, match="call bootstrap"):
        ising.differences_frame()
    ising.bootstrap(3)
    differences = ising.differences_frame("strength")
    assert len(differences) == 45
    cases = ising.drop_cases(1)
    assert set(ising.cs_) == set(cases["measure"])
    with pytest.warns(UserWarning, match="fewer than 2 times"):
        ising.fit(FRAME)
    assert not hasattr(ising, "stability_")
    assert not hasattr(ising, "cs_")


def test_groups_are_compared():
    groups = {"first": FRAME[:150], "second": FRAME[150:]}
    with pytest.warns(UserWarning, match="rare in a group: item3, item5"):
        found = mn.compare_ising(groups, 3, random_state=0)
    assert set(found.networks) == set(groups)
    assert found.edges["p"].between(0.25, 1).all()
    with pytest.raises(mn.InputError, match="groups: expected a mapping"):
        mn.compare_ising([FRAME, FRAME])
