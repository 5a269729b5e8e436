"""Estimated costs beside recorded ones, and what jobs ask for by them."""

import runpy
from collections import defaultdict

import pytest

from made_study import make_plan
from mnlearn_studies.plan.resources import (
    LEAST_MIB,
    LEAST_MINUTES,
    QUANTITIES,
    SNAKEMAKE_MIB,
    START_SECONDS,
    UNKNOWN_MIB,
    UNKNOWN_MINUTES,
    UNKNOWN_SIZE,
    Cost,
    JobResources,
    estimate_cost,
    growth,
    load_laws,
)
from mnlearn_studies.records.record import Record
from workflow_tree import ROOT

CONTENT = {
    "datasets": ["grid", "triples"],
    "methods": {
        "trees": {"learner": "dn_tree"},
        "weights": {"learner": "lw", "network": "trees"},
        "atomic": {},
        "dtsl": {"grid": {"kappa": [0.1, 1.0], "sd": [1, 10, 100]}},
    },
    "cmll": {"groups": 2, "partitions": {"default": 1, "exceptions": {}}, "inference": {}},
    "figures": [],
}


@pytest.fixture(scope="module")
def fits():
    return runpy.run_path(str(ROOT / "workflow/costs.py"))


def test_no_recorded_job_would_have_been_ended_and_most_are_near_the_estimate(fits):
    laws, studies = load_laws(), fits["load_all_studies"]()
    ratios = defaultdict(list)
    for cost in fits["recorded_costs"]():
        study = studies[cost.study]
        owner = study if cost.method in study.methods else fits["_sampled"](study, studies)
        usual, most = estimate_cost(laws, owner, cost.method, cost.dataset, cost.quantity)
        assert cost.value <= most, (cost, "if the record is right, run `python workflow/costs.py`")
        start = START_SECONDS if cost.quantity.startswith("seconds") else 0.0
        ratios[cost.quantity].append((start + cost.value) / (start + usual))
    assert set(ratios) == set(QUANTITIES)
    for quantity, found in ratios.items():
        near = [ratio for ratio in found if 0.2 <= ratio <= 5]
        assert len(near) >= 0.85 * len(found) > 40, quantity


def test_costs_are_found_again(fits):
    sizes = {"nltcs": 0.258896, "kdd": 11.525888}
    costs = [
        fits["RecordedCost"]("s", "m", "l", name, "seconds_learn", 20 * factor * size, 10)
        for name, size in sizes.items()
        for factor in (1, 2, 3)
    ]
    (row,) = fits["fit_laws"](costs)
    assert [row[key] for key in ("learner", "quantity", "n_records")] == ["l", "seconds_learn", 6]
    assert (float(row["usual"]), float(row["most"])) == (4.0, 7.5)


def test_costs_grow_with_the_cells():
    assert growth("nltcs", "seconds_score") == 16181 * 16 / 1e6
    assert growth("nltcs", "mib_learn") == pytest.approx((16181 * 16 / 1e6) ** 0.3)
    assert growth("mine", "seconds_learn") == growth("traffic", "seconds_learn") == UNKNOWN_SIZE


def resources(folder, content=CONTENT):
    return JobResources(make_plan(folder, content), load_laws())


def test_what_takes_long_comes_first_and_what_is_learned_is_scored_at_once(tmp_path):
    jobs = resources(tmp_path)

    def priority(kind, *names):
        return jobs.priority(Record(kind, "s", "grid", names))

    models = [priority("models", method) for method in CONTENT["methods"]]
    assert priority("models", "trees") > priority("models", "weights")
    cells = [priority("cells", method) for method in CONTENT["methods"]]
    assert min(priority("data"), priority("partitions")) > max(cells)
    assert min(cells) > max(models)
    # What runs alone comes last.
    assert priority("times", "atomic") < min(models)


def test_a_larger_grid_takes_longer(tmp_path):
    methods = {**CONTENT["methods"], "dtsl": {"grid": {"kappa": [0.1], "sd": [1]}}}
    cell = Record("models", "s", "grid", ("dtsl",))
    small = resources(tmp_path, {**CONTENT, "methods": methods}).seconds(cell)
    large = resources(tmp_path).seconds(cell)
    assert large - START_SECONDS == pytest.approx(6 * (small - START_SECONDS))


def test_what_jobs_ask_for(tmp_path, monkeypatch):
    content = {**CONTENT, "datasets": ["grid", "book"]}
    jobs = resources(tmp_path, content)
    small = Record("models", "s", "grid", ("atomic",))
    assert jobs.minutes(small) == LEAST_MINUTES
    large = Record("models", "s", "book", ("weights",))
    assert jobs.mib(large) > jobs.mib(small) >= LEAST_MIB
    assert jobs.minutes(large) * 60 > 2 * jobs.seconds(large)
    unknown = Record("divergences", "s", "grid", ("dtsl", "atomic"))
    assert (jobs.minutes(unknown), jobs.mib(unknown)) == (UNKNOWN_MINUTES, UNKNOWN_MIB)
    # A job that used little asks for the least; another for what it used and Snakemake needs.
    for used, asked in ((1.0, LEAST_MIB), (2.0 * LEAST_MIB, 2 * LEAST_MIB + SNAKEMAKE_MIB)):
        monkeypatch.setattr(JobResources, "_cost", lambda *_, used=used: Cost(used, used))
        assert jobs.mib(small) == asked
