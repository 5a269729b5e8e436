"""Tables and evidence in the names of states, and in words for 0 and 1."""

import numpy as np
import pandas as pd
import pytest
from mnlearn.models.io.codes import read_codes

import mnlearn as mn
from mnlearn.runtime.errors import InputError

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


def network_of_states(tmp_path, first, second):
    """P(a = second) is 0.8; P(b = hi) is 0.1 if a is the first, and 0.7 if it is the second."""
    path = tmp_path / "states.bif"
    path.write_text(
        f"network n {{}}\nvariable a {{ type discrete [ 2 ] {{ {first}, {second} }}; }}\n"
        "variable b { type discrete [ 2 ] { lo, hi }; }\nprobability ( a ) { table 0.2, 0.8; }\n"
        f"probability ( b | a ) {{ ({first}) 0.9, 0.1; ({second}) 0.3, 0.7; }}\n"
    )
    return mn.load(path)


FIRST, SECOND = 0.1, 0.7


def test_networks_and_circuits_of_a_model_keep_the_names_of_its_states(tmp_path):
    """Their second state is no here, which is the word for 0 elsewhere."""
    model = network_of_states(tmp_path, "yes", "no")
    rows = model.sample(50)
    network = model.to_markov_network()
    for made in (network, network.to_circuit(), model.to_circuit().to_markov_network()):
        assert made.probability({"a": "yes"}) == pytest.approx(0.2)
        assert made.score(rows, "ll") == pytest.approx(model.score(rows, "ll"))
        assert made.query({"a": "no"})["b=hi"] == pytest.approx(SECOND)
    learned = network.fit_weights(rows)
    assert learned.query({"a": "no"})["b=hi"] == pytest.approx(
        (rows[rows.a == "no"].b == "hi").mean(), abs=0.1
    )
    network.save(tmp_path / "network.npz")
    assert read_codes(tmp_path / "network.npz", 2) == (("yes", "no"), ("lo", "hi"))


def test_a_learner_of_data_that_were_read_takes_the_values_of_their_file(tmp_path):
    table = pd.DataFrame({"a": ["no", "yes"] * 20, "b": [0, 1, 1, 1] * 10})
    table.to_csv(tmp_path / "a.csv", index=False)
    for source in (table, tmp_path / "a.csv"):
        learner = mn.ChowLiu(pseudocount=0).fit(mn.read_data(source, ones="a=no"))
        assert learner.query({"a": "no"}).tolist() == [0.5]
        assert learner.query({"a": "yes"}).tolist() == [1.0]
        assert learner.most_probable({"b": 0}).to_dict() == {"a": "no"}
        read = mn.read_data(source, ones="a=no")
        assert learner.score(table) == pytest.approx(learner.score(read))
    # Without names there is nothing by which other data could be read.
    assert mn.ChowLiu().fit(table.replace({"no": 0, "yes": 1})).query({"a": 1})["b"] > 0.9


@pytest.mark.filterwarnings("ignore:source. .* counts as 1")
@pytest.mark.parametrize(
    ("states", "values"),
    [
        (("True", "False"), [(True, FIRST), ("true", FIRST), (np.False_, SECOND), (1, None)]),
        (("yes", "no"), [(True, None), (1, None), (0.0, None), ("1", None), ("Yes", FIRST)]),
        (("1", "0"), [(1, FIRST), (0, SECOND), (True, None), ("1.0", FIRST), (np.int8(2), None)]),
        (("1", "2"), [(1, FIRST), (2.0, SECOND), (0, None), ("0", None)]),
        (("2", "1"), [(1, SECOND), (2, FIRST), (0, None)]),
        (("present", "no"), [(1, None), (False, None)]),
        (("low", "high"), [(1, SECOND), (0, FIRST), (True, None), ("yes", None)]),
        (("no", "yes"), [(1, SECOND), (True, SECOND), (False, FIRST), ("true", SECOND), (2, None)]),
        (("0", "1"), [(1, SECOND), (True, SECOND), ("no", FIRST), ("maybe", None)]),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, tuple) else "",
)
def test_a_value_is_the_state_whose_name_it_is(tmp_path, states, values):
    """None: which state is meant is not clear, so that the value is refused."""
    model = network_of_states(tmp_path, *states)
    p_first = {FIRST: 0.2, SECOND: 0.8}
    for value, expected in values:
        table = pd.DataFrame({"a": [value], "b": ["hi"]}, dtype=object)
        table.infer_objects().to_csv(tmp_path / "t.csv", index=False)
        ask = [
            lambda value=value: model.query({"a": value})["b=hi"],
            lambda value=value: model.joint("b", {"a": value})["hi"],
            lambda value=value: model.probability({"b": "hi"}, {"a": value}),
            lambda table=table: model.query(table[["a"]]).to_numpy()[0, 1],
            lambda table=table: model.query(table[["a"]].infer_objects()).to_numpy()[0, 1],
        ]
        score = [
            lambda table=table: model.score(table.infer_objects()),
            lambda table=table: model.score(mn.read_data(table, model=model)),
            lambda: model.score(mn.read_data(tmp_path / "t.csv", model=model)),
        ]
        for way in (*ask, *score):
            if expected is None:
                with pytest.raises(InputError, match=f"expected.*{states[0]}.*{states[1]}"):
                    way()
            else:
                wanted = np.log(p_first[expected] * expected) if way in score else expected
                assert way() == pytest.approx(wanted)


def test_numbers_of_states_that_are_called_true_and_false(tmp_path):
    """A table of three states, some of which are truth values, and pandas made bool of them."""
    path = tmp_path / "many.bif"
    path.write_text(
        "network many {}\nvariable a { type discrete [ 3 ] { True, False, unknown }; }\n"
        "variable b { type discrete [ 2 ] { True, False }; }\nprobability ( a ) "
        "{ table 0.2, 0.3, 0.5; }\nprobability ( b | a ) { (True) 0.9, 0.1; (False) 0.2, 0.8; "
        "(unknown) 0.5, 0.5; }\n"
    )
    model = mn.load(path)
    found = mn.score(model, pd.DataFrame({"a": [True, False], "b": [True, True]}), "ll")
    np.testing.assert_allclose(np.exp(found.per_example), [0.2 * 0.9, 0.3 * 0.2])
    assert model.probability({"b": True}, {"a": False}) == pytest.approx(0.2)


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
    np.testing.assert_allclose(found["b=yes"], [0.4, 0.3 * 0.8 + 0.7 * 0.4])
    with pytest.raises(InputError, match="evidence, row 0, column 'a': expected 'no' or 'yes'"):
        named.query(pd.DataFrame({"a": ["maybe"]}))
    twice = pd.DataFrame([[1, 0]], columns=["a", "a"])
    with pytest.raises(InputError, match="evidence: has two columns 'a'"):
        named.query(twice)


def test_words_are_evidence_of_a_model_without_names_of_states():
    table = pd.DataFrame([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0]] * 20, columns=["a", "b", "c"])
    model = mn.ChowLiu().fit(table).model_
    expected = model.query({"a": 1, "c": 0})
    for one, zero in (("yes", "no"), ("True", "false"), ("1", "0"), (True, False), (1.0, 0.0)):
        assert model.query({"a": one, "c": zero}).equals(expected)
        rows = pd.DataFrame({"c": [zero], "a": [one]}, dtype=object)
        assert model.query(rows)["b"].tolist() == expected.tolist()
    with pytest.raises(InputError, match="evidence, variable 'a': expected one of 0, 1, got 'ja'"):
        model.query({"a": "ja"})
    with pytest.raises(InputError, match="evidence, row 1, column 'a': expected '0' or '1', got 2"):
        model.query(pd.DataFrame({"a": ["yes", 2]}, dtype=object))


def test_evidence_of_one_variable_is_given_once():
    network = mn.MarkovNetwork.from_features([{"a=x": 1}], [1.0], ["a=x", "a=y", "b"])
    expected = network.query({"b": 1, "a=x": "yes", "a=y": 0})
    assert network.query({2: "yes", "a": "x"}).equals(expected)
    for evidence in ({"b": 1, 2: 0}, {"a": "x", "a=y": 1}):
        with pytest.raises(InputError, match=r"evidence: names the variable '.*' twice"):
            network.query(evidence)
        with pytest.raises(InputError, match=r"given: names the variable '.*' twice"):
            network.probability({}, evidence)


def test_tables_are_read_for_a_model_like_files(tmp_path):
    model = mn.MarkovNetwork.from_features([{"a=x": 1}], [1.0], ["a=x", "a=y", "b"])
    table = pd.DataFrame({"note": ["u", "v"], "b": ["yes", "no"], "a": ["y", "x"]})
    table.to_csv(tmp_path / "a.csv", index=False)
    for source in (table, tmp_path / "a.csv"):
        data = mn.read_data(source, model=model)
        assert data.names == ("a=x", "a=y", "b")
        assert data.rows[data.row_of].tolist() == [[0, 1, 1], [1, 0, 0]]


def test_answers_have_the_names_of_states(tmp_path):
    """Where the first state is yes, a 1 in an answer would read as the opposite."""
    text = BIF.replace("no, yes", "yes, no").replace("(no) 0.2, 0.8", "(no) 0.9, 0.1")
    path = tmp_path / "reversed.bif"
    path.write_text(text)
    model = mn.load(path)
    table = pd.DataFrame({"a": ["yes", None], "b": [None, "no"]}, index=["u", "v"])
    assert model.most_probable({"a": "yes"}).to_dict() == {"b": "yes"}
    found = model.most_probable(table)
    assert found.loc["u"].to_dict() == {"a": "yes", "b": "yes"}
    assert found.loc["v"].to_dict() == {"a": "yes", "b": "no"}
    assert model.score(found) == pytest.approx(np.log([0.3 * 0.6, 0.3 * 0.4]).mean())
    assert found.attrs == model.most_probable().attrs == {"inference": "exact"}
    assert model.most_probable({"a": "yes"}, states=False).to_dict() == {"b": 0}
    assert model.most_probable(table, states=False).to_numpy().tolist() == [[0, 0], [0, 1]]
    rows = np.array([[0.0, np.nan]])
    assert model.most_probable(rows).tolist() == [[0, 0]]
    assert model.most_probable(rows, states=True).to_dict("list") == {"a": ["yes"], "b": ["yes"]}
    assert model.query(table).loc["u"].to_dict() == pytest.approx({"a=no": 0.0, "b=no": 0.4})
    drawn = model.sample(50, random_state=0)
    values = model.sample(50, random_state=0, states=False)
    assert drawn["a"].tolist() == [("yes", "no")[x] for x in values["a"]]
    assert model.score(drawn) == model.score(values.to_numpy())


def test_evidence_for_an_estimator_has_the_values_of_its_data():
    """1 and 2, or ratings that `binarize` cuts: as `fit` and `score` read them."""
    rng = np.random.default_rng(2)
    rows = (rng.random((200, 3)) < 0.5).astype(int)
    rows[:, 1] = rows[:, 0] ^ (rng.random(200) < 0.1)
    frame = pd.DataFrame(rows, columns=list("abc"))
    plain = mn.ChowLiu().fit(frame)
    coded = mn.ChowLiu().fit(frame + 1)
    rated = mn.ChowLiu(binarize=3).fit(frame * 2 + 2)
    for estimator, zero, one in ((coded, 1, 2), (coded, "1", "2"), (rated, 1, 5), (rated, 3, 4)):
        for value, own in ((0, zero), (1, one)):
            expected = plain.query({"a": value})
            for evidence in ({"a": own}, {0: own}, {np.int64(0): own}):
                assert estimator.query(evidence).equals(expected)
            table = pd.DataFrame({"a": [own, None]}, index=[7, 8])
            expected_table = plain.query(pd.DataFrame({"a": [value, None]}, index=[7, 8]))
            pd.testing.assert_frame_equal(estimator.query(table), expected_table)
            p = plain.probability({"b": 1}, {"a": value})
            assert estimator.probability({"b": one}, {"a": own}) == p
            assert estimator.joint(["b"], {"a": own}).tolist()[1] == pytest.approx(p)
    with pytest.raises(mn.InputError, match="evidence, variable 'a': expected 1 or 2 as in the"):
        coded.query({"a": 0})
    # A column may be called by a number.
    numbered = mn.ChowLiu().fit((frame + 1).set_axis([10, 20, 30], axis=1).rename(columns=str))
    assert numbered.query({10: 2})["20"] == plain.query({"a": 1})["b"]
    words = mn.ChowLiu().fit(frame.replace({0: "no", 1: "yes"}))
    for value, own in ((0, "no"), (1, "yes")):
        for evidence in ({"a": own}, {"a": value}):
            assert words.query(evidence).equals(plain.query({"a": value}))


def test_answers_of_an_estimator_have_the_values_of_its_data():
    """So that they are evidence and data for it again."""
    rng = np.random.default_rng(2)
    rows = (rng.random((200, 3)) < 0.7).astype(int)
    rows[:, 1] = rows[:, 0] ^ (rng.random(200) < 0.1)
    frame = pd.DataFrame(rows, columns=list("abc"))
    plain = mn.ChowLiu().fit(frame)
    words = frame.replace({0: "cat", 1: "dog"})
    cases = [
        (mn.ChowLiu().fit(frame + 1), (1, 2), ("1", "2")),
        (mn.ChowLiu().fit(mn.read_data(words, ones="dog", as_frame=True)), (0, 1), ("0", "1")),
        (mn.ChowLiu(binarize=3).fit(frame * 2 + 2), ("<=3", ">3"), ("<=3", ">3")),
    ]
    for estimator, values, texts in cases:
        expected = plain.most_probable()
        found = estimator.most_probable()
        assert found.tolist() == [values[x] for x in expected]
        assert estimator.probability(found.to_dict()) == plain.probability(expected.to_dict())
        named = estimator.most_probable(states=True)
        assert named.tolist() == [texts[x] for x in expected]
        given = pd.DataFrame({"a": [values[0], values[1]]}, index=[7, 8])
        own = plain.most_probable(pd.DataFrame({"a": [0, 1]}, index=[7, 8]))
        table = estimator.most_probable(given)
        assert table.index.tolist() == [7, 8]
        assert table.to_numpy().tolist() == [[values[x] for x in row] for row in own.to_numpy()]
        joint = estimator.joint(["a", "b"])
        assert joint.tolist() == plain.joint(["a", "b"]).tolist()
        event = {"a": values[1], "b": values[0]}
        assert joint[values[1], values[0]] == estimator.probability(event)
        assert estimator.joint("a").index.tolist() == [(values[0],), (values[1],)]
        drawn = estimator.sample(50)
        zeros = plain.sample(50)
        assert drawn.to_numpy().tolist() == [[values[x] for x in row] for row in zeros.to_numpy()]
        assert estimator.query(drawn[["a"]]).equals(plain.query(zeros[["a"]]))
        if values != ("<=3", ">3"):
            assert estimator.score(drawn) == plain.score(zeros)
    array = mn.ChowLiu(binarize=3).fit(frame.to_numpy() * 2 + 2)
    with pytest.warns(UserWarning, match="all values are 0 and 1, and binarize=3 makes them 0"):
        array.score(array.sample(5))


def test_columns_that_are_numbers_in_another_order_are_refused():
    rows = np.random.default_rng(0).integers(0, 2, (50, 3))
    frame = pd.DataFrame(rows, columns=[1, 0, 2])
    estimator = mn.ChowLiu().fit(frame)
    assert estimator.score(frame) == estimator.model_.score(frame)
    with pytest.raises(mn.InputError, match="X: expected the columns 1, 0, 2 in this order, as in"):
        estimator.score(frame[[0, 1, 2]])
