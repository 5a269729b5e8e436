"""Records about one model: which of them a plan counts as current, and what a job refuses."""

import shutil
from dataclasses import replace

import pytest

from made_study import make_all, make_plan
from mnlearn.models.io.native import read_npz, write_npz
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json, write_json
from mnlearn_studies.records import learn
from mnlearn_studies.records.files import model_digest
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.making import make_record
from mnlearn_studies.records.record import Record
from mnlearn_studies.report.all_products import write_scores

GIBBS = {"method": "gibbs", "burn_in": 5, "samples": 20}
CONTENT = {
    "datasets": ["triples"],
    "methods": {"chow_liu": {}, "smooth": {"learner": "chow_liu", "grid": {"pseudocount": [5.0]}}},
    "cmll": {"groups": 4, "partitions": {"default": 1, "exceptions": {}}, "inference": GIBBS},
    "timed": ["chow_liu"],
    "paired": [["chow_liu", "smooth"]],
    "divergences": [["chow_liu", "smooth"]],
    "figures": [],
}
OTHER = "0123456789abcdef"


def record_of(kind, *names):
    return Record(kind, "s", "triples", names)


CELL, PAIR = record_of("cells", "chow_liu"), record_of("paired", "chow_liu", "smooth")
DIVERGENCE = record_of("divergences", "chow_liu", "smooth")
ABOUT = {CELL, PAIR, DIVERGENCE}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learn, "warm_up", lambda *_: None)
        patch.chdir(folder)
        make_all(make_plan(folder, CONTENT))
    return folder


@pytest.fixture
def results(made, tmp_path, monkeypatch):
    """A copy of the results, in which each test changes something."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "results"))
    return tmp_path / "results"


def plan_of(results):
    return make_plan(results, CONTENT)


def say_of_another_model(results, record):
    """Let a record speak of another model of chow_liu, as a machine with other sums leaves it."""
    path = plan_of(results).path(record)
    content = read_json(path)
    write_json(path, {**content, "models": {**content["models"], "chow_liu": OTHER}})


def about_chow_liu(plan):
    return {each for each in plan.all_records("s") if "chow_liu" in each.names}


def test_every_record_names_its_models(results):
    plan = plan_of(results)
    for record in about_chow_liu(plan):
        models = read_json(plan.path(record))["models"]
        assert set(models) == set(record.names)
        for name, digest in models.items():
            chosen = plan.path(record_of("models", name)).with_name("chosen.npz")
            assert digest == model_digest(chosen)
    assert about_chow_liu(plan) > ABOUT


def test_a_digest_is_of_the_numbers_alone(results, tmp_path):
    models = record_of("models", "chow_liu")
    chosen = plan_of(results).path(models).with_name("chosen.npz")
    model = read_npz(chosen)
    schema = model.schema.rename([f"renamed {v}" for v in range(model.n_vars)])
    write_npz(replace(model, schema=schema), tmp_path / "renamed.npz")
    assert (tmp_path / "renamed.npz").read_bytes() != chosen.read_bytes()
    assert model_digest(tmp_path / "renamed.npz") == model_digest(chosen)
    other = plan_of(results).path(record_of("models", "smooth")).with_name("chosen.npz")
    assert model_digest(other) != model_digest(chosen)


def test_a_record_of_another_model_is_not_current(results, caplog):
    """It is named, shown as stale, and set aside by the next run that is asked for it."""
    say_of_another_model(results, DIVERGENCE)
    plan = plan_of(results)
    path = plan.path(DIVERGENCE)
    assert plan.missing("s") == [DIVERGENCE]
    assert plan.stale(DIVERGENCE) == ["model"]
    with caplog.at_level("INFO", "mnlearn"):
        write_scores(plan, "s")
    assert f"{path}: is about another model than the cell" in caplog.text
    assert "kl_to_smooth" in (results / "s/scores.csv").read_text("utf-8")
    plan.set_aside("s")
    assert not path.exists()
    assert plan.missing("s") == [DIVERGENCE]
    make_record(KINDS["divergences"], plan.job(DIVERGENCE))
    after = plan_of(results)
    assert (after.missing("s"), after.versions(DIVERGENCE)) == ([], [path])


def test_when_a_cell_has_another_model_all_of_its_records_are_stale(results):
    say_of_another_model(results, CELL)
    plan = plan_of(results)
    assert set(plan.missing("s")) == about_chow_liu(plan) - {CELL}


def test_a_job_refuses_a_model_that_the_cell_does_not_have(results):
    """A clone has no models: those that are learned there can be others, on another processor."""
    plan_of(results).path(DIVERGENCE).unlink()
    say_of_another_model(results, CELL)
    plan = plan_of(results)
    fault = r"is about another model of chow_liu .*`mnlearn study s --datasets triples --again`"
    with pytest.raises(InputError, match=fault):
        make_record(KINDS["divergences"], plan.job(DIVERGENCE))
    assert not plan.path(DIVERGENCE).exists()


def test_a_cell_is_not_scored_again_with_another_model(results):
    """Neither beside itself, nor beside records that stay."""
    plan = plan_of(results)
    plan.path(CELL, "per_example").unlink()
    say_of_another_model(results, CELL)
    before = plan.path(CELL).read_bytes()
    with pytest.raises(InputError, match="is about another model"):
        make_record(KINDS["cells"], plan_of(results).job(CELL))
    assert plan.path(CELL).read_bytes() == before
    assert not plan.path(CELL, "per_example").exists()


def test_a_current_cell_stays_as_it_is_when_only_its_scores_by_example_are_made(results):
    plan = plan_of(results)
    scores = plan.path(CELL, "per_example").read_bytes()
    plan.path(CELL, "per_example").unlink()
    content = read_json(plan.path(CELL))
    content["scored_by"]["machine"] = "another one"
    write_json(plan.path(CELL), content)
    make_record(KINDS["cells"], plan_of(results).job(CELL))
    assert plan.path(CELL, "per_example").read_bytes() == scores
    assert read_json(plan.path(CELL)) == content
