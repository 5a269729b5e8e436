"""The jobs that share out the learning of a cell, as a plan, without running it."""

import pytest

from made_study import claim, make_plan
from mnlearn.learning.learner import VARIABLES
from mnlearn_studies.plan.resources import UNKNOWN_MIB, UNKNOWN_MINUTES, Cost, JobResources
from mnlearn_studies.records.kinds.parts import parts_of
from mnlearn_studies.records.record import Record

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


def models_of(method):
    return Record("models", "s", "ad", (method,))


def parts_before(folder, method, n, before=None):
    """Return the parts of the learning of a method, as `round-number-of`."""
    plan = make_plan(folder, CONTENT, n_parts=n)
    parts = parts_of(plan, models_of(method), before)
    record = parts[-1] if before is None and parts else None
    if record is not None:
        assert plan.job(models_of(method)).paths("parts") == [plan.path(part) for part in parts]
        assert plan.recipe(record) == plan.recipe(models_of(method))
    return ["-".join(part.names[1:]) for part in parts]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("atomic", []),
        ("trees", ["variables-1-3", "variables-2-3", "variables-3-3"]),
        ("single", ["variables-1-3", "variables-2-3", "variables-3-3"]),
        (
            "dtsl",
            ["variables-1-3", "variables-2-3", "variables-3-3", "stage1-1-2", "stage1-2-2"],
        ),
        ("gssl", ["stage0-1-2", "stage0-2-2"]),
        ("given", []),
    ],
)
def test_parts_of_each_method(tmp_path, method, expected):
    assert parts_before(tmp_path, method, 3) == expected
    assert parts_before(tmp_path, method, 1) == []


def test_a_round_waits_for_those_before_it(tmp_path):
    assert parts_before(tmp_path, "dtsl", 2, before=VARIABLES) == []
    assert parts_before(tmp_path, "dtsl", 2, before="stage1") == ["variables-1-2", "variables-2-2"]
    plan = make_plan(tmp_path, CONTENT, n_parts=2)
    part = Record("parts", "s", "ad", ("dtsl", "stage1", "1", "2"))
    assert [path.name.split("@")[0] for path in plan.job(part).paths("parts")] == [
        "dtsl-variables-1-2",
        "dtsl-variables-2-2",
    ]


def test_current_models_have_no_parts(tmp_path):
    plan = make_plan(tmp_path, CONTENT)
    claim(plan, models_of("trees"))
    assert parts_before(tmp_path, "trees", 3) == []
    folder = plan.path(models_of("trees")).parent
    folder.rename(folder.with_name("trees@0"))
    assert len(parts_before(tmp_path, "trees", 3)) == 3


def test_what_parts_ask_for(tmp_path):
    """A part asks for what the whole learning asks for."""
    million = {"seconds_learn": Cost(1.0, 1000.0), "mib_learn": Cost(1.0, 2000.0)}
    jobs = JobResources(
        make_plan(tmp_path, CONTENT, n_parts=4), {("dtsl", q): cost for q, cost in million.items()}
    )
    models = models_of("dtsl")
    assert jobs.mib(models) > 2000
    for round_name, of in ((VARIABLES, 4), ("stage1", 2)):
        part = Record("parts", "s", "ad", ("dtsl", round_name, "1", str(of)))
        for asked in (jobs.mib, jobs.minutes, jobs.priority):
            assert asked(part) == asked(models)
    unknown = Record("parts", "s", "ad", ("gssl", "stage0", "1", "2"))
    assert (jobs.mib(unknown), jobs.minutes(unknown)) == (UNKNOWN_MIB, UNKNOWN_MINUTES)
