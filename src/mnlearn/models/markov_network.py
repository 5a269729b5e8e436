"""Log-linear Markov networks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.features import (
    FeatureSet,
    canonicalise,
    check_features,
    concatenate,
    state_features,
)
from mnlearn.models.fields import set_array, set_schema
from mnlearn.models.interactions import pair_tables, size
from mnlearn.models.model import Model
from mnlearn.models.questions import answers
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, binary_schema


@dataclass(frozen=True, eq=False, repr=False)
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
    shown: ClassVar[tuple[str, ...]] = ("n_features", "n_edges")

    schema: Schema
    features: FeatureSet
    weight: NDArray[np.float64]

    def __post_init__(self) -> None:
        set_array(self, "weight", np.float64, (len(self.features),))
        set_schema(self, self.schema)
        check_features(self.features, self.n_columns)

    @classmethod
    def from_features(
        cls,
        features: Sequence[Mapping[str | int, Any]],
        weight: Any,
        variables: Any,
    ) -> "MarkovNetwork":
        """Return the network of features that are given as mappings.

        Parameters
        ----------
        features : sequence of mapping
            Each feature asks its variables, by name or number, for a state, or for one of several
            in a list.
        weight : array-like of float, shape (n_features,)
            Weights of the features, in nats.
        variables : mapping of str to sequence, sequence of str, int or Schema
            The states of all variables by name. Variables of which only the names or the number are
            given have the states 0 and 1.

        Raises
        ------
        InputError
            A feature is empty, or has a variable or a state that does not exist, or the number of
            weights is not that of the features.

        Examples
        --------
        >>> import mnlearn as mn
        >>> features = [{"rain": 1, "wet": 1}, {"wet": 1}]
        >>> network = mn.MarkovNetwork.from_features(features, [2.0, -1.0], ["rain", "wet"])
        >>> network.query({"rain": 1}).round(3).to_dict()
        {('wet', 0): 0.269, ('wet', 1): 0.731}
        >>> network = mn.MarkovNetwork.from_features(
        ...     [{"mood": "low", "sleep": "bad"}],
        ...     [1.0],
        ...     {"mood": ["low", "fair", "high"], "sleep": ["good", "bad"]},
        ... )
        >>> network.probability({"mood": "low"}, {"sleep": "bad"}).__round__(3)
        0.576
        """
        schema, found = answers().features_of(features, weight, variables)
        return cls(schema, found, weight)

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

    def fit_weights(
        self,
        X: Any,
        *,
        sd: float | None = 1.0,
        l1: float = 0.0,
        max_iterations: int | None = None,
        sample_weight: Any = None,
        n_jobs: int | None = None,
    ) -> "MarkovNetwork":
        """Return a network of the same features with weights learned by pseudo-likelihood.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or Dataset of shape (n_samples, n_vars)
            Training data; a DataFrame has the variables of the network by name.
        sd : float, optional
            Standard deviation of the Gaussian prior on the weights; None for no such prior.
        l1 : float
            L1 penalty on the weights, for the sum over examples.
        max_iterations : int, optional
            Most iterations of weight learning, by default 200. The present weights are not read.
        sample_weight : array-like of float, shape (n_samples,), optional
            Weights of the examples: weight 2 counts as two examples.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.

        Raises
        ------
        InputError
            The data have other variables or values, or an argument is not as expected.

        Examples
        --------
        >>> import mnlearn as mn
        >>> features = [{"rain": 1}, {"wet": 1}, {"rain": 1, "wet": 1}]
        >>> network = mn.MarkovNetwork.from_features(features, [0, 0, 0], ["rain", "wet"])
        >>> X = [[1, 1]] * 30 + [[0, 0]] * 50 + [[0, 1]] * 20
        >>> network.fit_weights(X).weight.round(2).tolist()
        [-2.7, -0.7, 3.06]
        """
        how = sd, l1, max_iterations, sample_weight, n_jobs
        learned: MarkovNetwork = answers().fit_weights(self, X, *how)
        return learned

    def log_potential(self, rows: Any) -> NDArray[np.float64]:
        """Return the unnormalised log-probability of examples; less log Z, their log-probability.

        Parameters
        ----------
        rows : array-like, shape (n_rows, n_vars), DataFrame or mapping
            States of all variables; a mapping has those of one example.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            In nats.

        Raises
        ------
        InputError
            A cell is missing, or is no state of its variable.

        Examples
        --------
        >>> import mnlearn as mn
        >>> network = mn.MarkovNetwork.from_features([{"a": 1, "b": 1}], [2.0], ["a", "b"])
        >>> network.log_potential({"a": 1, "b": 1}).tolist()
        [2.0]
        """
        found: NDArray[np.float64] = answers().log_potential(self, rows)
        return found

    def potential_of(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the unnormalised log-probability of each row of columns in nats."""
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
    """Return the network of some features; all states of one variable get the constant."""
    several = np.flatnonzero(schema.arity > 1)
    if constant and len(several):
        v = int(several[0])
        states = state_features(schema, [v], np.arange(schema.arity[v])[:, None])
        features = concatenate([features, states])
        weight = np.concatenate([weight, np.full(len(states), constant)])
    if not len(features):
        return MarkovNetwork(schema, features, weight)
    return markov_network(schema, features, weight)
