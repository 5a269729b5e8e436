"""The literals of which searches make features, and their log-odds given the rest of a row.

Of a variable of two states these ask for either state, of others for one: its column is 1.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.models.features import FeatureSet, feature_set
from mnlearn.models.markov_network import MarkovNetwork

# An example becomes a conjunction of the states of all its variables ("full"), or of the second
# states of variables of two states, the ones, and the states of all others ("positive").
INITIAL = ("full", "positive")


def asked_columns(data: Dataset, initial: str) -> NDArray[np.bool_]:
    """Return which columns the features made of examples ask, bool of shape (n_rows, n_columns)."""
    asked = data.rows == 1
    if initial == "full":
        asked |= np.diff(data.schema.start)[data.schema.variable_of] == 1
    return asked


def literal_log_odds(network: MarkovNetwork, data: Dataset, threads: int) -> NDArray[np.float64]:
    """Return the log-odds that each column is 1 given the other variables, (n_columns, n_rows).

    These are those against all other states, whatever the number of states.
    """
    odds = np.ascontiguousarray(conditional_log_odds(network, data, threads).T)
    for columns in data.schema.several:
        own = odds[columns[0] : columns[-1] + 1].copy()
        for k, c in enumerate(columns):
            odds[c] = own[k] - scipy.special.logsumexp(np.delete(own, k, axis=0), axis=0)
    return odds


def mask_features(
    asked: NDArray[np.uint64], n_columns: int, value: NDArray[np.uint64] | None = None
) -> FeatureSet:
    """Return conjunctions given by bit masks of what they ask, and of the values: 1 by default."""
    bits, values = (
        np.unpackbits(
            np.ascontiguousarray(mask).view(np.uint8), axis=1, count=n_columns, bitorder="little"
        )
        for mask in (asked, asked if value is None else value)
    )
    owner, var = np.nonzero(bits)
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(asked)))])
    return feature_set(start, var, values[owner, var])
