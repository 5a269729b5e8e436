"""The format of the UAI competitions: every sentence, the limits, and the text that is written."""

import numpy as np
import pytest

from mnlearn.models.bayesian_network import network_of_tables
from mnlearn.models.cpd_tables import CpdTable
from mnlearn.models.features import features_of
from mnlearn.models.io import uai
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import numbered_schema


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ": ends too early, expected MARKOV or BAYES."),
        ("x" * 50, f": expected MARKOV or BAYES, got '{'x' * 40}'."),
        ("MARKOV", ": ends too early, expected the number of variables."),
        ("MARKOV 0", ", word 2: expected the number of variables (1 to 1000000), got '0'."),
        ("MARKOV 1000001", ", word 2: expected the number of variables (1 to 1000000), "
                           "got '1000001'."),
        ("MARKOV ²", ", word 2: expected the number of variables (1 to 1000000), got '²'."),
        ("MARKOV 1 0", ", word 3: expected a number of values (1 to 254), got '0'."),
        ("MARKOV 1 255", ", word 3: expected a number of values (1 to 254), got '255'."),
        ("MARKOV 1 254 x", ", word 4: expected the number of factors (0 to 4194304), got 'x'."),
        ("MARKOV 1 2 1 2", ", word 5: expected the number of variables of a factor (0 to 1), "
                           "got '2'."),
        ("MARKOV 1 2 1 1", ": ends too early, expected a variable."),
        ("MARKOV 2 2 2 1 1 x", ", word 7: expected a variable (0 to 1), got 'x'."),
        ("MARKOV 1 2 1 1 1", ", word 6: expected a variable (0), got '1'."),
        ("MARKOV 2 2 2 1 2 1 1", ": expected different variables in a factor."),
        ("MARKOV 1 2 1 1 0 3", ", word 7: expected the number of cells of a factor (2), got '3'."),
        ("MARKOV 1 2 1 1 0 2", ": ends too early, expected a value."),
        ("MARKOV 1 2 1 1 0 2 x", ", word 8: expected a number of at least 0, got 'x'."),
        ("MARKOV 1 2 1 1 0 2 1 inf", ", word 9: expected a number of at least 0, got 'inf'."),
        ("MARKOV 1 2 1 1 0 2 -1 1", ", word 8: expected a number of at least 0, got '-1'."),
        ("MARKOV 1 2 0 " + "y" * 50, f": expected the end of the file, got '{'y' * 40}'."),
        ("MARKOV 1 2 1 0 1 0", ": network: all states have the value 0."),
        ("MARKOV 1 3 1 1 0 3 0 0 0", ": network: all states have the value 0."),
        ("BAYES 1 2 1 0 1 1", ": BAYES: expected one distribution of each variable."),
        ("BAYES 1 2 2 1 0 1 0 2 .5 .5 2 .5 .5", ": BAYES: expected one distribution of each "
                                                "variable."),
        ("BAYES 3 2 2 2 1 1 1 2 .5 .5", ": BAYES: variable 0 has no distribution."),
        ("BAYES 1 2 1 1 0 2 .5 .502", ": BAYES: expected probabilities of variable 0 that add up "
                                      "to 1."),
    ],
)  # fmt: skip
def test_sentences_on_malformed_files(tmp_path, text, sentence):
    path = tmp_path / "a.uai"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value) == f"{path}{sentence}"


def test_printed_probabilities_may_be_rounded(tmp_path):
    (tmp_path / "a.uai").write_text("BAYES 2 3 2 2 1 0 2 0 1 3 .3 .3 .3995 6 .5 .5 0 1 1 0.0009")
    network = load_model(tmp_path / "a.uai")
    assert network.schema == numbered_schema([3, 2])
    assert (network.parents(0), network.parents(1)) == ((), (0,))
    np.testing.assert_allclose(network.table(1).prob[2], [1 / 1.0009, 0.0009 / 1.0009])
    np.testing.assert_array_equal(network.table(1).prob[:2], [[0.5, 0.5], [0, 1]])


@pytest.mark.parametrize(
    ("rest", "got"),
    [
        ("0", None),
        ("0 2 0 1 0 2 1 1", None),
        ("0 2 0 1 3 1", "0"),
        ("1 0 1", "1"),
        ("0 1 x", "0"),
        ("0 1.5", "0"),
    ],
)
def test_lists_behind_the_tables(tmp_path, rest, got):
    (tmp_path / "a.uai").write_text(f"MARKOV 2 2 2 1 2 0 1 4 1 2 3 4 {rest}")
    if got is None:
        assert len(load_model(tmp_path / "a.uai").features) == 3
    else:
        with pytest.raises(InputError, match=f"expected the end of the file, got '{got}'"):
            load_model(tmp_path / "a.uai")


def test_the_order_of_the_variables_of_a_factor(tmp_path):
    (tmp_path / "a.uai").write_text("MARKOV 2 2 2 2 2 1 0 0 4 2 3 5 0 1 0.5")
    network = load_model(tmp_path / "a.uai")
    rows = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.uint8)
    np.testing.assert_allclose(np.exp(network.potential_of(rows)), [1, 1.5, 2.5, 0])


def test_names_of_values(tmp_path):
    (tmp_path / "a.uai").write_text("MARKOV 2 2 3 1 1 1 3 1 2 1")
    network = load_model(tmp_path / "a.uai")
    assert network.schema.column_labels == ("V0", "V1=0", "V1=1", "V1=2")


def test_the_text_of_a_markov_network(tmp_path):
    features = features_of([[(0, 1), (2, 0)], [(1, 1)], [(0, 0), (2, 0)]])
    save_model(markov_network(3, features, np.log([2, 3, 0.5])), tmp_path / "a.uai")
    lines = (tmp_path / "a.uai").read_text().split("\n")
    assert lines[:6] == ["MARKOV", "3", "2 2 2", "2", "1 1", "2 0 2"]
    assert [lines[6], lines[7], lines[9], lines[10], lines[12]] == ["", "2", "", "4", ""]
    assert [float(word) for word in f"{lines[8]} {lines[11]}".split()] == pytest.approx(
        [1, 3, 0.5, 1, 2, 1]
    )


def test_variables_of_several_values_keep_their_numbers_of_values(tmp_path):
    rng = np.random.default_rng(2)
    values = " ".join(map(str, rng.random(12).round(3)))
    text = f"MARKOV 3 2 3 2 2 3 0 2 1 1 0 12 {values} 2 0.25 3"
    (tmp_path / "a.uai").write_text(text)
    network = load_model(tmp_path / "a.uai")
    table = np.array(values.split(), float).reshape(2, 2, 3) * np.array([0.25, 3])[:, None, None]
    save_model(network, tmp_path / "a.npz")
    for source in ("a.uai", "a.npz"):
        save_model(load_model(tmp_path / source), tmp_path / "b.uai")
        words = (tmp_path / "b.uai").read_text().split()
        assert words[:5] == ["MARKOV", "3", "2", "3", "2"]
        again = load_model(tmp_path / "b.uai")
        cells = np.stack(np.indices((2, 2, 3)), -1).reshape(-1, 3)[:, [0, 2, 1]]
        rows = again.schema.rows(cells)
        np.testing.assert_allclose(again.potential_of(rows), np.log(table.ravel()), atol=1e-12)


def test_the_text_of_a_bayesian_network(tmp_path):
    table = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    tables = {0: CpdTable((1,), table), 1: CpdTable((), np.array([0.5, 0.25, 0.25]))}
    save_model(network_of_tables(numbered_schema([2, 3]), tables), tmp_path / "a.uai")
    assert (tmp_path / "a.uai").read_text() == (
        "BAYES\n2\n2 3\n2\n2 1 0\n1 1\n\n6\n0.25 0.75 0.5 0.5 1.0 0.0\n\n3\n0.5 0.25 0.25\n"
    )


def test_the_limits_of_tables(tmp_path, monkeypatch):
    path = tmp_path / "a.uai"
    wide = [markov_network(n, features_of([[(v, 1) for v in range(n)]]), [1.0]) for n in (16, 17)]
    save_model(wide[0], path)
    assert len(load_model(path).features) == 1
    with pytest.raises(
        InputError, match=r"expected features of at most 16 variables and 4,194,304 "
    ):
        save_model(wide[1], path)
    # One table for the variables of equal features.
    features = features_of([[(0, 1), (1, 1)], [(0, 1), (1, 0)], [(2, 1)]])
    network = markov_network(3, features, [1, 2, 3])
    monkeypatch.setattr(uai, "MAX_CELLS", 6)
    save_model(network, path)
    assert load_model(path).n_vars == 3
    monkeypatch.setattr(uai, "MAX_CELLS", 5)
    with pytest.raises(InputError, match="the factors have more than 5 cells"):
        load_model(path)
    with pytest.raises(InputError, match="and 5 cells"):
        save_model(network, path)
    two = {v: CpdTable((), np.full(3, 1 / 3)) for v in range(2)}
    before = path.read_text()
    with pytest.raises(InputError, match="expected tables with at most 5 cells in all"):
        save_model(network_of_tables(numbered_schema([3, 3]), two), path)
    assert path.read_text() == before
