"""How strongly variables act on each other: tables of states, and weights of edges."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.features import FeatureSet
from mnlearn.variables.schema import Literal, Schema

Table = NDArray[np.float64]
# A Markov network, a dependency network or a Bayesian network; see `Model.graph`.
Graph = Any


def allowed_states(schema: Schema, literals: Sequence[Literal]) -> dict[int, NDArray[np.bool_]]:
    """Return for each variable of a conjunction which of its states satisfy it."""
    out: dict[int, NDArray[np.bool_]] = {}
    for column, value in literals:
        v = int(schema.variable_of[column])
        place = column - int(schema.start[v])
        # The only column of a variable of two states is 1 in the second one.
        holds = np.arange(schema.arity[v]) == (1 if schema.arity[v] == 2 else place)
        out[v] = out.get(v, np.ones(len(holds), bool)) & (holds == bool(value))
    return out


def joined_pairs(
    schema: Schema, features: FeatureSet, weight: NDArray[np.float64]
) -> Iterator[tuple[int, tuple[int, int], Table]]:
    """Yield each feature of a weight, each pair of its variables, and what it adds to their table.

    All other variables are in their first states.
    """
    for f in np.flatnonzero(weight).tolist():
        allowed = allowed_states(schema, features.literals(f))
        blocking = {v for v, states in allowed.items() if not states[0]}
        for u, v in itertools.combinations(sorted(allowed), 2):
            holds = np.outer(allowed[u], allowed[v]) & (blocking <= {u, v})
            yield f, (u, v), np.where(holds, weight[f], 0.0)


def pair_tables(
    schema: Schema, features: FeatureSet, weight: NDArray[np.float64]
) -> dict[tuple[int, int], Table]:
    """Return the sum of the weights that features give to the states of each pair u < v."""
    out: dict[tuple[int, int], Table] = {}
    for _, pair, table in joined_pairs(schema, features, weight):
        out[pair] = out[pair] + table if pair in out else table
    return out


def centre(table: Table) -> Table:
    """Return a table of interactions in the zero-sum gauge: all rows and columns add up to 0.

    NaN where states that are impossible leave no such table.
    """
    with np.errstate(invalid="ignore"):
        rows, columns = (table.mean(axis=axis, keepdims=True) for axis in (1, 0))
        return np.asarray(table - rows - columns + table.mean())


def size(table: Table) -> float:
    """Return how strong the interactions in a table are, in nats: twice its Frobenius norm.

    For two variables of two states it is the log odds ratio. Where states exclude each other it is
    infinite, with the sign of the odds for two states.
    """
    if table.shape == (2, 2):
        zero, one = (np.inf if a == -np.inf else b - a for a, b in table.tolist())
        return float(one - zero) if one != zero else 0.0
    centred = centre(table)
    if not np.isfinite(centred).all():
        return np.inf
    return float(2.0 * np.linalg.norm(centred))


def edge_weights(network: Graph) -> dict[tuple[int, int], float]:
    """Return the `size` of each edge in nats, all other variables in their first states.

    A directed edge is (parent, child), with the table of the child's conditional distribution.
    """
    if not network.is_directed:
        weight: dict[tuple[int, int], float] = network.edges()
        return weight
    return {edge: size(table) for edge, table in _conditional_tables(network).items()}


def interaction_tables(network: Graph) -> dict[tuple[int, int], Table]:
    """Return the table of each edge in the zero-sum gauge, the first variable in rows."""
    if not network.is_directed:
        tables = pair_tables(network.schema, network.features, network.weight)
    else:
        tables = _conditional_tables(network)
    return {edge: centre(table) for edge, table in tables.items()}


def _conditional_tables(network: Graph) -> dict[tuple[int, int], Table]:
    """Return the log-probabilities of each child given one parent, others in their first states."""
    schema, trees = network.schema, network.trees
    out = {(u, v): np.zeros((schema.arity[u], schema.arity[v])) for u, v in network.edges()}
    for (parent, v), table in out.items():
        if network.has_joint:
            table += network.log_given(v, {parent: np.arange(len(table))})
            continue
        leaf = trees.leaves_given(v, schema, {parent: np.arange(len(table))})
        table += trees.log_prob[leaf, : schema.arity[v]]
    if network.has_joint:
        return out
    for f, (u, v), table in joined_pairs(schema, network.features, network.weight):
        target = int(network.target[f])
        if target in (u, v):
            edge = (u, v) if target == v else (v, u)
            out[edge] += table if target == v else table.T
    return out
