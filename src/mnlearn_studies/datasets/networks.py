"""Samples of public Bayesian networks of variables with many states."""

import gzip
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.io.bif import parse_bif
from mnlearn.variables.schema import Schema

_SEED = 20261127
_ENDS = {"train": (0, 10_000), "valid": (10_000, 12_000), "test": (12_000, 17_000)}
# The uniform numbers that say which state of a variable all samples get.
Uniform = Callable[[int], NDArray[np.float64]]


def build_samples(files: Sequence[bytes]) -> Mapping[str, Dataset]:
    """Return 10,000 training, 2,000 validation and 5,000 test samples of a network."""
    rng = np.random.Generator(np.random.PCG64(_SEED))
    schema, values = sample_network(files, lambda _: rng.random(_ENDS["test"][1]))
    rows = schema.rows(values)
    return {split: merge_rows(rows[a:b], schema=schema) for split, (a, b) in _ENDS.items()}


def sample_network(files: Sequence[bytes], uniform: Uniform) -> tuple[Schema, NDArray[np.uint8]]:
    """Return the variables of a packed `.bif` file and samples of them, in the file's order.

    uniform : returns the uniform numbers of the variable at a place of the order, parents first.
    """
    (packed,) = files
    network = parse_bif(gzip.decompress(packed).decode("utf-8"), "network.bif.gz")
    order = _ancestral_order(network)
    drawn = [uniform(place) for place in range(len(order))]
    values = np.zeros((len(drawn[0]), network.n_vars), np.uint8)
    for v, numbers in zip(order, drawn, strict=True):
        parents, table = network.table(v)
        cumulative = np.cumsum(table / table.sum(axis=-1, keepdims=True), axis=-1)
        cumulative[..., -1] = 1.0
        own = cumulative[tuple(values[:, p] for p in parents)]
        values[:, v] = (own <= numbers[:, None]).sum(axis=1)
    return network.schema, values


def _ancestral_order(network: BayesianNetwork) -> list[int]:
    """Return the variables, parents first: the file is scanned until all have been taken."""
    order: list[int] = []
    while len(order) < network.n_vars:
        for v in range(network.n_vars):
            if v not in order and all(p in order for p in network.parents(v)):
                order.append(v)
    return order
