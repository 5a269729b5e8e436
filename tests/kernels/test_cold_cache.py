"""A process that compiles the kernels computes what a process that loads them computes."""

import os
import subprocess
import sys

import pytest

# A search that takes many small steps: a difference in the last bit of a gain changes its result.
SEARCH = """
import numpy as np
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.features.bottom_up import search_bottom_up
from mnlearn.learning.weights.descent import Penalty

rng = np.random.default_rng(0)
hidden = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 10))
data = merge_rows((hidden + rng.normal(size=(500, 10)) > 0.8).astype(np.uint8))
found = search_bottom_up(data, Penalty(1.0, 1.0), "positive", 10, price=0.1)
print(found.replaced, [gain.hex() for gain in found.gained], found.objective.hex())
"""


@pytest.mark.nightly
def test_a_cold_and_a_warm_cache_give_the_same_bytes(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SEARCH]
    cold, warm = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbi"))
    assert cold == warm
