"""Learn a model with every learner, and print the digests of their files as JSON."""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

from made_random import random_data, random_dependency_network
from mnlearn.learning.tuning import tune
from mnlearn.methods import learner_names, load_learner
from mnlearn.models.io.native import write_npz
from mnlearn.scoring.any_model import pll

SETTINGS = {"dn_bag": {"n_bags": 2}, "gssl": {"n_generated": 200}, "ltm": {"trial_iterations": 2}}


def digests(threads):
    """Return the digest of each learner's model and of its scores."""
    data, network = random_data(3, n_examples=120), random_dependency_network(3, n_vars=6)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in learner_names():
            learner = load_learner(name)
            given = network if learner.network == "required" else None
            grid = learner.grid(SETTINGS.get(name, {}))
            tuned = tune(learner, data, grid, None, threads=threads, network=given)
            model = tuned.best.fitted.model
            write_npz(model, Path(folder, "m.npz"))
            scores = pll(model, data, threads).per_row.tobytes()
            digest = hashlib.sha256(Path(folder, "m.npz").read_bytes() + scores)
            found[name] = digest.hexdigest()
    return found


if __name__ == "__main__":
    print(json.dumps(digests(int(sys.argv[1]))))
