"""Passes over the nodes of random circuits, against recursion and sums over states."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_circuits import N, grown
from made_words import Stream, word
from mnlearn.kernels.arithmetic.splitmix import advance, mix
from mnlearn.kernels.circuits.evaluation import (
    LANES,
    LOG_ZERO,
    add_expected,
    draw_state,
    log_derivatives,
    log_values,
    most_probable_state,
)
from mnlearn.kernels.circuits.structure import (
    NOT_DECOMPOSABLE,
    NOT_SMOOTH,
    SOUND,
    find_fault,
    find_overlap,
    scopes,
)
from oracles import all_states


def layout(circuit):
    return circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves


def children(circuit, i):
    return circuit.child[circuit.start[i] : circuit.start[i + 1]].tolist()


def values(circuit, leaves):
    """Log-values of all nodes from those of the leaves."""
    found = [*leaves]
    for i, is_sum in enumerate(circuit.is_sum):
        terms = [found[c] for c in children(circuit, i)]
        found.append(np.logaddexp.reduce(terms) if is_sum else sum(terms))
    return np.array(found)


@pytest.mark.parametrize("n_vars", [3, 64, 65, 130])
@pytest.mark.parametrize("seed", range(6))
def test_sums_whose_terms_do_not_exclude_each_other(seed, n_vars):
    rng = np.random.default_rng(seed)
    n_leaves = 2 * n_vars + 3
    near = [v for v in (0, 1, 62, 63, 64, 65, n_vars - 1) if v < n_vars]
    nodes, is_sum, fixed = [], [], [{(v, x)} for v in range(n_vars) for x in (0, 1)]
    fixed += [set()] * 3
    first = -1
    while len(nodes) < 12:
        v = int(rng.choice(near))
        own = [2 * v, 2 * v + 1]
        if nodes and rng.random() < 0.8:
            own = rng.integers(n_leaves, n_leaves + len(nodes), int(rng.integers(1, 4))).tolist()
            own += [2 * v + int(rng.integers(2))]
        if rng.random() < 0.3:
            own = [2 * v + int(rng.integers(2)), n_leaves - 1 - int(rng.integers(3))]
        kind = own == [2 * v, 2 * v + 1] or rng.random() < 0.4
        sets = [fixed[c] for c in own]
        if kind and first < 0:
            for e, one in enumerate(sets):
                for other in sets[:e]:
                    if not any((u, 1 - x) in other for u, x in one) and first < 0:
                        first = len(nodes)
        nodes.append(own)
        is_sum.append(kind)
        fixed.append(set.intersection(*sets) if kind else set.union(*sets))
    start = np.cumsum([0, *map(len, nodes)])
    child = np.concatenate(nodes).astype(np.int32)
    room = np.full((n_leaves + len(nodes), 2, -(-n_vars // 64)), 99, np.uint64)
    found = find_overlap(
        np.array(is_sum, np.uint8), start, child, n_leaves, np.arange(n_vars + 1), room
    )
    assert found == first


def random_leaves(rng, circuit, zeros):
    """Log-values of the leaves of each lane, of which some literals are 0."""
    leaves = rng.normal(size=(circuit.n_leaves, LANES))
    if zeros:
        leaves[: 2 * circuit.n_vars][rng.random((2 * circuit.n_vars, LANES)) < 0.2] = LOG_ZERO
    return leaves


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_derivatives_by_every_node(seed, zeros):
    """The root is linear in a node: its derivative is the root's value with the node's as 1."""
    circuit, _ = grown(seed, n_splits=4)
    rng = np.random.default_rng(seed)
    leaves = random_leaves(rng, circuit, zeros)
    n_nodes = circuit.n_nodes
    logs = np.vstack([leaves, np.empty((n_nodes - len(leaves), LANES))])
    log_values(*layout(circuit), logs, np.empty(LANES), np.empty(LANES))
    found = np.full((n_nodes, LANES), np.nan)
    log_derivatives(*layout(circuit), logs, found, np.full((3, LANES), np.nan))
    for lane in (0, 7, LANES - 1):
        plain = np.where(leaves[:, lane] == LOG_ZERO, 0.0, np.exp(leaves[:, lane]))
        expected = [derivative(circuit, plain, n) for n in range(n_nodes)]
        below = found[:, lane] < LOG_ZERO / 2
        assert_allclose(np.where(below, 0.0, np.exp(found[:, lane])), expected, rtol=1e-9)


def derivative(circuit, leaves, node):
    """The root's value where a node is 1, less that where it is 0."""
    ends = []
    for x in (1.0, 0.0):
        own = [*leaves]
        if node < len(own):
            own[node] = x
        for i, is_sum in enumerate(circuit.is_sum):
            terms = [own[c] for c in children(circuit, i)]
            own.append(sum(terms) if is_sum else np.prod(terms))
            if len(own) - 1 == node:
                own[node] = x
        ends.append(own[-1])
    return ends[0] - ends[1]


@pytest.mark.parametrize("n_rows", [1, LANES - 1, LANES, LANES + 1, 2 * LANES + 3])
def test_expected_counts_of_weighted_rows(n_rows):
    circuit, features = grown(n_rows % 5, n_splits=6)
    rng = np.random.default_rng(n_rows)
    literal, weight = rng.normal(size=(n_rows, 2 * N)), rng.uniform(0.5, 2.0, n_rows)
    states = all_states(N)
    holds, n_parameters = features.satisfied(states), len(circuit.weight)
    columns = 2 * np.arange(N) + states
    energy = literal[:, columns].sum(axis=2) + holds @ circuit.weight
    value = np.logaddexp.reduce(energy, axis=1)
    share = np.exp(energy - value[:, None])
    room = np.full((circuit.n_nodes, LANES), np.nan)
    room[2 * N : circuit.n_leaves] = circuit.weight[:, None]
    scratch = room, np.empty_like(room), np.empty(LANES), np.empty(LANES)
    counts = np.arange(float(n_parameters))
    total = add_expected(layout(circuit), 2 * N, literal, weight, scratch, counts)
    assert total == pytest.approx(weight @ value)
    assert_allclose(counts, np.arange(n_parameters) + weight @ (share @ holds), rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_states_are_drawn_from_the_root_down(seed):
    circuit, _ = grown(seed)
    rng = np.random.default_rng(seed)
    leaves = np.concatenate([np.zeros(2 * N), circuit.weight])
    leaves[2 * rng.integers(N, size=2) + rng.integers(2, size=2)] = -np.inf
    if np.isneginf(leaves[: 2 * N].reshape(N, 2)).all(axis=1).any():
        return
    with np.errstate(invalid="ignore"):
        value = values(circuit, leaves)
    for number in range(12):
        stack, state = np.empty(circuit.n_nodes, np.int64), np.full(N, 9, np.uint8)
        draw_state(*layout(circuit), N, value, np.uint64(seed), np.uint64(number), stack, state)
        seed_word, own = word(advance(np.uint64(seed))), word(advance(np.uint64(number)))
        stream = Stream(mix(word(int(mix(seed_word)) + int(own))))
        waiting, expected = [circuit.n_nodes - 1], np.full(N, 9)
        while waiting:
            n = waiting.pop()
            i = n - circuit.n_leaves
            if n < 2 * N:
                expected[n // 2] = n % 2
            elif i >= 0 and circuit.is_sum[i]:
                share = np.exp(value[children(circuit, i)] - value[n])
                # The last term that is above 0 takes what rounding leaves.
                chosen = int(np.searchsorted(np.cumsum(share), stream.next(), side="right"))
                waiting.append(children(circuit, i)[min(chosen, np.flatnonzero(share)[-1])])
            elif i >= 0:
                waiting += children(circuit, i)
        assert_array_equal(state, expected)


@pytest.mark.parametrize("seed", range(6))
def test_the_most_probable_state_is_that_of_the_first_children(seed):
    """Weights of two sizes, so that many states are equally probable."""
    circuit, features = grown(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 2, len(circuit.weight)).astype(float)
    evidence = rng.integers(0, 2, N)
    literal = np.zeros((N, 2))
    literal[0, 1 - evidence[0]] = literal[N - 1, 1 - evidence[-1]] = -np.inf
    value = np.full(circuit.n_nodes, np.nan)
    value[: circuit.n_leaves] = [*literal.ravel(), *weight]
    stack, state = np.empty(circuit.n_nodes, np.int64), np.full(N, 9, np.uint8)
    found = most_probable_state(*layout(circuit), N, value, stack, state)
    states = all_states(N)
    energy = features.satisfied(states) @ weight + literal[np.arange(N), states].sum(axis=1)
    assert found == energy.max()
    assert energy[(states == state).all(axis=1)] == energy.max()
    waiting, first = [circuit.n_nodes - 1], np.full(N, 9)
    while waiting:
        n = waiting.pop()
        i = n - circuit.n_leaves
        if n < 2 * N:
            first[n // 2] = n % 2
        elif i >= 0:
            own = children(circuit, i)
            waiting += [max(own, key=lambda c: value[c])] if circuit.is_sum[i] else own
    assert_array_equal(state, first)


N_VARS = 130
SUM, PRODUCT = 1, 0


def fault(nodes):
    """The fault of a circuit, given its inner nodes as (kind, children)."""
    n_leaves = 2 * N_VARS
    is_sum = np.array([kind for kind, _ in nodes], np.uint8)
    start = np.cumsum([0, *(len(children) for _, children in nodes)])
    child = np.concatenate([children for _, children in nodes]).astype(np.int32)
    scope = np.zeros((n_leaves + len(nodes), 3), np.uint64)
    scopes(start, child, np.arange(N_VARS + 1), n_leaves, scope)
    return tuple(map(int, find_fault(is_sum, start, child, n_leaves, scope)))


def either(v):
    return (SUM, [2 * v, 2 * v + 1])


FIRST = 2 * N_VARS
ALL = [either(v) for v in range(N_VARS)]


def test_a_product_of_all_variables():
    assert fault([*ALL, (PRODUCT, range(FIRST, FIRST + N_VARS))]) == (0, SOUND)


def test_a_product_with_a_variable_twice():
    for v in (0, 63, 64, 65, 128, 129):
        terms = [*range(FIRST, FIRST + N_VARS), 2 * v]
        assert fault([*ALL, (PRODUCT, terms)]) == (FIRST + N_VARS, NOT_DECOMPOSABLE)


def test_a_sum_of_other_variables():
    for one, other in ((0, 64), (63, 64), (64, 128), (1, 65)):
        assert fault([either(0), (SUM, [2 * one, 2 * other])]) == (FIRST + 1, NOT_SMOOTH)
