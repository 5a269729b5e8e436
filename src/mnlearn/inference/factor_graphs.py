"""Tables and conjunctions in the form in which `inference.tempering` samples them."""

import itertools

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.inference.state_columns import arity_of
from mnlearn.inference.tables.factors import Factors
from mnlearn.inference.terms import HARD_WEIGHT, Terms
from mnlearn.kernels.sampling.conditioning import SYMMETRIC
from mnlearn.kernels.sampling.replicas import (
    Clauses,
    FactorGraph,
    Ladder,
)

Form = Factors | Terms
# Most states of a variable of terms.
_BITS = 64
# What has probability 0 is so far below what is likely, in nats. Replicas at high temperatures
# cross it, and the last rung hardly ever draws it.
BARRIER = 50.0
# The first rung has at most this norm of influences; below 1 a chain mixes fast.
_NORM = 0.8


def has_graph(form: Form) -> bool:
    """Tell whether a form has a joint distribution that replicas can sample."""
    if isinstance(form, Factors):
        return True
    few = arity_of(form.indicators.start).max(initial=1) <= _BITS
    return bool(few and (form.owner == SYMMETRIC).all())


def graph_of(form: Form) -> FactorGraph:
    """Return a form in flat arrays by variable."""
    return _graph_of_factors(form) if isinstance(form, Factors) else _graph_of_terms(form)


def _graph_of_factors(factors: Factors) -> FactorGraph:
    arity, scope, offset = factors.arity, factors.scope, factors.offset
    least = np.repeat(factors.scaled.shift, np.diff(offset)) - BARRIER
    table = np.where(np.isneginf(factors.log_table), least, factors.log_table)
    order = np.argsort(scope, kind="stable")
    return FactorGraph(
        arity,
        np.concatenate([[0], np.cumsum(arity)]),
        offset[:-1],
        table,
        np.searchsorted(scope[order], np.arange(len(arity) + 1)),
        np.repeat(np.arange(len(factors)), np.diff(factors.start))[order],
        factors.stride[order],
        Clauses(
            np.zeros(0),
            np.zeros(len(arity) + 1, np.int64),
            np.zeros(0, np.int64),
            np.zeros(0, np.uint64),
        ),
    )


def _graph_of_terms(terms: Terms) -> FactorGraph:
    indicators, f = terms.indicators, terms.conjunctions
    arity, none = arity_of(indicators.start), np.zeros(0, np.int64)
    every = (np.uint64(1) << arity.astype(np.uint64)) - np.uint64(1)
    every[arity == _BITS] = ~np.uint64(0)
    # The states in which each indicator is 1.
    own = np.zeros(len(indicators.variable_of), np.uint64)
    for k, v in enumerate(indicators.variable_of.tolist()):
        states = indicators.columns_of(k) - indicators.start[v] + (arity[v] == 2)
        own[k] = np.bitwise_or.reduce(np.uint64(1) << states.astype(np.uint64))
    variable = indicators.variable_of[f.var]
    mask = np.where(f.value == 1, own[f.var], every[variable] & ~own[f.var])
    order = np.argsort(variable, kind="stable")
    start = np.searchsorted(variable[order], np.arange(len(arity) + 1))
    hard = np.abs(terms.weight) >= HARD_WEIGHT
    weight = np.where(hard, np.copysign(BARRIER, terms.weight), terms.weight)
    places = np.concatenate([[0], np.cumsum(arity)])
    clauses = Clauses(weight, start, f.owner[order], mask[order])
    return FactorGraph(
        arity, places, none, np.zeros(0), np.zeros(len(arity) + 1, np.int64), none, none, clauses
    )


def is_impossible(form: Form, ladder: Ladder) -> bool:
    """Tell whether the last rung is at a state of probability 0."""
    last = ladder.at[-1]
    if isinstance(form, Factors):
        return bool(np.isneginf(form.log_table[ladder.cell[last]]).any())
    hard = np.abs(form.weight) >= HARD_WEIGHT
    return bool(((ladder.violated[last] == 0) != (form.weight > 0.0))[hard].any())


def first_share(form: Form, graph: FactorGraph) -> float:
    """Return the largest share of the log-potential at which single-variable chains mix fast.

    The distribution of a variable given all others changes by at most tanh(r / 4) in total
    variation when another one changes, where r is the largest interaction of their states, summed
    over tables and conjunctions. If the norm of the matrix of these numbers is below 1, Gibbs
    sampling needs a number of sweeps that grows with the logarithm of the number of variables.

    See Hayes, "A simple condition implying rapid mixing of single-site dynamics on spin systems",
    FOCS 2006.
    """
    n = len(graph.arity)
    first, second, largest = _interactions(form, graph)
    pairs = scipy.sparse.coo_matrix((largest, (first, second)), (n, n)).tocsr()
    pairs = pairs + pairs.T

    def norm(share: float) -> float:
        influence = pairs.copy()
        influence.data = np.tanh(share * influence.data / 4.0)
        x = np.full(n, n**-0.5)
        for _ in range(50):
            y = influence @ x
            x = y / max(float(np.linalg.norm(y)), 1e-300)
        return float(np.linalg.norm(influence @ x))

    if norm(1.0) <= _NORM:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2.0
        low, high = (middle, high) if norm(middle) <= _NORM else (low, middle)
    return low


def interaction_ranges(
    factors: Factors, table: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return each pair of variables of each factor, and the largest interaction of their states.

    That of states a, c of one variable and b, d of the other is f(a, b) - f(c, b) - f(a, d) +
    f(c, d), whatever the states of the rest. table : the finite cells of all factors.
    """
    pairs, largest = [], []
    for f, scope in enumerate(factors.scopes):
        own = table[factors.offset[f] : factors.offset[f + 1]]
        for i, j in itertools.combinations(range(len(scope)), 2):
            cells = np.moveaxis(own.reshape(factors.arity[list(scope)]), (i, j), (0, 1))
            pairs.append((scope[i], scope[j]))
            largest.append(max(np.ptp(cells - one, axis=1).max() for one in cells))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    return first, second, np.array(largest)


def _interactions(
    form: Form, graph: FactorGraph
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return pairs of variables, and the largest interaction of their states in each factor."""
    if isinstance(form, Factors):
        return interaction_ranges(form, graph.table)
    f, weight = form.conjunctions, graph.clauses.weight
    variable = form.indicators.variable_of[f.var]
    shared = scipy.sparse.csr_matrix(
        (np.abs(weight)[f.owner], (variable, f.owner)), (len(graph.arity), len(weight))
    )
    member = scipy.sparse.csr_matrix(
        (np.ones(len(variable)), shared.indices, shared.indptr), shared.shape
    )
    both = scipy.sparse.triu(shared @ member.T, 1).tocoo()
    return both.row, both.col, both.data
