"""Scores compared example by example, and pages of every setting."""

import json

import numpy as np
import pytest

from mnlearn.appendix import write_appendix
from mnlearn.errors import InputError
from mnlearn.files import write_csv, write_text
from mnlearn.gather import gather
from mnlearn.study import Study


def cell(folder, method, pll):
    path = folder / "cells" / "d" / f"{method}.json"
    entry = {
        "scores": {"pll": {"mean": float(np.mean(pll)), "stderr": 0.1}},
        "validation": -1.0,
        "seconds": {"weights": 1.0},
        "seconds_inference": 0.0,
        "parameters": {"initial": "positive", "n_generated": 5},
        "details": {"stopped_by": "gap"},
    }
    other = {**entry, "parameters": {"initial": "full", "n_generated": 5}}
    record = {
        "study": "s", "dataset": "d", "method": method, "variants": {"": entry, "full": other},
        "seconds_tuning": 1.0, "seconds_read": 0.0, "seconds_write": 0.0,
        "peak_memory_mib_learn": 1.0, "peak_memory_mib_score": 1.0,
    }  # fmt: skip
    write_text(path, json.dumps(record))
    write_csv(folder / "per_example" / "d" / f"{method}.csv", ({"pll": x} for x in pll))
    return path


def test_differences_by_example(tmp_path):
    a, b = np.array([-1.0, -2.0, -4.0]), np.array([-2.0, -2.0, -3.0])
    paths = [cell(tmp_path, "a", a), cell(tmp_path, "b", b)]
    scores = gather(paths, [["a", "b"], ["a", "missing"]])
    scores = scores[scores["variant"] == ""].set_index(["method", "quantity"])
    assert scores.loc[("a", "pll_less_b"), "value"] == pytest.approx(0.0)
    expected = np.std(a - b, ddof=1) / np.sqrt(3)
    assert scores.loc[("a", "pll_less_b"), "stderr"] == pytest.approx(expected)
    assert scores.loc[("a", "chosen_initial_positive"), "value"] == 1.0
    assert scores.loc[("a", "chosen_initial_full"), "value"] == 0.0
    assert scores.loc[("a", "chosen_n_generated"), "value"] == 5
    assert ("a", "stopped_by_gap") not in scores.index


def test_scores_by_example_that_do_not_fit(tmp_path):
    paths = [cell(tmp_path, "a", [-1.0, -2.0]), cell(tmp_path, "b", [-1.0])]
    with pytest.raises(InputError, match="got 2 and 1"):
        gather(paths, [["a", "b"]])
    (tmp_path / "per_example" / "d" / "b.csv").unlink()
    with pytest.raises(InputError, match="score b again"):
        gather(paths, [["a", "b"]])


def test_a_page_of_every_setting(tmp_path):
    head = "stage,initial,n_generated,threshold,l1,sd,n_features,validation,seconds_weights\n"
    rows = "0,full,500000,1,1.0,0.5,10,-2.5,0.125\n0,positive,500000,1,1.0,0.5,20,-1.5,0.25\n"
    write_text(tmp_path / "tuning" / "nltcs" / "mine.csv", head + rows)
    content = {"datasets": ["nltcs", "msnbc"], "methods": {"mine": {"learner": "gssl"}}}
    write_appendix(Study("s", content), "mine", {"nltcs": "NLTCS"}, tmp_path)
    page = (tmp_path / "appendix" / "mine.html").read_text()
    assert page.count("<tr") == 3
    assert "<td>NLTCS</td><td>full</td><td>500000</td><td>1</td><td>1</td><td>0.5</td>" in page
    assert '<tr style="font-weight: bold"><td>NLTCS</td><td>positive</td>' in page
    assert "<th>seconds for weights</th>" in page
    assert "http" not in page
