"""Which records a run makes, without running it."""

import os
from pathlib import Path

import pytest
from mnlearn_studies.plan.recipes import data_recipe

from mnlearn.runtime.files import read_json, write_json
from mnlearn_studies.plan.planning import Plan, Record
from mnlearn_studies.study.definition import Study

CONTENT = {
    "datasets": ["grid", "triples"],
    "methods": {
        "atomic": {},
        "dtsl": {"grid": {"kappa": [0.1]}},
        "narrow": {"learner": "atomic", "datasets": ["grid"]},
    },
    "cmll": {"groups": 2, "partitions": {"default": 1, "exceptions": {}}, "inference": {}},
    "timed": ["dtsl"],
    "paired": [["dtsl", "atomic"]],
    "figures": [],
}
KINDS = ("cells", "times", "paired")
SCORES = {"variants": {"": {"scores": {"pll": {"mean": -1.5}}}}}


def plan(folder, datasets=(), content=CONTENT, seed=20, **more):
    studies = {"s": Study("s", content)}
    whole = {"studies": studies, "running": ["s"], "results": folder, "seed": seed, "local": {}}
    return Plan(**whole, datasets=datasets, **more)


def record_all(folder):
    """Write records that are current for all that the study asks for."""
    whole = plan(folder)
    for kind in KINDS:
        for record in whole.records("s", kind):
            write_json(folder / record.path, {"recipe": whole.recipe(record), **SCORES})


def keep_examples(folder, method, text):
    """Write the scores by test example of a cell."""
    path = folder / "s/per_example/grid" / f"{method}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def made(a_plan):
    """Return what would be made, as kind, dataset and methods."""
    return {
        (kind, record.dataset, *record.names)
        for kind in KINDS
        for record in a_plan.records("s", kind)
        if not a_plan.is_settled(record)
    }


def test_everything_is_made_where_nothing_is_recorded(tmp_path):
    found = made(plan(tmp_path))
    assert ("cells", "grid", "narrow") in found
    assert ("cells", "triples", "narrow") not in found
    assert ("times", "triples", "dtsl") in found
    assert ("paired", "grid", "dtsl", "atomic") in found
    assert {dataset for _, dataset, *_ in made(plan(tmp_path, ["grid"]))} == {"grid"}


def test_a_record_that_is_asked_for_twice_is_listed_once(tmp_path):
    figure = {"kind": "structure", "dataset": "grid", "method": "dtsl"}
    likelihoods = {"methods": ["dtsl", "atomic"], "timed": ["dtsl"]}
    content = {**CONTENT, "figures": [figure, figure], "likelihoods": likelihoods}
    whole = plan(tmp_path, content=content)
    assert [record.names for record in whole.records("s", "structures")] == [("dtsl",)]
    on_grid = [r.names for r in whole.records("s", "likelihoods") if r.dataset == "grid"]
    assert on_grid == [("dtsl",), ("atomic",)]


def test_current_records_are_used(tmp_path):
    record_all(tmp_path)
    assert made(plan(tmp_path)) == set()
    assert plan(tmp_path).needed_datasets() == []
    again = made(plan(tmp_path, ["grid"], again=True))
    assert {dataset for _, dataset, *_ in again} == {"grid"}
    assert ("cells", "grid", "dtsl") in again


ALSO = {"mcsat": {"inference": {}, "datasets": ["grid"], "methods": ["dtsl"]}}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"cmll": {**CONTENT["cmll"], "also": ALSO}}, "dtsl"),
        ({"methods": {**CONTENT["methods"], "dtsl": {"grid": {"kappa": [0.2]}}}}, "dtsl"),
        ({"cmll": {**CONTENT["cmll"], "groups": 3}}, "all"),
    ],
)
def test_what_has_changed_is_made_again(tmp_path, change, what):
    record_all(tmp_path)
    found = made(plan(tmp_path, ["grid"], {**CONTENT, **change}))
    cells = {methods[0] for kind, _, *methods in found if kind == "cells"}
    # The pair needs the scores by test example of both its methods, which are not kept.
    assert cells == ({"dtsl", "atomic"} if what == "dtsl" else {"dtsl", "atomic", "narrow"})
    assert {dataset for _, dataset, *_ in found} == {"grid"}
    for method in ("dtsl", "atomic"):
        keep_examples(tmp_path, method, "pll\n-1\n-2\n")
    found = made(plan(tmp_path, ["grid"], {**CONTENT, **change}))
    cells = {methods[0] for kind, _, *methods in found if kind == "cells"}
    assert cells == ({"dtsl"} if what == "dtsl" else {"dtsl", "atomic", "narrow"})


def test_another_seed_makes_all_again_and_says_so(tmp_path):
    record_all(tmp_path)
    other = plan(tmp_path, seed=21)
    assert len(made(other)) == len(made(plan(tmp_path / "empty")))
    learned = Record("cells", "s", "grid", ("dtsl",))
    assert other.stale(learned) == ["learning"]
    assert plan(tmp_path).stale(learned) == []


def test_records_of_what_cannot_be_had_are_used(tmp_path):
    record_all(tmp_path)
    other = plan(tmp_path, seed=21, left_out={"grid": "no network"})
    assert {dataset for _, dataset, *_ in made(other)} == {"triples"}
    assert Record("cells", "s", "grid", ("dtsl",)) in other.records("s", "cells")


def test_nothing_is_made_of_what_is_recorded_only(tmp_path):
    record_all(tmp_path)
    (tmp_path / "s/cells/grid/dtsl.json").unlink()
    only = plan(tmp_path, seed=21, recorded=True)
    assert made(only) == set()
    assert Record("cells", "s", "grid", ("dtsl",)) not in only.records("s", "cells")


def test_a_damaged_record_is_made_again(tmp_path):
    record_all(tmp_path)
    (tmp_path / "s/times/grid/dtsl.json").write_text("{")
    assert ("times", "grid", "dtsl") in made(plan(tmp_path))


def test_orders_are_written_when_recipes_change(tmp_path):
    cell = Record("cells", "s", "grid", ("narrow",))
    first = plan(tmp_path).unless_settled(cell, test="t.npz")
    assert first["test"] == "t.npz"
    order = Path(first["order"])
    os.utime(order, (1e9, 1e9))
    plan(tmp_path).unless_settled(cell)
    assert order.stat().st_mtime == 1e9
    plan(tmp_path, seed=21).unless_settled(cell)
    assert order.stat().st_mtime > 1e9


def test_a_stale_record_is_older_than_its_order_wherever_it_came_from(tmp_path):
    """A checkout in git brings an old record with a new time."""
    cell = Record("cells", "s", "grid", ("narrow",))
    order = Path(plan(tmp_path, seed=21).unless_settled(cell)["order"])
    os.utime(order, (1e9, 1e9))
    record_all(tmp_path)
    before = order.read_bytes()
    plan(tmp_path, seed=21).unless_settled(cell)
    assert order.stat().st_mtime_ns >= (tmp_path / cell.path).stat().st_mtime_ns
    # Snakemake takes no order for newer that is the same as before.
    assert order.read_bytes() != before
    assert plan(tmp_path).unless_settled(cell, test="t.npz") == {}


@pytest.mark.parametrize("settings", [{}, {"datasets": ["triples"]}, {"recorded": True}])
def test_a_record_whose_job_was_killed_is_made_again(tmp_path, settings):
    """Snakemake runs the job in any case, and the job needs its inputs."""
    record_all(tmp_path)
    killed = {str(tmp_path / "s/cells/grid/dtsl.json")}
    assert made(plan(tmp_path, was_killed=killed.__contains__, **settings)) == {
        ("cells", "grid", "dtsl")
    }


def test_models_left_half_made_are_made_again(tmp_path):
    """For Snakemake they are a folder, which is there."""
    models = Record("models", "s", "grid", ("narrow",))
    order = Path(plan(tmp_path).unless_settled(models)["order"])
    before = order.read_bytes()
    (tmp_path / models.path).parent.mkdir(parents=True)
    plan(tmp_path).unless_settled(models)
    assert order.read_bytes() != before


def test_models_of_another_study_are_learned_for_its_curves_only(tmp_path):
    queries = {"examples": 1, "percentages": [50], "methods": ["atomic"]}
    sampled = {"study": "s", "methods": ["dtsl"], "examples": 1}
    content = {**CONTENT, "methods": {"atomic": {}}, "timed": [], "paired": []}
    content["queries"] = {**queries, "sampled": sampled}
    studies = {"s": Study("s", CONTENT), "t": Study("t", content)}
    whole = {"studies": studies, "running": ["t"], "results": tmp_path, "seed": 20, "local": {}}
    found = Plan(**whole, datasets=["grid"])
    curves = [record.names for record in found.records("t", "curves")]
    assert curves == [("atomic",), ("dtsl",)]
    assert [found.owner(record) for record in found.records("t", "curves")] == ["t", "s"]
    assert found.needed_datasets() == ["grid"]
    assert found.unless_settled(Record("models", "s", "grid", ("dtsl",)), train="x")["train"] == "x"


def test_tables_mark_the_records_that_they_show(tmp_path):
    record_all(tmp_path)
    pair = Record("paired", "s", "grid", ("dtsl", "atomic"))
    write_json(tmp_path / pair.path, {"recipe": {}})
    found = plan(tmp_path, recorded=True)
    assert found.stale_cells("s", ("cells", "times")) == []
    assert found.stale_cells("s", ("cells", "paired")) == [["grid", "dtsl"], ["grid", "atomic"]]


def test_tables_do_not_mark_what_the_run_makes_again(tmp_path):
    record_all(tmp_path)
    changed = {"methods": {**CONTENT["methods"], "dtsl": {"grid": {"kappa": [0.2]}}}}
    found = plan(tmp_path, ["grid"], {**CONTENT, **changed})
    assert found.stale(Record("cells", "s", "grid", ("dtsl",))) == ["learning"]
    assert found.stale_cells("s", ("cells",)) == [["triples", "dtsl"]]


def test_a_plan_is_of_one_moment(tmp_path):
    record_all(tmp_path)
    cell = Record("cells", "s", "grid", ("narrow",))
    found = plan(tmp_path)
    assert found.is_settled(cell)
    write_json(tmp_path / cell.path, {"recipe": {}})
    assert found.stale(cell) == []
    (tmp_path / cell.path).unlink()
    assert found.is_settled(cell)
    assert not plan(tmp_path).is_settled(cell)


def test_models_whose_job_was_killed_are_made_again(tmp_path):
    """For Snakemake they are a folder."""
    models = Record("models", "s", "grid", ("narrow",))
    write_json(tmp_path / models.path, {"recipe": plan(tmp_path).recipe(models)})
    assert plan(tmp_path).is_settled(models)
    assert models.path == Path("s/models/grid/narrow/tuning.json")
    killed = {str((tmp_path / models.path).parent)}
    assert not plan(tmp_path, was_killed=killed.__contains__).is_settled(models)


def test_a_current_record_that_is_made_again_is_older_than_its_order(tmp_path):
    record_all(tmp_path)
    cell = Record("cells", "s", "grid", ("narrow",))
    numbers = []
    for more in ({"again": True}, {"again": True}, {"again": True, "plans": False}):
        order = Path(plan(tmp_path, **more).unless_settled(cell)["order"])
        numbers.append(read_json(order)["number"])
    # A process that does a job of the run leaves the order as it is.
    assert numbers == [1, 2, 2]


def test_a_dataset_of_no_study_may_be_asked_for(tmp_path):
    found = plan(tmp_path, ["digits", "grid"])
    assert found.all_datasets("s") == ["grid", "triples", "digits"]
    assert [r.dataset for r in found.records("s", "times")] == ["grid", "digits"]


def test_data_are_made_again_for_another_seed(tmp_path):
    orders = [Path(plan(tmp_path, seed=seed).data_order("grid")) for seed in (20, 20, 21)]
    assert orders == 3 * [tmp_path / "orders/data/grid.order"]
    assert read_json(orders[0])["made_by"] == data_recipe("grid", 21, {})


def test_records_are_of_methods_that_are_learned_on_the_dataset(tmp_path):
    """The method `narrow` is learned on grid only; of two folds one is timed."""
    content = {
        **CONTENT,
        "samples": {"sizes": [60], "folds": 2, "timed": {"sizes": [60], "folds": 1}},
        "divergences": [["narrow", "atomic"], ["atomic", "dtsl"]],
        "exports": {"narrow": ["mn"], "dtsl": ["mn"]},
        "likelihoods": {"methods": ["narrow"], "timed": ["dtsl"]},
        "queries": {"methods": ["narrow", "atomic"]},
        "timed": ["narrow"],
        "figures": [
            {"kind": "structure", "dataset": "triples-n60-f0", "method": "dtsl"},
            {"kind": "scatter", "dataset": "grid-n60-f0", "method": "atomic"},
        ],
    }
    whole = plan(tmp_path, content=content)

    def names(kind, dataset):
        return ["-".join(r.names) for r in whole.records("s", kind) if r.dataset == dataset]

    shown = ("divergences", "exports", "likelihoods", "curves", "times", "structures")
    assert {kind: names(kind, "grid-n60-f0") for kind in shown} == {
        "divergences": ["narrow-atomic", "atomic-dtsl"],
        "exports": ["narrow", "dtsl"],
        "likelihoods": ["narrow", "dtsl"],
        "curves": ["narrow", "atomic"],
        "times": ["narrow"],
        "structures": [],
    }
    assert {kind: names(kind, "triples-n60-f0") for kind in shown} == {
        "divergences": ["atomic-dtsl"],
        "exports": ["dtsl"],
        "likelihoods": ["dtsl"],
        "curves": ["atomic"],
        "times": [],
        "structures": ["dtsl"],
    }
    assert {whole.owner(curve) for curve in whole.records("s", "curves")} == {"s"}
    assert names("likelihoods", "grid-n60-f1") == ["narrow"]
    assert names("times", "grid-n60-f1") == []


EVERY_KIND = {
    **CONTENT,
    "divergences": [["atomic", "dtsl"]],
    "exports": {"dtsl": ["mn"]},
    "likelihoods": {"methods": ["dtsl"], "beliefs": {}, "annealing": {}, "queries": {}},
    "queries": {"methods": ["atomic"], "examples": 1, "percentages": [50]},
    "figures": [{"kind": "structure", "dataset": "triples", "method": "dtsl"}],
}
PATHS = (
    *("cells/triples/dtsl.json", "times/triples/dtsl.json", "paired/triples/dtsl-atomic.json"),
    *("curves/triples/atomic.json", "exports/triples/dtsl.json", "structures/triples/dtsl.json"),
    *("divergences/triples/atomic-dtsl.json", "likelihoods/triples/dtsl.json"),
)


@pytest.mark.parametrize("path", PATHS)
def test_a_dataset_is_needed_for_any_kind_of_record(tmp_path, path):
    whole = plan(tmp_path, content=EVERY_KIND)
    for kind in {Path(each).parts[0] for each in PATHS}:
        for record in whole.records("s", kind):
            write_json(tmp_path / record.path, {"recipe": whole.recipe(record), **SCORES})
    assert plan(tmp_path, content=EVERY_KIND).needed_datasets() == []
    (tmp_path / "s" / path).unlink()
    assert plan(tmp_path, content=EVERY_KIND).needed_datasets() == ["triples"]


def test_a_pair_needs_the_scores_of_the_cell(tmp_path):
    """A checkout in git brings new cells, and leaves the scores of old ones."""
    record_all(tmp_path)
    (tmp_path / "s/paired/grid/dtsl-atomic.json").unlink()
    keep_examples(tmp_path, "dtsl", "pll\n-1\n-2\n")
    keep_examples(tmp_path, "atomic", "pll\n-1\n-3\n")
    pair = ("paired", "grid", "dtsl", "atomic")
    assert made(plan(tmp_path)) == {pair, ("cells", "grid", "atomic")}
    keep_examples(tmp_path, "atomic", "pll\n-2\n-1\n")
    assert made(plan(tmp_path)) == {pair}
