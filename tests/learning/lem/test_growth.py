"""LEM against its definition, and on distributions that satisfy Theorem 1."""

import itertools

import numpy as np
import pytest

from daily import daily
from lem_oracle import log_probability, size
from made_feature_trees import learned_twice
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.lem.growth import Draft, LemSettings, learn_feature_tree
from mnlearn.learning.lem.parts import has_state
from mnlearn.methods import load_learner
from mnlearn.models.feature_tree import ROOT, leaf_features
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema
from oracles import all_states


@pytest.mark.parametrize("seed", daily(range(100, 200), range(100, 130)))
def test_the_tree_is_that_of_the_definition(seed):
    tree, nodes, states = learned_twice(seed)
    expected = np.array([log_probability(nodes, x) for x in states])
    found = tree.log_likelihood(tree.schema.rows(states))
    np.testing.assert_allclose(found, expected, atol=1e-11)
    n_a, n_f, n_tables = size(nodes)
    assert (tree.n_a_nodes, int(tree.is_table.sum())) == (n_a, n_tables)
    assert int((~tree.is_table).sum()) == n_f


def exact_data(p, n):
    """A data set whose frequencies are exactly the given probabilities of all states."""
    count = np.round(p * n).astype(int)
    np.testing.assert_allclose(count, p * n, atol=1e-6)
    return merge_rows(np.repeat(all_states(int(np.log2(len(p)))), count, axis=0))


def information(p, states, one, other, given):
    """I(one; other | given holds) in nats of a distribution over all states."""
    own = np.all([states[:, v] == x for v, x in given[0]], axis=0) if given[0] else p >= 0
    for clause in given[1]:
        own &= ~np.all([states[:, v] == x for v, x in clause], axis=0)
    q = np.where(own, p, 0.0) / p[own].sum()

    def entropy(variables):
        code = states[:, variables] @ (1 << np.arange(len(variables)))
        mass = np.bincount(code, weights=q)
        return float(-(mass[mass > 0] * np.log(mass[mass > 0])).sum())

    return entropy(one) + entropy(other) - entropy(one + other)


def nested_distribution():
    """Six variables: given the first, different pairs of the others depend on each other."""
    states = all_states(6).astype(int)
    p = np.full(len(states), 0.5)
    agree, differ = 3 / 8, 1 / 8
    for i, x in enumerate(states):
        pairs = ((1, 2), (3, 4)) if x[0] else ((1, 3), (2, 5))
        for a, b in pairs:
            p[i] *= agree if x[a] == x[b] else differ
        alone = ({1, 2, 3, 4, 5} - set(pairs[0]) - set(pairs[1])).pop()
        p[i] *= 3 / 4 if x[alone] else 1 / 4
    return p, states


def test_theorem_1_exact_information_gives_back_the_distribution():
    """Frequencies are the probabilities, so that plug-in information is that of an oracle."""
    p, states = nested_distribution()
    data = exact_data(p, 512)
    settings = LemSettings(delta=1e-9, min_rows=1, pseudocount=1e-9, max_feature_length=1)
    tree = learn_feature_tree(data, settings)
    np.testing.assert_allclose(np.exp(tree.log_likelihood(states.astype(np.uint8))), p, atol=1e-9)
    assert tree.literals(0) == ((0, 1),)
    for a in tree.branches(0):
        blocks = [sorted(v for v, _ in tree.fixed(tree.branches(f)[0])) for f in tree.children(a)]
        given = ([(0, a - 1)], [])
        for k, block in enumerate(blocks):
            rest = [v for other in blocks[:k] + blocks[k + 1 :] for v in other]
            assert information(p, states, block, rest, given) < 1e-9
    assert sum(np.isfinite(leaf.weight) for leaf in leaf_features(tree)) == tree.n_leaves


@pytest.mark.parametrize("seed", range(3))
def test_theorem_2_a_sample_gives_blocks_that_share_little(seed):
    """Blocks share at most j (epsilon + Delta), here with epsilon 0 and j = 2 variables tied."""
    p, states = nested_distribution()
    sample = np.random.default_rng(seed).choice(len(states), 20_000, p=p)
    delta = 0.01
    data = merge_rows(states[sample].astype(np.uint8))
    tree = learn_feature_tree(data, LemSettings(delta=delta, max_feature_length=1))
    for a in tree.branches(0):
        root = tree.literals(0)[0]
        given = ([(root[0], a - 1)], [])
        children = tree.children(a)
        assert len(children) > 1
        blocks = [sorted(variables_below(tree, f)) for f in children]
        for k, block in enumerate(blocks):
            rest = [v for other in blocks[:k] + blocks[k + 1 :] for v in other]
            assert information(p, states, block, rest, given) <= 2 * delta


def variables_below(tree, f):
    """The variables of an F-node or table and of all that is below it."""
    found = {v for v, _ in tree.literals(f)}
    for a in tree.branches(f):
        found |= {v for v, _ in tree.fixed(a)}
        for below in tree.children(a):
            found |= variables_below(tree, below)
    return found


def test_weights_are_refused():
    data = merge_rows(np.array([[1, 0, 1], [1, 1, 0]], np.uint8))
    with pytest.raises(InputError, match="takes none with weights"):
        learn_feature_tree(merge_rows(data.rows, np.array([0.5, 2.0])), LemSettings())


def test_the_learner_takes_its_parameters_as_text():
    learner = load_learner("lem")
    assert learner.grid({"delta": "0.01", "balance": "false"})["balance"] == [False]
    with pytest.raises(InputError, match="expected true or false"):
        learner.grid({"balance": "perhaps"})


def test_what_is_fixed_later_stays_at_its_a_node():
    draft = Draft()
    first = draft.add_feature(ROOT, [(0, 1), (1, 1)], [np.log(0.75), np.log(0.25)], [[], []])
    fixed = {first + 1: ((0, 1), (1, 1)), first: ((0, 0), (1, 0))}
    # The second A-node comes first.
    for a, literals in fixed.items():
        draft.fix(a, literals)
    tree = draft.tree(binary_schema(2))
    assert {a: tuple(tree.fixed(a)) for a in fixed} == fixed


def random_case(rng):
    """Variables of one to three values, and clauses on some of them."""
    allowed = {v: set(range(int(rng.integers(1, 4)))) for v in range(int(rng.integers(1, 5)))}
    clauses = []
    for _ in range(int(rng.integers(0, 14))):
        own = rng.choice(
            len(allowed), int(rng.integers(1, min(3, len(allowed)) + 1)), replace=False
        )
        clauses.append([(int(v), int(rng.integers(0, 3))) for v in own])
    return allowed, clauses


def test_random_clauses():
    rng = np.random.default_rng(5)
    found = []
    for _ in range(3000):
        allowed, clauses = random_case(rng)
        expected = any(
            not any(all(state[v] == value for v, value in clause) for clause in clauses)
            for state in itertools.product(*allowed.values())
        )
        assert has_state(allowed, clauses) == expected, (allowed, clauses)
        found.append(expected)
    assert 0.2 < np.mean(found) < 0.8


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ([], True),
        ([[]], False),
        # No clause has a single open literal, and no state is left.
        ([[(0, a), (1, b)] for a in (0, 1) for b in (0, 1)], False),
        ([[(0, a), (1, b)] for a in (0, 1) for b in (0, 1)][:3], True),
    ],
)
def test_two_variables(clauses, expected):
    assert has_state({0: {0, 1}, 1: {0, 1}}, clauses) is expected
