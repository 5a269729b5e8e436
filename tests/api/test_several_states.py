"""Models of variables with several states: their names in tables, in evidence and in questions."""

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.runtime.errors import InputError

BIF = """\
network many { }
variable Age { type discrete [ 3 ] { young, middle, old }; }
variable Ill { type discrete [ 2 ] { no, yes }; }
probability ( Age ) { table 0.3, 0.3, 0.4; }
probability ( Ill | Age ) { (young) 0.9, 0.1; (middle) 0.6, 0.4; (old) 0.5, 0.5; }
"""
P_ILL = np.array([0.1, 0.4, 0.5])
TABLE = pd.DataFrame({"Ill": ["yes", "no", "yes", None], "Age": ["old", "young", None, "middle"]})


@pytest.fixture
def model(tmp_path):
    (tmp_path / "many.bif").write_text(BIF)
    return mn.load(tmp_path / "many.bif")


def test_a_table_of_words_is_scored(model):
    found = mn.score(model, TABLE, "ll").per_example
    ill = 0.3 * 0.1 + 0.3 * 0.4 + 0.4 * 0.5
    np.testing.assert_allclose(np.exp(found), [0.4 * 0.5, 0.3 * 0.9, ill, 0.3])
    wrong = TABLE.assign(Age="ancient")
    with pytest.raises(InputError, match="X, row 0, column 'Age': expected 'young' or 'middle'"):
        mn.score(model, wrong, "ll")


def test_rows_of_evidence_and_names_of_variables(model):
    found = model.query(TABLE)
    assert found.loc[3, "Ill=yes"] == pytest.approx(0.4)
    old = 0.4 * 0.5 / (0.3 * 0.1 + 0.3 * 0.4 + 0.4 * 0.5)
    assert found.loc[2, "Age=old"] == pytest.approx(old)
    assert found.loc[0, ["Ill=yes", "Age=old", "Age=young"]].tolist() == [1, 1, 0]
    asked = model.query({"Ill": "yes"}, ["Age"])
    assert asked.index.tolist() == ["Age=young", "Age=middle", "Age=old"]
    assert asked["Age=old"] == pytest.approx(old)
    assert asked.sum() == pytest.approx(1)
    assert model.query({"Age": "old"}, "Ill=yes").tolist() == pytest.approx([0.5])
    with pytest.raises(InputError, match="evidence, row 0, column 'Age': expected"):
        model.query(pd.DataFrame({"Age": ["ancient"]}))


def test_what_is_asked_for_twice_is_refused(model):
    for variables in (["Ill=yes", "Ill=yes"], ["Age", "Age"], ["Age", "Age=old"]):
        with pytest.raises(InputError, match=r"variables: names '.*' twice"):
            model.query({}, variables)


def test_weights_of_variables_of_several_columns_are_refused(model, tmp_path):
    """Each column follows from the others, so that pseudo-likelihood learns nothing else."""
    network = model.to_markov_network()
    fault = "network: the columns Age=young, Age=middle, Age=old are states of one variable"
    with pytest.raises(InputError, match=fault):
        network.fit_weights(model.sample(20))


def test_numbers_as_names_of_states(tmp_path):
    numbered = BIF.replace("young, middle, old", "1, 2, 3")
    for old, new in (("(young)", "(1)"), ("(middle)", "(2)"), ("(old)", "(3)")):
        numbered = numbered.replace(old, new)
    (tmp_path / "n.bif").write_text(numbered)
    found = mn.load(tmp_path / "n.bif").query(pd.DataFrame({"Age": [3, 1]}))
    np.testing.assert_allclose(found["Ill=yes"], [0.5, 0.1])


def test_what_is_not_known_in_a_mapping(model):
    expected = model.query({"Ill": "yes"})
    for unknown in (None, np.nan, pd.NA):
        assert model.query({"Ill": "yes", "Age": unknown}).equals(expected)


def test_examples_have_the_names_of_states(model):
    columns = model.sample(500, random_state=0)
    named = model.sample(500, random_state=0, states=True)
    assert list(named) == ["Age", "Ill"]
    for name, state in (("Age", "young"), ("Age", "old"), ("Ill", "yes")):
        np.testing.assert_array_equal(named[name] == state, columns[f"{name}={state}"] == 1)
    assert model.score(named) == pytest.approx(model.score(columns))
    network = mn.MarkovNetwork.from_features([{"a=x": 1}], [1.0], ["a=x", "a=y", "b"])
    with pytest.raises(InputError, match=r"states: example .* states of 'a', because the model"):
        network.sample(50, random_state=0, states=True)
    plain = mn.MarkovNetwork.from_features([{0: 1}], [20.0], 1)
    assert plain.sample(3, random_state=0, states=True).to_dict("list") == {"V0": ["1"] * 3}


def test_the_most_probable_states_have_one_entry_for_each_variable(model):
    found = model.most_probable({"Ill": "yes"}, states=True)
    assert found.to_dict() == {"Age": "old"}
    table = model.most_probable(pd.DataFrame({"Ill": ["no", "yes"]}), states=True)
    assert table.to_dict("list") == {"Age": ["young", "old"], "Ill": ["no", "yes"]}


def test_a_state_is_a_number_of_many_digits(tmp_path):
    text = BIF.replace("young", "1234570").replace("middle", "1234567").replace("old", "3")
    (tmp_path / "zip.bif").write_text(text)
    model = mn.load(tmp_path / "zip.bif")
    for value in (1234567, 1234567.0, "1234567"):
        assert model.query({"Age": value})["Ill=yes"] == pytest.approx(0.4)
    with pytest.raises(InputError, match="variable 'Age'"):
        model.query({"Age": 10**400})


def test_scores_have_one_term_for_each_variable(model):
    """Not for each column: the columns of Age follow from each other."""
    joint = np.array([0.3, 0.3, 0.4])[:, None] * np.stack([1 - P_ILL, P_ILL], axis=1)
    rows = pd.DataFrame({"Age": ["old", "young", "middle"], "Ill": ["yes", "no", "no"]})
    own = [(2, 1), (0, 0), (1, 0)]
    p = np.array([joint[a, i] for a, i in own])
    p_age, p_ill = (joint.sum(axis=axis)[[s[1 - axis] for s in own]] for axis in (1, 0))
    expected = np.log(p / p_ill) + np.log(p / p_age)
    for exact in (model, model.to_circuit()):
        for metric in ("pll", "cll", "cmll"):
            how = {"inference": "exact"} if metric == "cmll" else {}
            found = mn.score(exact, rows, metric, **how).per_example
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        whole = [["Age", "Ill"]]
        np.testing.assert_allclose(
            mn.score(exact, rows, "cmll", groups=whole, inference="exact").per_example,
            np.log(p_age) + np.log(p_ill),
            rtol=1e-6,
        )
        found = mn.score(exact, rows, "cll", groups=whole).per_example
        np.testing.assert_allclose(found, np.log(p), rtol=1e-6)
        only = mn.score(exact, rows, "cll", groups=[["Age"]]).per_example
        np.testing.assert_allclose(only, np.log(p / p_ill), rtol=1e-6)
    sampled = mn.score(model, rows, "cmll", samples=20_000)
    np.testing.assert_allclose(sampled.per_example, expected, atol=0.05)
    assert sampled.monte_carlo_error == 0.0  # This model is a tree, whose marginals are exact.
    with pytest.raises(InputError, match="groups: expected all columns of 'Age' in one group"):
        mn.score(model, rows, "cll", groups=[["Age=old"], ["Ill"]])


@pytest.mark.parametrize("names", ["pqr", ["v=p", "v=q", "v=r"]])
def test_scores_do_not_depend_on_what_the_columns_of_a_group_are_called(names):
    state = np.arange(300) % 3
    table = pd.DataFrame(np.eye(3, dtype=int)[state], columns=list(names))
    table["z"] = (np.arange(300) % 7 == 0).astype(int)
    data = mn.read_data(table, groups="1-3")
    learned = mn.LEM().fit(data).model_
    for model in (learned, learned.to_markov_network(), learned.to_circuit()):
        # The variable of three states and z are independent, so that these are all the same.
        for metric, how in (("pll", {}), ("cll", {}), ("cmll", {"inference": "exact"})):
            found = mn.score(model, data, metric, folds=2 if how else None, **how)
            assert found.mean == pytest.approx(learned.score(data, "ll"), abs=1e-3)


def test_groups_without_a_common_name_are_given_by_their_columns():
    state = np.arange(30) % 3
    table = pd.DataFrame(np.eye(3, dtype=int)[state], columns=list("pqr")).assign(z=state == 1)
    data = mn.read_data(table, groups="1-3")
    model = mn.LEM().fit(data).model_
    expected = mn.score(model, data, "cll", groups=[[0, 1, 2], [3]]).mean
    assert mn.score(model, data, "cll", groups=[["p", "q", "r"], ["z"]]).mean == expected
    for groups in ([["p", "q"], ["z"]], [["p"]]):
        with pytest.raises(InputError, match="groups: expected all columns of 'p' in one group"):
            mn.score(model, data, "cll", groups=groups)


def test_binary_variables_that_are_opposites_are_not_states_of_one(tmp_path):
    (tmp_path / "not.bif").write_text(
        "network n { }\nvariable a { type discrete [ 2 ] { no, yes }; }\n"
        "variable b { type discrete [ 2 ] { no, yes }; }\nprobability ( a ) { table .4, .6; }\n"
        "probability ( b | a ) { (no) 0, 1; (yes) 1, 0; }\n"
    )
    model = mn.load(tmp_path / "not.bif")
    learned = model.to_markov_network().fit_weights(model.sample(200))
    assert learned.query({"a": "yes"})["b=yes"] < 0.1


def test_missing_cells_are_summed_out_by_all_ways_to_ask_for_an_exact_likelihood(model):
    learner = mn.ChowLiu(missing="impute").fit(TABLE.Ill.to_frame().assign(b=[1, 0, 1, 1]))
    holes = pd.DataFrame({"Ill": ["yes", None], "b": [1, 0]})
    own = mn.read_data(holes, missing="keep", as_frame=True)
    expected = mn.score(learner, own).per_example
    found = mn.score(learner, own, "ll", inference="exact").per_example
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        mn.score(model, TABLE, "ll", inference="exact").per_example,
        mn.score(model, TABLE).per_example,
    )


def test_what_is_impossible_has_score_minus_infinity(tmp_path):
    certain = BIF.replace("(young) 0.9, 0.1", "(young) 1.0, 0.0")
    (tmp_path / "certain.bif").write_text(certain.replace("0.6, 0.4", "1.0, 0.0"))
    model = mn.load(tmp_path / "certain.bif")
    rows = pd.DataFrame({"Age": ["old", "young", "middle"], "Ill": ["yes", "yes", "no"]})
    for exact in (model, model.to_circuit()):
        found = mn.score(exact, rows, "cmll", groups=[["Age"], ["Ill"]], inference="exact")
        expected = [np.log(0.5), -np.inf, np.log(0.3 / (0.3 + 0.3 + 0.4 * 0.5))]
        np.testing.assert_allclose(found.per_example, expected, atol=1e-9)
    # No state of Age allows a fever beside Ill: the evidence itself is impossible.
    fever = certain.replace(
        "probability ( Age )",
        "variable Fever { type discrete [ 2 ] { no, yes }; }\n"
        "probability ( Fever | Ill ) { (no) 0.9, 0.1; (yes) 1.0, 0.0; }\nprobability ( Age )",
    )
    (tmp_path / "fever.bif").write_text(fever)
    circuit = mn.load(tmp_path / "fever.bif").to_circuit()
    rows = pd.DataFrame({"Age": ["old", "old"], "Ill": ["yes", "no"], "Fever": ["yes", "no"]})
    found = mn.score(circuit, rows, "cmll", groups=[["Age"]]).per_example
    assert np.isneginf(found).tolist() == [True, False]


def test_iterative_inference_says_whether_it_converged(model):
    rows = pd.DataFrame({"Age": ["old", "young", "middle"], "Ill": ["yes", "no", "no"]})
    network = model.to_markov_network()
    for inference, groups, share in (
        ("meanfield", [["Age"], ["Ill"]], 1.0),
        ("bp", [["Age"]], 1.0),
        # The messages of two columns that exclude each other alternate.
        ("bp", [["Age"], ["Ill"]], 0.5),
    ):
        found = mn.score(network, rows, "cmll", groups=groups, inference=inference)
        assert found.converged == share


def test_columns_that_are_not_exclusive_in_the_data_are_scored_apart():
    """Their names alone do not make them one variable."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (50, 4))
    names = ["fruit=apple", "fruit=pear", "age", "ill"]
    alike = mn.MarkovNetwork.from_features([{0: 1, 1: 1}, {2: 1, 1: 0}], [1.0, -0.5], names)
    plain = mn.MarkovNetwork.from_features([{0: 1, 1: 1}, {2: 1, 1: 0}], [1.0, -0.5], 4)
    for metric, how in (("pll", {}), ("cll", {"folds": 2}), ("cmll", {"inference": "exact"})):
        expected = mn.score(plain, rows, metric, **how)
        found = mn.score(alike, pd.DataFrame(rows, columns=names), metric, **how)
        np.testing.assert_array_equal(found.per_example, expected.per_example)
        assert np.isfinite(found.mean)
    with pytest.raises(InputError, match="groups: there is no variable 'fruit'"):
        mn.score(alike, pd.DataFrame(rows, columns=names), "cll", groups=[["fruit"]])
