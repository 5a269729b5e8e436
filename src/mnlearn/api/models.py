"""The kinds of models as people use them: data of `mnlearn.models` with the methods of `Model`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.api import graphs
from mnlearn.api.features import check_features, to_features, to_schema
from mnlearn.api.inputs import Dataset, to_count, to_threads
from mnlearn.api.kinds import kind_of, shared
from mnlearn.api.model import Model
from mnlearn.api.model_data import data_for
from mnlearn.api.queries import question_of
from mnlearn.inference.circuits.compilation import MAX_EDGES, compile_network
from mnlearn.inference.circuits.exact import condition
from mnlearn.inference.queries import known_columns
from mnlearn.learning.weights.arrangement import learn_weights
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.fit import MAX_ITERATIONS
from mnlearn.models import (
    bayesian_network,
    circuit,
    dependency_network,
    feature_tree,
    hidden_tree,
    junction_tree,
)
from mnlearn.models import markov_network as markov
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE

if TYPE_CHECKING:
    import pandas as pd


class MarkovNetwork(Model, markov.MarkovNetwork):
    """P(x) is proportional to exp(sum of the weights of the features that x satisfies).

    `features`, `weight`, `n_vars`, `names` and `edges()` are those of
    `mnlearn.models.markov_network.MarkovNetwork`.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_features(self.features, self.weight, self.n_columns)

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
        schema = to_schema(variables)
        return cls(schema, to_features(features, schema), weight)

    def fit_weights(
        self,
        X: Any,
        *,
        sd: float | None = 1.0,
        l1: float = 0.0,
        max_iterations: int = MAX_ITERATIONS,
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
        max_iterations : int
            Most iterations of weight learning. The present weights are not read.
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
        most = to_count(max_iterations, "max_iterations")
        for name, value in (("sd", sd), ("l1", l1)):
            is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not (is_number or (name == "sd" and value is None)):
                raise InputError(f"{name}: expected a number, got {value!r}.")
        data = data_for(self, X, sample_weight)
        assert isinstance(data, Dataset)
        learned, _ = learn_weights(
            self,
            data,
            Penalty(sd, l1),
            max_iterations=most,
            threads=to_threads(n_jobs),
        )
        return shared(learned, MarkovNetwork)

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
        evidence = question_of(self, rows, "rows").evidence
        unknown = np.argwhere(evidence.values == NO_STATE)
        if len(unknown):
            row, v = unknown[0]
            where = f"{evidence.name_row(row)}, column {self.schema.names[v]!r}"
            raise InputError(f"{where}: is missing.")
        return super().log_potential(self.schema.rows(evidence.values))

    def to_markov_network(self) -> "MarkovNetwork":
        """Return this network, so that all models with features have this method."""
        return self

    def compile(self, max_edges: int = MAX_EDGES) -> "ArithmeticCircuit":
        """Return a circuit of the same distribution, which answers every query exactly.

        Parameters
        ----------
        max_edges : int
            Edges of the circuit at most; memory and time grow with them.

        Raises
        ------
        InputError
            The circuit would have more than `max_edges` edges.
        """
        return _compile(self, max_edges)

    def _sizes(self) -> dict[str, Any]:
        n_features = len(self.features)
        return {"n_vars": self.n_vars, "n_features": n_features, "n_edges": len(self.edges())}


class DependencyNetwork(Model, dependency_network.DependencyNetwork):
    """One conditional distribution for each variable; there is no joint distribution."""

    def coefficients_frame(self) -> "pd.DataFrame":
        """Return the coefficients of logistic regressions, as of `DNLR`.

        Returns
        -------
        pandas.DataFrame
            A row for the regression of each variable of two states, and for each state of other
            variables: `(Intercept)`, and the weights of the second state of each variable of two
            states, and of each state of others, in nats.

        Raises
        ------
        InputError
            The network has trees, or features of more than two variables.
        """
        return graphs.coefficients_frame(self)

    def _sizes(self) -> dict[str, Any]:
        return {"n_vars": self.n_vars, "n_edges": len(self.edges())}


class BayesianNetwork(Model, bayesian_network.BayesianNetwork):
    """P(x) is the product over variables of P(x_v | parents of v), each a tree."""

    def to_markov_network(self) -> MarkovNetwork:
        """Return the same distribution as a Markov network."""
        return shared(super().to_markov_network(), MarkovNetwork)

    def compile(self, max_edges: int = MAX_EDGES) -> "ArithmeticCircuit":
        """Return a circuit of the same distribution; see `MarkovNetwork.compile`."""
        return _compile(self, max_edges)


class ArithmeticCircuit(Model, circuit.ArithmeticCircuit):
    """Sums and products that answer every query exactly, in time linear in their number."""

    def to_markov_network(self) -> MarkovNetwork:
        """Return the Markov network of the features; an InputError if there are none."""
        return shared(super().to_markov_network(), MarkovNetwork)

    def to_bayesian_network(self) -> BayesianNetwork:
        """Return the Bayesian network of the parameters; an InputError if they are no CPDs."""
        return shared(super().to_bayesian_network(), BayesianNetwork)

    def compile(self) -> "ArithmeticCircuit":
        """Return this circuit, so that all models with a joint distribution have this method."""
        return self

    def condition(self, evidence: Any) -> "ArithmeticCircuit":
        """Return the smaller circuit that is left given the states of some variables.

        It has the same variables and answers the same for the others; all states that contradict
        the evidence have the value 0. If this circuit is normalised, `log_partition()` of the
        result is the log-probability of the evidence.

        Parameters
        ----------
        evidence : mapping, DataFrame or array
            The states of some variables, as for `query`; one row.

        Raises
        ------
        InputError
            The evidence has probability 0, or a variable or value does not exist.

        Examples
        --------
        >>> import mnlearn as mn
        >>> circuit = mn.ChowLiu().fit([[0, 0], [0, 0], [1, 1], [1, 0]]).model_
        >>> circuit, circuit.condition({0: 1})
        (<ArithmeticCircuit: 2 variables, 22 edges>, <ArithmeticCircuit: 2 variables, 10 edges>)
        """
        values = question_of(self, evidence).evidence.values
        if len(values) != 1:
            raise InputError(f"evidence: expected one row, got {len(values)}.")
        known = known_columns(self.schema, values)[0]
        return shared(condition(self, known), ArithmeticCircuit)

    def _sizes(self) -> dict[str, Any]:
        return {"n_vars": self.n_vars, "n_edges": self.n_edges}


class FeatureTree(Model, feature_tree.FeatureTree):
    """Features divide the states, and the variables fall apart; queries are exact."""

    def to_markov_network(self) -> MarkovNetwork:
        """Return the same distribution as a Markov network."""
        return shared(super().to_markov_network(), MarkovNetwork)

    def compile(self) -> ArithmeticCircuit:
        """Return the same distribution as a circuit."""
        return shared(super().to_circuit(), ArithmeticCircuit)

    def _sizes(self) -> dict[str, Any]:
        return {"n_vars": self.n_vars, "n_leaves": self.n_leaves}


class JunctionTreeModel(Model, junction_tree.JunctionTree):
    """Cliques of variables joined in a tree; queries are exact. `JunctionTree` learns it."""

    def to_markov_network(self) -> MarkovNetwork:
        """Return the same distribution as a Markov network."""
        return shared(super().to_markov_network(), MarkovNetwork)

    def compile(self) -> ArithmeticCircuit:
        """Return the same distribution as a circuit."""
        return shared(super().to_circuit(), ArithmeticCircuit)

    def _sizes(self) -> dict[str, Any]:
        return {"n_vars": self.n_vars, "n_cliques": self.n_cliques}


class HiddenTree(Model, hidden_tree.HiddenTree):
    """A tree of hidden variables, one for each observed one. `HCLT` learns it."""

    def compile(self) -> ArithmeticCircuit:
        """Return the same distribution as a circuit; an InputError if it would be too large."""
        return shared(super().to_circuit(), ArithmeticCircuit)

    def _sizes(self) -> dict[str, Any]:
        return {"n_vars": self.n_vars, "n_states": self.n_states}


_PUBLIC: dict[type, type[Model]] = {
    markov.MarkovNetwork: MarkovNetwork,
    dependency_network.DependencyNetwork: DependencyNetwork,
    bayesian_network.BayesianNetwork: BayesianNetwork,
    circuit.ArithmeticCircuit: ArithmeticCircuit,
    feature_tree.FeatureTree: FeatureTree,
    junction_tree.JunctionTree: JunctionTreeModel,
    hidden_tree.HiddenTree: HiddenTree,
}


def public(model: Any) -> Model:
    """Return a model with the methods of this module; the arrays are shared."""
    return model if isinstance(model, Model) else shared(model, _PUBLIC[kind_of(model)])


def _compile(model: "MarkovNetwork | BayesianNetwork", max_edges: int) -> ArithmeticCircuit:
    most = to_count(max_edges, "max_edges")
    return shared(compile_network(model, most), ArithmeticCircuit)
