"""Columns of a Markov network of which exactly one is 1, because its features forbid all else."""

import itertools

import numpy as np

from mnlearn.models.grouped_variables import NO_VALUE
from mnlearn.models.markov_network import MarkovNetwork


def exclusive_columns(network: MarkovNetwork, least: int = 3) -> tuple[tuple[int, ...], ...]:
    """Return the groups of columns of which every possible state has exactly one 1.

    Features of weight minus infinity say so: one forbids that all columns of the group are 0, and
    one for each pair forbids that both are 1. Trees write them as Markov
    networks of variables of several values.

    Parameters
    ----------
    network : MarkovNetwork
        What has the features.
    least : int
        Columns of a group at least. Two columns are a variable of two values, as one column is.

    Returns
    -------
    tuple of tuple of int
        Columns in ascending order; no column is in two groups.
    """
    pairs: set[tuple[int, ...]] = set()
    candidates: list[tuple[int, ...]] = []
    for f in np.flatnonzero(network.weight == -np.inf).tolist():
        literals = network.features.literals(f)
        columns = tuple(sorted(v for v, _ in literals))
        n_ones = sum(value for _, value in literals)
        if n_ones == len(columns) == 2:
            pairs.add(columns)
        elif n_ones == 0 and least <= len(columns) < NO_VALUE:
            candidates.append(columns)
    groups: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for columns in sorted(candidates):
        is_free = taken.isdisjoint(columns)
        if is_free and all(pair in pairs for pair in itertools.combinations(columns, 2)):
            groups.append(columns)
            taken.update(columns)
    return tuple(groups)
