"""Rao-Blackwellised Gibbs sampling of up to 64 binary variables, one chain per evidence.

Their state is one word, and the terms of a variable are scanned; see `blocks` for all others.
"""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, fill_logistic, uniform
from mnlearn.kernels.arithmetic.sums import sum_of
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.chains import store_means
from mnlearn.kernels.sampling.conditioning import (
    BATCH,
    OWNED,
    add_effects,
    collapse_pairs,
    condition,
    entries_by_variable,
    flip_effects,
    holding_terms,
    room_for,
)

# Numba converts a uint64 to floating point before it compares it with a plain 0.
_NONE = np.uint64(0)


@kernel
def sample_by_scans(log_odds, effect, left, n_left, x, stream, burn_in, batch_end, out):
    """Run a chain of up to 64 variables whose state is one word.

    It keeps the effects of single variables up to date. When a neighbour of a variable has changed,
    it evaluates the other terms of the variable again, several at a time.
    """
    n_query = len(x)
    entry_start, mask, asked, signed = _conditions(left, n_left, n_query)
    neighbours = _neighbours(effect, entry_start, mask)
    add_effects(effect, x, log_odds)
    state = _pack(x)
    thresholds, held, seen = np.empty(n_query), np.empty(n_query), np.empty(n_query)
    total, terms = np.empty(n_query), np.empty(len(mask))
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
                    own = slice(entry_start[v], entry_start[v + 1])
                    held[v] = _sum_held(state, mask[own], asked[own], signed[own], terms)
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
def _draw_first_state(stream, x):
    """Fill `x` with independent values of probability 1/2; return the next state of the stream."""
    for v in range(len(x)):
        stream = advance(stream)
        x[v] = uniform(stream) < 0.5
    return stream


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


@kernel
def _sum_held(state, mask, asked, signed, terms):
    """Return the summed weights of the entries whose conditions hold in `state`."""
    for e in range(len(mask)):
        terms[e] = signed[e] if (state ^ asked[e]) & mask[e] == _NONE else 0.0
    return sum_of(terms[: len(mask)])


@kernel
def _conditions(left, n_left, n_query):
    """Return, by variable, the conditions (mask, asked) and the signed weights of its terms.

    A term adds its weight, with the sign of the variable's own literal, to the log-odds of a
    variable if the state agrees with `asked` on the bits of `mask`.
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


@kernel
def sample_marginals(terms, evidence, seed, burn_in, batch_end, first, last, out):
    """Estimate P(query variable = 1 | evidence) for evidence rows `first` to `last`.

    Counted sweeps add the probability from which a value is drawn, not the value. batch_end :
    number of counted sweeps at the end of each batch. out : (n_evidence, n_batches, n_query).
    """
    n_query = out.shape[2]
    left = room_for(terms)
    log_odds = np.empty(n_query)
    effect = np.empty((n_query, n_query))
    x = np.empty(n_query, np.uint8)
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        log_odds[:] = 0.0
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds, left)
        stream = _draw_first_state(chain_seed(seed, evidence[i]), x)
        n_left = collapse_pairs(left, n_left, log_odds, effect)
        sample_by_scans(log_odds, effect, left, n_left, x, stream, burn_in, batch_end, out[i])
