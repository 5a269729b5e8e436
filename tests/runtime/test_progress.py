"""Progress as log records that a program can use as it likes; long work says how far it is."""

import logging
import time

import numpy as np
import pytest

import mnlearn as mn
from made_random import random_data
from mnlearn.runtime import progress
from mnlearn.runtime.progress import begin_work, say, track
from mnlearn.runtime.threads import map_ranges


def test_progress_is_logged(caplog):
    caplog.set_level(logging.INFO, logger="mnlearn")
    assert list(track("ab", "letters")) == ["a", "b"]
    say("100 % done")
    assert caplog.messages == ["letters: 1/2", "letters: 2/2", "100 % done"]
    assert {record.name for record in caplog.records} == {"mnlearn"}
    assert caplog.records[-1].funcName == "test_progress_is_logged"


def test_records_say_how_far_the_work_is(caplog):
    caplog.set_level(logging.DEBUG, logger="mnlearn")
    with begin_work("bytes", 10, unit="B") as work:
        work.advance(4)
        work.advance(0, line="one file is here")
    assert {record.work for record in caplog.records} == {work}
    assert [record.amount for record in caplog.records] == [0, 4, 0, None]
    levels = [record.levelno for record in caplog.records]
    assert levels == [logging.DEBUG, logging.DEBUG, logging.INFO, logging.DEBUG]


def test_a_line_comes_only_after_silence(monkeypatch, caplog):
    caplog.set_level("INFO", logger="mnlearn")
    progress.say("begun")
    progress.pulse("too early")
    later = time.monotonic() + progress._SILENCE + 1
    monkeypatch.setattr(progress.time, "monotonic", lambda: later)
    progress.pulse("still here")
    progress.pulse("too early again")
    assert [record.message for record in caplog.records] == ["begun", "still here"]


@pytest.mark.parametrize("threads", [1, 3])
def test_ranges_say_how_many_rows_are_done(monkeypatch, caplog, threads):
    monkeypatch.setattr(progress, "_SILENCE", -1e9)
    caplog.set_level("INFO", logger="mnlearn")
    parts = map_ranges(lambda begin, end: list(range(begin, end)), 100, threads, "trees")
    assert [k for part in parts for k in part] == list(range(100))
    assert "trees: 100 of 100" in [record.message for record in caplog.records]


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (mn.DTSL(), "trees: "),
        (mn.DTSL(), "weights: iteration "),
        (mn.L1(), "regressions: "),
        (mn.ACMN(), " splits, "),
        (mn.LEM(), "feature tree: "),
        (mn.HCLT(n_states=2), "EM: iteration "),
        (mn.Mixture(), "EM: iteration "),
        (mn.BLM(), "pass 1: "),
    ],
)
def test_learners_are_not_silent(monkeypatch, capsys, learner, words):
    monkeypatch.setattr(progress, "_SILENCE", -1e9)
    data = random_data(np.random.default_rng(3), 60, 5)
    learner.fit(data)
    assert capsys.readouterr().err == ""
    learner.fit(data, verbose=True)
    assert words in capsys.readouterr().err
