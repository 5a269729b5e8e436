"""Kernels inside kernels: what is loaded, compiled, kept on disk and computed."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import cloudpickle
from numba.core.compiler import Flags
from numpy.testing import assert_array_equal

from mnlearn.kernels import cache, parts
from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.jit import copy_into, kernel


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setattr(cache.numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


KERNELS = """
import numpy as np
from mnlearn.kernels.jit import kernel

@kernel
def scale(x, factor):
    return factor * x + 1.0

@kernel
def fill(out, factor):
    for k in range(len(out)):
        out[k] = scale(float(k), factor)
    return out[1:]

@kernel
def outer(n, factor):
    values = fill(np.empty(n), factor)
    return values[1:]
"""


@pytest.fixture
def kernels(tmp_path):
    """A function that makes three kernels as a new process would: scale, fill and outer."""
    source = tmp_path / "own_kernels.py"
    source.write_text(KERNELS)

    def make():
        names = {"__name__": "own_kernels"}
        exec(compile(KERNELS, str(source), "exec"), names)
        return names["scale"], names["fill"], names["outer"]

    return make


def test_only_what_python_calls_becomes_machine_code(folder, kernels):
    scale, fill, outer = kernels()
    assert_array_equal(outer(5, 2.0), [5.0, 7.0, 9.0])
    (file,) = folder.rglob("*.nbc")
    assert "outer" in file.name
    assert [len(one.overloads) for one in (scale, fill, outer)] == [0, 0, 1]
    (part,) = scale.part.overloads.values()
    assert not part.library._compiled
    # Called from Python, it is compiled as any other.
    assert scale(3.0, 2.0) == 7.0
    assert_array_equal(fill(np.empty(2), 4.0), [5.0])
    assert len(list(folder.rglob("*.nbc"))) == 3


def test_what_the_cache_has_is_not_compiled_as_a_part(kernels):
    kernels()[2](4, 1.0)
    scale, _, outer = kernels()
    assert_array_equal(outer(4, 1.0), [3.0, 4.0])
    assert sum(outer.stats.cache_hits.values()) == 1
    assert scale._part is None


# A class of Numba without what the kernels use, or with another form.
OTHER_NUMBA = [
    "import numba.core.codegen as m; m.JITCodeLibrary = object",
    "import numba.core.codegen as m; del m.JITCodeLibrary",
    "import numba.core.compiler as m; m._LowerResult._fields = ('fndesc',)",
    "import numba.core.registry as m; m.CPUDispatcher = len",
]


@pytest.mark.nightly
@pytest.mark.parametrize("change", OTHER_NUMBA)
def test_with_another_numba_kernels_compute_the_same(tmp_path, kernels, change):
    program = f"""
{change}
from mnlearn.kernels.jit import KernelDispatcher
from mnlearn.kernels.arithmetic.logistic import sigmoid
from own_kernels import outer
assert KernelDispatcher is None
print(outer(5, 2.5).tolist(), sigmoid(-1.3).hex())
assert sum(outer.stats.cache_misses.values()) + sum(outer.stats.cache_hits.values()) == 1
"""
    environment = {
        **os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")
    }  # fmt: skip
    run = [sys.executable, "-W", "error", "-c", program]
    told = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split() == f"{kernels()[2](5, 2.5).tolist()} {sigmoid(-1.3).hex()}".split()
    assert told.stderr == ""


def test_a_kernel_is_pickled_as_its_function(kernels):
    copied = cloudpickle.loads(cloudpickle.dumps(kernels()[0]))
    assert type(copied) is parts.KernelDispatcher
    assert copied(3.0, 2.0) == 7.0


def test_options_compare_as_those_of_numba():
    ours, theirs = parts._Flags(), Flags()
    assert ours == theirs
    assert hash(ours) == hash(theirs)
    theirs.nrt = True
    assert ours != theirs
    ours.nrt = True
    assert ours == theirs
    # Set to what it is anyway.
    ours.debuginfo = False
    assert ours == theirs
    assert ours.copy() == theirs
    assert type(ours.copy()) is parts._Flags


@pytest.mark.nightly
def test_copies_of_arrays_bring_no_texts():
    """Numba compiles an error message, by the functions of strings, for `out[:] = values`."""

    @kernel
    def copy(values):
        out = np.empty(len(values) + 1, np.int64)
        copy_into(out, values)
        out[len(values)] = -1
        return out

    assert copy(np.arange(3)).tolist() == [0, 1, 2, -1]
    (compiled,) = copy.overloads.values()
    assert "unicode" not in compiled.library.get_llvm_str()

    @kernel
    def assign(values):
        out = np.empty(len(values), np.int64)
        out[:] = values
        return out

    assign(np.arange(3))
    (compiled,) = assign.overloads.values()
    assert "unicode" in compiled.library.get_llvm_str()


def test_no_kernel_calls_itself():
    for path in Path(parts.__file__).parent.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and function.decorator_list:
                called = [
                    n.func.id
                    for n in ast.walk(function)
                    if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
                ]
                assert function.name not in called, path


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


@pytest.mark.nightly
def test_functions_of_others_that_call_blas_still_run(tmp_path):
    run(tmp_path, PRODUCT)
