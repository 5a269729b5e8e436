"""Claims about seconds: their spread, and whether they were measured in one job."""

import pandas as pd
import pytest

from claim_cases import COLUMNS, outcome, source
from mnlearn_studies.study.published import is_time

SECONDS = "seconds_learn"
FAST, SLOW = (source(method, quantity=SECONDS) for method in ("fast", "slow"))
RATIO = {"kind": "ratio", "published": 2, "a": SLOW, "b": FAST}
WINS = {"kind": "count", "published": "all", "lower": True, "a": FAST, "b": SLOW}


def timed(**seconds):
    """Scores from method=one time, measured once, or (median, least, most) of one job."""
    rows = []
    for method, values in seconds.items():
        values = values if isinstance(values, tuple) else (values,)
        for end, value in zip(("", "_min", "_max"), values, strict=False):
            rows.append(("s", "nltcs", method, "", f"{SECONDS}{end}", value, None))
    return pd.DataFrame(rows, columns=COLUMNS)


def judged(printed, scores, **entry):
    return outcome(printed, scores, datasets=("nltcs",), **entry)


@pytest.mark.parametrize(
    ("entry", "fast", "slow", "verdict"),
    [
        (RATIO, (1.0, 0.99, 1.01), (2.0, 1.99, 2.01), "reproduced"),
        (RATIO, (1.0, 0.9, 1.01), (2.0, 1.99, 2.1), "within the noise"),
        (RATIO, (1.0, 0.9, 1.1), (5.0, 4.0, 6.0), "holds more strongly"),
        (WINS, (1.0, 0.9, 1.4), (1.5, 1.41, 1.6), "reproduced"),
        (WINS, (1.0, 0.9, 1.4), (1.5, 1.39, 1.6), "within the noise"),
        # The medians contradict, and the spread allows the statement.
        (WINS, (1.5, 1.3, 1.6), (1.45, 1.4, 1.5), "within the noise"),
        (WINS, (2.0, 1.7, 2.1), (1.5, 1.4, 1.6), "contradicted"),
    ],
)
def test_a_spread_that_covers_the_verdict_is_said(published, entry, fast, slow, verdict):
    found = judged(published, timed(fast=fast, slow=slow), **entry)
    assert found.verdict == verdict
    assert bool(found.reason) == (verdict == "within the noise")


def test_a_ratio_needs_one_job(published):
    """A time that was measured once is of a job of its own."""
    found = judged(published, timed(fast=(1.0, 1.0, 1.0), slow=2.0), **RATIO)
    assert found.verdict == "cannot be checked"
    assert (found.ours, found.reason) == ("2.00", "the times were not measured in one job")


@pytest.mark.parametrize(("slow", "verdict"), [(4.7, "reproduced"), (3.9, "within the noise")])
def test_times_of_two_jobs_are_compared_with_a_wide_margin(published, slow, verdict):
    """Each may be off by a factor of 2."""
    assert judged(published, timed(fast=1.0, slow=slow), **WINS).verdict == verdict


def test_a_reason_names_all_other_verdicts(published):
    found = judged(published, timed(fast=(1.0, 0.2, 5.0), slow=(2.0, 1.0, 3.0)), **RATIO)
    assert found.reason == (
        "the medians give 'reproduced', the spread of the times allows contradicted, holds more "
        "strongly"
    )


@pytest.mark.parametrize(
    ("ends", "slow", "verdict"),
    [
        # The times of two variants and their ends are averaged: 1.5, from 1.4 to 1.8.
        ({"x": (0.9, 1.2), "y": (1.9, 2.4)}, (2.0, 1.85, 2.1), "reproduced"),
        ({"x": (0.9, 1.2), "y": (1.9, 2.4)}, (2.0, 1.75, 2.1), "within the noise"),
        # One was measured once, in a job of its own: all are off by up to a factor of 2.
        ({"x": (), "y": (1.9, 2.4)}, (6.5, 6.1, 7.0), "reproduced"),
        ({"x": (), "y": (1.9, 2.4)}, (6.5, 5.9, 7.0), "within the noise"),
    ],
)
def test_times_of_variants(published, ends, slow, verdict):
    scores = timed(slow=slow)
    for variant, value in (("x", 1.0), ("y", 2.0)):
        frame = timed(fast=(value, *ends[variant])).assign(variant=variant)
        scores = pd.concat([scores, frame], ignore_index=True)
    entry = {**WINS, "a": {"method": "fast", "quantity": SECONDS, "variants": ["x", "y"]}}
    assert judged(published, scores, **entry).verdict == verdict


def test_two_parts_of_one_run_are_of_one_job(published):
    """They were measured once, so that each may be off by 15 per cent."""
    parts = [source("fast", quantity=f"seconds_{part}") for part in ("weights", "learn")]
    entry = {"kind": "ratio", "rule": "share", "published": 0.5, "a": parts[0], "b": parts[1]}
    for share, verdict in ((0.9, "holds more strongly"), (0.5, "within the noise")):
        rows = [("seconds_weights", share), ("seconds_learn", 1.0)]
        frame = [("s", "nltcs", "fast", "", *row, None) for row in rows]
        assert judged(published, pd.DataFrame(frame, columns=COLUMNS), **entry).verdict == verdict


@pytest.mark.parametrize(
    ("printed", "factor", "verdict"),
    [
        (1, 1.05, "reproduced"),
        (1, 1.5, "within the noise"),
        # 1 is up to 0.2 away, and only one of the tilts, of 0.11 each, takes it further.
        (0.85, 1.1, "within the noise"),
        (1.15, 1.1, "within the noise"),
    ],
)
def test_a_slope_is_tilted_by_the_spread(published, printed, factor, verdict):
    datasets = ("nltcs", "msnbc", "kdd", "plants")
    entry = {"kind": "trend", "rule": "power", "published": printed,
             "a": source("m", quantity=SECONDS), "b": source("m", quantity="n")}  # fmt: skip
    rows = []
    for k, dataset in enumerate(datasets):
        n = 2.0**k
        ends = (("", n), ("_min", n / factor), ("_max", n * factor))
        rows += [("s", dataset, "m", "", f"{SECONDS}{end}", value, None) for end, value in ends]
        rows.append(("s", dataset, "m", "", "n", n, None))
    found = outcome(published, pd.DataFrame(rows, columns=COLUMNS), datasets=datasets, **entry)
    assert found.verdict == verdict


def test_what_is_a_time():
    times = ("seconds_learn", "mean_seconds_weights", "milliseconds_single_query", "seconds_q80")
    assert all(map(is_time, times))
    assert not any(map(is_time, ("cmll", "n_features", "chosen_max_seconds")))
