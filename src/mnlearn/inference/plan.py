"""The one place that decides by which way a question to a model is answered.

A way is exact, or it estimates. Everything that asks a model for a distribution asks `plan` first:
queries, scores, samples, partition functions and the most probable states.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.exact import ExactForm, exact_circuit, exact_form
from mnlearn.inference.forms import circuit_of, small_circuit
from mnlearn.inference.settings import AUTO, EXACT
from mnlearn.inference.state_columns import log2_joint_states
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# What is asked: the probability of each state of what is not known; that of what is known; of
# complete rows; of the states of some variables given all others; the most probable states of what
# is not known; examples; and examples that need not be good, to begin with.
MARGINALS = "marginals"
VALUE = "value"
LIKELIHOOD = "likelihood"
CONDITIONAL = "conditional likelihood"
MODE = "mode"
SAMPLE = "sample"
PILOT = "pilot"
# The tasks that may be answered by an estimate.
_ESTIMATED = (MARGINALS, SAMPLE, PILOT)
# Ways that are exact.
OWN = "own"
ENUMERATION = "enumeration"
CIRCUIT = "circuit"
HIDDEN_TREE = "hidden tree"
# Maximises hidden variables too, so that the states that it finds may not be the most probable.
MAX_PRODUCT = "max-product"
# The way that estimates where no exact one is cheap.
GIBBS = "gibbs"
# The states of at most so many binary variables that are not known are enumerated, and at most so
# many states for all rows together.
_FEW = 12
_STATES = 2**22
# As many where enumeration is the only exact way, or one is asked for.
MOST = 20

_DETERMINISTIC: "WeakKeyDictionary[Any, bool]" = WeakKeyDictionary()
_EXCLUDES: "WeakKeyDictionary[Any, bool]" = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Plan:
    """How a question is answered.

    Attributes
    ----------
    way : str
        Name of the way.
    is_exact : bool
        Whether it is exact.
    form : ArithmeticCircuit or HiddenTree, optional
        What answers exactly; None for enumeration and estimates.
    cells, operations : float, optional
        Numbers in memory, and additions and multiplications, as far as they are known before.
    """

    way: str
    is_exact: bool
    form: ExactForm | None = None
    cells: float | None = None
    operations: float | None = None

    @property
    def attrs(self) -> dict[str, Any]:
        """What an answer says of itself."""
        said: Mapping[str, Any] = {
            "inference": self.way,
            "is_exact": self.is_exact,
            "cells": self.cells,
            "operations": self.operations,
        }
        known = {name: value for name, value in said.items() if value is not None}
        return {k: int(v) if isinstance(v, float) else v for k, v in known.items()}


def plan(
    model: Model,
    task: str,
    unknown: NDArray[np.bool_] | None = None,
    method: str = AUTO,
) -> Plan:
    """Return how a question is answered.

    Parameters
    ----------
    model : Model
        The model that is asked.
    task : str
        `MARGINALS`, `VALUE`, `LIKELIHOOD`, `MODE` or `SAMPLE`.
    unknown : ndarray of bool, shape (n_rows, n_vars), optional
        The variables that are not known in each row; by default all, in one row.
    method : str
        "auto", "exact" or a method that estimates, which is then used. A model that sums variables
        out by itself is exact whatever the method.

    Raises
    ------
    InputError
        There is no exact way, and the task or the method asks for one.
    """
    if task == LIKELIHOOD and model.has_own_likelihood:
        return Plan(OWN, is_exact=True)
    if model.is_exact:
        return _of_mode(exact_circuit(model)) if task == MODE else _of_form(exact_form(model))
    if method not in (AUTO, EXACT):
        return Plan(method, is_exact=False)
    if not model.has_joint and task not in _ESTIMATED:
        raise InputError(f"{model.title} has no joint distribution.", where="model")
    if task == SAMPLE and model.is_directed and model.has_joint:
        return Plan(OWN, is_exact=True)
    if unknown is None:
        unknown = np.ones((1, model.n_vars), bool)
    found = _enumerated(model, task, unknown, method)
    if found is None and model.has_joint and task != PILOT:
        found = _compiled(model, task, method)
    return Plan(GIBBS, is_exact=False) if found is None else found


def _of_form(form: ExactForm) -> Plan:
    if isinstance(form, HiddenTree):
        return Plan(HIDDEN_TREE, True, form, operations=float(form.n_parameters))
    return Plan(CIRCUIT, True, form, operations=float(form.n_edges))


def _of_mode(circuit: ArithmeticCircuit) -> Plan:
    """Return a plan to maximise; where terms of a sum overlap, the largest stands for their sum."""
    if circuit not in _DETERMINISTIC:
        _DETERMINISTIC[circuit] = circuit.is_deterministic()
    found = _of_form(circuit)
    return found if _DETERMINISTIC[circuit] else replace(found, way=MAX_PRODUCT, is_exact=False)


def _enumerated(model: Model, task: str, unknown: NDArray[np.bool_], method: str) -> Plan | None:
    """Return a plan to go through all states, if they are few."""
    if task in (VALUE, MODE):
        return None
    schema: Schema = model.schema
    most = float((unknown @ np.log2(schema.arity)).max(initial=0))
    states = len(unknown) * 2.0**most
    found = Plan(ENUMERATION, is_exact=True, cells=2.0**most, operations=states)
    if task != MARGINALS:
        return found if most <= MOST and model.has_joint else None
    if method == EXACT and (most <= MOST or not model.has_joint):
        return found
    if most > _FEW or states > _STATES:
        return None
    # Enumeration answers evidence of probability 0 too; a circuit refuses it.
    return None if excludes_states(model) and small_circuit(model) is not None else found


def _compiled(model: Model, task: str, method: str) -> Plan | None:
    """Return a plan with the circuit of a network, if there is one or has to be one."""
    circuit = small_circuit(model)
    if circuit is None and (method == EXACT or task not in _ESTIMATED):
        circuit = circuit_of(model)
    if circuit is None:
        return None
    return _of_mode(circuit) if task == MODE else _of_form(circuit)


def is_enumerable(model: Model) -> bool:
    """Tell whether a model has so few joint states that they are enumerated."""
    schema: Schema = model.schema
    return log2_joint_states(schema.start) <= MOST


def excludes_states(model: Model) -> bool:
    """Tell whether a network may give states probability 0, by infinite weights."""
    if model.is_exact or not model.has_joint:
        return False
    if model not in _EXCLUDES:
        network: MarkovNetwork = model.to_markov_network()
        _EXCLUDES[model] = not bool(np.isfinite(network.weight).all())
    return _EXCLUDES[model]


def has_exact_likelihood(model: Model) -> bool:
    """Tell whether records of studies have the log-likelihood of a model."""
    return model.has_exact_likelihood or (model.has_joint and is_enumerable(model))
