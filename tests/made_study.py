"""Plans of small studies, and records that are made in this process as jobs of a run make them."""

from pathlib import Path

from mnlearn.runtime.files import write_json
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.gather import gather
from mnlearn_studies.records.kinds import ASKED, KINDS
from mnlearn_studies.records.kinds.parts import parts_of
from mnlearn_studies.records.making import make_record
from mnlearn_studies.records.record import Job, Record
from mnlearn_studies.study.definition import Study


def make_plan(folder, content, datasets=(), seed=20, *, studies=None, **more):
    """Return the plan of a run of the study `s`; studies : others by name."""
    known = {"s": Study("s", content), **(studies or {})}
    whole = {"studies": known, "running": ["s"], "results": folder, "seed": seed, "local": {}}
    return Plan(**{**whole, **more}, datasets=datasets)


def claim(plan, record):
    """Write files under the current names of a record, as if it had been made."""
    for name in KINDS[record.kind].files:
        write_json(plan.path(record, name), {"recipe": plan.recipe(record)})


def claim_all(plan, study="s"):
    """Claim all records that a study asks for."""
    for record in plan.all_records(study):
        claim(plan, record)


def make_all(plan, studies=("s",)):
    """Make all records of some studies, each after those that it is made from; return the jobs."""
    waiting = [
        Record(kind, "" if kind == "data" else study, dataset, names)
        for study in studies
        for kind in KINDS
        for dataset in plan.studies[study].datasets
        for names in KINDS[kind].asked(plan.studies[study], dataset)
    ]
    models = [record for record in waiting if record.kind == "models"]
    waiting += [part for record in models for part in parts_of(plan, record)]
    done = []
    while waiting:
        ready = [record for record in waiting if has_inputs(plan.job(record))]
        assert ready, waiting
        for record in ready:
            job = plan.job(record)
            make_record(KINDS[record.kind], Job.from_json(job.to_json(), threads=1))
            assert all(path.exists() for path in job.outputs.values()), record
            done.append(job)
        waiting = [record for record in waiting if record not in ready]
    return done


def has_inputs(job):
    """Whether all files that a job reads are there."""
    given = [[path] if isinstance(path, str) else path for path in job.inputs.values()]
    return all(Path(path).exists() for paths in given for path in paths)


def make(
    kind, out, recipe, *,
    method="m", study="s", dataset="d", inputs=(), seed=20, given=(), threads=1,
):  # fmt: skip
    """Make one record; method : one, or several with hyphens.

    out : its first file; others stand beside it under their names.
    """
    out = Path(out).resolve()
    first, *others = KINDS[kind].files
    outputs = {first: out, **{name: out.with_name(f"{name}-{out.name}") for name in others}}
    for path in outputs.values():
        # What is there would stay.
        path.unlink(missing_ok=True)
    record = Record(kind, study, dataset, tuple(filter(None, method.split("-"))))
    job = Job(record, recipe, seed, dict(inputs), outputs, dict(given), threads)
    make_record(KINDS[kind], Job.from_json(job.to_json(), threads))
    return out


def scores_of(content=None, **paths):
    """Return the scores of some records, by kind; content : of the study, if it matters."""
    assert set(paths) <= set(ASKED)
    return gather(Study("s", content or {}), {kind: map(Path, paths[kind]) for kind in paths})


def search_job(data, out, learner, grid, *, names, criterion=None, kept=None, **more):
    """Return the job of the search of a grid, or of a part of it.

    data : folder of the splits. names : the method, and of a part what it is. kept : folder of
    finished grid points. more : further inputs, as files.
    """
    record = Record("parts" if len(names) > 1 else "models", "s", "d", tuple(names))
    inputs = {split: str(data / f"{split}.npz") for split in ("train", "valid")} | more
    recipe = {"learner": learner, "grid": grid, "criterion": criterion or {}}
    given = {} if kept is None else {"checkpoints": str(kept)}
    return Job(record, recipe, 20, inputs, {"record": out}, given)
