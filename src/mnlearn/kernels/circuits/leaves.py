"""The likelihood of the leaves of tree CPDs, from counts."""

import numpy as np

from mnlearn.kernels.jit import kernel


@kernel
def log_likelihood_of_leaves(count, pseudocount, out):
    """Find the log-likelihood of the target in each leaf, in nats, under smoothed probabilities.

    count : float64, (2, n_leaves), the examples of each leaf in which the target is 0 and 1.
    pseudocount : float64, added to the count of each value. out : float64, (n_leaves,).
    """
    for leaf in range(len(out)):
        zeros = count[0, leaf]
        ones = count[1, leaf]
        both = zeros + ones
        out[leaf] = (
            _times_log(zeros, zeros + pseudocount) + _times_log(ones, ones + pseudocount)
        ) - _times_log(both, both + 2.0 * pseudocount)


@kernel
def _times_log(x, y):
    """Return x log(y), which is 0 where x is 0 even if y is 0."""
    return x * np.log(y) if x != 0.0 else 0.0
