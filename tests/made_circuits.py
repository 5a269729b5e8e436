"""Circuits that several tests use."""

import itertools

import numpy as np

from mnlearn.learning.circuits.splitting import settled_columns, split
from mnlearn.models.circuit import product_of_marginals, state_leaves
from mnlearn.models.features import features_of
from mnlearn.variables.schema import binary_schema

N = 6


def grown(seed, extend=True, n_splits=10, schema=None):
    """A circuit after random splits, with random weights, and its features."""
    rng = np.random.default_rng(seed)
    schema = binary_schema(N) if schema is None else schema
    circuit = product_of_marginals(rng.uniform(0.1, 0.9, schema.n_columns), schema)
    features = [(divmod(leaf, 2),) for leaf in state_leaves(schema).tolist()]
    for _ in range(n_splits):
        f = int(rng.integers(len(features)))
        free = sorted(set(range(schema.n_columns)) - set(settled_columns(schema, features[f])))
        if not free:
            continue
        var = int(rng.choice(free))
        circuit = split(circuit, np.array([f]), var, extend)
        circuit.check()
        children = [(*features[f], (var, x)) for x in (0, 1)]
        if extend:
            features += children
        else:
            features[f] = children[0]
            features.append(children[1])
        circuit = circuit.with_parameters(rng.normal(size=len(circuit.weight)))
    return circuit, features_of(sorted(f) for f in features)


def edges_of_copies(circuit, leaves, var):
    """Return the edges of the nodes above leaves and not above a column that are wanted twice."""
    n_leaves = circuit.n_leaves
    children = [()] * n_leaves + [
        tuple(circuit.child[a:b]) for a, b in itertools.pairwise(circuit.start)
    ]
    literals = {n: set() for n in range(n_leaves)}
    schema = circuit.schema
    literals |= {2 * c + 1: {0} for c in schema.columns(schema.variable_of[var])}
    literals |= {2 * var: {0}, 2 * var + 1: {1}}
    above = dict.fromkeys(range(n_leaves), False)
    above |= {2 * circuit.n_columns + int(leaf): True for leaf in leaves}
    for n in range(n_leaves, len(children)):
        literals[n] = set().union(*(literals[c] for c in children[n]))
        above[n] = any(above[c] for c in children[n])
    twice, total = set(), 0
    for n in reversed(range(n_leaves, len(children))):
        if not above[n]:
            continue
        parts = [c for c in children[n] if above[c]]
        if n in twice:
            total += len(children[n])
            twice |= set(parts)
        elif not circuit.is_sum[n - n_leaves] and any(
            literals[c] == {0, 1} and not above[c] for c in children[n]
        ):
            total += 2 if len(children[n]) == 2 else 3
            twice |= set(parts)
    return total
