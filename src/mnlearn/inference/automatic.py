"""How a query is answered where nobody says how: exactly if that takes about a second at most."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.elimination import min_fill_order
from mnlearn.models.io.native import Model
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.tree_models import TreeModel
from mnlearn.runtime.errors import InputError

# The states of at most this many variables that are not known are enumerated, and at most this
# many states for all rows together.
_ENUMERATED = 12
_STATES = 2**22
# Networks of up to so many literals are compiled, if the circuit has up to so many edges. Both take
# about a second.
_LITERALS = 50_000
# Nor is a network compiled whose tables would have more entries than this in variable elimination.
_LOG2_ENTRIES = 20
_EDGES = 200_000


def choose(
    model: Model, asked: NDArray[np.bool_], compiled: Callable[[], ArithmeticCircuit | None]
) -> tuple[Model, str]:
    """Return the model that answers a query, and the method of inference: "exact" or "gibbs".

    Parameters
    ----------
    model : Model
        The model that is asked.
    asked : ndarray of bool, shape (n_rows, n_vars)
        The variables that each row asks for.
    compiled : callable
        Returns the circuit of the model, or None; see `compile_small`.
    """
    if isinstance(model, ArithmeticCircuit | TreeModel):
        return model, "exact"
    most = int(asked.sum(axis=1).max(initial=0))
    few = most <= _ENUMERATED and len(asked) * 2**most <= _STATES
    # Enumeration answers evidence of probability 0 too; a circuit refuses it.
    if few and not excludes_states(model):
        return model, "exact"
    circuit = compiled()
    if circuit is None:
        return model, "exact" if few else "gibbs"
    return circuit, "exact"


def excludes_states(model: Model) -> bool:
    """Tell whether a network may give states probability 0, by infinite weights."""
    network = model.to_markov_network() if isinstance(model, BayesianNetwork) else model
    return isinstance(network, MarkovNetwork) and not bool(np.isfinite(network.weight).all())


def _log2_entries(network: MarkovNetwork) -> float:
    """Return the logarithm of the number of entries of tables, beyond the limit a lower bound."""
    features = network.features
    scopes = [[v for v, _ in features.literals(f)] for f in range(len(features))]
    return min_fill_order(network.n_vars, scopes, most=_LOG2_ENTRIES)[1]


def compile_small(model: Model) -> ArithmeticCircuit | None:
    """Return the circuit of a network; None if there is none, or it would be too large."""
    if isinstance(model, DependencyNetwork):
        return None
    network = model.to_markov_network() if isinstance(model, BayesianNetwork) else model
    assert isinstance(network, MarkovNetwork)
    if len(network.features.var) > _LITERALS or _log2_entries(network) > _LOG2_ENTRIES:
        return None
    try:
        return compile_network(network, _EDGES)
    except (InputError, RecursionError):
        return None
