"""Tables of ranks and of paired differences."""

import pytest

from made_tables import bold, make, parsed, scores_of, texts
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report import tables
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.definition import Study

HEADS = ("A", "B", "C")


def ranked(values, published, stale=frozenset(), **options):
    """Return the table of the ranks of three methods; values : one list of scores per dataset."""
    columns = [{"head": head, "method": head.lower(), "quantity": "cmll"} for head in HEADS]
    rows = [
        (f"d{k}", head.lower(), "", "cmll", value)
        for k, of_dataset in enumerate(values)
        for head, value in zip(HEADS, of_dataset, strict=True)
    ]
    product = {"name": "t", "kind": "ranks", "caption": "C.", "columns": columns, **options}
    labels = {f"d{k}": f"D{k}" for k in range(len(values))}
    study = Study("s", {"datasets": list(labels), "tables": [product], "title": "T"})
    return tables.make_table(Material.of(study, scores_of(rows), published, labels), product, stale)


def test_ranks_of_the_printed_learners(published):
    columns = [
        {"head": m.upper(), "study": "gssl", "table": 2, "method": m, "quantity": "cmll"}
        for m in ("gssl", "l1", "dtsl", "blm")
    ]
    datasets = {name: name for name in load_registry()}
    scores = scores_of([(d, "x", "", "cmll", 0.0) for d in datasets])
    product = {"name": "t", "kind": "ranks", "caption": "C.", "columns": columns}
    study = Study("s", {"datasets": list(datasets), "tables": [product], "title": "T"})
    stale = {("nltcs", "gssl")}  # Numbers of the paper do not go stale.
    table = tables.make_table(Material.of(study, scores, published, datasets), product, stale)
    assert not any(cell.stale for row in table.body for cell in row.cells)
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


def test_the_best_of_all_datasets_is_bold_against_the_others(published):
    """A is best on all 20 datasets; B and C are even, so that their order is that of the study."""
    values = [[1.0, 0.0, (-1) ** k * (0.1 + k // 2 / 100)] for k in range(20)]
    table = ranked(values, published, stale={("d3", "b")})
    assert table.header == (("method", "mean rank", "best on", *HEADS),)
    assert table.sides == "lrrrrr"
    assert texts(table) == [
        ["A", "1.00", "20", "–", "< 0.0001", "< 0.0001"],
        ["B", "2.50", "0", "< 0.0001", "–", "1.00"],
        ["C", "2.50", "0", "< 0.0001", "1.00", "–"],
    ]
    assert bold(table) == [
        [False, False, False, False, True, True],
        [False, False, False, True, False, False],
        [False, False, False, True, False, False],
    ]
    # All ranks and adjusted p-values depend on all methods.
    assert [cell.stale for cell in table.body[0].cells] == [False, True, True, False, True, True]
    assert [cell.stale for cell in table.body[1].cells] == [False, True, True, True, False, True]
    first = parsed(table)[0]
    against = [f"p_against_{head}" for head in HEADS]
    assert list(first) == ["method", "mean_rank", "best_on", *against, "stale"]
    # The sign of 20 differences is by chance the same in one of 2^19 cases; three pairs.
    assert float(first["p_against_B"]) == pytest.approx(3 / 2**19)
    # Nemenyi's factor of three methods is 2.343 (Demsar 2006, Table 5).
    assert table.notes[0] == (
        "20 datasets. Friedman's test: p < 0.0001. Mean ranks that differ by less than 0.74 are "
        "not told apart by Nemenyi's test at 0.05."
    )
    assert table.notes[1].endswith("for the 3 pairs; bold at 0.05.")


def test_ranks_of_three_datasets(published):
    """Three datasets: each p is 3 times 1/4. The statistic of Friedman is 6, whose p is exp(-3)."""
    table = ranked([[3.0, 2.0, 1.0], [4.0, 2.0, 0.0], [9.0, 1.0, 0.5]], published)
    assert [row[1:3] for row in texts(table)] == [["1.00", "3"], ["2.00", "0"], ["3.00", "0"]]
    assert texts(table)[0][3:] == ["–", "0.750", "0.750"]
    assert "Friedman's test: p = 0.0498." in table.notes[0]


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
    assert table.notes[0] == "Against b: significantly better on 1 dataset, worse on 0, of 2."
    assert parsed(table)[0]["less_b_stderr"] == "0.1"
    for method, marks in (("a", [True, True]), ("b", [True, False]), ("c", [False, True])):
        stale = {("nltcs", method)}
        table = make("paired", scores, published, stale, method="a", against=["b", "c"])
        assert [cell.stale for cell in table.body[0].cells[1:]] == marks
    # One example has no standard error.
    alone = scores_of([("nltcs", "a", "", "cmll_less_b", 0.3, None)])
    table = make("paired", alone, published, method="a", against=["b"])
    assert texts(table) == [["NLTCS", "+0.300"]]
    assert parsed(table)[0]["less_b_stderr"] == ""
