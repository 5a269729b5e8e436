"""Tables over samples of datasets, of invented scores: means over folds, units, learning times."""

from made_tables import made_by, parsed, scores_of, texts
from mnlearn_studies.datasets.sample_names import base_of, list_means
from mnlearn_studies.records.gather import with_means
from mnlearn_studies.report import tables
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.tables.of_lem import Times, Units
from mnlearn_studies.study.definition import Study

LABELS = {"alarm": "Alarm", "msnbc": "MSNBC", "traffic": "Traffic"}


def make(kind, rows, published, stale=frozenset(), **options):
    scores = with_means(scores_of(rows))
    product = {"name": "t", "kind": kind, "caption": "C.", **options}
    content = {
        "datasets": ["alarm", "msnbc"],
        "samples": {"sizes": [100, 1000], "folds": 2},
        "unavailable": ["traffic", "temperature"],
        "tables": [product],
    }
    return tables.make_table(
        Material.of(Study("s", content), scores, published, LABELS), product, stale
    )


def folds(base, size, method, quantity, *values):
    return [(f"{base}-n{size}-f{k}", method, "", quantity, value) for k, value in enumerate(values)]


def test_a_row_of_means_has_its_spread_and_is_stale_if_a_fold_is(published):
    rows = [
        *folds("msnbc", 100, "lem", "ll", -6.0, -7.0),
        *folds("msnbc", 1000, "lem", "ll", -5, -5),
    ]
    options = {
        "columns": [
            {"name": "lem", "method": "lem", "quantity": "ll", "stderr": True, "decimals": 2}
        ],
        "datasets": ["msnbc-n100", "msnbc-n1000"],
    }
    table = make("compare", rows, published, {("msnbc-n100-f1", "lem")}, **options)
    assert texts(table) == [["MSNBC, 100", "-6.50 ± 0.50"], ["MSNBC, 1,000", "-5.00 ± 0.00"]]
    assert [row.cells[1].stale for row in table.body] == [True, False]


def of_samples(kind, rows, published, stale=frozenset(), **options):
    """Return the table of a kind of the study, with the means over folds marked as samples."""
    scores = with_means(scores_of(rows))
    marked = stale | {(of, m) for d, m in stale for of in (*list_means([d]), base_of(d))}
    return made_by(kind, scores, published, marked, labels=LABELS, **options)


def test_units_count_the_points_inside_the_published_axis(published):
    # Alarm: -30 to -14, MSNBC: -4.4 to -3; -12 nats are -17.3 bits and -3 nats -4.33 bits.
    rows = [
        *folds("alarm", 100, "lem_paper", "ll", -12.0, -12.0),
        *folds("alarm", 1000, "lem_paper", "ll", -9.0, -10.0),
        *folds("msnbc", 100, "lem_paper", "ll", -3.0, -3.0),
        *folds("msnbc", 1000, "lem_paper", "ll", -6.0, -6.0),
    ]
    table = of_samples(Units, rows, published)
    assert texts(table)[0] == [
        *("Alarm", "-30", "-14", "2", "-12.0 to -9.5", "0", "-17.3 to -13.7", "1"),
    ]
    by_name = {row["dataset"]: row for row in parsed(table)}
    assert (by_name["msnbc"]["inside_nats"], by_name["msnbc"]["inside_bits"]) == ("1", "1")
    assert texts(table)[1][:4] == ["Traffic", "-65", "-25", "not available"]


def test_means_are_stale_if_a_sample_is(published):
    rows = [
        *folds("alarm", 100, "lem_paper", "ll", -12.0, -12.0),
        *folds("alarm", 100, "dl", "ll_beliefs", -12.0, -12.0),
        *folds("msnbc", 100, "lem_paper", "ll", -3.0, -3.0),
    ]
    for method in ("lem_paper", "dl"):
        stale = {("alarm-n100-f0", method)}
        table = of_samples(Units, rows, published, stale)
        by_name = {row.cells[0].value: row.cells for row in table.body}
        assert [cell.stale for cell in by_name["alarm"]] == [False] * 3 + [True] * 5
        assert not any(cell.stale for cell in by_name["msnbc"])
    rows = [
        *folds("alarm", 10000, "lem_paper", "n_vars", 148.0, 148.0),
        ("alarm-n10000-f0", "lem_paper", "", "seconds_learn", 6.0),
    ]
    stale = {("alarm-n10000-f0", "lem_paper")}
    table = of_samples(Times, rows, published, stale)
    alarm = next(row.cells for row in table.body if row.cells[0].value == "alarm")
    assert [cell.value for cell in alarm if cell.stale] == [6.0, 910.0]


def test_times_stand_beside_published_minutes(published):
    rows = [
        *folds("alarm", 10000, "lem_paper", "n_vars", 148.0, 148.0),
        ("alarm-n10000-f0", "lem_paper", "", "seconds_learn", 6.0),
        ("alarm-n10000-f0", "dl", "", "seconds_learn", 36.0),
        # Another size, which the table does not show.
        ("alarm-n1000-f0", "dl", "", "seconds_learn", 99.0),
    ]
    table = of_samples(Times, rows, published)
    by_name = {row[0]: row[1:] for row in texts(table)}
    assert by_name["Alarm"] == [
        *("148", "148", "60", "14", "91", "36.0", "", "6.00", "100", "", "910"),
    ]
    assert by_name["Traffic"] == [
        *("128", "not available", "1440 (limit)", "2", "691", *[""] * 6),
    ]
    row = next(row for row in parsed(table) if row["dataset"] == "alarm")
    assert (row["dl_minutes_published"], row["lem_paper_seconds"]) == ("60.0", "6.0")
    assert row["lem_paper_published_over_ours"] == "910.0"
    assert "Traffic, temperature: the data are not at hand." in table.notes
    assert any("1,440 minutes" in note for note in table.notes)
