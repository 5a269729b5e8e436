"""The way to arrange a feature set for weight learning that is quickest to evaluate."""

from mnlearn.data.dataset import Dataset
from mnlearn.learning.weights.likelihood import Restrictable
from mnlearn.learning.weights.packed_likelihood import FEW, PackedLikelihood, arrange_packed
from mnlearn.learning.weights.rewritten_likelihood import arrange_rewritten
from mnlearn.models.features import FeatureSet

# Rewriting has to save at least this share of the estimated work.
MIN_SAVED = 0.25
# Below this work an evaluation takes less than 0.1 ms, and all of them together take less than the
# rewriting and the import of the sparse matrices that it needs.
MIN_WORK = 50_000


def arrange(features: FeatureSet, data: Dataset, threads: int = 1) -> Restrictable:
    """Arrange `features` (distinct, canonical, none empty) in the way that is quicker to evaluate.

    They stay as they are, or are rewritten by the rarer value of each variable.
    """
    plain = arrange_packed(features, data, threads)
    plain_work = _work(plain, data)
    if plain_work < MIN_WORK:
        return plain
    rewritten = arrange_rewritten(features, data, plain.curvature, threads)
    work = _work(rewritten.rewritten, data) + rewritten.sums.nnz
    return plain if work > (1 - MIN_SAVED) * plain_work else rewritten


def _work(likelihood: PackedLikelihood, data: Dataset) -> float:
    """Return the work of an evaluation, in rows of lists."""
    columns = len(likelihood.many) + len(likelihood.few)
    return len(likelihood.rows) + FEW * data.n_rows * len(likelihood.many) + columns
