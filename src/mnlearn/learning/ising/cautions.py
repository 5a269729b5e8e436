"""What a person should know before trusting an Ising network."""

from collections.abc import Sequence

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.learning.ising.comparison import IsingComparison
from mnlearn.learning.ising.estimation import FEWEST
from mnlearn.learning.ising.network import IsingNetwork

# A value that occurs less often says little about the other variables.
_RARE = 10


def cautions(data: Dataset, network: IsingNetwork) -> list[str]:
    """Return sentences on examples and items that make an estimate unreliable.

    Parameters
    ----------
    data : Dataset
        The examples that the network was learned from.
    network : IsingNetwork
        The estimate.
    """
    ones = data.ones
    rare = np.flatnonzero(np.minimum(ones, data.n_examples - ones) < _RARE)
    rare = rare[~network.dropped[rare]]
    lines = []
    if data.n_vars > data.n_examples:
        lines.append(
            f"{data.n_vars} items and {data.n_examples:g} rows: expected a row for each person."
        )
    if network.dropped.any():
        listed = ", ".join(network.dropped_labels)
        lines.append(f"no edges for what has a value fewer than {FEWEST} times: {listed}.")
    if len(rare):
        listed = ", ".join(network.labels[v] for v in rare)
        lines.append(
            f"a value occurs fewer than {_RARE} times in {listed}: their estimates are unreliable."
        )
    if network.at_end.any():
        listed = ", ".join(network.labels[v] for v in np.flatnonzero(network.at_end))
        lines.append(f"the smallest penalty of the path was chosen for {listed}.")
    if alike := _alike(data, network.labels):
        listed = ", ".join(alike)
        lines.append(f"the same or opposite answers in all rows: {listed}; leave one out.")
    return lines


def describe_dropped(comparison: IsingComparison) -> list[str]:
    """Return a sentence on the items that were not compared, if there are any."""
    if not comparison.dropped:
        return []
    return [f"not compared, rare in a group: {', '.join(comparison.dropped)}."]


def _alike(data: Dataset, labels: Sequence[str]) -> list[str]:
    """Return the pairs of items whose answers are the same, or opposite, in all rows."""
    # Once the first answer to each is 0, such items are equal, and constant ones are 0.
    turned = data.rows ^ data.rows[:1]
    _, first, kind = np.unique(turned, axis=1, return_index=True, return_inverse=True)
    return [
        f"{labels[first[k]]} – {labels[v]}"
        for v, k in enumerate(kind.ravel())
        if v != first[k] and turned[:, v].any()
    ]
