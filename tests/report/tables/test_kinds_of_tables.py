"""Tables of variants, effects, values, times, sizes, datasets and edge limits."""

import pytest

from made_tables import COMPARE_SCORES, LABELS, bold, make, parsed, scores_of, texts
from mnlearn.runtime.errors import InputError

VARIANT_SCORES = [
    (dataset, "dtsl", variant, quantity, value)
    for dataset, variant, values in [
        ("nltcs", "default", (-5.3, -5.0, 10, 3.0, -5.1)),
        ("nltcs", "prune", (-5.2, -4.9, 20, 2.0, -4.8)),
        ("msnbc", "default", (-5.8, -5.5, 30, 5.0, -5.4)),
        ("msnbc", "prune", (-5.8, -5.6, 60, 4.0, -5.5)),
    ]
    for quantity, value in zip(
        ("cmll", "pll", "n_features", "mean_length", "validation"), values, strict=True
    )
]


def test_variants_are_averaged_and_counted(published):
    table = make("variants", scores_of(VARIANT_SCORES), published, method="dtsl")
    assert texts(table) == [
        ["default", "-5.550", "1", "-5.250", "1", "1", "20", "4.00"],
        ["prune", "-5.500", "2", "-5.250", "1", "1", "40", "3.00"],
    ]
    assert bold(table)[0][1:5] == [False, False, True, True]
    assert bold(table)[1][1:5] == [True, True, True, True]


def test_variants_by_dataset_mark_the_best_and_the_chosen(published):
    table = make("variants_by_dataset", scores_of(VARIANT_SCORES), published, method="dtsl")
    assert texts(table) == [
        ["NLTCS", "-5.300", "-5.200*", "prune"],
        ["MSNBC", "-5.800*", "-5.800", "default"],
    ]
    assert bold(table) == [[False, False, True, False], [False, True, True, False]]


EFFECTS = [
    {
        "head": "size",
        "values": [
            {"name": "small", "head": "0.5 million", "variants": ["s1", "s2"]},
            {"name": "large", "head": "5 million", "variants": ["l1", "l2"]},
        ],
    },
    {"head": "threshold", "values": [{"name": "high", "head": "2", "variants": ["s2", "l2"]}]},
]


def test_effects_are_per_cent_below_the_best_model_of_all(published):
    found = {"nltcs": (-10.0, -8.0, -8.0, -16.0), "msnbc": (-5.5, -5.1, -5.0, -6.0)}
    rows = [
        (dataset, "gssl", variant, "validation", value)
        for dataset, values in found.items()
        for variant, value in zip(("s1", "s2", "l1", "l2"), values, strict=True)
    ]
    incomplete = [("msweb", "gssl", "s1", "validation", -3.0)]
    stale = {("msnbc", "gssl")}
    table = make(
        "effects", scores_of(rows + incomplete), published, stale, method="gssl", parameters=EFFECTS
    )
    assert texts(table) == [
        ["NLTCS", "best", "best", "best"],
        ["MSNBC", "2.00", "best", "2.00"],
        ["median", "1.00", "0.00", "1.00"],
        ["best on", "1", "2", "1"],
    ]
    assert [float(row["small"]) for row in parsed(table)] == pytest.approx([0.0, 2.0])
    assert table.header[0] == ("", "size", "size", "threshold")
    assert [row.cells[1].stale for row in table.body] == [False, True, True, True]


def test_scores_by_value_are_of_the_models_that_validation_chooses(published):
    rows = [
        ("nltcs", "gssl", variant, quantity, value)
        for quantity, values in {
            "validation": (-10.0, -8.0, -7.5, -16.0),
            "cmll": (-5.0, -5.3, -5.2, -4.0),
        }.items()
        for variant, value in zip(("s1", "s2", "l1", "l2"), values, strict=True)
    ]
    rows.append(("nltcs", "gssl", "", "cmll", -5.2))
    only_chosen = [("msnbc", "gssl", "", "cmll", -5.9), ("msnbc", "gssl", "s1", "validation", -6.0)]
    printed = {"study": "gssl", "table": 2, "method": "gssl"}
    options = {"method": "gssl", "parameters": EFFECTS, "published": printed}
    table = make("scores_by_value", scores_of(rows + only_chosen), published, **options)
    assert texts(table) == [["NLTCS", "-5.20", "-5.30", "-5.20", "-5.30", "-5.175"]]
    assert bold(table) == [[False, True, False, True, False, False]]
    del options["published"]
    alone = make("scores_by_value", scores_of(rows), published, **options)
    assert alone.columns == ("dataset", "chosen", "small", "large", "high")


def test_times_stand_beside_the_published_ones(published):
    steps = ("seconds_structure", "seconds_weights", "seconds_learn")
    rows = [
        (d, "dtsl", "", q, v)
        for d, values in {"nltcs": (0.5, 3.0, 3.5), "msnbc": (6.0, 4.3, 10.3)}.items()
        for q, v in zip(steps, values, strict=True)
    ]
    where = {"study": "gssl", "table": 3, "method": "dtsl"}
    table = make("times", scores_of(rows), published, method="dtsl", published=where)
    nltcs = ["NLTCS", "0.500", "", "3.00", "3.50", "", "", "2", "5", "7", "2.00"]
    assert texts(table)[0] == nltcs
    assert texts(table)[1][-1] == "20.0"
    assert texts(table)[2][0] == "geometric mean of 2"
    assert float(texts(table)[2][-1]) == pytest.approx((2 * 20) ** 0.5, abs=0.01)
    alone = make("times", scores_of(rows), published, method="dtsl")
    assert len(alone.columns) == 7


def test_sizes_tell_exact_matches(published):
    rows = [
        (d, "dtsl", "", q, v)
        for d, values in {"nltcs": (2958, 2185, 6.1), "msnbc": (24532, 21435, 10.3)}.items()
        for q, v in zip(("n_features_generated", "n_features", "mean_length"), values, strict=True)
    ]
    where = {"study": "gssl", "table": 4, "method": "dtsl"}
    table = make("sizes", scores_of(rows), published, method="dtsl", published=where)
    assert [row[-1] for row in texts(table)] == ["=", "+2"]
    assert "1 exact matches of 2" in table.notes[-1]
    assert [row["difference"] for row in parsed(table)] == ["0", "2"]


def test_datasets_stand_beside_the_printed_numbers(published):
    where = {"study": "dn2mn", "table": 3}
    table = make("datasets", scores_of([]), published, published=where)
    nltcs = ["NLTCS", "16,181", "2,157", "3,236", "16", "0.332", "16181", "2157", "3236", "16"]
    assert texts(table)[0] == nltcs
    assert len(texts(table)) == len(LABELS)
    assert table.notes == ("DN2MN Table 3: 12 of 12 published numbers are equal to ours.",)
    assert parsed(table)[1]["n_train"] == "291326"
    altered = published.assign(value=published["value"] + 1)
    table = make("datasets", scores_of([]), altered, published=where)
    assert table.notes == ("DN2MN Table 3: 0 of 12 published numbers are equal to ours.",)
    assert len(make("datasets", scores_of([]), published).columns) == 6


LIMITS = {"method": "acmn", "limits": [10, 100, 1000], "decimals": 2}
LIMIT_SCORES = [
    *(("nltcs", "acmn", k, "ll", v) for k, v in (("10", -6.5), ("100", -6.1), ("1000", -6.0))),
    *(("msnbc", "acmn", k, "ll", v) for k, v in (("10", -5.0), ("100", -3.5), ("1000", -4.0))),
    ("msweb", "acmn", "100", "ll", -9.0),
    ("nltcs", "acmn", "", "chosen_max_edges", 1000.0),
    ("msnbc", "acmn", "", "chosen_max_edges", 100.0),
    ("nltcs", "acmn", "1000", "validation", -7.0),
]


def test_edge_limits_show_what_smaller_limits_lose(published):
    table = make("edge_limits", scores_of(LIMIT_SCORES), published, **LIMITS)
    assert texts(table) == [
        ["NLTCS", "-6.00", "0.10", "0.50", "1,000"],
        ["MSNBC", "-4.00", "-0.50", "1.00", "100"],
        ["MSWeb", "", "", "", ""],
        ["mean of 2", "-5.00", "-0.20", "0.75", ""],
        # Per cent: -12.5 and 1.67; 25 and 8.33.
        ["mean, % of the score", "", "-5.42", "16.67", ""],
    ]
    assert table.header[-1] == ("dataset", "1,000", "100", "10", "chosen")
    first = parsed(table)[0]
    assert (first["1000"], first["chosen"]) == ("-6.0", "1000")
    assert float(first["loss_10"]) == 0.5
    stale = make("edge_limits", scores_of(LIMIT_SCORES), published, {("nltcs", "acmn")}, **LIMITS)
    assert stale.body[0].cells[1].stale


def test_edge_limits_of_another_quantity_or_of_none(published):
    validation = {**LIMITS, "quantity": "validation"}
    table = make("edge_limits", scores_of(LIMIT_SCORES), published, **validation)
    assert texts(table) == [["NLTCS", "-7.00", "", "", "1,000"]]
    assert make("edge_limits", scores_of(COMPARE_SCORES), published, **LIMITS).body == ()
    with pytest.raises(InputError, match="expected the key 'limits'"):
        make("edge_limits", scores_of([]), published, method="acmn")
