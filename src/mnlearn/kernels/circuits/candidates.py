"""Candidate splits: what each gains by the counts in the data, and a queue of groups of them.

A candidate extends a feature by a literal of another variable; a group has one for each column.
`key`, (2, n_groups), is minus the best known score of each group, rounded, or infinity: row `FRESH`
for groups whose gains are up to date, `STALE` for the others. `winner`, (2, 2 n_groups), is a
tournament of each row: group g is entry n_groups + g, entry i the better of the entries 2 i and 2 i
+ 1. n_groups is a power of two, at least 2.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.jit import kernel

_ITERATIONS = 50
_TOLERANCE = 1e-9
_MAX_STEP = 2.0
_NO_PROBABILITY = 1e-12


@kernel
def count_ones(satisfied, ones_start, ones_var, weight, count):
    """Add up the weight of the ones of each column in the rows of a bit set; return that of the
    rows.
    """
    count[:] = 0.0
    total = 0.0
    for word in range(len(satisfied)):
        left = satisfied[word]
        while left:
            i = word * 64 + np.int64(lowest_bit(left))
            left &= left - np.uint64(1)
            total += weight[i]
            for k in range(ones_start[i], ones_start[i + 1]):
                count[ones_var[k]] += weight[i]
    return total


@kernel
def _best_weight(a, q, rest, n, l1, precision, w):
    """Maximise a w - n log(rest + q e^w) - l1 |w| - precision w^2 / 2 by Newton steps from w."""
    for _ in range(_ITERATIONS):
        r = q * np.exp(w)
        share = r / (rest + r)
        slope = a - n * share - precision * w
        if w == 0.0:
            if abs(slope) <= l1:
                return 0.0
            side = 1.0 if slope > 0.0 else -1.0
        else:
            side = 1.0 if w > 0.0 else -1.0
        slope -= l1 * side
        curvature = n * share * (1.0 - share) + precision
        step = slope / max(curvature, 1e-300)
        step = min(max(step, -_MAX_STEP), _MAX_STEP)
        new = w + step
        # Crossing 0 changes the penalty's slope: stop there and look again.
        if new * side <= 0.0:
            new = 0.0
        if abs(new - w) <= _TOLERANCE * (1.0 + abs(w)):
            return new
        w = new
    return w


@kernel
def extension_gain(n, l1, precision, count, count_of, prob, prob_of):
    """Return the gain in the penalised log-likelihood of f & X_v and f & not X_v, and their
    weights.

    The two are exclusive, so with all other weights fixed the gain is, at the best weights w0 and
    w1, c0 w0 + c1 w1 - n log(1 + q0 (e^w0 - 1) + q1 (e^w1 - 1)) less the penalties (Lowd &
    Rooshenas 2013, Section 3), which is concave in both. It is 0 where f with one value of X_v has
    no probability. count, count_of : examples with f and X_v = 1, and with f; prob, prob_of : under
    the model.
    """
    q1 = prob
    q0 = prob_of - q1
    if not _possible(q0, q1, prob_of):
        return 0.0, 0.0, 0.0
    c1 = count
    c0 = count_of - c1
    w0 = 0.0
    w1 = 0.0
    rest = max(1.0 - prob_of, 0.0)
    for _ in range(_ITERATIONS):
        before0 = w0
        before1 = w1
        w0 = _best_weight(c0, q0, rest + q1 * np.exp(w1), n, l1, precision, w0)
        w1 = _best_weight(c1, q1, rest + q0 * np.exp(w0), n, l1, precision, w1)
        if abs(w0 - before0) + abs(w1 - before1) <= 1e-7 * (1.0 + abs(w0) + abs(w1)):
            break
    total = rest + q0 * np.exp(w0) + q1 * np.exp(w1)
    gain = (
        c0 * w0
        + c1 * w1
        - n * np.log(total / (rest + q0 + q1))
        - l1 * (abs(w0) + abs(w1))
        - 0.5 * precision * (w0 * w0 + w1 * w1)
    )
    return gain, w0, w1


@kernel
def extension_bounds(n, l1, precision, count, count_of, prob, prob_of, bound):
    """Find upper bounds of the gains of `extension_gain` for all columns.

    By duality, the L1 penalty lets c0 and c1 each move by at most l1 before the likelihood is
    maximised. Every such move bounds the gain; here both move towards what the model expects,
    without the prior.
    """
    for v in range(len(bound)):
        bound[v] = extension_bound(n, l1, precision, count[v], count_of, prob[v], prob_of)


@kernel
def extension_bound(n, l1, precision, count, count_of, prob, prob_of):
    """Return an upper bound of the gain of one column; see `extension_bounds`."""
    rest = max(1.0 - prob_of, 0.0)
    q1 = prob
    q0 = prob_of - q1
    if not _possible(q0, q1, prob_of):
        return 0.0
    if rest <= _NO_PROBABILITY:
        return extension_gain(n, l1, precision, count, count_of, q1, prob_of)[0]
    a1 = _moved(count, n * q1, l1)
    a0 = _moved(count_of - count, n * q0, l1)
    return (
        _likelihood_gain(a0, n * q0)
        + _likelihood_gain(a1, n * q1)
        + _likelihood_gain(n - a0 - a1, n * rest)
    )


@kernel
def _possible(q0, q1, prob_of):
    return min(q0, q1) > _NO_PROBABILITY * prob_of


@kernel
def _moved(count, expected, most):
    """Return a count moved towards the expected count, by at most `most`."""
    return max(count - most, expected) if count > expected else min(count + most, expected)


@kernel
def _likelihood_gain(count, expected):
    """Return count log(count / expected), the part of one outcome in a Kullback-Leibler sum."""
    if count <= 0.0 or count == expected:
        return 0.0
    return count * np.log(count / expected)


STALE = 0
FRESH = 1
# What is known of a candidate since the last split: its gain, and the edges that it adds.
EXACT = 1
COUNTED = 2
# What the search needs before it can go on.
NOTHING_SCORES = 0
COUNT_GROUP = 1
RENEW_GAINS = 2
COUNT_CANDIDATE = 3
FOUND = 4


@kernel
def set_key(key, winner, row, group, value):
    """Change the key of a group in one row."""
    n_groups = key.shape[1]
    keys = key[row]
    tree = winner[row]
    keys[group] = value
    i = (n_groups + group) // 2
    while i > 0:
        left = tree[2 * i]
        right = tree[2 * i + 1]
        tree[i] = left if keys[left] <= keys[right] else right
        i //= 2


@kernel
def rank(key, winner):
    """Fill in both tournaments."""
    n_groups = key.shape[1]
    for row in range(2):
        for g in range(n_groups):
            winner[row, n_groups + g] = g
        for i in range(n_groups - 1, 0, -1):
            left = winner[row, 2 * i]
            right = winner[row, 2 * i + 1]
            winner[row, i] = left if key[row, left] <= key[row, right] else right


@kernel
def first(key, winner):
    """Return the row and the group of the least key of both rows."""
    stale = winner[STALE, 1]
    fresh = winner[FRESH, 1]
    a = key[STALE, stale]
    b = key[FRESH, fresh]
    if a < b or (a == b and stale < fresh):
        return STALE, stale
    return FRESH, fresh


@kernel
def best_of(gain, edges, prices):
    """Return the best score of one group at the prices, rounded, and its first column."""
    price, split_cost, tolerance = prices
    parts = 1.0 / tolerance
    best = -np.inf
    var = 0
    for v in range(len(gain)):
        score = np.rint((gain[v] - (price * edges[v] + split_cost)) * parts)
        if score > best:
            best = score
            var = v
    return best * tolerance, var


@kernel
def push(queue, row, groups, gain, edges, prices):
    """Rank groups by their best scores in one row; a group without a candidate is taken out."""
    key, winner = queue
    for g in groups:
        best, _ = best_of(gain[g], edges[g], prices)
        set_key(key, winner, row, g, -best)


@kernel
def take_stale(key, winner, groups):
    """Take the first stale groups, as many as `groups` has room for; return their number."""
    for k in range(len(groups)):
        group = winner[STALE, 1]
        if key[STALE, group] == np.inf:
            return k
        groups[k] = group
        set_key(key, winner, STALE, group, np.inf)
    return len(groups)


@kernel
def renew_bounds(groups, slots, gain, terms):
    """Replace the gains of candidates by bounds of them, but for those that were dropped."""
    n, l1, precision, count, count_of, prob, prob_of, _ = terms
    for k in range(len(groups)):
        g = groups[k]
        s = slots[k]
        for v in range(gain.shape[1]):
            if gain[g, v] > -np.inf:
                gain[g, v] = extension_bound(
                    n, l1, precision, count[g, v], count_of[g], prob[s, v], prob_of[s]
                )


@kernel
def settle(queue, known, prices, terms, sizes, out, next_key):
    """Find the best candidate, or what has to be known before that; return a code.

    known : gain, edges and state, (n_groups, n_columns), and the edges of the circuit when those of
    each group were last counted. terms : what `extension_gain` needs, of groups and slots of
    probabilities, and the slot of each group; without slots the gains are exact. sizes : the edges
    of the circuit, those of a split at most, and the growth after which edges are counted again.

    out, next_key : overwritten by a group and a column, and by the least key of the other groups.
    """
    key, winner = queue
    gain, edges, _, counted = known
    n_edges, room, growth = sizes
    while True:
        row, g = first(key, winner)
        if not key[row, g] < 0.0:
            return NOTHING_SCORES
        out[0] = g
        if n_edges > growth * counted[g]:
            return COUNT_GROUP
        if row == STALE:
            return RENEW_GAINS
        for v in range(gain.shape[1]):
            if edges[g, v] > room:
                gain[g, v] = -np.inf
        set_key(key, winner, FRESH, g, np.inf)
        wanted = _settle_group(queue, known, prices, terms, g, out, next_key)
        if wanted != NOTHING_SCORES:
            return wanted


@kernel
def _settle_group(queue, known, prices, terms, g, out, next_key):
    """Find gains of one group, taken out of the queue, while it has the best candidate."""
    key, winner = queue
    gain, edges, state, _ = known
    exact = len(terms[7]) == 0
    row, other = first(key, winner)
    least = key[row, other]
    next_key[0] = least
    best, v = best_of(gain[g], edges[g], prices)
    while best > -np.inf:
        out[1] = v
        if not exact and not state[g, v] & EXACT:
            gain[g, v] = _gain_of(g, v, terms)
            state[g, v] |= EXACT
        elif not state[g, v] & COUNTED:
            return COUNT_CANDIDATE
        elif best > 0.0 and -best <= least:
            set_key(key, winner, FRESH, g, -best)
            return FOUND
        best, v = best_of(gain[g], edges[g], prices)
        if -best > least or (-best == least and g > other) or not best > 0.0:
            break
    if best > -np.inf:
        set_key(key, winner, FRESH, g, -best)
    return NOTHING_SCORES


@kernel
def _gain_of(g, v, terms):
    n, l1, precision, count, count_of, prob, prob_of, slot = terms
    s = slot[g]
    return extension_gain(n, l1, precision, count[g, v], count_of[g], prob[s, v], prob_of[s])[0]
