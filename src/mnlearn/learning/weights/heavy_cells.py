"""An estimate of the Hessian: that of the heaviest cells, and a diagonal for all others.

A cell is a row and an indicator whose logit features change there. Rows that many examples share
make the largest eigenvalues of the Hessian of a pseudo-likelihood, more of them than the pairs of
differences of L-BFGS can tell.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.arithmetic.sums import sum_of
from mnlearn.kernels.likelihood.heavy_cells import (
    add_products,
    apply,
    factorise,
    list_cells,
    variances,
)
from mnlearn.kernels.likelihood.log_odds import add_log_odds
from mnlearn.models.features import FeatureSet

Vector = NDArray[np.float64]
# Rows whose cells are looked at, cells of an estimate, and pairs of a cell and a feature.
MOST_ROWS, MOST_CELLS, MOST_ENTRIES = 1024, 2000, 4 * 10**7
# What the other cells have of a feature's curvature at least, so that the matrices can be inverted.
_LEAST_SHARE, _LEAST = 1e-6, 1e-12
# A cell for so many features costs no more than an evaluation does. Among few features the pairs of
# differences of L-BFGS tell enough. Features whose weight is 0 do not count: an L1 penalty may hold
# them there.
FEATURES_OF_CELL, FEWEST_FEATURES = 8, 1000


@dataclass(frozen=True, eq=False)
class HeavyCells:
    """The cells of the `rows` of a dataset that most examples share, as `features` change them."""

    features: FeatureSet
    rows: Dataset

    @classmethod
    def of(cls, features: FeatureSet, data: Dataset) -> "HeavyCells":
        """Return the cells of the heaviest rows."""
        heaviest = np.argsort(-data.weight, kind="stable")[:MOST_ROWS]
        return cls(features, data.subset(np.sort(heaviest)))

    def restrict(self, members: NDArray[np.bool_]) -> "HeavyCells":
        """Return the cells as some of the features change them."""
        return HeavyCells(self.features.select(members), self.rows)

    def may_help(self, w: Vector) -> bool:
        """Tell whether `inverse_hessian` at these weights is worth its making."""
        return bool(np.count_nonzero(w) >= FEWEST_FEATURES)

    def inverse_hessian(
        self, w: Vector, curvature: Vector, precision: float
    ) -> Callable[[Vector], Vector]:
        """Return the product with the inverse of an estimate of the Hessian at weights `w`.

        The estimate has the cells that are the heaviest at these weights, as the features whose
        weights are not 0 change them.

        curvature : (n_features,), diagonal of the Hessian at w = 0. precision : of the prior.
        """
        weight, schema = self.rows.weight[:, None], self.rows.schema
        share = 1.0 / schema.arity[schema.variable_of]
        flat = (weight * share * (1.0 - share)).ravel()
        curved = (weight * self._variances(w)).ravel()
        order = np.argsort(-curved, kind="stable")
        most = min(MOST_CELLS, int(np.count_nonzero(w) / FEATURES_OF_CELL))
        while True:
            # Entries of a feature then have rising numbers, which lie close in the matrix.
            chosen = np.sort(order[:most])
            offset, entries = self._entries(chosen, w != 0.0)
            if entries is not None:
                break
            most = max(1, most * MOST_ENTRIES // int(offset[-1]))
        heavy, owner = curved[chosen], np.repeat(np.arange(len(w)), np.diff(offset))
        others = curvature - np.bincount(owner, flat[chosen][entries >> 1], len(w))
        # Their part of the Hessian shrinks as that of the other cells of these rows.
        left = max(sum_of(flat) - sum_of(flat[chosen]), _LEAST)
        others *= (sum_of(curved) - sum_of(heavy)) / left
        diagonal = precision + np.maximum(others, np.maximum(_LEAST_SHARE * curvature, _LEAST))
        factor = np.empty((len(chosen), len(chosen)))
        add_products(offset, entries, diagonal, np.maximum(heavy, _LEAST), factor)
        factorise(factor)

        def product(x: Vector) -> Vector:
            out = np.empty_like(x)
            apply(offset, entries, diagonal, factor, x, out)
            return out

        return product

    def _variances(self, w: Vector) -> NDArray[np.float64]:
        """Return p (1 - p) of each indicator in each row, p given the other variables."""
        f, rows = self.features, self.rows
        logits = np.zeros((rows.n_rows, rows.n_columns))
        words = 0, rows.columns.shape[1]
        add_log_odds(rows.columns, rows.last_word, f.start, f.var, f.value, w, *words, logits)
        variances(logits, rows.schema.start)
        return logits

    def _entries(
        self, chosen: NDArray[np.int64], wanted: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32] | None]:
        """Return what features touch of some cells, see `list_cells`; no entries if too many."""
        f, rows = self.features, self.rows
        cell = np.full((rows.n_rows, rows.n_columns), -1, np.int32)
        cell.ravel()[chosen] = np.arange(len(chosen))
        offset = np.zeros(len(f) + 1, np.int64)
        where = (rows.columns, rows.last_word, f.start, f.var, f.value, wanted, cell, offset)
        list_cells(*where, np.zeros(0, np.int32))
        if offset[-1] > MOST_ENTRIES:
            return offset, None
        entries = np.zeros(offset[-1], np.int32)
        list_cells(*where, entries)
        return offset, entries
