"""What tests of kernels do not do without compilation, as when their mutants are tried."""

import numba
import pytest

COMPILED = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs compiled kernels")
