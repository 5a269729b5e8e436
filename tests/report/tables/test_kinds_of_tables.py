"""Tables of variants, effects, values and datasets."""

import pytest

from made_tables import LABELS, bold, made_by, make, parsed, scores_of, texts
from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.tables.of_gssl import (
    CmllByValue,
    Effects,
    Value,
)

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


OF_DTSL = {"method": "dtsl", "variants": ["default", "prune"]}


def test_variants_are_averaged_and_counted(published):
    table = make("variants", scores_of(VARIANT_SCORES), published, **OF_DTSL)
    assert texts(table) == [
        ["default", "-5.550", "1", "-5.250", "1", "1", "20", "4.00"],
        ["prune", "-5.500", "2", "-5.250", "1", "1", "40", "3.00"],
    ]
    assert bold(table)[0][1:5] == [False, False, True, True]
    assert bold(table)[1][1:5] == [True, True, True, True]


def test_variants_by_dataset_mark_the_best_and_the_chosen(published):
    table = make("variants_by_dataset", scores_of(VARIANT_SCORES), published, **OF_DTSL)
    assert texts(table) == [
        ["NLTCS", "-5.300", "-5.200*", "prune"],
        ["MSNBC", "-5.800*", "-5.800", "default"],
    ]
    assert bold(table) == [[False, False, True, False], [False, True, True, False]]


SEEDS = [
    ("msnbc", "a_1", "", "pll", -6.0, 0.25),
    ("nltcs", "a_1", "", "pll", -5.0, 0.1),
    ("nltcs", "a_2", "", "pll", -5.2, 0.3),
    ("nltcs", "a_3", "", "pll", -5.4, 0.2),
    ("nltcs", "b_1", "", "pll", -4.0, None),
    ("nltcs", "b_2", "", "pll", -4.0, None),
    ("nltcs", "a_1", "", "ll", -9.0, 0.1),
]
GROUPS = [
    {"head": "A", "methods": ["a_1", "a_2", "a_3"]},
    {"head": "B", "methods": ["b_1", "b_2"]},
]


def test_the_spread_over_methods_stands_beside_the_standard_error(published):
    """A dataset on which one of the methods has a score has no row."""
    scores = scores_of(SEEDS)
    table = make("spread", scores, published, quantity="pll", groups=GROUPS)
    assert texts(table) == [
        ["NLTCS", "A", "3", "-5.2000", "0.2000", "-5.4000", "-5.0000", "0.2000", "1.00"],
        ["NLTCS", "B", "2", "-4.0000", "0.0000", "-4.0000", "-4.0000", "", ""],
    ]
    sd = table.columns.index("sd")
    assert table.body[0].cells[sd].value == pytest.approx(0.2)
    # A record that is stale marks every number that it is part of.
    stale = make(
        "spread", scores, published, quantity="pll", groups=GROUPS, stale={("nltcs", "a_2")}
    )
    assert [cell.stale for cell in stale.body[0].cells] == [False] * 2 + [True] * 7
    assert not any(cell.stale for cell in stale.body[1].cells)


def test_a_spread_of_one_method_is_refused(published):
    groups = [{"head": "A", "methods": ["a_1"]}]
    with pytest.raises(InputError, match=r"methods: expected a list of 2 names or more"):
        make("spread", scores_of(SEEDS), published, quantity="pll", groups=groups)


EFFECTS = (
    Value("size", "small", "0.5 million", ("s1", "s2")),
    Value("size", "large", "5 million", ("l1", "l2")),
    Value("threshold", "high", "2", ("s2", "l2")),
)


def test_effects_are_per_cent_below_the_best_model_of_all(published):
    found = {"nltcs": (-10.0, -8.0, -8.0, -16.0), "msnbc": (-5.5, -5.1, -5.0, -6.0)}
    rows = [
        (dataset, "gssl", variant, "validation", value)
        for dataset, values in found.items()
        for variant, value in zip(("s1", "s2", "l1", "l2"), values, strict=True)
    ]
    incomplete = [("msweb", "gssl", "s1", "validation", -3.0)]
    stale = {("msnbc", "gssl")}
    scores = scores_of(rows + incomplete)
    table = made_by(Effects, scores, published, stale, values=EFFECTS)
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
    scores = scores_of(rows + only_chosen)
    table = made_by(CmllByValue, scores, published, values=EFFECTS)
    assert texts(table) == [["NLTCS", "-5.20", "-5.30", "-5.20", "-5.30", "-5.175"]]
    assert bold(table) == [[False, True, False, True, False, False]]
    assert table.columns == ("dataset", "chosen", "small", "large", "high", "published")


def test_ours_and_published_numbers_of_compared_columns_may_be_equal(published):
    """Round numbers of ours as the paper prints them."""
    generated = {"nltcs": 2958, "msnbc": 24532}
    rows = [(d, "dtsl", "", "n_features_generated", v) for d, v in generated.items()]
    columns = [
        {"name": "ours", "method": "dtsl", "quantity": "n_features_generated"},
        {"name": "theirs", "study": "gssl", "table": 4, "method": "dtsl",
         "quantity": "n_features_generated"},
        {"name": "difference", "minus": ["ours", "theirs"]},
    ]  # fmt: skip
    options = {"columns": columns, "decimals": 0, "matches": [["ours", "theirs"]]}
    table = make("compare", scores_of(rows), published, **options)
    assert [row[-1] for row in texts(table)] == ["+0", "+2"]
    assert table.notes == ("ours: ours is equal to the published number on 1 of 2 datasets.",)
    assert [row["difference"] for row in parsed(table)] == ["0", "2"]
    with pytest.raises(InputError, match="study s, table t: no column is named 'z'"):
        make("compare", scores_of(rows), published, **{**options, "matches": [["ours", "z"]]})


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
