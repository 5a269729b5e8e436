"""Samples of the Alarm network as 37 variables, or with four binary columns for each of them.

Each sample has a row of one stream of uniform numbers, so that parts do not depend on sizes.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.variables.schema import Schema, Variable, binary_schema
from mnlearn_studies.datasets.networks import sample_network

_SEED = 37148
_N_SAMPLES = 58_000
_N_VARS = 37
# Binary columns of each variable in the plain form: the largest number of values.
_MOST_VALUES = 4
# The first 10,000 samples are training data, the next 4,000 test data, and so on.
_PARTS = {
    "train": [(0, 10_000), (18_000, _N_SAMPLES)],
    "valid": [(14_000, 18_000)],
    "test": [(10_000, 14_000)],
}


def build_alarm(files: Sequence[bytes]) -> Mapping[str, Dataset]:
    """Return the splits as plain binary data: four columns for each of the 37 variables."""
    schema, values = _sample(files)
    one_hot = values[:, :, None] == np.arange(_MOST_VALUES)
    names = [f"{variable.name}={state}" for variable in schema for state in _four(variable)]
    return _split(one_hot.reshape(len(values), -1), binary_schema(names))


def build_alarm_groups(files: Sequence[bytes]) -> Mapping[str, Dataset]:
    """Return the splits as 37 variables."""
    schema, values = _sample(files)
    return _split(schema.rows(values), schema)


def _four(variable: Variable) -> list[str]:
    """Return the names of a variable's values, and of those that it does not have."""
    more = range(variable.arity, _MOST_VALUES)
    return [*variable.texts, *(f"no value {k + 1}" for k in more)]


def _sample(files: Sequence[bytes]) -> tuple[Schema, NDArray[np.uint8]]:
    uniform = np.random.Generator(np.random.PCG64(_SEED)).random((_N_SAMPLES, _N_VARS))
    return sample_network(files, lambda place: uniform[:, place])


def _split(rows: NDArray, schema: Schema) -> Mapping[str, Dataset]:
    return {
        split: merge_rows(np.concatenate([rows[a:b] for a, b in spans]), schema=schema)
        for split, spans in _PARTS.items()
    }
