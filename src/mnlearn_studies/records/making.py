"""Making one record, in the process that the workflow starts for it."""

import re
import shutil

from mnlearn.runtime.errors import name_data
from mnlearn_studies.records.kind import Kind
from mnlearn_studies.records.record import Job

_DIGEST = re.compile(r"@[0-9a-f]+")


def make_record(kind: Kind, job: Job) -> None:
    """Make a record, then remove the files of the same record that another recipe made.

    Raises
    ------
    InputError
        A file that the record is made from is missing, malformed, or damaged.
    """
    if "test" in job.inputs:
        # The classes of the error name the file of the data.
        with name_data(job.path("test")):
            kind.make(job)
    else:
        kind.make(job)
    for path in job.outputs.values():
        # The models of a cell are a folder whose name has the digest.
        place = path if "@" in path.name else path.parent
        pattern = _DIGEST.sub("@*", place.name)
        for other in place.parent.glob(pattern):
            if other.is_dir() and other != place:
                shutil.rmtree(other)
            elif other != place:
                other.unlink(missing_ok=True)
