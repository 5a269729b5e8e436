"""Scores compared example by example, and pages of every setting."""

import json
import statistics
from pathlib import Path

import numpy as np
import pytest

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_csv, write_text
from mnlearn_studies.records.gather import gather
from mnlearn_studies.records.pair import compare_paired
from mnlearn_studies.report.appendix import write_appendix
from mnlearn_studies.study.definition import Study


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
    scores = gather([cell(tmp_path / "a.json", "positive")])
    value = scores[scores["variant"] == ""].set_index("quantity")["value"]
    assert value["chosen_initial_positive"] == 1.0
    assert value["chosen_initial_full"] == 0.0
    assert value["chosen_n_generated"] == 5
    assert "stopped_by_gap" not in value


def test_the_spread_over_partitions_is_that_of_a_sample(tmp_path):
    means = [-1.0, -2.0, -4.0, -5.5]
    cmll = {"mean": -1.0, "stderr": 0.2, "monte_carlo_error": 0.01, "partitions": means}
    scores = gather([cell(tmp_path / "a.json", "positive", cmll=cmll)])
    row = scores[scores["variant"] == ""].set_index("quantity").loc["cmll_partition_mean"]
    assert row["value"] == pytest.approx(sum(means) / 4)
    assert row["stderr"] == pytest.approx(statistics.stdev(means))
    one = gather([cell(tmp_path / "b.json", "positive", cmll={**cmll, "partitions": means[:1]})])
    assert "cmll_partition_mean" not in set(one["quantity"])


def test_differences_by_example(tmp_path):
    a, b = np.array([-1.0, -2.0, -4.0]), np.array([-2.0, -2.0, -3.0])
    write_csv(tmp_path / "a.csv", ({"pll": x, "ll": 2 * x} for x in a))
    write_csv(tmp_path / "b.csv", ({"pll": x} for x in b))
    out = tmp_path / "a-b.json"
    sides = ("a", tmp_path / "a.csv"), ("b", tmp_path / "b.csv")
    compare_paired({"study": "s", "dataset": "d"}, *sides, out)
    scores = gather(paired_paths=[out]).set_index(["method", "quantity"])
    assert list(scores.index) == [("a", "pll_less_b")]
    row = scores.loc[("a", "pll_less_b")]
    assert row["value"] == pytest.approx(0.0)
    assert row["stderr"] == pytest.approx(np.std(a - b, ddof=1) / np.sqrt(3))


@pytest.mark.parametrize("n", [1, 2])
def test_scores_by_example_that_do_not_fit(tmp_path, n):
    write_csv(tmp_path / "a.csv", [{"pll": -1.0}] * n)
    write_csv(tmp_path / "b.csv", [{"pll": -1.0}])
    sides = ("a", tmp_path / "a.csv"), ("b", tmp_path / "b.csv")
    with pytest.raises(InputError, match=rf"b\.csv: expected scores of the {n} examples"):
        compare_paired({"study": "s", "dataset": "d"}, *sides, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


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
    assert "<h2>Chosen models</h2>" not in page


def test_rows_of_settings_fit_their_heads(tmp_path):
    """A trace may lack a column that that of another dataset has."""
    head = "stage,initial,n_generated,threshold,l1,sd,n_features,validation,seconds_weights\n"
    write_text(
        tmp_path / "tuning" / "nltcs" / "mine.csv", head + "0,full,5,1,1.0,0.5,10,-2.5,0.125\n"
    )
    write_text(
        tmp_path / "tuning" / "msnbc" / "mine.csv",
        head.replace(",seconds_weights", "") + "0,full,5,1,1.0,0.5,10,-2.5\n",
    )
    content = {"datasets": ["nltcs", "msnbc"], "methods": {"mine": {"learner": "gssl"}}}
    write_appendix(Study("s", content), "mine", {}, tmp_path)
    page = (tmp_path / "appendix" / "mine.html").read_text(encoding="utf-8")
    n_heads = page.count("<th>")
    assert page.count("<td>") == 2 * n_heads
    assert "<th>seconds for weights</th>" in page


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
    content = {"datasets": ["nltcs", "msnbc"], "methods": {"mine": {"learner": "gssl"}}}
    write_appendix(Study("s", content), "mine", {"nltcs": "NLTCS"}, tmp_path)
    page = (tmp_path / "appendix" / "mine.html").read_text()
    chosen, settings = page.split("<table")[1:]
    cells = [
        *("NLTCS", "-1.5000", "-1.6000", "-1.7000", "0.250", "0.500", "2.000", "2.750"),
    ]
    assert "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" in chosen
    assert "<th>test CMLL</th><th>mean seconds for weights</th>" in settings
    cells = ["NLTCS", "full-5-1", "-2.5000", "-2.6000", "", "0.125"]
    assert "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" in settings
    best = '<tr style="font-weight: bold"><td>NLTCS</td><td>positive-5-1</td>'
    assert best in settings
    assert page.count("font-weight: bold") == 1
    assert "-9.9" not in page
    assert "Points of the grid" not in page


@pytest.mark.parametrize("text", ["", "\0", "a,b\n1\n2,3,4\n", "stage\n0\n", '"'])
@pytest.mark.parametrize("name", ["tuning/nltcs/mine.csv", "scores.csv"])
def test_damaged_tables_are_named(tmp_path, name, text):
    write_text(tmp_path / name, text)
    content = {"datasets": ["nltcs"], "methods": {"mine": {"learner": "gssl"}}}
    with pytest.raises(InputError, match=rf"{Path(name).name}: "):
        write_appendix(Study("s", content), "mine", {"nltcs": "NLTCS"}, tmp_path)
    assert not (tmp_path / "appendix").exists()
