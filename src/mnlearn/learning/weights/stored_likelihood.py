"""The pseudo-likelihood of a feature set on a dataset, as a function of the weights."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.likelihood import stored_columns as kernels
from mnlearn.kernels.likelihood.packed_columns import count_touched, list_touched
from mnlearn.kernels.likelihood.stored_columns import Design, Examples, Merging, RowLists
from mnlearn.learning.weights.packed_likelihood import code_features, find_flipped_partners, pack
from mnlearn.models.features import FeatureSet
from mnlearn.runtime.threads import map_ranges


@dataclass(frozen=True, eq=False, kw_only=True)
class StoredLikelihood:
    """Which rows each feature touches, arranged by variable.

    A column is a change of one logit of a variable v in the rows in which a feature's literals on
    other variables hold. Features that differ only in the value they ask of one indicator share a
    column. Rows that have the same value of v and are touched by the same columns of v are merged.
    """

    n_vars: int
    n_features: int
    n_examples: float
    positive: NDArray[np.int64]
    negative: NDArray[np.int64]
    design: Design
    threads: int = 1

    @property
    def n_pairs(self) -> int:
        """Number of stored (column, row) pairs: the work of one evaluation."""
        return len(self.design.touched)

    @property
    def n_cells(self) -> int:
        """Number of (variable, merged row) cells: the logistic functions of one evaluation."""
        return len(self.design.weight)

    def _coefficient(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        padded = np.append(w, 0.0)  # position -1: no feature
        return padded[self.positive] - padded[self.negative]

    def _by_feature(self, columns: NDArray, sign: float) -> NDArray[np.float64]:
        """Sum a column quantity over the columns of each feature."""
        size = self.n_features + 1
        total = np.bincount(self.positive + 1, columns, size)
        return (total + sign * np.bincount(self.negative + 1, columns, size))[1:]

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        coefficient = self._coefficient(w)
        loss = np.empty(self.n_vars)
        gradient = np.empty(len(self.positive))

        def evaluate(first: int, last: int) -> None:
            kernels.value_and_gradient(self.design, coefficient, first, last, loss, gradient)

        map_ranges(evaluate, self.n_vars, self.threads)
        return float(loss.sum()), self._by_feature(gradient, -1.0)

    @cached_property
    def curvature(self) -> NDArray[np.float64]:
        touched, design = np.empty(len(self.positive)), self.design
        kernels.column_weights(design, touched)
        share = 1.0 / np.maximum(design.n_logits, 2)
        share = np.repeat(share * (1.0 - share), np.diff(design.var_start))
        return self._by_feature(share * touched, 1.0)


def arrange_stored(features: FeatureSet, data: Dataset, threads: int = 1) -> StoredLikelihood:
    """Arrange `features` (distinct, canonical, none empty) for evaluation on `data`.

    It takes two or four bytes for each pair of a column and a row that is listed, at first for all
    that a column touches.
    """
    partner = find_flipped_partners(features)
    wanted = (features.value == 1) | (partner < 0)
    order = np.flatnonzero(wanted)[np.argsort(features.var[wanted], kind="stable")]
    var_start = np.searchsorted(features.var[order], data.schema.start)
    lists = RowLists(var_start, *_list_touched(features, data, order))
    own = features.owner[order]
    return StoredLikelihood(
        n_vars=data.n_vars,
        n_features=len(features),
        n_examples=data.n_examples,
        positive=np.where(features.value[order] == 1, own, -1),
        negative=np.where(features.value[order] == 1, partner[order], own),
        design=_merge_rows(data, lists, features.var[order], threads),
        threads=threads,
    )


def _list_touched(
    features: FeatureSet, data: Dataset, order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]:
    """Return (offset, rows) of the columns, the literals `order`."""
    where = pack(data), code_features(features, data.schema), order, features.owner[order]
    touched = np.empty(len(order), np.int64)
    count_touched(*where, touched, np.empty(len(order)))
    offset = np.concatenate([[0], np.cumsum(touched)])
    rows = np.empty(offset[-1], np.uint16 if data.n_rows <= 2**16 else np.uint32)
    list_touched(*where, offset, rows)
    return offset, rows


def _merge_rows(data: Dataset, lists: RowLists, indicator: NDArray, threads: int) -> Design:
    """Return the design with rows merged; `indicator` has that of each column."""
    schema = data.schema
    n_columns = len(indicator)
    mark = np.random.default_rng(0).integers(0, 2**64, n_columns + 1, np.uint64)
    examples = Examples(np.ascontiguousarray(schema.values(data.rows).T), data.weight)
    merging = Merging(
        row_of=np.empty(examples.values.shape, np.uint32),
        n_merged=np.empty(data.n_vars, np.int64),
        n_listed=np.empty(n_columns, np.int64),
        complement=np.empty(n_columns, bool),
    )
    map_ranges(
        lambda a, b: kernels.merge_rows(lists, examples, mark, merging, a, b), data.n_vars, threads
    )
    offset = np.concatenate([[0], np.cumsum(merging.n_listed)])
    row_start = np.concatenate([[0], np.cumsum(merging.n_merged)])
    design = Design(
        var_start=lists.var_start,
        offset=offset,
        complement=merging.complement,
        touched=np.empty(offset[-1], lists.touched.dtype),
        row_start=row_start,
        weight=np.empty(row_start[-1]),
        value=np.empty(row_start[-1], np.uint8),
        logit=indicator - schema.start[schema.variable_of[indicator]],
        n_logits=np.diff(schema.start),
    )

    def fill(first: int, last: int) -> None:
        kernels.list_merged(lists, examples, merging, design, first, last)

    map_ranges(fill, data.n_vars, threads)
    return design
