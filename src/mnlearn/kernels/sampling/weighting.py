"""Likelihood weighting in Bayesian networks of tables."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, uniform
from mnlearn.kernels.jit import kernel


class Conditionals(NamedTuple):
    """P(v | parents) of each variable, as a table of `prob` that begins at offset[v].

    order : parents before children. own, stride : how far apart the states of the variable, and of
    each of its parents, are.
    """

    arity: NDArray[np.int64]
    state_start: NDArray[np.int64]
    order: NDArray[np.int64]
    offset: NDArray[np.int64]
    own: NDArray[np.int64]
    parent_start: NDArray[np.int64]
    parent: NDArray[np.int64]
    stride: NDArray[np.int64]
    prob: NDArray[np.float64]


@kernel
def draw_weighted(net, values, above, none, seed, first, last, log_weight, total):
    """Draw the blocks `first` to `last` of examples with the known values; weigh each of them.

    A variable is drawn given its parents; the weight is the probability of the known values given
    their parents. total : the sums over draws of the weight, relative to the largest of the block,
    in the state that each variable has. The weight does not depend on the state of a variable that
    is not above a known one: there the distribution from which it was drawn takes its place.
    """
    x, p = np.empty(len(values), np.int64), np.zeros(net.state_start[-1])
    for b in range(first, last):
        stream = chain_seed(seed + np.uint64(b), values)
        largest = -np.inf
        total[b, :] = 0.0
        for i in range(log_weight.shape[1]):
            stream, weight = _draw_example(net, values, above, none, stream, x, p)
            log_weight[b, i] = weight
            if weight == -np.inf:
                continue
            if weight > largest:
                total[b] *= np.exp(largest - weight)
                largest = weight
            total[b] += np.exp(weight - largest) * p


@kernel
def _draw_example(net, values, above, none, stream, x, p):
    """Draw an example, and write what it adds for each state; return its log-weight."""
    weight = 0.0
    for v in net.order:
        begin, own, k = net.offset[v], net.own[v], net.state_start[v]
        for j in range(net.parent_start[v], net.parent_start[v + 1]):
            begin += net.stride[j] * x[net.parent[j]]
        if values[v] != none:
            x[v] = values[v]
            weight += np.log(net.prob[begin + own * x[v]])
            continue
        stream = advance(stream)
        left, drawn = uniform(stream), -1
        for a in range(net.arity[v]):
            p[k + a] = net.prob[begin + own * a]
            # Rounding of the sum must not lead to a state of probability 0.
            if p[k + a] > 0.0 and (drawn < 0 or left >= 0.0):
                drawn = a
                left -= p[k + a]
        x[v] = drawn
        if above[v]:
            p[k : k + net.arity[v]] = 0.0
            p[k + drawn] = 1.0
    return stream, weight


@kernel
def find_above(net, values, none):
    """Return which variables the known ones depend on, directly or not; bool, (n_vars,)."""
    above = np.zeros(len(values), np.bool_)
    for v in net.order[::-1]:
        if above[v] or values[v] != none:
            for j in range(net.parent_start[v], net.parent_start[v + 1]):
                above[net.parent[j]] = True
    return above
