"""Golden values of LEM: trees that an independent program learned, in `golden_lem.txt`.

Each line is one run: data set, number of examples, the settings that are not defaults, test LL in
nats, A-nodes, F-nodes. `MNLEARN_GOLDEN=all` compares all of them. The data are permuted or sampled
as the notes of that program say.
"""

import ast
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mnlearn.data.dataset import merge_rows
from mnlearn.data.text import load_dataset
from mnlearn.learning.lem.growth import learn_feature_tree
from mnlearn.learning.lem.settings import LemSettings
from mnlearn.models.grouped_variables import grouped_variables

pytestmark = pytest.mark.slow

LINES = Path(__file__).with_name("golden_lem.txt").read_text().splitlines()[1:]
if os.environ.get("MNLEARN_GOLDEN") != "all":
    # All runs take three minutes: usually those on 100 examples, and every sixth of the others.
    small = [line for line in LINES if line.split()[1] == "100"]
    LINES = small + [line for line in LINES if line not in small][::6]
# Our trees of two runs differ a little (docs/methods/lem.md); the cause is not known.
UNEXPLAINED = ("alarmmv 1000 min_rows=30 ", "alarmmv 1000 table_below=1 ")
RUNS = [
    pytest.param(
        line,
        marks=[pytest.mark.xfail(strict=True, reason="the cause is not known")]
        if line.startswith(UNEXPLAINED)
        else [],
    )
    for line in LINES
]


def read_values(path):
    """Rows of values separated by commas, in a file that may be compressed."""
    import lzma

    with lzma.open(path, "rt") as file:
        return np.array([line.strip().split(",") for line in file]).astype(np.uint8)


def permutation(seed, n):
    return np.random.Generator(np.random.PCG64(seed)).permutation(n)


@cache
def values_of(folder, name):
    """Training and test values, and the number of values of each variable."""
    if name == "msnbc":
        train, test = (
            load_dataset(next(folder.glob(f"msnbc/msnbc.{part}.data*")))
            for part in ("train", "test")
        )
        order = permutation(20101, len(train.row_of))[:10_000]
        return train.rows[train.row_of[order]], test.rows[test.row_of], [2] * 17
    place = folder.parent / "lem"
    if not place.is_dir():
        pytest.skip("the data of the LEM paper are not beside the benchmark data")
    if name == "adult":
        rows = read_values(place / "adult125.all.data.xz")
        rows = rows[permutation(20102, len(rows))]
        return rows[7327:17_327], rows[:7327], [2] * 125
    train, test = (read_values(place / f"alarm37.{part}.data.xz") for part in ("train", "test"))
    if name == "alarm":
        train, test = (np.eye(4, dtype=np.uint8)[v].reshape(len(v), -1) for v in (train, test))
        return train, test, [2] * 148
    lines = (place / "alarm37.names").read_text().splitlines()
    return train, test, [int(line.split(",")[1]) for line in lines]


def grouped(arity):
    """The variables over columns, a group for each unless all have two values."""
    if max(arity) == 2:
        return grouped_variables(len(arity))
    ends = np.cumsum(arity).tolist()
    return grouped_variables(
        ends[-1], [tuple(range(e - r, e)) for e, r in zip(ends, arity, strict=True)]
    )


@cache
def held_out(folder, name):
    _, test, arity = values_of(folder, name)
    return merge_rows(grouped(arity).one_hot(test))


def settings_of(text):
    pairs = [pair.split("=") for pair in text.split(",") if pair != "-"]
    values = {}
    for key, value in pairs:
        default = getattr(LemSettings(), key)
        values[key] = value if isinstance(default, str) else type(default)(ast.literal_eval(value))
    return LemSettings(**values)


@pytest.mark.parametrize("line", RUNS)
def test_learned_trees(line, mirror):
    name, n, settings, test_ll, a_nodes, f_nodes = line.split()
    train, _, arity = values_of(mirror, name)
    variables = grouped(arity)
    data = merge_rows(variables.one_hot(train[: int(n)]))
    tree = learn_feature_tree(data, settings_of(settings), variables.groups)
    test = held_out(mirror, name)
    found = float(test.weight @ tree.log_likelihood(test.rows) / test.n_examples)
    assert found == pytest.approx(float(test_ll), abs=1e-9)
    assert tree.n_a_nodes == int(a_nodes)
    assert int((~tree.is_table).sum()) == int(f_nodes)
