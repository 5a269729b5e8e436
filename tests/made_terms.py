"""Random terms over evidence and query variables, and what they mean by their definition."""

import itertools
from typing import NamedTuple

import numpy as np

from mnlearn.kernels.sampling.blocks import Blocks
from mnlearn.kernels.sampling.conditioning import (
    SYMMETRIC,
    QueryTerms,
    condition,
    holding_terms,
    room_for,
)


class Term(NamedTuple):
    """Literals (variable, value) on evidence and on query variables, a weight and an owner."""

    known: list
    asked: list
    weight: float
    owner: int = SYMMETRIC


def random_literals(rng, n_vars, length, without=()):
    free = [v for v in range(n_vars) if v not in without]
    own = rng.choice(free, min(length, len(free)), replace=False)
    return [(int(v), int(rng.integers(2))) for v in own]


def random_terms(rng, n_query, n_evidence, n_terms, *, owned=False, longest=5):
    """Terms of which about half are owned if `owned`; those have perhaps no query literal."""
    found = []
    for _ in range(n_terms):
        known = random_literals(rng, n_evidence, int(rng.integers(0, 3)))
        owner = int(rng.integers(n_query)) if owned and rng.random() < 0.5 else SYMMETRIC
        length = int(rng.integers(1 if owner == SYMMETRIC else 0, longest + 1))
        without = () if owner == SYMMETRIC else (owner,)
        asked = random_literals(rng, n_query, length, without)
        found.append(Term(known, asked, float(rng.normal()), owner))
    return found


def arrays(terms):
    """The terms as kernels take them."""

    def columns(lists):
        flat = list(itertools.chain.from_iterable(lists))
        start = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        variables, values = ([x[k] for x in flat] for k in range(2))
        return start, np.array(variables, np.int64), np.array(values, np.uint8)

    asked = columns([t.asked for t in terms])
    owner = np.array([t.owner for t in terms], np.int64)
    weight = np.array([t.weight for t in terms])
    known = columns([t.known for t in terms])
    number = {}
    kind = [number.setdefault((t.owner, tuple(t.asked)), len(number)) for t in terms]
    return QueryTerms(*known, *asked, weight, owner, np.array(kind, np.int64))


def single_blocks(n):
    """Blocks of one column each: binary variables."""
    start = np.arange(n + 1)
    return Blocks(start, np.zeros(n + 1, np.int64), np.zeros((0, 1), np.uint8), np.arange(n))


def merge_equal(terms):
    """The terms of each owner and each list of literals as one, where the first of them stood."""
    found = {}
    for t in terms:
        key = tuple(t.asked), t.owner
        before = found[key].weight if key in found else 0.0
        found[key] = Term([], t.asked, before + t.weight, t.owner)
    return list(found.values())


def left_terms(terms, n_query, evidence=()):
    """Condition on one row of evidence; return the terms left, their number, and log-odds."""
    as_arrays = arrays(terms)
    left, log_odds = room_for(as_arrays), np.zeros(n_query)
    _, held = holding_terms(as_arrays, np.array([evidence], np.uint8))
    return left, condition(as_arrays, held, log_odds, left), log_odds


def holds(literals, x):
    return all(x[v] == value for v, value in literals)


def log_potential(terms, evidence, x):
    """The sum of the symmetric terms that hold."""
    return sum(
        t.weight
        for t in terms
        if t.owner == SYMMETRIC and holds(t.known, evidence) and holds(t.asked, x)
    )


def log_odds(terms, evidence, x, v):
    """The log-odds of a query variable given all others, symmetric and owned terms together."""
    one, zero = (np.array([*x[:v], value, *x[v + 1 :]]) for value in (1, 0))
    total = log_potential(terms, evidence, one) - log_potential(terms, evidence, zero)
    for t in terms:
        if t.owner == v and holds(t.known, evidence) and holds(t.asked, x):
            total += t.weight
    return total


def numbered_states(n):
    """All states, bit v of the number of a state the value of variable v."""
    return (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.uint8)
