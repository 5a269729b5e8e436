"""The answers of models to the questions of people; `models.questions` explains each of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.api import queries
from mnlearn.api.features import to_features, to_schema
from mnlearn.api.graphs import (
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
)
from mnlearn.api.partition import partition_of
from mnlearn.api.queries import advised, joint, most_probable, probability
from mnlearn.api.saving import save_own as save
from mnlearn.api.scores import score
from mnlearn.api.user_warnings import warn_user
from mnlearn.inference.circuits import exact
from mnlearn.inference.circuits.compilation import MAX_EDGES, compile_network
from mnlearn.inference.plan import SAMPLE, plan
from mnlearn.inference.sampling import sample_rows
from mnlearn.inference.settings import SAMPLERS
from mnlearn.inference.state_columns import known_columns
from mnlearn.learning.weights.arrangement import learn_weights
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.fit import MAX_ITERATIONS
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE, Schema

if TYPE_CHECKING:
    pass

__all__ = [
    "coefficients_frame",
    "edges_frame",
    "features_frame",
    "interactions",
    "joint",
    "most_probable",
    "probability",
    "save",
    "score",
    "to_networkx",
]


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
    with advised('inference="auto" runs Gibbs chains where it has to'):
        chosen = plan(model, SAMPLE, method=inference)
    seed, threads = to_seed(random_state, "sample"), to_threads(n_jobs)
    rows = sample_rows(model, int(n_samples), int(burn_in), seed, threads=threads, chosen=chosen)
    schema: Schema = model.schema
    if schema.is_named:
        return schema.decode(rows)
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
    values = queries.question_of(circuit, evidence).evidence.values
    if len(values) != 1:
        raise InputError(f"evidence: expected one row, got {len(values)}.")
    return exact.condition(circuit, known_columns(circuit.schema, values)[0])


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
