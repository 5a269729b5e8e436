"""The pseudo-likelihood of the features of probability trees, by walks of the trees."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.likelihood import tree_walks as kernels
from mnlearn.kernels.likelihood.tree_walks import Forest, Walks
from mnlearn.models.dependency_network import Trees
from mnlearn.models.features import FeatureSet
from mnlearn.models.tree_features import TreeFeatures
from mnlearn.runtime.arrays import spans
from mnlearn.runtime.threads import map_ranges

# Walks are stored up to this memory. Those of further rows are found anew in each evaluation.
STORED_BYTES = 2**28
# The log-odds of one block of rows stay in the cache.
_BLOCK_CELLS = 2**15
# Each part of the rows has its own sums, so that the sums do not depend on the threads.
_PARTS, _PART_LEAVES = 16, 2**22
# Two bytes hold fewer codes than this.
_SHORT_CODES = 2**16
# The walks are made for fewer features only if this share of the inner nodes is no longer needed.
_DROPPED = 0.5
# Rows from which the work of other ways is estimated.
_SAMPLE_ROWS = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeLikelihood:
    """The pseudo-likelihood of features that are paths of trees, as a function of the weights.

    place : (n_features,), 2^bits times the node of the path, plus the state of the target.
    curvature : of the Hessian at w = 0; an upper bound if variables have many states.
    parent, leaf : (n_nodes,), parent of each node, and number of its leaf in `forest`; or -1.
    """

    place: NDArray[np.int64]
    curvature: NDArray[np.float64]
    trees: Trees
    parent: NDArray[np.int64]
    leaf: NDArray[np.int64]
    forest: Forest
    walks: Walks
    threads: int = 1

    @property
    def n_features(self) -> int:
        return len(self.place)

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        n_leaves, n_codes = int(self.forest.first_leaf[-1]), 1 << self.forest.bits
        of_nodes, total = np.zeros((len(self.parent), n_codes)), np.empty((n_leaves, n_codes))
        of_nodes.ravel()[self.place] = w
        kernels.sum_down(self.parent, self.leaf, of_nodes, total)
        part_start = _cut_parts(self.walks, n_leaves)
        n_parts = len(part_start) - 1
        loss, gradient = np.empty(n_parts), np.zeros((n_parts, total.size))

        def evaluate(first: int, last: int) -> None:
            kernels.value_and_gradient(
                self.forest, self.walks, total.ravel(), part_start, first, last, loss, gradient
            )

        map_ranges(evaluate, n_parts, self.threads)
        of_leaves = gradient.sum(axis=0).reshape(total.shape)
        kernels.sum_up(self.parent, self.leaf, of_leaves, of_nodes)
        return float(loss.sum()), of_nodes.ravel()[self.place]

    def restrict(self, members: NDArray[np.bool_]) -> "TreeLikelihood":
        place, curvature = self.place[members], self.curvature[members]
        part = replace(self, place=place, curvature=curvature)
        inner = _find_inner(self.parent, place >> self.forest.bits)
        if inner.sum() >= (1 - _DROPPED) * len(self.forest.test):
            return part
        leaf, forest, _ = _build_forest(self.trees, self.parent, inner, self.forest.start)
        walks = _store_walks(forest, *self.walks[:3], self.threads)
        return replace(part, leaf=leaf, forest=forest, walks=walks)


def arrange_trees(features: TreeFeatures, data: Dataset, threads: int = 1) -> TreeLikelihood:
    """Arrange the features of trees, with at most `STORED_BYTES` of stored walks."""
    assert features.place is not None
    trees, schema = features.trees, data.schema
    node, state = np.divmod(features.place, trees.most_states)
    parent = trees.parent
    inner = _find_inner(parent, node)
    leaf, forest, n_above = _build_forest(trees, parent, inner, schema.start)
    walks = _store_walks(forest, data.rows, schema.values(data.rows), data.weight, threads)
    place = (node << forest.bits) + state
    return TreeLikelihood(
        place=place,
        curvature=_curvature(parent, leaf, n_above, forest, walks, threads).ravel()[place],
        trees=trees,
        parent=parent,
        leaf=leaf,
        forest=forest,
        walks=walks,
        threads=threads,
    )


def count_touches(features: TreeFeatures, data: Dataset, most: float = 1.0) -> float:
    """Estimate the number of (row, feature, literal) triples where the other literals hold.

    Only features whose node at most the share `most` of the rows reaches are counted.
    """
    assert features.place is not None
    trees = features.trees
    counted = np.zeros(len(trees.split_var), bool)
    counted[features.place // trees.most_states] = True
    step = -(-data.n_rows // _SAMPLE_ROWS)
    rows = data.rows[::step]
    of_trees = trees.start, trees.split_var, trees.child, rows
    counted &= kernels.count_visits(*of_trees) <= most * len(rows)
    touches = kernels.count_touches(counted, trees.depth, *of_trees)
    return float(touches) * data.n_rows / len(rows)


def _find_inner(parent: NDArray, node: NDArray) -> NDArray[np.bool_]:
    """Return which nodes have one of some nodes below them."""
    below = np.zeros(len(parent), bool)
    node = np.unique(node)
    while len(node):
        above = np.unique(parent[node])
        above = above[above >= 0]
        node = above[~below[above]]
        below[node] = True
    return below


def _build_forest(
    trees: Trees, parent: NDArray, inner: NDArray, start: NDArray[np.int64]
) -> tuple[NDArray, Forest, NDArray[np.int64]]:
    """Return each node's leaf (or -1), the trees of `inner`, and changes above each node."""
    kept = (parent < 0) | inner[parent]
    is_leaf = kept & ~inner
    leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
    place = np.where(inner, np.cumsum(inner) - 1, ~leaf).astype(np.int32)
    test = trees.split_var[inner]
    var = (np.searchsorted(start, test, "right") - 1).astype(np.int32)
    change_start, change = _changes(start, test, var, trees.paths().select(inner))
    # By which side of an inner node each node is reached, as a position in `change_start`.
    side = np.zeros(len(parent), np.int64)
    side[trees.child[~trees.is_leaf, 1]] = 1
    side += 2 * place[parent]
    n_above, path_start, path = _changes_on_paths(parent, kept, is_leaf, side, change_start, change)
    forest = Forest(
        start=start,
        bits=max(1, int(np.diff(start).max(initial=1) - 1).bit_length()),
        root=place[trees.start[:-1]],
        test=test,
        var=var,
        child=place[trees.child[inner]].reshape(-1, 2),
        change_start=change_start,
        change=change,
        first_leaf=np.concatenate([[0], np.cumsum(is_leaf)])[trees.start],
        path_start=path_start,
        path=path,
    )
    return leaf, forest, n_above


def _changes(
    start: NDArray[np.int64], test: NDArray, var: NDArray, above: FeatureSet
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return `change_start` and `change` of a `Forest`; `above`: tests above each node.

    Where a row has the tested state, every other state leaves the node by its other side, but for
    those that are tested above. Where it has another state, the tested one does.
    """
    width, every = np.diff(start)[var], np.arange(len(test))
    wide = np.flatnonzero(width > 1)
    node, column = np.repeat(wide, width[wide]), spans(start[var[wide]], width[wide])
    n_columns = start[-1]
    tested = [above.owner * n_columns + above.var, every * n_columns + test]
    is_left = ~np.isin(node * n_columns + column, np.concatenate(tested))
    single = np.flatnonzero(width == 1)
    place = np.concatenate([2 * every, 2 * single + 1, 2 * node[is_left] + 1])
    order = np.argsort(place, kind="stable")
    change = np.concatenate([test, test[single], column[is_left]])[order].astype(np.uint32)
    return np.searchsorted(place[order], np.arange(2 * len(test) + 1)), change


def _changes_on_paths(
    parent: NDArray,
    kept: NDArray[np.bool_],
    is_leaf: NDArray[np.bool_],
    side: NDArray[np.int64],
    change_start: NDArray[np.int64],
    change: NDArray[np.uint32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]:
    """Return the number of changes above each node, and `path_start` and `path` of a `Forest`."""
    below = np.flatnonzero(kept & (parent >= 0))
    n_own = np.zeros(len(parent), np.int64)
    n_own[below] = np.diff(change_start)[side[below]]
    n_above, above = n_own.copy(), parent.copy()
    # All nodes climb together, one step at a time.
    while len(below := below[above[below] >= 0]):
        n_above[below] += n_own[above[below]]
        above[below] = parent[above[below]]
    path_start = np.concatenate([[0], np.cumsum(n_above[is_leaf])])
    path = np.empty(path_start[-1], np.uint32)
    node, end = np.flatnonzero(is_leaf), path_start[1:]
    while len(node):
        climbs = parent[node] >= 0
        node, end = node[climbs], end[climbs] - n_own[node[climbs]]
        path[spans(end, n_own[node])] = change[spans(change_start[side[node]], n_own[node])]
        node = parent[node]
    return n_above, path_start, path


def _store_walks(
    forest: Forest, rows: NDArray, states: NDArray, weight: NDArray, threads: int
) -> Walks:
    """Return the walks of the rows, as many of them stored as the memory allows."""
    n_rows, n_columns = rows.shape
    block_rows = int(np.clip(_BLOCK_CELLS // n_columns, 16, 512))
    count = np.empty(-(-n_rows // block_rows), np.int64)

    def count_codes(first: int, last: int) -> None:
        kernels.count_codes(forest, rows, block_rows, first, last, count)

    map_ranges(count_codes, len(count), threads)
    offset = np.concatenate([[0], np.cumsum(count)])
    n_codes = int(np.diff(forest.first_leaf).max()) << forest.bits
    dtype = np.uint16 if n_codes <= _SHORT_CODES else np.uint32
    n_stored = int(np.searchsorted(offset, STORED_BYTES // np.dtype(dtype).itemsize, "right")) - 1
    stored = np.empty(offset[n_stored], dtype)
    walks = Walks(rows, states, weight, block_rows, offset, n_stored, stored)

    def store(first: int, last: int) -> None:
        kernels.store_walks(forest, walks, first, last)

    map_ranges(store, n_stored, threads)
    return walks


def _cut_parts(walks: Walks, n_leaves: int) -> NDArray[np.int64]:
    """Return where each part of the blocks begins; see `weigh_walks`."""
    n_blocks = len(walks.offset) - 1
    n_parts = max(1, min(_PARTS, n_blocks, _PART_LEAVES // n_leaves))
    return n_blocks * np.arange(n_parts + 1) // n_parts


def _curvature(
    parent: NDArray,
    leaf: NDArray,
    n_above: NDArray[np.int64],
    forest: Forest,
    walks: Walks,
    threads: int,
) -> NDArray[np.float64]:
    """Return the diagonal of the Hessian at w = 0 for the feature of each node and target state.

    It is a quarter of the weight of the rows where the feature or a near miss of it holds, once for
    each literal that a change of state would change; an upper bound for more than two states.
    """
    n_leaves, n_codes = int(forest.first_leaf[-1]), 1 << forest.bits
    part_start = _cut_parts(walks, n_leaves)
    own, near = np.zeros((2, len(part_start) - 1, n_leaves * n_codes))

    def weigh(first: int, last: int) -> None:
        kernels.weigh_walks(forest, walks, part_start, first, last, own, near)

    map_ranges(weigh, len(part_start) - 1, threads)
    own_total = own.sum(axis=0).reshape(n_leaves, n_codes)
    near_total = near.sum(axis=0).reshape(n_leaves, n_codes)
    # A change of a test at or below a node leads from one leaf below the node to another.
    n_changes = np.diff(forest.path_start)[:, None]
    holds, missed = np.empty((2, len(parent), n_codes))
    kernels.sum_up(parent, leaf, own_total, holds)
    kernels.sum_up(parent, leaf, near_total - n_changes * own_total, missed)
    of_target = holds.sum(axis=1, keepdims=True)
    return np.asarray(0.25 * (2 * n_above[:, None] * holds + missed + of_target))
