"""The edges of splits, by the nodes that change, against plans that visit all nodes."""

import itertools

import numpy as np
import pytest

from compiled import COMPILED
from made_circuits import edges_of_copies, grown
from made_states import schema_of
from mnlearn.learning.circuits.splitting import SplitEdges, settled_columns, split


def columns_of(literals, schema):
    """Columns that a feature can be split on, at the ends of words if there are many."""
    n = schema.n_columns
    free = sorted(set(range(n)) - set(settled_columns(schema, literals)))
    return free if n < 20 else [c for c in free if c in (0, 1, 62, 63, 64, 65, n - 1)]


def check(edges, circuit, parameters, var, extend):
    planned = split(circuit, np.array(parameters), var, extend).n_edges - circuit.n_edges
    for limit in (-5, 0, planned - 1, planned, planned + 1, 10**6):
        found = edges.up_to(limit, np.array(parameters), var, extend)
        assert found == planned or found > limit
        assert limit < planned or found == planned
        assert not edges._room[0].any()
        assert not edges._room[1].any()


# The kernel adds booleans, which are numbers where it is compiled, and not in plain Python.
@pytest.mark.parametrize("extend", [pytest.param(True, marks=COMPILED), False])
@pytest.mark.parametrize(
    ("seed", "arity"),
    [
        *((0, [2] * 6), (1, [2] * 6), (2, [2] * 5), (3, [2] * 3), (4, [2] * 66), (5, [2] * 66)),
        *((6, [2] * 128), (7, [3, 2, 4]), (8, [4, 1, 3, 2]), (9, [3, 5, 1, 2, 3]), (10, [3] * 30)),
    ],
)
def test_edges_of_splits(seed, arity, extend):
    schema = schema_of(*arity)
    circuit, features = grown(seed, extend, 14, schema)
    edges = SplitEdges(circuit)
    literals = [features.literals(f) for f in range(len(circuit.weight))]
    longest = sorted(range(len(literals)), key=lambda f: -len(literals[f]))[:12]
    for f in longest if schema.n_columns > 20 else range(len(literals)):
        least = edges.least(np.array([f]))
        for var in columns_of(literals[f], schema):
            check(edges, circuit, [f], var, extend)
            assert least[var] == edges_of_copies(circuit, [f], var)
    # Two features that exclude each other are split together.
    pairs = [
        (f, g)
        for f, g in itertools.combinations(longest, 2)
        if any((v, 1 - x) in literals[g] for v, x in literals[f])
    ]
    for f, g in pairs[:8]:
        least = edges.least(np.array([f, g]))
        for var in columns_of([*literals[f], *literals[g]], schema):
            check(edges, circuit, [f, g], var, extend)
            assert least[var] == edges_of_copies(circuit, [f, g], var)
    assert pairs or schema.n_columns > 80
