"""Bayesian networks: log-probabilities of rows of states, conditionals, samples, and weights."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, mix, uniform
from mnlearn.kernels.jit import kernel

LEAF = -1


class Families(NamedTuple):
    """The conditional distribution of each variable: a table, or a tree of tests if it has no
    cells.

    The second child of a node, (n_nodes, 2), is for rows that have `test_var`, LEAF at a leaf, in
    `test_state`. `leaf`, (n_nodes, width), and `cell` hold the values, probabilities or logarithms;
    in `cell` the state of the variable itself changes fastest.
    """

    arity: NDArray[np.int64]
    tree_start: NDArray[np.int64]
    test_var: NDArray[np.int32]
    test_state: NDArray[np.uint8]
    child: NDArray[np.int32]
    leaf: NDArray[np.float64]
    parent_start: NDArray[np.int64]
    parent: NDArray[np.int32]
    cell_start: NDArray[np.int64]
    cell: NDArray[np.float64]


@kernel
def _place(f, v, x):
    """Return where the values of variable `v` begin, given the states x : its cell or its leaf."""
    if f.cell_start[v + 1] > f.cell_start[v]:
        index = 0
        for k in range(f.parent_start[v], f.parent_start[v + 1]):
            index = index * f.arity[f.parent[k]] + x[f.parent[k]]
        return f.cell_start[v] + index * f.arity[v]
    node = f.tree_start[v]
    while f.test_var[node] != LEAF:
        node = f.child[node, np.int64(x[f.test_var[node]] == f.test_state[node])]
    return np.int64(node)


@kernel
def _value(f, v, place, state):
    """Return the value of a state at a place that `_place` found."""
    if f.cell_start[v + 1] > f.cell_start[v]:
        return f.cell[place + state]
    return f.leaf[place, state]


@kernel
def fill_log_probabilities(f, states, first, last, out):
    """Write log P(x_v | parents), (n_rows, n_vars), of rows `first` to `last`, from logarithms."""
    for i in range(first, last):
        for v in range(len(f.arity)):
            out[i, v] = _value(f, v, _place(f, v, states[i]), states[i, v])


@kernel
def fill_conditionals(f, start, member_start, member, states, first, last, out):
    """Write log P(x_v | all others) of the rows `first` to `last` for all states of all variables.

    member[member_start[v]:member_start[v + 1]] are the variables whose distributions mention v.
    """
    for i in range(first, last):
        x = states[i].copy()
        for v in range(len(f.arity)):
            most = -np.inf
            for state in range(f.arity[v]):
                x[v] = state
                total = 0.0
                for k in range(member_start[v], member_start[v + 1]):
                    c = member[k]
                    total += _value(f, c, _place(f, c, x), x[c])
                out[i, start[v] + state] = total
                most = max(most, total)
            x[v] = states[i, v]
            if most == -np.inf:
                continue
            norm = 0.0
            for k in range(start[v], start[v + 1]):
                norm += np.exp(out[i, k] - most)
            norm = most + np.log(norm)
            for k in range(start[v], start[v + 1]):
                out[i, k] -= norm


@kernel
def draw_ancestral(f, order, seed, first, last, out):
    """Draw the rows `first` to `last` of states; row i depends on the seed and on i alone."""
    for i in range(first, last):
        stream = mix(mix(advance(seed)) + advance(np.uint64(i)))
        x = out[i]
        for v in order:
            stream = advance(stream)
            u = uniform(stream)
            place = _place(f, v, x)
            # The last state first; rounding of the sum must not lead to a state of probability 0.
            state = f.arity[v] - 1
            above = _value(f, v, place, state)
            likely = state
            while u >= above and state > 0:
                state -= 1
                own = _value(f, v, place, state)
                above += own
                if own > 0.0:
                    likely = state
            x[v] = state if u < above else likely


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
