"""The page on how closely the record reproduces the papers."""

import numpy as np
import pandas as pd
import pytest

from made_data import write
from mnlearn.runtime.errors import InputError
from mnlearn_studies.records.gather import COLUMNS, read_scores
from mnlearn_studies.report.pages.numbers import (
    PublishedNumber,
    load_reasons,
    prediction_margin,
    published_numbers,
)
from mnlearn_studies.study.definition import studies_of_papers
from mnlearn_studies.study.folders import source_folder
from mnlearn_studies.study.mentions import named_datasets, named_methods
from mnlearn_studies.study.published import load_published


def number(printed, ours, *spread):
    return PublishedNumber("s", "1", "d", "m", "cmll", "accuracy", "D", printed, ours, *spread)


@pytest.mark.parametrize(
    ("found", "better", "near", "reached"),
    [
        (number("-5.20", -5.1), True, False, True),
        (number("-5.20", -5.2049), True, True, True),  # as high at the printed decimals
        (number("-5.20", -5.2051), False, True, True),
        (number("-5.20", -5.251), False, True, True),
        (number("-5.20", -5.253), False, False, False),
        # t(19, 0.975) sqrt(1 + 1/20) = 2.1447, t(3, 0.975) sqrt(1 + 1/4) = 3.5581.
        (number("-5.20", -5.5, -5.4, 0.0933, 20), False, False, True),
        (number("-5.20", -5.5, -5.4, 0.0932, 20), False, False, False),
        (number("-5.20", -5.5, -5.4, 0.0563, 4), False, False, True),
        (number("-5.20", -5.5, -5.4, 0.0562, 4), False, False, False),
        (number("-5.20", -5.5, -5.4, 0.11, 1), False, False, False),
        (number("-5.20", None), False, False, False),
    ],
)
def test_when_a_score_is_reached(found, better, near, reached):
    assert (found.is_better, found.is_near, found.is_reached) == (better, near, reached)


def scores(*rows):
    return pd.DataFrame([("gssl", *row) for row in rows], columns=list(COLUMNS))


def test_printed_numbers_find_ours():
    published = load_published()
    own = scores(
        ("nltcs", "gssl", "", "cmll", -5.1, 0.05),
        ("nltcs", "gssl", "", "cmll_partition_mean", -5.3, 0.2),
        ("nltcs", "gssl", "", "cmll_partitions", 20, None),
        ("nltcs", "gssl", "prune", "cmll", -9.0, 0.05),
        ("nltcs", "gssl", "", "seconds_learn", 1.5, None),
    )
    found = {(c.table, c.dataset, c.method, c.quantity): c for c in
             published_numbers(published, {"gssl": own})}  # fmt: skip
    assert {c.study for c in found.values()} == {"gssl"}
    accuracy = found["2", "nltcs", "gssl", "cmll"]
    assert (accuracy.ours, accuracy.mean, accuracy.deviation) == (-5.1, -5.3, 0.2)
    assert accuracy.n_partitions == 20
    assert (accuracy.kind, accuracy.label) == ("accuracy", "NLTCS")
    assert found["3", "nltcs", "gssl", "seconds_learn"].ours == 1.5
    assert found["1", "nltcs", "", "n_train"].ours == 16181
    assert found["2", "nltcs", "l1", "cmll"].ours is None
    assert not any(c.quantity == "threshold" for c in found.values())


@pytest.mark.parametrize(
    ("ours", "needs"),
    [(-9.6, False), (-9.49, True), (-10.2, True), (-10.1, False), (None, True)],
)
def test_numbers_far_off_on_either_side_need_a_reason(ours, needs):
    assert number("-10.00", ours).needs_reason == needs


def test_one_more_draw_is_in_the_prediction_interval_as_often_as_said():
    draws = np.random.default_rng(0).normal(size=(20_000, 5))
    margin = prediction_margin(1.0, 4) * draws[:, :4].std(axis=1, ddof=1)
    inside = np.abs(draws[:, 4] - draws[:, :4].mean(axis=1)) <= margin
    assert inside.mean() == pytest.approx(0.95, abs=0.005)


def test_each_score_that_is_far_off_has_a_reason_and_no_other():
    root, papers = source_folder(), studies_of_papers()
    recorded = {name: read_scores(root / "results" / name / "scores.csv") for name in papers}
    numbers = [c for c in published_numbers(load_published(), recorded) if c.kind == "accuracy"]
    assert len(numbers) == 212
    far = {(c.study, c.dataset, c.method, c.quantity) for c in numbers if c.needs_reason}
    reasons = load_reasons()
    assert set(reasons) == far
    for reason in reasons.values():
        assert (root / "docs/decisions" / f"{reason.record}.md").exists()
        assert reason.record.partition("-")[0].isdigit()


def test_methods_that_a_claim_names():
    entry = {
        "kind": "best_of",
        "columns": [{"method": "gssl"}, {"method": "their_name", "study": "gssl", "table": 2}],
        "a": {"methods": ["l1", "blm"], "quantity": "cmll"},
    }
    assert named_methods(entry) == {"gssl", "l1", "blm"}


@pytest.mark.parametrize(
    ("entry", "named"),
    [({}, ["a", "b"]), ({"dataset": "a"}, ["a"]), ({"datasets": ["b", "c"]}, ["b", "c"])],
)
def test_datasets_that_a_claim_names(entry, named):
    assert named_datasets(entry, ["a", "b"]) == named


def test_reasons_are_stated_once(tmp_path):
    head = "study\tdataset\tmethod\tquantity\treason\trecord\n"
    row = "gssl\tad\tblm\tcmll\twhy\t0016-x\n"
    with pytest.raises(InputError, match=r"reasons.tsv, line 3: expected each score once"):
        load_reasons(write(tmp_path / "reasons.tsv", head + row + row))
