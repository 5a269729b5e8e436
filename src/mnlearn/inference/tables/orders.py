"""Orders in which variables are eliminated, and what need not be eliminated at all."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.tables.order import eliminate, join_scopes

# The rank of a variable that is not eliminated.
KEPT = -1
_MOST_TRIES = 200
# The standard deviation of the logarithms of weights in further orders.
_NOISE = 0.2
# Log2 of the cells of tables that no better order will make few enough; and of those that need not
# be counted to the end.
_WIDE, _HOPELESS = 32.0, 64.0


class Order(NamedTuple):
    """An order of elimination.

    order : int64, the variables in their order, the first ones if there are too many cells.
    near : uint64, bits of the neighbours of each variable when it is eliminated.
    log2_cells : log2 of the number of cells of all tables over a variable and its neighbours.
    """

    order: NDArray[np.int64]
    near: NDArray[np.uint64]
    log2_cells: float


def find_order(
    start: NDArray[np.int64],
    scope: NDArray[np.int64],
    arity: NDArray[np.int64],
    rank: NDArray[np.int64] | None = None,
    joined: Sequence[int] = (),
) -> Order:
    """Return the best of orders of least fill and of least weighted fill.

    The first of equal variables is taken. Where the tables are so large that it pays, more orders
    are tried, with some noise in the weights.

    start, scope : scopes of factors in flat arrays, as in `Factors`; a negative variable is left
    out. rank : int64, (n_vars,). Variables of a lower rank are eliminated before those of a higher
    one, and of rank KEPT not at all. joined : variables that shall be in one table in the end.
    """
    n = len(arity)
    near = np.zeros((n, (n + 63) // 64), np.uint64)
    join_scopes(start, scope, near)
    if len(joined) > 1:
        join_scopes(np.array([0, len(joined)]), np.asarray(joined, np.int64), near)
    rank = np.zeros(n, np.int64) if rank is None else rank
    log_size = np.log2(arity)
    weights = [np.ones(n)]
    if (arity != arity[:1]).any():
        weights.append(arity.astype(np.float64))
    rng, best, k = np.random.default_rng(0), None, 0
    while best is None or k < len(weights) + _n_tries(best.log2_cells, n):
        own, order = near.copy(), np.empty(n, np.int64)
        noise = 1.0 if k < len(weights) else np.exp(_NOISE * rng.normal(size=n))
        most = _HOPELESS if best is None else best.log2_cells
        weight = weights[k % len(weights)] * noise
        n_found, log2_cells = eliminate(own, weight, log_size, rank, most, order)
        if best is None or log2_cells < best.log2_cells:
            best = Order(order[:n_found], own, log2_cells)
        k += 1
    return best


def narrow_order(
    start: NDArray[np.int64], scope: NDArray[np.int64], arity: NDArray[np.int64]
) -> Order:
    """Return an order along a network: many tables of about the same size, few of which are needed.

    It is that of the least bandwidth by Cuthill & McKee.
    """
    # Few networks need it, and it takes long to load.
    import scipy.sparse.csgraph

    n = len(arity)
    near = np.zeros((n, (n + 63) // 64), np.uint64)
    join_scopes(start, scope, near)
    bits = np.unpackbits(near.view(np.uint8), axis=1, bitorder="little")[:, :n]
    graph = scipy.sparse.csr_matrix(bits)
    along = scipy.sparse.csgraph.reverse_cuthill_mckee(graph, symmetric_mode=True)
    rank, order = np.empty(n, np.int64), np.empty(n, np.int64)
    rank[along] = np.arange(n)
    n_found, log2_cells = eliminate(near, np.ones(n), np.log2(arity), rank, _HOPELESS, order)
    return Order(order[:n_found], near, log2_cells)


def _n_tries(log2_cells: float, n_vars: int) -> int:
    """Return how many more orders are worth their time, which is a tenth of the whole.

    An order takes about as long for each variable as the products of some thousand cells.
    """
    if log2_cells > _WIDE:
        return 0
    return int(min(_MOST_TRIES, 2.0**log2_cells / (8000 * max(n_vars, 1))))


def min_fill_order(
    n_vars: int,
    scopes: Iterable[Sequence[int]],
    most: float = math.inf,
    arity: Sequence[int] | None = None,
) -> tuple[list[int], float]:
    """Return the order of least fill, and log2 of the number of cells of its tables.

    The next variable is always the one whose elimination joins the fewest pairs of neighbours; of
    several such variables, the first. The search ends where the cells are more than 2 ** `most`.
    Variables have two states if no `arity` is given.
    """
    scopes = [list(scope) for scope in scopes]
    log_size = np.log2(np.full(n_vars, 2) if arity is None else np.asarray(arity))
    largest = max((float(log_size[scope].sum()) for scope in scopes), default=0.0)
    if largest > most:
        return [], largest
    near = np.zeros((n_vars, (n_vars + 63) // 64), np.uint64)
    start = np.cumsum([0, *map(len, scopes)], dtype=np.int64)
    join_scopes(start, np.array([v for scope in scopes for v in scope], np.int64), near)
    order = np.empty(n_vars, np.int64)
    rank = np.zeros(n_vars, np.int64)
    n_found, log2_cells = eliminate(near, np.ones(n_vars), log_size, rank, float(most), order)
    return order[:n_found].tolist(), log2_cells
