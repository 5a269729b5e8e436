"""Samples of the Alarm network, with a group of columns for each variable or four binary columns.

All samples come from one stream of uniform numbers, a row of it for each sample, so that the parts
never depend on each other's sizes.
"""

import gzip
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.models.io.bif import DiscreteVariable, parse_discrete

_SEED = 37148
_N_SAMPLES = 58_000
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
    variables, values = _sample(files)
    one_hot = values[:, :, None] == np.arange(_MOST_VALUES)
    names = [
        f"{variable.name}={state}" for variable in variables for state in _states_and_more(variable)
    ]
    return _split(one_hot.reshape(len(values), -1), names, ())


def build_alarm_groups(files: Sequence[bytes]) -> Mapping[str, Dataset]:
    """Return the splits with one group of columns for each variable, one column for each value."""
    variables, values = _sample(files)
    blocks = [values[:, v, None] == np.arange(len(var.states)) for v, var in enumerate(variables)]
    names = [f"{variable.name}={state}" for variable in variables for state in variable.states]
    ends = np.cumsum([block.shape[1] for block in blocks]).tolist()
    groups = [range(end - block.shape[1], end) for end, block in zip(ends, blocks, strict=True)]
    return _split(np.hstack(blocks), names, groups)


def _states_and_more(variable: DiscreteVariable) -> list[str]:
    """Return the names of a variable's values, and of those that it does not have."""
    n = len(variable.states)
    return [*variable.states, *(f"no value {k + 1}" for k in range(n, _MOST_VALUES))]


def _sample(files: Sequence[bytes]) -> tuple[list[DiscreteVariable], NDArray[np.uint8]]:
    """Return the variables of the network and the values of all samples, in the file's order."""
    (packed,) = files
    variables = parse_discrete(gzip.decompress(packed).decode("utf-8"), "alarm.bif.gz")
    uniform = np.random.Generator(np.random.PCG64(_SEED)).random((_N_SAMPLES, len(variables)))
    values = np.zeros((_N_SAMPLES, len(variables)), np.uint8)
    for j, v in enumerate(_ancestral_order(variables)):
        table = variables[v].table
        cumulative = np.cumsum(table / table.sum(axis=-1, keepdims=True), axis=-1)
        cumulative[..., -1] = 1.0
        own = cumulative[tuple(values[:, p] for p in variables[v].parents)]
        values[:, v] = (own <= uniform[:, j, None]).sum(axis=1)
    return variables, values


def _ancestral_order(variables: Sequence[DiscreteVariable]) -> list[int]:
    """Return the variables, parents first: the file is scanned until all have been taken."""
    order: list[int] = []
    while len(order) < len(variables):
        for v, variable in enumerate(variables):
            if v not in order and all(p in order for p in variable.parents):
                order.append(v)
    return order


def _split(
    rows: NDArray[np.bool_], names: Sequence[str], groups: Sequence[Sequence[int]]
) -> Mapping[str, Dataset]:
    return {
        split: Dataset.from_arrays(
            np.concatenate([rows[a:b] for a, b in spans]), names=names
        ).with_groups(groups)
        for split, spans in _PARTS.items()
    }
