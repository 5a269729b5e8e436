"""Orders of elimination against the definition of the least fill."""

import itertools
import math

import numpy as np
import pytest

from mnlearn.inference.tables.orders import min_fill_order


def order_by_definition(n_vars, scopes):
    """Eliminate the variable that joins the fewest pairs, the first of equals; count cells."""
    edges = {frozenset(pair) for scope in scopes for pair in itertools.combinations(scope, 2)}
    left, order, cells = set(range(n_vars)), [], 0
    while left:
        near = {v: sorted(u for u in left if frozenset((u, v)) in edges) for v in left}
        new = {
            v: [e for e in map(frozenset, itertools.combinations(near[v], 2)) if e not in edges]
            for v in left
        }
        v = min(left, key=lambda u: (len(new[u]), u))
        edges |= set(new[v])
        cells += 2 ** (len(near[v]) + 1)
        left.remove(v)
        order.append(v)
    return order, math.log2(cells)


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_least_fill(seed):
    rng = np.random.default_rng(seed)
    n_vars = int(rng.integers(1, 13))
    n_scopes = int(rng.integers(0, 14))
    scopes = [rng.permutation(n_vars)[: rng.integers(1, 4)].tolist() for _ in range(n_scopes)]
    order, log_cells = min_fill_order(n_vars, scopes)
    expected, expected_cells = order_by_definition(n_vars, scopes)
    assert order == expected
    assert log_cells == pytest.approx(expected_cells, rel=1e-12)


def test_the_search_ends_beyond_a_limit():
    """It need not see the whole of a network that is too large in any case."""
    chain = [(v, v + 1) for v in range(9)]
    assert min_fill_order(10, chain, most=10) == min_fill_order(10, chain)
    clique = list(itertools.combinations(range(8), 2))
    order, log_cells = min_fill_order(10, [*clique, (8, 9)], most=6)
    assert order == [0]
    assert log_cells == 8.0
    assert min_fill_order(10, [range(8)], most=6) == ([], 8.0)
