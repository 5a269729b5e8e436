"""Marginals of Bayesian networks by likelihood weighting, with their errors."""

from graphlib import TopologicalSorter

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.inference.convergence import Estimates, bounded_error, estimate_rows
from mnlearn.inference.tables.factors import Factors
from mnlearn.kernels.bayesian_networks import Conditionals, draw_weighted, find_above
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import NO_STATE

# The errors are found from the differences between so many blocks of draws.
_BLOCKS = 64
# Above this shape of the largest weights, means of weights are not reliable.
_MOST_SHAPE = 0.7
# Draws of a variable in one row of evidence at most.
WORK = 1 << 26


def is_directed(factors: Factors) -> bool:
    """Tell whether each variable has a factor that is its distribution given others."""
    return np.array_equal(np.sort(factors.child), np.arange(len(factors.arity)))


def conditionals_of(factors: Factors) -> Conditionals:
    """Return the distributions of the variables of a Bayesian network given their parents."""
    arity, child = factors.arity, np.repeat(factors.child, np.diff(factors.start))
    # Members of factors by the variable whose distribution they are in: itself, and its parents.
    by_child = np.argsort(child, kind="stable")
    variable, stride = factors.scope[by_child].astype(np.int64), factors.stride[by_child]
    is_own = variable == child[by_child]
    parent_start = np.searchsorted(child[by_child][~is_own], np.arange(len(arity) + 1))
    parents = np.split(variable[~is_own], parent_start[1:-1])
    order = TopologicalSorter({v: own.tolist() for v, own in enumerate(parents)}).static_order()
    return Conditionals(
        arity,
        np.concatenate([[0], np.cumsum(arity)]),
        np.array(list(order), np.int64),
        factors.offset[np.argsort(factors.child)],
        stride[is_own],
        parent_start,
        variable[~is_own],
        stride[~is_own],
        np.exp(factors.log_table),
    )


def weigh_likelihood(
    factors: Factors,
    values: NDArray[np.uint8],
    samples: int,
    *,
    seed: int,
    threads: int = 1,
    work: int = WORK,
) -> Estimates:
    """Return the marginals of all variables of a Bayesian network given each row of evidence.

    samples : effective sample size, by the weights, that each row should have. work : draws of a
    variable in each row at most, but for the last round.

    A round has twice as many draws as the one before. Without evidence all weights are equal, so
    that the draws are independent examples. A row has converged if the effective sample size is
    `samples`, and the generalised Pareto distribution of the largest weights has a shape of at most
    0.7 (Vehtari et al., "Pareto smoothed importance sampling", JMLR 2024). The probabilities are
    NaN if no draw has a weight.
    """
    net = conditionals_of(factors)
    return estimate_rows(
        values, net.arity, lambda row: _weigh_row(net, row, samples, seed, threads, work)
    )


def _weigh_row(
    net: Conditionals, values: NDArray[np.uint8], samples: int, seed: int, threads: int, work: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return probabilities and errors of all states, and which have converged."""
    above = find_above(net, values, NO_STATE)
    log_weight = np.empty((_BLOCKS, max(samples // 16, 1)))
    total = np.empty((_BLOCKS, net.state_start[-1]))

    def draw(first: int, last: int) -> None:
        own = (np.uint64(seed), first, last, log_weight, total)
        draw_weighted(net, values, above, NO_STATE, *own)

    while True:
        map_ranges(draw, _BLOCKS, threads, "likelihood weighting: blocks")
        size, is_sound = judge_weights(log_weight.ravel())
        is_done = is_sound and size >= samples
        # Where the weights of so many more draws would not be enough either, chains are better.
        if is_done or log_weight.size * len(net.arity) * max(samples / (size + 1e-9), 1.0) >= work:
            break
        log_weight = np.empty((_BLOCKS, 2 * log_weight.shape[1]))
    p, error = _ratio(log_weight, total, size)
    return p, error, np.full(len(p), is_done)


def _ratio(
    log_weight: NDArray[np.float64], total: NDArray[np.float64], size: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weighted means and their errors, from the differences between blocks."""
    largest = log_weight.max(axis=1, keepdims=True)
    if np.isneginf(largest).all():
        return np.full(total.shape[1], np.nan), np.full(total.shape[1], 1.0)
    share = np.exp(largest - largest.max())
    with np.errstate(invalid="ignore"):
        weight = share * np.nan_to_num(np.exp(log_weight - largest)).sum(axis=1, keepdims=True)
    p = (share * total).sum(axis=0) / weight.sum()
    off = share * total - weight * p
    standard_error = np.sqrt((off**2).sum(axis=0) * _BLOCKS / (_BLOCKS - 1)) / weight.sum()
    return p, bounded_error(standard_error, size)


def judge_weights(log_weight: NDArray[np.float64]) -> tuple[float, bool]:
    """Return the effective sample size of weights, and whether their tail is light enough."""
    largest = log_weight.max()
    if np.isneginf(largest):
        return 0.0, False
    weight = np.exp(log_weight - largest)
    size = float(weight.sum() ** 2 / (weight**2).sum())
    n = len(weight)
    n_tail = int(min(0.2 * n, 3.0 * np.sqrt(n)))
    tail = np.sort(weight)[-n_tail - 1 :]
    beyond = (tail - tail[0])[1:]
    if beyond[-1] <= 1e-12 or n_tail < 5:
        return size, True
    return size, pareto_shape(beyond) <= _MOST_SHAPE


def pareto_shape(beyond: NDArray[np.float64]) -> float:
    """Return the shape of the generalised Pareto distribution of exceedances, ascending.

    See Zhang & Stephens, "A new and efficient estimation method for the generalized Pareto
    distribution", Technometrics 51 (2009).
    """
    n = len(beyond)
    m = 30 + int(np.sqrt(n))
    quartile = max(beyond[int(n / 4 + 0.5) - 1], 1e-300)
    theta = 1.0 / beyond[-1] + (1.0 - np.sqrt(m / (np.arange(m) + 0.5))) / (3.0 * quartile)
    shape = np.log1p(-theta[:, None] * beyond).mean(axis=1)
    fit = n * (np.log(-theta / shape) - shape - 1.0)
    weight = scipy.special.softmax(fit)
    best = float(np.log1p(-(weight @ theta) * beyond).mean())
    # A prior of ten exceedances of shape 0.5, as in Pareto smoothing.
    return (n * best + 5.0) / (n + 10.0)
