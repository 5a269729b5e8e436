"""Orders in which variables are eliminated."""

import heapq
import itertools
import math
from collections.abc import Iterable, Sequence


def min_fill_order(
    n_vars: int,
    scopes: Iterable[Sequence[int]],
    most: float = math.inf,
    arity: Sequence[int] | None = None,
) -> tuple[list[int], float]:
    """Return an elimination order, and the work that it takes.

    The next variable is always the one whose elimination joins the fewest pairs of neighbours; of
    several such variables, the first.

    Parameters
    ----------
    n_vars : int
        Number of variables.
    scopes : iterable of sequence of int
        Variables of each factor.
    most : float
        The search ends where `log2_entries` is more than this.
    arity : sequence of int, optional
        Number of states of each variable; default: 2.

    Returns
    -------
    order : list of int
        All variables, or the first ones where the search has ended before.
    log2_entries : float
        Log2 of the number of entries of the tables: one table per elimination, over the variable
        and its neighbours, without local structure.
    """
    scopes = list(scopes)
    bits = [1.0] * n_vars if arity is None else [math.log2(k) for k in arity]
    largest = max((sum(bits[v] for v in scope) for scope in scopes), default=0.0)
    if largest > most:
        return [], largest
    near = _neighbours(n_vars, scopes)
    fill = [_fill(near, v) for v in range(n_vars)]
    left, order, entries = set(range(n_vars)), [], 0.0
    # A variable stands there once for each number that it had; all but the current one are skipped.
    queue = [(fill[v], v) for v in range(n_vars)]
    heapq.heapify(queue)
    while left:
        number, v = heapq.heappop(queue)
        if v not in left or number != fill[v]:
            continue
        left.remove(v)
        order.append(v)
        entries += 2.0 ** min(bits[v] + sum(bits[u] for u in near[v]), 1000)
        if math.log2(entries) > most:
            break
        for w in _join_neighbours(near, v) & left:
            fill[w] = _fill(near, w)
            heapq.heappush(queue, (fill[w], w))
        near[v] = set()
    return order, math.log2(entries)


def _join_neighbours(near: list[set[int]], v: int) -> set[int]:
    """Join all neighbours of a variable, and return the variables whose fill may change."""
    changed = set(near[v])
    for a, b in itertools.combinations(sorted(near[v]), 2):
        if b not in near[a]:
            near[a].add(b)
            near[b].add(a)
    for u in near[v]:
        near[u].discard(v)
    # The neighbours are a clique now, so these have the common neighbours of each new edge too.
    for u in near[v]:
        changed |= near[u]
    return changed


def _neighbours(n_vars: int, scopes: Iterable[Sequence[int]]) -> list[set[int]]:
    """Return the variables that share a scope with each variable."""
    near: list[set[int]] = [set() for _ in range(n_vars)]
    for scope in scopes:
        for u, v in itertools.combinations(scope, 2):
            near[u].add(v)
            near[v].add(u)
    return near


def _fill(near: list[set[int]], v: int) -> int:
    """Return the number of pairs of neighbours of a variable that no edge joins."""
    own = near[v]
    return (len(own) * (len(own) - 1) - sum(len(near[u] & own) for u in own)) // 2
