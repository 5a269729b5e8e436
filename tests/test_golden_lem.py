"""Golden values of LEM, computed by an independent program; the data are registered datasets.

`golden_lem.txt`: trees. Each line is one run: data set, number of examples, the settings that are
not defaults, test LL in nats, A-nodes, F-nodes. `MNLEARN_GOLDEN=all` compares all of them.
`golden_lem_rows.txt`: log-likelihoods of the first test rows. `golden_lem_blocks.txt`: what LMIP
makes of all examples and of the sides of single literals, with a checksum of the blocks.
`golden_lem_weights.txt`: weights of leaf features, with checksums of what the features say.
"""

import ast
import math
import os
import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.lem.search import divide_node
from mnlearn.learning.lem.growth import LemSettings, _Growth, learn_feature_tree
from mnlearn.learning.lem.parts import Part
from mnlearn.models.feature_tree import leaf_features

pytestmark = pytest.mark.slow


def lines_of(name):
    """The lines of a file beside this one, without its header, as words."""
    text = Path(__file__).with_name(name).read_text()
    return [line.split() for line in text.splitlines()[1:]]


LINES = lines_of("golden_lem.txt")
if os.environ.get("MNLEARN_GOLDEN") != "all":
    # All runs take three minutes: usually those on 100 examples, and every sixth of the others.
    small = [line for line in LINES if line[1] == "100"]
    LINES = small + [line for line in LINES if line not in small][::6]
# Our trees of two runs differ a little from those of the other program, but equal those of
# `lem_oracle.py` (docs/methods/lem.md). The cause is not known. The mark is strict: a tree that
# agrees again fails here, and its line goes.
WHY = "equals lem_oracle.py but not the other program; the cause is not known"
UNEXPLAINED = (["alarm_groups", "1000", "min_rows=30"], ["alarm_groups", "1000", "table_below=1"])
RUNS = [
    pytest.param(
        line,
        marks=[pytest.mark.xfail(strict=True, reason=WHY)] if line[:3] in UNEXPLAINED else [],
        id=" ".join(line),
    )
    for line in LINES
]


def settings_of(text):
    pairs = [pair.split("=") for pair in text.split(",") if pair != "-"]
    values = {}
    for key, value in pairs:
        default = getattr(LemSettings(), key)
        values[key] = value if isinstance(default, str) else type(default)(ast.literal_eval(value))
    return LemSettings(**values)


@pytest.mark.parametrize("line", RUNS)
def test_learned_trees(line, sample):
    name, n, settings, test_ll, a_nodes, f_nodes = line
    data = sample(name, n)
    tree, test = learn_feature_tree(data["train"], settings_of(settings)), data["test"]
    found = float(test.weight @ tree.log_likelihood(test.rows) / test.n_examples)
    assert found == pytest.approx(float(test_ll), abs=1e-9)
    assert tree.n_a_nodes == int(a_nodes)
    assert int((~tree.is_table).sum()) == int(f_nodes)


@pytest.mark.parametrize("line", lines_of("golden_lem_rows.txt"), ids=lambda line: line[0])
def test_likelihoods_of_rows(line, sample):
    name, n, settings, *expected = line
    data = sample(name, n)
    tree, test = learn_feature_tree(data["train"], settings_of(settings)), data["test"]
    rows = test.rows[test.row_of[: len(expected)]]
    np.testing.assert_allclose(tree.log_likelihood(rows), [float(x) for x in expected], atol=1e-9)


def partition(values, arity, feature, side, delta):
    """What LMIP makes of one side of a literal: examples, blocks, and the score of the side."""
    allowed = [list(range(r)) for r in arity]
    own = np.ones(len(values), bool)
    if feature != "true":
        v, value = map(int, re.fullmatch(r"x(\d+)=(\d+)", feature).groups())
        own = (values[:, v] == value) == bool(side)
        allowed[v] = [value] if side else [x for x in allowed[v] if x != value]
    n, free = int(own.sum()), [v for v, left in enumerate(allowed) if len(left) > 1]
    # Fewer than 10 examples are too few to look for blocks.
    blocks = [[v] for v in free] if n < 10 else divided(values, arity, own, allowed, delta)
    cost = sum(math.prod(len(allowed[v]) for v in block) for block in blocks)
    return n, blocks, 1.0 / (cost + 2 * (len(arity) - len(free)))


def divided(values, arity, own, allowed, delta):
    """The blocks of the variables that have several allowed values, on some examples."""
    free = [v for v, left in enumerate(allowed) if len(left) > 1]
    # With these no feature is admissible, so that all variables are partitioned.
    settings = LemSettings(
        delta=delta, min_rows=int(own.sum()), small_side="inadmissible", max_feature_length=1
    )
    growth = _Growth(np.ascontiguousarray(values.T), np.array(arity), settings)
    slot = np.cumsum([0, *(len(allowed[v]) for v in free)]).astype(np.int32)
    slot_value = np.concatenate([allowed[v] for v in free]).astype(np.uint8)
    examples = np.flatnonzero(own).astype(np.int32)
    part = Part(0, examples, np.array(free, np.int32), slot, slot_value)
    found, label, *_ = divide_node(
        growth._values, part.examples, part.variable, part.slot, part.slot_value,
        part.clause_arrays(1), growth._tables, growth._kernel_settings,
    )  # fmt: skip
    assert len(found) == 0
    return [part.variable[label[0] == j].tolist() for j in np.unique(label[0])]


def check_blocks(line, values, arity):
    *_, delta, feature, side, n, parts, largest, score, checksum = line
    found_n, blocks, found_score = partition(values, arity, feature, int(side), float(delta))
    assert (found_n, len(blocks), max(map(len, blocks))) == (int(n), int(parts), int(largest))
    text = "".join("{" + " ".join(map(str, block)) + "}" for block in blocks)
    assert f"{zlib.crc32(text.encode()):08x}" == checksum
    assert found_score == pytest.approx(float(score), rel=1e-12)


BLOCKS = {}
for words in lines_of("golden_lem_blocks.txt"):
    BLOCKS.setdefault(tuple(words[:3]), []).append(words)


@pytest.mark.parametrize("key", BLOCKS, ids=" ".join)
def test_blocks(key, sample):
    train = sample(*key[:2])["train"]
    values = train.schema.values(train.rows[train.row_of])
    for line in BLOCKS[key]:
        check_blocks(line, values, train.schema.arity.tolist())


def checksum_of(leaf):
    """A checksum of what a leaf feature says, whatever the order of its parts."""
    said = (sorted(leaf.literals), sorted(sorted(clause) for clause in leaf.negated))
    return f"{zlib.crc32(repr(said).encode()):08x}"


WEIGHTS = {}
for words in lines_of("golden_lem_weights.txt"):
    WEIGHTS.setdefault(tuple(words[:4]), []).append((words[5], float(words[4])))


@pytest.mark.parametrize("key", WEIGHTS, ids=" ".join)
def test_weights_of_leaf_features(key, sample):
    """Of the first variables of a dataset."""
    name, n, n_vars, settings = key
    train = sample(name, n)["train"]
    data = Dataset.from_arrays(train.rows[train.row_of][:, : int(n_vars)])
    leaves = list(leaf_features(learn_feature_tree(data, settings_of(settings))))
    found = sorted((checksum_of(leaf), leaf.weight) for leaf in leaves)
    expected = sorted(WEIGHTS[key])
    assert [checksum for checksum, _ in found] == [checksum for checksum, _ in expected]
    np.testing.assert_allclose([w for _, w in found], [w for _, w in expected], atol=1e-12)
