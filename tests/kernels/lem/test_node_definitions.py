"""Each kernel of LEM at random nodes, against its definition in plain Python."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lem_oracle
from made_lem_nodes import MadeNode
from made_words import packed
from mnlearn.kernels.arithmetic.bits import count_all, count_bits, count_both
from mnlearn.kernels.lem import node as node_kernels
from mnlearn.kernels.lem import partition, search
from mnlearn.kernels.lem.node import (
    Node,
    add_clause,
    divide_domain,
    find_copies,
    mask_of,
    select_examples,
)
from mnlearn.kernels.lem.partition import score_of
from mnlearn.kernels.lem.search import NONE, _repeats, assess, conjunctions, divide_node
from mnlearn.kernels.lem.sets import merge_sets

SIZES = (1, 2, 63, 64, 65, 130)
SEEDS = range(24)


def mask_of_rows(chosen):
    """Packed bits of a selection of examples."""
    return packed(chosen[None])[0]


def random_feature(made, length=None):
    """Literals of different variables."""
    length = length or int(made.rng.integers(1, min(3, len(made.scope)) + 1))
    own = sorted(made.rng.choice(len(made.scope), length, replace=False).tolist())
    return tuple((v, int(made.rng.choice(made.scope[v]))) for v in own)


def slots_of(made, literals):
    return np.array([made.slot_of(x) for x in literals], np.int32)


def blocks_of(label):
    """The blocks that labels stand for; a label is the least variable of its block."""
    blocks = {}
    for j, own in enumerate(label.tolist()):
        blocks.setdefault(own, []).append(j)
    assert all(own == members[0] for own, members in blocks.items())
    return {tuple(members) for members in blocks.values()}


@pytest.mark.parametrize("n", SIZES)
def test_columns_and_masks(n):
    made = MadeNode(n, n)
    node = made.kernel_node()
    assert int(node.last_word).bit_count() == (n - 1) % 64 + 1
    for s in range(len(made.slot_value)):
        v, value = made.literal_of(s)
        has = made.rows[:, v] == value
        mask = np.zeros((n + 63) // 64, np.uint64)
        mask_of(node.columns, made.slot, v, s, np.uint64(node.last_word), mask)
        assert_array_equal(mask, mask_of_rows(has))
        assert count_bits(mask) == has.sum()
        assert node.owner[s] == v
        assert node.literal[s] == (made.arity[v + 1] > 2 or value == 1)
        out = np.full(int(has.sum()), -1, np.int32)
        select_examples(made.examples, mask, out)
        assert_array_equal(out, made.examples[has])
    for _ in range(5):
        three = made.rng.random((3, n)) < 0.6
        a, b, c = (mask_of_rows(one) for one in three)
        assert count_both(a, b) == three[:2].all(axis=0).sum()
        assert count_all(a, b, c) == three.all(axis=0).sum()


@pytest.mark.parametrize("n", SIZES)
def test_copies_are_found(n):
    rng = np.random.default_rng(n)
    base = rng.integers(0, 2, (n, 3)).astype(bool)
    source, negated = rng.integers(0, 3, 9), rng.integers(0, 2, 9).astype(bool)
    rows = base[:, source] ^ negated
    # One bit, the last one, makes this no copy; a variable of three values is none either.
    rows = np.concatenate([rows, rows[:, :1], rows[:, :1]], axis=1)
    rows[n - 1, 9] ^= True
    size = [2] * 10 + [3]
    slot = np.cumsum([0, *size], dtype=np.int32)
    packed = [mask_of_rows(rows[:, j]) for j in range(11)]
    packed.append(np.zeros_like(packed[0]))
    last_word = mask_of_rows(np.ones(n, bool))[-1]
    copy_of, opposite = np.full(11, 99, np.int32), np.ones(11, bool)
    find_copies(np.array(packed), slot, last_word, copy_of, opposite)
    for j in range(10):
        same = [k for k in range(j) if len({*(rows[:, j] ^ rows[:, k]).tolist()}) == 1]
        first = same[0] if same else j
        assert copy_of[j] == first
        assert opposite[j] == (rows[0, j] != rows[0, first])
    assert (copy_of[10], opposite[10]) == (10, False)


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_and_entropies_of_a_side(seed):
    made = MadeNode(seed)
    node, side = made.kernel_node(), made.side()
    chosen = made.rng.random(len(made.rows)) < made.rng.choice([0.05, 0.5, 1.0])
    chosen[0] = True
    mask, rows = mask_of_rows(chosen), made.rows[chosen]
    partition.mask_side(node, mask, np.uint64(0), len(rows), side)
    members = np.arange(len(made.scope))
    partition.count_pairs(node.slot, members, node.columns, side.masked, side.both)
    for v in members:
        h, seen = lem_oracle.entropy(rows, (v,))
        assert side.entropy[v] == pytest.approx(h, abs=1e-12)
        assert side.seen[v] == seen
        assert seen > 1 or side.entropy[v] == 0.0
    for a, b in itertools.combinations(members, 2):
        found = node_kernels.pair_entropy(
            node.slot, a, b, side.ones, side.both, len(rows), node.c_log_c
        )
        assert found == pytest.approx(lem_oracle.entropy(rows, (a, b))[0], abs=1e-12)
    for three in itertools.combinations(members, 3):
        found = node_kernels.triple_entropy(node, three, side, len(rows))
        assert found == pytest.approx(lem_oracle.entropy(rows, three)[0], abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_links_are_a_spanning_forest_of_most_information(seed):
    made = MadeNode(seed)
    node = made.kernel_node()
    constant = [len({*column.tolist()}) == 1 for column in made.rows.T]
    joined = [v for v in made.scope if not constant[v] and node.copy_of[v] == v]
    pairs = [
        (lem_oracle.information(made.rows, (a,), (b,), False), a, b)
        for a, b in itertools.combinations(joined, 2)
    ]
    block, total = {v: {v} for v in joined}, 0.0
    for value, a, b in sorted(pairs, reverse=True):
        if b not in block[a]:
            total += value
            union = block[a] | block[b]
            block.update(dict.fromkeys(union, union))
    found = [tuple(link) for link in node.links.tolist()]
    by_pair = {(a, b): value for value, a, b in pairs}
    assert len(found) == max(len(joined) - 1, 0)
    assert sum(by_pair[link] for link in found) == pytest.approx(total, abs=1e-12)


def kernel_sides(made, literals):
    """Both sides of a feature with their values left, and the examples of each."""
    node, clauses, sides = made.kernel_node(), made.kernel_clauses(), (made.side(), made.side())
    feature = slots_of(made, literals)
    n_clauses = (add_clause(clauses, feature), clauses.n)
    for s in range(2):
        divide_domain(node, clauses, n_clauses[s], feature, s == 1, sides[s])
        partition.merge_clauses(node, clauses, n_clauses[s], sides[s])
    return node, clauses, sides


@pytest.mark.parametrize("seed", range(60))
def test_what_a_feature_leaves(seed):
    made = MadeNode(seed)
    literals = random_feature(made)
    _, _, sides = kernel_sides(made, literals)
    for s in range(2):
        left = lem_oracle.side_of(made.scope, made.clauses, literals, s)
        if left is None:
            continue
        scope, clauses, fixed = left
        for j, values in made.scope.items():
            kept = [fixed[j]] if j in fixed else scope[j]
            slots = slice(made.slot[j], made.slot[j + 1])
            assert_array_equal(sides[s].alive[slots], [value in kept for value in values])
            assert sides[s].size[j] == len(kept)
        blocks, _ = lem_oracle.partition(made.rows[:0], scope, clauses, made.defined)
        assert blocks_of(sides[s].label) == {*blocks, *((j,) for j in fixed)}


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("subset_size", [2, 3, 4, 5])
def test_blocks_of_both_sides(seed, subset_size):
    """Links tie nothing that pairs do not; after pairs and triples, blocks are those of LMIP."""
    made = MadeNode(seed)
    settings = made.settings._replace(subset_size=subset_size)
    made.defined.subset_size = subset_size
    if subset_size > 3:
        # The bias is that of the part of least plug-in information.
        settings, made.defined.bias_correction = settings._replace(corrected=False), False
    literals = random_feature(made, 1)
    node, _, sides = kernel_sides(made, literals)
    holds = lem_oracle.satisfied(made.rows, literals)
    n_side = (int((~holds).sum()), int(holds.sum()))
    partition.mask_sides(node, mask_of_rows(holds), n_side, sides)
    partition.tie_links(node, n_side, sides, settings)
    linked = [blocks_of(side.label) for side in sides]
    partition.tie_pairs(node, n_side, sides, settings)
    for s in range(2):
        scope, clauses, fixed = lem_oracle.side_of(made.scope, made.clauses, literals, s)
        rows = made.rows[holds == s]
        if partition.is_small(n_side[s], settings):
            assert len(rows) < max(settings.min_rows, 1)
            continue
        for block in linked[s]:
            assert any({*block} <= {*other} for other in blocks_of(sides[s].label))
        if subset_size >= 3:
            merge_sets(node, n_side[s], settings, sides[s], np.zeros(2), np.int64(s), -np.inf)
        blocks, small = lem_oracle.partition(rows, scope, clauses, made.defined)
        assert not small
        assert blocks_of(sides[s].label) == {*blocks, *((j,) for j in fixed)}


@pytest.mark.parametrize("seed", range(60))
def test_what_a_feature_is_worth(seed):
    """The score of its definition; nothing above a floor, and the same below one."""
    made = MadeNode(seed)
    literals = random_feature(made)
    node, clauses, sides = made.kernel_node(), made.kernel_clauses(), (made.side(), made.side())
    feature = slots_of(made, literals)
    holds = lem_oracle.satisfied(made.rows, literals)
    expected = lem_oracle.assess(made.rows, made.scope, made.clauses, literals, made.defined)
    if holds.all() or not holds.any():
        return
    mask, part = (np.empty_like(mask_of_rows(holds)) for _ in range(2))
    search.feature_mask(node, feature, mask, part)
    assert_array_equal(mask, mask_of_rows(holds))

    def assessed(floor):
        cost = np.zeros(2)
        assess(node, clauses, feature, mask, int(holds.sum()), sides, made.settings, floor, cost)
        return cost

    cost = assessed(-np.inf)
    if expected is None:
        assert (cost == np.inf).all()
        return
    score = score_of(cost, made.settings.joint_score)
    assert score == pytest.approx(np.log2(expected.total), abs=1e-9)
    gap = abs(2.0 ** -cost[0] - 2.0 ** -cost[1])
    assert gap == pytest.approx(expected.difference, rel=1e-9, abs=1e-12)
    assert_array_equal(assessed(score - 1e-6), cost)
    assert (assessed(score + 1e-6) == np.inf).all()


@pytest.mark.parametrize("seed", range(60))
def test_the_best_feature_and_what_is_left(seed):
    made = MadeNode(seed)
    best = lem_oracle.best_feature(made.rows, made.scope, made.clauses, made.defined)
    feature, label, alive, size, examples = divide_node(
        made.stored, made.examples, made.variable, made.slot, made.slot_value,
        made.kernel_clauses(), made.tables, made.settings,
    )  # fmt: skip
    assert label.shape == size.shape == (2, len(made.scope))
    assert alive.shape == (2, len(made.slot_value))
    if best is None:
        assert len(feature) == 0
        blocks, _ = lem_oracle.partition(made.rows, made.scope, made.clauses, made.defined)
        assert blocks_of(label[0]) == blocks_of(label[1]) == {*blocks}
        assert_array_equal(size, [[len(values) for values in made.scope.values()]] * 2)
        assert [len(part) for part in examples] == [0, len(made.rows)]
        return
    assert tuple(made.literal_of(s) for s in feature) == best.literals
    holds = lem_oracle.satisfied(made.rows, best.literals)
    assert_array_equal(examples[0], made.examples[~holds])
    assert_array_equal(examples[1], made.examples[holds])
    for s in range(2):
        scope, clauses, fixed = lem_oracle.side_of(made.scope, made.clauses, best.literals, s)
        rows = made.rows[holds == s]
        blocks, _ = lem_oracle.partition(rows, scope, clauses, made.defined)
        assert blocks_of(label[s]) == {*blocks, *((j,) for j in fixed)}


@pytest.mark.parametrize("seed", range(40))
def test_the_choice_among_features_of_given_costs(seed):
    """Few different costs, so that there are ties of scores, of gaps and of balance."""
    rng = np.random.default_rng(seed)
    n, joint = int(rng.integers(1, 7)), bool(rng.integers(2))
    cost = rng.integers(2, 5, (n, 2)) + rng.choice([0.0, 0.01], (n, 2))
    imbalance = rng.integers(0, 3, n)
    settings = lem_oracle.Settings(
        similar=float(rng.choice([0.0, 0.3, 0.6])), balance=bool(rng.integers(2))
    )
    admissible = rng.random(n) < 0.8
    total = np.array([score_of(np.log2(c), joint) for c in cost])
    assert_allclose(2.0**total, 1 / cost.sum(axis=1) if joint else (1 / cost).sum(axis=1))
    candidates = [
        lem_oracle.Candidate((f,), 2.0 ** total[f], abs(1 / c[0] - 1 / c[1]), imbalance[f])
        if admissible[f]
        else None
        for f, c in enumerate(cost)
    ]
    expected = lem_oracle.pick(candidates, settings)
    logs = np.where(admissible[:, None], np.log2(cost), np.inf)
    total = np.where(admissible, total, -np.inf)
    found = search.choose(total, logs, -imbalance, settings.similar, settings.balance)
    assert found == (search.NONE if expected is None else expected.literals[0])
    assert search.choose(total[:0], logs[:0], -imbalance[:0], 0.0, True) == search.NONE


# Slots of three variables of two values: a, then its copy b, then c.
A1, B0, B1, C1 = 1, 2, 3, 5


def repeats(feature, *, opposite, both=False, tied=()):
    """Only the value 1 is asked for, unless `both`."""
    fields = dict.fromkeys(Node._fields)
    fields["slot"] = np.arange(0, 8, 2, dtype=np.int32)
    fields["owner"] = np.repeat(np.arange(3, dtype=np.int32), 2)
    fields["literal"] = np.tile([False, True], 3)
    fields["copy_of"] = np.array([0, 0, 2], np.int32)
    fields["opposite"] = np.array([False, opposite, False])
    is_tied = np.isin(np.arange(3), tied)
    return bool(_repeats(np.array(feature, np.int32), Node(**fields), is_tied, both))


@pytest.mark.parametrize(
    ("feature", "said", "expected"),
    [
        ([A1], {"opposite": False}, False),
        ([B1], {"opposite": False}, True),
        ([C1], {"opposite": False}, False),
        # By itself, b = 1 divides the examples as a = 1 does, whatever the order of the sides.
        ([B1], {"opposite": True}, True),
        ([B1, C1], {"opposite": False}, True),
        # b = 1 is a = 0, which is not asked for, so that there is no earlier feature.
        ([B1, C1], {"opposite": True}, False),
        ([B1, C1], {"opposite": True, "both": True}, True),
        ([B0, C1], {"opposite": True}, True),
        # Beside its original, a copy says nothing or contradicts it.
        ([A1, B1], {"opposite": False}, False),
        ([B1], {"opposite": False, "tied": [1]}, False),
        ([B1], {"opposite": False, "tied": [0]}, False),
        ([B1], {"opposite": False, "tied": [2]}, True),
    ],
)
def test_repeats(feature, said, expected):
    assert repeats(feature, **said) is expected


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("max_length", [1, 2, 3])
def test_all_features_up_to_a_length(max_length, both):
    """Single literals are those that are asked for, others too in longer features if `both`."""
    fields = dict.fromkeys(Node._fields)
    fields["owner"] = np.repeat(np.arange(3, dtype=np.int32), [2, 3, 2])
    fields["literal"] = np.array([False, True, True, True, True, False, True])
    found = conjunctions(Node(**fields), max_length, both)
    owner, literal = fields["owner"], fields["literal"]
    expected = []
    for length in range(1, max_length + 1):
        for slots in itertools.combinations(range(7), length):
            asked = literal[list(slots)]
            if len({*owner[list(slots)]}) == length and (asked.all() or (both and length > 1)):
                expected.append([*slots, *[NONE] * (max_length - length)])
    assert found.tolist() == expected
