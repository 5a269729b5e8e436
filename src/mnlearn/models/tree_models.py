"""Feature trees and junction trees: models that become circuits and Markov networks."""

from mnlearn.models import (
    feature_tree_circuit,
    feature_tree_network,
    junction_tree_circuit,
)
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.feature_tree import FeatureTree
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork

TreeModel = FeatureTree | JunctionTree


def circuit_of(model: TreeModel) -> ArithmeticCircuit:
    """Return the circuit with the same distribution, linear in the size of the model."""
    if isinstance(model, JunctionTree):
        return junction_tree_circuit.circuit_of(model)
    return feature_tree_circuit.circuit_of(model)


def network_of(model: TreeModel) -> MarkovNetwork:
    """Return the Markov network with the same distribution, whose partition function is 1.

    Raises
    ------
    InputError
        The network of a feature tree would have too many features.
    """
    if isinstance(model, JunctionTree):
        return junction_tree_circuit.network_of(model)
    return feature_tree_network.network_of(model)
