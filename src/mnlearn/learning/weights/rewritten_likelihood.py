"""Features rewritten by the rarer value of each variable, whose conjunctions touch few rows."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.data.dataset import Dataset
from mnlearn.learning.weights.packed_likelihood import FEW, PackedLikelihood, packed_likelihood
from mnlearn.models.features import FeatureSet, canonicalise, concatenate, feature_set

# A feature with n common values becomes 2^n conjunctions; with more it stays as it is.
MAX_COMMON = 4
# Rewriting has to save at least this share of the work, which is only estimated.
MIN_SAVED = 0.25


class Likelihood(Protocol):
    """The pseudo-likelihood of a feature set as a function of the weights.

    curvature : float64, (n_features,). Diagonal of the Hessian at 0.
    """

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def curvature(self) -> NDArray[np.float64]:
        """Diagonal of the Hessian at 0."""

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the negative log-pseudo-likelihood of all examples and its gradient."""

    def restricted(self, members: NDArray[np.bool_]) -> "Likelihood":
        """Return the likelihood of some of the features alone, in the same order."""


@dataclass(frozen=True, eq=False)
class RewrittenLikelihood:
    """The pseudo-likelihood of features by that of the conjunctions they are sums of.

    rewritten : the likelihood of the conjunctions. sums : (n_features, n_conjunctions), the
    conjunctions that add up to each feature. curvature : of the features.
    """

    curvature: NDArray[np.float64]
    rewritten: PackedLikelihood
    sums: sparse.csr_matrix
    transposed: sparse.csr_matrix

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.sums.shape[0])

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the negative log-pseudo-likelihood of all examples and its gradient."""
        value, gradient = self.rewritten.value_and_gradient(self.transposed @ w)
        return value, self.sums @ gradient

    def restricted(self, members: NDArray[np.bool_]) -> "RewrittenLikelihood":
        """Return the likelihood of some of the features alone, in the same order."""
        sums = self.sums[np.flatnonzero(members)]
        used = np.zeros(sums.shape[1], bool)
        used[sums.indices] = True
        sums = sums[:, np.flatnonzero(used)]
        return RewrittenLikelihood(
            self.curvature[members],
            self.rewritten.restricted(used),
            sums,
            sums.T.tocsr(),
        )


def likelihood_of(features: FeatureSet, data: Dataset, threads: int = 1) -> Likelihood:
    """Arrange `features` (distinct, canonical, none empty) in the way that is quicker to evaluate.

    They stay as they are, or are rewritten by `rewrite`.
    """
    plain = packed_likelihood(features, data, threads)
    conjunctions, sums = rewrite(features, data)
    rewritten = packed_likelihood(conjunctions, data, threads)
    if _work(rewritten, data) + sums.nnz > (1 - MIN_SAVED) * _work(plain, data):
        return plain
    return RewrittenLikelihood(plain.curvature, rewritten, sums, sums.T.tocsr())


def _work(likelihood: PackedLikelihood, data: Dataset) -> float:
    """Return the work of an evaluation, in rows of lists."""
    columns = len(likelihood.many) + len(likelihood.few)
    return len(likelihood.rows) + FEW * data.n_rows * len(likelihood.many) + columns


def rewrite(features: FeatureSet, data: Dataset) -> tuple[FeatureSet, sparse.csr_matrix]:
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
    sums = sparse.coo_matrix((sign, (np.concatenate(owners), place)), shape).tocsr()
    return conjunctions, sums
