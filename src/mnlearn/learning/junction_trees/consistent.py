"""Junction trees that are consistent with what separators separate (Chechetka & Guestrin 2007).

They are found from the entropies of all small sets of variables.
"""

import itertools
from dataclasses import dataclass
from math import ceil, comb, log

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import pack_columns
from mnlearn.kernels.arithmetic.ties import EQUAL, first_greatest
from mnlearn.kernels.junction_trees import consistent as kernels
from mnlearn.kernels.junction_trees import entropies as entropy_kernels
from mnlearn.kernels.junction_trees.consistent import fill_components, link_variables
from mnlearn.kernels.junction_trees.entropies import entropies_with, fill_subsets
from mnlearn.models.junction_tree import JunctionTree, shared
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges

Clique = tuple[int, ...]
# Variables with more joint values than this are not counted together.
MAX_VALUES = 10_000_000


@dataclass(frozen=True, eq=False)
class Cliques:
    """The variables of each clique, ascending, and a clique before each, or NO_PARENT.

    threshold : at which the tree is consistent; 0 for greedy ones.
    """

    members: tuple[Clique, ...]
    parent: tuple[int, ...]
    threshold: float = 0.0


@dataclass(frozen=True, eq=False)
class Examples:
    """Distinct rows of values, uint8 of shape (n_variables, n_rows), with their weights."""

    data: Dataset
    values: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.values)

    def check_joint_values(self, m: int) -> None:
        """Raise InputError if some m variables have too many joint values to count them."""
        most = np.sort(self.data.schema.arity.astype(np.float64))[::-1][:m].prod()
        if most > MAX_VALUES:
            raise InputError(
                f"junction tree: {m} variables have up to {most:,.0f} joint values, more than "
                f"{MAX_VALUES:,}; choose a smaller treewidth."
            )

    def entropies_with(self, members: Clique, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the entropy of some variables together with each of the others, in nats."""
        out = np.empty(len(others))
        own = np.array(members, np.int64)
        data = self.data
        entropies_with(self.values, data.weight, data.schema.arity, own, others, out)
        return out

    def entropy(self, members: Clique) -> float:
        """Return the entropy of some variables in nats; 0 for none."""
        if not members:
            return 0.0
        return float(self.entropies_with(members[:-1], np.array(members[-1:], np.int64))[0])

    def fit(self, cliques: Cliques, pseudocount: float) -> JunctionTree:
        """Return the junction tree with the conditional distributions of the examples.

        Where a separator has no examples and no pseudocount, all values are equally likely.
        """
        tables, schema = [], self.data.schema
        for c, own in enumerate(cliques.members):
            above = cliques.parent[c]
            common = shared(own, cliques.members[above]) if above >= 0 else ()
            shape = tuple(schema.arity[list(own)].tolist())
            cell = np.ravel_multi_index(tuple(self.values[list(own)]), shape)
            cells = np.bincount(cell, self.data.weight, int(np.prod(shape)))
            new = tuple(k for k, v in enumerate(own) if v not in common)
            joint = cells.reshape(shape) + pseudocount
            total = joint.sum(axis=new, keepdims=True)
            joint = np.where(total > 0, joint, 1.0)
            with np.errstate(divide="ignore"):
                tables.append(np.log(joint / joint.sum(axis=new, keepdims=True)).ravel())
        return JunctionTree(
            schema,
            np.cumsum([0, *map(len, cliques.members)]),
            np.concatenate([np.array(own, np.int32) for own in cliques.members]),
            np.array(cliques.parent, np.int32),
            np.concatenate(tables),
        )


def examples_of(train: Dataset) -> Examples:
    """Return the examples of a dataset."""
    values = np.ascontiguousarray(train.schema.values(train.rows).T)
    return Examples(train, values)


# About a gigabyte of entropies and counts; more are refused.
MAX_SUBSETS = 80_000_000


@dataclass(frozen=True, eq=False)
class SubsetEntropies:
    """Entropies of all sets of up to so many variables, in nats.

    Those of m variables begin at start[m]; binom[j, v] is the number of subsets of j of v
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
    """Return the plug-in entropies of all sets of up to `largest` variables."""
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
    data, schema = examples.data, examples.data.schema
    if schema.is_binary and not data.is_weighted:
        _fill_by_columns(examples, binom, start, parts)
    else:
        for m in range(1, largest + 1):
            entropy_kernels.value_entropies(examples.values, data.weight, schema.arity, m, parts[m])
    return SubsetEntropies(n, value, start, binom)


def _fill_by_columns(
    examples: Examples,
    binom: NDArray[np.int64],
    start: NDArray[np.int64],
    parts: list[NDArray[np.float64]],
) -> None:
    """Fill in the entropies of the sets of each size from packed columns of all examples."""
    columns = pack_columns(examples.values[:, examples.data.row_of].T)
    n_examples = len(examples.data.row_of)
    counts = np.empty(start[-1], np.int32)
    counts[0] = n_examples
    c = np.arange(1, n_examples + 1, dtype=np.float64)
    c_log_c = np.concatenate([[0.0], c * np.log(c)])
    for m in range(1, len(parts)):
        entropy_kernels.count_subsets(columns, m, counts[start[m] : start[m + 1]])
        entropy_kernels.subset_entropies(m, len(columns), counts, start, binom, c_log_c, parts[m])


# If no tree is consistent at a threshold, those from the least one on are tried that are each the
# step times the one before.
_LEAST, _STEP = 1e-4, 1.02


class Separators:
    """All sets of `treewidth` variables, and which variables stay together given each of them."""

    def __init__(
        self, examples: Examples, treewidth: int, subset_size: int, threads: int = 1
    ) -> None:
        n = len(examples)
        largest = min(treewidth + subset_size, n)
        self._entropies = e = subset_entropies(examples, largest)
        self._members = np.empty((len(e.of_size(treewidth)), treewidth), np.int16)
        fill_subsets(n, self._members)
        n_separators = len(self._members)
        self._ends = np.empty((n_separators, n - treewidth - 1, 2), np.int16)
        self._shared = np.empty((n_separators, n - treewidth - 1))

        def link(first: int, last: int) -> None:
            link_variables(
                self._members, first, last, n, min(subset_size, n - treewidth), e.value, e.start,
                e.binom, self._ends, self._shared,
            )  # fmt: skip

        map_ranges(link, n_separators, threads)

    def find(self, threshold: float) -> Cliques:
        """Return the best consistent tree that was found.

        Variables that share more than the threshold, given a separator, are on one side of it. If
        no tree is consistent with that, bisection finds the least higher threshold, to 2 %, at
        which one is.
        """
        found = self._try(threshold)
        if found is not None:
            return found
        highest = float(self._shared.max())
        first = max(threshold, _LEAST)
        # Trees are found at `above` and not at `below`.
        below, above = -1, max(0, ceil(log(highest / first) / log(_STEP)))
        while above - below > 1 or found is None:
            middle = (below + above) // 2 if above - below > 1 else above
            tried = self._try(first * _STEP**middle)
            below, above = (middle, above) if tried is None else (below, middle)
            found = tried or found
        return found

    def _try(self, threshold: float) -> Cliques | None:
        """Return the best tree found that is consistent at a threshold, None if there is none."""
        components = self._components(threshold)
        return _best_cliques(self._entropies, self._members, components, threshold)

    def _components(self, threshold: float) -> kernels.Components:
        """Return the components of all separators at a threshold."""
        n = self._entropies.n_variables
        count = 1 + np.count_nonzero(self._shared <= threshold, axis=1)
        first = np.concatenate([[0], np.cumsum(count)])
        components = kernels.Components(
            self._members,
            first,
            np.empty(first[-1], np.int32),
            np.zeros((first[-1], -(-n // 64)), np.uint64),
            np.zeros(first[-1], np.int32),
        )
        fill_components(
            self._members, n, self._ends, self._shared, threshold, first, components.separator,
            components.mask, components.size,
        )  # fmt: skip
        return components


def _best_cliques(
    entropies: SubsetEntropies,
    members: NDArray[np.int16],
    components: kernels.Components,
    threshold: float,
) -> Cliques | None:
    """Return the cliques of the best tree, None if no separator has trees on all its sides.

    Dynamic programming goes over the components, smaller ones first.
    """
    n, first = len(components.size), components.first
    choice = kernels.Choice(np.full(n, -np.inf), np.empty(n, np.int16), np.zeros(n, np.int8))
    order = np.argsort(components.size, kind="stable")
    kernels.find_trees(order, components, entropies.value, entropies.start, entropies.binom, choice)
    value = np.add.reduceat(choice.value, first[:-1]) - entropies.of_size(members.shape[1])
    best = first_greatest(value, EQUAL)
    if np.isneginf(value[best]):
        return None
    found: list[Clique] = []
    parent: list[int] = []
    # The first clique has the whole separator; the other components hang from it.
    waiting = [(c, min(k, 1) - 1) for k, c in enumerate(range(first[best], first[best + 1]))]
    waiting.reverse()
    clique = np.empty(members.shape[1] + 1, np.int64)
    below = np.empty(entropies.n_variables, np.int64)
    rest = np.empty(components.mask.shape[1], np.uint64)
    while waiting:
        c, above = waiting.pop()
        v = int(choice.new[c])
        kernels.join(members[components.separator[c]], v, clique)
        _, n_below = kernels.cover(
            c, v, int(choice.turn[c]), clique, components, choice, entropies.binom, rest, below
        )
        found.append(tuple(clique.tolist()))
        parent.append(above)
        waiting += [(d, len(found) - 1) for d in reversed(below[:n_below].tolist())]
    return Cliques(tuple(found), tuple(parent), threshold)
