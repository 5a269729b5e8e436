"""Public tables of variables with many states, split at random."""

import io
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.io import arff

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.variables.schema import Schema, Variable

_SEED = 20261
# A column that names the rows.
_NAMES = "Instance_name"


def build_table(files: Sequence[bytes]) -> Mapping[str, Dataset]:
    """Return the splits of an ARFF file of nominal attributes.

    A missing value (`?`) is a state of its own. So is every declared value that occurs; those that
    do not are left out. Of the rows in a random order, the first fifth is the test data, the next
    tenth the validation data.
    """
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
