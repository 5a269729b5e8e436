"""A queue of groups of candidate splits, and the search for the best candidate among them.

A group has one candidate for each variable. `key` is minus the best known score of each group, or
infinity for a group that is not in the queue: float64 (2, n_groups), row `FRESH` for groups whose
gains are up to date, row `STALE` for the others. `winner` has a tournament of each row, int64
(2, 2 * n_groups): entry 1 is the group of the least key, the lowest of equal ones, entry i the
better of the entries 2 * i and 2 * i + 1, and entry n_groups + g is group g. n_groups is a power of
two, at least 2, for which there is room.
"""

import numpy as np

from mnlearn.kernels.circuits.extensions import extension_bound, extension_gain
from mnlearn.kernels.jit import kernel

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
def best_of(gain, edges, price, split_cost):
    """Return the best score of one group, and the first variable that has it."""
    best = -np.inf
    var = 0
    for v in range(len(gain)):
        score = gain[v] - (price * edges[v] + split_cost)
        if score > best:
            best = score
            var = v
    return best, var


@kernel
def push(queue, row, groups, gain, edges, price, split_cost):
    """Rank groups by their best scores in one row; a group without a candidate is taken out.

    Returns the best score of the last group.
    """
    key, winner = queue
    best = -np.inf
    for g in groups:
        best, _ = best_of(gain[g], edges[g], price, split_cost)
        set_key(key, winner, row, g, -best)
    return best


@kernel
def take_stale(key, winner, groups):
    """Take the first stale groups out of the queue, as many as `groups` has room for.

    Returns their number.
    """
    for k in range(len(groups)):
        group = winner[STALE, 1]
        if key[STALE, group] == np.inf:
            return k
        groups[k] = group
        set_key(key, winner, STALE, group, np.inf)
    return len(groups)


@kernel
def renew_bounds(groups, slots, gain, terms):
    """Replace the gains of candidates by bounds of them, but for those that were dropped.

    slots : int64, the row of each group in the probabilities. terms : as for `settle`.
    """
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
def settle(queue, known, prices, terms, n_edges, room, out, next_key):
    """Find the best candidate, or what has to be known before the search can go on.

    queue : key, winner. known : what is known of the groups: gain, float64, and edges, int64, both
    (n_groups, n_vars); state, uint8 of the same shape; counted, int64 (n_groups,), the edges of the
    circuit when the edges of a group were last found. prices : the price of an edge, the price of
    a split, and the growth of the circuit after which the edges of a group are found again.
    terms : what `extension_gain` needs: n, l1, precision; counts (n_groups, n_vars) and
    (n_groups,); probabilities (n_slots, n_vars) and (n_slots,), and the slot of each group. If
    there are no slots the gains are exact. n_edges, room : of the circuit, and of a split at most.
    out, next_key : int64 (2,) and float64 (1,), overwritten: a group and a variable, and the least
    key of the other groups. Returns one of the codes above.
    """
    key, winner = queue
    gain, edges, _, counted = known
    growth = prices[2]
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
    price, split_cost, _ = prices
    exact = len(terms[7]) == 0
    row, other = first(key, winner)
    least = key[row, other]
    next_key[0] = least
    best, v = best_of(gain[g], edges[g], price, split_cost)
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
        best, v = best_of(gain[g], edges[g], price, split_cost)
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
