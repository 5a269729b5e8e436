"""Examples held out of the training data, which say when EM of a hidden tree stops."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.inference.hidden_trees import log_value

# With fewer examples held out, their mean says too little.
_FEWEST = 10


def hold_out(
    data: Dataset, share: float, rng: np.random.Generator
) -> tuple[Dataset, Dataset | None]:
    """Return the examples to learn from, and those held out; None if they would be too few.

    Parameters
    ----------
    data : Dataset
        The training data. Of weighted data whole rows are held out.
    share : float
        Share of the examples to hold out.
    rng : numpy.random.Generator
        Chooses them.
    """
    n_given = data.n_rows if data.is_weighted else len(data.row_of)
    n_held = round(share * n_given)
    if n_held < _FEWEST or n_held >= n_given:
        return data, None
    order = rng.permutation(n_given)
    held, kept = np.sort(order[:n_held]), np.sort(order[n_held:])
    if data.is_weighted:
        return data.subset(kept), data.subset(held)
    return data.take(kept), data.take(held)


def mean_log_likelihood(data: Dataset, threads: int = 1) -> Callable[[Any], float]:
    """Return the function that scores a tree by its mean log-likelihood of examples, in nats."""
    return lambda tree: float(data.weight @ log_value(tree, data.rows, threads) / data.n_examples)
