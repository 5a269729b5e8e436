"""All known datasets: their sizes, and what of them is here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mnlearn.data.dataset import load_npz
from mnlearn.data.own_files import SPLITS
from mnlearn_studies.datasets.registry import UNAVAILABLE, load_datasets
from mnlearn_studies.study.folders import own_file

_COUNTS = ("n_vars", *(f"n_{split}" for split in SPLITS))


def dataset_rows(
    folder: Path, local: Mapping[str, Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Return one record per known dataset: its sizes, and the state of its files.

    folder : the data folder. local : a person's own datasets, as the configuration gives them.
    Their sizes are None until a study has prepared them.
    """
    local = local or {}
    rows = []
    for name, entry in load_datasets().items():
        if name not in local:
            counts = dict(zip(_COUNTS, (entry.n_vars, *entry.rows), strict=False))
            sizes = {count: counts.get(count) for count in _COUNTS}
            state = entry.state(folder) if entry.files else entry.recipe
            rows.append({"name": name, "label": entry.label, **sizes, "state": state})
    return rows + [_own_row(name, entry, folder) for name, entry in local.items()]


def _own_row(name: str, entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    files = [own_file(entry[split]) for split in SPLITS if split in entry]
    sizes: dict[str, int | None] = dict.fromkeys(_COUNTS)
    for split in SPLITS:
        for path in (folder / name).glob(f"{split}@*.npz"):
            data = load_npz(path)
            # The weights of examples may sum to any number.
            sizes |= {"n_vars": data.n_vars, f"n_{split}": round(data.n_examples)}
    state = "own" if all(path.exists() for path in files) else "own, missing"
    return {"name": name, "label": name, **sizes, "state": state}


def dataset_table(rows: list[dict[str, Any]]) -> str:
    """Return the records of `dataset_rows` as a table, and how to use data that are not public."""
    frame = pd.DataFrame(rows).rename(columns=lambda name: name.removeprefix("n_"))
    for name in (count.removeprefix("n_") for count in _COUNTS):
        frame[name] = ["?" if pd.isna(value) else f"{value:,.0f}" for value in frame[name]]
    missing = ", ".join(frame.loc[frame["state"] == UNAVAILABLE, "name"])
    return (
        f"{frame.to_string(index=False)}\n\n{missing}: no public copy was found; name your own "
        "files under local in config.yaml."
    )
