"""The pseudo-likelihood of a feature set on a dataset, as a function of the weights."""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.likelihood.packed_columns import count_touched
from mnlearn.kernels.likelihood.stored_columns import (
    Design,
    Merged,
    merge_rows,
    value_and_gradient,
)
from mnlearn.learning.weights.packed_likelihood import (
    SignedColumns,
    code_features,
    list_rows,
    order_columns,
    pack,
)
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
    curvature: NDArray[np.float64]
    columns: SignedColumns
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

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        coefficient = self.columns.coefficient(w)
        loss, gradient = np.empty(self.n_vars), np.empty(len(coefficient))

        def evaluate(first: int, last: int) -> None:
            value_and_gradient(self.design, coefficient, first, last, loss, gradient)

        map_ranges(evaluate, self.n_vars, self.threads)
        return float(loss.sum()), self.columns.by_feature(gradient, -1.0, self.n_features)


def arrange_stored(features: FeatureSet, data: Dataset, threads: int = 1) -> StoredLikelihood:
    """Arrange `features` (distinct, canonical, none empty) for evaluation on `data`.

    It takes two or four bytes for each pair of a column and a row that is listed, at first for all
    that a column touches.
    """
    own, columns = order_columns(features)
    where = pack(data), code_features(features, data.schema), own, features.owner[own]
    count = np.empty(len(own), np.int64)
    count_touched(*where, count, np.empty(len(own)))
    held, design = _merge_rows(data, features.var[own], *list_rows(where, count), threads)
    share = 1.0 / data.schema.arity[data.schema.variable_of[features.var[own]]]
    return StoredLikelihood(
        n_vars=data.n_vars,
        n_features=len(features),
        curvature=columns.by_feature(held * share * (1.0 - share), 1.0, len(features)),
        columns=columns,
        design=design,
        threads=threads,
    )


def _merge_rows(
    data: Dataset,
    indicator: NDArray[np.int32],
    offset: NDArray[np.int64],
    touched: NDArray[np.unsignedinteger],
    threads: int,
) -> tuple[NDArray[np.float64], Design]:
    """Return the weight that each column touches, and the design with rows merged."""
    schema = data.schema
    var_start = np.searchsorted(indicator, schema.start)
    values = np.ascontiguousarray(schema.values(data.rows).T)
    mark = np.random.default_rng(0).integers(0, 2**64, len(indicator) + 1, np.uint64)

    def merge(v: int) -> Merged:
        begin, end = var_start[v : v + 2].tolist()
        own = np.append(mark[begin:end], mark[-1])
        return merge_rows(offset[begin : end + 1], touched, own, values[v], data.weight)

    found = map_ranges(lambda a, b: [merge(v) for v in range(a, b)], data.n_vars, threads)
    merged = list(itertools.chain.from_iterable(found))
    joined = Merged(*map(np.concatenate, zip(*merged, strict=True)))
    return joined.held, Design(
        var_start=var_start,
        offset=np.concatenate([[0], np.cumsum(joined.n_listed)]),
        complement=joined.complement,
        touched=joined.touched,
        row_start=np.concatenate([[0], np.cumsum([len(one.weight) for one in merged])]),
        weight=joined.weight,
        value=joined.value,
        logit=indicator - schema.start[schema.variable_of[indicator]],
        n_logits=np.diff(schema.start),
    )
