"""Rao-Blackwellised Gibbs sampling of the query variables, one chain per evidence."""

import numpy as np

from mnlearn.jit import kernel, sum_kernel
from mnlearn.kernels.conditioning import (
    BATCH,
    SYMMETRIC,
    collapse_pairs,
    condition,
    holding_terms,
    log_odds_table,
    room_for,
    table_cost,
)
from mnlearn.kernels.logistic import sigmoid
from mnlearn.kernels.random import advance, chain_seed, fill_logistic, uniform

# Compared with a plain 0, a uint64 would be converted to floating point first.
_NONE = np.uint64(0)
# See `_violation`.
_COUNT = 32
_TWO_VIOLATED = 2 << _COUNT


@kernel
def sample_marginals(
    terms,
    evidence,
    base,
    n_query,
    seed,
    burn_in,
    n_samples,
    n_batches,
    table_share,
    scan_limit,
    first,
    last,
    out,
):
    """Estimate P(query variable = 1 | evidence) for evidence rows `first` to `last`.

    Query variables are updated in order, `burn_in` sweeps uncounted and `n_samples` counted;
    counted sweeps add the probability from which a value is drawn, not the value.

    terms : see `condition`. base : float64, (n_query,), log-odds before any term.
    evidence : uint8, (n_evidence, n_evidence_vars). seed : uint64.
    table_share : the probabilities in all query states are tabled if that takes at most this
        share of the number of updates.
    scan_limit : up to this many query variables, at most 64, terms are scanned; beyond it they
        are kept up to date flip by flip.
    out : float32, (n_evidence, n_batches, n_query). Mean over each of n_batches equal runs of
        consecutive sweeps (the first n_samples % n_batches runs have one sweep more).
    """
    left = room_for(terms)
    batch_end = np.empty(n_batches, np.int64)
    for b in range(n_batches):
        batch_end[b] = (b + 1) * (n_samples // n_batches) + min(b + 1, n_samples % n_batches)
    log_odds = np.empty(n_query)
    effect = np.empty((n_query, n_query))
    x = np.empty(n_query, np.uint8)
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        log_odds[:] = base
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds, left)
        state = chain_seed(seed, evidence[i])
        for v in range(n_query):
            state = advance(state)
            x[v] = uniform(state) < 0.5
        n_updates = n_query * (burn_in + n_samples)
        if table_cost(left, n_left, n_query) <= table_share * n_updates:
            _sample_from_table(log_odds, left, n_left, x, state, burn_in, batch_end, out[i])
        else:
            n_left = collapse_pairs(left, n_left, log_odds, effect)
            run = (left, n_left, x, state, burn_in, batch_end, out[i])
            if n_query <= scan_limit:
                _sample_by_scans(log_odds, effect, *run)
            else:
                _sample_by_flips(log_odds, effect, *run)


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
        for v in range(n_query):
            out[b, v] = total[v] / n_sweeps


@kernel
def _sample_by_scans(log_odds, effect, left, n_left, x, stream, burn_in, batch_end, out):
    """Run a chain of up to 64 variables whose state is one word.

    Effects of single variables are kept up to date; the other terms of a variable are looked
    at anew, several at a time, when one of its neighbours has changed.
    """
    n_query = len(x)
    entry_start, mask, asked, signed = _entries_by_variable(left, n_left, n_query)
    neighbours = _neighbours(effect, entry_start, mask)
    one = np.uint64(1)
    _add_effects(effect, x, log_odds)
    state = np.uint64(0)
    for v in range(n_query):
        state |= np.uint64(x[v]) << np.uint64(v)
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
                bit = one << np.uint64(v)
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
                    _flip_effects(effect, v, drawn, log_odds)
            sweep += 1
            if sweep > 0:
                _add_sigmoids(seen, total)
        for v in range(n_query):
            out[b, v] = total[v] / n_sweeps


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
def _entries_by_variable(left, n_left, n_query):
    """Return, by variable, the conditions (mask, asked) and weights of its terms.

    A term adds its weight to the log-odds of a variable if the state agrees with `asked` on
    the bits of `mask`; the sign is that of the variable's own literal.
    """
    start, var, value, weight, owner = left
    entry_start = np.zeros(n_query + 1, np.int64)
    for t in range(n_left):
        if owner[t] != SYMMETRIC:
            entry_start[owner[t] + 1] += 1
        else:
            for k in range(start[t], start[t + 1]):
                entry_start[var[k] + 1] += 1
    for v in range(n_query):
        entry_start[v + 1] += entry_start[v]
    place = entry_start[:-1].copy()
    n_entries = entry_start[n_query]
    mask = np.empty(n_entries, np.uint64)
    asked = np.empty(n_entries, np.uint64)
    signed = np.empty(n_entries)
    for t in range(n_left):
        all_vars = np.uint64(0)
        all_asked = np.uint64(0)
        for k in range(start[t], start[t + 1]):
            all_vars |= np.uint64(1) << np.uint64(var[k])
            all_asked |= np.uint64(value[k]) << np.uint64(var[k])
        if owner[t] != SYMMETRIC:
            e = place[owner[t]]
            mask[e], asked[e], signed[e] = all_vars, all_asked, weight[t]
            place[owner[t]] += 1
            continue
        for k in range(start[t], start[t + 1]):
            e = place[var[k]]
            mask[e] = all_vars & ~(np.uint64(1) << np.uint64(var[k]))
            asked[e] = all_asked
            signed[e] = weight[t] if value[k] else -weight[t]
            place[var[k]] += 1
    return entry_start, mask, asked, signed


@kernel
def _neighbours(effect, entry_start, mask):
    """Return for each variable the set of those whose log-odds it matters to, as a word."""
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
def _sample_by_flips(log_odds, effect, left, n_left, x, stream, burn_in, batch_end, out):
    """Run a chain that keeps every log-odds up to date; only a changed value costs work."""
    n_query = len(x)
    # One place more than variables; see `_update_terms`.
    state, odds = np.zeros(n_query + 1, np.uint8), np.zeros(n_query + 1)
    state[:n_query], odds[:n_query] = x, log_odds
    by_literal, violated = _index_terms(left, n_left, n_query, state, odds)
    _add_effects(effect, x, odds)
    probability = np.empty(n_query)
    stale = np.ones(n_query + 1, np.bool_)
    total = np.empty(n_query)
    sweep = -burn_in
    for b in range(len(batch_end)):
        total[:] = 0.0
        n_sweeps = batch_end[b] - max(sweep, 0)
        while sweep < batch_end[b]:
            if sweep == 0:
                total[:] = 0.0
            for v in range(n_query):
                if stale[v]:
                    probability[v] = sigmoid(odds[v])
                    stale[v] = False
                p = probability[v]
                total[v] += p
                stream = advance(stream)
                drawn = uniform(stream) < p
                if drawn != state[v]:
                    state[v] = drawn
                    _flip_effects(effect, v, drawn, odds)
                    _mark_affected(effect, v, stale)
                    _update_terms(v, state, left, by_literal, violated, odds, stale)
            sweep += 1
        for v in range(n_query):
            out[b, v] = total[v] / n_sweeps


@kernel
def draw_states(terms, base, n_sweeps, seed, first, last, out):
    """Write the states of independent chains after `n_sweeps` sweeps over all variables.

    terms : see `condition`, all variables in the query. seed : uint64; chain i depends on it and
    on i. out : uint8, (n_chains, n_vars).
    """
    n_vars = len(base)
    left = room_for(terms)
    # One place more than variables; see `_update_terms`.
    log_odds = np.zeros(n_vars + 1)
    x = np.zeros(n_vars + 1, np.uint8)
    nothing = np.empty((1, 0), np.uint8)
    held = holding_terms(terms, nothing)[1]
    thresholds = np.empty(n_vars)
    stale = np.empty(n_vars + 1, np.bool_)
    effect = np.empty((n_vars, n_vars))
    for i in range(first, last):
        log_odds[:n_vars] = base
        n_left = condition(terms, held, log_odds, left)
        n_left = collapse_pairs(left, n_left, log_odds, effect)
        stream = chain_seed(seed + np.uint64(i), nothing[0])
        for v in range(n_vars):
            stream = advance(stream)
            x[v] = uniform(stream) < 0.5
        by_literal, violated = _index_terms(left, n_left, n_vars, x, log_odds)
        _add_effects(effect, x[:n_vars], log_odds)
        for _ in range(n_sweeps):
            stream = fill_logistic(stream, thresholds)
            for v in range(n_vars):
                drawn = thresholds[v] < log_odds[v]
                if drawn != x[v]:
                    x[v] = drawn
                    _flip_effects(effect, v, drawn, log_odds)
                    _update_terms(v, x, left, by_literal, violated, log_odds, stale)
        out[i] = x[:n_vars]


@kernel
def _add_effects(effect, x, log_odds):
    """Add to the log-odds the effects of all variables that are 1."""
    for v in range(len(x)):
        if x[v]:
            for u in range(len(x)):
                log_odds[u] += effect[v, u]


@kernel
def _flip_effects(effect, v, now_one, log_odds):
    """Add or take away the effects of a variable that has changed."""
    sign = 1.0 if now_one else -1.0
    for u in range(len(effect)):
        log_odds[u] += sign * effect[v, u]


@kernel
def _mark_affected(effect, v, stale):
    """Mark the variables whose log-odds depend on v alone."""
    for u in range(len(effect)):
        stale[u] |= effect[v, u] != 0.0


@kernel
def _violation(v):
    """Return what a violated literal on variable v adds to the word kept for its term.

    The word has the number of violated literals above bit _COUNT and the sum of their
    variables below: with one of them, its variable.
    """
    return (np.int64(1) << _COUNT) + np.int64(v)


@kernel
def _index_terms(left, n_left, n_query, x, log_odds):
    """Return the terms of each variable and a word on the violated literals of each term.

    log_odds : added to, so as to hold every variable's log-odds in state `x`.
    Returned: (start, term), the terms that ask variable v for value a being
        term[start[2 * v + a]:start[2 * v + a + 1]]; and violated, see `_violation`.
    """
    start, var, value, weight, owner = left
    n_literals = start[n_left]
    literal_start = np.zeros(2 * n_query + 1, np.int64)
    for k in range(n_literals):
        literal_start[2 * var[k] + value[k] + 1] += 1
    for v in range(2 * n_query):
        literal_start[v + 1] += literal_start[v]
    place = literal_start[:-1].copy()
    term = np.empty(n_literals, np.int32)
    violated = np.zeros(n_left, np.int64)
    for t in range(n_left):
        for k in range(start[t], start[t + 1]):
            v = var[k]
            term[place[2 * v + value[k]]] = t
            place[2 * v + value[k]] += 1
            if x[v] != value[k]:
                violated[t] += _violation(v)
        count = violated[t] >> _COUNT
        if owner[t] != SYMMETRIC:
            if count == 0:
                log_odds[owner[t]] += weight[t]
        elif count == 0:
            for k in range(start[t], start[t + 1]):
                log_odds[var[k]] += weight[t] if x[var[k]] else -weight[t]
        elif count == 1:
            # The violated literal asks for the value its variable does not have.
            v = violated[t] - _violation(0)
            log_odds[v] += -weight[t] if x[v] else weight[t]
    return (literal_start, term), violated


@kernel
def _update_terms(v, x, left, by_literal, violated, log_odds, stale):
    """Bring log-odds up to date after x[v] has changed, and mark those that change as stale.

    A symmetric term matters to the log-odds of a variable if its other literals hold: with no
    violated literal to all its variables, with one to that literal's variable alone. With more
    it matters to none; what is added then goes to a spare place at the end of `x`, `log_odds`
    and `stale`, because how many are violated is hard to foresee and a wrong guess of the
    processor costs more than the addition.
    """
    start, var, _, weight, owner = left
    literal_start, term = by_literal
    own = _violation(v)
    spare = len(x) - 1
    for asked in range(2):
        holds = x[v] == asked
        before = own if holds else 0
        after = 0 if holds else own
        for k in range(literal_start[2 * v + asked], literal_start[2 * v + asked + 1]):
            t = term[k]
            others = violated[t] - before  # without the literal on v
            violated[t] = others + after
            change = weight[t] if holds else -weight[t]
            if others == 0:
                if owner[t] != SYMMETRIC:
                    log_odds[owner[t]] += change
                    stale[owner[t]] = True
                    continue
                for j in range(start[t], start[t + 1]):
                    u = var[j]
                    if u != v:
                        log_odds[u] += change if x[u] else -change
                        stale[u] = True
            else:
                one = (others < _TWO_VIOLATED) & (owner[t] == SYMMETRIC)
                u = others - _violation(0) if one else spare
                log_odds[u] += -change if x[u] else change
                stale[u] = True
