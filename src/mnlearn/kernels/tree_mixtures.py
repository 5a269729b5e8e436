"""Kernels of mixtures of trees over binary variables."""

from mnlearn.kernels.jit import kernel


@kernel
def fill_log_probabilities(rows, parent, log_prob, first, last, out):
    """Fill log P(row i | tree k) into out[i, k] for the rows from `first` to `last`.

    rows : uint8 of shape (n_rows, n_vars). parent : int64 of shape (n_trees, n_vars), -1 for a
    variable without parent. log_prob : float64 of shape (n_trees, n_vars, 2, 2), in nats,
    log P(v = x | parent = y) at [k, v, y, x], and log P(v = x) at [k, v, 0, x] without parent.
    """
    for i in range(first, last):
        for k in range(parent.shape[0]):
            total = 0.0
            for v in range(rows.shape[1]):
                above = parent[k, v]
                y = rows[i, above] if above >= 0 else 0
                total += log_prob[k, v, y, rows[i, v]]
            out[i, k] = total


@kernel
def add_pair_weights(var, start, chosen, weight, out):
    """Add the weight of each chosen row to out[u, v] for all its ones u <= v.

    var : the ones of all rows, row by row and ascending; those of row i are from start[i] to
    start[i + 1]. chosen : rows. weight : float64, of each chosen row.
    """
    for n in range(len(chosen)):
        last = start[chosen[n] + 1]
        for a in range(start[chosen[n]], last):
            for b in range(a, last):
                out[var[a], var[b]] += weight[n]
