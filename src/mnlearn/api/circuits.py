"""The circuits of models that are asked, each of which is made once."""

from typing import Any
from weakref import WeakKeyDictionary

from mnlearn.inference.circuits.compilation import CircuitTooLargeError, compile_network
from mnlearn.inference.queries import compile_small
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError

# The circuits of networks that were asked before; None if one would be too large.
_COMPILED: "WeakKeyDictionary[Any, ArithmeticCircuit | None]" = WeakKeyDictionary()
# The circuits of trees, and of networks that were too large for the above, which were asked for.
_COMPILED_IN_FULL: "WeakKeyDictionary[Any, ArithmeticCircuit]" = WeakKeyDictionary()
# Why there is no circuit of networks that were asked for one.
_REFUSED: "WeakKeyDictionary[Any, str]" = WeakKeyDictionary()


def exact_model(model: Model) -> ArithmeticCircuit | HiddenTree:
    """Return what sums variables out of a model exactly: a hidden tree, else a circuit."""
    return model if isinstance(model, HiddenTree) else exact_circuit(model)


def exact_circuit(model: Model) -> ArithmeticCircuit:
    """Return the circuit of a model, compiled if need be."""
    if not model.has_joint:
        raise InputError("model: a dependency network has no joint distribution.")
    if isinstance(model, ArithmeticCircuit):
        return model
    small = None if model.is_exact else small_circuit(model)
    if small is not None:
        return small
    if model in _REFUSED:
        raise InputError(_REFUSED[model])
    if model not in _COMPILED_IN_FULL:
        try:
            _COMPILED_IN_FULL[model] = (
                model.to_circuit() if model.is_exact else compile_network(model)
            )
        except CircuitTooLargeError as error:
            error.advice = (
                'query with inference="gibbs" or "bp" estimates the probability of each variable'
            )
            _REFUSED[model] = str(error)
            raise
    return _COMPILED_IN_FULL[model]


def small_circuit(model: Model) -> ArithmeticCircuit | None:
    """Return the circuit of a network, made once; None if it would be too large."""
    if model not in _COMPILED:
        _COMPILED[model] = compile_small(model)
    return _COMPILED[model]
