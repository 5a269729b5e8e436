"""Comparison of Ising networks by permutation: definitions, power, errors, and what is refused."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.ising.comparison import compare, holm
from mnlearn.learning.ising.estimation import learn_ising
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema

NAMES = ("a", "b", "c", "d")


def group(rng, n_examples, edges):
    """Examples of a network over four variables with given weights of edges, exactly drawn."""
    states = oracles.all_states(4)
    energy = -0.5 * states.sum(axis=1)
    energy = energy + sum(w * states[:, u] * states[:, v] for (u, v), w in edges.items())
    p = np.exp(energy) / np.exp(energy).sum()
    return merge_rows(states[rng.choice(16, n_examples, p=p)], schema=binary_schema(NAMES))


@pytest.mark.nightly
def test_a_clear_difference_is_found_where_it_is():
    rng = np.random.default_rng(0)
    chain = {(0, 1): 1.5, (1, 2): 1.5}
    groups = {
        "x": group(rng, 400, chain),
        "y": group(rng, 300, chain),
        "z": group(rng, 300, {**chain, (2, 3): 2.5}),
    }
    found = compare(groups, 139, threads=2)
    tests = found.tests.set_index(["groups", "test"])
    assert (tests.loc["all", "p"] <= 0.05).all()
    assert tests.loc[("x – z", "largest edge difference"), "p_holm"] <= 0.05
    assert (tests.loc["x – y", "p"] > 0.05).all()
    for test in ("global strength", "largest edge difference"):
        pairs = tests.xs(test, level="test").drop("all")
        ordered = np.sort(pairs["p"])
        expected = np.minimum(1, np.maximum.accumulate(ordered * [3, 2, 1]))
        assert_allclose(np.sort(pairs["p_holm"]), expected)
    differ = found.edges[found.edges["p_holm"] <= 0.05]
    named = {(row.groups, row.source, row.target) for row in differ.itertuples()}
    assert named == {(label, "c", "d") for label in ("all", "x – z", "y – z")}


def test_names_of_groups_have_no_effect():
    rng = np.random.default_rng(1)
    first, second = group(rng, 120, {(0, 1): 2}), group(rng, 90, {(1, 2): 2})
    found = [compare({a: first, b: second}, 19) for a, b in (("x", "y"), ("women", "1"))]
    assert found[0].tests["p"].tolist() == found[1].tests["p"].tolist()
    assert found[0].edges["p"].tolist() == found[1].edges["p"].tolist()


def test_the_statistics_are_those_of_the_networks():
    rng = np.random.default_rng(3)
    groups = {"x": group(rng, 200, {(0, 1): 2}), "y": group(rng, 150, {(1, 2): 2})}
    found = compare(groups, 9)
    x, y = (learn_ising(data).weight for data in groups.values())
    value = found.tests.set_index("test")["value"]
    strength = abs(np.abs(np.triu(x)).sum() - np.abs(np.triu(y)).sum())
    assert_allclose(value["global strength"], strength, atol=1e-4)
    assert_allclose(value["largest edge difference"], np.abs(x - y).max(), atol=1e-4)
    assert (found.tests["groups"] == "x – y").all()
    for name, weight in (("x", x), ("y", y)):
        of_pairs = sum(abs(weight[u, v]) for u, v in itertools.combinations(range(4), 2))
        assert_allclose(found.tests[f"strength: {name}"], of_pairs)
        assert of_pairs > 1
    rows = found.edges.set_index(["source", "target"])
    for u, v in itertools.combinations(range(4), 2):
        row = rows.loc[(NAMES[u], NAMES[v])]
        assert row["weight: x"] == x[u, v]
        assert row["weight: y"] == y[u, v]
        assert_allclose(row["difference"], abs(x[u, v] - y[u, v]), atol=1e-4)
        # No permutation is below 0, the difference of a pair that is no edge in either network.
        assert row["difference"] or row["p"] == 1
    assert np.isin(np.round(found.edges["p"] * 10), range(1, 11)).all()


def test_what_is_rare_in_a_group_is_left_out():
    rng = np.random.default_rng(2)
    x, y = group(rng, 80, {}), group(rng, 80, {})
    rows = y.rows[y.row_of].copy()
    rows[:, 2] = np.arange(80) == 4
    found = compare({"x": x, "y": merge_rows(rows, schema=binary_schema(NAMES))}, 5)
    assert found.dropped == ("c",)
    assert found.networks["x"].labels == ("a", "b", "d")
    assert len(found.edges) == 3


@pytest.mark.nightly
def test_pairs_are_exchanged_within_persons():
    """The p-values are those of all 2^9 exchanges, and 1 if no exchange changes anything."""
    before = np.array([[0, 0, 1]] * 4 + [[1, 1, 0]] * 4 + [[1, 0, 1]])
    after = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
    after = np.vstack([after, [[0, 1, 1], [0, 0, 0]]])
    schema = binary_schema("abc")
    groups = {
        "before": merge_rows(before, schema=schema),
        "after": merge_rows(after, schema=schema),
    }
    found = compare(groups, 1500, paired=True, gamma=0.0)

    def statistics(exchanged):
        rows = [np.where(exchanged[:, None], x, y) for x, y in ((after, before), (before, after))]
        weights = [learn_ising(merge_rows(x, schema=schema), 0.0, "and").weight for x in rows]
        strengths = [np.abs(np.triu(weight)).sum() for weight in weights]
        return abs(strengths[0] - strengths[1]), np.abs(weights[0] - weights[1]).max()

    every = [statistics(np.array(x)) for x in itertools.product([False, True], repeat=9)]
    assert_allclose(found.tests["value"], every[0], atol=1e-9)
    share = (np.array(every) >= np.array(every[0]) - 1e-5).mean(axis=0)
    assert 0.01 < share[1] < 0.99
    assert_allclose(found.tests["p"], share, atol=0.05)
    same = compare({"x": groups["after"], "y": groups["after"]}, 9, paired=True, gamma=0.0)
    assert same.tests["p"].tolist() == [1.0, 1.0]
    groups["after"] = merge_rows(after[:8], schema=schema)
    with pytest.raises(InputError, match="in the same order, got 9 rows in before and 8 in after"):
        compare(groups, 9, paired=True)


def test_holms_correction_by_hand():
    assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert_allclose(holm([0.9, 0.8]), [1.0, 1.0])


DATA = group(np.random.default_rng(0), 60, {})


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"x": DATA}, "groups: expected at least two"),
        ({"x": DATA, "y": DATA.rename(["a", "b", "c", "e"])},
         "group y: expected the variables of the first group"),
        ({"x": DATA, "y": merge_rows(DATA.rows, DATA.weight * 1.5, schema=DATA.schema)},
         "weights cannot be dropped or exchanged"),
        ({"x": DATA, "y": merge_rows(np.ones((9, 4)), schema=DATA.schema)},
         "fewer than two variables"),
    ],
)  # fmt: skip
def test_refuses_what_cannot_be_compared(groups, message):
    with pytest.raises(InputError, match=message):
        compare(groups)


def test_refuses_no_permutations():
    with pytest.raises(InputError, match="n_permutations: expected at least 1, got 0"):
        compare({"x": DATA, "y": DATA}, 0)


@pytest.mark.nightly
def test_the_type_one_error_is_that_of_the_level():
    """At level 0.05, 200 comparisons of equal groups reject about 10 times."""
    rng = np.random.default_rng(7)
    edges = {(0, 1): 1.5, (1, 2): 1.0, (2, 3): -1.0}
    rejected = np.zeros(2)
    for k in range(200):
        groups = {"x": group(rng, 120, edges), "y": group(rng, 80, edges)}
        rejected += (compare(groups, 19, seed=k).tests["p"] <= 0.05).to_numpy()
    assert_array_equal((rejected >= 3) & (rejected <= 19), [True, True])
