"""CSV files as pandas and R write them."""

import logging

import numpy as np
import pandas as pd
import pytest

from made_data import examples, write
from mnlearn.data.text import load_dataset
from mnlearn.runtime.errors import InputError

ROWS = np.array([[0, 1], [1, 1], [1, 0], [0, 0]])
FRAME = pd.DataFrame(ROWS, columns=["sleep", "mood"])
# R: write.csv(data.frame(sleep = c(1, 2, 2, 1), mood = c(2, 2, 1, 1)))
OF_R = '"","sleep","mood"\n"1",1,2\n"2",2,2\n"3",2,1\n"4",1,1\n'


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (FRAME.astype(float).to_csv(index=False), None),
        (FRAME.astype(bool).to_csv(index=False), "true counts as 1 in 2 columns (sleep, mood)."),
        (FRAME.to_csv(), "left out '', which numbers the rows."),
        (FRAME.replace({0: "No", 1: "Yes"}).to_csv(index=False), "yes counts as 1 in 2 columns"),
        (OF_R, "left out '', which numbers the rows; 2 counts as 1 in 2 columns (sleep, mood)."),
        (
            FRAME.assign(mood=FRAME["mood"] == 1, person_id=list("abcd")).to_csv(index=False),
            "left out 'person_id', which numbers the rows; true counts as 1 in 1 columns (mood).",
        ),
    ],
    ids=["floats", "booleans", "index", "words", "R", "ids"],
)
def test_files_of_other_programs(tmp_path, caplog, content, note):
    caplog.set_level(logging.INFO, "mnlearn")
    data = load_dataset(write(tmp_path / "a.csv", content))
    assert examples(data).tolist() == ROWS.tolist()
    assert data.names == ("sleep", "mood")
    assert len(caplog.messages) == (note is not None)
    assert all(note in message for message in caplog.messages)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,1\n2,1\n", "column 'b': has only 1, which could be 0 or 1"),
        ("a,b\n1,0\n2,1\n", "column 'a': has 1 and 2, but 'b' has 0 and 1"),
        ("a,b\n1,0\n3,1\n", "line 3, column 1: expected 0 or 1, got '3'"),
        ("a,b\nmale,0\nfemale,1\n", "line 2, column 1: expected 0 or 1, got 'male'"),
        ("a,b\n1.0,0\n,1\n", "line 2, column 1: expected 0 or 1, got '1.0'"),
        ("id,b\n1,0\n1,1\n7,0\n", "line 4, column 1: expected 0 or 1, got '7'"),
        ("a,b\nyes,0\ntrue,1\n", "line 2, column 1: expected 0 or 1, got 'yes'"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(tmp_path, content, message):
    with pytest.raises(InputError) as caught:
        load_dataset(write(tmp_path / "a.csv", content))
    assert message in str(caught.value)
