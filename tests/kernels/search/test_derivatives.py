"""Derivatives of generalisations against their definition, row by row and literal by literal."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mnlearn.kernels.search import near_rows


def packed(literals, n_words):
    mask = np.zeros(n_words, np.uint64)
    for v in literals:
        mask[v // 64] |= np.uint64(1 << (v % 64))
    return mask


def defined(rows, weight, p, literals, row_value):
    """The slope and curvature at weight 0, of the conjunction of `literals`."""
    slope = curvature = 0.0
    for i in range(len(rows)):
        violated = [v for v in literals if rows[i, v] != row_value[v]]
        if len(violated) > 1:
            continue
        for v in violated or literals:
            holds = p[i, v] if row_value[v] else 1.0 - p[i, v]
            # The feature holds at the value asked for, if the other literals hold.
            slope += weight[i] * ((0.0 if violated else 1.0) - holds)
            curvature += weight[i] * holds * (1.0 - holds)
    return slope, curvature


@pytest.mark.parametrize("n_vars", [7, 70, 130])
def test_derivatives_while_a_feature_loses_literals(n_vars):
    rng = np.random.default_rng(n_vars)
    n_words = -(-n_vars // 64)
    rows = rng.integers(0, 2, (90, n_vars))
    # Many rows near the first one, at all distances.
    rows[1:] = np.where(rng.random((89, n_vars)) < rng.random((89, 1)) * 0.2, rows[1:], rows[0])
    masks = np.array([packed(np.flatnonzero(row), n_words) for row in rows])
    weight, p = rng.integers(1, 4, 90).astype(float), rng.random((90, n_vars))
    columns = np.ascontiguousarray(p.T)
    near = near_rows.room_for_rows(90, n_words, n_vars)
    sums = near_rows.room_for_sums(90, n_vars)
    for _ in range(2):  # A room serves one feature after another.
        literals = list(rng.permutation(n_vars)[: n_vars - 1])
        asked, value = packed(literals, n_words), masks[0] & packed(literals, n_words)
        near_rows.begin(near, masks, asked, value)
        near_rows.begin_sums(sums, asked)
        while len(literals) > 2:
            near_rows.admit(near, masks, asked, value, n_vars)
            near_rows.order_rows(near)
            near_rows.add_rows(sums, near, weight, columns, asked, value)
            places = near.ordered[: near.until[1]]
            found = near_rows.sum_rows(near, places, weight, columns, asked, value)
            expected = defined(rows, weight, p, literals, rows[0])
            assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
            for n_dropped in [0, 1, 1, 2, len(literals) // 2]:
                lost = packed(literals[:n_dropped], n_words)
                slope, curvature = near_rows.find_slope_and_curvature(
                    sums,
                    near,
                    near.until[n_dropped + 1],
                    weight,
                    columns,
                    asked & ~lost,
                    value,
                    lost,
                )
                expected = defined(rows, weight, p, literals[n_dropped:], rows[0])
                assert_allclose((slope, curvature), expected, rtol=1e-9, atol=1e-9)
            lost = packed(literals[: len(literals) // 3 + 1], n_words)
            near_rows.drop_from_sums(sums, lost)
            near_rows.drop(near, lost)
            literals, asked = literals[len(literals) // 3 + 1 :], asked & ~lost
