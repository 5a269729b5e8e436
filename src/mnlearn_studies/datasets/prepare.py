"""A dataset by its name, brought into a data folder: a benchmark, embedded, built, or own files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mnlearn.data.dataset import Dataset
from mnlearn.data.own_files import DEFAULT_FRACTIONS, SPLITS, load_local
from mnlearn.data.rules import KEY, OPTIONS, Rules
from mnlearn.data.text import load_benchmark
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, write_text
from mnlearn_studies.datasets.built import build
from mnlearn_studies.datasets.drawn_samples import draw_sample
from mnlearn_studies.datasets.embedded import load_embedded
from mnlearn_studies.datasets.fetch import fetch_many
from mnlearn_studies.datasets.registry import (
    EMBEDDED,
    FETCHED,
    UNAVAILABLE,
    find_dataset,
    load_datasets,
)
from mnlearn_studies.datasets.sample_names import base_of

_UNAVAILABLE = "unavailable.txt"
# How far the compressed files of a person's own dataset may expand, in gigabytes.
EXPANDED_KEY = "max_expanded"


def check_dataset(name: str, local: Mapping[str, Any]) -> None:
    """Refuse the name of a dataset that does not exist; a sample exists if its base does."""
    datasets, base = load_datasets(), base_of(name)
    if base in local:
        return
    if base in datasets:
        if datasets[base].recipe == UNAVAILABLE:
            raise InputError(f"dataset {base}: {datasets[base].reason}.")
        return
    known = [*local, *(each for each in datasets if datasets[each].recipe != UNAVAILABLE)]
    raise InputError(
        f"dataset {name}: expected one of {', '.join(known)}; "
        "own data are named in config.yaml, under local."
    )


def check_own_names(local: Mapping[str, Any]) -> None:
    """Refuse a person's own dataset that has the name of another one that can be had."""
    datasets = load_datasets()
    for name in local:
        if name in datasets and datasets[name].recipe != UNAVAILABLE:
            raise InputError(
                f"config.yaml, local.{name}: {name} is the name of a public dataset; expected "
                f"another name, such as my_{name}."
            )


def label_datasets(local: Mapping[str, Any]) -> dict[str, str]:
    """Return the label of each dataset as tables print it; see `Study.labels` for samples.

    local : a person's own datasets.
    """
    known = load_datasets()
    labels = {name: entry.label for name, entry in known.items()}
    # A copy of data that are not public has their name.
    own = (name for name in local if name not in known or known[name].recipe != UNAVAILABLE)
    return {**labels, **{name: name for name in own}}


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
    """Return the splits of a dataset, which is fetched to a folder, drawn, built or split.

    seed : of what is drawn. local : how a person's own dataset is given, of a sample its base. Why
    a dataset cannot be fetched is left in a file for `list_unavailable`.
    """
    base = base_of(name)
    splits = _load_base(base, folder, seed, local, mirror)
    if base != name:
        splits = draw_sample(name, splits, seed)
    return splits


def _load_base(
    name: str, folder: Path, seed: int, local: Mapping[str, Any] | None, mirror: str | None
) -> dict[str, Dataset]:
    if local:
        return dict(zip(SPLITS, load_own(local, seed), strict=True))
    entry = find_dataset(load_datasets(), name)
    if entry.recipe == EMBEDDED:
        return dict(zip(SPLITS, load_embedded(name, seed), strict=True))
    if entry.recipe == UNAVAILABLE:
        raise InputError(f"{name}: {entry.reason}.")
    return fetch_dataset(name, folder, mirror)


def load_own(local: Mapping[str, Any], seed: int) -> tuple[Dataset, Dataset, Dataset]:
    """Return the splits of a person's own dataset."""
    said = {name: local[name] for name in OPTIONS if name in local}
    return load_local(
        local["train"],
        local.get("valid"),
        local.get("test"),
        local.get("fractions", DEFAULT_FRACTIONS),
        seed=seed,
        rules=Rules.said(said, KEY),
        limit=_local_limit(local.get(EXPANDED_KEY)),
    )


def _local_limit(gigabytes: float | None) -> ExpansionLimit:
    advice = f"{EXPANDED_KEY} of the dataset in config.yaml raises the limit"
    if gigabytes is None:
        return ExpansionLimit(advice=advice)
    return ExpansionLimit(int(gigabytes * 1e9), float("inf"), advice=advice)


def fetch_dataset(name: str, folder: Path, mirror: str | None = None) -> dict[str, Dataset]:
    """Fetch one benchmark dataset and read it, or what one is built from and build it."""
    record_outcomes(fetch_many([name], folder, mirror), folder)
    entry = load_datasets()[name]
    paths = [folder / file.path for file in entry.files]
    if entry.recipe == FETCHED:
        return {split: load_benchmark(path) for split, path in zip(SPLITS, paths, strict=True)}
    return build(entry, [path.read_bytes() for path in paths])


def record_outcomes(results: Mapping[str, Any], folder: Path) -> None:
    """Write into the data folder which datasets could not be had, and refuse these by name."""
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
