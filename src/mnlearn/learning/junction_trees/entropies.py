"""The entropies of all small sets of variables."""

import itertools
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.junction_trees import entropies as kernels
from mnlearn.learning.junction_trees.examples import Examples
from mnlearn.runtime.errors import InputError

# About a gigabyte of entropies and counts; more are refused.
MAX_SUBSETS = 80_000_000


@dataclass(frozen=True, eq=False)
class SubsetEntropies:
    """Entropies of all sets of up to so many variables, in nats.

    value : float64. Those of m variables begin at start[m], in the order of the kernels of
        `junction_trees.entropies`; the
        empty set has the first place. binom : int64, binom[j, v] is the number of subsets of j of v
        variables.
    """

    n_variables: int
    value: NDArray[np.float64]
    start: NDArray[np.int64]
    binom: NDArray[np.int64]

    def of_size(self, m: int) -> NDArray[np.float64]:
        """Return the entropies of all sets of m variables."""
        return self.value[self.start[m] : self.start[m + 1]]


def subset_entropies(examples: Examples, largest: int) -> SubsetEntropies:
    """Return the plug-in entropies of all sets of up to `largest` variables.

    Raises
    ------
    InputError
        There are more than `MAX_SUBSETS` sets.
    """
    n = len(examples)
    sizes = [comb(n, m) for m in range(largest + 1)]
    if sum(sizes) > MAX_SUBSETS:
        raise InputError(
            f"junction tree: needs the entropies of {sum(sizes):,} sets of up to {largest} of "
            f"{n} variables, more than {MAX_SUBSETS:,}; choose a smaller treewidth or subset_size, "
            "or search=greedy."
        )
    start = np.cumsum([0, *sizes], dtype=np.int64)
    binom = np.array([[comb(v, j) for v in range(n + 1)] for j in range(largest + 2)], np.int64)
    value = np.zeros(start[-1])
    parts = [value[a:b] for a, b in itertools.pairwise(start)]
    if examples.is_binary and not examples.data.is_weighted:
        _fill_by_columns(examples, binom, start, parts)
    else:
        arity = examples.variables.arity
        for m in range(1, largest + 1):
            kernels.value_entropies(examples.values, examples.weight, arity, m, parts[m])
    return SubsetEntropies(n, value, start, binom)


def _fill_by_columns(
    examples: Examples,
    binom: NDArray[np.int64],
    start: NDArray[np.int64],
    parts: list[NDArray[np.float64]],
) -> None:
    """Fill in the entropies of the sets of each size from packed columns of all examples."""
    columns = _pack(examples.values[:, examples.data.row_of])
    n_examples = len(examples.data.row_of)
    counts = np.empty(start[-1], np.int32)
    counts[0] = n_examples
    c = np.arange(1, n_examples + 1, dtype=np.float64)
    c_log_c = np.concatenate([[0.0], c * np.log(c)])
    for m in range(1, len(parts)):
        kernels.count_subsets(columns, m, counts[start[m] : start[m + 1]])
        kernels.subset_entropies(m, len(columns), counts, start, binom, c_log_c, parts[m])


def _pack(values: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return a bit for each example, one row for each variable."""
    n, n_examples = values.shape
    padded = np.zeros((n, -(-n_examples // 64) * 64), np.uint8)
    padded[:, :n_examples] = values
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
