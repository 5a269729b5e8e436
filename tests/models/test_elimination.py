"""Orders of elimination against the definition of the least fill."""

import itertools
import math

import numpy as np
import pytest

from mnlearn.models.elimination import min_fill_order


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
