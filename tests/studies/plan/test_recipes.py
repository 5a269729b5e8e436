"""What each record depends on: any change of it makes the record stale, and no other record."""

from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest

from made_study import make_plan
from mnlearn_studies.records.kinds import ASKED

GIBBS = {"method": "gibbs", "burn_in": 5, "samples": 20}
STUDY = {
    "datasets": ["grid"],
    "methods": {
        "trees": {"learner": "dn_tree", "grid": {"kappa": [0.1]}},
        "others": {"learner": "dn_tree", "grid": {"kappa": [0.5]}},
        "dtsl": {"grid": {"kappa": [0.1], "sd": [1.0]}, "criterion": "cmll", "cmll": "chosen"},
        "conversion": {"learner": "dn2mn", "network": "trees"},
        "chow_liu": {},
        "acbn": {"grid": {"max_edges": [100]}, "cmll": "all"},
    },
    "cmll": {
        "groups": 2,
        "partitions": {"default": 3, "exceptions": {}},
        "inference": GIBBS,
        "tuning": dict(GIBBS),
    },
    "timed": ["dtsl"],
    "paired": [["dtsl", "trees"]],
    "divergences": [["chow_liu", "acbn"]],
    "queries": {
        "examples": 10,
        "percentages": [10, 50],
        "methods": ["chow_liu"],
        "sampled": {"study": "s", "methods": ["dtsl"], "examples": 5, "beliefs": True},
    },
    "likelihoods": {
        "methods": ["dtsl"], "beliefs": {}, "annealing": {"chains": 3, "samples": 4}, "queries": 5,
    },
    "figures": [
        {"name": "drawn", "kind": "structure", "caption": "", "dataset": "grid", "method": "dtsl"}
    ],
}  # fmt: skip


def recipes(content, seed=20, local=None):
    """Return the recipe of every record that the study asks for, by kind and methods."""
    plan = make_plan(Path("none"), content, seed=seed, local=local or {})
    records = plan.all_records("s")
    digests = {record: plan.path(record).name.rpartition("@")[2] for record in records}
    assert len(set(digests.values())) == len(records)
    return {name_of(record): deepcopy(plan.recipe(record)) for record in records}


def name_of(record):
    return f"{record.kind} {' '.join(record.names)}"


@cache
def before():
    """The recipes of the study; not at the import, which each worker of a run does."""
    return recipes(STUDY)


ALL = set(map(name_of, make_plan(Path("none"), STUDY).all_records("s")))
OF_DTSL = {name for name in ALL if "dtsl" in name}
SCORED = {name for name in ALL if name.startswith(("cells", "paired"))}


def test_every_kind_of_record_is_there():
    assert {name.split()[0] for name in ALL} == set(ASKED)


@pytest.mark.parametrize(
    ("place", "value", "stale"),
    [
        (("methods", "dtsl", "grid", "kappa"), [0.2], OF_DTSL),
        (("methods", "dtsl", "criterion"), "pll", OF_DTSL),
        (("cmll", "tuning", "samples"), 21, OF_DTSL),
        (("methods", "conversion", "network"), "others",
         {"cells conversion"}),
        (("cmll", "inference", "samples"), 21, SCORED | {"curves dtsl"}),
        (("cmll", "groups"), 3, SCORED | OF_DTSL),
        (("cmll", "partitions", "default"), 4, SCORED),
        (("methods", "acbn", "cmll"), "chosen", {"cells acbn"}),
        (("queries", "examples"), 11, {"curves chow_liu", "curves dtsl"}),
        (("queries", "percentages"), [10], {"curves chow_liu", "curves dtsl"}),
        (("queries", "sampled", "beliefs"), False, {"curves dtsl"}),
        (("queries", "sampled", "examples"), 6, {"curves chow_liu", "curves dtsl"}),
        (("likelihoods", "annealing", "samples"), 5, {"likelihoods dtsl"}),
        (("likelihoods", "queries"), 6, {"likelihoods dtsl"}),
        (("divergences",), [["acbn", "chow_liu"]],
         {"divergences chow_liu acbn", "divergences acbn chow_liu"}),
        (("paired",), [["trees", "dtsl"]], {"paired dtsl trees", "paired trees dtsl"}),
    ],
)  # fmt: skip
def test_a_change_makes_stale_what_depends_on_it(place, value, stale):
    content = deepcopy(STUDY)
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    after = recipes(content)
    changed = {name for name in ALL | set(after) if before().get(name) != after.get(name)}
    assert changed == stale


def test_a_pair_in_another_order_is_another_record():
    turned = deepcopy(STUDY)
    turned["divergences"] = [["acbn", "chow_liu"]]
    after = recipes(turned)["divergences acbn chow_liu"]
    first = before()["divergences chow_liu acbn"]
    assert (after["first"], after["second"]) == (first["second"], first["first"])
    assert after["first"] != after["second"]


def test_another_seed_makes_all_stale():
    after = recipes(STUDY, seed=21)
    assert [name for name in ALL if after[name] == before()[name]] == []


def test_an_edited_file_of_ones_own_makes_all_stale(tmp_path):
    rows = "a,b\n" + "0,1\n1,0\n" * 5
    paths = {split: tmp_path / f"{split}.csv" for split in ("train", "valid", "test")}
    for path in paths.values():
        path.write_text(rows)
    local = {"grid": {split: str(path) for split, path in paths.items()}}
    known = recipes(STUDY, local=local)
    assert known == recipes(STUDY, local=local)
    for path in paths.values():
        path.write_text(rows + "1,1\n")
        after = recipes(STUDY, local=local)
        assert [name for name in ALL if after[name] == known[name]] == []
        known = after
