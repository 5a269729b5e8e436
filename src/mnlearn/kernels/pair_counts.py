"""How many rows have two variables at 1, for all pairs of variables."""

import numpy as np

from mnlearn.kernels.arithmetic.bits import popcount
from mnlearn.kernels.jit import kernel

# Words of a column, and columns, that are taken together: they stay in the second-level cache.
_WORDS = 256
_COLUMNS = 32


@kernel
def add_pair_counts(columns, factor, out):
    """Add `factor` times the number of rows in which both variables of a pair are 1.

    columns : uint64, (n_vars, n_words). Bit i % 64 of word i // 64 is row i; bits behind the last
        row are 0.
    factor : int. out : int32, (n_vars, n_vars), symmetric.
    """
    n_vars, n_words = columns.shape
    for u_begin in range(0, n_vars, _COLUMNS):
        u_end = min(u_begin + _COLUMNS, n_vars)
        for v_begin in range(u_begin, n_vars, _COLUMNS):
            v_end = min(v_begin + _COLUMNS, n_vars)
            for begin in range(0, n_words, _WORDS):
                end = min(begin + _WORDS, n_words)
                for u in range(u_begin, u_end):
                    one = columns[u, begin:end]
                    for v in range(max(u, v_begin), v_end):
                        other = columns[v, begin:end]
                        count = np.uint64(0)
                        for k in range(end - begin):
                            count += popcount(one[k] & other[k])
                        out[u, v] += factor * np.int64(count)
            # Mirrored once the block is whole.
            for u in range(u_begin, u_end):
                for v in range(max(u, v_begin), v_end):
                    out[v, u] = out[u, v]
