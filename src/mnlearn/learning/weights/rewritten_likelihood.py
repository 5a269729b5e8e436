"""Features rewritten by the rarer value of each variable, whose conjunctions touch few rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.weights.packed_likelihood import PackedLikelihood, arrange_packed
from mnlearn.models.features import FeatureSet, canonicalise, concatenate, feature_set

# A feature with n common values becomes 2^n conjunctions. A feature with more than this many common
# values is not rewritten (lab note 0014).
MAX_COMMON = 4


@dataclass(frozen=True, eq=False)
class RewrittenLikelihood:
    """The pseudo-likelihood of features by that of the conjunctions they are sums of.

    Attributes
    ----------
    curvature : float64 array of shape (n_features,)
        Diagonal of the Hessian at w = 0, of the features.
    rewritten : PackedLikelihood
        The likelihood of the conjunctions.
    sums, transposed : sparse matrix of shape (n_features, n_conjunctions), and its transpose
        The conjunctions that add up to each feature.
    """

    curvature: NDArray[np.float64]
    rewritten: PackedLikelihood
    sums: "scipy.sparse.csr_matrix"
    transposed: "scipy.sparse.csr_matrix"
    dual_value: ClassVar[None] = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.sums.shape[0])

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the negative log-pseudo-likelihood of all examples and its gradient."""
        value, gradient = self.rewritten.value_and_gradient(self.transposed @ w)
        return value, self.sums @ gradient

    def restrict(self, members: NDArray[np.bool_]) -> "RewrittenLikelihood":
        """Return the likelihood of some of the features alone, in the same order."""
        sums = self.sums[np.flatnonzero(members)]
        used = np.zeros(sums.shape[1], bool)
        used[sums.indices] = True
        sums = sums[:, np.flatnonzero(used)]
        return RewrittenLikelihood(
            self.curvature[members],
            self.rewritten.restrict(used),
            sums,
            sums.T.tocsr(),
        )


def arrange_rewritten(
    features: FeatureSet, data: Dataset, curvature: NDArray[np.float64], threads: int = 1
) -> RewrittenLikelihood:
    """Arrange `features` (distinct, canonical, none empty) by the conjunctions they are sums of."""
    conjunctions, sums = rewrite_features(features, data)
    rewritten = arrange_packed(conjunctions, data, threads)
    return RewrittenLikelihood(curvature, rewritten, sums, sums.T.tocsr())


def rewrite_features(
    features: FeatureSet, data: Dataset
) -> tuple[FeatureSet, "scipy.sparse.csr_matrix"]:
    """Return conjunctions, and which of them add up to each feature but for a constant.

    The indicator of the common value of a variable is 1 less that of its rare value. A feature
    that asks for at most `MAX_COMMON` common values is multiplied out: where x and y are mostly 0,
    the feature x = 0, y = 0 is the constant 1 less x less y and plus x y. The second value has
    the shape (n_features, n_conjunctions).
    """
    common = features.value == (data.frequency[features.var] > 0.5)
    n_common = np.bincount(features.owner[common], minlength=len(features))
    number = np.cumsum(common) - common
    number = number - number[features.start[:-1]][features.owner]
    split = n_common <= MAX_COMMON
    parts, owners, signs = [features.select(~split)], [np.flatnonzero(~split)], [1.0]
    for subset in range(2**MAX_COMMON):
        chosen = split & (subset < 2**n_common)
        kept = chosen[features.owner] & (~common | ((subset >> number) & 1 == 1))
        length = np.bincount(features.owner[kept], minlength=len(features))
        owner = np.flatnonzero(chosen & (length > 0))
        start = np.concatenate([[0], np.cumsum(length[owner])])
        value = np.where(common, 1 - features.value, features.value)
        parts.append(feature_set(start, features.var[kept], value[kept]))
        owners.append(owner)
        signs.append(-1.0 if subset.bit_count() % 2 else 1.0)
    conjunctions, place = canonicalise(concatenate(parts))
    sign = np.repeat(signs, [len(owner) for owner in owners])
    shape = len(features), len(conjunctions)
    sums = scipy.sparse.coo_matrix((sign, (np.concatenate(owners), place)), shape).tocsr()
    return conjunctions, sums
