"""The one place that decides by which way a question to a model is answered.

A way is exact, or it estimates. Everything that asks a model for a distribution asks `plan` first:
queries, scores, samples, partition functions and the most probable states.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.exact import ExactForm, exact_circuit, exact_form
from mnlearn.inference.forms import circuit_of, small_circuit, tables_of
from mnlearn.inference.settings import AUTO, EXACT
from mnlearn.inference.state_columns import log2_joint_states
from mnlearn.inference.table_form import TableForm
from mnlearn.inference.tables.buckets import Cost, cost_of
from mnlearn.inference.tables.factors import Factors
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.memory import most_cells
from mnlearn.variables.schema import Schema

# What is asked: the probability of each state of what is not known; that of what is known; the
# joint distribution of some variables; the probability of complete rows, and of the states of some
# variables given all others; the most probable states of all that is not known, and of some of it;
# examples; and examples that need not be good, to begin with.
MARGINALS = "marginals"
VALUE = "value"
JOINT = "joint"
LIKELIHOOD = "likelihood"
CONDITIONAL = "conditional likelihood"
MODE = "mode"
MARGINAL_MODE = "marginal mode"
SAMPLE = "sample"
PILOT = "pilot"
# The tasks that may be answered by an estimate, and those for which all states may be visited.
_ESTIMATED = (MARGINALS, SAMPLE, PILOT)
_VISITED = (MARGINALS, LIKELIHOOD, CONDITIONAL, SAMPLE, PILOT)
# Ways that are exact.
OWN = "own"
ENUMERATION = "enumeration"
ELIMINATION = "elimination"
CLIQUE_TREE = "clique tree"
CIRCUIT = "circuit"
HIDDEN_TREE = "hidden tree"
# Maximises hidden variables too, so that the states that it finds may not be the most probable.
MAX_PRODUCT = "max-product"
# Ways that estimate where no exact one is cheap: of a Bayesian network in tables, of others in
# tables, and of the rest.
WEIGHTING = "likelihood weighting"
TEMPERING = "tempering"
GIBBS = "gibbs"
# The states of at most so many binary variables that are not known are enumerated, and at most so
# many states for all rows together.
_FEW = 12
_STATES = 2**22
# As many where all rows share them, or enumeration is the only exact way.
_MOST = 20
# A circuit of a network is sought before tables take more operations than this for all rows, about
# ten seconds; above the second number, a minute, marginals of several rows are estimated.
_HEAVY, _TOO_HEAVY = 2.0**33, 2.0**36
# The ways to the marginals of all variables of one row take so many passes in tables.
_PASSES = 2

_DETERMINISTIC: "WeakKeyDictionary[Any, bool]" = WeakKeyDictionary()
_EXCLUDES: "WeakKeyDictionary[Any, bool]" = WeakKeyDictionary()


class TooWideError(InputError):
    """No exact way is feasible; who knows what was asked sets the advice.

    cost : that of tables, if there are any.
    """

    cost: Cost | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """How a question is answered.

    way : name of the way. is_exact : whether it is exact. form : ArithmeticCircuit, HiddenTree or
    TableForm, what answers exactly; None for enumeration and estimates. cells, operations : float,
    numbers in memory, and additions and multiplications, as far as they are known before. why : why
    an answer is an estimate though nobody asked for one: a sentence. factors : the tables
    that are sampled. judge : ArithmeticCircuit or TableForm, tells which evidence is possible,
    where an estimate does not see it.
    """

    way: str
    is_exact: bool
    form: ExactForm | None = None
    cells: float | None = None
    operations: float | None = None
    why: str = ""
    factors: Factors | None = None
    judge: ExactForm | None = None

    @property
    def width(self) -> int | None:
        """The most neighbours that a variable has when it is summed out by tables."""
        if not isinstance(self.form, TableForm) or not self.form.trees:
            return None
        return self.form.width

    @property
    def method(self) -> str:
        """The method of `inference.settings` whose settings are read."""
        if self.is_exact:
            return EXACT
        return GIBBS if self.way in (WEIGHTING, TEMPERING) else self.way

    @property
    def attrs(self) -> dict[str, Any]:
        """What an answer says of itself."""
        said: dict[str, Any] = {"inference": self.way, "is_exact": self.is_exact}
        costs = {"cells": self.cells, "operations": self.operations}
        return said | {name: int(cost) for name, cost in costs.items() if cost is not None}


def plan(
    model: Model,
    task: str,
    unknown: NDArray[np.bool_] | None = None,
    method: str = AUTO,
    asked: NDArray[np.bool_] | None = None,
) -> Plan:
    """Return how a question is answered.

    unknown : bool, (n_rows, n_vars). The variables that are not known in each row; by default all,
    in one row. method : "auto", "exact" or a method that estimates, which is then used. A model
    that sums variables out by itself is exact whatever the method. asked : bool, (n_vars,). The
    variables that are asked for; by default all. Those of JOINT and MARGINAL_MODE are not known.
    """
    if task == LIKELIHOOD and model.has_own_likelihood:
        return Plan(OWN, is_exact=True)
    if unknown is None:
        unknown = np.ones((1, model.n_vars), bool)
    asked = np.ones(model.n_vars, bool) if asked is None else asked
    if model.is_exact:
        return _by_itself(model, task, unknown, asked)
    if method not in (AUTO, EXACT):
        return Plan(method, is_exact=False, judge=_judge(model, task, unknown))
    if not model.has_joint and task not in _ESTIMATED:
        raise InputError(f"{model.title} has no joint distribution.", where="model")
    if task == SAMPLE and model.is_directed and model.has_joint and unknown.all():
        return Plan(OWN, is_exact=True)
    visited, is_certain = _enumerated(model, task, unknown, method)
    if visited is not None and is_certain:
        return visited
    if not model.has_joint or task == PILOT:
        return Plan(GIBBS, is_exact=False, why=f"{model.title} has no joint distribution.")
    found = _summed_out(model, task, unknown, method, asked)
    return visited if visited is not None and not found.is_exact else found


def _by_itself(
    model: Model, task: str, unknown: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> Plan:
    """Return a plan for a model that sums variables out."""
    if task == MODE:
        return _of_mode(exact_circuit(model))
    tables = tables_of(model) if task == MARGINAL_MODE else None
    if tables is not None:
        return _tabled(tables, task, unknown, asked)
    if task == MARGINAL_MODE:
        _refuse_many_modes(model, asked)
    return _of_form(exact_form(model))


def _of_form(form: ExactForm) -> Plan:
    if isinstance(form, HiddenTree):
        return Plan(HIDDEN_TREE, True, form, operations=float(form.n_parameters))
    assert isinstance(form, ArithmeticCircuit)
    return Plan(CIRCUIT, True, form, operations=float(form.n_edges))


def _of_mode(circuit: ArithmeticCircuit) -> Plan:
    """Return a plan to maximise; where terms of a sum overlap, the largest stands for their sum."""
    if circuit not in _DETERMINISTIC:
        _DETERMINISTIC[circuit] = circuit.is_deterministic()
    found = _of_form(circuit)
    return found if _DETERMINISTIC[circuit] else replace(found, way=MAX_PRODUCT, is_exact=False)


def _refuse_many_modes(model: Model, asked: NDArray[np.bool_]) -> None:
    """Refuse to maximise over more states than are visited one by one."""
    schema: Schema = model.schema
    most = float(np.log2(schema.arity[asked]).sum())
    if most > _MOST - 4:
        raise TooWideError(
            f"the variables have 2^{most:.0f} joint states, which are too many to compare "
            f"(at most 2^{_MOST - 4}).",
            where="variables",
        )


def _enumerated(
    model: Model, task: str, unknown: NDArray[np.bool_], method: str
) -> tuple[Plan | None, bool]:
    """Return a plan to go through all states, if they are few, and whether no way is better."""
    if task not in _VISITED:
        return None, False
    schema: Schema = model.schema
    most = min(float((unknown @ np.log2(schema.arity)).max(initial=0)), 1000.0)
    states = len(unknown) * 2.0**most
    found = Plan(ENUMERATION, is_exact=True, cells=2.0**most, operations=states)
    few = most <= _FEW and states <= _STATES
    if not model.has_joint:
        return (found if task == MARGINALS and (few or method == EXACT) else None), True
    if task == SAMPLE and not unknown.all() and excludes_states(model):
        # Other ways tell evidence of probability 0.
        return None, False
    if task in (SAMPLE, PILOT, LIKELIHOOD):
        return (found, True) if most <= _MOST else (None, False)
    if task == MARGINALS and len(unknown) == 1 and tables_of(model) is not None:
        # The tree of one row is kept for the next one.
        return (found if few else None), False
    # Enumeration answers evidence of probability 0 too, which other ways refuse.
    return (found if few else None), few and not (task == MARGINALS and excludes_states(model))


def _summed_out(
    model: Model, task: str, unknown: NDArray[np.bool_], method: str, asked: NDArray[np.bool_]
) -> Plan:
    """Return a plan to sum variables out by tables or a circuit, or to estimate."""
    tables, found, wide = tables_of(model), None, TooWideError("")
    if tables is not None:
        try:
            found = _tabled(tables, task, unknown, asked)
        except TooWideError as error:
            wide = error
    operations = 0.0 if found is None else found.operations or 0.0
    if found is not None and operations <= _HEAVY:
        return found
    circuit, may_estimate = small_circuit(model), method == AUTO and task in _ESTIMATED
    if circuit is None and found is None and not may_estimate:
        circuit = _large_circuit(model, task, unknown, wide.fault)
        if circuit is None:
            return Plan(ENUMERATION, is_exact=True)
    if circuit is not None and task == MARGINAL_MODE:
        _refuse_many_modes(model, asked)
    if circuit is not None:
        return _of_mode(circuit) if task == MODE else _of_form(circuit)
    if found is None or (may_estimate and len(unknown) > 1 and operations > _TOO_HEAVY):
        why = wide.fault or "an exact answer would take too large a circuit."
        if found is not None:
            why = f"an exact answer would take {operations:.2g} operations."
        way = GIBBS
        if task == MARGINALS:
            way = TEMPERING if tables is None or not model.is_directed else WEIGHTING
        cells, operations_of = wide.cost or (None, operations or None)
        factors = None if tables is None or way == GIBBS else tables.factors
        judge = _judge(model, task, unknown)
        return Plan(way, False, None, cells, operations_of, why, factors, judge)
    return found


def _judge(model: Model, task: str, unknown: NDArray[np.bool_]) -> ExactForm | None:
    """Return what tells which evidence is possible, if some is not and that is cheap."""
    if task != MARGINALS or not excludes_states(model):
        return None
    tables = tables_of(model)
    with suppress(TooWideError):
        if tables is not None:
            return _tabled(tables, VALUE, unknown, np.ones(model.n_vars, bool)).form
    return small_circuit(model)


def _large_circuit(
    model: Model, task: str, unknown: NDArray[np.bool_], why: str
) -> ArithmeticCircuit | None:
    """Return the circuit of a network that has no small one; None to enumerate all states."""
    schema: Schema = model.schema
    most = float((unknown @ np.log2(schema.arity)).max(initial=0))
    if task in _VISITED and most <= _MOST:
        return None
    try:
        return circuit_of(model)
    except InputError as error:
        raise TooWideError(f"{why.removesuffix('.')}; {error}" if why else str(error)) from error


def _tabled(
    tables: TableForm, task: str, unknown: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> Plan:
    """Return a plan with tables; a TooWideError says how many cells they would have."""
    any_unknown, limit = np.asarray(unknown.any(axis=0)), float(most_cells())
    try:
        if task == JOINT:
            found = cost_of(tables.factors, ~any_unknown, np.flatnonzero(asked).tolist())
        elif task in (MODE, SAMPLE):
            found = tables.cost(any_unknown[None], np.ones(len(asked), bool))
            found = found._replace(operations=found.operations * len(unknown))
        else:
            single = task in (VALUE, LIKELIHOOD, CONDITIONAL, MARGINAL_MODE)
            found = tables.cost(unknown, np.zeros(len(asked), bool) if single else asked)
    except InputError:
        found = cost_of(tables.factors, ~any_unknown)
        limit = min(limit, found.cells / 2)
    passes = _PASSES if task == MARGINALS else 1
    if found.cells * passes > limit:
        error = TooWideError(
            f"an exact answer would take tables of {found.cells * passes:.2g} cells, more than "
            f"{most_cells():,}."
        )
        error.cost = Cost(*_costs(found, passes))
        raise error
    every = task in (MARGINALS, MODE, SAMPLE) and bool(asked.all())
    return Plan(CLIQUE_TREE if every else ELIMINATION, True, tables, *_costs(found, passes))


def _costs(cost: Cost, passes: int) -> tuple[float, float]:
    return cost.cells * passes, cost.operations * passes


def is_enumerable(model: Model) -> bool:
    """Tell whether a model has so few joint states that they are enumerated."""
    schema: Schema = model.schema
    return log2_joint_states(schema.start) <= _MOST


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
