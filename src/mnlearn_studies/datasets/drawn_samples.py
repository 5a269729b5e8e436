"""Samples `BASE-nSIZE-fFOLD` of datasets, for curves over the number of training examples.

They are the first examples of the fold's permutation: smaller samples are a part of larger ones.
"""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream
from mnlearn_studies.datasets.registry import load_datasets
from mnlearn_studies.datasets.sample_names import Sample, parse_drawn

# Fold 0 of MSNBC is drawn from this seed. Of datasets that are built it is in the given order,
# which is random already. So values recorded elsewhere for the first examples apply to fold 0.
_SEEDS_OF_FOLD_0 = {"msnbc": 20101}


def draw_sample(name: str, splits: dict[str, Dataset], seed: int) -> dict[str, Dataset]:
    """Return the splits of a sample by its name, and the splits of its base."""
    found = parse_drawn(name)
    if found is None:
        raise InputError(f"dataset {name}: expected a name such as msnbc-n1000-f2.")
    train = splits["train"]
    if train.is_weighted:
        raise InputError(f"dataset {name}: weighted examples cannot be drawn at random.")
    n = len(train.row_of)
    if found.size > n:
        raise InputError(f"dataset {name}: expected at most the {n} training examples there are.")
    order = _permutation(found, n, seed)
    return {**splits, "train": train.take(order[: found.size])}


def _permutation(found: Sample, n: int, seed: int) -> NDArray[np.int64]:
    """Return the order in which a fold takes the training examples."""
    entry = load_datasets().get(found.base)
    is_built = entry is not None and entry.is_built
    if found.fold == 0 and is_built:
        return np.arange(n)
    if found.fold == 0 and found.base in _SEEDS_OF_FOLD_0:
        bits = np.random.PCG64(_SEEDS_OF_FOLD_0[found.base])
        return np.random.Generator(bits).permutation(n)
    # Two forms of one dataset have the same folds, so that they can be compared pair by pair.
    pool = entry.origin if entry is not None and is_built else found.base
    return stream(seed, pool, "fold", str(found.fold)).permutation(n)
