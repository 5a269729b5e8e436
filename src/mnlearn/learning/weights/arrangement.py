"""The way to arrange a feature set for weight learning that is quickest to evaluate."""

from mnlearn.data.dataset import Dataset
from mnlearn.learning.weights.likelihood import Restrictable
from mnlearn.learning.weights.packed_likelihood import FEW, PackedLikelihood, arrange_packed
from mnlearn.learning.weights.rewritten_likelihood import arrange_rewritten
from mnlearn.learning.weights.tree_likelihood import arrange_trees, count_touches
from mnlearn.models.features import FeatureSet
from mnlearn.models.tree_features import TreeFeatures

# Rewriting has to save at least this share of the estimated work.
MIN_SAVED = 0.25
# Below this work an evaluation takes less than 0.1 ms, and all of them together take less than the
# rewriting and the import of the sparse matrices that it needs.
MIN_WORK = 50_000
# Lists of rows that would take more bytes than this cost more than walks of the trees
# (lab note 0041).
MAX_LISTS = 2**27


def arrange(features: FeatureSet, data: Dataset, threads: int = 1) -> Restrictable:
    """Arrange `features` (distinct, canonical, none empty) in the way that is quicker to evaluate.

    They stay as they are, or are rewritten by the rarer value of each variable.
    """
    plain = arrange_packed(features, data, threads)
    plain_work = _work(plain, data)
    asks_common = features.value == (data.frequency[features.var] > 0.5)
    if plain_work < MIN_WORK or not asks_common.any():
        return plain
    rewritten = arrange_rewritten(features, data, plain.curvature, threads)
    work = _work(rewritten.rewritten, data) + rewritten.sums.nnz
    return plain if work > (1 - MIN_SAVED) * plain_work else rewritten


def arrange_tree_features(features: TreeFeatures, data: Dataset, threads: int = 1) -> Restrictable:
    """Arrange the features of trees in the way that is quicker to evaluate.

    Where lists of rows would be long, the trees are walked instead.
    """
    if features.place is not None and _list_bytes(features, data) > MAX_LISTS:
        return arrange_trees(features, data, threads)
    return arrange(features.features, data, threads)


def _list_bytes(features: TreeFeatures, data: Dataset) -> float:
    """Return about how many bytes of lists of rows `arrange_packed` would store, at most."""
    return count_touches(features, data) * (2 if data.n_rows <= 2**16 else 4)


def _work(likelihood: PackedLikelihood, data: Dataset) -> float:
    """Return the work of an evaluation, in rows of lists."""
    columns = len(likelihood.many) + len(likelihood.few)
    return likelihood.n_listed + FEW * data.n_rows * len(likelihood.many) + columns
