"""Progress as log records that a program can use as it likes."""

import logging

from mnlearn.runtime.progress import begin_work, say, track


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
