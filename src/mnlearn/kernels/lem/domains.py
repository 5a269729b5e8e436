"""What a feature leaves of the values of the variables at a node, under clauses.

A clause is a conjunction that is known not to hold: if all its literals but one are certain, the
last one is false.
"""

from mnlearn.kernels.inlining import copy_into
from mnlearn.kernels.jit import kernel


@kernel
def divide_domain(node, clauses, n_clauses, feature, holds, side):
    """Fill in which values are left where a feature holds, or does not.

    n_clauses : how many clauses apply. Where a feature of several literals does not hold, it is
        itself one of them. feature : int32, slots.
    """
    side.alive[:] = 1
    for j in range(len(side.size)):
        side.size[j] = node.slot[j + 1] - node.slot[j]
    if holds:
        for s in feature:
            j = node.owner[s]
            side.alive[node.slot[j] : node.slot[j + 1]] = 0
            side.alive[s] = 1
            side.size[j] = 1
    elif len(feature) == 1:
        side.alive[feature[0]] = 0
        side.size[node.owner[feature[0]]] -= 1
    return propagate(node.owner, clauses, n_clauses, side.alive, side.size)


@kernel
def propagate(owner, clauses, n_clauses, alive, size):
    """Drop the values that clauses rule out; return whether any state is left."""
    changed = True
    while changed:
        changed = False
        for c in range(n_clauses):
            n_open, last = open_literals(owner, clauses, c, alive, size)
            if n_open == 0:
                return False
            if n_open == 1:
                alive[last] = 0
                size[owner[last]] -= 1
                changed = True
    return True


@kernel
def open_literals(owner, clauses, c, alive, size):
    """Return how many literals of a clause are not certain, and the last of these.

    The number is -1 where one of them is false, so that the clause says nothing any more.
    """
    n_open = 0
    last = -1
    for e in range(clauses.start[c], clauses.start[c + 1]):
        s = clauses.slots[e]
        if not alive[s]:
            return -1, -1
        if size[owner[s]] > 1:
            n_open += 1
            last = s
    return n_open, last


@kernel
def add_clause(clauses, feature):
    """Put a feature of several literals behind the clauses; return how many there are then."""
    if len(feature) == 1:
        return clauses.n
    end = clauses.start[clauses.n]
    copy_into(clauses.slots[end : end + len(feature)], feature)
    clauses.start[clauses.n + 1] = end + len(feature)
    return clauses.n + 1
