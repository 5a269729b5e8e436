"""Whether a learned model is the same after it was written to a file and read again."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.inference.score import check_variables
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import provenance
from mnlearn.scoring.any_model import ll
from mnlearn_studies.records.kind import OfModels, Planned, Row, head, json_of
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study

# Rows of which all features are looked at together.
_ROWS = 200


def check_exports(
    model_path: Path,
    test_path: Path,
    forms: Sequence[str],
    identity: Mapping[str, Any],
    *,
    out: Path,
) -> None:
    """Write how much the scores of test examples change when a model goes through a file.

    Parameters
    ----------
    model_path, test_path : Path
        The model and the test data.
    forms : sequence of str
        Suffixes of the files without the dot, see `save_model`. For each the record has the bytes
        of the file and the largest difference between the log-likelihoods, in nats, that the model
        and the one read back give to a test example. The partition function of a Markov network is
        not computed: its log-potentials are compared, up to a constant.
    identity : Mapping
        Study, dataset, method and recipe, which go into the record.
    out : Path
        File of the record.

    Raises
    ------
    InputError
        The model cannot be written in one of the forms, or has other variables than the test
        data, or no likelihood.
    """
    model, test = load_model(model_path), load_npz(test_path)
    check_variables(model, test)
    own = _log_scores(model, test)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for form in forms:
            path = Path(folder) / f"model.{form}"
            save_model(model, path)
            again = load_model(path)
            difference = _log_scores(again, test) - own
            if isinstance(again, MarkovNetwork):
                difference -= difference.mean()
            largest = float(np.abs(difference).max())
            found[form] = {"bytes": path.stat().st_size, "largest_difference": largest}
    record = {
        **identity,
        "scored_by": provenance("mnlearn_studies.records.kinds.exports.check_exports"),
        "n_test": test.n_examples,
    }
    write_json(out, {**record, "forms": found})


def _log_scores(model: Model, data: Dataset) -> NDArray[np.float64]:
    """Return the log-likelihood of every distinct row; of a network, its log-potential."""
    if not isinstance(model, MarkovNetwork):
        return ll(model, data).per_row
    return np.concatenate(
        [
            model.potential_of(data.rows[first : first + _ROWS])
            for first in range(0, data.n_rows, _ROWS)
        ]
    )


class Exports(OfModels):
    """A model written in forms of other programs, read again, and compared by its scores."""

    name = "exports"
    files = json_of("exports")
    quantities = r"export_"
    roots = ("mnlearn_studies.records.kinds.exports.check_exports",)

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods whose models are written in other forms."""
        methods = study.methods_on(dataset)
        yield from ((m,) for m in study.content.get("exports", {}) if m in methods)

    def settings(self, plan: Planned, record: Record) -> Recipe:
        """Return the forms of files."""
        return {"forms": plan.studies[record.study].content["exports"][record.names[0]]}

    def make(self, job: Job) -> None:
        """Write the model in each form, read it and compare."""
        check_exports(
            job.chosen(), job.path("test"), job.recipe["forms"], job.identity, out=job.out
        )

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the largest difference of a score by form."""
        for form, export in record["forms"].items():
            yield (*head(record), f"export_{form}", export["largest_difference"], None)


KIND = Exports()
