"""Tables of ranks and of paired differences."""

from made_tables import bold, make, parsed, scores_of, texts
from mnlearn.report import tables
from mnlearn.study.datasets.registry import load_registry
from mnlearn.study.definition import Study


def test_ranks_of_the_printed_learners(published):
    columns = [
        {"head": m.upper(), "study": "gssl", "table": 2, "method": m, "quantity": "cmll"}
        for m in ("gssl", "l1", "dtsl", "blm")
    ]
    datasets = {name: name for name in load_registry()}
    scores = scores_of([(d, "x", "", "cmll", 0.0) for d in datasets])
    product = {"name": "t", "kind": "ranks", "caption": "C.", "columns": columns}
    study = Study("s", {"datasets": list(datasets), "tables": [product], "title": "T"})
    table = tables.make_table(study, product, scores, published, labels=datasets)
    rows = {row[0]: row[1:] for row in texts(table)}
    # The paper counts the wins 8, 9, 3, 0 and p = 0.0002 and 0.0193 before any adjustment.
    assert [rows[m][1] for m in ("GSSL", "L1", "DTSL", "BLM")] == ["8", "9", "3", "0"]
    assert texts(table)[-1][0] == "BLM"
    by_head = dict(zip(("GSSL", "L1", "DTSL", "BLM"), rows["GSSL"][2:], strict=True))
    assert by_head["GSSL"] == "–"
    assert float(by_head["BLM"].lstrip("< ")) < 0.001
    assert float(by_head["L1"]) > 0.5
    assert "Friedman's test: p < 0.0001" in table.notes[0]


def test_ranks_of_too_few_datasets(published):
    columns = [{"head": m, "method": m, "quantity": "cmll"} for m in "abc"]
    table = make(
        "ranks",
        scores_of([("nltcs", m, "", "cmll", 1.0) for m in "abc"]),
        published,
        columns=columns,
    )
    assert not table.body
    assert "Too few" in table.notes[0]


def test_paired_differences_are_tested_and_adjusted(published):
    scores = scores_of(
        [
            ("nltcs", "a", "", "cmll_less_b", 0.3, 0.1),
            ("msnbc", "a", "", "cmll_less_b", -0.02, 0.01),
            ("nltcs", "a", "", "cmll_less_c", 0.0, 0.0),
            ("msweb", "a", "", "pll_less_b", 9.0, 0.1),
        ]
    )
    table = make("paired", scores, published, method="a", against=["b", "c"])
    assert texts(table) == [
        ["NLTCS", "+0.300 ± 0.100", "+0.000 ± 0.000"],
        ["MSNBC", "-0.020 ± 0.010", ""],
    ]
    # p is 0.0027 and 0.0455: the second is not below 0.05 / 2.
    assert bold(table) == [[False, True, False], [False, False, False]]
    assert table.notes[0] == "Against b: significantly better on 1 datasets, worse on 0, of 2."
    assert parsed(table)[0]["less_b_stderr"] == "0.1"
