"""Tables of an Ising network: centrality and predictability of its variables, its stability."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
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
    import networkx as nx
    import pandas as pd


def centrality_frame(
    network: IsingNetwork, coding: str = "0/1", groups: Sequence[str] | None = None
) -> "pd.DataFrame":
    """Return the centrality of each variable.

    Parameters
    ----------
    network
        The network.
    coding
        Values of the variables that the weights are for: "0/1" or "-1/1".
    groups
        The group of each variable.

    Returns
    -------
    pandas.DataFrame
        Columns `variable`, `strength` (sum of the absolute weights of its edges),
        `expected_influence` (sum of the weights), `closeness` and `betweenness`. The length of an
        edge is 1 / |weight|, as in R's qgraph. Closeness is 1 / (sum of the distances to all other
        variables of the largest connected part); it is NaN outside this part. Betweenness is the
        number of pairs of other variables whose shortest path leads through the variable; where a
        pair has several shortest paths, each counts with its share. With groups also
        `bridge_strength` and `bridge_expected_influence`, the same sums over the edges to variables
        of other groups.

    References
    ----------
    .. [1] Opsahl, Agneessens and Skvoretz, "Node centrality in weighted networks: Generalizing
       degree and shortest paths", Social Networks, 2010.
    .. [2] Robinaugh, Millner and McNally, "Identifying highly influential nodes in the complicated
       grief network", Journal of Abnormal Psychology, 2016.
    .. [3] Jones, Ma and McNally, "Bridge centrality: A network approach to understanding
       comorbidity", Multivariate Behavioral Research, 2021.
    """
    import networkx as nx
    import pandas as pd

    weight = network.weights_frame(coding).to_numpy()
    graph = nx.Graph()
    graph.add_nodes_from(range(len(weight)))
    graph.add_weighted_edges_from(
        ((u, v, 1 / abs(weight[u, v])) for u, v in network.edges().tolist()), weight="length"
    )
    between = nx.betweenness_centrality(graph, weight="length", normalized=False)
    frame = pd.DataFrame(
        {
            "variable": network.labels,
            "strength": np.abs(weight).sum(axis=1),
            "expected_influence": weight.sum(axis=1),
            "closeness": _closeness(graph),
            "betweenness": [between[v] for v in range(len(weight))],
        }
    )
    if groups is not None:
        number = np.unique(np.array(groups, object).astype(str), return_inverse=True)[1]
        across = np.where(number[:, None] != number, weight, 0.0)
        frame["bridge_strength"] = np.abs(across).sum(axis=1)
        frame["bridge_expected_influence"] = across.sum(axis=1)
    return frame


def _closeness(graph: "nx.Graph") -> NDArray[np.float64]:
    """Return the closeness of each node; NaN outside the largest connected part."""
    import networkx as nx

    closeness = np.full(len(graph), np.nan)
    # Of several largest parts, the one with the first variable.
    largest = max(nx.connected_components(graph), key=lambda part: (len(part), -min(part)))
    if len(largest) > 1:
        for v in largest:
            distance = nx.single_source_dijkstra_path_length(graph, v, weight="length")
            closeness[v] = 1 / sum(distance[u] for u in sorted(distance))
    return closeness


def predictability_frame(network: IsingNetwork, data: Dataset) -> "pd.DataFrame":
    """Return how well each variable is predicted by the others.

    Parameters
    ----------
    network
        The network.
    data
        The examples it was estimated from, or others with the same variables.

    Returns
    -------
    pandas.DataFrame
        Columns `variable`; `accuracy`, the share of examples whose more probable value is the right
        one; `accuracy_of_constant`, the share of the more frequent value; `normalised_accuracy`,
        the first minus the second, divided by 1 minus the second, as in R's mgm; and
        `nagelkerke_r2`. The last two are NaN for a variable that is constant in the data.

    Notes
    -----
    The prediction is that of the regression of the variable (`IsingNetwork.regression`), with all
    of its neighbours, also those that merge="and" removes.

    References
    ----------
    .. [1] Haslbeck and Waldorp, "How well do network models predict observations? On the importance
       of predictability in network models", Behavior Research Methods, 2018.
    .. [2] Nagelkerke, "A note on a general definition of the coefficient of determination",
       Biometrika, 1991.
    """
    import pandas as pd

    n = data.n_examples
    log_odds = data.rows @ network.regression.T + network.threshold
    right = (log_odds > 0) == (data.rows == 1)
    accuracy = data.weight @ right / n
    share = data.frequency
    constant = np.maximum(share, 1 - share)
    loss = data.weight @ np.logaddexp(0.0, np.where(data.rows == 1, -log_odds, log_odds)) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        null = -(share * np.log(share) + (1 - share) * np.log1p(-share))
        normalised = (accuracy - constant) / (1 - constant)
        nagelkerke = -np.expm1(2 * (loss - null)) / -np.expm1(-2 * null)
    return pd.DataFrame(
        {
            "variable": network.labels,
            "accuracy": accuracy,
            "accuracy_of_constant": constant,
            "normalised_accuracy": normalised,
            "nagelkerke_r2": nagelkerke,
        }
    )


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
