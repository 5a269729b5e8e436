"""Holm's correction of p-values, by hand."""

import numpy as np

from mnlearn.learning.ising.comparison import holm


def test_holm():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.9, 0.8]), [1.0, 1.0])
