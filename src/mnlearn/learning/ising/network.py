"""An estimated Ising network, and its tables: edges, centrality, predictability, stability."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.ising.items import Scores
from mnlearn.learning.ising.stability import (
    LEAST_CORRELATION,
    CaseDropping,
    Differences,
    EdgeStability,
    bootstrap_differences,
)
from mnlearn.models.features import concatenate, state_features
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

# Values of the variables that weights and thresholds can be for.
CODINGS = ("0/1", "-1/1")


@dataclass(frozen=True, eq=False)
class IsingNetwork:
    """Pairwise network: P(x) ∝ exp(Σ threshold_v(x_v) + Σ interaction_uv(x_u, x_v)).

    Of items of two states, 0 and 1, the interaction is weight_uv x_u x_v. So it is for ordered
    items, with the scores 0, 1, 2, ... of their states. Other tables add up to 0 over the states of
    each item that is neither.

    Attributes
    ----------
    weight : float64 array of shape (n_vars, n_vars)
        Symmetric weights, 0 where there is no edge; see `Scores.sizes`.
    regression : float64 array of shape (n_inputs, n_inputs)
        The rows of the inputs of v have the regression of v. Without unordered items of more than
        two states, inputs are items.
    threshold, frequency : float64 array, of all states but the first ones
        Thresholds, relative to that of the first state of the item, and shares of the examples.
    penalty, ebic : float64 array of shape (n_vars,)
        Penalties of the regressions (glmnet's lambda times the number of examples), their EBIC.
    at_end, dropped : bool array of shape (n_vars,)
        Whether the smallest penalty was chosen; whether a variable was left out, because fewer than
        two values occur at least twice.
    schema : Schema
        The variables, each of two states or more.
    """

    weight: NDArray[np.float64]
    threshold: NDArray[np.float64]
    regression: NDArray[np.float64]
    penalty: NDArray[np.float64]
    ebic: NDArray[np.float64]
    at_end: NDArray[np.bool_]
    dropped: NDArray[np.bool_]
    frequency: NDArray[np.float64]
    schema: Schema

    @cached_property
    def scores(self) -> Scores:
        """The scores of the states."""
        return Scores(self.schema)

    @property
    def signed(self) -> NDArray[np.bool_]:
        """Whether the weight of a pair has a sign, (n_vars, n_vars)."""
        return np.logical_and.outer(self.scores.scored, self.scores.scored)

    @property
    def interaction(self) -> NDArray[np.float64]:
        """The interactions of the inputs of all edges, symmetric, (n_inputs, n_inputs)."""
        item = self.scores.item_of
        edge = self.weight[np.ix_(item, item)] != 0
        return np.where(edge, (self.regression + self.regression.T) / 2, 0.0)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the variables; V0, V1, ... if they have none."""
        return self.schema.names

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

    def conditionals(self, data: Dataset) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """Yield the states of each item, and the logits of all of them by its regression."""
        scores, values = self.scores, self.schema.values(data.rows).astype(np.intp)
        total = scores.inputs(data) @ self.regression.T
        for v, (first, last) in enumerate(itertools.pairwise(scores.first_threshold.tolist())):
            logits = total[:, scores.own(v)] @ scores.table(v).T
            yield values[:, v], logits + np.append(0.0, self.threshold[first:last])

    def markov_network(self, schema: Schema | None = None) -> MarkovNetwork:
        """Return the network with features for states but the first, and for those of each edge."""
        scores, interaction = self.scores, self.interaction
        features = [
            state_features(self.schema, [v], np.arange(1, k)[:, None])
            for v, k in enumerate(self.schema.arity.tolist())
        ]
        weights = [self.threshold]
        for u, v in self.edges().tolist():
            own = interaction[scores.own(u), scores.own(v)]
            table = scores.table(u) @ own @ scores.table(v).T
            states = np.argwhere(table)
            features.append(state_features(self.schema, [u, v], states))
            weights.append(table[tuple(states.T)])
        weight = np.concatenate(weights)
        return markov_network(schema or self.schema, concatenate(features), weight)

    def edges_frame(
        self, stability: EdgeStability | None = None, coding: str = "0/1"
    ) -> "pd.DataFrame":
        """Return the edges as a table, strongest first.

        With `stability`, a result of `bootstrap`, its columns are added, and then the pairs that
        are edges in resamples only, with weight 0.
        """
        import pandas as pd

        scale, regression = self.scale(coding), self.scores.sizes(self.regression)
        pairs = self.edges()
        if stability is not None:
            pairs = np.concatenate([pairs, stability.pairs_beside(self.weight)])
        labels, (u, v) = np.array(self.labels, dtype=object), pairs.T
        columns = {
            "source": labels[u],
            "target": labels[v],
            "weight": scale * self.weight[u, v],
            "in_regression_of_source": scale * regression[u, v],
            "in_regression_of_target": scale * regression[v, u],
        }
        if not self.scores.scored.all():
            columns["signed"] = self.signed[u, v]
        if stability is not None:
            columns["bootstrap_share"] = stability.share[u, v]
            columns["bootstrap_mean"] = scale * stability.mean[u, v]
            columns["bootstrap_low"] = scale * stability.low[u, v]
            columns["bootstrap_high"] = scale * stability.high[u, v]
        return pd.DataFrame(columns)

    def variables_frame(self, coding: str = "0/1") -> "pd.DataFrame":
        """Return a table with a row for each state but the first of each variable.

        A column `state` names the states if any is not 1.
        """
        import pandas as pd

        scale = self.scale(coding)
        threshold = self.threshold if coding == "0/1" else self.plus_minus()[1]
        states = [state for variable in self.schema for state in variable.states[1:]]
        named = {"state": states} if any(state != 1 for state in states) else {}
        of_variables = {
            "degree": (self.weight != 0).sum(axis=1),
            "strength": scale * np.abs(self.weight).sum(axis=1),
            "penalty": self.penalty,
            "ebic": self.ebic,
        }
        n_rows = self.schema.arity - 1
        return pd.DataFrame(
            {
                "variable": np.repeat(np.array(self.labels, dtype=object), n_rows),
                **named,
                "frequency": self.frequency,
                "threshold": threshold,
                **{name: np.repeat(values, n_rows) for name, values in of_variables.items()},
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
        check_coding(coding, self.schema)
        return 1.0 if coding == "0/1" else 0.25


def check_coding(coding: str, schema: Schema) -> None:
    """Refuse a coding that is none, or one of two values for variables of more."""
    if coding not in CODINGS:
        raise InputError(f"coding: expected one of {', '.join(CODINGS)}, got {coding!r}.")
    if coding != CODINGS[0] and not schema.is_binary:
        name = next(variable.name for variable in schema if variable.arity > 2)
        raise InputError(
            f"coding: expected {CODINGS[0]}, because {name} has more than two states, "
            f"got {coding!r}."
        )


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
    # Weights without a sign say nothing about a direction.
    signed = np.where(network.signed, weight, 0.0)
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
            "expected_influence": signed.sum(axis=1),
            "closeness": _closeness(graph),
            "betweenness": [between[v] for v in range(len(weight))],
        }
    )
    if groups is not None:
        number = np.unique(np.array(groups, object).astype(str), return_inverse=True)[1]
        across = number[:, None] != number
        frame["bridge_strength"] = np.where(across, np.abs(weight), 0.0).sum(axis=1)
        frame["bridge_expected_influence"] = np.where(across, signed, 0.0).sum(axis=1)
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

    n, shape = data.n_examples, (data.n_rows, data.n_vars)
    right, loss = np.empty(shape, bool), np.empty(shape)
    constant, null = np.empty(data.n_vars), np.empty(data.n_vars)
    with np.errstate(divide="ignore", invalid="ignore"):
        for v, (state, logits) in enumerate(network.conditionals(data)):
            observed = np.take_along_axis(logits, state[:, None], axis=1)
            right[:, v] = logits.argmax(axis=1) == state
            loss[:, v] = np.logaddexp.reduce(logits - observed, axis=1)
            share = data.counts(v)[1:] / n
            first = 1 - share.sum()
            constant[v] = max(share.max(), first)
            # A state that never occurs adds nothing.
            seen = share[share > 0]
            rest = first * np.log1p(-share.sum()) if first > 0 else 0.0
            null[v] = -((seen * np.log(seen)).sum() + rest)
        null[null == 0] = np.nan
        accuracy = data.weight @ right / n
        loss = data.weight @ loss / n
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
