"""Exact inference by what sums variables out: circuits, trees of hidden variables, and tables."""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference import hidden_trees, table_form
from mnlearn.inference.circuits import exact as circuits
from mnlearn.inference.state_columns import state_probabilities
from mnlearn.inference.table_form import TableForm
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.model import Model
from mnlearn.variables.schema import NO_STATE

Rows = NDArray[np.uint8]
Values = NDArray[np.float64]
ExactForm = ArithmeticCircuit | HiddenTree | TableForm
# The circuit of a hidden tree has many times as many edges as the tree has probabilities.
_MODULES: dict[type, Any] = {
    HiddenTree: hidden_trees,
    ArithmeticCircuit: circuits,
    TableForm: table_form,
}


# The circuits of trees that were asked before.
_CIRCUITS: "WeakKeyDictionary[Any, ArithmeticCircuit]" = WeakKeyDictionary()


def exact_form(model: Model) -> ExactForm:
    """Return what answers for a model that `is_exact`: a hidden tree itself, else a circuit."""
    return model if isinstance(model, HiddenTree) else exact_circuit(model)


def exact_circuit(model: Model) -> ArithmeticCircuit:
    """Return the circuit of a model that `is_exact`."""
    if isinstance(model, ArithmeticCircuit):
        return model
    if model not in _CIRCUITS:
        _CIRCUITS[model] = model.to_circuit()
    return _CIRCUITS[model]


def log_value(model: ExactForm, rows: Rows, threads: int = 1) -> Values:
    """Return the log-value of each row of evidence; see `circuits.exact.log_value`."""
    found: Values = _MODULES[type(model)].log_value(model, rows, threads)
    return found


def log_partition(model: ExactForm) -> float:
    """Return log Z in nats, which is 0 for a hidden tree."""
    found: float = _MODULES[type(model)].log_partition(model)
    return found


def conditionals(model: ExactForm, rows: Rows, threads: int = 1) -> tuple[Values, Values]:
    """Return the log-value of evidence and P(X_v = x | evidence); see `circuits.exact`."""
    found: tuple[Values, Values] = _MODULES[type(model)].conditionals(model, rows, threads)
    return found


def draw(model: ExactForm, known: Rows, n_rows: int, seed: int, threads: int = 1) -> Rows:
    """Return independent examples given the states of some variables; see `circuits.exact.draw`.

    known : (n_vars,), NO_STATE where nothing is known.
    """
    if isinstance(model, TableForm):
        return table_form.draw(model, known, n_rows, seed, threads)
    if (known != NO_STATE).any():
        columns = model.schema.known_rows(known[None])[0]
        model = circuits.condition(exact_circuit(model), columns)
    drawn: Rows = _MODULES[type(model)].draw(model, n_rows, seed, threads)
    return drawn


def marginals(
    form: ExactForm, values: Rows, asked: NDArray[np.bool_], threads: int = 1
) -> tuple[Values, Values]:
    """Return the log-value of evidence, and P(state | evidence) of the states of all variables.

    values : numbers of states, NO_STATE where not known. Tables give the states of `asked`
    variables, (n_vars,), and of known ones right, and others may be left out.
    """
    if isinstance(form, TableForm):
        return form.marginals(values, asked, threads)
    log_values, p = conditionals(form, form.schema.known_rows(values), threads)
    one = p[:, :, 1] / p.sum(axis=2)
    return log_values, state_probabilities(one, form.schema.start)


def most_probable(form: ArithmeticCircuit | TableForm, rows: Rows) -> tuple[Rows, Values]:
    """Return the most probable row that agrees with each row of evidence, and its log-value."""
    found: tuple[Rows, Values] = _MODULES[type(form)].most_probable(form, rows)
    return found
