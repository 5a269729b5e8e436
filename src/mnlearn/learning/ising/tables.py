"""Stability of an Ising network as tables."""

from typing import TYPE_CHECKING

import numpy as np

from mnlearn.learning.ising.network import IsingNetwork
from mnlearn.learning.ising.stability import (
    LEAST_CORRELATION,
    CaseDropping,
    Differences,
    EdgeStability,
    bootstrap_differences,
)
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

COMPARED = ("edges", "strength")


def compare_edges(network: IsingNetwork, stability: EdgeStability) -> Differences:
    """Return the bootstrapped differences of every two edges, in the order of the edges."""
    edges = network.edges()
    return bootstrap_differences(network.weight[tuple(edges.T)], stability.weights_of(edges))


def compare_strengths(network: IsingNetwork, stability: EdgeStability) -> Differences:
    """Return the bootstrapped differences of the strengths of every two variables."""
    return bootstrap_differences(np.abs(network.weight).sum(axis=1), stability.strengths())


def differences_frame(
    network: IsingNetwork, stability: EdgeStability, of: str = "edges", coding: str = "0/1"
) -> "pd.DataFrame":
    """Return bootstrapped differences as a table.

    Parameters
    ----------
    network, stability
        The network and its bootstrap.
    of
        "edges": weights of every two edges; "strength": strengths of every two variables.
    coding
        Values of the variables that the weights are for: "0/1" or "-1/1".

    Returns
    -------
    pandas.DataFrame
        Columns `first` and `second`, `difference` (first minus second), `low`, `high` (the middle
        95 % of the resamples) and `differs` (whether 0 is outside of them).
    """
    import pandas as pd

    if of not in COMPARED:
        raise InputError(f"of: expected one of {', '.join(COMPARED)}, got {of!r}.")
    labels = np.array(list(network.labels), dtype=object)
    if of == "edges":
        found = compare_edges(network, stability)
        named = [f"{labels[u]} – {labels[v]}" for u, v in network.edges().tolist()]
        labels = np.array(named, dtype=object)
    else:
        found = compare_strengths(network, stability)
    scale = network.scale(coding)
    return pd.DataFrame(
        {
            "first": labels[found.first],
            "second": labels[found.second],
            "difference": scale * found.value,
            "low": scale * found.low,
            "high": scale * found.high,
            "differs": found.differs,
        }
    )


def case_drop_frame(cases: CaseDropping) -> "pd.DataFrame":
    """Return the correlations of networks of fewer examples as a table.

    Returns
    -------
    pandas.DataFrame
        Columns `measure`, `dropped` (share of the examples), `correlation` (mean over the resamples
        in which it is defined), `low`, `high` (the middle 90 % of them) and `share_high` (share of
        all resamples with a correlation of at least 0.7).
    """
    import pandas as pd

    rows = []
    for measure, correlation in cases.correlation.items():
        for share, values in zip(cases.dropped.tolist(), correlation, strict=True):
            known = values[~np.isnan(values)]
            mean, low, high = np.nan, np.nan, np.nan
            if len(known):
                mean, (low, high) = known.mean(), np.quantile(known, (0.05, 0.95))
            high_share = np.mean(np.nan_to_num(values, nan=-1.0) >= LEAST_CORRELATION)
            rows.append(
                {
                    "measure": measure,
                    "dropped": share,
                    "correlation": mean,
                    "low": low,
                    "high": high,
                    "share_high": high_share,
                }
            )
    return pd.DataFrame(rows)
