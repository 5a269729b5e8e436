"""What tables say of the spread of their seconds."""

import pandas as pd

from claim_cases import COLUMNS
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.tables import time_notes

ROWS = [
    ("s", "a", "m", "", "seconds_learn", 2.0, None),
    ("s", "a", "m", "", "seconds_learn_min", 1.5, None),
    ("s", "a", "m", "", "seconds_learn_max", 2.5, None),
    ("s", "b", "m", "", "seconds_learn", 1.0, None),
    ("s", "b", "m", "", "seconds_learn_min", 0.95, None),
    ("s", "b", "m", "", "seconds_learn_max", 1.05, None),
    ("s", "a", "once", "", "seconds_learn", 9.0, None),
]
SCORES = pd.DataFrame(ROWS, columns=COLUMNS)


def notes(*columns, kind="compare"):
    return time_notes(
        Material("s", SCORES, SCORES.iloc[:0], {}), {"kind": kind, "columns": list(columns)}
    )


def test_the_largest_and_the_mean_spread_are_said():
    column = {"method": "m", "quantity": "seconds_learn"}
    for found in (notes(column), notes(kind="lem.times")):
        (note,) = found
        assert "by up to 50 per cent of the median, and by 30 per cent in the mean" in note


def test_nothing_is_said_of_scores_of_published_seconds_and_of_times_measured_once():
    assert notes({"method": "m", "quantity": "pll"}) == ()
    assert notes({"method": "m", "quantity": "seconds_learn", "study": "gssl", "table": 3}) == ()
    assert notes({"method": "once", "quantity": "seconds_learn"}) == ()
