"""An estimated Ising network, and its tables: edges, centrality, predictability, stability."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.ising.stability import (
    LEAST_CORRELATION,
    CaseDropping,
    Differences,
    EdgeStability,
    bootstrap_differences,
)
from mnlearn.learning.logistic import build_pair_features
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, binary_schema

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

# Values of the variables that weights and thresholds can be for.
CODINGS = ("0/1", "-1/1")


@dataclass(frozen=True, eq=False)
class IsingNetwork:
    """Pairwise network over {0, 1} variables: P(x) ∝ exp(Σ threshold_v x_v + Σ weight_uv x_u x_v).

    Attributes
    ----------
    weight, regression : float64 array of shape (n_vars, n_vars)
        Symmetric weights, 0 where there is no edge; row v of the other has the regression of v.
    threshold, penalty, ebic : float64 array of shape (n_vars,)
        Intercepts of the regressions, their penalties (glmnet's lambda times the number of
        examples) and their EBIC.
    at_end, dropped : bool array of shape (n_vars,)
        Whether the smallest penalty was chosen; whether a variable was left out, because a value
        occurs fewer than twice.
    frequency : float64 array of shape (n_vars,)
        Share of the examples in which each variable is 1.
    schema : Schema, optional
        The variables, each of two states.
    """

    weight: NDArray[np.float64]
    threshold: NDArray[np.float64]
    regression: NDArray[np.float64]
    penalty: NDArray[np.float64]
    ebic: NDArray[np.float64]
    at_end: NDArray[np.bool_]
    dropped: NDArray[np.bool_]
    frequency: NDArray[np.float64]
    schema: Schema | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the variables; V0, V1, ... if they have none."""
        return (self.schema or binary_schema(len(self.threshold))).names

    @property
    def dropped_labels(self) -> list[str]:
        return [self.labels[v] for v in np.flatnonzero(self.dropped)]

    def edges(self) -> NDArray[np.int64]:
        """Return the edges (u, v), u < v, strongest first, int64 of shape (n_edges, 2)."""
        u, v = np.nonzero(np.triu(self.weight, 1))
        order = np.lexsort((v, u, -np.abs(self.weight[u, v])))
        return np.column_stack([u, v])[order]

    def plus_minus(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and thresholds of the same distribution over {-1, 1} variables."""
        return self.weight / 4, self.threshold / 2 + self.weight.sum(axis=1) / 4

    def markov_network(self, schema: Schema | None = None) -> MarkovNetwork:
        """Return the network with features X_v = 1 and, for every edge, X_u = 1 and X_v = 1."""
        n_vars, edges = len(self.threshold), self.edges()
        weight = np.concatenate([self.threshold, self.weight[tuple(edges.T)]])
        features = build_pair_features(n_vars, edges)
        return markov_network(schema or self.schema or n_vars, features, weight)

    def edges_frame(
        self, stability: EdgeStability | None = None, coding: str = "0/1"
    ) -> "pd.DataFrame":
        """Return the edges as a table, strongest first.

        With `stability`, a result of `bootstrap`, its columns are added, and then the pairs that
        are edges in resamples only, with weight 0.
        """
        import pandas as pd

        scale = self.scale(coding)
        pairs = self.edges()
        if stability is not None:
            pairs = np.concatenate([pairs, stability.pairs_beside(self.weight)])
        labels, (u, v) = np.array(self.labels, dtype=object), pairs.T
        columns = {
            "source": labels[u],
            "target": labels[v],
            "weight": scale * self.weight[u, v],
            "in_regression_of_source": scale * self.regression[u, v],
            "in_regression_of_target": scale * self.regression[v, u],
        }
        if stability is not None:
            columns["bootstrap_share"] = stability.share[u, v]
            columns["bootstrap_mean"] = scale * stability.mean[u, v]
            columns["bootstrap_low"] = scale * stability.low[u, v]
            columns["bootstrap_high"] = scale * stability.high[u, v]
        return pd.DataFrame(columns)

    def variables_frame(self, coding: str = "0/1") -> "pd.DataFrame":
        """Return the variables as a table; a column `state` names the value 1 if need be."""
        import pandas as pd

        scale = self.scale(coding)
        threshold = self.threshold if coding == "0/1" else self.plus_minus()[1]
        states = [variable.states[1] for variable in self.schema or ()]
        named = {"state": states} if any(state != 1 for state in states) else {}
        return pd.DataFrame(
            {
                "variable": self.labels,
                **named,
                "frequency": self.frequency,
                "threshold": threshold,
                "degree": (self.weight != 0).sum(axis=1),
                "strength": scale * np.abs(self.weight).sum(axis=1),
                "penalty": self.penalty,
                "ebic": self.ebic,
            }
        )

    def weights_frame(self, coding: str = "0/1") -> "pd.DataFrame":
        """Return the matrix of weights as a table whose rows and columns are the variables."""
        import pandas as pd

        scale = self.scale(coding)
        # Two columns of the CSV file must not have the same name.
        index = pd.Index(self.labels, name=None if "variable" in self.labels else "variable")
        return pd.DataFrame(scale * self.weight, index=index, columns=self.labels)

    def scale(self, coding: str) -> float:
        """Return the factor of all weights for other values of the variables."""
        if coding not in CODINGS:
            raise InputError(f"coding: expected one of {', '.join(CODINGS)}, got {coding!r}.")
        return 1.0 if coding == "0/1" else 0.25


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
