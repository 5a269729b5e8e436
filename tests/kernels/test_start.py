"""What kernels load before the first of them runs."""

import subprocess
import sys

QUICK_START = """
import sys
from mnlearn.kernels.jit import kernel

@kernel
def double(x):
    return 2 * x

assert double(4) == 8
slow = {"scipy.linalg", "scipy.linalg.cython_blas", "scipy.special", "scipy.sparse"}
assert not slow & set(sys.modules), slow & set(sys.modules)
"""

PRODUCT = """
import sys
import numpy as np
from numba import njit
import mnlearn.kernels.jit

@njit
def product(a, b):
    return np.dot(a, b)

a = np.arange(6.0).reshape(2, 3)
assert np.array_equal(product(a, a.T.copy()), a @ a.T)
assert hasattr(sys.modules["scipy.linalg.cython_blas"], "__pyx_capi__")
"""


def run(tmp_path, code):
    """Run a program; the source of a compiled function has to be a file."""
    program = tmp_path / "program.py"
    program.write_text(code)
    subprocess.run([sys.executable, program], check=True)


def test_a_kernel_runs_without_the_linear_algebra_of_scipy(tmp_path):
    run(tmp_path, QUICK_START)


def test_functions_of_others_that_call_blas_still_run(tmp_path):
    run(tmp_path, PRODUCT)
