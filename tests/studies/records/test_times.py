"""Times of several methods: they are learned in turn, and a long one not in every round."""

import numpy as np
import pytest

from mnlearn.data.dataset import Dataset
from mnlearn.runtime.files import read_json, write_json
from mnlearn_studies.records.kinds import times
from mnlearn_studies.records.kinds.times import Timed, medians, time_methods

HEAD = {"study": "s", "dataset": "d", "recipe": {}, "models": {}}


@pytest.fixture
def methods(tmp_path):
    """Three methods, of which none has been run."""
    train = tmp_path / "train.npz"
    Dataset.from_arrays(np.random.default_rng(0).integers(0, 2, (40, 4))).save(train)
    found = []
    for name in ("short", "middling", "long"):
        cell = tmp_path / f"{name}.json"
        variants = {"": {"parameters": {"pseudocount": 2.0}}}
        write_json(cell, {"method": name, "learner": "chow_liu", "variants": variants})
        found.append(Timed(cell, train))
    return found


def test_methods_are_learned_in_turn_and_long_ones_less_often(methods, tmp_path, monkeypatch):
    seconds, order = {"short": 1.0, "middling": 200.0, "long": 301.0}, []

    def run(self, threads):
        order.append(self.method)
        self.runs.append({"structure": seconds[self.method], "read": 0.0, "write": 0.0})

    monkeypatch.setattr(Timed, "run", run)
    time_methods(methods, HEAD, tmp_path / "out.json")
    assert order == ["short", "middling", "long", "short", "middling", "short"]
    record = read_json(tmp_path / "out.json")
    n_runs = {name: len(timed["runs"]) for name, timed in record["methods"].items()}
    assert n_runs == {"short": times.ROUNDS, "middling": 2, "long": 1}


def test_a_run_learns_the_chosen_model_from_its_parameters(methods, tmp_path):
    time_methods(methods[:1], HEAD, tmp_path / "out.json")
    (timed,) = read_json(tmp_path / "out.json")["methods"].values()
    assert timed["parameters"] == {"pseudocount": 2.0}
    assert len(timed["runs"]) == 3
    assert all(set(run) >= {"structure", "read", "write"} for run in timed["runs"])


def test_a_method_that_ran_once_has_no_ends():
    run = {"structure": 2.0, "weights": 1.0, "read": 0.5, "write": 0.25}
    assert dict(medians([run])) == {
        "seconds_structure": 2.0, "seconds_weights": 1.0, "seconds_learn": 3.0,
        "seconds_learn_and_files": 3.75,
    }  # fmt: skip
