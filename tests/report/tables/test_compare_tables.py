"""Tables of kind `compare`."""

import io

import pandas as pd
import pytest

from made_tables import COMPARE, COMPARE_SCORES, bold, make, parsed, scores_of, texts
from mnlearn_studies.report.tables.formats import EMPTY_NOTE, to_markdown
from mnlearn_studies.report.tables.table import STALE_NOTE, mark_stale


def test_compare_shows_numbers_winners_ties_and_gaps(published):
    table = make("compare", scores_of(COMPARE_SCORES), published, **COMPARE)
    assert texts(table) == [
        ["NLTCS", "-5.209 ± 0.012", "-5.300", "-5.209", "-0.000"],
        ["MSNBC", "-5.700 ± 0.010", "-5.700", "-5.727", "+0.027"],
        ["MSWeb", "-9.000 ± 0.010", "", "-16.201", "+7.201"],
        ["mean of 2", "-5.455", "-5.500", "", ""],
    ]
    assert [row[1:3] for row in bold(table)] == [
        [True, False],
        [True, True],
        [False, False],
        [False, False],
    ]


def test_compare_tests_and_quotes_the_oddities_of_printed_numbers(published):
    table = make("compare", scores_of(COMPARE_SCORES), published, **COMPARE)
    assert table.notes[0].startswith("a against b: 2 wins, 0 ties, 0 losses on 2 datasets")
    assert "p = 0.500 (exact)" in table.notes[0]
    assert "MSWeb, printed -16.201: an outlier" in table.notes[1]


def test_compare_names_the_group_where_headings_repeat(published):
    columns = [
        {"name": "a", "head": "LW", "group": "ours", "method": "a", "quantity": "cmll"},
        {"name": "b", "head": "LW", "group": "theirs", "method": "b", "quantity": "cmll"},
    ]
    scores = scores_of(COMPARE_SCORES)
    table = make("compare", scores, published, columns=columns, tests=[["a", "b"]])
    assert table.notes[0].startswith("LW (ours) against LW (theirs): 2 wins")


def test_compare_csv_has_full_precision_and_no_footer(published):
    rows = parsed(make("compare", scores_of(COMPARE_SCORES), published, **COMPARE))
    assert [row["dataset"] for row in rows] == ["nltcs", "msnbc", "msweb"]
    assert rows[0]["a"] == "-5.2094"
    assert rows[0]["a_stderr"] == "0.0123"
    assert rows[2]["b"] == ""
    assert float(rows[0]["d"]) == pytest.approx(-0.0004)


def test_compare_shows_ratios_and_their_geometric_mean(published):
    columns = [
        *({"name": m, "method": m, "quantity": "cmll"} for m in "ab"),
        {"name": "ratio", "over": ["a", "b"], "decimals": 2},
    ]
    scores = [("nltcs", "a", "", "cmll", 8.0), ("nltcs", "b", "", "cmll", 1.0)]
    scores += [("msnbc", "a", "", "cmll", 4.0), ("msnbc", "b", "", "cmll", 2.0)]
    scores += [("msweb", "a", "", "cmll", 5.0), ("msweb", "b", "", "cmll", 0.0)]
    table = make("compare", scores_of(scores), published, columns=columns, geometric_mean=["ratio"])
    assert [row[-1] for row in texts(table)] == ["8.00", "2.00", "", "4.00"]
    assert texts(table)[-1][0] == "geometric mean of 2"


def test_lower_is_better_where_asked(published):
    columns = [
        {"name": m, "method": m, "quantity": "cmll", "rank": "r", "lower": True} for m in "ab"
    ]
    table = make("compare", scores_of(COMPARE_SCORES), published, columns=columns)
    assert bold(table)[0] == [False, False, True]


def test_numbers_of_other_studies_stay_out(published):
    table = make("compare", scores_of(COMPARE_SCORES, "other"), published, **COMPARE)
    assert table.body == ()
    assert EMPTY_NOTE in to_markdown(table)


def test_scores_read_back_from_csv_have_the_empty_variant(published):
    text = scores_of(COMPARE_SCORES).to_csv(index=False)
    again = pd.read_csv(io.StringIO(text))
    table = make("compare", again, published, **COMPARE)
    assert table == make("compare", scores_of(COMPARE_SCORES), published, **COMPARE)


def test_stale_numbers_carry_a_dagger(published):
    stale = {("nltcs", "a")}
    table = make("compare", scores_of(COMPARE_SCORES), published, stale, **COMPARE)
    marked = [[cell.stale for cell in row.cells] for row in table.body]
    assert marked == [
        [False, True, False, False, True],
        [False] * 5,
        [False] * 5,
        [False, True, False, False, False],
    ]
    assert "**-5.209 ± 0.012**†" in to_markdown(table)
    assert STALE_NOTE in table.notes
    assert [row["stale"] for row in parsed(table)] == ["yes", "", ""]
    assert mark_stale(table, set()).body[0].cells[1].stale is False


@pytest.mark.parametrize("method", ["a", "b"])
def test_a_difference_is_stale_if_either_of_its_numbers_is(published, method):
    columns = [
        *({"name": m, "method": m, "quantity": "cmll"} for m in "ab"),
        {"name": "d", "minus": ["a", "b"], "decimals": 2},
    ]
    scores = [("nltcs", m, "", "cmll", -1.0) for m in "ab"]
    table = make("compare", scores_of(scores), published, {("nltcs", method)}, columns=columns)
    own = [False, method == "a", method == "b", True]
    assert [cell.stale for cell in table.body[0].cells] == own
