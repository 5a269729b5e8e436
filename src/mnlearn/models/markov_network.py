"""Log-linear Markov networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.features import FeatureSet, canonicalise, concatenate, state_features
from mnlearn.models.fields import set_array, set_schema
from mnlearn.models.interactions import pair_tables, size
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, binary_schema


@dataclass(frozen=True, eq=False)
class MarkovNetwork(Model):
    """P(x) is proportional to exp(sum of the weights of the features that x satisfies).

    `markov_network` accepts features in any order. Construction converts the weights, makes them
    read-only and checks their number.

    Attributes
    ----------
    schema : Schema
        The variables. A number stands for that many nameless ones of the states 0 and 1.
    features : FeatureSet
        Distinct non-empty features in canonical order; their literals ask for values of columns.
    weight : ndarray of float64, shape (n_features,)
        Weights in nats; minus infinity forbids a feature.
    """

    kind: ClassVar[str] = "markov_network"
    title: ClassVar[str] = "a Markov network"

    schema: Schema
    features: FeatureSet
    weight: NDArray[np.float64]

    def __post_init__(self) -> None:
        set_array(self, "weight", np.float64, (len(self.features),))
        set_schema(self, self.schema)

    @property
    def n_parameters(self) -> int:
        """Number of features."""
        return len(self.features)

    def size(self) -> dict[str, float]:
        """Return the number and the mean length of the features with weights other than 0."""
        return self.features.size(self.weight)

    def to_markov_network(self) -> "MarkovNetwork":
        """Return this network, so that all models with features have this method."""
        return self

    def log_potential(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the unnormalised log-probability of each row.

        Parameters
        ----------
        rows : ndarray of uint8, shape (n_rows, n_columns)
            Values 0 and 1.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            In nats.
        """
        satisfied = self.features.satisfied(rows)
        return np.where(satisfied, self.weight, 0.0).sum(axis=1)

    def edges(self) -> dict[tuple[int, int], float]:
        """Return the pairs of variables that share a feature, with their pairwise interaction.

        A feature of weight 0 has no effect and joins no variables.

        Returns
        -------
        dict of (int, int) to float
            For u < v the interaction in nats: the weight of the monomial x_u x_v when the
            log-potential is written in monomials of {0, 1} variables. In a network of pairwise
            features it is the log odds ratio of u and v given all others. See `interactions.size`
            for variables of other numbers of states.
        """
        if not self.schema.is_binary:
            tables = pair_tables(self.schema, self.features, self.weight)
            return {pair: size(table) for pair, table in tables.items()}
        out: dict[tuple[int, int], float] = {}
        for f in np.flatnonzero(self.weight).tolist():
            literals = self.features.literals(f)
            # x_u x_v appears in prod(x or 1 - x) only if every other literal is negative.
            n_positive = sum(value for _, value in literals)
            for a, (u, u_value) in enumerate(literals):
                for v, v_value in literals[a + 1 :]:
                    interaction = 0.0
                    if n_positive == u_value + v_value:
                        w = float(self.weight[f])
                        interaction = w if u_value == v_value else -w
                    out[u, v] = out.get((u, v), 0.0) + interaction
        return out

    def describe(self) -> dict[str, Any]:
        """Return the numbers of variables, features, features by length, and edges."""
        counts = np.bincount(self.features.length)
        return {
            "n_vars": self.n_vars,
            "n_features": len(self.features),
            "n_nonzero": int((self.weight != 0).sum()),
            "features_by_length": {
                str(length): int(count) for length, count in enumerate(counts) if count
            },
            "n_edges": len(self.edges()),
        }


def markov_network(
    schema: Schema | int,
    features: FeatureSet,
    weight: NDArray | Sequence[float],
) -> MarkovNetwork:
    """Return the network of some features; the weights of equal features are added up.

    Features that cannot hold are dropped, and so are empty features, which are constants.

    Parameters
    ----------
    schema : Schema or int
        The variables. A number stands for that many nameless ones of the states 0 and 1.
    features : FeatureSet
        In any order; may repeat.
    weight : array-like of float, shape (n_features,)
        In nats; may be infinite.

    Raises
    ------
    InputError
        A column is out of range, a weight is not a number, or one feature has weights of both
        infinities.
    """
    schema = schema if isinstance(schema, Schema) else binary_schema(schema)
    weight = np.asarray(weight, np.float64)
    last = schema.n_columns - 1
    if len(features.var) and not (features.var.min() >= 0 and features.var.max() <= last):
        raise InputError(f"features: expected columns 0 to {last}.")
    if np.isnan(weight).any():
        raise InputError("features: a weight is not a number.")
    distinct, place = canonicalise(features, schema.start)
    kept = place >= 0
    total = np.zeros(len(distinct))
    with np.errstate(invalid="ignore"):
        np.add.at(total, place[kept], weight[kept])
    if np.isnan(total).any():
        raise InputError("features: one feature has weights of both infinities.")
    proper = distinct.length > 0
    return MarkovNetwork(schema, distinct.select(proper), total[proper])


def network_with_constant(
    schema: Schema, features: FeatureSet, weight: NDArray[np.float64], constant: float
) -> MarkovNetwork:
    """Return the network of some features with a constant; see `markov_network`.

    Each state of the first variable that has several gets the constant as weight, so that the
    partition function is right.
    """
    several = np.flatnonzero(schema.arity > 1)
    if constant and len(several):
        v = int(several[0])
        states = state_features(schema, [v], np.arange(schema.arity[v])[:, None])
        features = concatenate([features, states])
        weight = np.concatenate([weight, np.full(len(states), constant)])
    if not len(features):
        return MarkovNetwork(schema, features, weight)
    return markov_network(schema, features, weight)
