"""Scores compared example by example, and pages of every setting."""

import json
import re
import statistics
from pathlib import Path

import numpy as np
import pytest

from made_study import make
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_csv, write_text
from mnlearn_studies.records.gather import gather
from mnlearn_studies.records.kinds.paired import compare_paired
from mnlearn_studies.report.appendix import write_appendix
from mnlearn_studies.study.definition import Study

STUDY = Study("s", {"datasets": ["nltcs", "msnbc"], "methods": {"mine": {"learner": "gssl"}}})


def cell(path, initial, **scores):
    entry = {
        "scores": {"pll": {"mean": -2.0, "stderr": 0.1}, **scores},
        "validation": -1.0,
        "seconds": {"weights": 1.0},
        "seconds_inference": 0.0,
        "parameters": {"initial": initial, "n_generated": 5},
        "details": {"stopped_by": "gap"},
    }
    other = {**entry, "parameters": {"initial": "full", "n_generated": 5}}
    record = {
        "study": "s", "dataset": "d", "method": "a", "learner": "gssl",
        "variants": {"": entry, "full": other},
        "seconds_tuning": 1.0, "seconds_read": 0.0, "seconds_write": 0.0,
        "peak_memory_mib_learn": 1.0, "peak_memory_mib_score": 1.0,
    }  # fmt: skip
    write_text(path, json.dumps(record))
    return path


def test_choices_are_gathered_as_numbers(tmp_path):
    scores = gather(STUDY, {"cells": [cell(tmp_path / "a.json", "positive")]})
    value = scores[scores["variant"] == ""].set_index("quantity")["value"]
    assert value["chosen_initial_positive"] == 1.0
    assert value["chosen_initial_full"] == 0.0
    assert value["chosen_n_generated"] == 5
    assert "stopped_by_gap" not in value


def test_the_spread_over_partitions_is_that_of_a_sample(tmp_path):
    means = [-1.0, -2.0, -4.0, -5.5]
    cmll = {"mean": -1.0, "stderr": 0.2, "monte_carlo_error": 0.01, "partitions": means}
    scores = gather(STUDY, {"cells": [cell(tmp_path / "a.json", "positive", cmll=cmll)]})
    row = scores[scores["variant"] == ""].set_index("quantity").loc["cmll_partition_mean"]
    assert row["value"] == pytest.approx(sum(means) / 4)
    assert row["stderr"] == pytest.approx(statistics.stdev(means))
    one = gather(
        STUDY,
        {"cells": [cell(tmp_path / "b.json", "positive", cmll={**cmll, "partitions": means[:1]})]},
    )
    assert "cmll_partition_mean" not in set(one["quantity"])


def test_differences_by_example(tmp_path):
    a, b = np.array([-1.0, -2.0, -4.0]), np.array([-2.0, -2.0, -3.0])
    write_csv(tmp_path / "a.csv", ({"pll": x, "ll": 2 * x} for x in a))
    write_csv(tmp_path / "b.csv", ({"pll": x} for x in b))
    out = tmp_path / "a-b.json"
    inputs = {"first": str(tmp_path / "a.csv"), "second": str(tmp_path / "b.csv")}
    make("paired", out, {}, method="a-b", inputs=inputs)
    scores = gather(STUDY, {"paired": [out]}).set_index(["method", "quantity"])
    assert list(scores.index) == [("a", "pll_less_b")]
    row = scores.loc[("a", "pll_less_b")]
    assert row["value"] == pytest.approx(0.0)
    assert row["stderr"] == pytest.approx(np.std(a - b, ddof=1) / np.sqrt(3))


@pytest.mark.parametrize("n", [1, 2])
def test_scores_by_example_that_do_not_fit(tmp_path, n):
    write_csv(tmp_path / "a.csv", [{"pll": -1.0}] * n)
    write_csv(tmp_path / "b.csv", [{"pll": -1.0}])
    with pytest.raises(InputError, match=rf"b\.csv: expected scores of the {n} examples"):
        compare_paired(tmp_path / "a.csv", tmp_path / "b.csv")


HEAD = "stage,initial,n_generated,threshold,l1,sd,n_features,validation,seconds_weights\n"


def write_page(folder):
    """Write the page of a method; return it and its tables, each a list of rows of cells."""
    write_appendix(STUDY, "mine", {"nltcs": "NLTCS <i>"}, folder)
    page = (folder / "appendix" / "mine.html").read_text("utf-8")
    tables = [
        [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in re.findall("<tr.*?</tr>", table)]
        for table in re.findall("<table.*?</table>", page, re.DOTALL)
    ]
    return page, tables


def test_a_page_of_every_setting(tmp_path):
    """A trace may lack a column that that of another dataset has."""
    rows = "0,full,500000,1,1.0,0.5,10,-2.5,0.125\n0,positive,500000,1,1.0,0.5,20,-1.5,0.25\n"
    write_text(tmp_path / "tuning" / "nltcs" / "mine@00000001.csv", HEAD + rows)
    other = HEAD.replace(",seconds_weights", "") + "0,full,5,1,1.0,0.5,10,-2.5\n"
    write_text(tmp_path / "tuning" / "msnbc" / "mine@00000001.csv", other)
    page, (table,) = write_page(tmp_path)
    point = ["500000", "1", "1", "0.5"]
    assert table == [
        [
            *("dataset", "initial", "n_generated", "threshold", "l1", "sd"),
            *("validation score", "seconds for weights", "features kept", "best"),
        ],
        ["NLTCS &lt;i&gt;", "full", *point, "-2.5000", "0.12", "10", ""],
        ["NLTCS &lt;i&gt;", "positive", *point, "-1.5000", "0.25", "20", "best"],
        ["msnbc", "full", "5", "1", "1", "0.5", "-2.5000", "", "10", ""],
    ]
    assert "http" not in page
    assert re.findall("<h2>(.*?)</h2>", page) == ["Points of the grid"]


def test_the_page_has_the_scores_and_times_of_chosen_models_and_of_structures(tmp_path):
    rows = [
        ("s", "nltcs", "mine", variant, quantity, value)
        for variant, values in {
            "": {"validation": -1.5, "pll": -1.6, "cmll": -1.7, "seconds_structure": 0.25,
                 "seconds_features": 0.5, "seconds_weights": 2.0, "seconds_learn": 2.75},
            "full-5-1": {"validation": -2.5, "pll": -2.6, "mean_seconds_weights": 0.125},
            "positive-5-1": {"validation": -1.5, "pll": -1.6, "cmll": -1.7,
                             "mean_seconds_weights": 1.5},
        }.items()
        for quantity, value in values.items()
    ]  # fmt: skip
    rows.append(("s", "nltcs", "other", "", "pll", -9.9))
    columns = ("study", "dataset", "method", "variant", "quantity", "value", "stderr")
    write_csv(tmp_path / "scores.csv", (dict(zip(columns, (*r, ""), strict=True)) for r in rows))
    page, (chosen, settings) = write_page(tmp_path)
    scores = ["validation score", "test PLL", "test CMLL"]
    assert chosen == [
        [
            *("dataset", *scores, "seconds for structure", "seconds for features"),
            *("seconds for weights", "seconds in total"),
        ],
        [
            *("NLTCS &lt;i&gt;", "-1.5000", "-1.6000", "-1.7000"),
            *("0.250", "0.500", "2.000", "2.750"),
        ],
    ]
    assert settings == [
        ["dataset", "setting", *scores, "mean seconds for weights", "best"],
        ["NLTCS &lt;i&gt;", "full-5-1", "-2.5000", "-2.6000", "", "0.125", ""],
        ["NLTCS &lt;i&gt;", "positive-5-1", "-1.5000", "-1.6000", "-1.7000", "1.500", "best"],
    ]
    assert re.findall("<h2>(.*?)</h2>", page) == ["Chosen models", "Structure settings"]


@pytest.mark.parametrize("text", ["", "\0", "a,b\n1\n2,3,4\n", "stage\n0\n", '"'])
@pytest.mark.parametrize("name", ["tuning/nltcs/mine@00000001.csv", "scores.csv"])
def test_damaged_tables_are_named(tmp_path, name, text):
    write_text(tmp_path / name, text)
    with pytest.raises(InputError, match=rf"{Path(name).name}: "):
        write_page(tmp_path)
    assert not (tmp_path / "appendix").exists()
