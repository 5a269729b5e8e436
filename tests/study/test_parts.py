"""The jobs that share out the learning of a cell, as a plan, without running it."""

import math

import pytest
from mnlearn_studies.plan.parts import Parts

from mnlearn.learning.rounds import VARIABLES, Round
from mnlearn.runtime.files import write_json
from mnlearn_studies.plan.costs import Law
from mnlearn_studies.plan.planning import Plan, Record
from mnlearn_studies.plan.resources import UNKNOWN_MIB, UNKNOWN_MINUTES, JobResources
from mnlearn_studies.study.definition import Study

CONTENT = {
    "datasets": ["ad"],
    "methods": {
        "atomic": {},
        "trees": {"learner": "dn_tree", "grid": {"kappa": [0.1, 1.0]}},
        "dtsl": {"grid": {"kappa": [0.1, 1.0], "feature_mode": ["default", "prune"], "sd": [1]}},
        "single": {"learner": "dtsl", "grid": {"feature_mode": ["default"], "sd": [1, 10]}},
        "gssl": {"grid": {"initial": ["positive", "full"], "n_generated": [10, 20]}},
        "given": {"learner": "dn2mn", "network": "trees", "grid": {"orders": ["rotations"]}},
    },
    "cmll": {"groups": 2, "partitions": {"default": 1, "exceptions": {}}, "inference": {}},
    "figures": [],
}


def plan(folder):
    studies = {"s": Study("s", CONTENT)}
    return Plan(studies=studies, running=["s"], results=folder, seed=20, local={})


def cell(method):
    return Record("models", "s", "ad", (method,))


def names(folder, method, n, before=None):
    files = Parts(plan(folder), n).files(cell(method), before)
    place = f"{folder}/s/parts/ad/{method}/"
    assert all(path.startswith(place) for path in files)
    return [path.removeprefix(place).removesuffix(".json") for path in files]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("atomic", []),
        ("trees", ["variables-1-of-3", "variables-2-of-3", "variables-3-of-3"]),
        ("single", ["variables-1-of-3", "variables-2-of-3", "variables-3-of-3"]),
        (
            "dtsl",
            [
                *("variables-1-of-3", "variables-2-of-3", "variables-3-of-3"),
                *("stage1-1-of-2", "stage1-2-of-2"),
            ],
        ),
        ("gssl", ["stage0-1-of-2", "stage0-2-of-2"]),
        ("given", []),
    ],
)
def test_parts_of_each_method(tmp_path, method, expected):
    assert names(tmp_path, method, 3) == expected
    assert names(tmp_path, method, 1) == []


def test_a_round_waits_for_those_before_it(tmp_path):
    assert names(tmp_path, "dtsl", 2, before=VARIABLES) == []
    assert names(tmp_path, "dtsl", 2, before="stage1") == ["variables-1-of-2", "variables-2-of-2"]


def test_a_current_cell_has_no_parts(tmp_path):
    record = cell("trees")
    write_json(tmp_path / record.path, {"recipe": plan(tmp_path).recipe(record)})
    assert names(tmp_path, "trees", 3) == []
    write_json(tmp_path / record.path, {"recipe": {}})
    assert len(names(tmp_path, "trees", 3)) == 3


def law(cost, margin):
    """Return the law of a cost that does not depend on the size of the data."""
    return Law(math.log(cost), 0, 0, 0, margin)


def test_what_parts_ask_for(tmp_path):
    """Seconds are those of a grid point; the grid has four."""
    laws = {
        ("", "dtsl", "seconds_learn"): law(6000, 3),
        ("", "dtsl", "mib_learn"): law(8000, 2),
        ("", "dn_tree", "mib_learn"): law(1500, 2),
    }
    jobs, record = JobResources(plan(tmp_path), laws), cell("dtsl")
    variables, weights = Parts(plan(tmp_path), 4).rounds(record)
    assert (variables, weights) == (Round(VARIABLES, like="dn_tree"), Round("stage1", 1, 2))
    assert jobs.mib(record) == 16400
    # Trees need less memory than the features made of them; a part of the grid needs all of it.
    assert jobs.part_mib(record, variables) == 3400
    assert jobs.part_mib(record, weights) == 16400
    assert jobs.minutes(record) == 1201
    assert [jobs.part_minutes(record, variables, n) for n in (2, 8, 1000)] == [1201, 301, 30]
    assert jobs.part_minutes(record, weights, 2) == 1201
    assert jobs.part_minutes(record, Round("stage1", 1, 8), 8) == 301
    # Nothing is known of trees, or of the method.
    del laws["", "dn_tree", "mib_learn"]
    assert jobs.part_mib(record, variables) == 16400
    assert jobs.part_mib(cell("gssl"), Round("stage0", 0, 2)) == UNKNOWN_MIB
    assert jobs.part_minutes(cell("gssl"), Round("stage0", 0, 2), 2) == UNKNOWN_MINUTES
