"""Drawing examples from a Bayesian network, parents before children."""

import numpy as np

from mnlearn.kernels.arithmetic.splitmix import advance, mix, uniform
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.trees import LEAF


@kernel
def draw_ancestral(order, start, split_var, child, p_one, seed, first, last, out):
    """Draw the examples `first` to `last`; example i depends on the seed and on i.

    order : int64, (n_vars,), parents before children. start, split_var, child : as in `Trees`.
    p_one : float64, (n_nodes,). Probability of a 1 at each leaf. seed : uint64.
    out : uint8, (n_rows, n_vars).
    """
    for i in range(first, last):
        stream = mix(mix(advance(seed)) + advance(np.uint64(i)))
        row = out[i]
        for v in order:
            node = start[v]
            while split_var[node] != LEAF:
                node = child[node, row[split_var[node]]]
            stream = advance(stream)
            row[v] = uniform(stream) < p_one[node]
