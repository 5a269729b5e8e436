"""Whether clauses leave any state, for parts that no example reaches.

Unit propagation alone does not find out: three clauses over two variables can rule out all states
though each of them leaves several literals open.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

Literal = tuple[int, int]
Values = Mapping[int, AbstractSet[int]]


def has_state(allowed: Values, clauses: Sequence[Sequence[Literal]]) -> bool:
    """Return whether variables have values with which no clause holds (Davis, Logemann & Loveland).

    Parameters
    ----------
    allowed : mapping of int to set of int
        The values that each variable can have, at least one.
    clauses : sequence of sequences of (variable, value)
        Conjunctions that must not hold.
    """
    open_clauses = _open_clauses(allowed, clauses)
    if not open_clauses:
        return True
    shortest = min(open_clauses, key=len)
    if not shortest:
        return False
    v, value = shortest[0]
    if has_state({**allowed, v: allowed[v] - {value}}, open_clauses):
        return True
    return len(shortest) > 1 and has_state({**allowed, v: {value}}, open_clauses)


def _open_clauses(allowed: Values, clauses: Sequence[Sequence[Literal]]) -> list[list[Literal]]:
    """Return the clauses that can hold, without the literals that hold anyway.

    A variable with a value that is in no clause can be given this value, so that none of its
    clauses holds; these are left out.
    """
    found = [
        [(v, value) for v, value in clause if len(allowed[v]) > 1]
        for clause in clauses
        if all(value in allowed[v] for v, value in clause)
    ]
    while True:
        named: dict[int, set[int]] = {}
        for clause in found:
            for v, value in clause:
                named.setdefault(v, set()).add(value)
        free = {v for v, values in named.items() if allowed[v] - values}
        if not free:
            return found
        found = [clause for clause in found if not any(v in free for v, _ in clause)]
