"""Evaluation and differentiation of arithmetic circuits, and single states of them.

Nodes 0 to 2 n_columns - 1 are the literals, column c = x at 2 c + x; then the parameters; then sums
and products, children before parents, the root last. `start` and `child` are of the latter only.

The flow of a node is its share in the value of the root: the derivative of the root by the node,
times the node's value, divided by the root's (Darwiche 2003, Section 4). Values are in log space, a
row in each lane of the vector unit, or plain, which is several times quicker where none overflows.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import prefetch
from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, exp_or_zero, log1p_unit, log_normal
from mnlearn.kernels.arithmetic.splitmix import advance, mix, uniform
from mnlearn.kernels.jit import kernel

LANES = 16
# Stands for log 0: finite, so that differences of two of them are numbers.
LOG_ZERO = -1e30
# Added to a divisor that is 0 only where the dividend is 0 as well.
_TINY = 1e-300
# The edges whose children are asked for ahead of their use, and the numbers in a line of the cache.
_AHEAD = 16
_LINE = 8


@kernel
def _ask_for(node, lanes):
    """Ask for the numbers of a node ahead of their use."""
    for line in range(LANES * node, LANES * node + LANES, _LINE):
        prefetch(lanes, line)


@kernel
def log_values(is_sum, start, child, n_leaves, values, largest, total):
    """Fill in the log-values, (n_nodes, LANES), of sums and products."""
    for i in range(len(is_sum)):
        out = values[n_leaves + i]
        first, last = start[i], start[i + 1]
        if is_sum[i] and last == first + 2:
            # One exponential instead of two; most sums have two children.
            one = values[child[first]]
            other = values[child[first + 1]]
            for k in range(LANES):
                above = one[k] if one[k] > other[k] else other[k]
                out[k] = above + log1p_unit(exp_nonpositive(-abs(one[k] - other[k])))
        elif is_sum[i]:
            one = values[child[first]]
            for k in range(LANES):
                largest[k] = one[k]
            for e in range(first + 1, last):
                one = values[child[e]]
                for k in range(LANES):
                    largest[k] = one[k] if one[k] > largest[k] else largest[k]
            for k in range(LANES):
                total[k] = 0.0
            for e in range(first, last):
                one = values[child[e]]
                for k in range(LANES):
                    total[k] += exp_nonpositive(one[k] - largest[k])
            for k in range(LANES):
                out[k] = largest[k] + log_normal(total[k])
        else:
            for k in range(LANES):
                out[k] = 0.0
            for e in range(first, last):
                one = values[child[e]]
                for k in range(LANES):
                    out[k] += one[k]


@kernel
def log_space_flows(is_sum, start, child, n_leaves, values, flows):
    """Fill in the flows, (n_nodes, LANES), of all nodes from the log-values, down from the root."""
    flows[:] = 0.0
    flows[n_leaves + len(is_sum) - 1] = 1.0
    all_values, all_flows = values.reshape(values.size), flows.reshape(flows.size)
    for i in range(len(is_sum) - 1, -1, -1):
        value = values[n_leaves + i]
        flow = flows[n_leaves + i]
        first = start[i]
        last = start[i + 1]
        for e in range(first, last):
            _ask_for(child[max(e - _AHEAD, 0)], all_values)
            _ask_for(child[max(e - _AHEAD, 0)], all_flows)
        if is_sum[i] and last == first + 2:
            one = values[child[first]]
            other = values[child[first + 1]]
            below = flows[child[first]]
            beside = flows[child[first + 1]]
            for k in range(LANES):
                small = exp_or_zero(-abs(one[k] - other[k]))
                larger = flow[k] / (1.0 + small)
                smaller = larger * small
                below[k] += larger if one[k] > other[k] else smaller
                beside[k] += smaller if one[k] > other[k] else larger
            continue
        for e in range(first, last):
            below = flows[child[e]]
            if is_sum[i]:
                one = values[child[e]]
                for k in range(LANES):
                    below[k] += flow[k] * exp_or_zero(one[k] - value[k])
            else:
                for k in range(LANES):
                    below[k] += flow[k]


@kernel
def plain_values(is_sum, start, child, n_leaves, values):
    """Fill in the values of sums and products; values : float64, (n_nodes,), leaves given."""
    for i in range(len(is_sum)):
        out = values[child[start[i]]]
        if is_sum[i]:
            for e in range(start[i] + 1, start[i + 1]):
                out += values[child[e]]
        else:
            for e in range(start[i] + 1, start[i + 1]):
                out *= values[child[e]]
        values[n_leaves + i] = out


@kernel
def plain_flows(is_sum, start, child, n_leaves, values, flows):
    """Fill in the flows of all nodes from the values; flows : float64, (n_nodes,), overwritten."""
    n_nodes = n_leaves + len(is_sum)
    flows[:] = 0.0
    flows[n_nodes - 1] = 1.0
    for i in range(len(is_sum) - 1, -1, -1):
        flow = flows[n_leaves + i]
        if flow == 0.0:
            continue
        if is_sum[i]:
            share = flow / values[n_leaves + i]
            for e in range(start[i], start[i + 1]):
                flows[child[e]] += share * values[child[e]]
        else:
            for e in range(start[i], start[i + 1]):
                flows[child[e]] += flow


@kernel
def plain_values_of_lanes(is_sum, start, child, n_leaves, values):
    """Do as `plain_values` for every lane; values : float64, (n_nodes, LANES)."""
    for i in range(len(is_sum)):
        out = values[n_leaves + i]
        first, last = start[i], start[i + 1]
        one = values[child[first]]
        if last == first + 1:
            for k in range(LANES):
                out[k] = one[k]
            continue
        # The first two children in one pass over the lanes: most nodes have no others.
        other = values[child[first + 1]]
        if is_sum[i]:
            for k in range(LANES):
                out[k] = one[k] + other[k]
            for e in range(first + 2, last):
                one = values[child[e]]
                for k in range(LANES):
                    out[k] += one[k]
        else:
            for k in range(LANES):
                out[k] = one[k] * other[k]
            for e in range(first + 2, last):
                one = values[child[e]]
                for k in range(LANES):
                    out[k] *= one[k]


@kernel
def plain_values_in_rows(is_sum, start, child, row, factor, values):
    """Do as `plain_values_of_lanes` for nodes that share rows; products have a factor beside."""
    for i in range(len(is_sum)):
        out = values[row[i]]
        first, last = start[i], start[i + 1]
        own = factor[i]
        if last == first:
            for k in range(LANES):
                out[k] = own
            continue
        one = values[child[first]]
        if last == first + 1:
            for k in range(LANES):
                out[k] = own * one[k]
            continue
        other = values[child[first + 1]]
        if is_sum[i]:
            for k in range(LANES):
                out[k] = one[k] + other[k]
            for e in range(first + 2, last):
                one = values[child[e]]
                for k in range(LANES):
                    out[k] += one[k]
        else:
            for k in range(LANES):
                out[k] = own * one[k] * other[k]
            for e in range(first + 2, last):
                one = values[child[e]]
                for k in range(LANES):
                    out[k] *= one[k]


@kernel
def plain_flows_of_lanes(is_sum, start, child, n_leaves, values, flows, share):
    """Do as `plain_flows` for every lane; share : float64, (LANES,), scratch."""
    flows[:] = 0.0
    flows[n_leaves + len(is_sum) - 1] = 1.0
    all_values, all_flows = values.reshape(values.size), flows.reshape(flows.size)
    for i in range(len(is_sum) - 1, -1, -1):
        flow = flows[n_leaves + i]
        for e in range(start[i], start[i + 1]):
            _ask_for(child[max(e - _AHEAD, 0)], all_values)
            _ask_for(child[max(e - _AHEAD, 0)], all_flows)
        if is_sum[i]:
            value = values[n_leaves + i]
            for k in range(LANES):
                share[k] = flow[k] / (value[k] + _TINY)
            for e in range(start[i], start[i + 1]):
                below = flows[child[e]]
                one = values[child[e]]
                for k in range(LANES):
                    below[k] += share[k] * one[k]
        else:
            for e in range(start[i], start[i + 1]):
                below = flows[child[e]]
                for k in range(LANES):
                    below[k] += flow[k]


@kernel
def add_expected(layout, n_literals, literal, weight, scratch, counts):
    """Add the flows of parameters over weighted rows to `counts`; return the summed log-value."""
    is_sum, start, child, n_leaves = layout
    values, flows, largest, total = scratch
    n_rows = len(weight)
    sum_of_logs = 0.0
    for begin in range(0, n_rows, LANES):
        n = min(LANES, n_rows - begin)
        for v in range(n_literals):
            for k in range(n):
                values[v, k] = literal[begin + k, v]
            for k in range(n, LANES):
                values[v, k] = 0.0
        log_values(is_sum, start, child, n_leaves, values, largest, total)
        log_space_flows(is_sum, start, child, n_leaves, values, flows)
        for k in range(n):
            sum_of_logs += weight[begin + k] * values[-1, k]
        for p in range(len(counts)):
            flow = flows[n_literals + p]
            for k in range(n):
                counts[p] += weight[begin + k] * flow[k]
    return sum_of_logs


@kernel
def _add_in_log_space(to, one):
    """Replace each lane of `to` by the log of the sum of the numbers whose logs are given."""
    for k in range(LANES):
        above = to[k] if to[k] > one[k] else one[k]
        to[k] = above + log1p_unit(exp_nonpositive(-abs(to[k] - one[k])))


@kernel
def log_derivatives(is_sum, start, child, n_leaves, values, derivatives, scratch):
    """Fill in the log of the derivative of the root by each node from log-values."""
    n_nodes = n_leaves + len(is_sum)
    n_zeros, product, others = scratch[0], scratch[1], scratch[2]
    for i in range(n_nodes - 1):
        for k in range(LANES):
            derivatives[i, k] = LOG_ZERO
    for k in range(LANES):
        derivatives[n_nodes - 1, k] = 0.0
    for i in range(len(is_sum) - 1, -1, -1):
        own = derivatives[n_leaves + i]
        if is_sum[i]:
            for e in range(start[i], start[i + 1]):
                _add_in_log_space(derivatives[child[e]], own)
            continue
        # The derivative by a child is the product of the others, of which some may be 0.
        for k in range(LANES):
            n_zeros[k] = 0.0
            product[k] = own[k]
        for e in range(start[i], start[i + 1]):
            one = values[child[e]]
            for k in range(LANES):
                is_zero = one[k] < 0.5 * LOG_ZERO
                n_zeros[k] += 1.0 if is_zero else 0.0
                product[k] += 0.0 if is_zero else one[k]
        for e in range(start[i], start[i + 1]):
            one = values[child[e]]
            for k in range(LANES):
                is_zero = one[k] < 0.5 * LOG_ZERO
                left = n_zeros[k] - (1.0 if is_zero else 0.0)
                without = product[k] - (0.0 if is_zero else one[k])
                others[k] = LOG_ZERO if left > 0.0 else without
            _add_in_log_space(derivatives[child[e]], others)


@kernel
def draw_state(is_sum, start, child, n_leaves, n_vars, values, seed, number, stack, state):
    """Draw a state, going down from the root, by the log-values; `number` is that of this draw."""
    stream = mix(mix(advance(seed)) + advance(number))
    stack[0] = n_leaves + len(is_sum) - 1
    n_stack = 1
    while n_stack:
        n_stack -= 1
        n = stack[n_stack]
        if n < n_leaves:
            if n < 2 * n_vars:
                state[n // 2] = n % 2
            continue
        i = n - n_leaves
        if is_sum[i]:
            stream = advance(stream)
            left = uniform(stream)
            chosen = -1
            for e in range(start[i], start[i + 1]):
                p = np.exp(values[child[e]] - values[n])
                if p > 0.0:
                    chosen = child[e]
                    left -= p
                    if left < 0.0:
                        break
            stack[n_stack] = chosen
            n_stack += 1
        else:
            for e in range(start[i], start[i + 1]):
                stack[n_stack] = child[e]
                n_stack += 1


@kernel
def most_probable_state(is_sum, start, child, n_leaves, n_vars, values, stack, state):
    """Find the state of highest probability, the first of equals; return its log-value."""
    for i in range(len(is_sum)):
        out = -np.inf if is_sum[i] else 0.0
        for e in range(start[i], start[i + 1]):
            one = values[child[e]]
            if is_sum[i]:
                out = max(out, one)
            else:
                out += one
        values[n_leaves + i] = out
    stack[0] = n_leaves + len(is_sum) - 1
    n_stack = 1
    while n_stack:
        n_stack -= 1
        n = stack[n_stack]
        if n < n_leaves:
            if n < 2 * n_vars:
                state[n // 2] = n % 2
            continue
        i = n - n_leaves
        for e in range(start[i], start[i + 1]):
            if not is_sum[i] or values[child[e]] == values[n]:
                stack[n_stack] = child[e]
                n_stack += 1
                if is_sum[i]:
                    break
    return values[n_leaves + len(is_sum) - 1]
