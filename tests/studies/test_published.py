"""Published numbers: what is read, what is refused, what they say of themselves."""

import pytest

from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.study.published import COLUMNS, Number, Source, load_published, lookup, paired


def test_published_numbers_keep_their_printed_digits(published):
    found = lookup(published, Source("l1", "cmll", study="gssl", table="2"))["cwebkb"]
    assert (found.printed, found.decimals, found.value) == ("-143.290", 3, -143.29)
    numbers = {"acmn": 36, "dn2mn": 222, "dtsl": 2, "gssl": 706, "later": 180, "lem": 35}
    assert numbers.items() <= published.groupby("study").size().to_dict().items()


def test_published_datasets_are_those_of_the_registry(published):
    benchmarks = published[published["study"].isin(["gssl", "acmn", "dn2mn", "dtsl"])]
    assert set(benchmarks["dataset"]) - {"geometric_mean", "mean"} == set(load_registry())


def test_printed_totals_of_times_add_up(published):
    for method in ("gssl", "l1", "dtsl"):
        parts, whole = ["seconds_structure", "seconds_weights"], "seconds_learn"
        seconds = {
            q: lookup(published, Source(method, q, study="gssl", table="3"))
            for q in [*parts, whole]
        }
        for dataset, total in seconds[whole].items():
            assert sum(seconds[q][dataset].value for q in parts) == total.value


def test_comparison_with_a_printed_number_ignores_what_is_not_printed(published):
    printed = lookup(published, Source("dtsl", "cmll", study="gssl", table="2"))
    ours = {"nltcs": Number(-5.2094)}
    assert paired(ours, printed, ["nltcs", "msnbc"]) == [("nltcs", -5.209, -5.209)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gssl\t2\tnltcs\tgssl\tcmll\tx\t", "line 2, value: expected a number, got 'x'"),
        ("gssl\t2\tnltcs\tgssl\tcmll\tnan\t", "line 2, value: expected a number"),
        ("gssl\t2", "line 2: expected 7 tab-separated values, got 2"),
        ("a\t1\tb\tc\td\t1\t\na\t1\tb\tc\td\t2\t", "line 3: expected each number once"),
    ],
)
def test_a_malformed_file_of_published_numbers_is_refused(tmp_path, line, message):
    path = tmp_path / "published.tsv"
    path.write_text("\t".join(COLUMNS) + "\n" + line + "\n")
    with pytest.raises(InputError, match=message):
        load_published(path)
