"""The answers of models to the questions of people; `models.questions` explains each of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.api import queries
from mnlearn.api.files import save_own as save  # noqa: F401
from mnlearn.api.graphs import (  # noqa: F401
    coefficients_frame,
    edges_frame,
    features_frame,
    interactions,
    to_networkx,
)
from mnlearn.api.inputs import (
    Dataset,
    data_for,
    is_whole,
    to_count,
    to_seed,
    to_threads,
    to_whole_seed,
    warn_user,
)
from mnlearn.api.queries import (  # noqa: F401
    advised,
    joint,
    most_probable,
    partition_of,
    probability,
)
from mnlearn.api.scores import score  # noqa: F401
from mnlearn.inference.circuits import exact
from mnlearn.inference.circuits.compilation import MAX_EDGES, compile_network
from mnlearn.inference.evidence import find_variables
from mnlearn.inference.settings import SAMPLERS
from mnlearn.learning.weights.arrangement import learn_weights
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.fit import MAX_ITERATIONS
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import FeatureSet
from mnlearn.models.features import features_of as features_of_literals
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.matching import match_state
from mnlearn.variables.schema import NO_STATE, Literal, Schema, binary_schema
from mnlearn.variables.variable import variable_of


def query(
    model: Model,
    evidence: Any,
    variables: Any,
    inference: str,
    settings: Mapping[str, Any],
    random_state: Any,
    n_jobs: int | None,
    strict: bool,
) -> Any:
    """Answer `Questions.query`."""
    seed, threads = to_seed(random_state, "query"), to_threads(n_jobs)
    how = queries.Asked(inference, settings, seed, threads, strict)
    return queries.query(model, evidence, variables, how)


def sample(
    model: Model,
    n_samples: int,
    evidence: Any,
    inference: str,
    random_state: Any,
    burn_in: int,
    n_jobs: int | None,
) -> Any:
    """Answer `Questions.sample`."""
    for name, value, low in (("n_samples", n_samples, 1), ("burn_in", burn_in, 0)):
        if not is_whole(value) or value < low:
            raise InputError(f"{name}: expected a whole number from {low}, got {value!r}.")
    if inference not in SAMPLERS:
        expected = ", ".join(SAMPLERS)
        raise InputError(f"inference: expected one of {expected}, got {inference!r}.")
    how = queries.Asked(inference, {}, to_seed(random_state, "sample"), to_threads(n_jobs))
    rows, chosen = queries.draw(model, int(n_samples), int(burn_in), evidence, how)
    schema: Schema = model.schema
    if schema.is_named:
        frame = schema.decode(rows)
        frame.attrs.update(chosen.attrs)
        return frame
    return queries.states_array(schema, schema.values(rows))


def log_partition(
    model: Model,
    inference: str,
    settings: Mapping[str, Any],
    random_state: Any,
    n_jobs: int | None,
) -> float:
    """Answer `Questions.log_partition`."""
    seed, threads = to_whole_seed(random_state), to_threads(n_jobs)
    found = partition_of(model, inference, settings, seed, threads)
    if found.converged is False:
        warn_user(f"inference {inference}: did not converge; iterations= allows more.")
    return found.log_partition


def log_potential(model: MarkovNetwork, rows: Any) -> NDArray[np.float64]:
    """Answer `MarkovNetwork.log_potential`."""
    evidence = queries.question_of(model, rows, "rows").evidence
    unknown = np.argwhere(evidence.values == NO_STATE)
    if len(unknown):
        row, v = unknown[0]
        where = f"{evidence.name_row(row)}, column {model.schema.names[v]!r}"
        raise InputError(f"{where}: is missing.")
    return model.potential_of(model.schema.rows(evidence.values))


def condition(circuit: ArithmeticCircuit, evidence: Any) -> ArithmeticCircuit:
    """Answer `ArithmeticCircuit.condition`."""
    known = queries.known_of(circuit, evidence)
    return exact.condition(circuit, circuit.schema.known_rows(known[None])[0])


def to_circuit(network: Model, max_edges: int | None) -> ArithmeticCircuit:
    """Answer `MarkovNetwork.to_circuit`."""
    most = MAX_EDGES if max_edges is None else to_count(max_edges, "max_edges")
    return compile_network(network, most)


def features_of(features: Any, weight: Any, variables: Any) -> tuple[Schema, FeatureSet]:
    """Answer `MarkovNetwork.from_features`."""
    unknown = np.flatnonzero(np.isnan(np.asarray(weight, np.float64)))
    if len(unknown):
        raise InputError(f"weight, number {unknown[0]}: is not a number (NaN).")
    schema = to_schema(variables)
    return schema, to_features(features, schema)


def fit_weights(
    network: MarkovNetwork,
    X: Any,
    sd: float | None,
    l1: float,
    max_iterations: int | None,
    sample_weight: Any,
    n_jobs: int | None,
) -> MarkovNetwork:
    """Answer `MarkovNetwork.fit_weights`."""
    most = MAX_ITERATIONS if max_iterations is None else to_count(max_iterations, "max_iterations")
    for name, value in (("sd", sd), ("l1", l1)):
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (is_number or (name == "sd" and value is None)):
            raise InputError(f"{name}: expected a number, got {value!r}.")
    data = data_for(network, X, sample_weight)
    assert isinstance(data, Dataset)
    penalty, threads = Penalty(sd, l1), to_threads(n_jobs)
    learned, _ = learn_weights(network, data, penalty, max_iterations=most, threads=threads)
    return learned


def to_schema(variables: Any) -> Schema:
    """Return the variables that a person names: a schema, names, states by name, or a number."""
    if isinstance(variables, Schema):
        return variables
    if isinstance(variables, int | np.integer):
        return binary_schema(int(variables))
    if isinstance(variables, Mapping):
        return Schema(tuple(variable_of(str(name), own) for name, own in variables.items()))
    return binary_schema(len(variables), tuple(variables))


def to_features(given: Sequence[Mapping[str | int, Any]], schema: Schema) -> FeatureSet:
    """Return features that are given as mappings of variables to a state, or to several states."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"features: expected a list of mappings, got {given!r}.")
    conjunctions: list[list[Literal]] = []
    for f, feature in enumerate(given):
        where = f"features, number {f}"
        if not isinstance(feature, Mapping):
            raise InputError(f"{where}: expected a mapping of variables to states.")
        found = find_variables(schema, feature, where)
        own: list[Literal] = []
        for v, states in zip(found, feature.values(), strict=True):
            own += _literals(schema, v, states, where)
        conjunctions.append(sorted(own))
    return features_of_literals(conjunctions)


def _literals(schema: Schema, v: int, states: Any, where: str) -> list[Literal]:
    """Return what says that a variable is in one of some states."""
    several = isinstance(states, Sequence | set | frozenset) and not isinstance(states, str)
    place = f"{where}, {schema.names[v]!r}"
    wanted = {match_state(schema[v], s, place) for s in (states if several else [states])}
    if len(wanted) == 1 and schema.arity[v] > 1:
        return [schema.literal(v, wanted.pop())]
    others = set(range(schema.arity[v])) - wanted
    if not wanted:
        raise InputError(f"{place}: expected at least one state.")
    return [(schema.literal(v, state)[0], 0) for state in sorted(others)]
