"""Scopes and faults of circuits with more variables than a word has bits."""

import numpy as np

from mnlearn.kernels.circuits.structure import (
    NOT_DECOMPOSABLE,
    NOT_SMOOTH,
    SOUND,
    find_fault,
    scopes,
)

N_VARS = 130
SUM, PRODUCT = 1, 0


def fault(nodes):
    """The fault of a circuit, given its inner nodes as (kind, children)."""
    n_leaves = 2 * N_VARS
    is_sum = np.array([kind for kind, _ in nodes], np.uint8)
    start = np.cumsum([0, *(len(children) for _, children in nodes)])
    child = np.concatenate([children for _, children in nodes]).astype(np.int32)
    scope = np.zeros((n_leaves + len(nodes), 3), np.uint64)
    scopes(start, child, np.arange(N_VARS + 1), n_leaves, scope)
    return tuple(map(int, find_fault(is_sum, start, child, n_leaves, scope)))


def either(v):
    return (SUM, [2 * v, 2 * v + 1])


FIRST = 2 * N_VARS
ALL = [either(v) for v in range(N_VARS)]


def test_a_product_of_all_variables():
    assert fault([*ALL, (PRODUCT, range(FIRST, FIRST + N_VARS))]) == (0, SOUND)


def test_a_product_with_a_variable_twice():
    for v in (0, 63, 64, 65, 128, 129):
        terms = [*range(FIRST, FIRST + N_VARS), 2 * v]
        assert fault([*ALL, (PRODUCT, terms)]) == (FIRST + N_VARS, NOT_DECOMPOSABLE)


def test_a_sum_of_other_variables():
    for one, other in ((0, 64), (63, 64), (64, 128), (1, 65)):
        assert fault([either(0), (SUM, [2 * one, 2 * other])]) == (FIRST + 1, NOT_SMOOTH)
