"""Every learner gives the same bytes whatever the seed of hashes and the number of threads."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from faults.counting import N

ROOT = Path(__file__).parents[2]


def digests(hash_seed, threads):
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(hash_seed)}
    command = [sys.executable, "-m", "faults.learn_all", str(threads)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_hash_seeds_and_threads(counts):
    rng = np.random.default_rng(N)
    first = digests(0, 1)
    for _ in range(max(2, N // 20)):
        hash_seed, threads = int(rng.integers(1, 2**32)), int(rng.integers(2, 6))
        found = digests(hash_seed, threads)
        for name, digest in first.items():
            same = found[name] == digest
            counts.add(None if same else f"{name}: hash seed {hash_seed}, {threads} threads")
    counts.check()
