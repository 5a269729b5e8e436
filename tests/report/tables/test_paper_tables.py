"""Tables in the layout of the papers, of invented scores."""

import pytest

from made_tables import LABELS, bold, make, parsed, scores_of, texts
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import load_registry


def test_datasets_beside_several_papers_with_their_origin(published):
    tables_of = [{"study": "dn2mn", "table": 3}, {"study": "gssl", "table": 1}]
    table = make("datasets", scores_of([]), published, published=tables_of, origin=True)
    # Only GSSL has densities.
    assert texts(table)[0][-1] == "0.332"
    assert table.notes[:2] == (
        "DN2MN Table 3: 12 of 12 published numbers are equal to ours.",
        "GSSL Table 1: 15 of 15 published numbers are equal to ours.",
    )
    nltcs = load_registry()["nltcs"]
    assert table.notes[2] == f"NLTCS: {nltcs.domain}. {nltcs.citation}."
    assert len(table.notes) == 2 + len(LABELS)


def test_a_table_shows_the_datasets_it_names(published):
    scores = scores_of([(d, "a", "", "cmll", -1.0) for d in LABELS])
    options = {"columns": [{"name": "a", "method": "a", "quantity": "cmll"}], "mean": ["a"]}
    table = make("compare", scores, published, **options, datasets=["msnbc", "msweb"])
    assert [row[0] for row in texts(table)] == ["MSNBC", "MSWeb", "mean of 2"]
    with pytest.raises(InputError, match="study s, table t, datasets: no 'ad' in the study"):
        make("compare", scores, published, **options, datasets=["ad"])


def test_a_win_is_a_smaller_value_where_lower_is_better(published):
    seconds = {"nltcs": (1.0, 2.0), "msnbc": (30.0, 20.0), "msweb": (1.234, 1.2341)}
    rows = [
        (d, m, "", "seconds", v) for d, of in seconds.items() for m, v in zip("ab", of, strict=True)
    ]
    columns = [
        {"name": m, "method": m, "quantity": "seconds", "rank": "s", "lower": True,
         "significant": True}
        for m in "abc"
    ]  # fmt: skip
    tests = [["a", "b"], ["a", "c"]]
    table = make("compare", scores_of(rows), published, columns=columns, tests=tests)
    # Method c has not been run: its cells are empty, and it is not tested.
    assert texts(table) == [
        ["NLTCS", "1.00", "2.00", ""],
        ["MSNBC", "30.0", "20.0", ""],
        ["MSWeb", "1.23", "1.23", ""],
    ]
    assert [row[1:] for row in bold(table)] == [
        [True, False, False],
        [False, True, False],
        [True, True, False],
    ]
    assert len(table.notes) == 1
    assert table.notes[0].startswith("a against b: 2 wins, 0 ties, 1 loss on 3 datasets")
    table = make("compare", scores_of(rows), published, columns=columns, geometric_mean=["a", "c"])
    assert texts(table)[-1] == ["geometric mean of 3", "3.33", "", ""]


STACKED = {
    "published": {"study": "gssl", "table": 3},
    "columns": [
        {"name": "fg", "head": "FG", "group": "GSSL", "method": "gssl",
         "quantity": "seconds_structure", "significant": True},
        {"name": "gssl", "head": "total", "group": "GSSL", "method": "gssl",
         "quantity": "seconds_learn", "significant": True, "rank": "total", "lower": True},
        {"name": "dtsl", "head": "total", "group": "DTSL", "method": "dtsl",
         "quantity": "seconds_learn", "significant": True, "rank": "total", "lower": True},
        {"name": "share", "head": "rest", "group": "", "method": "gssl",
         "percent_less": ["fg", "gssl"], "published_quantity": "none", "decimals": 1},
    ],
    "geometric_mean": ["gssl", "dtsl"],
    "tests": [["gssl", "dtsl"]],
    "matches": [["fg", "fg"]],
}  # fmt: skip


def test_stacked_rows_have_ours_above_the_published(published):
    values = {
        "nltcs": {("gssl", "seconds_structure"): 5.0, ("gssl", "seconds_learn"): 20.0,
                  ("dtsl", "seconds_learn"): 30.0},
        "msnbc": {("gssl", "seconds_structure"): 6.0, ("gssl", "seconds_learn"): 5.0},
    }  # fmt: skip
    rows = [(d, m, "", q, v) for d, of in values.items() for (m, q), v in of.items()]
    stale = {("nltcs", "gssl")}
    table = make("compare", scores_of(rows), published, stale, **STACKED)
    # The paper has 5 and 74, 5 and 223 for GSSL, and 7 and 206 in total for DTSL.
    assert texts(table) == [
        ["NLTCS", "ours", "5.00", "20.0", "30.0", "75.0"],
        ["NLTCS", "published", "5", "74", "7", ""],
        ["MSNBC", "ours", "6.00", "5.00", "", "-20.0"],
        ["MSNBC", "published", "5", "223", "206", ""],
        ["geometric mean of 1", "ours", "", "20.0", "30.0", ""],
        ["geometric mean of 2", "published", "", "128", "38.0", ""],
    ]
    assert [row[2:] for row in bold(table)][:4] == [
        [False, True, False, False],
        [False, False, True, False],
        [False, False, False, False],
        [False, False, True, False],
    ]
    assert [cell.stale for cell in table.body[0].cells] == [False, False, True, True, False, True]
    assert not any(cell.stale for cell in table.body[1].cells)
    assert table.notes[0].startswith("total (GSSL) against total (DTSL): 1 win")
    assert table.notes[1] == "FG: ours is equal to the published number on 1 of 2 datasets."
    assert [row["numbers"] for row in parsed(table)] == ["ours", "published"] * 2


def test_published_notes_name_the_datasets_together(published):
    columns = [
        {"name": "threshold", "method": "gssl", "quantity": "chosen_threshold",
         "published_quantity": "threshold", "decimals": 0},
    ]  # fmt: skip
    rows = [(d, "gssl", "", "chosen_threshold", 1.0) for d in LABELS]
    where = {"study": "gssl", "table": 5}
    table = make("compare", scores_of(rows), published, columns=columns, published=where)
    assert len(table.notes) == 1
    assert table.notes[0].startswith("MSNBC, MSWeb, threshold 1: a feature is dropped")


def test_the_published_averages_leave_out_the_same_runs(published):
    found = published[published["table"] == "text"].set_index("quantity")["value"]
    name = "mean_seconds_weights"
    by_size = [found[f"{name}_generated_{n}"] for n in (500000, 1000000, 2000000)]
    by_threshold = [found[f"{name}_threshold_{n}"] for n in (1, 2, 5)]
    assert sum(by_size) / 3 == pytest.approx(sum(by_threshold) / 3, abs=0.03)


def test_columns_whose_numbers_have_one_note_share_it(published):
    columns = [
        {"name": m, "study": "later", "table": "ll", "method": m, "quantity": "ll", "head": m}
        for m in ("learnspn", "prometheus")
    ]
    columns.append({"name": "ours", "method": "acmn", "quantity": "ll"})
    rows = [(d, "acmn", "", "ll", -1.0) for d in LABELS]
    table = make("compare", scores_of(rows), published, columns=columns)
    assert len(table.notes) == 1
    assert table.notes[0].startswith("learnspn, prometheus: data of the dissertation")
