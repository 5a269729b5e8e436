"""Estimated costs beside recorded ones, and what jobs ask for by them."""

import runpy
from collections import defaultdict

import pytest

from made_study import make_plan
from mnlearn.runtime.errors import InputError
from mnlearn_studies.plan.costs import (
    QUANTITIES,
    UNKNOWN_SIZE,
    Law,
    Size,
    dataset_size,
    estimate_cost,
    load_laws,
    n_products,
)
from mnlearn_studies.plan.resources import (
    LEAST_MIB,
    LEAST_MINUTES,
    START_SECONDS,
    UNKNOWN_MIB,
    UNKNOWN_MINUTES,
    JobResources,
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


@pytest.fixture(scope="module")
def recorded(fits):
    """Recorded costs, each with its estimate, by quantity."""
    laws, studies = load_laws(), fits["load_all_studies"]()
    found = defaultdict(list)
    for cost in fits["recorded_costs"]():
        study = studies[cost.study]
        owner = study if cost.method in study.methods else fits["_sampled"](study, studies)
        estimate = estimate_cost(
            laws, owner, cost.method, cost.dataset, quantity=cost.quantity, asking=cost.study
        )
        found[cost.quantity].append((cost, estimate))
    return found


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_no_recorded_job_would_have_been_ended(recorded, quantity):
    assert len(recorded[quantity]) > 50
    over = [(cost, limit) for cost, (_, limit) in spread(recorded[quantity]) if cost.value > limit]
    assert over == [], "if these records are right, run `python workflow/costs.py`"


def spread(pairs):
    return [(cost, (estimate.expected, estimate.limit)) for cost, estimate in pairs]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_estimates_are_within_a_factor_of_three_of_19_in_20_records(recorded, quantity):
    start = START_SECONDS if quantity.startswith("seconds") else 0.0
    ratios = [
        (start + cost.value) / (start + expected)
        for cost, (expected, _) in spread(recorded[quantity])
    ]
    near = [ratio for ratio in ratios if 1 / 3 <= ratio <= 3]
    assert len(near) >= 0.95 * len(ratios), "run `python workflow/costs.py`"


def test_a_law_is_found_again_from_its_costs(fits, monkeypatch):
    sizes = {str(k): Size(1000.0 * k, 20 + (7 * k) % 50, 0.05 + (k % 4) / 10) for k in range(1, 30)}
    monkeypatch.setitem(fits["fit_law"].__globals__, "dataset_size", sizes.__getitem__)
    law = Law(6.0, 0.9, 1.7, 0.4, 2.0)
    costs = [
        fits["RecordedCost"]("s", "m", "l", name, "seconds_learn", 10 * law(size), 10)
        for name, size in sizes.items()
    ]
    found = fits["fit_law"](costs, (1.0, 1.5, 0.5))
    for size in sizes.values():
        assert found(size) == pytest.approx(law(size), rel=0.05)
    assert found.margin == 2.0


def test_a_law_is_one_at_an_ordinary_size():
    law = Law(0.0, 1.0, 2.0, 0.5, 2.0)
    assert law(Size(10_000, 100, 0.1)) == pytest.approx(1.0)
    assert law(Size(20_000, 300, 0.4)) == pytest.approx(2 * 9 * 2)


def test_datasets_have_sizes():
    assert dataset_size("nltcs") == Size(16181, 16, 0.332)
    assert dataset_size("grid").n_vars == 16
    assert dataset_size("mine") == UNKNOWN_SIZE


def test_a_grid_is_counted_as_one_product():
    assert n_products({}) == 1
    assert n_products({"a": [1, 2], "b": [1, 2, 3]}) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s\tm\tl\tseconds_learn\t1\tx\t1\t1\t1\t2", "line 2: expected numbers"),
        ("s\tm\tl\tseconds_learn\t1\t1\t1e9\t1\t1\t2", "examples: expected a number of at most 10"),
        ("s\tm\tl\tseconds_learn\t1\tnan\t1\t1\t1\t2", "constant: expected a number of at most"),
        ("s\tm\tl\tseconds\t1\t1\t1\t1\t1\t2", "line 2, quantity: expected one of seconds_learn"),
        ("s\tm", "line 2: expected 10"),
    ],
)
def test_a_fault_in_the_laws_is_named(tmp_path, text, message):
    path = tmp_path / "costs.tsv"
    head = (ROOT / "workflow/costs.tsv").read_text().splitlines()[0]
    path.write_text(f"{head}\n{text}\n")
    with pytest.raises(InputError, match=message):
        load_laws(path)


def resources(folder, content=CONTENT):
    return JobResources(make_plan(folder, content), load_laws())


def test_longer_chains_come_first_and_what_is_learned_is_scored_at_once(tmp_path):
    jobs = resources(tmp_path)

    def priority(kind, *names):
        return jobs.priority(Record(kind, "s", "grid", names))

    models = [priority("models", method) for method in CONTENT["methods"]]
    assert priority("models", "trees") > priority("models", "weights")
    for kind in ("data", "partitions"):
        assert priority(kind) > max(models)
    assert min(priority("cells", method) for method in CONTENT["methods"]) > priority("data")
    assert priority("cells", "atomic") > max(models)
    # What runs alone comes last.
    assert priority("times", "atomic") < min(models)


def test_a_larger_grid_takes_longer(tmp_path):
    methods = {**CONTENT["methods"], "dtsl": {"grid": {"kappa": [0.1], "sd": [1]}}}
    cell = Record("models", "s", "grid", ("dtsl",))
    small = resources(tmp_path, {**CONTENT, "methods": methods}).seconds(cell)
    large = resources(tmp_path).seconds(cell)
    assert large - START_SECONDS == pytest.approx(6 * (small - START_SECONDS))


def test_what_jobs_ask_for(tmp_path):
    content = {**CONTENT, "datasets": ["grid", "book"]}
    jobs = resources(tmp_path, content)
    small = Record("models", "s", "grid", ("atomic",))
    assert (jobs.minutes(small), jobs.mib(small)) == (LEAST_MINUTES, LEAST_MIB)
    large = Record("models", "s", "book", ("weights",))
    assert jobs.mib(large) > LEAST_MIB
    assert jobs.minutes(large) * 60 > 2 * jobs.seconds(large)
    unknown = Record("exports", "s", "grid", ("dtsl",))
    assert (jobs.minutes(unknown), jobs.mib(unknown)) == (UNKNOWN_MINUTES, UNKNOWN_MIB)
