"""Rao-Blackwellised Gibbs sampling of the query variables, one chain per evidence.

Up to 64 variables are sampled by scans: their state is one word.
"""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, fill_logistic, uniform
from mnlearn.kernels.jit import copy_into, kernel, sum_kernel
from mnlearn.kernels.sampling.chains import (
    draw_first_state,
    index_terms,
    make_sweeps,
    sample_by_flips,
    store_means,
)
from mnlearn.kernels.sampling.conditioning import (
    BATCH,
    OWNED,
    add_effects,
    collapse_pairs,
    condition,
    entries_by_variable,
    flip_effects,
    holding_terms,
    log_odds_table,
    room_for,
    table_cost,
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
def sample_marginals(terms, evidence, seed, burn_in, batch_end, ways, first, last, out):
    """Estimate P(query variable = 1 | evidence) for evidence rows `first` to `last`.

    Counted sweeps add the probability from which a value is drawn, not the value. batch_end :
    number of counted sweeps at the end of each batch. ways : the probabilities in all query states
    are tabled if that takes at most this share of the number of updates; and up to this many query
    variables, at most 64, terms are scanned. out : (n_evidence, n_batches, n_query), means.
    """
    n_query, (table_share, scan_limit) = out.shape[2], ways
    left = room_for(terms)
    n_updates = n_query * (burn_in + batch_end[-1])
    log_odds = np.empty(n_query)
    effect = np.empty((n_query, n_query))
    x = np.empty(n_query, np.uint8)
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        log_odds[:] = 0.0
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds, left)
        stream = draw_first_state(chain_seed(seed, evidence[i]), x)
        if table_cost(left, n_left, n_query) <= table_share * n_updates:
            _sample_from_table(log_odds, left, n_left, x, stream, burn_in, batch_end, out[i])
        else:
            n_left = collapse_pairs(left, n_left, log_odds, effect)
            chain = (log_odds, effect, left, n_left, x, stream, burn_in, batch_end, out[i])
            if n_query <= scan_limit:
                sample_by_scans(*chain)
            else:
                sample_by_flips(*chain)


@kernel
def _sample_from_table(log_odds, left, n_left, x, stream, burn_in, batch_end, out):
    """Run a chain by looking up the probability of each variable in each query state."""
    n_query = len(x)
    table = np.empty((n_query, 1 << n_query))
    log_odds_table(log_odds, left, n_left, np.empty(1 << n_query), table)
    for v in range(n_query):
        for s in range(1 << n_query):
            table[v, s] = sigmoid(table[v, s])
    state = 0
    for v in range(n_query):
        state |= np.int64(x[v]) << v
    total = np.empty(n_query)
    sweep = -burn_in
    for b in range(len(batch_end)):
        total[:] = 0.0
        n_sweeps = batch_end[b] - max(sweep, 0)
        while sweep < batch_end[b]:
            if sweep == 0:
                total[:] = 0.0
            for v in range(n_query):
                p = table[v, state]
                total[v] += p
                stream = advance(stream)
                state = (state & ~(1 << v)) | (np.int64(uniform(stream) < p) << v)
            sweep += 1
        store_means(total, n_sweeps, out[b])


@kernel
def advance_states(terms, n_sweeps, seed, from_random, first, last, states):
    """Make `n_sweeps` sweeps in the chains `first` to `last`; chain i depends on the seed and i."""
    n_vars = states.shape[1]
    left = room_for(terms)
    base = np.zeros(n_vars)
    effect = np.empty((n_vars, n_vars))
    nothing = np.empty((1, 0), np.uint8)
    n_left = condition(terms, holding_terms(terms, nothing)[1], base, left)
    n_left = collapse_pairs(left, n_left, base, effect)
    # One place more than variables; see `update_terms`.
    log_odds = np.zeros(n_vars + 1)
    x = np.zeros(n_vars + 1, np.uint8)
    for i in range(first, last):
        stream = chain_seed(seed + np.uint64(i), nothing[0])
        if from_random:
            stream = draw_first_state(stream, states[i])
        copy_into(x, states[i])
        copy_into(log_odds, base)
        by_literal, violated = index_terms(left, n_left, n_vars, x, log_odds)
        add_effects(effect, x[:n_vars], log_odds)
        make_sweeps(n_sweeps, stream, x, log_odds, effect, left, by_literal, violated)
        copy_into(states[i], x[:n_vars])
