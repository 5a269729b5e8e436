"""Results of finished steps kept on disk, so that an interrupted run repeats at most one step."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.learner import Fitted
from mnlearn.learning.shares import Store
from mnlearn.models.io.native import read_npz, write_npz
from mnlearn.runtime.arrays import read_arrays, write_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import file_digest, read_json, write_json


class Checkpoints(Store):
    """A folder of finished steps, each under a digest of everything it depends on.

    `context` holds what all steps of one search depend on: the code, the data, the grid, because
    one point may start at the weights of another, and the criterion, which may end learning early.
    A file that does not fit its digest is ignored, and its step is repeated.
    """

    def __init__(self, folder: Path | None, **context: Any) -> None:
        self.folder = folder
        self.context = json.dumps(context, sort_keys=True)

    def _path(self, key: dict[str, Any], suffix: str) -> Path | None:
        if self.folder is None:
            return None
        text = json.dumps([self.context, key], sort_keys=True)
        return self.folder / (hashlib.sha256(text.encode()).hexdigest()[:24] + suffix)

    def record(self, key: dict[str, Any], work: Callable[[], Any]) -> Any:
        """Return the JSON value of a step, from disk if it was finished before."""
        path = self._path(key, ".json")
        if path is not None:
            for kept in _read_sealed(path):
                return kept
        value = work()
        if path is not None:
            _write_sealed(path, value)
        return value

    def load(self, key: Mapping[str, Any]) -> dict[str, NDArray] | None:
        path = self._path({"state": dict(key)}, ".state.npz")
        if path is None or not path.exists():
            return None
        try:
            arrays = read_arrays(path)
        except InputError:
            return None
        seal = arrays.pop(_SEAL, None)
        return arrays if seal is not None and str(seal) == _array_digest(arrays) else None

    def save(self, key: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> None:
        path = self._path({"state": dict(key)}, ".state.npz")
        if path is not None:
            write_arrays(path, {**arrays, _SEAL: np.array(_array_digest(arrays))})

    def fit(self, key: dict[str, Any], work: Callable[[], Fitted]) -> tuple[Fitted, float]:
        """Return a learned model and the seconds of `work`, from disk if it was finished before.

        The seconds in the record of the model include work that it shares with earlier ones.
        """
        path = self._path(key, ".npz")
        if path is not None and (kept := _kept(path)) is not None:
            return kept
        began = time.process_time()
        fitted = work()
        spent = time.process_time() - began
        if path is not None:
            write_npz(fitted.model, path)
            record = {"seconds": fitted.seconds, "details": fitted.details, "spent": spent}
            _write_sealed(_record_path(path), {**record, _SEAL: file_digest(path)})
        return fitted, spent


# Name of the digest of a model or of arrays, beside what else is kept of them.
_SEAL = "digest"


def _record_path(path: Path) -> Path:
    return path.with_suffix(".fit.json")


def _kept(path: Path) -> tuple[Fitted, float] | None:
    for record in _read_sealed(_record_path(path)):
        if path.exists() and record[_SEAL] == file_digest(path):
            return Fitted(read_npz(path), record["seconds"], record["details"]), record["spent"]
    return None


def _write_sealed(path: Path, value: Any) -> None:
    """Write a JSON value with its digest."""
    write_json(path, {_SEAL: _json_digest(value), "value": value})


def _read_sealed(path: Path) -> list[Any]:
    """Return the one value in a file of `_write_sealed`; none if it is missing or damaged."""
    if not path.exists():
        return []
    try:
        sealed = read_json(path)
    except InputError:
        return []
    whole = isinstance(sealed, dict) and sealed.keys() == {_SEAL, "value"}
    return [sealed["value"]] if whole and sealed[_SEAL] == _json_digest(sealed["value"]) else []


def _json_digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _array_digest(arrays: Mapping[str, NDArray]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return digest.hexdigest()
