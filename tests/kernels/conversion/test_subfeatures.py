"""Shares of removed tests, and subfeatures, against sums over orders of the variables."""

import itertools

import numpy as np
import pytest

from made_words import packed
from mnlearn.kernels import conversion

N_VARS = 5


class Made:
    """CPD features, each a list of literals of which one is the target's, and an order."""

    def __init__(self, seed, n_features=7, all_up_to=0):
        rng = self.rng = np.random.default_rng(seed)
        self.literals, self.target = [], []
        for _ in range(n_features):
            own = np.sort(rng.choice(N_VARS, int(rng.integers(1, N_VARS + 1)), replace=False))
            self.literals.append([(int(v), int(rng.integers(2))) for v in own])
            self.target.append(int(rng.choice(own)))
        flat = list(itertools.chain.from_iterable(self.literals))
        self.start = np.cumsum([0, *map(len, self.literals)])
        self.var = np.array([v for v, _ in flat], np.int32)
        self.value = np.array([x for _, x in flat], np.uint8)
        self.permutation = rng.permutation(N_VARS)
        self.place = np.empty(N_VARS, np.int64)
        self.place[self.permutation] = np.arange(N_VARS)
        target = np.array(self.target, np.int32)
        self.order, self.distance = np.full((2, len(flat)), 99)
        self.target_at = np.full(n_features, 99)
        conversion.sort_tests(
            self.start, self.var, target, self.place, N_VARS,
            self.order, self.distance, self.target_at,
        )  # fmt: skip
        n_subsets = [2 ** (len(x) - 1) if len(x) <= all_up_to else 0 for x in self.literals]
        self.subset_start = np.cumsum([0, *n_subsets])

    def tests(self, f):
        """The tests of a feature as they are arranged."""
        own = self.order[self.start[f] : self.start[f + 1] - 1]
        return [(int(self.var[k]), int(self.value[k])) for k in own]

    def target_literal(self, f):
        return dict(self.literals[f])[self.target[f]]


def check_shares(made, chance, removed, with_target, subset_removed, subset_with_target):
    """Compare with the chance that a list of literals holds."""
    for f in range(len(made.literals)):
        tests, begin = made.tests(f), made.start[f]
        target = (made.target[f], made.target_literal(f))
        for j in range(len(tests) + 1):
            for direction, gone in ((0, tests[j:]), (1, tests[:j])):
                assert removed[direction, begin + j] == pytest.approx(chance(gone))
                both = chance([*gone, target])
                assert with_target[direction, begin + j] == pytest.approx(both)
        first = made.subset_start[f]
        for s in range(made.subset_start[f + 1] - first):
            gone = [x for j, x in enumerate(tests) if not s >> j & 1]
            assert subset_removed[first + s] == pytest.approx(chance(gone))
            assert subset_with_target[first + s] == pytest.approx(chance([*gone, target]))


def room(made):
    n_subsets = made.subset_start[-1]
    return [np.full((2, len(made.var)), np.nan) for _ in range(2)] + [
        np.full(n_subsets, np.nan) for _ in range(2)
    ]


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 130])
def test_shares_of_examples(n_rows):
    made = Made(n_rows, all_up_to=4)
    rows = made.rng.integers(0, 2, (n_rows, N_VARS)).astype(np.uint8)
    weight = made.rng.uniform(0.5, 2.0, n_rows)
    weight /= weight.sum()
    columns = packed(rows.T)
    ends = np.uint64(2 ** ((n_rows - 1) % 64 + 1) - 1)
    found = room(made)
    fixed = made.start, made.var, made.value, made.order, made.target_at
    conversion.data_shares(*fixed, columns, ends, weight, *found[:2])
    conversion.data_subset_shares(*fixed, rows, weight, made.subset_start, *found[2:])

    def chance(literals):
        return weight @ np.all([rows[:, v] == x for v, x in literals] or [weight > 0], axis=0)

    check_shares(made, chance, *found)


def merged(made, p_one, weight, rotations, forward, backward):
    """The subfeatures that the kernels find, and their weights."""
    of_literal = np.where(made.value == 1, p_one[made.var], 1 - p_one[made.var])
    found = room(made)
    arranged = made.start, made.order, made.target_at, of_literal
    conversion.product_shares(*arranged, *found[:2])
    conversion.product_subset_shares(*arranged, made.subset_start, *found[2:])
    mark = np.random.default_rng(0).integers(0, 2**64, (N_VARS, 2), np.uint64)
    total, source = conversion.merge_subfeatures(
        made.start, made.order, made.distance, made.target_at, mark[made.var, made.value], weight,
        tuple(found[:2]), (made.subset_start, *found[2:]), N_VARS,
        N_VARS - made.place[made.target], rotations, forward, backward,
    )  # fmt: skip
    start = np.cumsum([0, *(source[:, 1] + source[:, 3])])
    var, value = np.full(start[-1], 99, np.int32), np.full(start[-1], 99, np.uint8)
    conversion.write_subfeatures(
        made.start, made.var, made.value, made.order, made.target_at, source, start, var, value
    )
    out = {}
    for i, w in enumerate(total):
        own = slice(start[i], start[i + 1])
        literals = tuple(zip(var[own].tolist(), value[own].tolist(), strict=True))
        assert literals
        assert literals not in out
        assert list(literals) == sorted(literals)
        out[literals] = w
    return out


def orders_of(made, f, rotations, forward, backward):
    """The orders that one feature is averaged over, with their shares."""
    if made.subset_start[f + 1] > made.subset_start[f]:
        every = [*itertools.permutations(range(N_VARS))]
        return [(order, 1 / len(every)) for order in every]
    shifts = range(N_VARS) if rotations else [0]
    turned = [np.roll(made.permutation, shift).tolist() for shift in shifts]
    both = [(order, forward) for order in turned] + [(order[::-1], backward) for order in turned]
    return [(order, share / len(turned)) for order, share in both]


@pytest.mark.parametrize(("forward", "backward"), [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)])
@pytest.mark.parametrize("rotations", [True, False])
@pytest.mark.parametrize(("seed", "n_features", "all_up_to"), [(0, 1, 0), (1, 9, 0), (2, 300, 3)])
def test_subfeatures_are_those_of_the_orders(
    seed, n_features, all_up_to, rotations, forward, backward
):
    made = Made(seed, n_features, all_up_to)
    p_one, weight = made.rng.random(N_VARS), made.rng.normal(size=n_features)
    expected = {}
    for f in range(n_features):
        target, tests = (made.target[f], made.target_literal(f)), made.tests(f)
        for order, share in orders_of(made, f, rotations, forward, backward):
            after = order[list(order).index(target[0]) + 1 :]
            kept = [x for x in tests if x[0] in after]
            gone = [x for x in tests if x[0] not in after]
            w = share * weight[f] * np.prod([p_one[v] if x else 1 - p_one[v] for v, x in gone])
            of_target = p_one[target[0]] if target[1] else 1 - p_one[target[0]]
            for literals, change in (([*kept, target], w), (kept, -w * of_target)):
                key = tuple(sorted(literals))
                expected[key] = expected.get(key, 0.0) + change
    expected.pop((), None)
    found = merged(made, p_one, weight, rotations, forward, backward)
    every = {*found, *(key for key, w in expected.items() if w != 0.0)}
    for key in every:
        assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), abs=1e-12)
