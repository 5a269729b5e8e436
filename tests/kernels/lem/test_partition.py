"""Blocks of variables at a node of LEM."""

import numpy as np

from mnlearn.kernels.lem.node import Clauses, Node, Side
from mnlearn.kernels.lem.partition import merge_clauses

N_VARS = 5


def blocks(size, clauses):
    """Merge the blocks of the clauses, of slots, where variables have `size` values left.

    A variable with one value left has its value 1, so that literals of it in clauses are certain.
    """
    nothing = dict.fromkeys((*Node._fields, *Side._fields))
    owner = np.repeat(np.arange(N_VARS, dtype=np.int32), 2)
    node = Node(**{name: nothing[name] for name in Node._fields} | {"owner": owner})
    alive = np.ones(2 * N_VARS, np.uint8)
    alive[[2 * v for v in range(N_VARS) if size[v] == 1]] = 0
    label = np.full(N_VARS, -1, np.int32)
    own = {"label": label, "alive": alive, "size": np.array(size, np.int32)}
    side = Side(**{name: nothing[name] for name in Side._fields} | own)
    start = np.cumsum([0, *map(len, clauses)], dtype=np.int32)
    slots = np.array([s for clause in clauses for s in clause], np.int32)
    merge_clauses(node, Clauses(start, slots, len(clauses)), len(clauses), side)
    return label.tolist()


def test_an_open_clause_ties_its_variables():
    assert blocks([2] * N_VARS, [[1, 5], [7, 8]]) == [0, 1, 0, 3, 3]


def test_a_variable_whose_value_is_known_ties_nothing():
    # Both clauses have a literal of variable 2, which is certain.
    assert blocks([2, 2, 1, 2, 2], [[1, 3, 5], [5, 7, 9]]) == [0, 0, 2, 3, 3]
