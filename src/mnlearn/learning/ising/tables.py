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

    The length of an edge is 1 / |weight|, as in R's qgraph. Closeness is 1 / (sum of the distances
    within the largest connected part); several shortest paths count with their share in
    betweenness.
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
    """Return how well each variable is predicted by its regression, with all of its neighbours.

    The accuracy is normalised as in R's mgm (Haslbeck & Waldorp 2018).
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
    """Return bootstrapped differences of every two "edges", or of "strength"."""
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
    """Return means and middle 90 % of correlations, and the share of those of at least 0.7."""
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
