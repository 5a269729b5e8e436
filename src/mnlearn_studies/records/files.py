"""Cells: the record of one method on one dataset of a study."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnlearn.inference.score import Score
from mnlearn.runtime.arrays import read_arrays
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
    """Return the file of a record in the folder of its kind, whatever its recipe; None if missing.

    Of several versions, which a checkout in git can leave until the next run, it is the first by
    name.
    """
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
