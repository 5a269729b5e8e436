"""The edges of splits, by the nodes that change, against plans that visit all nodes."""

import itertools

import numba
import numpy as np
import pytest

from made_circuits import edges_of_copies, grown
from mnlearn.learning.circuits.splitting import SplitEdges, plan


def variables_of(literals, n_vars):
    """Variables that are not in a feature, at the ends of words if there are many."""
    free = [v for v in range(n_vars) if v not in dict(literals)]
    return free if n_vars < 10 else [v for v in free if v in (0, 1, 62, 63, 64, 65, n_vars - 1)]


def check(edges, circuit, parameters, var, extend):
    planned = plan(circuit, np.array(parameters), var, extend).n_new_edges
    for limit in (-5, 0, planned - 1, planned, planned + 1, 10**6):
        found = edges.up_to(limit, np.array(parameters), var, extend)
        assert found == planned or found > limit
        assert limit < planned or found == planned
        assert not edges._room[0].any()
        assert not edges._room[1].any()


# The kernel adds booleans, which are numbers where it is compiled, and not in plain Python.
COMPILED = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs compiled kernels")


@pytest.mark.parametrize("extend", [pytest.param(True, marks=COMPILED), False])
@pytest.mark.parametrize(
    ("seed", "n_vars"), [(0, 6), (1, 6), (2, 5), (3, 3), (4, 66), (5, 66), (6, 128)]
)
def test_edges_of_splits(seed, n_vars, extend):
    circuit, features = grown(seed, extend, 14, n_vars)
    edges = SplitEdges(circuit)
    literals = [features.literals(f) for f in range(len(circuit.weight))]
    longest = sorted(range(len(literals)), key=lambda f: -len(literals[f]))[:12]
    for f in longest if n_vars > 10 else range(len(literals)):
        least = edges.least(np.array([f]))
        for var in variables_of(literals[f], n_vars):
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
        for var in variables_of([*literals[f], *literals[g]], n_vars):
            check(edges, circuit, [f, g], var, extend)
            assert least[var] == edges_of_copies(circuit, [f, g], var)
    assert pairs or n_vars > 100
