"""Learning the probability trees of all variables, for a whole grid of kappa at once."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import pack_columns
from mnlearn.kernels import trees as kernels
from mnlearn.kernels.chow_liu import add_pair_counts
from mnlearn.kernels.trees import Smoothing
from mnlearn.learning.shares import Arrays, Shares, Work
from mnlearn.models.dependency_network import LEAF, Trees
from mnlearn.runtime.arrays import read_only


@dataclass(frozen=True, eq=False)
class TreePath:
    """Trees grown at the loosest kappa of a grid; those of any smaller kappa are their tops.

    A node whose best split gains at most -log(kappa) is a leaf. gain : of the best split of each
    node, in nats, less what rounding may have added.
    """

    trees: Trees
    gain: NDArray[np.float64]
    min_gain: float

    def cut(self, kappa: float) -> Trees:
        """Return the trees for `kappa`, at most the kappa that the full trees were grown with."""
        min_gain = -np.log(kappa)
        if min_gain < self.min_gain:
            raise ValueError(f"the trees were grown with a smaller kappa than {kappa}")
        full = self.trees
        splits = (full.split_var != LEAF) & (self.gain > min_gain)
        kept = np.zeros(len(splits), bool)
        kept[full.start[:-1]] = True
        parents = full.start[:-1][splits[full.start[:-1]]]
        while len(parents):
            children = full.child[parents].ravel()
            kept[children] = True
            parents = children[splits[children]]
        place = np.cumsum(kept) - 1
        inner = splits[kept]
        child = np.full((kept.sum(), 2), LEAF, np.int32)
        child[inner] = place[full.child[kept][inner]]
        return Trees(
            start=read_only(np.concatenate([[0], np.cumsum(kept)])[full.start]),
            split_var=read_only(np.where(inner, full.split_var[kept], LEAF).astype(np.int32)),
            child=read_only(child),
            log_prob=read_only(full.log_prob[kept]),
        )


def learn_tree_path(
    data: Dataset,
    kappa: float,
    min_examples: float = 0.0,
    threads: int = 1,
    *,
    pseudocount: float = 1.0,
    shares: Shares | None = None,
    sample: int = 0,
) -> TreePath:
    """Grow a probability tree for each variable (Lowd & Davis 2010, Section III).

    A split must gain more than -log(kappa) under smoothed leaves, in nats. Of splits that gain the
    same but for rounding, the one on the first column is made (decision 0023).
    """
    min_gain = float(-np.log(kappa))
    # Columns with more ones than zeros are stored negated: work is proportional to the ones.
    negated = data.frequency > 0.5

    n_states = max(2, int(data.schema.arity.max(initial=0)))

    def begin() -> Work:
        examples = _Examples(data, negated)
        return lambda first, end: _grow(
            range(first, end), examples, (min_gain, float(min_examples), pseudocount), n_states
        )

    name = ("trees", sample, kappa, min_examples, pseudocount)
    absent = partial(_no_trees, n_states)
    grown = (shares or Shares()).learn(name, data.n_vars, begin, absent, threads)
    trees = _put_together(grown, negated, data.schema.arity, pseudocount)
    return TreePath(trees, read_only(grown["gain"]), min_gain)


class _Examples:
    """The data with some columns negated, as the kernel takes them."""

    def __init__(self, data: Dataset, negated: NDArray[np.bool_]) -> None:
        ones = data.lists(negated=negated)
        self.data, self.negated = data, negated
        self.total = float(data.weight.cumsum()[-1])
        columns = np.ascontiguousarray((data.rows ^ negated.astype(np.uint8)).T)
        packed = data.columns ^ np.where(negated[:, None], np.uint64(2**64 - 1), np.uint64(0))
        # Logarithms of smoothed counts are looked up where all counts are whole numbers.
        weight, total = data.weight, data.n_examples
        whole = bool((weight == np.round(weight)).all()) and total < 2**24
        self.counts_seen = np.arange(total + 1) if whole else np.zeros(0)
        n_bits = int(weight.max()).bit_length() if whole else 0
        self.kernel_data = kernels.TreeData(
            columns, ones.start, ones.column, weight, packed, n_bits
        )
        self.pair_weight = _count_pairs(self.kernel_data)

    def target(self, v: int) -> kernels.Target:
        """Return variable `v` as the target of a tree."""
        first, end = self.data.schema.start[v : v + 2].tolist()
        pairs = self.pair_weight
        columns, every = self.kernel_data.columns[first:end], pairs.diagonal()
        if end - first == 1:
            state, ones = columns[0], np.stack([every - pairs[first], pairs[first]])
            total = np.array([self.total - every[first], every[first]])
        elif end > first:
            negated = self.negated[first:end, None]
            state = (columns ^ negated).argmax(axis=0).astype(np.uint8)
            ones = np.where(negated, every - pairs[first:end], pairs[first:end])
            total = np.where(negated[:, 0], self.total - every[first:end], every[first:end])
        else:
            state, ones = np.zeros(len(columns.T), np.uint8), every[None].copy()
            total = np.array([self.total])
        return kernels.Target(first, end, state, ones, total)

    def smoothing(self, n_states: int, pseudocount: float) -> Smoothing:
        """Return how counts of a target of some states become probabilities."""
        added = float(pseudocount), float(n_states * pseudocount)
        return Smoothing(*added, *(np.log(self.counts_seen + one) for one in added))

    def room(self, n_states: int) -> tuple[kernels.TreeRoom, kernels.TreeNodes]:
        """Return memory for a tree whose target has some states."""
        n_columns, n_rows = self.kernel_data.columns.shape
        n_levels = int(np.log2(n_rows)) + 4
        room = kernels.TreeRoom(
            counts=np.empty((n_levels, n_states, n_columns)),
            active=np.empty((n_levels, n_columns), np.int32),
            gain=np.empty(n_columns),
            order=np.empty(n_rows, np.int32),
            spare=np.empty(n_rows, np.int32),
            stack=np.empty((n_levels, 4), np.int64),
        )
        nodes = kernels.TreeNodes(
            split_var=np.empty(2 * n_rows, np.int32),
            child=np.empty((2 * n_rows, 2), np.int32),
            gain=np.empty(2 * n_rows),
            state_weight=np.empty((2 * n_rows, n_states)),
        )
        return room, nodes


def _count_pairs(data: kernels.TreeData) -> NDArray[np.float64]:
    """Return the weight of the rows in which two columns are both 1."""
    n_columns, n_words = data.packed.shape
    pairs = np.zeros((n_columns, n_columns))
    of_lists = float((np.diff(data.indptr).astype(np.float64) ** 2).sum())
    if not data.n_bits or n_words * n_columns**2 * data.n_bits > of_lists:
        kernels.cooccurrence(data.indptr, data.indices, data.weight, pairs)
        return pairs
    for bit in range(data.n_bits):
        has_bit = (data.weight.astype(np.int64) >> bit & 1).astype(np.uint8)
        add_pair_counts(data.packed & pack_columns(has_bit[:, None]), 1 << bit, pairs)
    return pairs


def _grow(
    targets: range, examples: _Examples, rule: tuple[float, float, float], most_states: int
) -> Arrays:
    """Grow the trees of some targets; return the fields of `TreeNodes`, and n_nodes of each."""
    grown = []
    # Targets of equally many states are grown in the same memory.
    made: dict[int, tuple[kernels.SplitRule, kernels.TreeRoom, kernels.TreeNodes]] = {}
    for v in targets:
        target = examples.target(v)
        k = len(target.total)
        if k not in made:
            own = kernels.SplitRule(*rule[:2], examples.smoothing(k, rule[2]))
            made[k] = own, *examples.room(k)
        n_nodes = kernels.grow_tree(target, examples.kernel_data, *made[k])
        found = kernels.TreeNodes._make(field[:n_nodes].copy() for field in made[k][2])
        wide = np.pad(found.state_weight, ((0, 0), (0, most_states - k)))
        if k == 2 and examples.negated[target.first]:
            wide[:, :2] = wide[:, 1::-1].copy()
        grown.append(found._replace(state_weight=wide))
    fields = zip(*grown, strict=True)
    found_all = dict(zip(kernels.TreeNodes._fields, map(np.concatenate, fields), strict=True))
    return {"n_nodes": np.array([len(one.gain) for one in grown]), **found_all}


def _no_trees(n_states: int, first: int, end: int) -> Arrays:
    """Return a leaf for each of some targets, with room for the states of any."""
    n = end - first
    return {
        "n_nodes": np.ones(n, np.int64),
        "split_var": np.full(n, LEAF, np.int32),
        "child": np.zeros((n, 2), np.int32),
        "gain": np.full(n, -np.inf),
        "state_weight": np.zeros((n, n_states)),
    }


def _put_together(
    grown: Arrays, negated: NDArray[np.bool_], arity: NDArray[np.int64], pseudocount: float
) -> Trees:
    """Return the trees of the data as they were before columns were negated."""
    start = np.concatenate([[0], np.cumsum(grown["n_nodes"])])
    split_var = grown["split_var"]
    tree_of = np.repeat(np.arange(len(start) - 1), grown["n_nodes"])
    child = grown["child"] + start[tree_of, None]
    inner = split_var != LEAF
    child[~inner] = LEAF
    swapped = inner & negated[split_var]
    child[swapped] = child[swapped][:, ::-1]
    count, n_states = grown["state_weight"], arity[tree_of, None]
    total = count.sum(axis=1, keepdims=True)
    log_prob = np.log((count + pseudocount) / (total + n_states * pseudocount))
    log_prob[np.arange(count.shape[1]) >= n_states] = -np.inf
    return Trees(
        start=read_only(start),
        split_var=read_only(split_var),
        child=read_only(child.astype(np.int32)),
        log_prob=read_only(log_prob),
    )
