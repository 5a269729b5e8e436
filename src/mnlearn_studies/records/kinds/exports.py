"""Whether a learned model is the same after it was written to a file and read again."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.inference.score import check_variables
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.scoring.any_model import ll
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study

# Rows of which all features are looked at together.
_ROWS = 200


def check_exports(job: Job) -> dict[str, Any]:
    """Return how much the scores of test examples change when a model goes through a file.

    For each form, a suffix of `save_model`, the record has the bytes of the file and the largest
    difference between the log-likelihoods, in nats, that the model and the one read back give to a
    test example. The partition function of a Markov network is not computed: its log-potentials
    are compared, up to a constant.
    """
    model, test = load_model(job.chosen()), load_npz(job.path("test"))
    check_variables(model, test)
    before = _log_scores(model, test)
    forms = {}
    with tempfile.TemporaryDirectory() as folder:
        for form in job.recipe["forms"]:
            path = Path(folder) / f"model.{form}"
            save_model(model, path)
            again = load_model(path)
            difference = _log_scores(again, test) - before
            if isinstance(again, MarkovNetwork):
                difference -= difference.mean()
            largest = float(np.abs(difference).max())
            forms[form] = {"bytes": path.stat().st_size, "largest_difference": largest}
    return {"n_test": test.n_examples, "forms": forms}


def _log_scores(model: Model, data: Dataset) -> NDArray[np.float64]:
    """Return the log-likelihood of every distinct row; of a network, its log-potential."""
    if not isinstance(model, MarkovNetwork):
        return ll(model, data).per_row
    blocks = (data.rows[first : first + _ROWS] for first in range(0, data.n_rows, _ROWS))
    return np.concatenate([model.potential_of(rows) for rows in blocks])


class Exports(Kind):
    """A model written in forms of other programs, read again, and compared by its scores."""

    name = "exports"
    files = json_of("exports")
    quantities = r"export_"
    roots = ("mnlearn_studies.records.kinds.exports.check_exports",)
    splits = ("test",)

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods whose models are written in other forms."""
        methods = study.methods_on(dataset)
        yield from ((m,) for m in study.content.get("exports", {}) if m in methods)

    def settings(self, plan: Planned, record: Record) -> Recipe:
        """Return the forms of files."""
        return {"forms": plan.studies[record.study].content["exports"][record.names[0]]}

    def measure(self, job: Job) -> dict[str, Any]:
        """Return the bytes and the largest difference of each form."""
        return check_exports(job)

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the largest difference of a score by form."""
        for form, export in record["forms"].items():
            yield (*head(record), f"export_{form}", export["largest_difference"], None)


KIND = Exports()
