"""What a run would make, without running it."""

import pytest

from made_study import claim, make_plan
from mnlearn_studies.plan.resources import START_SECONDS, UNKNOWN_MIB, UNKNOWN_SECONDS, JobResources
from mnlearn_studies.records.record import Record
from mnlearn_studies.running.forecast import forecast

CONTENT = {
    "datasets": ["grid", "triples"],
    "methods": {"dn_tree": {}, "dn2mn": {"network": "dn_tree"}},
    "cmll": {"groups": 2, "partitions": {"default": 1, "exceptions": {}}, "inference": {}},
    "timed": ["dn2mn"],
    "paired": [],
    "figures": [],
}


def listed(folder, datasets=()):
    plan = make_plan(folder, CONTENT, datasets)
    jobs = forecast(plan, JobResources(plan, {}))
    return [(job.record.kind, job.record.dataset, *job.record.names) for job in jobs]


def test_models_are_learned_for_what_is_missing(tmp_path):
    assert listed(tmp_path, ["grid"]) == [
        ("models", "grid", "dn_tree"),
        ("models", "grid", "dn2mn"),
        ("cells", "grid", "dn_tree"),
        ("cells", "grid", "dn2mn"),
        ("times", "grid", "dn2mn"),
    ]
    assert len(listed(tmp_path)) == 10
    assert not list(tmp_path.iterdir())


def test_what_is_current_is_not_made(tmp_path):
    plan = make_plan(tmp_path, CONTENT)
    for kind, name in (("cells", "dn2mn"), ("times", "dn2mn"), ("models", "dn_tree")):
        claim(plan, Record(kind, "s", "grid", (name,)))
    # The network is there already; only its score is missing.
    assert listed(tmp_path, ["grid"]) == [("cells", "grid", "dn_tree")]


def test_costs_without_records_are_guesses(tmp_path):
    plan = make_plan(tmp_path, CONTENT, ["grid"])
    jobs = forecast(plan, JobResources(plan, {}))
    assert {job.seconds for job in jobs} == {START_SECONDS + UNKNOWN_SECONDS}
    assert {job.mib for job in jobs} == {UNKNOWN_MIB}
    assert not any(job.is_known for job in jobs)
    assert sum(job.seconds for job in jobs) == pytest.approx(350.0)
