"""A dataset by its name, brought into a data folder: a benchmark, embedded, or own files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mnlearn.data.dataset import Dataset
from mnlearn.data.own_files import DEFAULT_FRACTIONS, load_local
from mnlearn.data.splits import SPLITS
from mnlearn.data.text import load_dataset
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, write_text
from mnlearn.study.datasets.embedded import EMBEDDED, load_embedded
from mnlearn.study.datasets.fetch import fetch_many
from mnlearn.study.datasets.registry import load_registry

_UNAVAILABLE = "unavailable.txt"
# How far the compressed files of a person's own dataset may expand, in gigabytes.
EXPANDED_KEY = "max_expanded"


def list_datasets(local: Mapping[str, Any]) -> list[str]:
    """Return the names of all datasets: a person's own, embedded, benchmarks."""
    return [*local, *EMBEDDED, *load_registry()]


def label_datasets(local: Mapping[str, Any]) -> dict[str, str]:
    """Return the label of each dataset as tables print it."""
    labels = {name: benchmark.label for name, benchmark in load_registry().items()}
    labels.update({name: entry.label for name, entry in EMBEDDED.items()})
    return {**labels, **{name: name for name in local}}


def list_unavailable(folder: Path) -> dict[str, str]:
    """Return the datasets in `folder` that could not be had when last tried, with the reason."""
    return {
        path.parent.name: read_text(path).strip()
        for path in sorted(folder.glob(f"*/{_UNAVAILABLE}"))
    }


def prepare_dataset(
    name: str,
    folder: Path,
    seed: int,
    local: Mapping[str, Any] | None = None,
    *,
    mirror: str | None = None,
) -> dict[str, Dataset]:
    """Bring the dataset `name` to `folder/name`: fetch, draw or split; return the splits.

    Parameters
    ----------
    name : str
        A name of `list_datasets`.
    folder : Path
        The data folder.
    seed : int
        Seed of what is drawn or split at random.
    local : mapping, optional
        How a person's own dataset is given (see `config.schema.yaml`); empty for others.
    mirror : str, optional
        Folder or URL that has the benchmark data, as in `fetch_many`.

    Raises
    ------
    InputError
        The dataset cannot be had; the reason is also left in a file for `list_unavailable`.

    """
    if local:
        fractions = local.get("fractions", DEFAULT_FRACTIONS)
        parts = load_local(
            local["train"],
            local.get("valid"),
            local.get("test"),
            fractions,
            seed=seed,
            limit=_local_limit(local.get(EXPANDED_KEY)),
        )
        splits = dict(zip(SPLITS, parts, strict=True))
    elif name in EMBEDDED:
        splits = dict(zip(SPLITS, load_embedded(name, seed), strict=True))
    else:
        splits = fetch_dataset(name, folder, mirror)
    for split, data in splits.items():
        data.save(folder / name / f"{split}.npz")
    return splits


def _local_limit(gigabytes: float | None) -> ExpansionLimit:
    """Return the limit of a person's own files, as the configuration gives it."""
    advice = f"{EXPANDED_KEY} of the dataset in config.yaml raises the limit"
    if gigabytes is None:
        return ExpansionLimit(advice=advice)
    return ExpansionLimit(int(gigabytes * 1e9), float("inf"), advice=advice)


def fetch_dataset(name: str, folder: Path, mirror: str | None = None) -> dict[str, Dataset]:
    """Fetch one benchmark dataset and read it."""
    record_outcomes(fetch_many([name], folder, mirror), folder)
    benchmark = load_registry()[name]
    return {split: load_dataset(folder / benchmark.relative_path(split)) for split in SPLITS}


def record_outcomes(results: Mapping[str, Any], folder: Path) -> None:
    """Write down which datasets could not be had; delete the notes of those that were.

    Parameters
    ----------
    results : mapping of str to FetchResult
        What became of each dataset.
    folder : Path
        The data folder, in which the notes are.

    Raises
    ------
    InputError
        Some could not be had; the sentence names them.

    """
    for name, result in results.items():
        note = folder / name / _UNAVAILABLE
        if result.ok:
            note.unlink(missing_ok=True)
        else:
            write_text(note, f"{name}: {result.reason}\n")
    failed = [name for name, result in results.items() if not result.ok]
    if len(failed) == 1:
        raise InputError(f"{failed[0]}: {results[failed[0]].reason}")
    if failed:
        raise InputError(
            f"{len(failed)} of {len(results)} datasets could not be had: {', '.join(failed)}. "
            f"{results[failed[0]].reason}"
        )
