"""Kernels with wider vectors than those of the class of processors: the same bits."""

import json
import os
import subprocess
import sys

import pytest
from llvmlite.binding import get_host_cpu_features

from mnlearn.kernels import wide_vectors
from mnlearn.runtime.target import SETTINGS, is_in_class

# It says what it computes, and in which functions with wide vectors the compiler may choose how
# numbers round.
PROGRAM = """
import json
import re
import sys
import llvmlite.binding
if sys.argv[1] == "narrow":
    llvmlite.binding.get_host_cpu_features = dict
import numpy as np
from mnlearn.data.dataset import merge_rows
from mnlearn.kernels.likelihood.packed_columns import count_touched, value_and_gradient
from mnlearn.learning.weights.packed_likelihood import arrange_packed
from mnlearn.models.features import features_of

rng = np.random.default_rng(3)
data = merge_rows((rng.random((3000, 9)) < np.linspace(0.2, 0.8, 9)).astype(np.uint8))
sets = [sorted(rng.choice(9, n, replace=False)) for n in (1, 2, 3, 4, 6) * 8]
features = features_of([[(v, int(rng.random() < 0.5)) for v in chosen] for chosen in sets])
likelihood = arrange_packed(features, data)
assert len(likelihood.many) > 40
value, gradient = likelihood.value_and_gradient(rng.normal(size=likelihood.n_features))

wide, fast = [], []
for kernel in (count_touched, value_and_gradient):
    for text in kernel.inspect_llvm().values():
        groups = re.findall(r'attributes (#\\d+) = {.*"target-features"="[^"]*avx512', text)
        for function in re.findall(r"^define.*?^}", text, re.MULTILINE | re.DOTALL):
            head = function.partition("{")[0]
            if any(re.search(group + r"\\b", head) for group in groups):
                wide.append(head)
                if re.search(r"\\b(contract|reassoc|nsz|fast)\\b", function.partition("{")[2]):
                    fast.append(head)
print(json.dumps({"numbers": [value.hex(), gradient.tobytes().hex()], "n_wide": len(wide),
                  "fast": fast}))
"""


@pytest.mark.skipif(not is_in_class(), reason="a processor outside the class")
def test_wide_vectors_change_no_bit(tmp_path):
    # One cache for both: what is compiled for wide vectors is not for other processors.
    environment = {**os.environ, **SETTINGS, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = {}
    for vectors in ("wide", "narrow"):
        command = [sys.executable, "-c", PROGRAM, vectors]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        said[vectors] = json.loads(done.stdout)
    assert said["wide"]["numbers"] == said["narrow"]["numbers"]
    assert said["wide"]["fast"] == []
    assert said["narrow"]["n_wide"] == 0
    has_them = bool(get_host_cpu_features().get("avx512vl"))
    assert (said["wide"]["n_wide"] > 0) == has_them


@pytest.mark.parametrize(
    ("compiled_for", "features", "adds"),
    [
        (None, dict.fromkeys(wide_vectors._FEATURES, True), False),
        ("", dict.fromkeys(wide_vectors._FEATURES, True), True),
        ("", {"avx512f": True}, False),
    ],
)
def test_what_the_processor_adds(monkeypatch, compiled_for, features, adds):
    monkeypatch.setattr(wide_vectors.numba.config, "CPU_FEATURES", compiled_for)
    monkeypatch.setattr(wide_vectors, "get_host_cpu_features", lambda: features)
    assert bool(wide_vectors._find_features()) == adds
