"""Times of several methods: they are learned in turn, and a long one not in every round."""

import numpy as np
import pytest

from made_study import make
from mnlearn.data.dataset import Dataset
from mnlearn.runtime.files import read_json, write_json
from mnlearn_studies.records.kinds import times
from mnlearn_studies.records.kinds.times import medians

NAMES = ("short", "middling", "long")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that times methods and returns what the record says of each."""
    monkeypatch.chdir(tmp_path)
    Dataset.from_arrays(np.random.default_rng(0).integers(0, 2, (40, 4))).save("train.npz")
    for name in NAMES:
        variants = {"": {"parameters": {"pseudocount": 2.0}}}
        write_json(f"{name}.json", {"method": name, "learner": "chow_liu", "variants": variants})

    def time_them(*names):
        inputs = {"cells": [f"{name}.json" for name in names], "train": "train.npz"}
        out = make("times", "out.json", {"searches": {}}, method="-".join(names), inputs=inputs)
        return read_json(out)["methods"]

    return time_them


def test_methods_are_learned_in_turn_and_long_ones_less_often(run, monkeypatch):
    seconds, order = {"short": 1.0, "middling": 200.0, "long": 301.0}, []

    def learn(self, threads):
        order.append(self.label)
        self.runs.append({"structure": seconds[self.label], "read": 0.0, "write": 0.0})

    monkeypatch.setattr(times.Timed, "run", learn)
    n_runs = {name: len(timed["runs"]) for name, timed in run(*NAMES).items()}
    assert order == ["short", "middling", "long", "short", "middling", "short"]
    assert n_runs == {"short": times.ROUNDS, "middling": 2, "long": 1}


def test_a_run_learns_the_chosen_model_from_its_parameters(run):
    (timed,) = run("short").values()
    assert timed["parameters"] == {"pseudocount": 2.0}
    assert len(timed["runs"]) == 3
    assert all(set(run) >= {"structure", "read", "write"} for run in timed["runs"])


def test_a_method_that_ran_once_has_no_ends():
    run = {"structure": 2.0, "weights": 1.0, "read": 0.5, "write": 0.25}
    assert dict(medians([run])) == {
        "seconds_structure": 2.0, "seconds_weights": 1.0, "seconds_learn": 3.0,
        "seconds_learn_and_files": 3.75,
    }  # fmt: skip
