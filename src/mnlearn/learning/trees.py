"""Learning the probability trees of all variables, for a whole grid of kappa at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels import trees as kernels
from mnlearn.models.dependency_network import LEAF, Trees
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.threads import map_ranges


@dataclass(frozen=True, eq=False)
class TreePath:
    """Trees grown at the loosest kappa of a grid; those of any smaller kappa are their tops.

    The best split of a node does not depend on kappa, only whether it is made does: a node
    whose best split gains at most -log(kappa) is a leaf, with everything below it gone.

    trees : the full trees. gain : float64, shape (n_nodes,), gain of each node's best split.
    """

    trees: Trees
    gain: NDArray[np.float64]
    min_gain: float

    def cut(self, kappa: float) -> Trees:
        """Return the trees for `kappa` (at most the kappa they were grown with)."""
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
    pseudocount: float = 1.0,
) -> TreePath:
    """Grow a probability tree per variable (Lowd & Davis 2010, Section III).

    kappa : structure prior in (0, 1]; a split must gain more than -log(kappa) in the
        log-likelihood of the training examples under smoothed leaves.
    min_examples : least weight of examples on each side of a split.
    pseudocount : added to the count of each value at a leaf; above 0.
    """
    # Columns with more ones than zeros are stored negated: work is proportional to the ones.
    negated = data.frequency > 0.5
    rows = data.rows ^ negated.astype(np.uint8)
    indptr = np.concatenate([[0], np.cumsum(rows.sum(axis=1, dtype=np.int64))])
    indices = np.nonzero(rows)[1].astype(np.int32)
    columns = np.ascontiguousarray(rows.T)
    pair_weight = np.zeros((data.n_vars, data.n_vars))
    kernels.cooccurrence(indptr, indices, data.weight, pair_weight)
    whole = bool((data.weight == np.round(data.weight)).all()) and data.n_examples < 2**24
    counts_seen = np.arange(data.n_examples + 1) if whole else np.zeros(0)
    smoothing = kernels.Smoothing(
        float(pseudocount),
        np.log(counts_seen + pseudocount),
        np.log(counts_seen + 2.0 * pseudocount),
    )
    min_gain = -np.log(kappa)
    tree_data = kernels.TreeData(columns, indptr, indices, data.weight, pair_weight)
    rule = kernels.SplitRule(float(min_gain), float(min_examples), smoothing)

    def grow(begin: int, end: int) -> list[kernels.TreeNodes]:
        n_levels = int(np.log2(data.n_rows)) + 4
        room = kernels.TreeRoom(
            counts=np.empty((n_levels, 2, data.n_vars)),
            active=np.empty((n_levels, data.n_vars), np.int32),
            order=np.empty(data.n_rows, np.int32),
            spare=np.empty(data.n_rows, np.int32),
            stack=np.empty((n_levels, 4), np.int64),
        )
        nodes = kernels.TreeNodes(
            split_var=np.empty(2 * data.n_rows, np.int32),
            child=np.empty((2 * data.n_rows, 2), np.int32),
            gain=np.empty(2 * data.n_rows),
            value_weight=np.empty((2 * data.n_rows, 2)),
        )
        grown = []
        for target in range(begin, end):
            n_nodes = kernels.grow_tree(target, tree_data, rule, room, nodes)
            grown.append(
                kernels.TreeNodes(
                    split_var=nodes.split_var[:n_nodes].copy(),
                    child=nodes.child[:n_nodes].copy(),
                    gain=nodes.gain[:n_nodes].copy(),
                    value_weight=nodes.value_weight[:n_nodes].copy(),
                )
            )
        return grown

    grown = [t for block in map_ranges(grow, data.n_vars, threads) for t in block]
    start = np.concatenate([[0], np.cumsum([len(t.gain) for t in grown])])
    split_var = np.concatenate([t.split_var for t in grown])
    child = np.concatenate([t.child + s for t, s in zip(grown, start[:-1], strict=True)])
    inner = split_var != LEAF
    child[~inner] = LEAF
    swapped = inner & negated[split_var]
    child[swapped] = child[swapped][:, ::-1]
    count = np.concatenate([t.value_weight for t in grown])
    tree_of = np.repeat(np.arange(data.n_vars), np.diff(start))
    count[negated[tree_of]] = count[negated[tree_of]][:, ::-1]
    trees = Trees(
        start=read_only(start),
        split_var=read_only(split_var),
        child=read_only(child.astype(np.int32)),
        log_prob=read_only(
            np.log((count + pseudocount) / (count.sum(axis=1, keepdims=True) + 2 * pseudocount))
        ),
    )
    return TreePath(trees, read_only(np.concatenate([t.gain for t in grown])), float(min_gain))
