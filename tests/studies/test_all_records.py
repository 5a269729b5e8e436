"""All kinds of records of a study, made in this process as the jobs of a run make them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import numbers
from made_study import make_all, make_plan
from mnlearn.data.examples import load_dataset
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json, write_json
from mnlearn_studies.datasets.embedded import load_embedded
from mnlearn_studies.records import learn
from mnlearn_studies.records.files import CHOSEN
from mnlearn_studies.records.gather import gather
from mnlearn_studies.records.kinds import ASKED, KINDS
from mnlearn_studies.records.record import Record
from mnlearn_studies.study.definition import Study

GIBBS = {"method": "gibbs", "burn_in": 10, "samples": 50}
CMLL = {"groups": 4, "partitions": {"default": 2, "exceptions": {}}, "inference": GIBBS}
WHOLE = {
    "title": "s",
    "datasets": ["triples"],
    "methods": {
        "chow_liu": {},
        "smooth": {"learner": "chow_liu", "grid": {"pseudocount": [2.0, 5.0]}},
        "dtsl": {
            "criterion": "cmll",
            "cmll_exceptions": {"triples": "chosen"},
            "grid": {"kappa": [0.01], "feature_mode": ["prune-5", "nonzero"]},
        },
    },
    "cmll": {
        **CMLL,
        "tuning": GIBBS,
        "also": {
            "mcsat": {
                "inference": {**GIBBS, "method": "mcsat", "samples": 200},
                "datasets": ["triples"],
                "methods": ["dtsl"],
            }
        },
    },
    "timed": ["chow_liu", "dtsl"],
    "timed_search": ["dtsl"],
    "paired": [["dtsl", "chow_liu"]],
    "divergences": [["chow_liu", "smooth"]],
    "likelihoods": {
        "methods": ["dtsl"],
        "beliefs": {"iterations": 20, "tolerance": 1e-3},
        "annealing": {"n_chains": 10, "n_steps": 10},
        "queries": {"examples": 2, "percentage": 50},
    },
    "queries": {
        "examples": 6,
        "percentages": [50, 90],
        "methods": ["smooth", "chow_liu"],
        # A method that this study does not have.
        "sampled": {"study": "other", "methods": ["atomic"], "examples": 4, "beliefs": True},
    },
    "figures": [
        {"name": "drawn", "kind": "structure", "caption": "", "dataset": "triples",
         "method": "dtsl"}
    ],
}  # fmt: skip
OTHER = {
    "datasets": ["triples"],
    "methods": {"atomic": {}},
    "cmll": {**CMLL, "groups": 2},
    "figures": [],
}
SEED = 7


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The plan of two studies, and their jobs, which were done one after the other."""
    studies = {"other": Study("other", OTHER)}
    folder = tmp_path_factory.mktemp("all")
    plan = make_plan(folder, WHOLE, seed=SEED, studies=studies, n_parts=2)
    with pytest.MonkeyPatch.context() as patch:
        # Times do not matter here, so that no kernel has to be warmed up.
        patch.setattr(learn, "warm_up", lambda *_: None)
        patch.chdir(folder)
        jobs = make_all(plan, ("other", "s"))
    return make_plan(folder, WHOLE, seed=SEED, studies=studies), jobs


@pytest.fixture(scope="module")
def scores(made):
    """The scores of all records, as a file has them."""
    plan, _ = made
    return gather(plan.studies["s"], plan.kept("s"))


def read(plan, kind, *names):
    """Return the content of the record of a kind."""
    return read_json(plan.path(Record(kind, "s", "triples", names)))


@pytest.mark.nightly
def test_every_kind_of_record_is_made_and_current(made):
    plan, jobs = made
    assert {job.record.kind for job in jobs} == set(KINDS)
    assert {record.kind for record in plan.all_records("s")} == set(ASKED)
    assert plan.missing("s") == []
    for record in plan.all_records("s"):
        assert plan.versions(record) == [plan.path(record)]
        content = read_json(plan.path(record))
        assert content["recipe"] == plan.recipe(record)
        assert (content["study"], content["dataset"]) == ("s", "triples")
    # The models were learned in parts, of which nothing is left.
    assert not list(plan.results.glob("s/parts/*/*"))


def reads_test_data(job):
    """Whether a job is given the test data, by whatever name."""
    return any(Path(str(path)).name.startswith("test@") for path in job.inputs.values())


def test_jobs_read_what_they_are_made_from(made):
    """Only what scores models reads test data."""
    plan, jobs = made
    readers = {job.record.kind for job in jobs if reads_test_data(job)}
    assert readers == {"cells", "queries", "curves", "likelihoods"}
    curves = {job.record.names[0]: job for job in jobs if job.record.kind == "curves"}
    of = {name: job.path("models").relative_to(plan.results).parts[:4:3] for name, job in
          curves.items()}  # fmt: skip
    assert {name: study for name, (study, _) in of.items()} == {
        "smooth": "s", "chow_liu": "s", "atomic": "other",
    }  # fmt: skip
    assert all(folder.startswith(f"{name}@") for name, (_, folder) in of.items())
    for kind in ("divergences", "paired"):
        (job,) = (job for job in jobs if job.record.kind == kind)
        told = job.paths("models") or [job.path("first"), job.path("second")]
        for name, path in zip(job.record.names, told, strict=True):
            assert any(part.startswith(f"{name}@") for part in path.parts)
    assert {job.seed for job in jobs} == {SEED}


def test_data_and_partitions(made):
    plan, _ = made
    data = Record("data", "", "triples")
    for split, expected in zip(
        ("train", "valid", "test"), load_embedded("triples", SEED), strict=True
    ):
        found = load_dataset(plan.path(data, split))
        np.testing.assert_array_equal(found.rows[found.row_of], expected.rows[expected.row_of])
    drawn = read_json(plan.path(Record("partitions", "s", "triples")))
    assert len(drawn) == 2
    for groups in drawn:
        assert sorted(v for group in groups for v in group) == list(range(12))
        assert list(map(len, groups)) == [3, 3, 3, 3]


def test_curves_are_exact_or_sampled(made):
    """Circuits answer all queries exactly; the model of the other study a part, in two ways."""
    plan, _ = made
    for method, exact in (("smooth", True), ("chow_liu", True), ("atomic", False)):
        curve = read(plan, "curves", method)
        assert [point["percentage"] for point in curve["points"]] == [50, 90]
        assert curve["n_queries"] == (6 if exact else 4)
        assert all(("cll_sampled" in point) == exact for point in curve["points"])
        assert all(("cmll_beliefs" in point) == (not exact) for point in curve["points"])
        if not exact:
            assert {key: curve["inference"][key] for key in GIBBS} == GIBBS


def test_scores_of_all_kinds_are_gathered(made, scores):
    plan, _ = made
    shown = set(scores[["method", "quantity"]].itertuples(index=False, name=None))
    assert shown >= {
        *(("smooth", "cll_q90"), ("atomic", "cmll_beliefs_q50"), ("chow_liu", "kl_to_smooth")),
        *(("dtsl", "pll_less_chow_liu"), ("dtsl", "ll_annealed")),
        *(("dtsl", "seconds_learn"), ("dtsl", "cmll_mcsat"), ("dtsl", "seconds_inference_mcsat")),
        ("dtsl", "cmll_mcsat_monte_carlo_error"),
    }
    chosen = scores[scores["variant"] == ""].set_index(["method", "quantity"])["value"]
    difference = chosen["dtsl", "pll"] - chosen["chow_liu", "pll"]
    assert chosen["dtsl", "pll_less_chow_liu"] == pytest.approx(difference)
    assert chosen["dtsl", "cmll_mcsat"] == pytest.approx(chosen["dtsl", "cmll"], rel=0.1)
    models = Record("models", "s", "triples", ("dtsl",))
    folder, test = plan.path(models).parent, plan.path(Record("data", "", "triples"), "test")
    assert {path.stem for path in folder.glob("*.npz")} == {"chosen", "prune-5", "nonzero"}
    score = numbers(f"score {folder}/chosen.npz {test} --json")
    cell = Record("cells", "s", "triples", ("dtsl",))
    assert plan.path(cell, "trace").read_bytes() == (folder / "trace.csv").read_bytes()
    by_example = pd.read_csv(plan.path(cell, "per_example"))
    assert list(by_example) == ["pll", "cmll", "ll"]
    assert chosen["dtsl", "pll"] == pytest.approx(score["mean"], abs=1e-12)
    assert by_example["pll"].mean() == pytest.approx(score["mean"], abs=1e-9)
    record = read(plan, "cells", "dtsl")
    assert set(record["variants"]) == {CHOSEN, "prune-5", "nonzero"}
    assert {"seed", "learned_by", "scored_by", "n_test"} <= set(record)
    assert len(record["variants"][CHOSEN]["scores"]["cmll"]["partitions"]) == 2


def test_times_are_of_all_methods_in_one_record(made, scores):
    plan, _ = made
    methods = read(plan, "times", "chow_liu", "dtsl")["methods"]
    parts = {"read", "structure", "features", "weights", "write"}
    for name, more in (("chow_liu", set()), ("dtsl", {"tuning"})):
        assert len(methods[name]["runs"]) == 3
        assert all(set(run) <= parts | more and more <= set(run) for run in methods[name]["runs"])
    of = scores[scores["variant"] == ""].set_index(["method", "quantity"])["value"]
    searches = [run["tuning"] for run in methods["dtsl"]["runs"]]
    assert of["dtsl", "seconds_tuning"] == sorted(searches)[1]
    assert of["dtsl", "seconds_tuning_max"] == max(searches)
    # A search that is not timed has the seconds of the cell, once.
    assert ("chow_liu", "seconds_tuning_max") not in of.index
    assert of["chow_liu", "seconds_tuning"] == read(plan, "cells", "chow_liu")["seconds_tuning"]
    assert of.index.is_unique


@pytest.mark.parametrize("kind", sorted(set(ASKED) - {"structures"}))
def test_rows_of_a_kind_are_what_it_shows_and_damage_is_named(made, tmp_path, kind):
    """Tables mark a number as stale by the kinds that show it; cells show all other quantities."""
    plan, _ = made
    study = plan.studies["s"]
    shown = set(gather(study, {kind: plan.kept("s")[kind]})["quantity"])
    assert shown
    assert kind == "cells" or all(map(KINDS[kind].shows, shown)), shown
    path = tmp_path / f"{kind}@0.json"
    write_json(path, {"study": "s"})
    with pytest.raises(InputError, match=f"{path}: is damaged"):
        gather(study, {kind: [path]})
