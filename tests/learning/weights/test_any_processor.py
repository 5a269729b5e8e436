"""Weights that are learned on another processor: the same bytes."""

import json
import os
import subprocess
import sys

import pytest

from mnlearn.runtime.target import SETTINGS

# It prints digests of what learners make of a small table.
PROGRAM = """
import hashlib
import json
import sys
import warnings
import numpy as np
import mnlearn as mn

warnings.simplefilter("ignore")
rng = np.random.default_rng(5)
hidden = rng.random((1500, 1)) < 0.4
table = (rng.random((1500, 12)) < np.where(hidden, 0.7, np.linspace(0.1, 0.5, 12))).astype(np.uint8)
table[:, 3] |= table[:, 1] & table[:, 2]
digests = {}
for learner in sys.argv[2:]:
    model = getattr(mn, learner)().fit(table)
    path = f"{sys.argv[1]}/{learner}.npz"
    model.model_.save(path)
    parts = [array.tobytes() for array in np.load(path).values()]
    digests[learner] = hashlib.sha256(b"".join(parts)).hexdigest(), model.score(table[:100])
print(json.dumps(digests))
"""
# Vectors of 128 bits and no fused instructions, in the kernels and in the libraries.
OTHER = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Sandybridge",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3",
}


def digests(folder, learners, **settings):
    command = [sys.executable, "-c", PROGRAM, str(folder), *learners]
    # NumPy refuses to enable features where others are disabled.
    inherited = {k: v for k, v in os.environ.items() if k not in SETTINGS}
    environment = {**inherited, **settings}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.nightly
def test_all_weights_are_the_same_on_any_processor(tmp_path):
    names = "ACMN Atomic BLM ChowLiu DellaPietra DN2MN DTSL GSSL L1 LEM"
    learners = names.split()
    assert digests(tmp_path, learners) == digests(tmp_path, learners, **OTHER)
