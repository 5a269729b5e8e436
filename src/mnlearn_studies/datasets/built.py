"""Datasets that are built from public files by a recipe.

What a recipe makes is verified like a download: as text, every split has the git blob id that the
registry states.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.adult import build_adult, build_adult_groups
from mnlearn_studies.datasets.alarm import build_alarm, build_alarm_groups
from mnlearn_studies.datasets.networks import build_samples
from mnlearn_studies.datasets.registry import Entry, compute_blob_id
from mnlearn_studies.datasets.tables import build_table

# Each makes the splits of the contents of the files of a source, in their order.
RECIPES: dict[str, Callable[[Sequence[bytes]], Mapping[str, Dataset]]] = {
    "adult": build_adult,
    "adult_groups": build_adult_groups,
    "alarm": build_alarm,
    "alarm_groups": build_alarm_groups,
    "samples": build_samples,
    "table": build_table,
}


def build(entry: Entry, files: Sequence[bytes]) -> dict[str, Dataset]:
    """Return the verified splits of a dataset, made from the contents of its files."""
    made = RECIPES[entry.recipe](files)
    for split, blob_id in zip(SPLITS, entry.blob_ids, strict=True):
        found = compute_blob_id(text_of(made[split]))
        if found != blob_id:
            raise InputError(
                f"{entry.name}, {split}: expected the git blob {blob_id}, built {found}; another "
                "version of NumPy may draw other random numbers."
            )
    return {split: made[split] for split in SPLITS}


def text_of(data: Dataset) -> bytes:
    """Return the examples as text, numbers of states separated by commas, without a header."""
    values = data.schema.values(data.rows)
    lines = np.array([",".join(map(str, row)) + "\n" for row in values.tolist()], object)
    return "".join(lines[data.row_of]).encode("ascii")
