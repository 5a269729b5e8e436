"""Options of tables, figures and claims: wrong ones are refused with their place."""

import copy

import pytest

from made_figures import BY_KIND, material
from made_tables import COMPARE, COMPARE_SCORES, make, scores_of
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import registry_path
from mnlearn_studies.report.all_products import check_products
from mnlearn_studies.report.figures import draw
from mnlearn_studies.study.mentions import check_methods
from workflow_tree import TINY

STUDIES = sorted(p.stem for p in (registry_path().parent / "studies").glob("*.yaml"))
FIRST = {"name": "first", "method": "a", "quantity": "cmll"}
RATIO = {"name": "ratio", "over": ["first", "first"]}
MINUS = {"name": "less", "minus": ["first", "ratio"]}


@pytest.mark.parametrize("name", STUDIES)
def test_the_options_of_the_studies_of_papers_are_known(name):
    check_products(name)


@pytest.mark.parametrize("kind", list(BY_KIND))
def test_no_figure_takes_an_option_that_its_kind_does_not_read(kind, tmp_path):
    with pytest.raises(InputError, match=r"^study s, figure f\d+: no option 'captoin'; did you"):
        draw(material(tmp_path), {**BY_KIND[kind], "captoin": "x"})


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        ("compare", {**COMPARE, "decimal": 1}, ": no option 'decimal'; did you mean 'decimals'?"),
        ("compare", {"columns": [{**FIRST, "haed": "A"}]}, ", column first: no option 'haed'; did"),
        ("compare", {}, ": expected the key 'columns'."),
        ("compare", {"columns": []}, ", columns: expected a list of mappings, got []."),
        ("compare", {**COMPARE, "tests": [["a"]]}, ", tests: expected a list of pairs of names, "),
        (
            "compare",
            {**COMPARE, "decimals": "three"},
            ", decimals: expected a whole number from 0 ",
        ),
        (
            "compare",
            {"columns": [{**FIRST, "decimals": True}]},
            ", column first, decimals: expected a whole number from 0 to 15, got True.",
        ),
        (
            "compare",
            {"columns": [FIRST, {**RATIO, "over": ["first"]}]},
            ", column ratio, over: expected a list of two names, got ['first'].",
        ),
        (
            "compare",
            {"columns": [FIRST, MINUS, RATIO]},
            ", column less, minus: expected columns of numbers or columns that are computed before "
            "it, got 'ratio'.",
        ),
        (
            "compare",
            {"columns": [FIRST, {**RATIO, "minus": ["first", "first"]}]},
            ", column ratio: expected one of minus, over, percent_less, got minus and",
        ),
        (
            "compare",
            {"columns": [{**FIRST, "significant": True, "stderr": True}]},
            ", column first, significant: expected decimals in a column with 'stderr'.",
        ),
        (
            "compare",
            {"columns": [FIRST, RATIO, {**MINUS, "significant": True}]},
            ", column less, significant: expected decimals in a column with 'minus'.",
        ),
        (
            "compare",
            {"columns": [{**FIRST, "study": "gssl"}]},
            ", column first: expected the key 't",
        ),
        (
            "compare",
            {
                "columns": [FIRST, {**RATIO, "over": ["first", "first"]}],
                "published": {"study": "gssl", "table": 2},
            },
            ": expected the key 'method' in each column.",
        ),
        (
            "compare",
            {"columns": [FIRST], "published": {"study": "gssl"}},
            ", published: expected th",
        ),
        ("ranks", {"columns": [FIRST]}, ", columns: expected a list of 3 mappings or more, got"),
        ("ranks", {"columns": 3 * [FIRST]}, ", column first: expected the key 'head'."),
        (
            "datasets",
            {"published": [{"study": "gssl"}]},
            ", published 1: expected the key 'table'.",
        ),
        ("gssl.effects", {"method": "a"}, ": no option 'method'; expected one of name, kind, cap"),
        ("compare", {"columns": [FIRST], "datasets": ["A"]}, ", dataset 1: expected a name of lo"),
    ],
)
def test_wrong_options_of_tables(published, kind, options, sentence):
    with pytest.raises(InputError) as caught:
        make(kind, scores_of(COMPARE_SCORES), published, **options)
    assert str(caught.value).startswith(f"study s, table t{sentence}")


@pytest.mark.parametrize(
    ("kind", "way", "value", "sentence"),
    [
        ("pareto", ("series", 0, "score"), None, ", series dtsl: expected the key 'score'."),
        ("query_curves", ("log",), 1, ", log: expected true or false, got 1."),
        ("query_curves", ("series", 0, "head"), None, ", series 1: expected the key 'head'."),
        ("scatter", ("x", "study"), "gssl", ", x: expected the key 'table'."),
        ("scatter", ("x", "metod"), "a", ", x: no option 'metod'; did you mean 'method'?"),
        (
            "differences",
            ("panels", 0, "reference"),
            "a",
            ", panel 1, reference: expected a mapping",
        ),
        ("structure", ("dataset",), None, ": expected the key 'dataset'."),
        ("growth", ("powers",), [10**400], ", powers: expected a list of numbers, got [1000000"),
    ],
)
def test_wrong_options_of_figures(tmp_path, kind, way, value, sentence):
    product = copy.deepcopy(BY_KIND[kind])
    *before, last = way
    place = product
    for step in before:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    with pytest.raises(InputError) as caught:
        draw(material(tmp_path), product)
    assert str(caught.value).startswith(f"study s, figure {product['name']}{sentence}")


@pytest.mark.parametrize("key", ["dataset", "method"])
def test_a_structure_is_of_a_dataset_and_a_method(key):
    """The workflow reads both before anything is drawn."""
    figure = {"name": "f", "kind": "structure", "dataset": "triples", "method": "dtsl"}
    check_methods("s", {**TINY, "figures": [figure]})
    del figure[key]
    with pytest.raises(InputError, match=rf"^study s, figure f: expected the key '{key}'\.$"):
        check_methods("s", {**TINY, "figures": [figure]})


def test_a_structure_is_of_a_dataset_of_the_study():
    figure = {"name": "f", "kind": "structure", "dataset": "trples-n60-f0", "method": "dtsl"}
    said = r"^study s, figure f: no dataset 'trples'; did you mean 'triples'\?$"
    with pytest.raises(InputError, match=said):
        check_methods("s", {**TINY, "figures": [figure]})
