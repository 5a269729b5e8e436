"""The factor graph that is left of tables and features given evidence."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.jit import copy_into, inlined, kernel

# In evidence: the state is asked for.
_UNKNOWN = 255


class Given(NamedTuple):
    """The factors of a model: tables, and features, whose value is exp(weight) where they hold.

    arity, start, scope, offset, log_table : see `Factors`.
    feature_start, feature_scope, weight : the different variables of each feature, and its weight.
    asked_at, asked : the states of member e of a feature are asked[asked_at[e]:asked_at[e + 1]],
        uint8, whether the feature holds in them.
    """

    arity: NDArray[np.int64]
    start: NDArray[np.int64]
    scope: NDArray[np.int32]
    offset: NDArray[np.int64]
    log_table: NDArray[np.float64]
    feature_start: NDArray[np.int64]
    feature_scope: NDArray[np.int64]
    weight: NDArray[np.float64]
    asked_at: NDArray[np.int64]
    asked: NDArray[np.uint8]


class TableGraph(NamedTuple):
    """Factors over the variables that are not known, in both directions.

    first : int64, (n_vars + 1,). Variable v has the states first[v]:first[v + 1].
    base : float64, (n_states,), scores without any message; minus infinity for excluded states.
    start, scope, offset, log_table : see `Factors`; no factor is without variables. Features come
        after the tables and have no cells.
    weight, asked : of features; whether they hold in the states of a member is at its slot.
    share : float64, (n_factors,), how much the messages of each factor count in scores.
    slot : int64, (n_members + 1,). The message to the variable scope[e] is at slot[e]:slot[e + 1].
    touch_start, touch : int64. Variable v is in the factors touch[touch_start[v]:
        touch_start[v + 1]].
    order : int64, the factors that count, from roots on.
    is_forest : whether no path leads from a variable back to it over these factors.
    """

    first: NDArray[np.int64]
    base: NDArray[np.float64]
    start: NDArray[np.int64]
    scope: NDArray[np.int64]
    offset: NDArray[np.int64]
    log_table: NDArray[np.float64]
    weight: NDArray[np.float64]
    asked: NDArray[np.uint8]
    share: NDArray[np.float64]
    slot: NDArray[np.int64]
    touch_start: NDArray[np.int64]
    touch: NDArray[np.int64]
    order: NDArray[np.int64]
    is_forest: bool


@kernel
def longest(start):
    """Return the greatest distance of neighbours: the size of the largest of some lists."""
    most = 0
    for k in range(len(start) - 1):
        most = max(most, start[k + 1] - start[k])
    return most


@kernel
def graph_given(factors, values):
    """Return the graph given the known values, and the log of what they are worth by themselves.

    That is minus infinity if single tables tell that the evidence is impossible.
    factors : Given. values : uint8, (n_vars,), 255 where a variable is not known.
    """
    arity = factors.arity
    start, scope, offset, log_table, constant = _slice_tables(factors, values)
    own_start, own_scope, weight, asked, own_constant = _slice_features(factors, values)
    n_tables, n_members, n_cells = len(start) - 1, len(scope), 0
    for v in scope:
        n_cells += arity[v]
    offset = np.concatenate((offset, np.full(len(weight), offset[-1])))
    weight = np.concatenate((np.zeros(n_tables), weight))
    asked = np.concatenate((np.zeros(n_cells, np.uint8), asked))
    start = np.concatenate((start, own_start[1:]))
    for k in range(n_tables + 1, len(start)):
        start[k] += n_members
    scope = np.concatenate((scope, own_scope))
    first, slot = np.zeros(len(arity) + 1, np.int64), np.zeros(len(scope) + 1, np.int64)
    for v in range(len(arity)):
        first[v + 1] = first[v] + arity[v]
    for e in range(len(scope)):
        slot[e + 1] = slot[e] + arity[scope[e]]
    touch_start, touch = _factors_of_variables(start, scope, len(arity))
    base = np.zeros(first[-1])
    for v in range(len(arity)):
        if values[v] != _UNKNOWN:
            base[first[v] : first[v + 1]] = -np.inf
            base[first[v] + values[v]] = 0.0
    graph = TableGraph(
        first, base, start, scope, offset, log_table, weight, asked, np.ones(len(start) - 1), slot,
        touch_start, touch, np.empty(0, np.int64), False,
    )  # fmt: skip
    possible = _exclude_states(graph)
    order, is_forest = breadth_first(graph, np.ones(len(start) - 1, np.bool_))
    graph = with_order(graph, log_table, base, graph.share, order, is_forest)
    return graph, constant + own_constant if possible else -np.inf


@inlined
def with_order(graph, log_table, base, share, order, is_forest):
    """Return a graph of which some arrays are others."""
    return TableGraph(
        graph.first, base, graph.start, graph.scope, graph.offset, log_table, graph.weight,
        graph.asked, share, graph.slot, graph.touch_start, graph.touch, order, is_forest,
    )  # fmt: skip


@kernel
def _factors_of_variables(start, scope, n_vars):
    """Return `touch_start` and `touch` of a graph."""
    touch_start = np.zeros(n_vars + 1, np.int64)
    for v in scope:
        touch_start[v + 1] += 1
    for v in range(n_vars):
        touch_start[v + 1] += touch_start[v]
    place, touch = touch_start[:-1].copy(), np.empty(len(scope), np.int64)
    for f in range(len(start) - 1):
        for v in scope[start[f] : start[f + 1]]:
            touch[place[v]] = f
            place[v] += 1
    return touch_start, touch


@kernel
def _slice_features(factors, values):
    """Return the features that known values leave open, and the sum of the weights that hold.

    They are start, scope, weight and asked, the states of one member after those of the other.
    """
    n_features, n_states = len(factors.weight), len(factors.asked)
    start, scope = np.zeros(n_features + 1, np.int64), np.empty(n_states, np.int64)
    weight, asked = np.empty(n_features), np.empty(n_states, np.uint8)
    n, constant = 0, 0.0
    m, at = 0, 0
    for f in range(n_features):
        members, states, holds = m, at, factors.weight[f] != 0.0
        for e in range(factors.feature_start[f], factors.feature_start[f + 1]):
            v, begin = factors.feature_scope[e], factors.asked_at[e]
            if values[v] != _UNKNOWN:
                holds &= factors.asked[begin + values[v]] == 1
                continue
            scope[members] = v
            members += 1
            for x in range(factors.arity[v]):
                asked[states] = factors.asked[begin + x]
                states += 1
        if holds and members == m:
            constant += factors.weight[f]
        elif holds:
            n, m, at = n + 1, members, states
            start[n], weight[n - 1] = m, factors.weight[f]
    return start[: n + 1], scope[:m], weight[:n], asked[:at], constant


@kernel
def _slice_tables(factors, values):
    """Return start, scope, offset and log_table of what is left, and the sum of the constants."""
    arity, start, scope = factors.arity, factors.start, factors.scope
    offset, log_table = factors.offset, factors.log_table
    new_start, new_scope = np.zeros(len(start), np.int64), np.empty(len(scope), np.int64)
    new_offset, new_table = np.zeros(len(start), np.int64), np.empty(len(log_table))
    cells = np.empty(longest(offset), np.int64)
    n, m, constant = 0, 0, 0.0
    for f in range(len(start) - 1):
        begin, n_cells, stride = m, 1, offset[f + 1] - offset[f]
        cells[0] = offset[f]
        for e in range(start[f], start[f + 1]):
            v, known = scope[e], values[scope[e]]
            stride //= arity[v]
            if known == _UNKNOWN:
                new_scope[m] = v
                m += 1
            width = arity[v] if known == _UNKNOWN else 1
            for j in range(n_cells - 1, -1, -1):
                cell = cells[j]
                for x in range(width):
                    cells[j * width + x] = cell + stride * (x if width > 1 else known % _UNKNOWN)
            n_cells *= width
        if m == begin:
            constant += log_table[cells[0]]
            continue
        end = new_offset[n] + n_cells
        for j in range(n_cells):
            new_table[new_offset[n] + j] = log_table[cells[j]]
        n += 1
        new_start[n], new_offset[n] = m, end
    return (
        new_start[: n + 1], new_scope[:m], new_offset[: n + 1], new_table[: new_offset[n]], constant
    )  # fmt: skip


@kernel
def _exclude_states(graph):
    """Exclude states that a factor has in no cell above zero, again and again.

    Returns whether each variable has a state left.
    """
    n = len(graph.start) - 1
    no_message = np.zeros(graph.slot[-1])
    logs = np.empty(longest(graph.offset))
    has_zeros, waits = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for f in range(n):
        for c in range(graph.offset[f], graph.offset[f + 1]):
            has_zeros[f] |= graph.log_table[c] == -np.inf
        waits[f] = has_zeros[f]
    is_left = True
    while is_left:
        is_left = False
        for f in range(n):
            if not waits[f]:
                continue
            waits[f], is_left = False, True
            n_cells = fill_logs(graph, f, graph.base, no_message, logs)
            stride = n_cells
            for e in range(graph.start[f], graph.start[f + 1]):
                v, left = graph.scope[e], False
                first, n_states = graph.first[v], graph.first[v + 1] - graph.first[v]
                stride //= n_states
                for x in range(n_states):
                    if graph.base[first + x] == -np.inf:
                        continue
                    if greatest(logs, n_cells, n_states, stride, x) > -np.inf:
                        left = True
                        continue
                    graph.base[first + x] = -np.inf
                    for g in graph.touch[graph.touch_start[v] : graph.touch_start[v + 1]]:
                        waits[g] |= has_zeros[g] and g != f
                if not left:
                    return False
    return True


@kernel
def fill_logs(graph, f, scores, message, logs):
    """Write the log-belief of each cell of a factor, but for a constant; return their number.

    To the table come the scores of its variables' states without the messages of the factor.
    """
    begin, n_cells = graph.offset[f], graph.offset[f + 1] - graph.offset[f]
    for c in range(n_cells):
        logs[c] = graph.log_table[begin + c]
    stride = n_cells
    for e in range(graph.start[f], graph.start[f + 1]):
        first, last = graph.first[graph.scope[e]], graph.first[graph.scope[e] + 1]
        n_states, slot = last - first, graph.slot[e]
        stride //= n_states
        for x in range(n_states):
            other = scores[first + x] - message[slot + x]
            for block in range(x * stride, n_cells, n_states * stride):
                for c in range(block, block + stride):
                    logs[c] += other
    return n_cells


@kernel
def greatest(values, n_cells, n_states, stride, x):
    """Return the greatest value of the cells in which a variable has state x."""
    found = -np.inf
    for block in range(x * stride, n_cells, n_states * stride):
        for c in range(block, block + stride):
            found = max(found, values[c])
    return found


@kernel
def add_up_to(graph, message, scores):
    """Write the scores that all messages give."""
    first, start, scope, slot, share = (
        graph.first, graph.start, graph.scope, graph.slot, graph.share,
    )  # fmt: skip
    copy_into(scores, graph.base)
    for f in graph.order:
        for e in range(start[f], start[f + 1]):
            v = first[scope[e]]
            for s in range(slot[e], slot[e + 1]):
                scores[v + s - slot[e]] += share[f] * message[s]


@kernel
def breadth_first(graph, chosen):
    """Return the chosen factors in order of their distance from roots, and if they are a forest."""
    n_vars = len(graph.first) - 1
    seen, sent = np.zeros(n_vars, np.bool_), ~chosen
    queue = np.empty(n_vars, np.int64)
    order = np.empty(len(chosen), np.int64)
    is_forest, n = True, 0
    for root in range(n_vars):
        if seen[root]:
            continue
        queue[0], head, tail = root, 0, 1
        seen[root] = True
        while head < tail:
            v = queue[head]
            head += 1
            for f in graph.touch[graph.touch_start[v] : graph.touch_start[v + 1]]:
                if sent[f]:
                    continue
                sent[f] = True
                order[n] = f
                n += 1
                for u in graph.scope[graph.start[f] : graph.start[f + 1]]:
                    is_forest &= u == v or not seen[u]
                    if not seen[u]:
                        seen[u] = True
                        queue[tail] = u
                        tail += 1
    return order[:n], is_forest
