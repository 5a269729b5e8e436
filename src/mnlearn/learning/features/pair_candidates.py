"""The conjunctions of two features of a model, as candidates for its next feature."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.search.gains import find_rows
from mnlearn.learning.weights.state_likelihood import weigh
from mnlearn.models.features import FeatureSet, feature_set
from mnlearn.runtime.threads import map_ranges

Masks = NDArray[np.uint64]


class PairCandidates:
    """A growing set of features, and the distinct conjunctions of two of them.

    All features ask variables for the value 1: the atomic features do, so their conjunctions do.

    features : uint64, (n_features, n_mask_words), in the order in which they were added; bit v % 64
        of word v // 64 is variable v.
    masks : uint64, (n_candidates, n_mask_words). A candidate stays in place when it is added.
    one, other : int64, (n_candidates,), two features whose conjunction it is.
    held : float64, (n_candidates,), total weight of the examples where it holds.
    key : float64, (n_candidates,), its gain as it was known last; infinity before it is known,
        minus infinity once it is a feature.
    """

    def __init__(self, data: Dataset, min_support: float, threads: int = 1) -> None:
        self.data, self.min_support, self.threads = data, min_support, threads
        n_words = -(-data.n_vars // 64)
        self.features = np.empty((0, n_words), np.uint64)
        self.masks = np.empty((0, n_words), np.uint64)
        self.one, self.other = np.empty((2, 0), np.int64)
        self.held, self.key = np.empty((2, 0))
        self._bits = np.empty((0, data.columns.shape[1]), np.uint64)
        self._known: set[bytes] = set()
        every = np.arange(data.n_vars)
        atoms = np.zeros((data.n_vars, n_words), np.uint64)
        atoms[every, every // 64] = np.uint64(1) << (every % 64).astype(np.uint64)
        self._extend(atoms)

    def __len__(self) -> int:
        return len(self.masks)

    def add(self, candidates: Iterable[int]) -> None:
        """Make features of candidates, one after the other."""
        chosen = np.fromiter(candidates, np.int64)
        self.key[chosen] = -np.inf
        self._extend(self.masks[chosen])

    def restore(self, features: Masks) -> None:
        """Add the features that a model had beside the atomic ones, in their order.

        The candidates then are the same, in the same order, as when they were added one by one.
        """
        self._extend(features[self.data.n_vars :])
        added = {mask.tobytes() for mask in features}
        gone = [mask.tobytes() in added for mask in self.masks]
        self.key[np.array(gone, bool)] = -np.inf

    def _extend(self, new: Masks) -> None:
        masks, ones, others = [], [], []
        for mask in new:
            n = len(self.features)
            self._known.add(mask.tobytes())
            joined = self.features | mask
            fresh = [g for g in range(n) if self._is_new(joined[g])]
            masks.append(joined[fresh])
            ones.append(np.full(len(fresh), n))
            others.append(np.array(fresh, np.int64))
            self.features = np.vstack([self.features, mask])
        self._bits = np.vstack([self._bits, rows_of(self.data.columns, new, self.threads)])
        one, other = np.concatenate([*ones, [-1]])[:-1], np.concatenate([*others, [-1]])[:-1]
        held = weigh(self._bits, one, other, self.data.weight, self.threads)
        kept = held >= self.min_support
        self.masks = np.vstack([self.masks, np.vstack([*masks, self.masks[:0]])[kept]])
        self.one = np.concatenate([self.one, one[kept]])
        self.other = np.concatenate([self.other, other[kept]])
        self.held = np.concatenate([self.held, held[kept]])
        self.key = np.concatenate([self.key, np.full(int(kept.sum()), np.inf)])

    def _is_new(self, mask: Masks) -> bool:
        name = mask.tobytes()
        if name in self._known:
            return False
        self._known.add(name)
        return True

    def feature_weights(self) -> NDArray[np.float64]:
        """Return the total weight of the examples where each feature holds."""
        every = np.arange(len(self.features))
        return weigh(self._bits, every, every, self.data.weight, self.threads)


def rows_of(columns: NDArray[np.uint64], masks: Masks, threads: int = 1) -> NDArray[np.uint64]:
    """Return the rows where conjunctions hold, as bits, uint64 of shape (n, n_words).

    columns : uint64, (n_vars, n_words), packed columns.
    """
    out = np.empty((len(masks), columns.shape[1]), np.uint64)

    def find(first: int, last: int) -> None:
        find_rows(columns, masks, first, last, out)

    map_ranges(find, len(masks), threads)
    return out


def mask_features(masks: Masks, n_vars: int) -> FeatureSet:
    """Return conjunctions given by bit masks as a feature set, in their order."""
    as_bytes = np.ascontiguousarray(masks).view(np.uint8)
    bits = np.unpackbits(as_bytes, axis=1, count=n_vars, bitorder="little")
    owner, var = np.nonzero(bits)
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(masks)))])
    return feature_set(start, var, np.ones(len(var)))
