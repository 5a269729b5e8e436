"""Learning junction trees: entropies, consistent trees, the greedy tree, known distributions."""

import itertools

import numpy as np
import pytest

from made_random import random_data
from made_states import schema_of
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.junction_trees.consistent import Separators, examples_of, subset_entropies
from mnlearn.learning.junction_trees.search import (
    SearchSettings,
    TreeSearch,
    learn_junction_tree,
)
from mnlearn.learning.learner import Task
from mnlearn.methods.chow_liu import ChowLiu
from mnlearn.methods.junction_tree import JunctionTree
from mnlearn.models.io.formats import save_model
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.any_model import ll
from oracles import all_states

ARITY = (3, 2, 4, 2, 2)


def data_of_states(seed, n=200):
    rng = np.random.default_rng(seed)
    schema = schema_of(*ARITY)
    values = rng.integers(0, schema.arity, (n, len(schema)))
    for v in range(1, len(schema)):
        copied = rng.random(n) < 0.6
        values[copied, v] = values[copied, v - 1] % schema.arity[v]
    return merge_rows(schema.rows(values), schema=schema)


def entropy(rows, weight):
    """The entropy of weighted rows in nats."""
    _, kind = np.unique(rows, axis=0, return_inverse=True)
    p = np.bincount(kind.ravel(), weight) / weight.sum()
    return -(p * np.log(p)).sum()


class Information:
    """Entropies and shared information by their definitions."""

    def __init__(self, examples):
        self.rows, self.weight = examples.values.T, examples.data.weight
        self.known = {}

    def h(self, *parts):
        key = tuple(sorted(set().union(*parts)))
        if key not in self.known:
            self.known[key] = entropy(self.rows[:, key], self.weight) if key else 0.0
        return self.known[key]

    def shared(self, one, other, given):
        return self.h(one, given) + self.h(other, given) - self.h(one, other, given) - self.h(given)


@pytest.mark.parametrize(
    "data",
    [
        random_data(0),
        merge_rows(random_data(0).rows, 0.5 + np.arange(random_data(0).n_rows)),
        data_of_states(1),
    ],
)
def test_entropies_of_all_small_sets(data):
    examples = examples_of(data)
    found = subset_entropies(examples, 4)
    information = Information(examples)
    for m in range(1, 5):
        subsets = itertools.combinations(range(len(examples)), m)
        ordered = sorted(subsets, key=lambda subset: subset[::-1])
        expected = [information.h(subset) for subset in ordered]
        np.testing.assert_allclose(found.of_size(m), expected, atol=1e-12)


def components(information, n, separator, threshold, subset_size):
    """What stays together given a separator, by the definition."""
    block = {v: frozenset([v]) for v in range(n) if v not in separator}
    for size in range(2, subset_size + 1):
        for chosen in itertools.combinations(block, size):
            ways = (
                (part, tuple(v for v in chosen if v not in part))
                for m in range(1, size // 2 + 1)
                for part in itertools.combinations(chosen, m)
            )
            if min(information.shared(a, b, separator) for a, b in ways) > threshold:
                merged = frozenset().union(*(block[v] for v in chosen))
                block |= dict.fromkeys(merged, merged)
    return set(block.values())


def sides(cliques, parent, separator):
    """Which variables the tree joins without the separator."""
    block = {v: frozenset([v]) for own in cliques for v in own if v not in separator}
    for own in cliques:
        merged = frozenset().union(*(block[v] for v in own if v not in separator))
        block |= dict.fromkeys(merged, merged)
    return set(block.values())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("treewidth", "subset_size"), [(2, 2), (2, 3), (3, 2)])
def test_trees_are_consistent_with_what_separators_separate(seed, treewidth, subset_size):
    examples = (
        examples_of(random_data(seed, 150, 8)) if seed % 2 else examples_of(data_of_states(seed))
    )
    n = len(examples)
    information = Information(examples)
    found = Separators(examples, treewidth, subset_size).find(0.005)
    assert found.threshold >= 0.005
    members = found.members
    assert len(members) == n - treewidth
    assert {len(own) for own in members} == {treewidth + 1}
    tree = examples.fit(found, 0.0)
    used = {tree.separator(c) for c in range(1, len(members))}
    for separator in used:
        assert len(separator) == treewidth
        together = components(information, n, separator, found.threshold, subset_size)
        for side in sides(members, found.parent, separator):
            assert all(block <= side or not block & side for block in together)


def best_value(information, n, treewidth, threshold):
    """The highest mean log-likelihood of a consistent tree: all exact covers are tried."""
    separators = list(itertools.combinations(range(n), treewidth))
    split = {s: components(information, n, s, threshold, 2) for s in separators}
    known = {}

    def covers(rest, choices):
        if not rest:
            yield ()
            return
        v = min(rest)
        for s, q in choices:
            if v in q and q <= rest:
                yield from (((s, q), *more) for more in covers(rest - q, choices))

    def value(s, q):
        if (s, q) not in known:
            best = -np.inf
            for x in q:
                clique = tuple(sorted((*s, x)))
                below = [t for t in itertools.combinations(clique, treewidth) if t != s]
                choices = [(t, p) for t in below for p in split[t] if p <= q - {x}]
                sums = [sum(value(*pair) for pair in c) for c in covers(q - {x}, choices)]
                own = information.h(s) - information.h(clique)
                best = max([best, *(own + total for total in sums)])
            known[s, q] = best
        return known[s, q]

    return max(sum(value(s, q) for q in split[s]) - information.h(s) for s in separators)


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_is_the_best_of_the_consistent_ones(seed):
    data = random_data(seed, 120, 7)
    examples = examples_of(data)
    information = Information(examples)
    found = Separators(examples, 2, 2).find(0.01)
    tree = examples.fit(found, 0.0)
    expected = best_value(information, 7, 2, found.threshold)
    assert ll(tree, data).mean == pytest.approx(expected, abs=1e-9)


def chain_of_cliques(n, treewidth, seed):
    """Exact frequencies of a distribution whose only cliques are random ones of a tree."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n).tolist()
    states = all_states(n)
    faces = [order[:treewidth]]
    p = rng.uniform(0.1, 0.9, 2**treewidth)[states[:, faces[0]] @ 2 ** np.arange(treewidth)]
    for v in order[treewidth:]:
        face = faces[rng.integers(len(faces))]
        one = rng.uniform(0.05, 0.95, 2**treewidth)[states[:, face] @ 2 ** np.arange(treewidth)]
        p = p * np.where(states[:, v] == 1, one, 1 - one)
        faces += [[u for u in face if u != dropped] + [v] for dropped in face]
    return merge_rows(states, p / p.sum())


@pytest.mark.parametrize("treewidth", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_a_thin_junction_tree_is_recovered_from_exact_frequencies(treewidth, seed):
    data = chain_of_cliques(8, treewidth, seed)
    tree = learn_junction_tree(data, SearchSettings(treewidth, threshold=1e-9), 0.0)
    np.testing.assert_allclose(tree.log_likelihood(data.rows), np.log(data.weight), atol=1e-9)


@pytest.mark.parametrize("search", ["lpac", "greedy"])
@pytest.mark.parametrize("seed", range(3))
def test_treewidth_1_is_the_chow_liu_tree(seed, search):
    data = random_data(seed, 400, 9)
    tree = learn_junction_tree(data, SearchSettings(1, search), 0.0)
    task = Task(data, ChowLiu.grid({"pseudocount": 0.0}))
    expected = ll(ChowLiu(pseudocount=0.0).learn(task).model, data)
    np.testing.assert_allclose(ll(tree, data).per_row, expected.per_row, atol=1e-10)
    # With the same pseudocount, the trees differ only where they have other edges.
    smooth = ll(learn_junction_tree(data, SearchSettings(1, search)), data).mean
    assert smooth == pytest.approx(ll(ChowLiu().learn(task).model, data).mean, abs=2e-3)


@pytest.mark.parametrize("treewidth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_greedy_tree_by_its_definition(treewidth, seed):
    examples = examples_of(data_of_states(seed))
    n, information = len(examples), Information(examples)
    pairs = itertools.combinations(range(n), 2)
    members = [max(pairs, key=lambda p: round(information.shared(p[:1], p[1:], ()), 10))]
    while len(set().union(*members)) < n:
        inside = sorted(set().union(*members))
        size = min(treewidth, len(inside))
        faces = {f for own in members for f in itertools.combinations(own, size)}
        offers = [
            (-round(information.shared((v,), f, ()), 10), v, f)
            for v in range(n)
            if v not in inside
            for f in faces
        ]
        _, v, face = min(offers)
        members.append(tuple(sorted((*face, v))))
    found = TreeSearch(examples.data).find(SearchSettings(treewidth, "greedy"))
    assert found.members == tuple(members)


def test_the_result_does_not_depend_on_threads_or_on_other_grid_points(tmp_path):
    data = random_data(5, 300, 10)
    contents = set()
    for threads, thresholds in ((1, [0.01]), (2, [0.05, 0.01])):
        workspace = JunctionTree.prepare(Task(data, JunctionTree.grid({}), threads=threads))
        for threshold in thresholds:
            fitted = JunctionTree(threshold=threshold).learn(workspace)
        save_model(fitted.model, tmp_path / "a.npz")
        contents.add((tmp_path / "a.npz").read_bytes())
    assert len(contents) == 1


@pytest.mark.parametrize("search", ["lpac", "greedy"])
@pytest.mark.parametrize("treewidth", [1, 2, 3])
@pytest.mark.parametrize(
    "rows",
    [
        np.ones((1, 1)),
        np.zeros((5, 2)),
        np.eye(3)[:1],
        np.zeros((4, 7)),
        np.tile([[0, 1, 1, 0, 0, 1]], (3, 1)),
        np.concatenate([np.eye(6), 1 - np.eye(6)]),
    ],
)
def test_hostile_data(rows, search, treewidth):
    data = merge_rows(rows)
    for pseudocount in (0.0, 1.0):
        for subset_size in (2, 3):
            settings = SearchSettings(treewidth, search, 0.0, subset_size)
            tree = learn_junction_tree(data, settings, pseudocount)
            p = np.exp(tree.log_likelihood(all_states(data.n_vars)))
            assert p.sum() == pytest.approx(1.0, abs=1e-12)
            assert np.isfinite(ll(tree, data).mean)


def test_what_is_refused():
    wide = merge_rows(np.eye(300, dtype=np.uint8))
    with pytest.raises(InputError, match="search=greedy"):
        learn_junction_tree(wide, SearchSettings())
    assert learn_junction_tree(wide, SearchSettings(search="greedy")).n_cliques == 299
    many = schema_of(254, 254, 254)
    rows = many.rows(np.zeros((1, 3), np.uint8))
    with pytest.raises(InputError, match="3 variables have up to 16,387,064 joint values"):
        learn_junction_tree(merge_rows(rows, schema=many), SearchSettings(search="greedy"))
