"""The pseudo-likelihood of very many conjunctions, most of which need not be stored.

Features can be rewritten by the rarer value of each variable, so that conjunctions touch few rows.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.likelihood import packed_columns as kernels
from mnlearn.kernels.likelihood.packed_columns import (
    CodedFeatures,
    FewColumns,
    ManyColumns,
    PackedData,
)
from mnlearn.models.features import FeatureSet, canonicalise, concatenate, feature_set
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import Schema

# A column that touches fewer than this share of the rows is a list of rows. At this share a list
# costs as much as a mask (lab note 0014).
FEW = 1 / 24


@dataclass(frozen=True, eq=False, kw_only=True)
class SignedColumns:
    """The feature that asks the indicator of each column for 1, and that for 0; or -1."""

    positive: NDArray[np.int64]
    negative: NDArray[np.int64]

    def coefficient(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each column adds to its logit."""
        padded = np.append(w, 0.0)
        return padded[self.positive] - padded[self.negative]

    def by_feature(
        self, value: NDArray[np.float64], sign: float, n_features: int
    ) -> NDArray[np.float64]:
        """Sum a quantity of columns over the columns of each feature."""
        total = np.bincount(self.positive + 1, value, n_features + 1)
        return (total + sign * np.bincount(self.negative + 1, value, n_features + 1))[1:]


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns(SignedColumns):
    """Columns in order of their logit; see `kernels.likelihood.packed_columns`.

    own, shape : literal and feature that define the rows. place : other literals of the feature, or
    span of the list of rows.
    """

    logit: NDArray[np.int64]
    own: NDArray[np.int64]
    shape: NDArray[np.int64]
    place: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.logit)

    def start(self, n_logits: int) -> NDArray[np.int64]:
        """Return where the columns of each logit begin, shape (n_logits + 1,)."""
        return np.searchsorted(self.logit, np.arange(n_logits + 1))

    def restrict(self, number: NDArray[np.int64]) -> "Columns":
        padded = np.append(number, -1)
        positive, negative = padded[self.positive], padded[self.negative]
        kept = np.flatnonzero((positive >= 0) | (negative >= 0))
        parts = {**vars(self), "positive": positive, "negative": negative}
        return Columns(**{name: part[kept] for name, part in parts.items()})


@dataclass(frozen=True, eq=False, kw_only=True)
class PackedLikelihood:
    """The pseudo-likelihood of a feature set as a function of the weights, in single precision.

    Features that differ only in the value they ask of one indicator share its column. Columns that
    touch many rows are not stored; those that touch few rows have them in `rows`. The error of
    values and gradients is about 1e-7 of the sum of all losses.
    """

    n_features: int
    curvature: NDArray[np.float64]
    data: PackedData
    features: CodedFeatures
    many: Columns
    few: Columns
    rows: NDArray[np.unsignedinteger]
    threads: int = 1

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        many, few = self.many, self.few
        gradients = np.empty(len(many)), np.empty(len(few))
        n_vars, n_logits = len(self.data.start) - 1, len(self.data.values)
        loss = np.empty(n_vars)
        adds, few_add = (part.coefficient(w).astype(np.float32) for part in (many, few))
        of_many = ManyColumns(many.start(n_logits), many.own, many.shape, many.place, adds)
        of_few = FewColumns(few.start(n_logits), few.place, self.rows, few_add)

        def evaluate(first: int, last: int) -> None:
            kernels.value_and_gradient(
                self.data, self.features, of_many, of_few, first, last, loss, gradients
            )

        map_ranges(evaluate, n_vars, self.threads)
        gradient = many.by_feature(gradients[0], -1.0, self.n_features)
        gradient += few.by_feature(gradients[1], -1.0, self.n_features)
        return float(loss.sum()), gradient

    @property
    def n_listed(self) -> int:
        """Number of (column, row) pairs of the columns that touch few rows."""
        return int((self.few.place[:, 1] - self.few.place[:, 0]).sum())

    def restrict(self, members: NDArray[np.bool_]) -> "PackedLikelihood":
        number = np.where(members, np.cumsum(members) - 1, -1)
        return replace(
            self,
            n_features=int(members.sum()),
            curvature=self.curvature[members],
            many=self.many.restrict(number),
            few=self.few.restrict(number),
        )


def arrange_packed(features: FeatureSet, data: Dataset, threads: int = 1) -> PackedLikelihood:
    """Arrange `features` (distinct, canonical, none empty) for evaluation on `data`.

    It takes 80 bytes for each literal, and two or four for each row that is stored.
    """
    packed_data, shape = pack(data), code_features(features, data.schema)
    own, signed = order_columns(features)
    owner = features.owner[own]
    first, same = _find_equal_columns(shape, own, owner)
    where = (packed_data, shape, own[first], owner[first])
    count, total = np.empty(len(first), np.int64), np.empty(len(first))
    kernels.count_touched(*where, count, total)
    listed = count < FEW * data.n_rows
    offset, rows = list_rows(where, np.where(listed, count, 0))
    place = np.empty((len(own), 4), np.int64)
    kernels.write_other_literals(shape, own, owner, 2 * data.n_columns, place)
    is_few = listed[same]
    place[is_few, 0], place[is_few, 1] = offset[:-1][same][is_few], offset[1:][same][is_few]
    columns = Columns(
        logit=features.var[own].astype(np.int64),
        own=own,
        shape=owner,
        place=place,
        **vars(signed),
    )
    parts, share = vars(columns), 1.0 / data.schema.arity[shape.variable[own]]
    curvature = total[same] * share * (1.0 - share)
    return PackedLikelihood(
        n_features=len(features),
        curvature=columns.by_feature(curvature, 1.0, len(features)),
        data=packed_data,
        features=shape,
        many=Columns(**{name: part[~is_few] for name, part in parts.items()}),
        few=Columns(**{name: part[is_few] for name, part in parts.items()}),
        rows=rows,
        threads=threads,
    )


def order_columns(features: FeatureSet) -> tuple[NDArray[np.int64], SignedColumns]:
    """Return a literal for each column, in order of the indicators, and the columns."""
    partner = find_flipped_partners(features)
    wanted = (features.value == 1) | (partner < 0)
    own = np.flatnonzero(wanted)[np.argsort(features.var[wanted], kind="stable")]
    owner, asks_one = features.owner[own], features.value[own] == 1
    positive, negative = np.where(asks_one, owner, -1), np.where(asks_one, partner[own], owner)
    return own, SignedColumns(positive=positive, negative=negative)


def list_rows(
    where: tuple[PackedData, CodedFeatures, NDArray[np.int64], NDArray[np.int64]],
    count: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]:
    """Return (offset, rows): the rows that each column touches, by how many; 0 for no list."""
    offset = np.concatenate([[0], np.cumsum(count)])
    rows = np.empty(offset[-1], np.uint16 if len(where[0].weight) <= 2**16 else np.uint32)
    kernels.list_touched(*where, offset, rows)
    return offset, rows


def code_features(features: FeatureSet, schema: Schema) -> CodedFeatures:
    """Return features as the kernels take them."""
    code = (2 * features.var + features.value).astype(np.uint32)
    return CodedFeatures(features.start, code, schema.variable_of[features.var])


def pack(data: Dataset) -> PackedData:
    """Return data as the kernels take them."""
    n_words = data.columns.shape[1]
    packed = np.full((2 * data.n_columns + 1, n_words), 2**64 - 1, np.uint64)
    packed[1:-1:2] = data.columns
    packed[:-1:2] ^= data.columns
    weight = np.zeros(64 * n_words, np.float32)
    weight[: data.n_rows] = data.weight
    values = np.zeros((data.n_columns, 64 * n_words), np.uint8)
    values[:, : data.n_rows] = data.rows.T
    return PackedData(packed.ravel(), n_words, data.last_word, weight, values, data.schema.start)


def find_flipped_partners(features: FeatureSet) -> NDArray[np.int64]:
    """Return for each literal the feature that asks its variable for the other value, or -1."""
    rng = np.random.default_rng(0)
    n_vars = int(features.var.max()) + 1 if len(features.var) else 0
    mark = rng.integers(0, 2**64, (n_vars, 2), np.uint64)
    own_mark = mark[features.var, features.value]
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(own_mark)])
    key = total[features.start[1:]] - total[features.start[:-1]]
    order = np.argsort(key)
    wanted = key[features.owner] - own_mark + mark[features.var, 1 - features.value]
    found = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)]
    candidate = np.where(key[found] == wanted, found, -1)
    # Features with equal keys are almost certainly equal. Compare their literals to be certain.
    k = np.flatnonzero(
        (candidate >= 0) & (features.length[features.owner] == features.length[candidate])
    )
    unsure = candidate >= 0
    length = features.length[candidate[k]]
    begin = np.concatenate([[0], np.cumsum(length)])[:-1]
    step = np.arange(length.sum()) - np.repeat(begin, length)
    here = np.repeat(features.start[features.owner[k]], length) + step
    there = np.repeat(features.start[candidate[k]], length) + step
    agree = features.var[here] == features.var[there]
    agree &= (features.value[here] != features.value[there]) == (here == np.repeat(k, length))
    if len(k):
        unsure[k] = ~np.logical_and.reduceat(agree, begin)
    candidate[unsure] = -1
    return candidate


def _find_equal_columns(
    features: CodedFeatures, own: NDArray[np.int64], owner: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one column of each set of rows, and for each column the place of its set among them.

    Columns of pairs with the same other literal touch the same rows.
    """
    start, variable = features.start[owner], features.variable
    other = np.minimum(2 * start + 1 - own, len(variable) - 1)
    is_pair = (features.start[owner + 1] - start == 2) & (variable[other] != variable[own])
    key = -1 - np.arange(len(own))
    key[is_pair] = features.code[other[is_pair]]
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[same.ravel()]


# A feature with n common values becomes 2^n conjunctions. A feature with more than this many common
# values is not rewritten (lab note 0014).
MAX_COMMON = 4


@dataclass(frozen=True, eq=False)
class RewrittenLikelihood:
    """The pseudo-likelihood of features that are `sums` of other conjunctions."""

    curvature: NDArray[np.float64]
    rewritten: PackedLikelihood
    sums: "scipy.sparse.csr_matrix"
    transposed: "scipy.sparse.csr_matrix"

    @property
    def n_features(self) -> int:
        return int(self.sums.shape[0])

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = self.rewritten.value_and_gradient(self.transposed @ w)
        return value, self.sums @ gradient

    def restrict(self, members: NDArray[np.bool_]) -> "RewrittenLikelihood":
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
    """Return conjunctions, and the matrix of their sums to features, but for a constant.

    The indicator of a common value is 1 less that of the rare value. A feature that asks for at
    most `MAX_COMMON` common values is multiplied out: x = 0, y = 0 is 1 less x less y and plus x y.
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
    conjunctions, place = canonicalise(concatenate(parts), data.schema.start)
    sign, owner = np.repeat(signs, [len(owner) for owner in owners]), np.concatenate(owners)
    holds, shape = place >= 0, (len(features), len(conjunctions))
    sums = scipy.sparse.coo_matrix((sign[holds], (owner[holds], place[holds])), shape).tocsr()
    return conjunctions, sums
