"""Models that go through a file: the record of how much their scores change."""

from dataclasses import replace

import numpy as np
import pytest

from made_circuits import N, grown
from made_study import make, scores_of
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.exact import log_value
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json
from mnlearn.runtime.provenance import provenance
from mnlearn_studies.records.kinds import exports
from oracles import all_states


def check(*forms):
    """Return the record of a model in other forms."""
    inputs = {"models": "c/tuning.json", "test": "t.npz"}
    return read_json(make("exports", "e.json", {"forms": forms}, method="acmn", inputs=inputs))


@pytest.fixture
def circuit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    circuit, features = grown(3)
    circuit = replace(circuit, features=features)
    save_model(circuit, "c/chosen.npz")
    merge_rows(np.repeat(all_states(N), 2, axis=0)).save("t.npz")
    return circuit


def test_circuits_and_networks_come_back_with_the_same_scores(circuit):
    record = check("ac", "mn")
    assert set(record["forms"]) == {"ac", "mn"}
    assert record["n_test"] == 2 * 2**N
    assert record["made_by"].keys() == provenance().keys()
    for form in record["forms"].values():
        assert form["bytes"] > 100
        assert form["largest_difference"] < 1e-12
    scores = scores_of(exports=["e.json"]).set_index("quantity")
    assert set(scores.index) == {"export_ac", "export_mn"}
    assert scores.loc["export_ac", "value"] == record["forms"]["ac"]["largest_difference"]
    assert scores.loc["export_mn", "method"] == "acmn"


@pytest.mark.parametrize("form", ["ac", "mn"])
def test_a_form_that_loses_something_is_found_out(circuit, monkeypatch, form):
    other = circuit.with_parameters(np.round(circuit.weight, 1))
    monkeypatch.setattr(exports, "save_model", lambda model, path: save_model(other, path))
    found = check(form)["forms"][form]["largest_difference"]
    states = all_states(N)
    p, q = log_value(circuit, states), log_value(other, states)
    if form == "ac":
        expected = np.abs(q - np.logaddexp.reduce(q) - p + np.logaddexp.reduce(p)).max()
    else:
        expected = np.abs(q - p - (q - p).mean()).max()
    assert expected > 0.01
    assert found == pytest.approx(expected)


def test_a_network_is_compared_on_all_rows_up_to_the_last(monkeypatch, tmp_path):
    """512 rows are two blocks of 200 and a part of one. The last row alone has another score."""
    test = merge_rows(all_states(9))
    assert test.n_rows > 2 * exports._ROWS
    (last,) = test.rows[-1:]
    features = features_of([[(0, 1)], [(v, int(x)) for v, x in enumerate(last)]])
    network, other = (markov_network(9, features, np.array([1.0, w])) for w in (2.0, 2.5))
    monkeypatch.chdir(tmp_path)
    save_model(network, "c/chosen.npz")
    test.save("t.npz")
    monkeypatch.setattr(exports, "save_model", lambda model, path: save_model(other, path))
    found = check("mn")["forms"]["mn"]["largest_difference"]
    # The mean of the differences, 0.5 / 512, is taken off.
    assert found == pytest.approx(0.5 * 511 / 512)


def test_faults_of_exports(circuit, tmp_path):
    def refused(form, message):
        with pytest.raises(InputError, match=message):
            check(form)

    refused("bn", "not known to be those of CPDs")
    refused("xyz", "expected a model file that ends in")
    merge_rows(np.eye(4, dtype=np.uint8)).save("t.npz")
    refused("ac", f"expected {N} variables")
    # A network of fewer variables would score the first of the columns.
    save_model(markov_network(2, features_of([[(0, 1)]]), np.ones(1)), "c/chosen.npz")
    refused("mn", "expected 2 variables")
    assert not (tmp_path / "e.json").exists()
