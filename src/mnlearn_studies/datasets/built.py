"""Datasets that are built from public files by a recipe, and verified by git's blob ids."""

import io
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.io import arff

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, Variable
from mnlearn_studies.datasets.adult import build_adult, build_adult_groups
from mnlearn_studies.datasets.alarm import build_alarm, build_alarm_groups
from mnlearn_studies.datasets.networks import build_samples
from mnlearn_studies.datasets.registry import Entry, compute_blob_id

_SEED = 20261
# A column that names the rows.
_NAMES = "Instance_name"


def build_table(files: Sequence[bytes]) -> Mapping[str, Dataset]:
    """Return the splits of an ARFF file of nominal attributes, whose rows are in a random order."""
    (content,) = files
    table, declared = arff.loadarff(io.StringIO(content.decode("utf-8")))
    variables, values = [], []
    for name in declared.names():
        if name == _NAMES:
            continue
        cells = np.char.strip(np.char.decode(table[name], "utf-8"), "' ")
        order = [text.strip("' ") for text in declared[name][1]] + ["?"]
        states = tuple(text for text in order if (cells == text).any())
        variables.append(Variable(name, states))
        values.append((cells[:, None] == np.array(states)).argmax(axis=1))
    schema = Schema(tuple(variables))
    rows = schema.rows(np.stack(values, axis=1))
    rows = rows[np.random.Generator(np.random.PCG64(_SEED)).permutation(len(rows))]
    n_test, n_valid = len(rows) // 5, len(rows) // 10
    parts = {
        "train": rows[n_test + n_valid :],
        "valid": rows[n_test : n_test + n_valid],
        "test": rows[:n_test],
    }
    return {split: merge_rows(part, schema=schema) for split, part in parts.items()}


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
