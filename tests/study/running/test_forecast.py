"""What a run would make, without running it."""

import pytest

from mnlearn.runtime.files import write_json
from mnlearn_studies.plan.planning import Plan, Record
from mnlearn_studies.plan.resources import START_SECONDS, UNKNOWN_MIB, UNKNOWN_SECONDS, JobResources
from mnlearn_studies.running.forecast import forecast
from mnlearn_studies.study.definition import Study

CONTENT = {
    "datasets": ["grid", "triples"],
    "methods": {"dn_tree": {}, "dn2mn": {"network": "dn_tree"}},
    "cmll": {"groups": 2, "partitions": {"default": 1, "exceptions": {}}, "inference": {}},
    "timed": ["dn2mn"],
    "paired": [],
    "figures": [],
}


def plan_of(folder, datasets=()):
    studies = {"s": Study("s", CONTENT)}
    return Plan(studies=studies, running=["s"], results=folder, seed=1, local={}, datasets=datasets)


def found(folder, datasets=()):
    plan = plan_of(folder, datasets)
    jobs = forecast(plan, JobResources(plan, {}))
    return [(job.record.kind, job.record.dataset, *job.record.names) for job in jobs]


def test_models_are_learned_for_what_is_missing(tmp_path):
    assert found(tmp_path, ["grid"]) == [
        ("models", "grid", "dn_tree"),
        ("models", "grid", "dn2mn"),
        ("cells", "grid", "dn_tree"),
        ("cells", "grid", "dn2mn"),
        ("times", "grid", "dn2mn"),
    ]
    assert len(found(tmp_path)) == 10
    assert not list(tmp_path.iterdir())


def test_what_is_current_is_not_made(tmp_path):
    plan = plan_of(tmp_path)
    for kind, names in (("cells", ("dn2mn",)), ("times", ("dn2mn",)), ("models", ("dn_tree",))):
        record = Record(kind, "s", "grid", names)
        write_json(tmp_path / record.path, {"recipe": plan.recipe(record)})
    # The network is there already; only its score is missing.
    assert found(tmp_path, ["grid"]) == [("cells", "grid", "dn_tree")]


def test_costs_without_records_are_guesses(tmp_path):
    plan = plan_of(tmp_path, ["grid"])
    jobs = forecast(plan, JobResources(plan, {}))
    assert {job.seconds for job in jobs} == {START_SECONDS + UNKNOWN_SECONDS}
    assert {job.mib for job in jobs} == {UNKNOWN_MIB}
    assert not any(job.is_known for job in jobs)
    assert sum(job.seconds for job in jobs) == pytest.approx(350.0)
