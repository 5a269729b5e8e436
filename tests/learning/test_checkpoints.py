"""Checkpoints that are damaged are ignored, and their steps repeated."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from made_random import random_network
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.learner import Fitted
from mnlearn.models.io.native import write_npz
from mnlearn.runtime.arrays import read_arrays, write_arrays

STATE = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([1, 2])}
KEY = {"k": 1}


def keep(folder, seed=0):
    """Keep one step of each kind; return which of them was done and not read."""
    done = []
    kept = Checkpoints(folder, code="c")

    def value():
        done.append("value")
        return {"x": [1.5, 2], "y": None}

    def fitted():
        done.append("fitted")
        return Fitted(random_network(seed), {"weights": 2.0}, {"n": 3})

    assert kept.record(KEY, value) == {"x": [1.5, 2], "y": None}
    found, _ = kept.fit(KEY, fitted)
    assert np.array_equal(found.model.weight, random_network(seed).weight)
    assert (found.seconds, found.details) == ({"weights": 2.0}, {"n": 3})
    state = kept.load(KEY)
    if state is None:
        done.append("state")
        kept.save(KEY, STATE)
    else:
        assert state.keys() == STATE.keys()
        assert all(np.array_equal(state[name], STATE[name]) for name in STATE)
    return done


def files(folder):
    """Return the four files of the three kinds of steps."""
    by_end = {}
    for path in folder.iterdir():
        for end in (".fit.json", ".json", ".state.npz", ".npz"):
            if path.name.endswith(end):
                by_end[end] = path
                break
    return by_end


STEP_OF = {".json": "value", ".fit.json": "fitted", ".npz": "fitted", ".state.npz": "state"}


def _flip(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "one bit": _flip,
    "noise": lambda content: bytes(range(256)),
    "list": lambda content: b"[]",
    "object": lambda content: b"{}",
    "other object": lambda content: b'{"digest": 1, "value": {}}',
}


@pytest.mark.parametrize("end", STEP_OF)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_step_is_repeated(tmp_path, end, damage):
    assert keep(tmp_path) == ["value", "fitted", "state"]
    assert keep(tmp_path) == []
    path = files(tmp_path)[end]
    whole = path.read_bytes()
    path.write_bytes(DAMAGES[damage](whole))
    assert keep(tmp_path) == [STEP_OF[end]]
    assert keep(tmp_path) == []
    if end != ".fit.json":  # It has the seconds that the step took.
        assert path.read_bytes() == whole


def test_values_that_are_readable_but_not_those_that_were_kept_are_ignored(tmp_path):
    keep(tmp_path)
    found = files(tmp_path)
    for end in (".json", ".fit.json"):
        text = found[end].read_text()
        assert "2" in text
        value = json.loads(text)
        changed = text.replace('"n": 3', '"n": 4').replace("1.5", "1.25")
        assert json.loads(changed) != value
        found[end].write_text(changed)
    state = read_arrays(found[".state.npz"])
    write_arrays(found[".state.npz"], {**state, "b": np.array([1, 3])})
    assert keep(tmp_path) == ["value", "fitted", "state"]
    write_npz(random_network(1), found[".npz"])
    write_arrays(found[".state.npz"], STATE)
    assert keep(tmp_path) == ["fitted", "state"]


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert keep(None) == ["value", "fitted", "state"]
    assert list(Path().iterdir()) == []


def test_searches_of_another_context_do_not_meet(tmp_path):
    keep(tmp_path)
    other = Checkpoints(tmp_path, code="other")
    assert other.record(KEY, lambda: 5) == 5
    assert other.load(KEY) is None
    keep(tmp_path / "more")
    # Only the values of what a search depends on count, and not their order.
    one, other = Checkpoints(tmp_path, a=1, b=2), Checkpoints(tmp_path, b=2, a=1)
    assert one.record({"k": 1, "l": 2}, lambda: {"y": 1, "x": 2}) == {"y": 1, "x": 2}
    assert other.record({"l": 2, "k": 1}, lambda: 0) == {"y": 1, "x": 2}


def test_the_seconds_of_a_step_are_kept(tmp_path, monkeypatch):
    clock = iter([100.0, 103.0])
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    kept = Checkpoints(tmp_path, code="c")
    for _ in range(2):
        _, spent = kept.fit(KEY, lambda: Fitted(random_network(0), {"weights": 2.0}, {"n": 3}))
        assert spent == 3.0
