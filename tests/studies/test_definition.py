"""Reading a study: names are plain, and a fault is said with its place."""

import copy

import pytest
import yaml

from mnlearn.runtime.errors import InputError
from mnlearn_studies.study.definition import load_study, study_path
from workflow_tree import ROOT, TINY

HOSTILE = "a`touch x`"
NAMES = [HOSTILE, "a b", "a;b", "$(x)", "../a", "-a", "A", "a\n", "é", ""]
WHOLE = {
    **TINY,
    "methods": {
        "atomic": {},
        "dtsl": {
            "learner": "dtsl",
            "datasets": ["triples"],
            "cmll_exceptions": {"triples": "all"},
            "exceptions": {"triples": {"sd": [1]}},
        },
        "based": {"learner": "lw", "network": "dtsl"},
    },
    "timed": ["dtsl"],
    "paired": [["dtsl", "atomic"]],
    "divergences": [["dtsl", "atomic"]],
    "queries": {
        "examples": 2,
        "percentages": [10],
        "methods": ["dtsl"],
        "sampled": {"study": "tiny", "methods": ["atomic"], "examples": 1},
    },
    "cmll": {
        "groups": 4,
        "partitions": {"default": 2, "exceptions": {"triples": 1}},
        "inference": {"method": "gibbs"},
        "tuning_exceptions": {"triples": {"samples": 2}},
        "exceptions": {"triples": {"samples": 2}},
        "also": {
            "mcsat": {
                "inference": {"method": "mcsat"},
                "datasets": ["triples"],
                "methods": ["dtsl"],
            },
        },
    },
    "figures": [{"name": "drawn", "kind": "scatter", "caption": ""}],
    "claims": [
        {"id": 1, "statement": "", "kind": "k", "published": 1, "datasets": ["triples"]},
    ],
}
# Every place of a study in which a name stands: the way to it, the last step of which is a key of
# a mapping (marked by `Key`) or a place whose value is the name.


class Key(str):
    """A key that is itself the name."""


PLACES = [
    ("datasets", 0),
    ("methods", Key("dtsl")),
    ("methods", "dtsl", "learner"),
    ("methods", "dtsl", "datasets", 0),
    ("methods", "dtsl", "cmll_exceptions", Key("triples")),
    ("methods", "dtsl", "exceptions", Key("triples")),
    ("methods", "based", "network"),
    ("timed", 0),
    ("paired", 0, 0),
    ("divergences", 0, 1),
    ("queries", "methods", 0),
    ("queries", "sampled", "study"),
    ("queries", "sampled", "methods", 0),
    ("cmll", "partitions", "exceptions", Key("triples")),
    ("cmll", "tuning_exceptions", Key("triples")),
    ("cmll", "exceptions", Key("triples")),
    ("cmll", "also", Key("mcsat")),
    ("cmll", "also", "mcsat", "datasets", 0),
    ("cmll", "also", "mcsat", "methods", 0),
    ("tables", 0, "name"),
    ("figures", 0, "name"),
    ("claims", 0, "datasets", 0),
]


def renamed(place, name):
    """Return the study with another name at a place."""
    study = copy.deepcopy(WHOLE)
    *way, last = place
    inner = study
    for step in way:
        inner = inner[step]
    if isinstance(last, Key):
        inner[name] = inner.pop(str(last))
    else:
        inner[last] = name
    return study


@pytest.fixture
def write(tmp_path):
    """Write a study into a folder, and return its file."""
    (tmp_path / "studies").mkdir()

    def write(content):
        path = tmp_path / "studies/s.yaml"
        path.write_text(yaml.safe_dump(content, allow_unicode=True))
        return path

    return write


def test_the_study_of_these_tests_is_sound(write):
    assert load_study(write(WHOLE)).methods == ["atomic", "based", "dtsl"]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_every_name_in_a_study_is_plain(write, place):
    for name in NAMES:
        with pytest.raises(InputError, match="expected a name of lower-case letters, digits and _"):
            load_study(write(renamed(place, name)))


def test_networks_that_are_built_on_each_other_are_refused(write):
    methods = {name: {"learner": "lw", "network": other} for name, other in ("ab", "bc", "cb")}
    with pytest.raises(InputError, match=r"methods: the networks of b, c are built on each other"):
        load_study(write({**TINY, "methods": {**TINY["methods"], **methods}}))


def test_a_study_is_one_of_the_folder():
    for name in ("../schemas/study.schema", HOSTILE, "dtsl.yaml"):
        with pytest.raises(InputError, match="expected one of acmn, "):
            study_path(name, ROOT / "workflow")


def with_table(**changes):
    """Return the study with another table, of which the last column is changed."""
    table = TINY["tables"][0]
    columns = [*table["columns"][:-1], {**table["columns"][-1], **changes}]
    return {**TINY, "tables": [{**table, "columns": columns}]}


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        (
            with_table(method="dtls"),
            "table scores, column DTSL: no method 'dtls'; did you mean 'dtsl'",
        ),
        (with_table(method="DTSL"), "column DTSL: no method 'DTSL'; did you mean 'dtsl'"),
        (with_table(method="zzz"), "column DTSL: no method 'zzz'; expected one of atomic, dtsl"),
        (
            {
                **TINY,
                "tables": [{**TINY["tables"][0], "groups": [{"methods": ["dtsl", "atomc"]}]}],
            },
            "study s, table scores, group 1: no method 'atomc'; did you mean 'atomic'",
        ),
        (
            {**TINY, "figures": [{**TINY["figures"][0], "y": {"method": "atomc"}}]},
            "study s, figure beside, y: no method 'atomc'; did you mean 'atomic'",
        ),
        (
            {**TINY, "claims": [{**WHOLE["claims"][0], "a": [{"method": "dtl"}]}]},
            "study s, claim 1, a 1: no method 'dtl'; did you mean 'dtsl'",
        ),
    ],
)
def test_tables_figures_and_claims_name_methods_of_the_study(write, study, sentence):
    with pytest.raises(InputError, match=sentence):
        load_study(write(study))


def test_tables_of_pairs_show_pairs_of_the_study(write):
    table = {
        "name": "pairs",
        "kind": "paired",
        "caption": "",
        "method": "dtsl",
        "against": ["atomic"],
    }
    study = {**TINY, "tables": [*TINY["tables"], table]}
    with pytest.raises(
        InputError, match=r"table pairs: expected \[dtsl, atomic\] under the key pa"
    ):
        load_study(write({**study, "paired": [["atomic", "dtsl"]]}))
    load_study(write({**study, "paired": [["dtsl", "atomic"]]}))


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"timed": ["dtls"]}, "timed"),
        ({"records": {"shares": ["dtls"]}}, "records.shares"),
        ({"paired": [["atomic", "dtls"]]}, "paired"),
        ({"queries": {"examples": 1, "percentages": [10], "methods": ["dtls"]}}, "queries.methods"),
    ],
)
def test_lists_name_methods_of_the_study(write, more, place):
    with pytest.raises(InputError, match=f"study s, {place}: no method 'dtls'; did you mean"):
        load_study(write({**TINY, **more}))


def test_papers_have_methods_of_their_own(write):
    published = {"study": "other", "table": 1, "method": "theirs"}
    assert load_study(write(with_table(**published))).methods == ["atomic", "dtsl"]
