"""Single states of arithmetic circuits: drawn from the distribution, or of highest probability."""

import numpy as np

from mnlearn.kernels.arithmetic.splitmix import advance, mix, uniform
from mnlearn.kernels.jit import kernel


@kernel
def draw_state(is_sum, start, child, n_leaves, n_vars, values, seed, number, stack, state):
    """Draw a state, going down from the root.

    values : float64, (n_nodes,). Log-values of all nodes without evidence, or with evidence.
    seed, number : uint64, of the draws and of this one among them.
    stack : int64, scratch of (n_nodes,). state : uint8, (n_vars,), overwritten.
    """
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
    """Find the state of highest probability; return its log-value.

    values : float64, (n_nodes,); log-values of the leaves are given, the rest is overwritten.
    stack, state : as in `draw_state`. Of equally probable states the first child's is taken.
    """
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
