"""Exact inference in models that sum variables out: circuits, and trees of hidden variables."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference import hidden_trees
from mnlearn.inference.circuits import exact as circuits
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.model import Model

Rows = NDArray[np.uint8]
Values = NDArray[np.float64]
ExactForm = ArithmeticCircuit | HiddenTree


def exact_form(model: Model) -> ExactForm:
    """Return what answers for a model that `is_exact`: a hidden tree itself, else a circuit.

    The circuit of a hidden tree has many times as many edges as the tree has probabilities.
    """
    if isinstance(model, HiddenTree):
        return model
    circuit: ArithmeticCircuit = model.to_circuit()
    return circuit


def log_value(model: ExactForm, rows: Rows, threads: int = 1) -> Values:
    """Return the log-value of each row of evidence; see `circuits.exact.log_value`."""
    if isinstance(model, HiddenTree):
        return hidden_trees.log_value(model, rows, threads)
    return circuits.log_value(model, rows, threads)


def log_partition(model: ExactForm) -> float:
    """Return log Z in nats, which is 0 for a hidden tree."""
    return 0.0 if isinstance(model, HiddenTree) else circuits.log_partition(model)


def conditionals(model: ExactForm, rows: Rows, threads: int = 1) -> tuple[Values, Values]:
    """Return the log-value of evidence and P(X_v = x | evidence); see `circuits.exact`."""
    if isinstance(model, HiddenTree):
        return hidden_trees.conditionals(model, rows, threads)
    return circuits.conditionals(model, rows, threads)


def marginals(model: ExactForm, rows: Rows, threads: int = 1) -> Values:
    """Return P(X_v = 1 | evidence), float64 of shape (n_rows, n_vars)."""
    p = conditionals(model, rows, threads)[1]
    return np.asarray(p[:, :, 1] / p.sum(axis=2))
