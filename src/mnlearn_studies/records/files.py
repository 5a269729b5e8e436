"""Cells: the record of one method on one dataset of a study."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnlearn.inference.score import Score
from mnlearn.runtime.arrays import read_arrays
from mnlearn.runtime.code_digest import Optional
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json

# Name of the variant that was chosen on validation data.
CHOSEN = ""
# What a search leaves beside its models: the record, and the grid points.
TUNING_RECORD = "tuning.json"
TRACE = "trace.csv"
# What the file of a model says beside its numbers.
_METADATA = ("kind", "version", "names", "schema")


def model_path(folder: Path, variant: str) -> Path:
    """Return the file of a variant's model."""
    return folder / f"{variant or 'chosen'}.npz"


def model_digest(path: Path) -> str:
    """Digest the numbers of a model file (16 hexadecimal digits), whatever compressed them."""
    digest = hashlib.sha256()
    for name, array in sorted(read_arrays(path).items()):
        if name not in _METADATA:
            digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def read_models(path: Path) -> dict[str, str]:
    """Return the digest of the model of each method that a record is about, as it says.

    Records of an earlier form say nothing of their models.
    """
    record = read_record(path)
    with refuse_damaged(path):
        return {str(name): str(digest) for name, digest in record.get("models", {}).items()}


def find_version(folder: Path, dataset: str, name: str, suffix: str) -> Path | None:
    """Return the file of a record in the folder of its kind, whatever its recipe, or None."""
    return min((folder / dataset).glob(f"{name}@*{suffix}"), default=None)


def score_record(score: Score) -> dict[str, float]:
    """Return what a record says of a score, in nats."""
    record = {"mean": score.mean, "stderr": score.standard_error}
    if score.monte_carlo_error:
        record["monte_carlo_error"] = score.monte_carlo_error
    return record


def read_record(path: Path, *keys: str) -> dict[str, Any]:
    """Return a record, a JSON object that has some keys."""
    record = read_json(path)
    if not isinstance(record, dict):
        raise InputError(f"{path}: expected a record, a JSON object.")
    for key in keys:
        if key not in record:
            raise InputError(f"{path}: is not a complete record, lacks {key!r}.")
    return record


@contextmanager
def refuse_damaged(path: Path) -> Iterator[None]:
    """Say that a record is damaged if a block cannot find in it what it needs."""
    try:
        yield
    except InputError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path}: is damaged, or is not the record that is expected.") from error


def sum_seconds(cells: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the processor seconds of the search and of scoring that cells say they took."""
    search = sum(float(cell.get("seconds_tuning", 0)) for cell in cells)
    return search, sum(sum(map(_seconds_of_scores, _scored(cell))) for cell in cells)


def _scored(cell: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    variants = cell.get("variants", {})
    chosen = variants.get(CHOSEN, {}).get("parameters")
    for name, variant in variants.items():
        # A variant that is the chosen model has the scores of the latter.
        if name == CHOSEN or variant.get("parameters") != chosen:
            yield variant


def _seconds_of_scores(variant: Mapping[str, Any]) -> float:
    """Return the seconds of scoring a model: by each partition, and by other ways of inference."""
    n_partitions = len(variant.get("scores", {}).get("cmll", {}).get("partitions", ()))
    # Those in its record are of one partition.
    seconds = float(variant.get("seconds_inference", 0)) * max(1, n_partitions)
    further = (value for name, value in variant.items() if name.startswith("seconds_inference_"))
    return seconds + sum(map(float, further))


# The module of a kind of model, and the modules and packages that serve this kind alone.
MODEL_CODE: Optional = (
    (
        "mnlearn.models.circuit",
        (
            "mnlearn.models.circuit.",
            "mnlearn.models.circuit_building.",
            "mnlearn.inference.circuits.",
            "mnlearn.kernels.circuits.",
        ),
    ),
    (
        "mnlearn.models.hidden_tree",
        (
            "mnlearn.models.hidden_tree.",
            "mnlearn.inference.hidden_trees.",
        ),
    ),
    (
        "mnlearn.models.feature_tree",
        ("mnlearn.models.feature_tree.",),
    ),
    (
        "mnlearn.models.junction_tree",
        ("mnlearn.models.junction_tree.",),
    ),
)
