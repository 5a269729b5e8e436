"""The graph of a model, and the weights of its edges: one meaning for all kinds of models."""

from typing import Any

import numpy as np

from mnlearn.models.dependency_network import Trees
from mnlearn.models.interactions import Table, centre, joined_pairs, pair_tables, size
from mnlearn.variables.schema import Schema

# A Markov network, a dependency network or a Bayesian network; see `Model.graph`.
Graph = Any


def edge_weights(network: Graph) -> dict[tuple[int, int], float]:
    """Return how strongly the variables of each edge act on each other, in nats.

    All other variables are in their first states. Of two variables of two states it is the log odds
    ratio; see `interactions.size` for others. A directed edge is (parent, child), with the table of
    the child's conditional distribution.
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
        for state in range(len(table)):
            leaf = _leaf_given(trees, schema, v, (parent, state))
            table[state] += trees.log_prob[leaf, : schema.arity[v]]
    if network.has_joint:
        return out
    for f, (u, v), table in joined_pairs(schema, network.features, network.weight):
        target = int(network.target[f])
        if target in (u, v):
            edge = (u, v) if target == v else (v, u)
            out[edge] += table if target == v else table.T
    return out


def _leaf_given(trees: Trees, schema: Schema, v: int, given: tuple[int, int]) -> int:
    """Return the leaf of a tree where one variable has a state, and all others their first."""
    node = int(trees.start[v])
    while not trees.is_leaf[node]:
        column = int(trees.split_var[node])
        u = int(schema.variable_of[column])
        state = given[1] if u == given[0] else 0
        node = int(trees.child[node, schema.implied(u, state)[column]])
    return node
