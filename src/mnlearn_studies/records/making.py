"""Making one record, in the process that the workflow starts for it."""

import dataclasses
import re
import shutil
import tempfile
from pathlib import Path

from mnlearn.runtime.errors import InputError, name_data
from mnlearn_studies.records.files import read_models, read_record
from mnlearn_studies.records.kind import BESIDE, Kind
from mnlearn_studies.records.record import Job

_DIGEST = re.compile(r"@[0-9a-f]+")


def make_record(kind: Kind, job: Job) -> None:
    """Make a record, then remove the files of the same record that another recipe made.

    A record under its current name stays, and files beside it that git does not keep are made. If
    it speaks of another model of the same cell, nothing is made.
    """
    job = dataclasses.replace(job, models=kind.digests(job))
    for path in job.given.get(BESIDE, ()):
        _refuse_other_model(job, Path(path))
    is_kept = job.out.exists()
    with tempfile.TemporaryDirectory() as aside:
        outputs = {
            name: Path(aside, path.name) if is_kept and path.exists() else path
            for name, path in job.outputs.items()
        }
        _make(kind, dataclasses.replace(job, outputs=outputs))
    for path in job.outputs.values():
        # The models of a cell are a folder whose name has the digest.
        place = path if "@" in path.name else path.parent
        pattern = _DIGEST.sub("@*", place.name)
        for other in place.parent.glob(pattern):
            if other.is_dir() and other != place:
                shutil.rmtree(other)
            elif other != place:
                other.unlink(missing_ok=True)


def _make(kind: Kind, job: Job) -> None:
    if "test" in job.inputs:
        # The classes of the error name the file of the data.
        with name_data(job.path("test")):
            kind.make(job)
    else:
        kind.make(job)


def _refuse_other_model(job: Job, path: Path) -> None:
    record = read_record(path, "study", "dataset")
    for name, said in read_models(path).items():
        learned = job.models.get(name, said)
        if learned != said:
            raise InputError(
                f"{path}: is about another model of {name} ({said}) than was learned here "
                f"({learned}), so that records of both would stand side by side; "
                f"`mnlearn study {record['study']} --datasets {record['dataset']} --again` makes "
                "all records of the dataset by the models of this machine."
            )
