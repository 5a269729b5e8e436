"""Our logarithm against that of NumPy."""

import numpy as np
from numpy.testing import assert_allclose

from mnlearn.kernels.arithmetic import logistic
from mnlearn.kernels.jit import kernel


@kernel
def _tabulate(x, out):
    for i in range(len(x)):
        out[i] = logistic.log_normal(x[i])


def test_logarithms_of_all_sizes():
    x = np.concatenate([np.geomspace(1e-307, 1e307, 20001), np.linspace(0.5, 2.0, 20001)])
    found = np.empty_like(x)
    _tabulate(x, found)
    assert_allclose(found, np.log(x), rtol=4e-15, atol=1e-16)
