"""A lower bound of the size of a compiled network, so that a refusal need not wait for its edges.

When a variable is eliminated, a component of eliminated variables is summed out. The sum is a
polynomial in the parameters for each context, which is a state of the variables beside the
component. Two contexts have different polynomials if a feature that touches the component holds in
one of them and not in the other, whatever the component's state. Different polynomials need
different nodes. So k such features without a common variable outside of the component need 2^k.
"""

from collections.abc import Sequence


def least_log2_nodes(n_vars: int, scopes: Sequence[Sequence[int]], order: Sequence[int]) -> int:
    """Return a lower bound of log2 of the nodes that variable elimination makes.

    Parameters
    ----------
    n_vars : int
        Number of variables.
    scopes : sequence of sequence of int
        Variables of each feature.
    order : sequence of int
        The order in which variables are eliminated; the first ones of it will do.
    """
    if not order:
        return 0
    rank = [len(order)] * n_vars
    for k, v in enumerate(order):
        rank[v] = k
    component = _widest_component(scopes, order, rank)
    outside = []
    for scope in scopes:
        left = [v for v in scope if v not in component]
        if left and len(left) < len(scope):
            outside.append(left)
    taken: set[int] = set()
    found = 0
    for left in sorted(outside, key=len):
        if taken.isdisjoint(left):
            taken.update(left)
            found += 1
    return found


def _widest_component(
    scopes: Sequence[Sequence[int]], order: Sequence[int], rank: Sequence[int]
) -> set[int]:
    """Return the eliminated variables that have the most others beside them, at any step."""
    # The last place stands for the variables that no step eliminates.
    first: list[list[int]] = [[] for _ in range(len(order) + 1)]
    for f, scope in enumerate(scopes):
        first[min(rank[v] for v in scope)].append(f)
    # The steps whose components a step joins, and the variables beside its own component.
    joined: list[list[int]] = [[] for _ in range(len(order) + 1)]
    beside: list[set[int]] = []
    for k, v in enumerate(order):
        near: set[int] = set()
        near.update(*(scopes[f] for f in first[k]), *(beside[j] for j in joined[k]))
        near.discard(v)
        beside.append(near)
        if near:
            joined[min(rank[u] for u in near)].append(k)
    component: set[int] = set()
    steps = [max(range(len(order)), key=lambda k: len(beside[k]))]
    while steps:
        k = steps.pop()
        component.add(order[k])
        steps += joined[k]
    return component
