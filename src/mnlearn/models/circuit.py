"""Arithmetic circuits: sums and products of parameters and of the states of variables."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.circuits.structure import find_fault, find_overlap, scopes
from mnlearn.models.bayesian_network import BayesianNetwork, bayesian_network
from mnlearn.models.cpds import trees_of_leaves
from mnlearn.models.features import FeatureSet, feature_set
from mnlearn.models.fields import check_spans, set_array, set_schema
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.models.model import Model
from mnlearn.models.questions import answers
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, binary_schema

# What defines the nodes and parameters.
ARRAYS = ("is_sum", "start", "child", "weight")
_FAULTS = ("", "a sum over children of different variables", "a product whose factors share one")


@dataclass(frozen=True, eq=False, repr=False)
class ArithmeticCircuit(Model):
    """A circuit of sums and products in topological order, children before parents.

    Nodes 0 to 2 * n_columns - 1 are the literals; node 2 * c + x says that column c is x. Of a
    variable of more than two states, only the nodes that say that a column is 1 have parents. One
    node for each parameter follows, then the sums and products. The last node is the root.
    Construction converts the arrays to these dtypes, makes them read-only and checks their shapes;
    `check` checks the structure.

    Attributes
    ----------
    schema : Schema
        The variables. A number stands for that many nameless ones of the states 0 and 1.
    is_sum : ndarray of uint8, shape (n_inner,)
        1 for a sum, 0 for a product.
    start : ndarray of int64, shape (n_inner + 1,)
        The children of inner node i are child[start[i]:start[i + 1]].
    child : ndarray of int32, shape (n_edges,)
    weight : ndarray of float64, shape (n_parameters,)
        Logarithms of the parameters.
    features : FeatureSet, optional
        The conjunction of each parameter, if the circuit represents a Markov network with these
        features.
    target : ndarray of int32, shape (n_parameters,), optional
        Variable whose CPD each parameter belongs to, if the circuit represents a Bayesian network.
        The conjunction of a parameter is then the path to a leaf and a value of this variable.

    References
    ----------
    Darwiche, "A differential approach to inference in Bayesian networks", JACM 50 (2003).
    """

    kind: ClassVar[str] = "arithmetic_circuit"
    title: ClassVar[str] = "an arithmetic circuit"
    is_exact: ClassVar[bool] = True
    has_exact_likelihood: ClassVar[bool] = True
    sizes: ClassVar[tuple[str, ...]] = ("n_nodes", "n_edges", "n_parameters")
    shown: ClassVar[tuple[str, ...]] = ("n_edges",)

    schema: Schema
    is_sum: NDArray[np.uint8]
    start: NDArray[np.int64]
    child: NDArray[np.int32]
    weight: NDArray[np.float64]
    features: FeatureSet | None = None
    target: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        set_schema(self, self.schema)
        n_inner = len(set_array(self, "is_sum", np.uint8, (None,)))
        start = set_array(self, "start", np.int64, (n_inner + 1,))
        n_edges = len(set_array(self, "child", np.int32, (None,)))
        check_spans(self, start, n_edges)
        if not n_inner or (start[1:] == start[:-1]).any():
            raise InputError("circuit, is_sum and start: expected nodes that have children.")
        n_parameters = len(set_array(self, "weight", np.float64, (None,)))
        if self.features is not None and len(self.features) != n_parameters:
            raise InputError(
                f"ArithmeticCircuit, features: expected {n_parameters}, one for each parameter, "
                f"got {len(self.features)}."
            )
        if self.target is not None:
            set_array(self, "target", np.int32, (n_parameters,))

    @property
    def n_leaves(self) -> int:
        """Number of literals and parameters."""
        return 2 * self.n_columns + len(self.weight)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return self.n_leaves + len(self.is_sum)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.child)

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        return len(self.weight)

    def size(self) -> dict[str, float]:
        """Return the number of parameters, or of features whose weights are not 0."""
        if self.features is None:
            return {"n_features": self.n_parameters}
        return self.features.size(self.weight)

    def with_parameters(self, weight: NDArray[np.float64]) -> "ArithmeticCircuit":
        """Return the circuit with other logarithms of its parameters."""
        return replace(self, weight=np.asarray(weight, np.float64))

    def to_circuit(self, _max_edges: int | None = None) -> "ArithmeticCircuit":
        """Return this circuit, so that all exact models have this method."""
        return self

    def graph(self) -> BayesianNetwork | MarkovNetwork:
        """Return the network of the parameters; see `Model.graph`."""
        if self.features is None:
            raise InputError(
                "model: this circuit has no features, so no graph over its variables; hidden "
                "variables may join any of them."
            )
        return self.to_markov_network() if self.target is None else self.to_bayesian_network()

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
        found: ArithmeticCircuit = answers().condition(self, evidence)
        return found

    def to_markov_network(self) -> MarkovNetwork:
        """Return the Markov network of the features.

        Raises
        ------
        InputError
            The parameters are not weights of features.
        """
        if self.features is None:
            raise InputError("its parameters are not the weights of features.", where="circuit")
        return markov_network(self.schema, self.features, self.weight)

    def to_bayesian_network(self) -> BayesianNetwork:
        """Return the Bayesian network of the parameters.

        Raises
        ------
        InputError
            The parameters are not those of a Bayesian network.
        """
        if self.features is None or self.target is None:
            raise InputError("its parameters are not known to be those of CPDs.", where="circuit")
        trees = trees_of_leaves(self.schema, self.features, self.target, self.weight)
        return bayesian_network(trees, self.schema)

    def is_deterministic(self) -> bool:
        """Tell whether the terms of each sum exclude each other by the values of variables.

        Then the most probable state is exact. Where False, terms may overlap: variables that were
        summed out are maximised over too.
        """
        n_words = -(-self.n_columns // 64)
        fixed = np.empty((self.n_nodes, 2, n_words), np.uint64)
        layout = (self.is_sum, self.start, self.child, self.n_leaves)
        return bool(find_overlap(*layout, self.schema.start, fixed) < 0)

    def check(self) -> None:
        """Check that all sums are smooth and all products decomposable, as marginals need.

        Raises
        ------
        InputError
            Names the first node at fault, or a variable that the root does not depend on.
        """
        n_words = -(-self.n_vars // 64)
        scope = np.zeros((self.n_nodes, n_words), np.uint64)
        scopes(self.start, self.child, self.schema.start, self.n_leaves, scope)
        node, fault = find_fault(self.is_sum, self.start, self.child, self.n_leaves, scope)
        if fault:
            raise InputError(f"circuit, node {node}: is {_FAULTS[fault]}.")
        bits = np.unpackbits(scope[-1].view(np.uint8), bitorder="little")[: self.n_vars]
        missing = np.flatnonzero((bits == 0) & (self.schema.arity > 1))
        if len(missing):
            raise InputError(f"circuit: variable {missing[0]} is not below its root.")


def state_leaves(schema: Schema) -> NDArray[np.int64]:
    """Return the leaves of the states of all variables, which follow one another.

    Of several states, each has the leaf of value 1 of its column; the other leaf is not used.
    """
    width = np.diff(schema.start)[schema.variable_of]
    leaves = np.arange(2 * schema.n_columns)
    return leaves[(np.repeat(width, 2) == 1) | (leaves % 2 == 1)]


def product_of_marginals(
    p_one: NDArray[np.float64], schema: Schema | None = None
) -> ArithmeticCircuit:
    """Return the circuit of independent variables, with one feature for each state.

    `p_one`, float64 of shape (n_columns,), is P(column = 1), in the open interval (0, 1).
    """
    schema = binary_schema(len(p_one)) if schema is None else schema
    literal = state_leaves(schema)
    column, value = np.divmod(literal, 2)
    n, n_leaves = len(literal), 2 * schema.n_columns + len(literal)
    width = schema.arity[schema.arity > 1]
    pairs = np.stack([literal, 2 * schema.n_columns + np.arange(n)], axis=1)
    below = np.concatenate([pairs.ravel(), n_leaves + np.arange(n + len(width))])
    lengths = np.concatenate([np.full(n, 2), width, [len(width)]])
    return ArithmeticCircuit(
        schema,
        np.repeat(np.array([0, 1, 0], np.uint8), [n, len(width), 1]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        below.astype(np.int32),
        np.log(np.where(value == 1, p_one[column], 1.0 - p_one[column])),
        feature_set(np.arange(n + 1), column, value),
    )
