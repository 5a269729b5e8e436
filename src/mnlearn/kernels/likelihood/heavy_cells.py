"""The features that heavy cells touch, and products with the inverse of their Hessian.

A cell is a row and an indicator whose logit some features change there.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, sigmoid
from mnlearn.kernels.arithmetic.sums import dots, fused
from mnlearn.kernels.jit import kernel

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# Rows of a matrix that are factorised together, a multiple of four.
_ROWS = 32


@kernel
def list_cells(columns, last_word, start, var, value, wanted, cell, offset, entries):
    """Write 2 * cell + sign for the cells that each feature touches, or count them in `offset`.

    wanted : bool, (n_features,), the features of which any are written. cell : int32,
    (n_rows, n_columns), numbers of the cells that are wanted, or -1. offset : int64,
    (n_features + 1,), where the entries of each feature begin; it is written if `entries` is empty.
    """
    n_words, n = columns.shape[1], 0
    for f in range(len(start) - 1):
        if len(entries) == 0:
            offset[f] = n
        begin, end = start[f], start[f + 1]
        for t in range(n_words if wanted[f] else 0):
            none, one = last_word if t == n_words - 1 else _ALL, np.uint64(0)
            for k in range(begin, end):
                holds = columns[var[k], t] if value[k] else ~columns[var[k], t]
                one = (one & holds) | (none & ~holds)
                none &= holds
            touched = none | one
            while touched:
                bit = lowest_bit(touched)
                i, only_one = 64 * t + np.int64(bit), (one >> bit) & np.uint64(1)
                touched &= touched - np.uint64(1)
                for k in range(begin, end):
                    holds = (columns[var[k], t] >> bit) & np.uint64(1) == value[k]
                    if cell[i, var[k]] < 0 or (only_one and holds):
                        continue
                    if len(entries):
                        entries[n] = 2 * cell[i, var[k]] + value[k]
                    n += 1
    if len(entries) == 0:
        offset[-1] = n


@kernel
def add_products(offset, entries, diagonal, weight, out):
    """Write 1 / weight + X diagonal^-1 X^T to the lower triangle of `out`, (n_cells, n_cells).

    X has a row for each cell and +1 or -1 for the features that it touches; weight : (n_cells,).
    """
    out[:] = 0.0
    for f in range(len(diagonal)):
        share = 1.0 / diagonal[f]
        for a in range(offset[f], offset[f + 1]):
            row, signed = out[entries[a] >> 1], share * (2 * (entries[a] & 1) - 1)
            for b in range(offset[f], a + 1):
                row[entries[b] >> 1] += signed * (2 * (entries[b] & 1) - 1)
    for i in range(len(weight)):
        out[i, i] += 1.0 / weight[i]


@kernel
def factorise(matrix):
    """Replace the lower triangle of a positive definite matrix by its factor of Cholesky."""
    n, flat = len(matrix), matrix.ravel()
    for first in range(0, n, _ROWS):
        end = min(first + _ROWS, n)
        for j in range(0, first, 4):
            rows = (j * n, (j + 1) * n, (j + 2) * n, (j + 3) * n)
            for i in range(first, end):
                known = dots(flat, i * n, flat, rows, j)
                for c in range(4):
                    matrix[i, j + c] -= known[c]
                _divide(matrix, i, j, j + 4, j)
        for i in range(first, end):
            _divide(matrix, i, first, i + 1, 0)


@kernel
def _divide(matrix, i, first, end, known):
    """Write columns of row i of the factor; products of `known` columns are subtracted already."""
    for j in range(first, end):
        total = matrix[i, j]
        for k in range(known, j):
            total = fused(-matrix[i, k], matrix[j, k], total)
        matrix[i, j] = np.sqrt(total) if i == j else total / matrix[j, j]


@kernel
def apply(offset, entries, diagonal, factor, x, out):
    """Write (diag(diagonal) + X^T diag(weight) X)^-1 x to `out`, by the identity of Woodbury."""
    sums = np.zeros(len(factor))
    for f in range(len(diagonal)):
        out[f] = x[f] / diagonal[f]
        for a in range(offset[f], offset[f + 1]):
            sums[entries[a] >> 1] += out[f] if entries[a] & 1 else -out[f]
    for i in range(len(sums)):
        for k in range(i):
            sums[i] = fused(-factor[i, k], sums[k], sums[i])
        sums[i] /= factor[i, i]
    for i in range(len(sums) - 1, -1, -1):
        sums[i] /= factor[i, i]
        for k in range(i):
            sums[k] = fused(-factor[i, k], sums[i], sums[k])
    for f in range(len(diagonal)):
        total = 0.0
        for a in range(offset[f], offset[f + 1]):
            total += sums[entries[a] >> 1] if entries[a] & 1 else -sums[entries[a] >> 1]
        out[f] -= total / diagonal[f]


@kernel
def variances(logits, start):
    """Replace the logits of indicators, (n_rows, n_columns), by p (1 - p)."""
    for i in range(len(logits)):
        for v in range(len(start) - 1):
            first, end = start[v], start[v + 1]
            if end - first == 1:
                logits[i, first] = sigmoid(logits[i, first]) * sigmoid(-logits[i, first])
                continue
            most, total = 0.0, 0.0
            for c in range(first, end):
                most = max(most, logits[i, c])
            for c in range(first, end):
                logits[i, c] = exp_nonpositive(logits[i, c] - most)
                total += logits[i, c]
            for c in range(first, end):
                p = logits[i, c] / total
                logits[i, c] = p * (1.0 - p)
