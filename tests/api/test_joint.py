"""Joint tables of some variables against sums over all states."""

import itertools

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.runtime.errors import InputError
from oracles import all_states

N = 5
STATES = all_states(N)
RNG = np.random.default_rng(1)
ROWS = (RNG.random((300, N)) < RNG.random((3, N))[RNG.integers(0, 3, 300)]).astype(int)
BIF = """network x {}
variable rain { type discrete [ 2 ] { yes, no }; }
variable mood { type discrete [ 3 ] { low, fair, high }; }
probability ( rain ) { table 0.2, 0.8; }
probability ( mood | rain ) { (yes) 0.5, 0.3, 0.2; (no) 0.1, 0.2, 0.7; }
"""


@pytest.mark.parametrize("learner", [mn.DTSL(), mn.ACBN(), mn.HCLT(n_states=3, random_state=0)])
@pytest.mark.parametrize(("variables", "given"), [([3, 0], {}), ([0, 1, 4], {2: 1}), (1, {0: 0})])
def test_joint_tables_are_sums_over_states(learner, variables, given):
    model = learner.fit(ROWS).model_
    p = np.exp(mn.score(model, STATES, "ll").per_example)
    found = model.joint(variables, given)
    asked = variables if isinstance(variables, list) else [variables]
    assert list(found.index.names) == [f"V{v}" for v in asked]
    known = np.all([STATES[:, v] == x for v, x in given.items()], axis=0) | (not given)
    for values in itertools.product((0, 1), repeat=len(asked)):
        holds = (STATES[:, asked] == values).all(axis=1)
        assert found[values] == pytest.approx(p[known & holds].sum() / p[known].sum(), rel=1e-6)
    pd.testing.assert_series_equal(learner.joint(variables, given), found)


def test_variables_and_states_have_names(tmp_path):
    (tmp_path / "a.bif").write_text(BIF)
    model = mn.load(tmp_path / "a.bif")
    table = model.joint(["mood", "rain"]).unstack()  # noqa: PD010
    assert table.index.tolist() == ["low", "fair", "high"]
    np.testing.assert_allclose(table.loc["low"], [0.2 * 0.5, 0.8 * 0.1])
    np.testing.assert_allclose(model.joint("mood", {"rain": "yes"}), [0.5, 0.3, 0.2])
    np.testing.assert_allclose(model.joint("rain", {"mood": "low"}), [0.1 / 0.18, 0.08 / 0.18])


@pytest.mark.parametrize(
    ("variables", "given", "sentence"),
    [
        (["a", "a"], None, "variables: names the variable 'a' twice"),
        (["a", 0], None, "variables: names the variable 'a' twice"),
        (["a"], {"a": 1}, "variables: the value of 'a' is given"),
        (["x"], None, "variables: there is no variable 'x'"),
        (["a"], {"x": 1}, "given: there is no variable 'x'"),
        (["a"], [1], "given: expected a mapping of variables to values, got list"),
        ([], None, "variables: expected from 1 to 65,536 combinations of their states, got 0"),
        (["a"], {"b": 1}, "given: has probability 0"),
    ],
)
def test_tables_that_mean_nothing(variables, given, sentence):
    network = mn.MarkovNetwork.from_features([{"b": 1}], [-np.inf], ["a", "b"])
    with pytest.raises(InputError, match=sentence):
        network.joint(variables, given)


def test_too_many_combinations():
    network = mn.MarkovNetwork.from_features([{0: 1}], [1.0], 17)
    with pytest.raises(InputError, match="combinations of their states, got 131,072"):
        network.joint(range(17))
