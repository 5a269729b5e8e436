"""An estimated Ising network, and its tables."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.neighbourhoods import build_pair_features
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, binary_schema

if TYPE_CHECKING:
    import pandas as pd

    from mnlearn.learning.ising.stability import EdgeStability

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
        """Names of the variables that were left out."""
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
        self, stability: "EdgeStability | None" = None, coding: str = "0/1"
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
