"""Log-likelihoods of leaves, against a sum over their examples."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.special import xlogy

from mnlearn.kernels.circuits.candidates import log_likelihood_of_leaves

COUNTS = np.array([[0.0, 3.0, 0.0, 7.0, 120.0], [0.0, 0.0, 5.0, 2.0, 1.0]])


@pytest.mark.parametrize("pseudocount", [0.0, 0.5, 1.0])
def test_log_likelihood_is_the_sum_over_examples(pseudocount):
    out = np.empty(COUNTS.shape[1])
    log_likelihood_of_leaves(COUNTS, pseudocount, out)
    for leaf, counts in enumerate(COUNTS.T):
        examples = np.repeat([0, 1], counts.astype(int))
        p = (counts + pseudocount) / max(counts.sum() + 2.0 * pseudocount, 1.0)
        assert out[leaf] == pytest.approx(sum(np.log(p[x]) for x in examples), rel=1e-12)


def test_bits_are_those_of_scalar_logarithms():
    """The splits that ACBN chooses do not depend on the vector unit of the processor."""
    counts = np.random.default_rng(0).integers(0, 5_000, (2, 1_000)).astype(float)
    out = np.empty(counts.shape[1])
    log_likelihood_of_leaves(counts, 0.1, out)
    total = counts.sum(axis=0)
    expected = xlogy(counts, counts + 0.1).sum(axis=0) - xlogy(total, total + 0.2)
    assert_array_equal(out, expected)
