"""Gibbs sampling of up to 64 variables, whose state is one word."""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.arithmetic.splitmix import fill_logistic
from mnlearn.kernels.jit import kernel, sum_kernel
from mnlearn.kernels.sampling.chains import store_means
from mnlearn.kernels.sampling.conditioning import OWNED, entries_by_variable
from mnlearn.kernels.sampling.effects import add_effects, flip_effects

# Numba converts a uint64 to floating point before it compares it with a plain 0.
_NONE = np.uint64(0)


@kernel
def sample_by_scans(log_odds, effect, left, n_left, chain):
    """Run a chain of up to 64 variables whose state is one word.

    It keeps the effects of single variables up to date. When a neighbour of a variable has
    changed, it evaluates the other terms of the variable again, several at a time.

    log_odds : float64, (n_query,). effect : see `collapse_pairs`. left : LeftTerms. chain : Chain.
    """
    x, stream, burn_in, batch_end, out = chain
    n_query = len(x)
    entry_start, mask, asked, signed = _conditions(left, n_left, n_query)
    neighbours = _neighbours(effect, entry_start, mask)
    add_effects(effect, x, log_odds)
    state = _pack(x)
    thresholds, held, seen = np.empty(n_query), np.empty(n_query), np.empty(n_query)
    total = np.empty(n_query)
    stale = ~np.uint64(0)
    sweep = -burn_in
    for b in range(len(batch_end)):
        total[:] = 0.0
        n_sweeps = batch_end[b] - max(sweep, 0)
        while sweep < batch_end[b]:
            stream = fill_logistic(stream, thresholds)
            for v in range(n_query):
                bit = np.uint64(1) << np.uint64(v)
                if stale & bit != _NONE:
                    held[v] = _sum_held(
                        state, mask, asked, signed, entry_start[v], entry_start[v + 1]
                    )
                    stale &= ~bit
                seen[v] = log_odds[v] + held[v]
                drawn = thresholds[v] < seen[v]
                if drawn != (state & bit != _NONE):
                    state ^= bit
                    stale |= neighbours[v]
                    flip_effects(effect, v, drawn, log_odds)
            sweep += 1
            if sweep > 0:
                _add_sigmoids(seen, total)
        store_means(total, n_sweeps, out[b])


@kernel
def _pack(x):
    """Return a state as one word; bit v is the value of variable v."""
    state = np.uint64(0)
    for v in range(len(x)):
        state |= np.uint64(x[v]) << np.uint64(v)
    return state


@kernel
def _add_sigmoids(log_odds, total):
    """Add the probabilities that belong to some log-odds to `total`."""
    for v in range(len(total)):
        total[v] += sigmoid(log_odds[v])


@sum_kernel
def _sum_held(state, mask, asked, signed, begin, end):
    """Return the summed weights of the entries whose conditions hold in `state`."""
    # Slices, because an index that might be negative turns every load into a gather.
    own_mask, own_asked, own_signed = mask[begin:end], asked[begin:end], signed[begin:end]
    total = 0.0
    for e in range(len(own_mask)):
        if (state ^ own_asked[e]) & own_mask[e] == _NONE:
            total += own_signed[e]
    return total


@kernel
def _conditions(left, n_left, n_query):
    """Return, by variable, the conditions (mask, asked) and the signed weights of its terms.

    A term adds its signed weight to the log-odds of a variable if the state agrees with `asked` on
    the bits of `mask`. The sign is that of the variable's own literal.
    """
    entry_start, term, literal = entries_by_variable(left, n_left, n_query)
    start, var, value, weight = left.start, left.var, left.value, left.weight
    variables, values = np.zeros(n_left, np.uint64), np.zeros(n_left, np.uint64)
    for t in range(n_left):
        for k in range(start[t], start[t + 1]):
            variables[t] |= np.uint64(1) << np.uint64(var[k])
            values[t] |= np.uint64(value[k]) << np.uint64(var[k])
    n_entries = len(term)
    mask, asked = np.empty(n_entries, np.uint64), np.empty(n_entries, np.uint64)
    signed = np.empty(n_entries)
    for e in range(n_entries):
        t, own = term[e], literal[e]
        mask[e], asked[e], signed[e] = variables[t], values[t], weight[t]
        if own != OWNED:
            mask[e] &= ~(np.uint64(1) << np.uint64(var[own]))
            if value[own] == 0:
                signed[e] = -signed[e]
    return entry_start, mask, asked, signed


@kernel
def _neighbours(effect, entry_start, mask):
    """Return for each variable, as a word, the set of the variables whose log-odds it affects."""
    n_query = len(effect)
    out = np.zeros(n_query, np.uint64)
    for v in range(n_query):
        for u in range(n_query):
            if effect[v, u] != 0.0:
                out[v] |= np.uint64(1) << np.uint64(u)
        for e in range(entry_start[v], entry_start[v + 1]):
            for u in range(n_query):
                if mask[e] >> np.uint64(u) & np.uint64(1) != _NONE:
                    out[u] |= np.uint64(1) << np.uint64(v)
    return out
