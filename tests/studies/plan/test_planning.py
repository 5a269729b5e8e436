"""Which records a run makes, and which it uses, without running it."""

import shutil
from pathlib import Path

import pytest

from made_study import claim, claim_all, make_plan
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json
from mnlearn_studies.plan.configuration import stale_records
from mnlearn_studies.plan.planning import AGAIN
from mnlearn_studies.records.kinds import ASKED, KINDS
from mnlearn_studies.records.making import make_record
from mnlearn_studies.records.record import Record
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
OTHER_TREES = {**CONTENT["methods"], "dtsl": {"grid": {"kappa": [0.2]}}}
CELL = Record("cells", "s", "grid", ("narrow",))
DTSL = Record("cells", "s", "grid", ("dtsl",))


def made(plan):
    """Return the records that would be made, as kind, dataset and methods."""
    return {(record.kind, record.dataset, *record.names) for record in plan.missing("s")}


def claimed(folder, content=CONTENT, **more):
    """Claim all records of the study."""
    claim_all(make_plan(folder, content, **more))


def test_everything_is_made_where_nothing_is_recorded(tmp_path):
    everything = made(make_plan(tmp_path, CONTENT))
    assert ("cells", "grid", "narrow") in everything
    assert ("cells", "triples", "narrow") not in everything
    assert ("times", "triples", "dtsl") in everything
    assert ("paired", "grid", "dtsl", "atomic") in everything
    on_grid = make_plan(tmp_path, CONTENT, ["grid"])
    assert {dataset for _, dataset, *_ in made(on_grid)} == {"grid"}
    # A dataset of no study may be asked for.
    more = make_plan(tmp_path, CONTENT, ["digits", "grid"])
    assert more.all_datasets("s") == ["grid", "triples", "digits"]
    assert [record.dataset for record in more.records("s", "times")] == ["grid", "digits"]


def test_a_record_that_is_asked_for_twice_is_listed_once(tmp_path):
    figure = {"kind": "structure", "dataset": "grid", "method": "dtsl"}
    likelihoods = {"methods": ["dtsl", "atomic"], "timed": ["dtsl"]}
    content = {**CONTENT, "figures": [figure, figure], "likelihoods": likelihoods}
    plan = make_plan(tmp_path, content)
    assert [record.names for record in plan.records("s", "structures")] == [("dtsl",)]
    on_grid = [r.names for r in plan.records("s", "likelihoods") if r.dataset == "grid"]
    assert on_grid == [("dtsl",), ("atomic",)]


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("data", [f"data/grid/{split}@" for split in ("train", "valid", "test")]),
        ("models", ["s/models/grid/m@"]),
        ("cells", [f"s/{place}/grid/m@" for place in ("cells", "tuning", "per_example")]),
    ],
)
def test_a_new_record_takes_the_place_of_the_old_one(tmp_path, monkeypatch, kind, files):
    """Not of what another name begins with, and not before it is there."""
    content = {**CONTENT, "methods": {"m": {"learner": "atomic"}, "m-n": {"learner": "atomic"}}}
    old, new = (make_plan(tmp_path, content, seed=seed) for seed in (20, 21))
    study = "" if kind == "data" else "s"
    names = () if kind == "data" else ("m",)
    record, other = Record(kind, study, "grid", names), Record(kind, study, "grid", ("m-n",))
    for each in (record, other):
        claim(old, each)
    before = set(tmp_path.rglob("*"))
    monkeypatch.setattr(KINDS[kind], "digests", lambda job: {})
    monkeypatch.setattr(KINDS[kind], "make", lambda job: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_record(KINDS[kind], new.job(record))
    assert set(tmp_path.rglob("*")) == before
    monkeypatch.setattr(KINDS[kind], "make", lambda job: claim(new, record))
    make_record(KINDS[kind], new.job(record))
    for file in files:
        (path,) = tmp_path.glob(f"{file}*")
        assert f"@{new.digest(record)}" in path.name
    assert old.path(other).exists() or kind == "data"
    assert make_plan(tmp_path, content, seed=21).versions(record) == [new.path(record)]


def test_a_run_makes_what_is_missing_and_what_this_lacks(tmp_path):
    """A clone has neither data nor models, nor the scores by example of its cells."""
    claimed(tmp_path)
    plan = make_plan(tmp_path, CONTENT)
    assert plan.jobs() == set()
    shutil.rmtree(tmp_path / "s/per_example")
    times = Record("times", "s", "grid", ("dtsl",))
    plan.path(times).unlink()
    grid = Record("data", "", "grid")
    assert make_plan(tmp_path, CONTENT).jobs() == {times, grid}
    claim(plan, times)
    pair = Record("paired", "s", "grid", ("dtsl", "atomic"))
    plan.path(pair).unlink()
    models = {Record("models", "s", "grid", (name,)) for name in pair.names}
    cells = {Record("cells", "s", "grid", (name,)) for name in pair.names}
    also = {grid, Record("partitions", "s", "grid")}
    plan = make_plan(tmp_path, CONTENT)
    assert plan.jobs() == {pair, *cells, *models, *also}
    ordered = plan.in_order([pair])
    assert set(ordered) == plan.jobs()
    assert len(ordered) == len(plan.jobs())
    place = {record: number for number, record in enumerate(ordered)}
    for cell in cells:
        assert place[grid] < place[cell.models] < place[cell] < place[pair]
    for cell in cells:
        claim(plan, cell)
    assert make_plan(tmp_path, CONTENT).jobs() == {pair}


def test_current_records_are_used(tmp_path):
    claimed(tmp_path)
    plan = make_plan(tmp_path, CONTENT)
    assert made(plan) == set()
    assert plan.needed_datasets() == []
    assert plan.used(CELL) == plan.path(CELL)
    plan.forget("s")
    assert made(plan) == made(make_plan(tmp_path / "empty", CONTENT))


def test_again_lets_current_records_count_as_stale(tmp_path):
    """They keep their content until they are made again, also if the run is killed before."""
    claimed(tmp_path)
    make_plan(tmp_path, CONTENT, ["grid"]).set_aside("s", again=True)
    plan = make_plan(tmp_path, CONTENT)
    again = made(plan)
    assert {dataset for _, dataset, *_ in again} == {"grid"}
    assert {kind for kind, *_ in again} == {"cells", "times", "paired"}
    assert plan.versions(DTSL) == [tmp_path / f"s/cells/grid/dtsl@{AGAIN}.json"]
    assert (tmp_path / f"s/per_example/grid/dtsl@{AGAIN}.csv").exists()
    assert plan.stale(DTSL) == ["asked for again"]


ALSO = {"mcsat": {"inference": {}, "datasets": ["grid"], "methods": ["dtsl"]}}


@pytest.mark.parametrize(
    ("change", "cells"),
    [
        ({"cmll": {**CONTENT["cmll"], "also": ALSO}}, {"dtsl"}),
        ({"methods": OTHER_TREES}, {"dtsl"}),
        ({"cmll": {**CONTENT["cmll"], "groups": 3}}, {"dtsl", "atomic", "narrow"}),
    ],
)
def test_what_has_changed_is_made_again(tmp_path, change, cells):
    claimed(tmp_path)
    plan = make_plan(tmp_path, {**CONTENT, **change}, ["grid"])
    again = made(plan)
    assert {methods[0] for kind, _, *methods in again if kind == "cells"} == cells
    assert ("paired", "grid", "dtsl", "atomic") in again
    assert {dataset for _, dataset, *_ in again} == {"grid"}
    # What is stale elsewhere is used as it is, under its old name.
    elsewhere = Record("cells", "s", "triples", ("dtsl",))
    assert plan.used(elsewhere) == make_plan(tmp_path, CONTENT).path(elsewhere)


def test_another_seed_makes_all_again_and_says_so(tmp_path):
    claimed(tmp_path)
    other = make_plan(tmp_path, CONTENT, seed=21)
    assert made(other) == made(make_plan(tmp_path / "empty", CONTENT))
    assert other.stale(DTSL) == ["learning"]
    assert make_plan(tmp_path, CONTENT).stale(DTSL) == []
    grid = Record("data", "", "grid")
    assert other.path(grid) != make_plan(tmp_path, CONTENT).path(grid)


def test_what_has_changed_of_learning_is_listed(tmp_path):
    plan = make_plan(tmp_path, {**CONTENT, "methods": OTHER_TREES}, ["grid"])
    learned = make_plan(tmp_path, CONTENT).recipe(Record("models", "s", "grid", ("dtsl",)))
    content = {"recipe": {**plan.recipe(DTSL), "learning": "other"}, "learned_from": learned}
    write_json(plan.path(DTSL).with_name("dtsl@0.json"), content)
    assert stale_records(plan, "s") == [(DTSL, ["learning (grid)"])]


def test_records_of_what_cannot_be_had_are_used(tmp_path):
    claimed(tmp_path)
    other = make_plan(tmp_path, CONTENT, seed=21, left_out={"grid": "no network"})
    assert {dataset for _, dataset, *_ in made(other)} == {"triples"}
    assert DTSL in other.records("s", "cells")


def test_nothing_is_made_of_what_is_recorded_only(tmp_path):
    claimed(tmp_path)
    make_plan(tmp_path, CONTENT).path(DTSL).unlink()
    only = make_plan(tmp_path, CONTENT, seed=21, recorded=True)
    assert made(only) == set()
    assert DTSL not in only.records("s", "cells")
    assert CELL in only.records("s", "cells")


@pytest.mark.parametrize("text", ["{", "[]", '{"recipe": 3}'])
def test_a_damaged_record_of_another_recipe_is_stale(tmp_path, text):
    claimed(tmp_path)
    path = make_plan(tmp_path, CONTENT).path(CELL)
    path.write_text(text)
    path.rename(path.with_name("narrow@0.json"))
    plan = make_plan(tmp_path, CONTENT)
    assert plan.stale(CELL) == ["no recipe"]
    assert made(plan) == {("cells", "grid", "narrow")}


def test_of_two_versions_the_current_one_counts(tmp_path):
    """A checkout in git can leave both; the next products of the study remove the other one."""
    claimed(tmp_path)
    plan = make_plan(tmp_path, CONTENT)
    current = plan.path(CELL)
    for digest in ("00000001", "ffffffff"):
        write_json(current.with_name(f"narrow@{digest}.json"), {"recipe": {}})
    (tmp_path / "s/per_example/grid/narrow@ffffffff.csv").write_text("pll\n")
    plan = make_plan(tmp_path, CONTENT)
    assert plan.versions(CELL)[0] == current
    assert (made(plan), plan.stale(CELL)) == (set(), [])
    plan.drop_superseded("s")
    assert list(current.parent.glob("narrow@*")) == [current]
    assert list(tmp_path.glob("s/per_example/grid/narrow@*")) == [plan.path(CELL, "per_example")]
    # A stale record is kept until the new one is there.
    current.rename(current.with_name("narrow@0.json"))
    make_plan(tmp_path, CONTENT).drop_superseded("s")
    assert current.with_name("narrow@0.json").exists()


def test_models_left_half_made_are_made(tmp_path):
    """Their record is written last."""
    models = Record("models", "s", "grid", ("narrow",))
    plan = make_plan(tmp_path, CONTENT)
    plan.path(models).parent.mkdir(parents=True)
    (plan.path(models).parent / "chosen.npz").write_text("")
    assert not plan.is_made(models)
    claim(plan, models)
    assert make_plan(tmp_path, CONTENT).is_made(models)
    assert plan.path(models).relative_to(tmp_path).parts[:3] == ("s", "models", "grid")


def test_models_of_another_study_are_learned_for_its_curves_only(tmp_path):
    queries = {"examples": 1, "percentages": [50], "methods": ["atomic"]}
    sampled = {"study": "t", "methods": ["dtsl"], "examples": 1}
    content = {**CONTENT, "methods": {"atomic": {}}, "timed": [], "paired": []}
    content["queries"] = {**queries, "sampled": sampled}
    plan = make_plan(tmp_path, content, ["grid"], studies={"t": Study("t", CONTENT)})
    curves = plan.records("s", "curves")
    assert [record.names for record in curves] == [("atomic",), ("dtsl",)]
    models = [plan.job(record).path("models").relative_to(tmp_path).parts[0] for record in curves]
    assert models == ["s", "t"]
    assert plan.needed_datasets() == ["grid"]
    assert plan.job(Record("models", "t", "grid", ("dtsl",))).path("train").name.startswith("train")


def test_records_are_of_methods_that_are_learned_on_the_dataset(tmp_path):
    """The method `narrow` is learned on grid only; of two folds one is timed."""
    content = {
        **CONTENT,
        "samples": {"sizes": [60], "folds": 2, "timed": {"sizes": [60], "folds": 1}},
        "divergences": [["narrow", "atomic"], ["atomic", "dtsl"]],
        "likelihoods": {"methods": ["narrow"], "timed": ["dtsl"]},
        "queries": {"methods": ["narrow", "atomic"]},
        "timed": ["narrow"],
        "figures": [
            {"kind": "structure", "dataset": "triples-n60-f0", "method": "dtsl"},
            {"kind": "scatter", "dataset": "grid-n60-f0", "method": "atomic"},
        ],
    }
    study = Study("s", content)

    def names(kind, dataset):
        return ["-".join(names) for names in KINDS[kind].asked(study, dataset)]

    shown = ("divergences", "likelihoods", "curves", "times", "structures")
    assert {kind: names(kind, "grid-n60-f0") for kind in shown} == {
        "divergences": ["narrow-atomic", "atomic-dtsl"],
        "likelihoods": ["narrow", "dtsl"],
        "curves": ["narrow", "atomic"],
        "times": ["narrow"],
        "structures": [],
    }
    assert {kind: names(kind, "triples-n60-f0") for kind in shown} == {
        "divergences": ["atomic-dtsl"],
        "likelihoods": ["dtsl"],
        "curves": ["atomic"],
        "times": [],
        "structures": ["dtsl"],
    }
    assert names("likelihoods", "grid-n60-f1") == ["narrow"]
    assert names("times", "grid-n60-f1") == []


EVERY_KIND = {
    **CONTENT,
    "divergences": [["atomic", "dtsl"]],
    "likelihoods": {"methods": ["dtsl"], "beliefs": {}, "annealing": {}, "queries": {}},
    "queries": {"methods": ["atomic"], "examples": 1, "percentages": [50]},
    "figures": [{"kind": "structure", "dataset": "triples", "method": "dtsl"}],
}


def test_a_dataset_is_needed_for_any_kind_of_record(tmp_path):
    plan = make_plan(tmp_path, EVERY_KIND)
    claim_all(plan)
    assert make_plan(tmp_path, EVERY_KIND).needed_datasets() == []
    for kind in ASKED:
        record = next(each for each in plan.records("s", kind) if each.dataset == "triples")
        plan.path(record).unlink()
        assert make_plan(tmp_path, EVERY_KIND).needed_datasets() == ["triples"], kind
        claim(plan, record)


def test_files_are_named_by_study_dataset_methods_and_recipe(tmp_path):
    plan = make_plan(tmp_path, CONTENT)
    assert plan.path(CELL) == Path(tmp_path, f"s/cells/grid/narrow@{plan.digest(CELL)}.json")
    assert plan.path(CELL, "trace").parent == tmp_path / "s/tuning/grid"
    assert len(plan.digest(CELL)) == 8


@pytest.mark.parametrize("kind", ["shares", "paired"])
def test_a_kind_that_the_key_records_does_not_have_is_refused(tmp_path, kind):
    message = f"^study s, records: '{kind}' is no kind for this key"
    with pytest.raises(InputError, match=message):
        make_plan(tmp_path, {**CONTENT, "records": {kind: ["atomic"]}})
