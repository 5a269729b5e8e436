"""Learning the probability trees of all variables, for a whole grid of kappa at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels import trees as kernels
from mnlearn.learning.shares import ALONE, Arrays, Shares, Work
from mnlearn.models.dependency_network import LEAF, Trees
from mnlearn.runtime.arrays import read_only


@dataclass(frozen=True, eq=False)
class TreePath:
    """Trees grown at the loosest kappa of a grid; those of any smaller kappa are their tops.

    The best split of a node does not depend on kappa. Kappa only decides whether the split is made:
    a node whose best split gains at most -log(kappa) is a leaf.

    Attributes
    ----------
    trees : Trees
        The full trees.
    gain : float64 array of shape (n_nodes,)
        Gain of the best split of each node, in nats, less what rounding may have added.
    min_gain : float
        -log(kappa) of the full trees, in nats.
    seconds_shared : float
        Seconds that other processes took for their shares of the trees.
    """

    trees: Trees
    gain: NDArray[np.float64]
    min_gain: float
    seconds_shared: float = 0.0

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
    shares: Shares = ALONE,
    sample: int = 0,
) -> TreePath:
    """Grow a probability tree for each variable.

    Parameters
    ----------
    data : Dataset
        The training data.
    kappa : float
        Structure prior in (0, 1]: a split must gain more than -log(kappa) in the log-likelihood of
        the training examples under smoothed leaves, in nats. Of splits that gain the same but for
        rounding, the one on the first variable is made (decision 0023).
    min_examples : float
        Least weight of examples on each side of a split.
    threads : int
        Number of threads; the result does not depend on it.
    pseudocount : float
        Added to the count of each value at a leaf; above 0.
    shares : Shares
        Whether variables are shared out to processes.
    sample : int
        Tells apart the trees of several samples of the data if they are.

    Returns
    -------
    TreePath
        The trees for `kappa` and for every smaller kappa.

    References
    ----------
    .. [1] Lowd and Davis, "Learning Markov network structure with decision trees", ICDM 2010,
       Section III.
    """
    min_gain = float(-np.log(kappa))
    # Columns with more ones than zeros are stored negated: work is proportional to the ones.
    negated = data.frequency > 0.5

    def begin() -> Work:
        tree_data = _arrange(data, negated)
        rule = kernels.SplitRule(min_gain, float(min_examples), _smoothing(data, pseudocount))
        return lambda first, end: _grow(range(first, end), tree_data, rule)

    name = ("trees", sample, kappa, min_examples, pseudocount)
    grown, seconds = shares.learn(name, data.n_vars, begin, _no_trees, threads)
    trees = _put_together(grown, negated, pseudocount)
    return TreePath(trees, read_only(grown["gain"]), min_gain, seconds)


def _arrange(data: Dataset, negated: NDArray[np.bool_]) -> kernels.TreeData:
    """Return the data with some columns negated."""
    rows = data.rows ^ negated.astype(np.uint8)
    indptr = np.concatenate([[0], np.cumsum(rows.sum(axis=1, dtype=np.int64))])
    indices = np.nonzero(rows)[1].astype(np.int32)
    pair_weight = np.zeros((data.n_vars, data.n_vars))
    kernels.cooccurrence(indptr, indices, data.weight, pair_weight)
    columns = np.ascontiguousarray(rows.T)
    return kernels.TreeData(columns, indptr, indices, data.weight, pair_weight)


def _smoothing(data: Dataset, pseudocount: float) -> kernels.Smoothing:
    """Tabulate the logarithms of smoothed counts where all counts are whole numbers."""
    whole = bool((data.weight == np.round(data.weight)).all()) and data.n_examples < 2**24
    counts_seen = np.arange(data.n_examples + 1) if whole else np.zeros(0)
    return kernels.Smoothing(
        float(pseudocount),
        np.log(counts_seen + pseudocount),
        np.log(counts_seen + 2.0 * pseudocount),
    )


def _grow(targets: range, data: kernels.TreeData, rule: kernels.SplitRule) -> Arrays:
    """Grow the trees of some targets, one after the other, in the same memory.

    Returns the fields of `TreeNodes` for all of them, and n_nodes, int64 of shape (n_targets,).
    """
    n_vars, n_rows = data.columns.shape
    n_levels = int(np.log2(n_rows)) + 4
    room = kernels.TreeRoom(
        counts=np.empty((n_levels, 2, n_vars)),
        active=np.empty((n_levels, n_vars), np.int32),
        gain=np.empty(n_vars),
        order=np.empty(n_rows, np.int32),
        spare=np.empty(n_rows, np.int32),
        stack=np.empty((n_levels, 4), np.int64),
    )
    nodes = kernels.TreeNodes(
        split_var=np.empty(2 * n_rows, np.int32),
        child=np.empty((2 * n_rows, 2), np.int32),
        gain=np.empty(2 * n_rows),
        value_weight=np.empty((2 * n_rows, 2)),
    )
    grown = []
    for target in targets:
        n_nodes = kernels.grow_tree(target, data, rule, room, nodes)
        grown.append(kernels.TreeNodes._make(field[:n_nodes].copy() for field in nodes))
    fields = zip(*grown, strict=True)
    found = dict(zip(kernels.TreeNodes._fields, map(np.concatenate, fields), strict=True))
    return {"n_nodes": np.array([len(one.gain) for one in grown]), **found}


def _no_trees(first: int, end: int) -> Arrays:
    """Return a leaf for each of some targets."""
    n = end - first
    return {
        "n_nodes": np.ones(n, np.int64),
        "split_var": np.full(n, LEAF, np.int32),
        "child": np.zeros((n, 2), np.int32),
        "gain": np.full(n, -np.inf),
        "value_weight": np.zeros((n, 2)),
    }


def _put_together(grown: Arrays, negated: NDArray[np.bool_], pseudocount: float) -> Trees:
    """Return the trees of the data as they were before columns were negated."""
    start = np.concatenate([[0], np.cumsum(grown["n_nodes"])])
    split_var = grown["split_var"]
    tree_of = np.repeat(np.arange(len(start) - 1), grown["n_nodes"])
    child = grown["child"] + start[tree_of, None]
    inner = split_var != LEAF
    child[~inner] = LEAF
    swapped = inner & negated[split_var]
    child[swapped] = child[swapped][:, ::-1]
    count = grown["value_weight"]
    count[negated[tree_of]] = count[negated[tree_of]][:, ::-1]
    total = count.sum(axis=1, keepdims=True)
    return Trees(
        start=read_only(start),
        split_var=read_only(split_var),
        child=read_only(child.astype(np.int32)),
        log_prob=read_only(np.log((count + pseudocount) / (total + 2 * pseudocount))),
    )
