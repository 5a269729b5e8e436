"""Kernels that come with the package: who takes them, and that they are not compiled again."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import types

from mnlearn.kernels import cache
from mnlearn.kernels.arithmetic.sums import sum_of
from mnlearn.runtime.target import is_in_class

ROOT = Path(__file__).parents[2]
FORMS = {("mnlearn.kernels.arithmetic.sums", "sum_of"): [(types.float64[::1],)]}
# It says what a kernel returns, and how often a cache had it.
PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from mnlearn.kernels import cache
cache._COMPILED = Path(sys.argv[1])
from mnlearn.kernels.arithmetic.sums import sum_of
print(sum_of(np.arange(100.0) / 7).hex(), sum(sum_of.stats.cache_hits.values()))
"""


def run(*command, content=None, **settings):
    environment = {**os.environ, **settings}
    done = subprocess.run(
        [sys.executable, *command], input=content, env=environment, cwd=ROOT, capture_output=True,
        check=True,
    )  # fmt: skip
    return done.stdout.decode().split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one kernel, compiled for the class of processors that all tests are for."""
    made = tmp_path_factory.mktemp("compiled")
    settings = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
    command = ("-m", "workflow.compiled", str(made), "x86-64-v3")
    run(*command, content=pickle.dumps(FORMS), NUMBA_CACHE_DIR=str(made), **settings)
    return made


@pytest.mark.skipif(not is_in_class(), reason="a processor outside the class")
@pytest.mark.parametrize(
    ("settings", "hits"),
    [({}, 1), ({"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}, 0)],
    ids=["this processor", "another target"],
)
def test_kernels_that_come_along_are_not_compiled(folder, tmp_path, settings, hits):
    said = run("-c", PROGRAM, str(folder), NUMBA_CACHE_DIR=str(tmp_path), **settings)
    assert said == [sum_of(np.arange(100.0) / 7).hex(), str(hits)]
    assert any(tmp_path.rglob("*.nbi")) == (not hits)


def test_a_damaged_file_is_compiled_again(folder, tmp_path):
    copied = tmp_path / "compiled"
    for path in folder.rglob("*.nb?"):
        place = copied / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"damaged" if path.suffix == ".nbc" else path.read_bytes())
    said = run("-c", PROGRAM, str(copied), NUMBA_CACHE_DIR=str(tmp_path / "own"))
    assert said == [sum_of(np.arange(100.0) / 7).hex(), "0"]


def test_the_fastest_target_that_a_processor_can_run_comes_first(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "_COMPILED", tmp_path)
    monkeypatch.setattr(cache, "get_host_cpu_name", lambda: "new")

    def targets(name, *features):
        return cache._targets_of.__wrapped__("system", name, ",".join(features))

    third, fourth = ([f"+{one}" for one in cache.TARGETS[f"x86-64-v{n}"]] for n in (3, 4))
    assert targets("new", *third, "-avx512f") == ("x86-64-v3",)
    assert targets("new", *third, *fourth) == ("x86-64-v4", "x86-64-v3")
    assert targets("new", "+neon") == ()
    assert targets("other", *third, *fourth) == ()
    monkeypatch.setattr(cache, "_COMPILED", tmp_path / "none")
    assert targets("new", *third) == ()
