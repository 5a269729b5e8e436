"""The messages of factors, which are tables or features, to their variables."""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import exp_or_zero, log_normal, sigmoid
from mnlearn.kernels.jit import inlined, kernel
from mnlearn.kernels.tables.graphs import fill_logs, greatest
from mnlearn.kernels.tables.runs import LARGE, PAIR, STEP, TABLE

# A sum below this has lost terms that are too small, and is taken again from logarithms.
_SMALL = 1e-200
_TINY = 1e-300


@kernel
def renew(graph, runs, first, last, damping, together, scores, message):
    """Let the factors of places first:last, of one run, send; return the largest change.

    That is the one that there would be without damping; `change` has what is added to each message.
    together : whether the scores stay as they are.
    """
    kind = runs.kind[runs.factor[first]]
    if kind == TABLE:
        return _renew_tables(graph, runs, first, last, damping, together, scores, message)
    is_pair = kind == PAIR
    return _renew_odds(graph, runs, first, last, is_pair, damping, together, scores, message)


@kernel
def _replace(runs, first, last, share, damping, together, scores, message):
    """Put the messages to members first:last in their place; return the largest change.

    `change` has the new ones, which count but for a constant. The entry of the first state that is
    not excluded becomes 0.
    """
    largest, change = 0.0, runs.change
    for m in range(first, last):
        at, begin, zero = runs.at[m], runs.slot[m], np.nan
        for s in range(begin, begin + runs.width[m]):
            difference = 0.0
            if scores[at + s - begin] > -np.inf:
                zero = change[s] if np.isnan(zero) else zero
                difference = change[s] - zero - message[s]
            largest = max(largest, abs(difference))
            change[s] = (1.0 - damping) * difference
            message[s] += change[s]
            if not together:
                scores[at + s - begin] += share * change[s]
    return largest


@kernel
def _renew_odds(graph, runs, first, last, is_pair, damping, together, scores, message):
    """Renew the messages of pairs or features; see `renew`.

    Those to variables of two states are log-odds: the message to the first state is 0.
    """
    start, at, slot, width = runs.start, runs.at, runs.slot, runs.width
    own, others, change, asked = runs.own, runs.others, runs.change, graph.asked
    zero, largest, share, factor = start[first], 0.0, graph.share, runs.factor
    _fill_own(start[first], start[last], at, slot, width, is_pair, asked, scores, message, own)
    if is_pair:
        _fill_ratios(graph, runs, first, last)
    else:
        _fill_arguments(start, first, last, runs.odds, own, others)
    for j in range((start[last] - zero + STEP - 1) // STEP * STEP):
        own[0, j] = others[0, j] + log_normal(own[0, j])
    for k in range(first, last):
        part, begin, end = share[factor[k]], start[k], start[k + 1]
        if is_pair and others[1, begin - zero] <= _SMALL:
            _send_by_logs(graph, runs, factor[k], scores, message)
            own_change = _replace(runs, begin, end, part, damping, together, scores, message)
            largest, end = max(largest, own_change), begin
        for m in range(begin, end):
            s, new = slot[m], own[0, m - zero]
            if width[m] != 2:
                for x in range(s, s + width[m]):
                    change[x] = new if asked[x] else 0.0
                own_change = _replace(runs, m, m + 1, part, damping, together, scores, message)
                largest = max(largest, own_change)
                continue
            new = new if is_pair or asked[s + 1] else -new
            difference = new - (message[s + 1] - message[s])
            largest = max(largest, abs(difference))
            change[s + 1] = (1.0 - damping) * difference
            message[s + 1] += change[s + 1]
            if not together:
                scores[at[m] + 1] += part * change[s + 1]
    return largest


@inlined
def _fill_own(begin, end, at, slot, width, is_pair, asked, scores, message, own):
    """Write the probabilities that literals fail and hold, without the factors' messages.

    The places after the last one have any numbers, so that loops of vector instructions have no
    rest.
    """
    for m in range(begin, end):
        a, s = at[m], slot[m]
        if width[m] == 2:
            x = (scores[a + 1] - message[s + 1]) - (scores[a] - message[s])
            own[1, m - begin] = x if is_pair or asked[s + 1] else -x
        else:
            own[1, m - begin] = _log_odds(a, s, s + width[m], asked, scores, message)
    for j in range((end - begin + STEP - 1) // STEP * STEP):
        x = own[1, j]
        own[0, j], own[1, j] = sigmoid(-x), sigmoid(x)


@inlined
def _log_odds(at, begin, end, asked, scores, message):
    """Return the log-odds of the states in which a literal holds."""
    top = -np.inf
    for s in range(begin, end):
        top = max(top, scores[at + s - begin] - message[s])
    fail, hold = _TINY, _TINY
    for s in range(begin, end):
        chance = exp_or_zero(scores[at + s - begin] - message[s] - top)
        fail, hold = (fail, hold + chance) if asked[s] else (fail + chance, hold)
    return np.log(hold) - np.log(fail)


@inlined
def _fill_ratios(graph, runs, first, last):
    """Write what messages of pairs are logarithms of to own[0], and the least sum to others[1]."""
    own, others, t, zero = runs.own, runs.others, runs.linear, runs.start[first]
    offset, factor, start = graph.offset, runs.factor, runs.start
    for k in range(first, last):
        c, j = offset[factor[k]], start[k] - zero
        x0, x1, y0, y1 = own[0, j], own[1, j], own[0, j + 1], own[1, j + 1]
        u0, u1 = t[c] * y0 + t[c + 1] * y1, t[c + 2] * y0 + t[c + 3] * y1
        v0, v1 = t[c] * x0 + t[c + 2] * x1, t[c + 1] * x0 + t[c + 3] * x1
        own[0, j], own[0, j + 1] = (
            max(u1, _SMALL) / max(u0, _SMALL),
            max(v1, _SMALL) / max(v0, _SMALL),
        )
        others[0, j], others[0, j + 1] = 0.0, 0.0
        others[1, j] = min(min(u0, u1), min(v0, v1))


@inlined
def _fill_arguments(start, first, last, odds, own, others):
    """Write what messages of features are logarithms of to own[0], and what is added to others[0].

    The probability that other literals fail is a sum of products, so that it keeps its digits where
    it is small. There is no division, which a probability of 0 would not allow.
    """
    for k in range(first, last):
        begin, end = start[k] - start[first], start[k + 1] - start[first]
        fail, hold = 0.0, 1.0
        for j in range(begin, end):
            others[0, j], others[1, j] = fail, hold
            fail += hold * own[0, j]
            hold *= own[1, j]
        fail, hold = 0.0, 1.0
        a, b, c = odds[0, k], odds[1, k], odds[2, k]
        for j in range(end - 1, begin - 1, -1):
            p, q = others[1, j] * hold, others[0, j] + others[1, j] * fail
            fail += hold * own[0, j]
            hold *= own[1, j]
            known = a == 0.0 or p > 0.0
            own[0, j] = max(q * b + p * c, _TINY) if known else 1.0
            others[0, j] = a if known else 0.0


@kernel
def _renew_tables(graph, runs, first, last, damping, together, scores, message):
    """Renew the messages of tables; see `renew`."""
    start, at, slot, width = runs.start, runs.at, runs.slot, runs.width
    weights, chance, linear, change = runs.weights, runs.chance, runs.linear, runs.change
    offset, share, factor, largest = graph.offset, graph.share, runs.factor, 0.0
    for k in range(first, last):
        f, part = factor[k], share[factor[k]]
        begin, n_cells = offset[f], offset[f + 1] - offset[f]
        for c in range(n_cells):
            weights[c] = linear[begin + c]
        stride, least = n_cells, 1.0
        for m in range(start[k], start[k + 1]):
            s, end = slot[m], slot[m] + width[m]
            stride //= width[m]
            _times_chances(at[m], s, end, scores, message, chance)
            _times_states(weights, n_cells, chance, s, end, stride)
        stride = n_cells
        for m in range(start[k], start[k + 1]):
            stride //= width[m]
            for x in range(width[m]):
                total = _total(weights, n_cells, width[m], stride, x)
                if scores[at[m] + x] > -np.inf:
                    least = min(least, total)
                    change[slot[m] + x] = log_normal(max(total, _SMALL) / chance[slot[m] + x])
        if not least > _SMALL:
            _send_by_logs(graph, runs, f, scores, message)
        most = _replace(runs, start[k], start[k + 1], part, damping, together, scores, message)
        largest = max(largest, most)
    return largest


@inlined
def _times_chances(at, begin, end, scores, message, chance):
    """Write the chance of each state of a member without its message; the greatest is 1."""
    top = -np.inf
    for s in range(begin, end):
        top = max(top, scores[at + s - begin] - message[s])
    for s in range(begin, end):
        chance[s] = exp_or_zero(scores[at + s - begin] - message[s] - top)


@inlined
def _times_states(weights, n_cells, chance, begin, end, stride):
    """Multiply the cells of a table by the chances of the states of a member."""
    n_states = end - begin
    for x in range(n_states):
        own = chance[begin + x]
        for block in range(x * stride, n_cells, n_states * stride):
            for c in range(block, block + stride):
                weights[c] *= own


@kernel
def _send_by_logs(graph, runs, f, scores, message):
    """Write the messages of a table, but for constants, however far apart its cells are."""
    n_cells = fill_logs(graph, f, scores, message, runs.logs)
    top = greatest(runs.logs, n_cells, 1, n_cells, 0)
    for c in range(n_cells):
        runs.weights[c] = np.exp(runs.logs[c] - top)
    stride = n_cells
    for e in range(graph.start[f], graph.start[f + 1]):
        first, slot = graph.first[graph.scope[e]], graph.slot[e]
        n_states = graph.slot[e + 1] - slot
        stride //= n_states
        for x in range(n_states):
            other = scores[first + x] - message[slot + x]
            if other > -np.inf:
                log_sum = _log_sum(runs, top, n_cells, n_states, stride, x)
                runs.change[slot + x] = top + log_sum - other


@inlined
def _total(weights, n_cells, n_states, stride, x):
    """Return the sum of the weights of cells in which a variable has state x."""
    total = 0.0
    for block in range(x * stride, n_cells, n_states * stride):
        for c in range(block, block + stride):
            total += weights[c]
    return total


@kernel
def _log_sum(runs, top, n_cells, n_states, stride, x):
    """Return the log of the sum of the weights of cells in which a variable has state x."""
    total = _total(runs.weights, n_cells, n_states, stride, x)
    if total > _SMALL:
        return np.log(total)
    own, total = greatest(runs.logs, n_cells, n_states, stride, x), 0.0
    for block in range(x * stride, n_cells, n_states * stride):
        for c in range(block, block + stride):
            total += np.exp(runs.logs[c] - own)
    return own - top + np.log(total)


@kernel
def log_feature(graph, f, scores, message):
    """Return the log of the sum of the beliefs of a feature and its variables' states."""
    total, fail, hold = 0.0, 0.0, 1.0
    for e in range(graph.start[f], graph.start[f + 1]):
        first, slot = graph.first[graph.scope[e]], graph.slot[e]
        own = scores[first : first + graph.slot[e + 1] - slot] - message[slot : graph.slot[e + 1]]
        whole, fails, holds = log_total(own), 0.0, 0.0
        for x in range(len(own)):
            p = np.exp(own[x] - whole)
            fails, holds = (fails, holds + p) if graph.asked[slot + x] else (fails + p, holds)
        total, fail, hold = total + whole, fail + hold * fails, hold * holds
    w = graph.weight[f]
    if w >= LARGE:
        return total + (w + np.log(hold + fail * np.exp(-w)) if hold > 0.0 else 0.0)
    return total + np.log(max(fail + hold * np.exp(w), _TINY))


@kernel
def log_total(logs):
    """Return the logarithm of the sum of exponentials."""
    top, total = logs.max(), 0.0
    for x in logs:
        total += np.exp(x - top)
    return top + np.log(total)
