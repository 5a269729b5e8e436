"""Feature trees, junction trees and hidden trees: models that become circuits."""

from mnlearn.models import (
    feature_tree_circuit,
    feature_tree_network,
    hidden_tree_circuit,
    junction_tree_circuit,
)
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.feature_tree import FeatureTree
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError

# Trees whose variables are all observed.
ObservedTree = FeatureTree | JunctionTree
TreeModel = ObservedTree | HiddenTree


def circuit_of(model: TreeModel) -> ArithmeticCircuit:
    """Return the circuit with the same distribution, linear in the size of the model.

    Raises
    ------
    InputError
        The circuit of a hidden tree would be too large.
    """
    if isinstance(model, HiddenTree):
        return hidden_tree_circuit.circuit_of(model)
    if isinstance(model, JunctionTree):
        return junction_tree_circuit.circuit_of(model)
    return feature_tree_circuit.circuit_of(model)


def network_of(model: TreeModel) -> MarkovNetwork:
    """Return the Markov network with the same distribution, whose partition function is 1.

    Raises
    ------
    InputError
        The network of a feature tree would have too many features, or the model is a hidden tree.
    """
    if isinstance(model, HiddenTree):
        raise InputError(
            "a hidden tree has no features, so no graph over its variables; hidden variables may "
            "join any of them.",
            where="model",
        )
    if isinstance(model, JunctionTree):
        return junction_tree_circuit.network_of(model)
    return feature_tree_network.network_of(model)
